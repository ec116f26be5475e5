"""docs/security.md, Hostile bodies and Floods: bounded time and memory, and the others are served."""

import os
import random
import socket

import pytest

from harness import answers, http1, orders, paths, sign

CONFIG = """
    sluice_store @STORE@ map_size=1g thread_pool=sluice offload_pool=offload;
    sluice_rate_limit 100000000 1h;
    sluice_large_memory 64m;
    client_header_buffer_size 8k;
    sluice_failure_limit 100 10s;
    server {
        listen 127.0.0.1:@PORT@;
        include @SERVER@;
    }
""".replace("@SERVER@", str(paths.ROOT / "conf" / "nginx" / "sluice-server.conf"))
MEGABYTE = 1 << 20


@pytest.fixture
def one(start_edge, new_merchant):
    edge = start_edge(CONFIG, workers=1)
    return edge, new_merchant(edge, "acme")


def peak_kilobytes(pid):
    with open(f"/proc/{pid}/status") as status:
        return int(next(line for line in status if line.startswith("VmHWM")).split()[1])


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


# JSON bombs ---------------------------------------------------------------------------------------


def repeated(text, size):
    return text * (size // len(text))


def padded(value, size=MEGABYTE - 2000):
    """A valid order with one more field, whose text value(size) gives."""
    body = sign.encode(orders.order())
    return body[:-1] + b',"x":' + value(size) + b"}"


def keys(size):
    return b"{" + b",".join(b'"%07d":0' % number for number in range(size // 12)) + b"}"


def colliding(size):
    """Names that differ in their last byte only, and the same name over and over."""
    return b"{" + repeated(b'"%s":1,' % (b"a" * 40), size) + b'"a":1}'


def many_lines(size):
    wrong = [orders.line(f"l{number % 7}", sku="", amount="-") for number in range(size // 130)]
    return sign.encode(orders.order(line_items=wrong))


def many_refunds(size):
    lines = [orders.line(f"l{number}") for number in range(size // 300)]
    refunds = [orders.refund(f"r{number}", f"l{number % 5}") for number in range(size // 300)]
    return sign.encode(orders.order(line_items=lines, refund_line_items=refunds))


BOMBS = {
    "open arrays": lambda size: b"[" * size,
    "open objects": lambda size: repeated(b'{"a":', size),
    "deep in an unknown field": lambda size: padded(lambda n: b"[" * (n // 2) + b"]" * (n // 2)),
    "one long number": lambda size: padded(lambda n: b"1" * n),
    "a long fraction": lambda size: padded(lambda n: b"0." + b"1" * (n - 2)),
    "a huge exponent": lambda size: padded(lambda n: b"1e" + b"9" * (n - 2)),
    "many numbers": lambda size: padded(lambda n: b"[" + b"1e308," * (n // 6 - 1) + b"0]"),
    "many keys": lambda size: padded(keys),
    "one key over and over": lambda size: padded(colliding),
    "named keys over and over": lambda size: b"{" + repeated(b'"amount":"1",', size - 20) + b'"tax":"0"}',
    "one long string": lambda size: padded(lambda n: b'"' + b"x" * (n - 2) + b'"'),
    "escapes": lambda size: padded(lambda n: b'"' + b"\\u00e9" * (n // 6 - 1) + b'"'),
    "escaped zeros": lambda size: padded(lambda n: b'"' + b"\\u0000" * (n // 6 - 1) + b'"'),
    "an open string": lambda size: padded(lambda n: b'"' + b"\\\\" * (n // 2)),
    "a long order id": lambda size: sign.encode(orders.order("o" * (size - 1000))),
    "a long decimal": lambda size: sign.encode(orders.order(amount="9" * (size - 1000))),
    "many wrong lines": many_lines,
    "many refunds of few lines": many_refunds,
    "many empty objects": lambda size: sign.encode(orders.order(line_items=[])).replace(
        b'"line_items":[]', b'"line_items":[' + repeated(b"{},", size - 1000) + b"{}]"),
    "blanks": lambda size: b" " * size,
}


@pytest.mark.parametrize("kind", BOMBS)
def test_a_json_bomb_is_answered_in_bounded_time_and_memory(one, kind):
    edge, merchant = one
    (worker,) = paths.wait_until(edge.workers, "the worker")
    body = BOMBS[kind](MEGABYTE)
    assert MEGABYTE // 4 <= len(body) <= MEGABYTE
    plain = sign.encode(orders.order()).ljust(len(body))
    merchant.event("ORDER_CREATE", plain)  # the worker's buffers have seen a body of this size
    before_kilobytes, before_seconds = peak_kilobytes(worker), cpu_seconds(worker)
    for _ in range(5):
        answer = merchant.event("ORDER_CREATE", body)
        assert answer.status in (200, 400), answer
        assert len(answer.body) < 40000
    assert cpu_seconds(worker) - before_seconds < 5 * 0.5, "seconds of the processor for 5 bodies of 1 MB"
    assert peak_kilobytes(worker) - before_kilobytes < 64 * 1024
    assert edge.workers() == [worker]
    answers_ok(merchant.event("ORDER_CREATE", orders.order()))


@pytest.mark.parametrize("kind", ["open arrays", "many keys", "many products", "many variants", "deep variants"])
def test_a_bomb_of_a_batch_too(one, kind):
    edge, merchant = one
    (worker,) = paths.wait_until(edge.workers, "the worker")
    size = 8 * MEGABYTE
    product = b'{"platform_product_id":"p","title":"T"%s}'
    body = {
        "open arrays": lambda: b'{"products":[' + b"[" * size,
        "many keys": lambda: b'{"products":[' + product % (b',"x":' + keys(size)) + b"]}",
        "many products": lambda: b'{"products":[' + repeated(b"{},", size) + b"{}]}",
        "many variants": lambda: b'{"products":[' + product % (b',"variants":[' + repeated(b"{},", size) + b"{}]") + b"]}",
        "deep variants": lambda: b'{"products":[' + product % (b',"variants":' + b"[" * size) + b"]}",
    }[kind]()
    before = cpu_seconds(worker)
    answer = merchant.catalog("PRODUCT_UPSERT", body, "key")
    assert answer.status in (200, 400, 422), answer
    assert len(answer.body) < 300_000
    assert cpu_seconds(worker) - before < 4
    assert peak_kilobytes(worker) < 600 * 1024
    answers_ok(merchant.event("ORDER_CREATE", orders.order()))


def answers_ok(answer):
    assert (answer.status, answer.body) == (200, b"success"), answer


# Floods -------------------------------------------------------------------------------------------


def attacker(port):
    """Another address than the honest sender's, as it would be."""
    return socket.create_connection(("127.0.0.1", port), timeout=paths.DEADLINE, source_address=("127.0.0.66", 0))


def served(merchant, count=30):
    """The honest sender is: every request of its own connections, on every worker."""
    for number in range(count):
        answers_ok(merchant.event("ORDER_CREATE", orders.order()))
        if number % 10 == 0:
            batch = {"products": [{"platform_product_id": "p", "title": "T"}]}
            answers.catalog_success(merchant.catalog("PRODUCT_UPSERT", batch, orders.unique("flood")), 1)


def slow_heads(edge, connections):
    for connection in connections:
        connection.sendall(b"POST /event/ecomm HTTP/1.1\r\nHost: x\r\nX-Sig")


def slow_bodies(edge, connections):
    for connection in connections:
        connection.sendall(http1.head("POST", sign.EVENTS, [
            ("X-SVC-SHOP-ID", "acme-shop"), ("X-SVC-TOPIC", "ORDER_CREATE"), ("X-Signature", "0" * 64),
            ("Content-Type", "application/json"), ("Content-Length", "900000")]) + b"{")


def slow_chunks(edge, connections):
    for connection in connections:
        connection.sendall(http1.head("POST", sign.EVENTS, [
            ("X-SVC-SHOP-ID", "acme-shop"), ("X-SVC-TOPIC", "ORDER_CREATE"), ("X-Signature", "0" * 64),
            ("Content-Type", "application/json"), ("Transfer-Encoding", "chunked")]) + b"1\r\n{\r\n")


def never_reads(edge, connections):
    """Pipelines requests whose answers it never takes."""
    one = http1.head("GET", sign.EVENTS, [("Content-Length", "0")])
    for connection in connections:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.setblocking(False)
        try:
            for _ in range(200):
                connection.send(one * 20)
        except BlockingIOError:
            pass


@pytest.mark.parametrize("flood", [slow_heads, slow_bodies, slow_chunks, never_reads])
def test_a_flood_of_connections_leaves_the_others_served(start_edge, new_merchant, flood):
    edge = start_edge(CONFIG)
    merchant = new_merchant(edge, "acme")
    served(merchant, 3)
    connections = [attacker(edge.port) for _ in range(600)]
    chance = random.Random(1)
    try:
        flood(edge, connections)
        served(merchant)
        for connection in chance.sample(connections, 100):  # some continue
            try:
                connection.send(b"x")
            except OSError:
                pass
        served(merchant)
    finally:
        for connection in connections:
            connection.close()
    served(merchant, 3)
    assert len(edge.workers()) == 2


def test_a_flood_of_wrong_signatures_leaves_the_others_served(start_edge, new_merchant):
    edge = start_edge(CONFIG)
    merchant = new_merchant(edge, "acme")
    body = sign.encode(orders.order())
    wrong = sign.replaced(
        sign.event_headers(merchant.shop, merchant.secret, "ORDER_CREATE", body), x_signature="0" * 64
    )
    request = http1.head("POST", sign.EVENTS, wrong + [("Content-Length", str(len(body)))]) + body
    connections = [attacker(edge.port) for _ in range(20)]
    refused = []
    for connection in connections:
        connection.sendall(request * 50)
        served(merchant, 1)
    for connection in connections:
        got = b""
        while got.count(b"HTTP/1.1") < 50 and (data := connection.recv(65536)):
            got += data
        refused += [int(part[:3]) for part in got.split(b"HTTP/1.1 ")[1:]]
        connection.close()
    assert set(refused) == {401, 429}
    assert refused.count(429) > 100
    served(merchant, 3)
