"""Two accounts through one worker: no line of the log names the record of the request before it."""

import json

import pytest

from harness import http1, orders, paths, sign

CONFIG = """
    sluice_store @STORE@ map_size=1g thread_pool=sluice offload_pool=offload;
    sluice_rate_limit 1000000 60s;
    log_format outcome escape=json '{"account":"$sluice_account","result":"$sluice_result",'
        '"seq":"$sluice_seq","receipt":"$sluice_receipt","records":"$sluice_records",'
        '"commit_time":"$sluice_commit_time","reason":"$sluice_reason"}';
    server {
        access_log @DIR@/access.log outcome;
        listen 127.0.0.1:@PORT@;
        location = /event/ecomm { sluice_ingest events; }
        location = /product-data { sluice_ingest catalog; client_max_body_size 8m; }
        location = /dry/event { sluice_ingest events; sluice_dry_run on; }
        location = /dry/products { sluice_ingest catalog; client_max_body_size 8m; sluice_dry_run on; }
    }
"""
INLINE_BYTES_MAX = 256 << 10


def products(size):
    """A batch of `size` bytes or a little more."""
    each = min(size, 1500)
    return sign.encode({"products": [{"platform_product_id": orders.unique("p"), "title": "t" * each}
                                     for _ in range(size // each + 1)]})


class OneConnection:
    """Requests one after the other on one connection: each gets the memory of the one before it."""

    def __init__(self, edge):
        self.access = edge.folder / "access.log"
        self.connection = http1.Connection(edge.port)
        self.sent = 0

    def outcome(self, merchant, target, headers, body):
        """The answer's status and the line of the log."""
        status = self.connection.request("POST", target, headers, body).status
        self.sent += 1
        paths.wait_until(lambda: len(self.access.read_text().splitlines()) == self.sent, "the line of the log")
        line = json.loads(self.access.read_text().splitlines()[-1])
        assert line["account"] == merchant.account, line
        return status, line

    def order(self, merchant, target=sign.EVENTS):
        body = sign.encode(orders.order())
        return self.outcome(merchant, target, sign.event_headers(merchant.shop, merchant.secret, "ORDER_CREATE", body), body)

    def batch(self, merchant, body, key, target=sign.CATALOG):
        headers = sign.catalog_headers(merchant.shop, merchant.secret, "PRODUCT_UPSERT", body, key)
        return self.outcome(merchant, target, headers, body)


@pytest.fixture(name="accounts")
def two_accounts(start_edge, new_merchant):
    edge = start_edge(CONFIG, workers=1)
    return edge, new_merchant(edge, "first"), new_merchant(edge, "second")


def shop_of(edge, line):
    """The shop whose record the line's receipt leads to."""
    edge.sluice("queue", "move")
    found = edge.sluice.json("queue", "find", line["receipt"])
    seq = (found[0] if isinstance(found, list) else found)["seq"]
    return next(record["shop_id"] for record in edge.sluice.queued() if record["seq"] == seq)


@pytest.mark.parametrize("size", [400, INLINE_BYTES_MAX + 1024], ids=["small", "large"])
@pytest.mark.parametrize("target", [sign.CATALOG, "/dry/products"], ids=["stored", "dry"])
def test_a_replay_after_another_accounts_order_names_its_own_record(accounts, size, target):
    """A large batch, and each of a dry run, is found to be a replay without a commit."""
    edge, first, second = accounts
    line_of = OneConnection(edge)
    body, key = products(size), orders.unique("key")
    status, stored = line_of.batch(second, body, key)
    assert (status, stored["result"]) == (200, "accepted") and stored["receipt"]

    status, order = line_of.order(first)
    assert (status, order["result"]) == (200, "accepted") and order["receipt"]
    assert shop_of(edge, order) == "first-shop"

    status, replay = line_of.batch(second, body, key, target)
    assert status == 200 and replay["result"] in ("replayed", "dry_run")
    assert replay["receipt"] == stored["receipt"] != order["receipt"]
    assert (replay["seq"], replay["records"]) == (stored["seq"], stored["records"])
    assert shop_of(edge, replay) == "second-shop"


def test_what_stores_nothing_names_no_record(accounts):
    edge, first, second = accounts
    line_of = OneConnection(edge)
    large = products(INLINE_BYTES_MAX + 1024)
    paths_taken = [
        lambda: line_of.order(second, "/dry/event"),
        lambda: line_of.batch(second, products(400), orders.unique("key"), "/dry/products"),
        lambda: line_of.batch(second, large, orders.unique("key"), "/dry/products"),
        lambda: line_of.batch(second, sign.encode({"products": [{"title": "no id"}]}), orders.unique("key")),
    ]
    for take in paths_taken:
        for before in (lambda: line_of.order(first), lambda: line_of.batch(first, large, orders.unique("key"))):
            assert before()[1]["receipt"]
            line = take()[1]
            assert line["result"] in ("dry_run", "invalid"), line
            assert (line["receipt"], line["seq"], line["commit_time"]) == ("", "", ""), line


def test_a_conflict_names_no_record(accounts):
    edge, first, second = accounts
    line_of = OneConnection(edge)
    key, large = orders.unique("key"), products(INLINE_BYTES_MAX + 1024)
    assert line_of.batch(second, products(400), key)[1]["result"] == "accepted"
    for body in (products(500), large):
        assert line_of.order(first)[1]["receipt"]
        line = line_of.batch(second, body, key)[1]
        assert (line["result"], line["receipt"], line["seq"]) == ("conflict", "", ""), line
