"""How bytes arrive must not matter: chunks, spooling, pipelines, HTTP/2, clients that go away."""

import fcntl
import pathlib
import random
import socket
import struct
import termios
import time

import pytest

from harness import answers, http1, http2, orders, sign
from harness.paths import wait_until
from harness.sign import EVENTS, replaced

CONFIG_H2 = """
    sluice_store @STORE@ map_size=1g thread_pool=sluice offload_pool=offload;
    sluice_rate_limit off;

    server {
        listen 127.0.0.1:@PORT@ http2 reuseport;
        listen 127.0.0.1:@PORT2@ reuseport;
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
    }
"""


def sized(size):
    body = sign.encode(orders.order())
    assert len(body) <= size
    return body + b" " * (size - len(body))


def stored(edge, answer):
    seq = edge.sluice.seq_of(answer)
    (record,) = edge.sluice.json("queue", "peek", "--from", seq, "--limit", 1)
    assert record["seq"] == int(seq)
    return record["body"].encode()


def signed(merchant, body):
    return sign.event_headers(merchant.shop, merchant.secret, "ORDER_CREATE", body)


# Sizes: in one read, over several buffers, over the offload threshold, in a bulk file -------------

SIZES = [700, 1023, 1024, 1025, 4096, 8191, 8192, 8193, 16384, 16385, 65535, 65536, 65537, 131072,
         262143, 262144, 262145, 300000, 1048576]


@pytest.mark.parametrize("target", [EVENTS, "/spooled" + EVENTS], ids=["memory", "spooled"])
@pytest.mark.parametrize("size", SIZES)
def test_body_of_any_size_is_stored_as_sent(edge, merchant, target, size):
    body = sized(size)
    answer = merchant.event("ORDER_CREATE", body, target=target)
    answers.is_success(answer)
    assert stored(edge, answer) == body


@pytest.mark.parametrize("target", [EVENTS, "/spooled" + EVENTS], ids=["memory", "spooled"])
@pytest.mark.parametrize("size,chunk", [(700, 1), (700, 7), (5000, 1000), (70000, 4096), (300000, 65536)])
def test_chunked_body_is_stored_as_sent(edge, merchant, target, size, chunk):
    body = sized(size)
    headers = signed(merchant, body) + [("Transfer-Encoding", "chunked")]
    with edge.connect() as connection:
        connection.send(http1.head("POST", target, headers))
        connection.send(http1.chunked(body, chunk))
        answer = connection.read()
        answers.is_success(answer)
        assert stored(edge, answer) == body
        answers.is_success(merchant.event("ORDER_CREATE", orders.order(), connection=connection))


def test_chunked_body_over_the_limit_is_413(edge, merchant):
    body = sized(1024 * 1024 + 1)
    headers = signed(merchant, body) + [("Transfer-Encoding", "chunked")]
    with edge.connect() as connection:
        connection.send(http1.head("POST", EVENTS, headers))
        try:
            connection.send(http1.chunked(body, 65536))
        except ConnectionError:
            pass
        assert connection.read().status == 413


def test_wrong_signature_of_large_and_spooled_bodies_is_401(merchant):
    for size in (2000, 70000, 300000):
        body = sized(size)
        for target in (EVENTS, "/spooled" + EVENTS):
            headers = replaced(signed(merchant, body), x_signature="0" * 64)
            answers.is_unauthorized(merchant.edge.request("POST", target, headers, body))


def test_invalid_large_and_spooled_bodies_name_the_field(merchant):
    for pad in (2000, 70000, 300000):
        document = orders.order(amount="bad", extra="x" * pad)
        for target in (EVENTS, "/spooled" + EVENTS):
            answer = merchant.event("ORDER_CREATE", document, target=target)
            assert answers.event_errors(answer) == [("amount", "INVALID_FORMAT")]


def test_no_body_at_all(merchant):
    """Neither Content-Length nor Transfer-Encoding: an empty body, which is no JSON."""
    headers = signed(merchant, b"")
    answer = merchant.edge.request("POST", EVENTS, headers, length=False)
    assert [field for field, _ in answers.event_errors(answer)] == [None]
    answers.is_unauthorized(
        merchant.edge.request("POST", EVENTS, replaced(headers, x_signature="0" * 64), length=False)
    )


# Keep-alive and pipelining ----------------------------------------------------------------------


def test_keep_alive_over_every_kind_of_answer(edge, merchant):
    body = sign.encode(orders.order())
    with edge.connect() as connection:
        for _ in range(20):
            answers.is_success(merchant.event("ORDER_CREATE", orders.order(), connection=connection))
            bad = replaced(signed(merchant, body), x_signature="0" * 64)
            answers.is_unauthorized(connection.request("POST", EVENTS, bad, body))
            answers.event_errors(merchant.event("ORDER_CREATE", b"{}", connection=connection))
            assert connection.request("GET", EVENTS, []).status == 405
            spooled = "/spooled" + EVENTS
            answers.is_success(
                merchant.event("ORDER_CREATE", sized(3000), connection=connection, target=spooled)
            )


def test_pipelined_requests_are_answered_in_order(edge, merchant):
    wanted, data = [], b""
    for number in range(60):
        kind = number % 4
        body = sized(700 + number * 20) if kind != 2 else b"{}"
        headers = signed(merchant, body)
        if kind == 1:
            headers = replaced(headers, x_signature="f" * 64)
        target = "/spooled" + EVENTS if kind == 3 else EVENTS
        wanted.append((200, 401, 400, 200)[kind])
        data += http1.head("POST", target, headers + [("Content-Length", str(len(body)))]) + body
    with edge.connect() as connection:
        connection.send(data)
        got = [connection.read() for _ in wanted]
    assert [answer.status for answer in got] == wanted
    numbers = [edge.sluice.seq_of(answer) for answer in got if answer.status == 200]
    assert numbers == sorted(set(numbers))


def test_pipelined_requests_cut_at_random_bytes(edge, merchant):
    chance = random.Random(7)
    bodies = [sized(chance.randrange(600, 3000)) for _ in range(20)]
    data = b"".join(
        http1.head("POST", EVENTS, signed(merchant, body) + [("Content-Length", str(len(body)))]) + body
        for body in bodies
    )
    with edge.connect() as connection:
        while data:
            size = chance.randrange(1, 2000)
            connection.send(data[:size])
            data = data[size:]
        for body in bodies:
            answer = connection.read()
            answers.is_success(answer)
            assert stored(edge, answer) == body


def test_one_byte_at_a_time(edge, merchant):
    body = sign.encode(orders.order())
    data = http1.head("POST", EVENTS, signed(merchant, body) + [("Content-Length", str(len(body)))]) + body
    with edge.connect() as connection:
        for byte in data:
            connection.send(bytes([byte]))
        answers.is_success(connection.read())


def test_connection_close_is_honoured(edge, merchant):
    body = sign.encode(orders.order())
    with edge.connect() as connection:
        answers.is_success(
            connection.request("POST", EVENTS, signed(merchant, body) + [("Connection", "close")], body)
        )
        with pytest.raises(http1.Closed):
            connection.read()


def test_http_1_0(edge, merchant):
    body = sign.encode(orders.order())
    text = http1.head("POST", EVENTS, signed(merchant, body) + [("Content-Length", str(len(body)))])
    with edge.connect() as connection:
        connection.send(text.replace(b"HTTP/1.1", b"HTTP/1.0", 1) + body)
        answers.is_success(connection.read())


# Expect: 100-continue ---------------------------------------------------------------------------


def test_expect_100_continue(edge, merchant):
    body = sign.encode(orders.order())
    headers = signed(merchant, body) + [("Expect", "100-continue"), ("Content-Length", str(len(body)))]
    with edge.connect() as connection:
        connection.send(http1.head("POST", EVENTS, headers))
        assert connection.read().status == 100
        connection.send(body)
        answers.is_success(connection.read())


@pytest.mark.location_limits
def test_sender_without_signature_is_not_invited_to_upload(edge, merchant):
    """401 needs no body where shop or signature are missing; the final answer comes at once."""
    headers = [("Expect", "100-continue"), ("Content-Length", "500000"), ("Content-Type", "application/json")]
    with edge.connect() as connection:
        connection.send(http1.head("POST", EVENTS, headers))
        answers.is_unauthorized(connection.read())


# Smuggling --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "extra",
    [
        [("Content-Length", "5"), ("Transfer-Encoding", "chunked")],
        [("Content-Length", "5"), ("Content-Length", "6")],
        [("Content-Length", "-5")],
        [("Content-Length", "5x")],
        [("Transfer-Encoding", "gzip, chunked")],
    ],
)
def test_ambiguous_lengths_never_reach_the_queue(edge, merchant, extra):
    before = edge.sluice.accepted()
    body = sign.encode(orders.order())
    with edge.connect() as connection:
        connection.send(http1.head("POST", EVENTS, signed(merchant, body) + extra) + body)
        assert connection.read().status in (400, 501)
    assert edge.sluice.accepted() == before


# Clients that go away ---------------------------------------------------------------------------


def vanish(connection):
    """Close with a reset, as a killed client's kernel may do."""
    connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


@pytest.mark.parametrize("seed", range(4))
def test_client_that_disconnects_at_a_random_byte_disturbs_no_other(edge, merchant, seed):
    chance = random.Random(seed)
    for _ in range(60):
        size = chance.choice([700, 3000, 70000, 300000])
        body = sized(size)
        target = chance.choice([EVENTS, "/spooled" + EVENTS])
        data = http1.head("POST", target, signed(merchant, body) + [("Content-Length", str(size))]) + body
        connection = edge.connect()
        try:
            connection.send(data[: chance.choice([len(data), chance.randrange(len(data))])])
        except ConnectionError:
            pass
        if chance.random() < 0.5:
            vanish(connection)
        else:
            connection.close()
        if chance.random() < 0.3:
            answers.is_success(merchant.event("ORDER_CREATE", orders.order()))
    answers.is_success(merchant.event("ORDER_CREATE", orders.order()))


def test_half_closed_connection_still_gets_its_answer(edge, merchant):
    body = sign.encode(orders.order())
    with edge.connect() as connection:
        connection.send(
            http1.head("POST", EVENTS, signed(merchant, body) + [("Content-Length", str(len(body)))]) + body
        )
        connection.socket.shutdown(socket.SHUT_WR)
        answers.is_success(connection.read())


# HTTP/2 -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def edge_h2():
    from harness.edge import Edge

    with Edge(CONFIG_H2) as running:
        yield running.start()


@pytest.fixture(scope="module")
def merchant_h2(edge_h2):
    from harness.merchant import Merchant

    return Merchant(edge_h2, "acme")


def h2_success(answer):
    assert answer.status == 200 and answer.body == b"success", answer


@pytest.mark.parametrize("target", [EVENTS, "/spooled" + EVENTS], ids=["memory", "spooled"])
@pytest.mark.parametrize("size", [700, 20000, 70000, 300000])
def test_h2_body_is_stored_as_sent(edge_h2, merchant_h2, target, size):
    body = sized(size)
    with http2.Connection(edge_h2.port) as connection:
        answer = connection.request("POST", target, signed(merchant_h2, body), body)
        h2_success(answer)
        assert stored(edge_h2, answer) == body


def test_h2_every_kind_of_answer_on_one_connection(edge_h2, merchant_h2):
    body = sign.encode(orders.order())
    good = signed(merchant_h2, body)
    with http2.Connection(edge_h2.port) as connection:
        h2_success(connection.request("POST", EVENTS, good, body))
        answer = connection.request("POST", EVENTS, replaced(good, x_signature="0" * 64), body)
        assert (answer.status, answer.body) == (401, b"")
        answer = connection.request("POST", EVENTS, replaced(good, x_svc_topic="NO"), body)
        assert answer.status == 400 and b"X-SVC-TOPIC" in answer.body
        answer = connection.request("GET", EVENTS, good)
        assert (answer.status, answer.body, answer.header("allow")) == (405, b"", "POST")
        answer = connection.request("POST", EVENTS, good + [("X-Signature", "0" * 64)], body)
        assert (answer.status, answer.body) == (401, b"")
        h2_success(connection.request("POST", EVENTS, good, body))


def test_h2_100_streams_at_once(edge_h2, merchant_h2):
    bodies = [sized(700 + n) for n in range(100)]
    first = edge_h2.sluice.accepted() + 1
    with http2.Connection(edge_h2.port) as connection:
        streams = [connection.open("POST", EVENTS, signed(merchant_h2, body)) for body in bodies]
        for stream, body in zip(reversed(streams), reversed(bodies)):
            connection.send_body(stream, body)
        for stream in streams:
            h2_success(connection.read(stream))
    edge_h2.sluice("queue", "move")
    records = edge_h2.sluice.json("queue", "peek", "--from", first, "--limit", 200)
    assert sorted(record["body"].encode() for record in records) == sorted(bodies)


def test_h2_reset_streams_leave_the_others_alone(edge_h2, merchant_h2):
    chance = random.Random(3)
    with http2.Connection(edge_h2.port) as connection:
        for _ in range(10):
            body = sized(2000)
            streams = [connection.open("POST", EVENTS, signed(merchant_h2, body)) for _ in range(10)]
            alive = []
            for stream in streams:
                if chance.random() < 0.5:
                    connection.send_body(stream, body[: chance.randrange(1, 2000)], end=False)
                    connection.cancel(stream)
                else:
                    connection.send_body(stream, body)
                    if chance.random() < 0.3:
                        connection.cancel(stream)
                    else:
                        alive.append(stream)
            for stream in alive:
                h2_success(connection.read(stream))


def test_h2_lost_connections_disturb_no_other(edge_h2, merchant_h2):
    for _ in range(20):
        connection = http2.Connection(edge_h2.port)
        body = sized(1000)
        for _ in range(20):
            connection.send_body(connection.open("POST", EVENTS, signed(merchant_h2, body)), body)
        vanish(connection)
    with http2.Connection(edge_h2.port) as connection:
        body = sized(700)
        h2_success(connection.request("POST", EVENTS, signed(merchant_h2, body), body))
    wait_until(lambda: edge_h2.sluice.stats()["depth"] > 0, "the queue to be read")


@pytest.mark.location_limits
@pytest.mark.parametrize("buffering", ["", "client_body_in_file_only clean;"])
def test_an_answered_request_has_no_body_deadline(start_edge, new_merchant, buffering):
    """Once nginx has refused a body it reads and discards the rest, without a deadline."""
    edge = start_edge(CONFIG_H2.replace("http2 reuseport", "reuseport").replace(
        "client_max_body_size 1m;\n            sluice_ingest",
        "client_max_body_size 1k; client_body_timeout 1s; lingering_timeout 30s;"
        f"{buffering}\n            sluice_ingest"))
    edge.expect_log("client intended to send too large")
    merchant = new_merchant(edge, "acme")
    headers = signed(merchant, b"") + [("Transfer-Encoding", "chunked")]
    with edge.connect() as connection:
        connection.send(http1.head("POST", EVENTS, headers) + b"5\r\n{    \r\n")
        wait_until(lambda: connection_is_read(connection), "nginx to wait for the rest")
        connection.send(b"1000\r\n" + b" " * 4096 + b"\r\n")
        assert connection.read().status == 413
        until = time.monotonic() + 2.5
        while time.monotonic() < until:
            connection.send(b"1\r\n \r\n")  # refused if nginx has closed the connection
            time.sleep(0.1)
    assert "too slowly" not in edge.log()


def connection_is_read(connection):
    """Everything that was sent has left this socket's buffer, and nginx's as well."""
    unsent = bytearray(4)
    fcntl.ioctl(connection.socket, termios.TIOCOUTQ, unsent)
    ours, its = (f":{name[1]:04X}" for name in (connection.socket.getsockname(), connection.socket.getpeername()))
    unread = [fields[4] for fields in map(str.split, pathlib.Path("/proc/net/tcp").read_text().splitlines())
              if fields[1].endswith(its) and fields[2].endswith(ours)]
    return int.from_bytes(unsent, "little") == 0 and [queue.split(":")[1] for queue in unread] == ["00000000"]
