"""Idempotency-Key: replay, conflict, correction, expiry, restarts, two workers at once."""

import json
import threading

import pytest

from harness import answers, orders, paths, sign
from harness.sign import CATALOG
from harness.threads import at_once

CONFIG = """
    sluice_store @STORE@ map_size=1g thread_pool=sluice offload_pool=offload;
    sluice_rate_limit 1000000 60s;
    sluice_idempotency_ttl 2s;

    server {
        listen 127.0.0.1:@PORT@ reuseport;
        add_header X-Worker $pid always;
        add_header X-Seq $sluice_seq always;
        add_header X-Receipt $sluice_receipt always;
        location = /product-data { sluice_ingest catalog; }
        location = /which { return 204; }
    }
"""
USED = "Idempotency-Key was already used with a different request"


def batch(title="A product", size=1):
    return sign.encode(
        {"products": [{"platform_product_id": orders.unique("p"), "title": title} for _ in range(size)]}
    )


def last_seq(edge):
    return edge.sluice.accepted()


def conflict(answer):
    assert answers.catalog_error(answer, 400) == USED
    answers.has_rate_headers(answer)


def test_replay_gives_the_first_answer_again_and_stores_nothing(edge, merchant):
    body, key = batch(size=3), orders.unique("key")
    first = merchant.catalog("PRODUCT_UPSERT", body, key)
    answers.catalog_success(first, 3)
    before = last_seq(edge)
    for _ in range(3):
        again = merchant.catalog("PRODUCT_UPSERT", body, key)
        assert answers.catalog_success(again, 3) == first.body
        assert again.header("X-Result") == "replayed"
    assert first.header("X-Result") == "accepted"
    assert last_seq(edge) == before


def test_replay_costs_a_request_and_carries_fresh_rate_headers(merchant):
    body, key = batch(), orders.unique("key")
    first = merchant.catalog("PRODUCT_UPSERT", body, key)
    again = merchant.catalog("PRODUCT_UPSERT", body, key)
    if first.header("X-RateLimit-Reset") == again.header("X-RateLimit-Reset"):
        left = [int(answer.header("X-RateLimit-Remaining")) for answer in (first, again)]
        assert left[0] == left[1] + 1


def test_same_key_with_another_body_is_refused(edge, merchant):
    body, key = batch(), orders.unique("key")
    answers.catalog_success(merchant.catalog("PRODUCT_UPSERT", body, key), 1)
    before = last_seq(edge)
    conflict(merchant.catalog("PRODUCT_UPSERT", batch("other"), key))
    conflict(merchant.catalog("PRODUCT_UPSERT", body + b" ", key))
    assert last_seq(edge) == before
    answers.catalog_success(merchant.catalog("PRODUCT_UPSERT", body, key), 1)


def test_same_key_and_body_with_another_topic_is_refused(merchant):
    body = sign.encode({"products": [{"platform_product_id": "p", "title": "T", "parent_id": "p"}]})
    key = orders.unique("key")
    answers.catalog_success(merchant.catalog("PRODUCT_UPSERT", body, key), 1)
    conflict(merchant.catalog("PRODUCT_DELETE", body, key))


def test_large_bodies_are_distinguished(merchant):
    key = orders.unique("key")
    body = batch("x" * 400000)
    answers.catalog_success(merchant.catalog("PRODUCT_UPSERT", body, key), 1)
    answers.catalog_success(merchant.catalog("PRODUCT_UPSERT", body, key), 1)
    conflict(merchant.catalog("PRODUCT_UPSERT", body.replace(b"xx", b"xy", 1), key))


def test_keys_differ_by_every_byte(edge, merchant):
    stem = orders.unique("key")
    before = last_seq(edge)
    keys = [stem, stem + " x", stem.upper(), stem + "é", stem + "%20", stem + "0", "x" * (255 - len(stem)) + stem]
    for key in keys:
        answers.catalog_success(merchant.catalog("PRODUCT_UPSERT", batch(), key), 1)
    assert last_seq(edge) == before + len(keys)


def test_key_belongs_to_its_shop(edge, merchant, new_merchant):
    key = orders.unique("key")
    second = edge.sluice.shop(orders.unique("shop"), merchant.account)
    other = new_merchant(edge, orders.unique("account"))
    before = last_seq(edge)
    answers.catalog_success(merchant.catalog("PRODUCT_UPSERT", batch(), key), 1)
    answers.catalog_success(edge.post_catalog(second, merchant.secret, "PRODUCT_UPSERT", batch(), key), 1)
    answers.catalog_success(other.catalog("PRODUCT_UPSERT", batch(), key), 1)
    assert last_seq(edge) == before + 3


def test_blanks_around_the_key_are_no_part_of_it(edge, merchant):
    body, key = batch(), orders.unique("key")
    answers.catalog_success(merchant.catalog("PRODUCT_UPSERT", body, key), 1)
    before = last_seq(edge)
    for spelled in (f"\t{key}", f"{key}\t", f" {key} \t"):
        answers.catalog_success(merchant.catalog("PRODUCT_UPSERT", body, spelled), 1)
        conflict(merchant.catalog("PRODUCT_UPSERT", batch(), spelled))
    assert last_seq(edge) == before


def test_refused_request_does_not_take_the_key(merchant):
    key = orders.unique("key")
    answers.record_errors(merchant.catalog("PRODUCT_UPSERT", batch(""), key))
    answers.catalog_error(merchant.catalog("PRODUCT_UPSERT", b"nonsense", key), 400)
    answers.catalog_success(merchant.catalog("PRODUCT_UPSERT", batch("corrected"), key), 1)


def test_limited_request_does_not_take_the_key(edge, new_merchant):
    other = new_merchant(edge, orders.unique("account"))
    edge.sluice("account", "set", other.account, "--rate-limit", "1/86400")
    answers.catalog_success(other.catalog("PRODUCT_UPSERT", batch(), "first"), 1)
    answers.catalog_error(other.catalog("PRODUCT_UPSERT", batch(), "second"), 429)
    edge.sluice("account", "set", other.account, "--rate-limit", "100/86400")
    answers.catalog_success(other.catalog("PRODUCT_UPSERT", batch(), "second"), 1)


def test_pipelined_repeats_are_stored_once(edge, merchant):
    """All in one batch of the group commit: the rows put earlier in it count."""
    from harness import http1

    body, key = batch(), orders.unique("key")
    before = last_seq(edge)
    headers = sign.catalog_headers(merchant.shop, merchant.secret, "PRODUCT_UPSERT", body, key)
    text = http1.head("POST", CATALOG, headers + [("Content-Length", str(len(body)))]) + body
    connections = [edge.connect() for _ in range(20)]
    for connection in connections:
        connection.send(text)
    bodies = {answers.catalog_success(connection.read(), 1) for connection in connections}
    for connection in connections:
        connection.close()
    assert len(bodies) == 1
    assert last_seq(edge) == before + 1


@pytest.mark.parametrize("same", [True, False], ids=["same body", "other body"])
def test_two_workers_race_on_one_key(edge, merchant, same):
    first, second = edge.workers()
    connections = [edge.connect_to(first, "/which"), edge.connect_to(second, "/which")]
    for _ in range(40):
        key = orders.unique("race")
        bodies = [batch()] * 2 if same else [batch(), batch()]
        before = last_seq(edge)
        results, gate = [None, None], threading.Barrier(2)

        def run(index):
            gate.wait()
            results[index] = merchant.catalog(
                "PRODUCT_UPSERT", bodies[index], key, connection=connections[index]
            )

        at_once(2, run)
        if same:
            assert len({answers.catalog_success(answer, 1) for answer in results}) == 1
        else:
            assert sorted(answer.status for answer in results) == [200, 400]
            conflict(next(answer for answer in results if answer.status == 400))
        assert last_seq(edge) == before + 1
    for connection in connections:
        connection.close()


def test_replay_after_restart_reload_and_drain(start_edge, new_merchant):
    edge = start_edge(CONFIG.replace("sluice_idempotency_ttl 2s;", ""))
    merchant = new_merchant(edge, "acme")
    body = batch()
    first = merchant.catalog("PRODUCT_UPSERT", body, "key")
    before = last_seq(edge)
    edge.reload()
    assert merchant.catalog("PRODUCT_UPSERT", body, "key").body == first.body
    edge.sluice.drain()
    assert merchant.catalog("PRODUCT_UPSERT", body, "key").body == first.body
    edge.stop()
    edge.start()
    assert merchant.catalog("PRODUCT_UPSERT", body, "key").body == first.body
    conflict(merchant.catalog("PRODUCT_UPSERT", batch(), "key"))
    assert last_seq(edge) == before


def test_key_expires(start_edge, new_merchant):
    edge = start_edge(CONFIG)
    merchant = new_merchant(edge, "acme")
    answers.catalog_success(merchant.catalog("PRODUCT_UPSERT", batch(), "key"), 1)
    body = batch("other")
    answer = merchant.catalog("PRODUCT_UPSERT", body, "key")
    assert answer.status == 400
    paths.wait_until(
        lambda: merchant.catalog("PRODUCT_UPSERT", body, "key").status == 200, "the key to expire"
    )
    # The new use of the key counts from then on.
    conflict(merchant.catalog("PRODUCT_UPSERT", batch("third"), "key"))


def test_first_answer_names_the_count_of_the_first(merchant):
    body, key = batch(size=7), orders.unique("key")
    first = json.loads(merchant.catalog("PRODUCT_UPSERT", body, key).body)
    again = json.loads(merchant.catalog("PRODUCT_UPSERT", body, key).body)
    assert first == again and first["processedCount"] == 7
