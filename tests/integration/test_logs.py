"""Logs: the shipped format says who, what and why; nothing secret ever gets there."""

import json
import re
import socket
import struct

from harness import http1, orders, paths, sign

CONFIG = """
    sluice_store @STORE@ map_size=1g thread_pool=sluice offload_pool=offload;
    include @LOGCONF@;
    server {
        access_log @DIR@/access.log sluice;
        listen 127.0.0.1:@PORT@;
        location = /event/ecomm { sluice_ingest events; }
        location = /product-data { sluice_ingest catalog; client_max_body_size 8m; }
    }
""".replace("@LOGCONF@", str(paths.ROOT / "conf" / "nginx" / "sluice-log.conf"))

PLANTED = ["planted-mail@example.org", "planted-phone", "planted-anon-id", "planted-title"]


def test_the_log_says_why_and_nothing_secret(start_edge, new_merchant):
    edge = start_edge(CONFIG, level="info", workers=1)  # two would log in any order
    merchant = new_merchant(edge, "acme")
    order = orders.order(email=PLANTED[0], phone=PLANTED[1], svc_anon_id=PLANTED[2])
    body = sign.encode(order)
    assert merchant.event("ORDER_CREATE", order).status == 200
    good = sign.event_headers(merchant.shop, merchant.secret, "ORDER_CREATE", body)
    prefixed = sign.replaced(good, x_signature="sha256=" + sign.hmac_hex(merchant.secret, body))
    assert edge.request("POST", sign.EVENTS, prefixed, body).status == 401
    assert merchant.event("ORDER_CREATE", {**order, "amount": PLANTED[1]}).status == 400
    batch = {"products": [{"platform_product_id": "p", "title": PLANTED[3]}, {"title": PLANTED[3]}]}
    assert merchant.catalog("PRODUCT_UPSERT", batch, "key").status == 422

    access = edge.folder / "access.log"
    paths.wait_until(lambda: len(access.read_text().splitlines()) == 4, "four lines")
    lines = [json.loads(line) for line in access.read_text().splitlines()]
    assert [line["result"] for line in lines] == ["accepted", "unauthorized", "bad_request", "invalid"]
    assert lines[0]["account"] == "acme" and lines[0]["receipt"].endswith("-0")
    assert lines[1]["reason"] == "signature_prefix" and lines[1]["account"] == ""
    assert lines[2]["reason"] == lines[3]["reason"] == "fields"
    everything = access.read_text() + "".join(
        line for line in edge.log().splitlines(True) if "[debug]" not in line
    )
    for secret in [merchant.secret, *PLANTED]:
        assert secret not in everything, secret


def test_a_shop_id_that_looks_like_an_address_is_cut(start_edge, new_merchant):
    edge = start_edge(CONFIG, workers=1)
    merchant = new_merchant(edge, "acme")
    edge.sluice("shop", "create", "jo@shop.example", "--account", "acme")
    for shop in ("jo@shop.example", "customer.name@example.org", "x@y.z"):
        status = 200 if shop == "jo@shop.example" else 401
        assert edge.post_event(shop, merchant.secret, "ORDER_CREATE", orders.order()).status == status
    access = edge.folder / "access.log"
    paths.wait_until(lambda: len(access.read_text().splitlines()) == 3, "three lines")
    assert [json.loads(line)["shop"] for line in access.read_text().splitlines()] == ["jo...", "customer...", "x..."]
    assert "@" not in access.read_text() + edge.log()


def test_every_line_is_json_also_without_a_status(start_edge, new_merchant):
    """A client may leave at any moment. nginx writes a status that it does not know as 000, which is no number."""
    shipped = (paths.ROOT / "conf" / "nginx" / "sluice-log.conf").read_text()
    assert '"status":$status_as_number,' in shipped and re.search(r"^ +000 0;$", shipped, re.MULTILINE)
    edge = start_edge(CONFIG, workers=1)
    merchant = new_merchant(edge, "acme")
    body = sign.encode(orders.order(extra="x" * 100_000))
    headers = sign.event_headers(merchant.shop, merchant.secret, "ORDER_CREATE", body)
    for sent, resets in ((10, False), (50_000, False), (10, True), (50_000, True), (len(body), True)):
        with edge.connect() as connection:
            connection.send(http1.head("POST", sign.EVENTS, [*headers, ("Content-Length", str(len(body)))]))
            connection.send(body[:sent])
            if resets:
                connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    access = edge.folder / "access.log"
    paths.wait_until(lambda: len(access.read_text().splitlines()) == 5, "five lines")
    lines = [json.loads(line) for line in access.read_text().splitlines()]
    assert all(isinstance(line["status"], int) for line in lines)


def test_two_authorization_headers_reach_the_log_at_level_info_only(start_edge, new_merchant):
    """nginx itself writes a repeated header, with its value: docs/security.md says so."""
    for level, is_written in (("notice", False), ("info", True)):
        edge = start_edge(CONFIG, level=level, workers=1)
        _, secret = new_merchant(edge, "acme").edge.sluice.token("acme", "write_products")
        headers = [("Authorization", f"Bearer {secret}")] * 2
        assert edge.request("POST", sign.CATALOG, headers, b"{}").status == 400
        assert (secret in edge.log()) is is_written, level
        assert secret not in (edge.folder / "access.log").read_text()


def test_commit_time_is_part_of_request_time(start_edge, new_merchant):
    edge = start_edge(CONFIG.replace("@DIR@/access.log sluice", "@DIR@/access.log times").replace(
        "include", "log_format times '$request_time $sluice_commit_time'; include", 1))
    merchant = new_merchant(edge, "acme")
    edge.sluice("account", "set", "acme", "--rate-limit", "100000/60")
    with edge.connect() as connection:
        for _ in range(300):
            assert merchant.event("ORDER_CREATE", orders.order(), connection=connection).status == 200
    access = edge.folder / "access.log"
    paths.wait_until(lambda: len(access.read_text().splitlines()) == 300, "300 lines")
    times = [tuple(map(float, line.split())) for line in access.read_text().splitlines()]
    assert [time for time in times if time[1] > time[0]] == []


def reasons(edge, merchant, requests):
    """Returns the log lines of each (headers, body), sent one after the other."""
    access = edge.folder / "access.log"
    before = len(access.read_text().splitlines())
    for headers, body in requests:
        answer = edge.request("POST", sign.EVENTS, headers, body)
        assert (answer.status, answer.body) == (401, b""), answer
    paths.wait_until(lambda: len(access.read_text().splitlines()) == before + len(requests), "the log")
    return [json.loads(line)["reason"] for line in access.read_text().splitlines()[before:]]


def test_the_reason_names_the_token_that_may_not_sign(start_edge, new_merchant):
    edge = start_edge(CONFIG, workers=1)
    merchant = new_merchant(edge, "acme")
    body = sign.encode(orders.order())
    revoked_id, revoked = edge.sluice.token("acme", "write_orders")
    edge.sluice("token", "revoke", revoked_id)
    _, expired = edge.sluice.token("acme", "write_orders", expires="2020-01-01T00:00:00Z")
    _, products = edge.sluice.token("acme", "write_products")

    def signed(secret, shop=merchant.shop):
        return sign.event_headers(shop, secret, "ORDER_CREATE", body), body

    assert reasons(
        edge,
        merchant,
        [
            signed(revoked),
            signed(expired),
            signed(products),
            signed("nobody's secret, nowhere"),
            signed(revoked, shop="nowhere"),
            (sign.event_headers(merchant.shop, merchant.secret, "ORDER_CREATE", body), body + b"\n"),
        ],
    ) == [
        "token_revoked",
        "token_expired",
        "token_scope",
        "signature_mismatch",
        "shop_unknown",
        "body_trailing_newline",
    ]


def test_no_sender_logs_under_anothers_name(start_edge, new_merchant):
    """An event that nginx cuts off before its signature can be checked names no account."""
    edge = start_edge(CONFIG.replace("sluice_ingest events;", "sluice_ingest events; client_max_body_size 1k;"))
    merchant = new_merchant(edge, "acme")
    body = sign.encode(orders.order(extra="x" * 5000))
    headers = sign.event_headers(merchant.shop, "not the secret of it", "ORDER_CREATE", body)
    with edge.connect() as connection:
        connection.send(http1.head("POST", sign.EVENTS, [*headers, ("Transfer-Encoding", "chunked")]))
        connection.send(http1.chunked(body, 500))
        assert connection.read().status == 413
    access = edge.folder / "access.log"
    paths.wait_until(lambda: access.read_text(), "a line")
    line = json.loads(access.read_text())
    assert (line["result"], line["account"]) == ("too_large", "")
