"""Bodies beyond client_body_buffer_size are taken as they come: what senders do meanwhile, and what stays on disk."""

import os
import signal
import socket
import threading
import time

import pytest

from harness import answers, http1, http2, orders, paths, sign
from harness.paths import wait_until
from harness.sign import CATALOG, EVENTS, replaced
from test_events_transport import sized, vanish

CONFIG = """
    sluice_store @STORE@ map_size=1g thread_pool=sluice offload_pool=offload;
    sluice_rate_limit 100000000 60s;
    server {
        listen 127.0.0.1:@PORT@;
        listen 127.0.0.1:@PORT2@ http2;
        client_body_buffer_size 32k;
        client_body_timeout 30s;
        add_header X-Seq $sluice_seq always;
        add_header X-Receipt $sluice_receipt always;
        location = /event/ecomm { client_max_body_size 1m; sluice_ingest events; }
        location = /product-data { client_max_body_size 64m; sluice_ingest catalog; }
        location = /try/product-data { client_max_body_size 64m; sluice_ingest catalog; sluice_dry_run on; }
        location = /which { add_header X-Worker $pid; return 204; }
    }
"""


def batch(size):
    """A valid batch of about so many bytes."""
    title = "x" * (size // 100)
    return sign.encode({"products": [{"platform_product_id": f"p{n}", "title": title} for n in range(100)]})


def event_head(merchant, body, *extra, length=None):
    headers = sign.event_headers(merchant.shop, merchant.secret, "ORDER_CREATE", body) + list(extra)
    return http1.head("POST", EVENTS, headers + [("Content-Length", str(len(body) if length is None else length))])


def batch_headers(merchant, body, key=None):
    return sign.catalog_headers(merchant.shop, merchant.secret, "PRODUCT_UPSERT", body, key or orders.unique("k"))


def files(edge):
    return list((edge.store / "queue" / "bulk").iterdir())


def has_file(edge):
    wait_until(lambda: files(edge), "a piece to be written")


def is_clean(edge):
    """A body that was never stored leaves no file."""
    wait_until(lambda: not files(edge), "the file of a body that was not stored to be removed")


@pytest.fixture(scope="module", name="edge")
def edge_fixture():
    from harness.edge import Edge

    with Edge(CONFIG) as running:
        yield running.start()


@pytest.fixture(scope="module", name="merchant")
def merchant_fixture(edge):
    from harness.merchant import Merchant

    return Merchant(edge, "acme")


@pytest.fixture(autouse=True)
def applied(request):
    """Each test begins without bulk files."""
    if "edge" in request.fixturenames:
        edge = request.getfixturevalue("edge")
        edge.sluice.drain()
        assert not files(edge)


# Whole --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("chunk", [0, 100_000, 1500])
def test_a_batch_of_22_megabytes(edge, merchant, chunk):
    body = batch(22_000_000)
    headers = batch_headers(merchant, body)
    if chunk:
        with edge.connect() as connection:
            connection.send(http1.head("POST", CATALOG, headers + [("Transfer-Encoding", "chunked")]))
            connection.send(http1.chunked(body, chunk))
            answer = connection.read()
    else:
        answer = edge.request("POST", CATALOG, headers, body)
    answers.catalog_success(answer, 100)
    (kept,) = files(edge)
    assert kept.read_bytes() == body
    assert kept.stat().st_mode & 0o777 == 0o660


@pytest.mark.parametrize("size", [32768, 32769, 40960, 65536, 65537, 98304, 262144, 262145, 1048576])
def test_sizes_around_the_pieces(edge, merchant, size):
    """Up to the memory set aside, one piece, more; inline records and files."""
    body = sized(size)
    for chunk in (0, 7000):
        signed = sign.event_headers(merchant.shop, merchant.secret, "ORDER_CREATE", body)
        with edge.connect() as connection:
            way = ("Transfer-Encoding", "chunked") if chunk else ("Content-Length", str(size))
            connection.send(http1.head("POST", EVENTS, signed + [way]))
            connection.send(http1.chunked(body, chunk) if chunk else body)
            answer = connection.read()
        answers.is_success(answer)
        (record,) = edge.sluice.json("queue", "peek", "--from", edge.sluice.seq_of(answer), "--limit", 1)
        assert record["body"].encode() == body
    assert len(files(edge)) == (2 if size > 262144 else 0)


def test_pipelined_requests_behind_large_ones(edge, merchant):
    bodies = [sized(size) for size in (300_000, 800, 40_000, 900, 70_000)]
    with edge.connect() as connection:
        sender = threading.Thread(
            target=connection.send, args=(b"".join(event_head(merchant, body) + body for body in bodies),))
        sender.start()
        got = [connection.read() for _ in bodies]
        sender.join()
    for answer in got:
        answers.is_success(answer)
    numbers = [edge.sluice.seq_of(answer) for answer in got]
    assert numbers == sorted(set(numbers))


def test_a_chunked_body_with_the_next_request_in_its_last_packet(edge, merchant):
    body, small = sized(100_000), sized(900)
    headers = sign.event_headers(merchant.shop, merchant.secret, "ORDER_CREATE", body)
    with edge.connect() as connection:
        connection.send(http1.head("POST", EVENTS, headers + [("Transfer-Encoding", "chunked")]) +
                        http1.chunked(body, 30_000) + event_head(merchant, small) + small)
        answers.is_success(connection.read())
        answers.is_success(connection.read())


def test_expect_100_continue(edge, merchant):
    body = sized(400_000)
    with edge.connect() as connection:
        connection.send(event_head(merchant, body, ("Expect", "100-continue")))
        assert connection.read().status == 100
        connection.send(body)
        answers.is_success(connection.read())


def test_many_at_once(edge, merchant):
    """More than the pool's threads, within its queue: each has its turn."""
    got = []

    def send():
        body = sized(300_000)
        got.append(merchant.event("ORDER_CREATE", body))

    threads = [threading.Thread(target=send) for _ in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [answer.status for answer in got] == [200] * 40


def test_dry_run_leaves_nothing(edge, merchant):
    body = batch(3_000_000)
    answer = edge.request("POST", "/try" + CATALOG, batch_headers(merchant, body), body)
    answers.catalog_success(answer, 100)
    assert answer.header("X-Sluice-Dry-Run") == "1" and not files(edge)


# Refused ------------------------------------------------------------------------------------------


def test_a_wrong_signature_of_22_megabytes_leaves_nothing(edge, merchant):
    body = batch(22_000_000)
    headers = replaced(batch_headers(merchant, body), x_signature="0" * 64)
    answers.catalog_error(edge.request("POST", CATALOG, headers, body), 401)
    assert not files(edge), "removed before the answer"
    event = sized(1_000_000)
    for shop in (merchant.shop, "nobody"):
        signed = sign.event_headers(shop, "another secret", "ORDER_CREATE", event)
        answers.is_unauthorized(edge.request("POST", EVENTS, signed, event))
        assert not files(edge)


def test_what_is_not_valid_leaves_nothing(edge, merchant):
    body = sized(500_000)[:-1] + b"}"
    assert [field for field, _ in answers.event_errors(merchant.event("ORDER_CREATE", body))] == [None]
    body = batch(2_000_000).replace(b'"title"', b'"titel"', 1)
    answer = edge.request("POST", CATALOG, batch_headers(merchant, body), body)
    assert answer.status == 422 and b"products[0].title" in answer.body
    assert not files(edge)


def test_keys_of_large_batches(edge, merchant):
    body, key = batch(3_000_000), orders.unique("k")
    headers = batch_headers(merchant, body, key)
    first = edge.request("POST", CATALOG, headers, body)
    answers.catalog_success(first, 100)
    again = edge.request("POST", CATALOG, headers, body)
    assert (again.status, again.body) == (200, first.body)
    other = batch(3_100_000)
    answers.catalog_error(edge.request("POST", CATALOG, batch_headers(merchant, other, key), other), 400)
    assert len(files(edge)) == 1


def test_429_leaves_nothing(start_edge, new_merchant):
    edge = start_edge(CONFIG.replace("100000000 60s", "1 86400s"))
    merchant = new_merchant(edge, "acme")
    body = sized(400_000)
    assert [merchant.event("ORDER_CREATE", body).status for _ in range(2)] == [200, 429]
    assert len(files(edge)) == 1


@pytest.mark.parametrize("chunked", [True, False])
def test_413_in_the_middle(edge, merchant, chunked):
    edge.expect_log("client intended to send too large")
    body = sized(1048577)
    headers = sign.event_headers(merchant.shop, merchant.secret, "ORDER_CREATE", body)
    with edge.connect() as connection:
        if chunked:
            connection.send(http1.head("POST", EVENTS, headers + [("Transfer-Encoding", "chunked")]))
            try:
                connection.send(http1.chunked(body, 50_000))
            except ConnectionError:
                pass
        else:
            connection.send(event_head(merchant, body))
        assert connection.read().status == 413
    is_clean(edge)


# Senders that go away, or are slow ----------------------------------------------------------------


@pytest.mark.parametrize("reset", [True, False])
def test_a_sender_that_goes_away_in_the_middle_leaves_nothing(edge, merchant, reset):
    body = sized(1_000_000)
    for cut in (1, 33_000, 300_000, 999_999):
        connection = edge.connect()
        connection.send(event_head(merchant, body) + body[:cut])
        if cut > 100_000:
            has_file(edge)
        vanish(connection) if reset else connection.close()
        is_clean(edge)


def test_a_sender_that_stops_is_given_up(start_edge, new_merchant):
    edge = start_edge(CONFIG.replace("client_body_timeout 30s", "client_body_timeout 1s"))
    merchant = new_merchant(edge, "acme")
    body = sized(500_000)
    with edge.connect() as connection:
        connection.send(event_head(merchant, body) + body[:300_000])
        has_file(edge)
        with pytest.raises((http1.Closed, ConnectionResetError)):
            connection.read()
    is_clean(edge)


def trickle(connection, bodies, pause):
    for piece in bodies:
        try:
            connection.send(piece)
        except ConnectionError:
            return
        time.sleep(pause)


def test_a_sender_that_is_too_slow_is_given_up(start_edge, new_merchant):
    """client_body_timeout, and as long again as the bytes need at 16 KB a second."""
    edge = start_edge(CONFIG.replace("client_body_timeout 30s", "client_body_timeout 1s"))
    merchant = new_merchant(edge, "acme")
    body = sized(40_000)
    with edge.connect() as connection:
        connection.send(event_head(merchant, body) + body[:35_000])
        trickle(connection, [b" "] * 20, 0.3)
        wait_until(lambda: "client sends its body too slowly" in edge.log(), "the deadline")
    is_clean(edge)


def test_a_chunked_body_has_the_time_that_the_largest_has(start_edge, new_merchant):
    edge = start_edge(CONFIG.replace("client_body_timeout 30s", "client_body_timeout 1s"))
    merchant = new_merchant(edge, "acme")
    body = sized(60_000)
    headers = sign.event_headers(merchant.shop, merchant.secret, "ORDER_CREATE", body)
    data = http1.chunked(body, 5000)
    with edge.connect() as connection:
        connection.send(http1.head("POST", EVENTS, headers + [("Transfer-Encoding", "chunked")]))
        trickle(connection, [data[at:at + 5000] for at in range(0, len(data), 5000)], 0.2)
        answers.is_success(connection.read())


# Tokens that change meanwhile ---------------------------------------------------------------------


def send_around(edge, merchant, body, meanwhile, secret=None):
    headers = sign.event_headers(merchant.shop, secret or merchant.secret, "ORDER_CREATE", body)
    with edge.connect() as connection:
        connection.send(http1.head("POST", EVENTS, headers + [("Content-Length", str(len(body)))]) + body[:200_000])
        has_file(edge)
        meanwhile()
        connection.send(body[200_000:])
        return connection.read()


def test_a_token_revoked_meanwhile_is_refused(edge, new_merchant):
    merchant = new_merchant(edge, "revoked")
    answer = send_around(edge, merchant, sized(400_000), lambda: edge.sluice("token", "revoke", merchant.token_id))
    answers.is_unauthorized(answer)
    assert not files(edge)


def test_a_token_made_meanwhile_may_have_signed(edge, new_merchant):
    merchant = new_merchant(edge, "made")
    secret = "a secret of sixteen bytes or more"
    path = edge.folder / "given-secret"
    path.write_text(secret)
    answers.is_success(send_around(
        edge, merchant, sized(400_000), secret=secret,
        meanwhile=lambda: edge.sluice("token", "create", "--account", merchant.account, "--scope", "write_orders",
                                      "--secret-from", path)))


# Processes that end -------------------------------------------------------------------------------


def half_sent(edge, merchant, body):
    connection = edge.connect()
    connection.send(event_head(merchant, body) + body[:500_000])
    has_file(edge)
    return connection


def test_reload_in_the_middle(start_edge, new_merchant):
    edge = start_edge(CONFIG)
    merchant = new_merchant(edge, "acme")
    body = sized(900_000)
    connection = half_sent(edge, merchant, body)
    before = set(edge.workers())
    edge.send_signal(signal.SIGHUP)
    wait_until(lambda: edge.workers() and not before & set(edge.workers()), "new workers")
    connection.send(body[500_000:])
    answers.is_success(connection.read())
    connection.close()
    wait_until(lambda: not any(paths.alive(pid) for pid in before), "the old workers to end")


def test_shutdown_timeout_in_the_middle(start_edge, new_merchant):
    edge = start_edge(CONFIG, main="worker_shutdown_timeout 50ms;")
    merchant = new_merchant(edge, "acme")
    connections = [half_sent(edge, merchant, sized(900_000)) for _ in range(4)]
    edge.reload()
    for connection in connections:
        connection.close()
    is_clean(edge)
    answers.is_success(merchant.event("ORDER_CREATE", sized(900_000)))


def test_a_stop_in_the_middle_leaves_nothing(start_edge, new_merchant):
    edge = start_edge(CONFIG)
    merchant = new_merchant(edge, "acme")
    with half_sent(edge, merchant, sized(900_000)):
        edge.stop(signal.SIGTERM)
        assert not files(edge)


def test_a_killed_worker_leaves_an_orphan_that_is_swept_once_it_is_old(start_edge, new_merchant):
    edge = start_edge(CONFIG, workers=1)
    edge.expect_log("exited on signal 9")
    merchant = new_merchant(edge, "acme")
    connection = half_sent(edge, merchant, sized(900_000))
    (worker,) = edge.workers()
    os.kill(worker, signal.SIGKILL)
    wait_until(lambda: edge.workers() not in ([], [worker]), "a new worker")
    connection.close()
    (orphan,) = files(edge)
    edge.sluice.drain()
    assert files(edge) == [orphan], "a young one may belong to a body that comes"
    os.utime(orphan, (0, 0))
    edge.sluice.drain()
    assert not files(edge)


def test_a_sweep_leaves_the_file_of_a_slow_body_alone(edge, merchant):
    body = sized(900_000)
    with half_sent(edge, merchant, body) as connection:
        (coming,) = files(edge)
        wait_until(lambda: coming.stat().st_size == 15 * 32768, "every full piece to be written")
        os.utime(coming, (0, 0))
        edge.sluice.drain()
        assert files(edge) == [coming]
        connection.send(body[500_000:])
        answers.is_success(connection.read())
    edge.sluice.drain()
    assert edge.sluice.stats()["dead"] == 0 and not files(edge)


# HTTP/2 -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("announced", [True, False])
def test_h2_large_bodies(edge, merchant, announced):
    body = batch(22_000_000)
    extra = [("Content-Length", str(len(body)))] if announced else []
    with http2.Connection(edge.port2) as connection:
        answer = connection.request("POST", CATALOG, batch_headers(merchant, body) + extra, body)
    answers.catalog_success(answer, 100)
    (kept,) = files(edge)
    assert kept.read_bytes() == body


def test_h2_streams_side_by_side_and_some_that_are_reset(edge, merchant):
    bodies = [sized(300_000 + n) for n in range(12)]
    with http2.Connection(edge.port2) as connection:
        streams = [connection.open("POST", EVENTS, sign.event_headers(merchant.shop, merchant.secret, "ORDER_CREATE",
                                                                      body)) for body in bodies]
        for at in range(0, 400_000, 16_000):
            for number, (stream, body) in enumerate(zip(streams, bodies)):
                if number % 4 == 3 and at > 150_000:
                    if at < 170_000:
                        connection.cancel(stream)
                    continue
                piece = body[at:at + 16_000]
                if piece:
                    connection.send_body(stream, piece, end=at + 16_000 >= len(body))
        for number, stream in enumerate(streams):
            if number % 4 != 3:
                answer = connection.read(stream)
                assert (answer.status, answer.body) == (200, b"success"), answer
    wait_until(lambda: len(files(edge)) == 9, "the files of the three that were reset to go")


def test_h2_padded_frames(edge, merchant):
    """Padding counts in the window, not in the body."""
    body = sized(200_000)
    with http2.Connection(edge.port2) as connection:
        headers = sign.event_headers(merchant.shop, merchant.secret, "ORDER_CREATE", body)
        stream, left = connection.open("POST", EVENTS, headers), body
        while left:
            if connection.h2.local_flow_control_window(stream) < 700:
                connection._receive()
                continue
            connection.h2.send_data(stream, left[:400], end_stream=len(left) <= 400, pad_length=255)
            connection._flush()
            left = left[400:]
        answer = connection.read(stream)
    assert (answer.status, answer.body) == (200, b"success"), answer


def test_h2_lost_connection(edge, merchant):
    body = sized(1_000_000)
    connection = http2.Connection(edge.port2)
    for _ in range(5):
        stream = connection.open("POST", EVENTS, sign.event_headers(merchant.shop, merchant.secret, "ORDER_CREATE",
                                                                    body))
        connection.send_body(stream, body[:600_000], end=False)
    has_file(edge)
    connection.socket.shutdown(socket.SHUT_RDWR)
    connection.close()
    is_clean(edge)
