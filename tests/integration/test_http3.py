"""HTTP/3 changes nothing: the same bytes stored, the same answers; lost streams disturb no other request."""

import random

import pytest

from harness import http3, orders, sign
from harness.sign import CATALOG, EVENTS, replaced

pytestmark = pytest.mark.skipif(
    not http3.supported(), reason="this nginx was built without --with-http_v3_module"
)

CONFIG = """
    sluice_store @STORE@ map_size=1g thread_pool=sluice offload_pool=offload;
    sluice_rate_limit off;
    server {
""" + http3.SERVER + """
        add_header X-Seq $sluice_seq always;
        add_header X-Receipt $sluice_receipt always;
        location = /event/ecomm {
            client_max_body_size 1m;
            sluice_ingest events;
        }
        location = /spooled/event/ecomm {
            client_max_body_size 1m;
            client_body_buffer_size 1k;
            sluice_ingest events;
        }
        location = /product-data {
            client_max_body_size 8m;
            sluice_ingest catalog;
        }
    }
"""
SIZES = [700, 20000, 65536, 70000, 262145, 300000, 1048576]


@pytest.fixture
def edge(start_edge, tmp_path):
    http3.make_certificate(tmp_path)
    text = CONFIG.replace("@DIR@/certificate.pem", f"{tmp_path}/certificate.pem")
    edge = start_edge(text.replace("@DIR@/key.pem", f"{tmp_path}/key.pem"))
    (edge.folder / "key.pem").symlink_to(tmp_path / "key.pem")
    return edge


def event(merchant, body, target=EVENTS, **changes):
    headers = sign.event_headers(merchant.shop, merchant.secret, "ORDER_CREATE", body)
    return http3.asked("POST", target, replaced(headers, **changes), body)


def cut_event(merchant, body, cut):
    return {**event(merchant, body), "cut": cut}


def sized(size):
    body = sign.encode(orders.order())
    return body + b" " * (size - len(body))


def stored(edge):
    return {str(record["seq"]): record["body"].encode() for record in edge.sluice.queued()}


def is_success(answer):
    assert (answer.status, answer.body) == (200, b"success"), answer
    assert answer.header("x-protocol") == "HTTP/3.0"


def test_h3_bodies_are_stored_as_sent(edge, new_merchant):
    merchant = new_merchant(edge, "acme")
    bodies = [(sized(size), target) for size in SIZES for target in (EVENTS, "/spooled" + EVENTS)]
    rounds = [[event(merchant, body, target)] for body, target in bodies]
    answers = http3.exchange(edge, rounds)
    kept = stored(edge)
    for (answer,), (body, _) in zip(answers, bodies):
        is_success(answer)
        assert kept[str(edge.sluice.seq_of(answer))] == body
    assert len(kept) == len(bodies)


def test_h3_every_kind_of_answer(edge, new_merchant):
    merchant = new_merchant(edge, "acme")
    body = sign.encode(orders.order())
    batch = sign.encode({"products": [{"platform_product_id": "p", "title": "t"}]})
    products = sign.catalog_headers(merchant.shop, merchant.secret, "PRODUCT_UPSERT", batch, "k")
    rounds = [
        [event(merchant, body)],
        [event(merchant, body, x_signature="0" * 64)],
        [event(merchant, body, x_svc_topic="NO")],
        [http3.asked("GET", EVENTS, [])],
        [http3.asked("POST", CATALOG, products, batch)],
        [http3.asked("POST", CATALOG, products, batch)],
        [event(merchant, body)],
    ]
    answers = [answer for (answer,) in http3.exchange(edge, rounds)]
    assert [answer.status for answer in answers] == [200, 401, 400, 405, 200, 200, 200]
    assert (answers[1].body, answers[3].body) == (b"", b"")
    assert b"X-SVC-TOPIC" in answers[2].body
    assert answers[3].header("allow") == "POST"
    assert answers[4].body == answers[5].body and b'"processedCount":1' in answers[4].body
    assert all(answer.header("x-protocol") == "HTTP/3.0" for answer in answers)
    assert len(stored(edge)) == 3


def test_h3_100_streams_at_once(edge, new_merchant):
    merchant = new_merchant(edge, "acme")
    bodies = [sized(700 + number) for number in range(100)]
    (answers,) = http3.exchange(edge, [[event(merchant, body) for body in bodies]])
    kept = stored(edge)
    for answer, body in zip(answers, bodies):
        is_success(answer)
        assert kept[str(edge.sluice.seq_of(answer))] == body
    assert len(kept) == 100


def test_h3_streams_given_up_leave_the_others_alone(edge, new_merchant):
    merchant = new_merchant(edge, "acme")
    chance = random.Random(3)
    rounds = []
    for _ in range(5):
        whole = [event(merchant, sized(2000)) for _ in range(6)]
        cut = [cut_event(merchant, sized(2000), chance.randrange(1, 2000)) for _ in range(6)]
        rounds.append(whole + cut)
    for answers in http3.exchange(edge, rounds):
        for answer in answers[:6]:
            is_success(answer)
        assert [answer.status for answer in answers[6:]] == [0] * 6
    assert len(stored(edge)) == 30
