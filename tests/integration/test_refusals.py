"""docs/protocol.md, Answers of nginx itself: bodies, headers, log fields and counters of each row."""

import json
import subprocess

import pytest

from harness import answers, http1, orders, paths, sign
from harness.sign import CATALOG, EVENTS

CONFIG = """
    sluice_store @STORE@ map_size=1g thread_pool=sluice offload_pool=offload;
    sluice_rate_limit off;
    sluice_retry_after 7s;
    limit_req_zone $uri zone=one:1m rate=1r/m;
    log_format lines escape=json '{"status":$status,"result":"$sluice_result","reason":"$sluice_reason",'
        '"shop":"$sluice_shop","topic":"$sluice_topic"}';
    server {
        listen 127.0.0.1:@PORT@;
        access_log @DIR@/access.log lines;
        client_max_body_size 4k;
        client_body_timeout 1s;
        location = /event/ecomm { sluice_ingest events; }
        location = /product-data { sluice_ingest catalog; }
        location = /limited/event { sluice_ingest events; limit_req zone=one; }
        location = /limited/catalog { sluice_ingest catalog; limit_req zone=one; limit_req_status 429; }
        location = /limited429/event { sluice_ingest events; limit_req zone=one; limit_req_status 429; }
        location = /limited503/catalog { sluice_ingest catalog; limit_req zone=one; }
        location = /denied/event { sluice_ingest events; deny all; }
        location = /denied/catalog { sluice_ingest catalog; deny all; }
        location = /password/event { sluice_ingest events; auth_basic x; auth_basic_user_file /dev/null; }
        location = /own/page { sluice_ingest events; deny all; error_page 403 = @page; }
        location @page { return 418 "the operator's page"; }
        location /sluice/ { sluice_status; access_log off; }
    }
"""


@pytest.fixture(scope="module")
def edge(request):
    from harness.edge import Edge

    with Edge(CONFIG, workers=1) as running:
        yield running.start()


@pytest.fixture(scope="module")
def merchant(edge):
    from harness.merchant import Merchant

    return Merchant(edge, "acme")


def event(edge, merchant, target=EVENTS, size=0):
    body = sign.encode(orders.order(orders.unique("o"), extra="x" * size))
    return edge.request("POST", target, sign.event_headers(merchant.shop, merchant.secret, "ORDER_CREATE", body), body)


def batch(edge, merchant, target=CATALOG, size=0):
    body = sign.encode({"products": [{"platform_product_id": "p", "title": "t" * (size or 1)}]})
    headers = sign.catalog_headers(merchant.shop, merchant.secret, "PRODUCT_UPSERT", body, orders.unique("k"))
    return edge.request("POST", target, headers, body)


def last_line(edge):
    return json.loads((edge.folder / "access.log").read_text().splitlines()[-1])


def count(edge, endpoint, result):
    report = json.loads(edge.request("GET", "/sluice/status.json", [], length=False).body)
    return report[endpoint]["results"][result]


def is_logged(edge, merchant, status, result, reason, topic):
    """nginx logs after it has sent the answer."""
    line = {"status": status, "result": result, "reason": reason, "shop": merchant.shop, "topic": topic}
    paths.wait_until(lambda: last_line(edge) == line, f"{line}\n{(edge.folder / 'access.log').read_text()[-600:]}")


def until_refused(send):
    while (answer := send()).status == 200:
        pass
    return answer


def test_503_of_limit_req_on_events(edge, merchant):
    before = count(edge, "events", "unavailable")
    answer = until_refused(lambda: event(edge, merchant, "/limited/event"))
    assert (answer.status, answer.body, answer.header("Retry-After")) == (503, b"", "7")
    is_logged(edge, merchant, 503, "unavailable", "limited_before", "ORDER_CREATE")
    assert count(edge, "events", "unavailable") == before + 1


def test_503_of_limit_req_on_the_catalog(edge, merchant):
    answer = until_refused(lambda: batch(edge, merchant, "/limited503/catalog"))
    answers.catalog_error(answer, 503)
    assert answer.header("Retry-After") == "7"
    is_logged(edge, merchant, 503, "unavailable", "limited_before", "PRODUCT_UPSERT")


def test_429_of_limit_req(edge, merchant):
    answer = until_refused(lambda: event(edge, merchant, "/limited429/event"))
    assert (answer.status, answer.body) == (429, b'{"error":"Rate limit exceeded"}')
    assert answer.header("Retry-After") == "7"
    is_logged(edge, merchant, 429, "limited", "limited_before", "ORDER_CREATE")
    answer = until_refused(lambda: batch(edge, merchant, "/limited/catalog"))
    assert answers.catalog_error(answer, 429) == "Rate limit exceeded"
    assert answer.header("Retry-After") == "7"


def test_403_of_deny(edge, merchant):
    answer = event(edge, merchant, "/denied/event")
    assert answer.status == 403 and b"nginx" in answer.body, "nginx's page"
    is_logged(edge, merchant, 403, "forbidden", "refused_before", "ORDER_CREATE")
    answers.catalog_error(batch(edge, merchant, "/denied/catalog"), 403)
    is_logged(edge, merchant, 403, "forbidden", "refused_before", "PRODUCT_UPSERT")


def test_401_of_auth_basic(edge, merchant):
    answer = event(edge, merchant, "/password/event")
    assert (answer.status, answer.body) == (401, b"") and answer.has("WWW-Authenticate")
    is_logged(edge, merchant, 401, "unauthorized", "refused_before", "ORDER_CREATE")


def test_an_error_page_of_the_operator_stays(edge, merchant):
    answer = event(edge, merchant, "/own/page")
    assert (answer.status, answer.body) == (418, b"the operator's page")


@pytest.mark.parametrize("announced", [True, False])
def test_413(edge, merchant, announced):
    body = sign.encode(orders.order(extra="x" * 9000))

    def send(target, headers):
        if announced:
            return edge.request("POST", target, headers, body)
        with edge.connect() as connection:
            connection.send(http1.head("POST", target, [*headers, ("Transfer-Encoding", "chunked")]))
            connection.send(http1.chunked(body, 3000))
            return connection.read()

    answer = send(EVENTS, sign.event_headers(merchant.shop, merchant.secret, "ORDER_CREATE", body))
    assert answer.status == 413 and b"nginx" in answer.body
    is_logged(edge, merchant, 413, "too_large", "too_large", "ORDER_CREATE")
    answer = send(CATALOG, sign.catalog_headers(merchant.shop, merchant.secret, "PRODUCT_UPSERT", body, "k"))
    assert answers.catalog_error(answer, 413) == "Request body is too large"
    is_logged(edge, merchant, 413, "too_large", "too_large", "PRODUCT_UPSERT")


def test_400_of_malformed_chunks(edge, merchant):
    def send(target, headers):
        with edge.connect() as connection:
            connection.send(http1.head("POST", target, [*headers, ("Transfer-Encoding", "chunked")]))
            connection.send(b"3\r\nabc\r\nnonsense\r\n")
            return connection.read()

    answer = send(EVENTS, sign.event_headers(merchant.shop, merchant.secret, "ORDER_CREATE", b""))
    assert answer.status == 400 and b"nginx" in answer.body
    is_logged(edge, merchant, 400, "bad_request", "body_refused", "ORDER_CREATE")
    answer = send(CATALOG, sign.catalog_headers(merchant.shop, merchant.secret, "PRODUCT_UPSERT", b"", "k"))
    answers.catalog_error(answer, 400)
    is_logged(edge, merchant, 400, "bad_request", "body_refused", "PRODUCT_UPSERT")


def test_408_closes_the_connection(edge, merchant):
    before = count(edge, "events", "bad_request")
    headers = sign.event_headers(merchant.shop, merchant.secret, "ORDER_CREATE", b"")
    with edge.connect() as connection:
        connection.send(http1.head("POST", EVENTS, [*headers, ("Content-Length", "1000")]) + b"{")
        assert connection.socket.recv(100) == b"", "closed without an answer"
    is_logged(edge, merchant, 408, "bad_request", "body_refused", "ORDER_CREATE")
    assert count(edge, "events", "bad_request") == before + 1


@pytest.mark.parametrize("target", [EVENTS, CATALOG])
def test_405_has_a_reason(edge, target):
    answer = edge.request("GET", target, [])
    assert answer.status == 405 and answer.header("Allow") == "POST"
    paths.wait_until(lambda: (last_line(edge)["result"], last_line(edge)["reason"]) ==
                     ("method_not_allowed", "method"), "the line")


@pytest.mark.parametrize("method,status", [("TRACE", 405), ("get", 400)])
def test_what_concerns_the_head_has_the_page_of_nginx(edge, method, status):
    answer = edge.request(method, EVENTS, [])
    assert answer.status == status and not answer.has("Allow")
    assert b"nginx" in answer.body


def test_signals_print_no_warning_that_the_test_of_the_configuration_lacks(edge):
    """`nginx -s reload` and `reopen` warned of sluice_large_memory, which they had not read."""
    assert "[warn]" not in edge.test_configuration()[1]
    for signal in ("reopen", "reload"):
        said = subprocess.run(edge.command("-s", signal), capture_output=True, text=True, check=True)
        assert "sluice" not in said.stderr + said.stdout
