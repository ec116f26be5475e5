"""Starts and reloads: while locks are held, other locations are served, and ours answer 503."""

import os
import re
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from harness import answers, http1, orders, paths, sign
from harness.edge import Edge, children
from harness.lock_holder import LOCK_BYTE, WRITER, LockHolder

CONFIG = """
    sluice_store @STORE@ map_size=1g thread_pool=sluice offload_pool=offload;
    sluice_rate_limit 1000000 60s;
    server {
        listen 127.0.0.1:@PORT@;
        add_header X-Worker $pid always;
        add_header X-Receipt $sluice_receipt always;
        location = /event/ecomm { sluice_ingest events; }
        location = /product-data { sluice_ingest catalog; }
        location /status/ { sluice_status; }
        location = /which { return 204; }
        location = /slow { return 204; }
    }
"""
PLAIN = """
    server { listen 127.0.0.1:@PORT@; location = /which { return 204; } }
"""

def first_answer(edge):
    """Seconds from the start of nginx to the first answer of a plain location."""
    began = time.monotonic()
    edge.start()
    assert edge.request("GET", "/which", []).status == 204
    return time.monotonic() - began


@pytest.fixture(scope="module")
def plain_seconds():
    """Seconds that the same nginx needs for its first answer without the module's directives."""
    with Edge(PLAIN) as edge:
        times = []
        for _ in range(3):
            times.append(first_answer(edge))
            edge.stop()
        edge.start()
    return max(times)


def stopped_edge(start_edge, new_merchant, **options):
    edge = start_edge(CONFIG, **options)
    merchant = new_merchant(edge, "acme")
    answers.is_success(merchant.event("ORDER_CREATE", orders.order()))
    edge.stop()
    return edge, merchant


def bound(plain_seconds):
    """Generous, because other programs run: a start that waits for what is held has no answer at all. The promised
    bound is measured by bench/transitions.py."""
    return 1.5 * plain_seconds + 5


@pytest.mark.parametrize("kind", ["ofd", "posix"])
def test_start_beside_held_claim_lock(start_edge, new_merchant, plain_seconds, kind):
    edge, merchant = stopped_edge(start_edge, new_merchant)
    holder = LockHolder(LOCK_BYTE, edge.store / "queue/lanes/cells", 1, kind)
    try:
        assert first_answer(edge) < bound(plain_seconds)
        assert edge.request("GET", "/status/health", []).status == 200
        answers.is_success(merchant.event("ORDER_CREATE", orders.order()))  # straight to the queue: it needs no lane
        assert edge.request("GET", "/status/ready", []).status == 200
        catalog = merchant.catalog("PRODUCT_UPSERT", {"products": [{"platform_product_id": "p", "title": "T"}]}, "k1")
        assert catalog.status == 200, catalog
        if kind == "ofd":  # no call names its process, and a search of all processes is not the first thing done
            paths.wait_until(lambda: 'cells" is locked by another process' in edge.log(), "the log to name the lock")
        said = paths.wait_until(lambda: re.findall(r"byte 1 of .*cells\" is locked by process \d+", edge.log()),
                                "the log to name the holder")
        assert said[0].endswith(str(holder.pid)), said
        time.sleep(2.5)
        lines = [line for line in edge.log().splitlines() if f"process {holder.pid}" in line]
        assert len(lines) <= 4, lines  # for each worker: before it served, and after
    finally:
        holder.release()
    paths.wait_until(lambda: merchant.event("ORDER_CREATE", orders.order()).header("X-Receipt"), "a lane to be taken")
    edge.sluice("queue", "move")
    assert edge.sluice.accepted() >= 3


def test_reload_and_stop_beside_held_claim_lock(start_edge, new_merchant):
    edge, _ = stopped_edge(start_edge, new_merchant)
    holder = LockHolder(LOCK_BYTE, edge.store / "queue/lanes/cells", 1, "ofd")
    try:
        edge.start()
        edge.reload()
        assert edge.request("GET", "/which", []).status == 204
        edge.stop()  # while the lock is held
    finally:
        holder.release()


def test_start_beside_held_writer_lock(start_edge, new_merchant, plain_seconds):
    """LMDB's writer lock: its owner is in the mutex."""
    edge, merchant = stopped_edge(start_edge, new_merchant)
    holder = LockHolder(WRITER, edge.store / "queue")
    try:
        assert first_answer(edge) < bound(plain_seconds)
        answer = merchant.event("ORDER_CREATE", orders.order())
        assert answer.status == 503 and int(answer.header("Retry-After")) > 0, answer
        paths.wait_until(lambda: f"held by process {holder.pid} " in edge.log(), "the log to name the holder")
        edge.reload()
        assert edge.request("GET", "/which", []).status == 204
    finally:
        holder.release()
    paths.wait_until(lambda: merchant.event("ORDER_CREATE", orders.order()).status == 200, "orders to be taken")


def test_reload_and_stop_while_moves_wait_for_writer_lock(start_edge, new_merchant):
    """A move that waits for LMDB's writer lock keeps no worker."""
    edge = start_edge(CONFIG)
    merchant = new_merchant(edge, "acme")
    edge.wait_until_open()
    holder = LockHolder(WRITER, edge.store / "queue")
    try:
        body = sign.encode(orders.order())
        answers.is_success(merchant.event("ORDER_CREATE", body))  # durable in a lane
        time.sleep(0.3)  # its move waits
        edge.send_signal(signal.SIGHUP)
        assert edge.request("GET", "/which", []).status == 204
        edge.stop()  # while the lock is held
    finally:
        holder.release()
    edge.start()
    assert body in [record["body"].encode() for record in edge.sluice.queued()]


@pytest.mark.parametrize("kind", ["catalog", "order"])
def test_what_waits_for_the_writer_lock_gets_503_and_keeps_no_worker(start_edge, new_merchant, kind):
    """Another process has LMDB's writer lock for longer than a commit waits. Nothing is stored that was refused, and a
    reload's old worker ends, though nginx joins the commit's thread."""
    edge = start_edge(CONFIG, workers=1)
    merchant = new_merchant(edge, "acme")
    edge.wait_until_open()
    order = {**orders.order(), "ignored": "x" * 40_000}  # larger than what a lane takes

    def send():
        if kind == "order":
            return merchant.event("ORDER_CREATE", order)
        return merchant.catalog("PRODUCT_UPSERT", {"products": [{"platform_product_id": "p", "title": "T"}]}, "k1")

    answers.is_success(merchant.event("ORDER_CREATE", orders.order()))
    holder = LockHolder(WRITER, edge.store / "queue")
    try:
        for _ in range(2):
            began = time.monotonic()
            answer = send()
            assert answer.status == 503 and int(answer.header("Retry-After")) > 0, answer
            assert 2.5 < time.monotonic() - began < 8
        answers.is_success(merchant.event("ORDER_CREATE", orders.order()))  # in the lane
        old = edge.workers()[0]
        with ThreadPoolExecutor() as pool:
            waiting = pool.submit(send)
            time.sleep(0.5)
            edge.send_signal(signal.SIGHUP)  # while its commit waits for the lock
            paths.wait_until(lambda: not paths.alive(old), "the old worker to end", 10)
            assert waiting.result().status == 503
        assert send().status == 503
        edge.stop()
    finally:
        holder.release()
    edge.start()
    answer = send()
    assert answer.status == 200, answer
    edge.sluice("queue", "move")
    assert edge.sluice.accepted() == 3, "what was refused is not stored"


def test_orders_are_taken_while_another_process_moves_for_ever(start_edge, new_merchant):
    """A stopped mover holds byte 0 of the cells."""
    edge, merchant = stopped_edge(start_edge, new_merchant)
    holder = LockHolder(LOCK_BYTE, edge.store / "queue/lanes/cells", 0, "ofd")
    try:
        edge.start()
        for _ in range(3):
            answers.is_success(merchant.event("ORDER_CREATE", orders.order()))
        edge.reload()
        answers.is_success(merchant.event("ORDER_CREATE", orders.order()))
    finally:
        holder.release()
    paths.wait_until(lambda: edge.sluice.stats()["in_lanes"] == 0, "the lanes to be moved")
    assert edge.sluice.accepted() == 5


def test_reload_gives_no_503(start_edge, new_merchant):
    """A request that meets a worker before its store is open waits for it."""
    edge = start_edge(CONFIG)
    merchant = new_merchant(edge, "acme")
    for _ in range(5):
        edge.send_signal(signal.SIGHUP)
        for _ in range(20):
            answers.is_success(merchant.event("ORDER_CREATE", orders.order()))


def test_start_with_full_lanes(start_edge, new_merchant, plain_seconds):
    """Thousands of records left in lanes by kill -9: other locations and ours are served at once."""
    edge = start_edge(CONFIG, workers=8)
    merchant = new_merchant(edge, "acme")
    sent = [sign.encode(orders.order()) for _ in range(400)]
    edge.expect_log("exited on signal 9")
    edge.wait_until_open()
    blocker = LockHolder(WRITER, edge.store / "queue")  # so that nothing is moved
    try:
        with edge.connect() as connection:
            for body in sent:
                answers.is_success(merchant.event("ORDER_CREATE", body, connection=connection))
        pids = [edge.master, *[pid for pid, _ in children(edge.master)]]
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        edge.process.wait()
        paths.wait_until(lambda: not any(paths.alive(pid) for pid in pids), "all processes to be gone")
    finally:
        blocker.release()
    assert first_answer(edge) < bound(plain_seconds)
    last = sign.encode(orders.order())
    answers.is_success(merchant.event("ORDER_CREATE", last))
    stored = [record["body"].encode() for record in edge.sluice.queued()]
    assert stored == [*sent, last]


def hold_a_plain_connection(edge, pid):
    """A request of another location that is not finished: it keeps the worker when it is to end."""
    connection = edge.connect_to(pid, "/which")
    connection.send(b"GET /slow HTTP/1.1\r\nHost: x\r\n")
    return connection


def test_worker_that_ends_returns_its_lane(start_edge, new_merchant):
    """Old workers stay for other connections; a worker of the fourth generation still gets a lane."""
    edge = start_edge(CONFIG.replace("map_size=1g", "map_size=4m"), workers=1)
    merchant = new_merchant(edge, "acme")
    held, lanes = [], set()
    for _ in range(8):
        answer = merchant.event("ORDER_CREATE", orders.order())
        answers.is_success(answer)
        assert answer.header("X-Receipt"), answer
        lanes.add(answer.header("X-Receipt"))
        worker = edge.workers()[0]
        held.append(hold_a_plain_connection(edge, worker))
        edge.send_signal(signal.SIGHUP)
        paths.wait_until(lambda old=worker: edge.workers() and old not in edge.workers(), "the new worker")
        time.sleep(1.5)
    assert len(children(edge.master)) >= 9
    files = list((edge.store / "queue/lanes").glob("*.lane"))
    assert len(files) <= 4, files
    answer = merchant.event("ORDER_CREATE", orders.order())
    assert answer.header("X-Receipt"), answer
    for connection in held:
        connection.close()


def test_old_worker_takes_orders_again(start_edge, new_merchant):
    """A request that reaches a worker after it has given its lane back is stored."""
    edge = start_edge(CONFIG, workers=1)
    merchant = new_merchant(edge, "acme")
    worker = edge.workers()[0]
    body = sign.encode(orders.order())
    headers = [*sign.event_headers(merchant.shop, merchant.secret, "ORDER_CREATE", body),
               ("Content-Length", str(len(body)))]
    request = http1.head("POST", sign.EVENTS, headers)
    connection = edge.connect_to(worker, "/which")
    connection.send(request[:20])  # no request of the module yet
    edge.send_signal(signal.SIGHUP)
    paths.wait_until(lambda: edge.workers() and worker not in edge.workers(), "the new worker")
    queue = str(edge.store / "queue/data.mdb")
    paths.wait_until(lambda: queue not in open(f"/proc/{worker}/maps").read(), "the old worker to close the queue")
    connection.send(request[20:] + body)
    answer = connection.read()
    answers.is_success(answer)
    assert int(answer.header("X-Worker")) == worker
    connection.close()
    assert body in [record["body"].encode() for record in edge.sluice.queued()]


def test_many_reloads_on_slow_disk_leave_no_workers(start_edge, new_merchant, plain_seconds, tmp_path):
    """Fifteen reloads in 3 s where each sync takes 150 ms."""
    shim = tmp_path / "slow.so"
    subprocess.run(["gcc", "-shared", "-fPIC", paths.ROOT / "bench/slow_sync.c", "-o", shim, "-ldl"], check=True)
    edge = start_edge(CONFIG, workers=4, environment={"LD_PRELOAD": str(shim), "SLOW_SYNC_US": "150000"})
    merchant = new_merchant(edge, "acme")
    for _ in range(15):
        edge.send_signal(signal.SIGHUP)
        assert edge.request("GET", "/which", []).status == 204
        time.sleep(0.2)
    began = time.monotonic()
    paths.wait_until(lambda: len(children(edge.master)) == 4, "the old workers to go")
    assert time.monotonic() - began < bound(plain_seconds)
    paths.wait_until(lambda: merchant.event("ORDER_CREATE", orders.order()).status == 200, "orders to be taken")
