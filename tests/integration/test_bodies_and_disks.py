"""Large bodies and disks that are slow, full or broken; and that the event loop itself never writes to one."""

import errno
import pathlib
import socket
import time

import pytest

from crash.conftest import fault_shim
from faults.shim import DELAY, NGINX, Shim
from harness import answers, cli, http1, http2, orders, paths, sign
from harness.lock_holder import WRITER, LockHolder
from harness.paths import wait_until
from harness.sign import CATALOG, EVENTS, replaced
from test_events_transport import sized, vanish
from test_streamed_bodies import CONFIG, batch, batch_headers, event_head, files, half_sent, has_file, is_clean

__all__ = ["fault_shim"]
SHIPPED = paths.ROOT / "conf" / "nginx"
SLOW = CONFIG.replace("client_body_timeout 30s", "client_body_timeout 1s")


@pytest.fixture(name="start_with_shim")
def start_with_shim_fixture(start_edge, fault_shim, tmp_path):
    """A function that gives (edge, shim): nginx whose calls on its store can be made to fail."""
    made = []

    def with_store(http, **options):
        shim = Shim(fault_shim, tmp_path)
        folder = paths.make_folder()
        store = folder / "store"
        cli.Sluice(store)("init")
        edge = start_edge(http, store=store, environment=shim.environment(store), **options)
        made.append((edge, folder))
        return edge, shim

    yield with_store
    for edge, folder in made:
        edge.stop()  # or it says that its store was removed
        paths.drop_folder(folder)


# The event loop -----------------------------------------------------------------------------------


def shipped():
    """conf/nginx as it is installed, but for its paths."""
    http = (SHIPPED / "sluice-http.conf").read_text()
    http = http.replace("/var/lib/sluice", "@STORE@").replace("/usr/share/sluice/nginx", str(SHIPPED))
    server = (SHIPPED / "sluice-server.conf").read_text()
    return http + "server { listen 127.0.0.1:@PORT@; listen 127.0.0.1:@PORT2@ http2;" + server + "}"


def send_everything(edge, merchant):
    """Bodies of every size and way, good and bad, and senders that go away."""
    for size in (700, 70_000, 200_000, 300_000, 1_000_000):
        body = sized(size)
        answers.is_success(merchant.event("ORDER_CREATE", body))
        headers = sign.event_headers(merchant.shop, merchant.secret, "ORDER_CREATE", body)
        with edge.connect() as connection:
            connection.send(http1.head("POST", EVENTS, headers + [("Transfer-Encoding", "chunked")]))
            connection.send(http1.chunked(body, 5000))
            answers.is_success(connection.read())
        answers.is_unauthorized(edge.request("POST", EVENTS, replaced(headers, x_signature="0" * 64), body))
        with edge.connect() as connection:
            connection.send(event_head(merchant, body) + body[:size // 2])
            time.sleep(0.05)
            vanish(connection)
        with http2.Connection(edge.port2) as connection:
            answer = connection.request("POST", EVENTS, headers, body)
            assert answer.status == 200
    for size in (100_000, 300_000, 20_700_000):
        body = batch(size)
        answers.catalog_success(edge.request("POST", CATALOG, batch_headers(merchant, body), body), 100)
        with edge.connect() as connection:
            connection.send(http1.head("POST", CATALOG, batch_headers(merchant, body) +
                                       [("Transfer-Encoding", "chunked")]))
            connection.send(http1.chunked(body, 100_000))
            answers.catalog_success(connection.read(), 100)
        bad = body.replace(b'"title"', b'"titel"')
        assert edge.request("POST", CATALOG, batch_headers(merchant, bad), bad).status == 422
        with http2.Connection(edge.port2) as connection:
            assert connection.request("POST", CATALOG, batch_headers(merchant, body), body).status == 200
    is_settled = "the files of bodies that were not stored to go"
    wait_until(lambda: len(files(edge)) == 2 * 3 + 2 * 3, is_settled)


def test_the_event_loop_writes_to_no_disk_in_the_shipped_configuration(start_with_shim, new_merchant):
    threads = (SHIPPED / "sluice-threads.conf").read_text()
    edge, shim = start_with_shim(shipped(), main=threads)
    merchant = new_merchant(edge, "acme")
    edge.sluice("account", "set", merchant.account, "--rate-limit", "100000/60")
    shim.watch_loop()
    send_everything(edge, merchant)
    assert shim.loop_calls == 0, f"{shim.loop_calls} calls, the first on {shim.loop_path}"


def test_the_event_loop_removes_no_file_of_a_body_that_is_refused(start_with_shim, new_merchant):
    """A commit waits for the writer lock: its batch and the one behind it are refused after 3 s."""
    edge, shim = start_with_shim(CONFIG, workers=1)
    merchant = new_merchant(edge, "acme")
    stored, refused = batch(300_000), batch(400_000)
    answers.catalog_success(edge.request("POST", CATALOG, batch_headers(merchant, refused), refused), 100)
    holder = LockHolder(WRITER, edge.store / "queue")
    try:
        with edge.connect() as connection:
            connection.send(http1.head("POST", CATALOG, [*batch_headers(merchant, stored),
                                                         ("Content-Length", str(len(stored)))]) + stored)
            wait_until(lambda: len(files(edge)) == 2, "the batch to reach its commit")
            time.sleep(0.2)
            shim.watch_loop()
            answer = edge.request("POST", CATALOG, batch_headers(merchant, refused), refused)
            for each in (connection.read(), answer):
                assert each.status == 503 and each.header("Retry-After"), each
            wait_until(lambda: len(files(edge)) == 1, "the refused batches' files to go")
            assert shim.loop_calls == 0, f"{shim.loop_calls} calls, the first on {shim.loop_path}"
    finally:
        holder.release()


def test_the_watch_sees_bodies_that_nginx_spools(start_with_shim, new_merchant):
    """client_body_in_file_only asks for it; so the test above can fail."""
    edge, shim = start_with_shim(CONFIG.replace("client_body_buffer_size", "client_body_in_file_only clean; #"))
    merchant = new_merchant(edge, "acme")
    shim.watch_loop()
    answers.is_success(merchant.event("ORDER_CREATE", sized(300_000)))
    assert shim.loop_calls > 1 and str(edge.folder / "body") in shim.loop_path


# A slow disk --------------------------------------------------------------------------------------


def resident_bytes(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) << 10
    raise AssertionError("no VmRSS")


def test_a_sender_waits_while_the_disk_is_behind(start_with_shim, new_merchant):
    """Two pieces of it lie in memory; the rest stays with the sender."""
    edge, shim = start_with_shim(CONFIG, workers=1)
    merchant = new_merchant(edge, "acme")
    body = batch(60_000_000)
    (worker,) = edge.workers()
    before = resident_bytes(worker)
    with edge.connect() as connection:
        connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 65536)
        connection.send(http1.head("POST", CATALOG, batch_headers(merchant, body) +
                                   [("Content-Length", str(len(body)))]))
        shim.arm(["WRITE"], DELAY, roles=NGINX, sticky=True, delay_ms=300)
        connection.socket.settimeout(0.1)
        sent, until = 0, time.monotonic() + 3
        while time.monotonic() < until:
            try:
                sent += connection.socket.send(body[sent:sent + 65536])
            except TimeoutError:
                assert edge.request("GET", "/which", []).status == 204, "the event loop is free meanwhile"
        assert shim.injected > 0 and sent < 20_000_000, sent
        assert resident_bytes(worker) - before < 4_000_000
        shim.disarm()
        connection.socket.settimeout(paths.DEADLINE)
        connection.send(body[sent:])
        answers.catalog_success(connection.read(), 100)
    (kept,) = files(edge)
    assert kept.read_bytes() == body


def test_a_slow_disk_is_not_the_senders_fault(start_with_shim, new_merchant):
    """client_body_timeout and the deadline of the whole body stand while the pool is behind."""
    edge, shim = start_with_shim(SLOW, workers=1)
    merchant = new_merchant(edge, "acme")
    body = sized(200_000)
    shim.arm(["WRITE"], DELAY, roles=NGINX, sticky=True, delay_ms=2500)
    with edge.connect(timeout=60) as connection:
        connection.send(event_head(merchant, body) + body)
        answers.is_success(connection.read())
    assert shim.injected >= 3
    with http2.Connection(edge.port2) as connection:
        shim.arm(["WRITE"], DELAY, roles=NGINX, sticky=True, delay_ms=2500)
        headers = sign.event_headers(merchant.shop, merchant.secret, "ORDER_CREATE", body)
        assert connection.request("POST", EVENTS, headers, body).status == 200
    shim.disarm()


def test_a_sender_that_goes_away_while_the_disk_is_behind(start_with_shim, new_merchant):
    edge, shim = start_with_shim(CONFIG, workers=1)
    merchant = new_merchant(edge, "acme")
    for how in ("close", "reset", "h2"):
        shim.arm(["WRITE"], DELAY, roles=NGINX, sticky=True, delay_ms=400)
        body = sized(900_000)
        if how == "h2":
            connection = http2.Connection(edge.port2)
            stream = connection.open("POST", EVENTS, sign.event_headers(merchant.shop, merchant.secret,
                                                                        "ORDER_CREATE", body))
            connection.send_body(stream, body[:60_000], end=False)
            has_file(edge)
            connection.cancel(stream)
            connection.close()
        else:
            connection = half_sent(edge, merchant, body)
            vanish(connection) if how == "reset" else connection.close()
        is_clean(edge)
        shim.disarm()
    answers.is_success(merchant.event("ORDER_CREATE", sized(900_000)))


# A full or broken disk ----------------------------------------------------------------------------


@pytest.mark.parametrize("error, reason", [(errno.ENOSPC, "disk_full"), (errno.EIO, "io_error")])
@pytest.mark.parametrize("calls, nth", [(["OPEN"], 1), (["WRITE"], 1), (["WRITE"], 5), (["SYNC"], 1), (["READ"], 1)])
def test_a_disk_that_refuses_is_503_and_nothing_stays(start_with_shim, new_merchant, error, reason, calls, nth):
    config = CONFIG.replace("server {", "log_format reason $sluice_reason;"
                            " server { access_log @DIR@/access.log reason;", 1)
    edge, shim = start_with_shim(config, workers=1)
    edge.expect_log("sluice: ")
    merchant = new_merchant(edge, "acme")
    body, key = batch(3_000_000), orders.unique("k")
    headers = batch_headers(merchant, body, key)
    answers.catalog_success(edge.request("POST", CATALOG, headers, body), 100)
    edge.sluice.drain()
    other = batch(3_100_000)

    def refused(target, headers, body):
        shim.arm(calls, error, nth, roles=NGINX, sticky=True)
        answer = edge.request("POST", target, headers, body)
        hit = shim.injected
        shim.disarm()
        assert hit > 0 and not files(edge)
        return answer

    answer = refused(CATALOG, batch_headers(merchant, other), other)
    answers.catalog_error(answer, 503)
    assert answer.has("X-RateLimit-Remaining") and answer.header("Retry-After") == "1"
    wait_until(lambda: (edge.folder / "access.log").read_text().split()[-1] == reason, "the reason in the log")
    # A batch that was stored before is recognised by its digest, and a client that cannot sign learns nothing.
    answers.catalog_success(refused(CATALOG, headers, body), 100)
    if (calls, nth) in ((["OPEN"], 1), (["WRITE"], 1)):  # others are not met by one that is refused
        wrong = replaced(batch_headers(merchant, other), x_signature="0" * 64)
        answers.catalog_error(refused(CATALOG, wrong, other), 401)
    answers.catalog_success(edge.request("POST", CATALOG, batch_headers(merchant, other), other), 100)


def test_an_order_that_cannot_be_read_back_is_503(start_with_shim, new_merchant):
    """A body of a size that is stored in the record: never checked as if it were in memory."""
    edge, shim = start_with_shim(CONFIG, workers=1)
    edge.expect_log("sluice: ")
    merchant = new_merchant(edge, "acme")
    body = sized(200_000)
    shim.arm(["READ"], errno.EIO, 1, roles=NGINX, sticky=True)
    answer = merchant.event("ORDER_CREATE", body)
    hit = shim.injected
    shim.disarm()
    assert hit > 0 and answer.status == 503 and not files(edge), answer
    answers.is_success(merchant.event("ORDER_CREATE", body))


def test_a_folder_that_is_gone_is_503(start_with_shim, new_merchant):
    edge, _ = start_with_shim(CONFIG, workers=1)
    edge.expect_log("sluice: ")
    merchant = new_merchant(edge, "acme")
    bulk = edge.store / "queue" / "bulk"
    bulk.rename(edge.store / "queue" / "elsewhere")
    assert merchant.event("ORDER_CREATE", sized(300_000)).status == 503
    (edge.store / "queue" / "elsewhere").rename(bulk)
    answers.is_success(merchant.event("ORDER_CREATE", sized(300_000)))
