"""A worker process that ends while its commit is on the disk, and a disk that fails."""

import os
import pathlib
import signal
import struct
import subprocess
import time

import pytest

from harness import http1, orders, paths, sign

HERE = pathlib.Path(__file__).parent
CONFIG = """
    sluice_store @STORE@ map_size=1g thread_pool=sluice offload_pool=offload;
    sluice_rate_limit off;
    server {
        listen 127.0.0.1:@PORT@;
        location = /event/ecomm { sluice_ingest events; client_max_body_size 2m; }
        location /status { sluice_status; }
    }
"""


@pytest.fixture
def preload(tmp_path):
    """Builds a shim; gives the environment that loads it."""

    def build(source):
        library = tmp_path / "shim.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-O2", "-o", library, source, "-ldl"], check=True)
        before = paths.sanitizer_environment().get("LD_PRELOAD", "")
        return {"LD_PRELOAD": f"{before} {library}".strip()}

    return build


class SlowSyncs:
    def __init__(self, environment, counter):
        self.environment, self.counter = environment, counter
        counter.write_bytes(bytes(8))

    def __call__(self, milliseconds):
        """The environment that makes each sync so much slower."""
        return {**self.environment, "SLOW_SYNC_US": str(milliseconds * 1000),
                "SLOW_SYNC_COUNT": str(self.counter)}

    def ended(self):
        return struct.unpack("<Q", self.counter.read_bytes()[:8])[0]


@pytest.fixture
def slow_syncs(preload, tmp_path):
    return SlowSyncs(preload(paths.ROOT / "bench/slow_sync.c"), tmp_path / "delays")


def send_order(connection, merchant, body):
    headers = sign.event_headers(merchant.shop, merchant.secret, "ORDER_CREATE", body)
    connection.send(
        http1.head("POST", sign.EVENTS, headers + [("Content-Length", str(len(body)))]) + body
    )


@pytest.mark.parametrize("way, bytes_more", [("lane", 0), ("queue", 60000)])
def test_a_quitting_worker_waits_for_its_commit(
    start_edge, new_merchant, slow_syncs, way, bytes_more
):
    edge = start_edge(CONFIG, workers=1, environment=slow_syncs(700))
    merchant = new_merchant(edge, "acme")
    paths.wait_until(lambda: merchant.event("ORDER_CREATE", orders.order()).status == 200, "the store to open")
    with edge.connect() as connection:
        paths.wait_until(lambda: edge.sluice.stats()["in_lanes"] == 0, "the mover to be done")
        ended = slow_syncs.ended()
        send_order(connection, merchant, sign.encode(orders.order(extra="x" * bytes_more)))
        assert edge.request("GET", "/status", []).status == 200  # it was read before this
        edge.send_signal(signal.SIGQUIT)
        assert connection.read().status == 200
    assert slow_syncs.ended() > ended, f"the {way} was not slow"
    assert len(edge.sluice.queued()) == 2


def test_shutdown_timeout_during_a_commit(start_edge, new_merchant, slow_syncs):
    """nginx gives up on the connections while the commit still runs: nothing is touched that is gone."""
    edge = start_edge(
        CONFIG, main="worker_shutdown_timeout 50ms;", workers=1, environment=slow_syncs(400)
    )
    edge.wait_until_open()
    merchant = new_merchant(edge, "acme")
    bodies = []
    for _ in range(4):
        connections = [edge.connect() for _ in range(6)]
        before = slow_syncs.ended()
        for connection in connections:
            bodies.append(sign.encode(orders.order()))
            send_order(connection, merchant, bodies[-1])
        paths.wait_until(lambda: slow_syncs.ended() > before, "a commit to begin")
        edge.reload()
        for connection in connections:
            try:
                assert connection.read().status in (200, 503)
            except (http1.Closed, ConnectionResetError):
                pass
            connection.close()
    assert merchant.event("ORDER_CREATE", orders.order()).status == 200
    stored = [record["body"].encode() for record in edge.sluice.queued()]
    assert len(stored) == len(set(stored)) and set(stored[:-1]) <= set(bodies)


def test_a_failed_sync_is_never_confirmed(start_edge, new_merchant, preload):
    trigger = paths.make_folder() / "fail"
    edge = start_edge(
        CONFIG, workers=1,
        environment={**preload(HERE / "fail_sync.c"), "FAIL_SYNC_WHILE": str(trigger)},
    )
    edge.expect_log("sluice: ")
    merchant = new_merchant(edge, "acme")
    confirmed = []

    def send(size=0):
        body = sign.encode(orders.order(extra="x" * size))
        answer = merchant.event("ORDER_CREATE", body)
        if answer.status == 200:
            confirmed.append(body)
        return answer.status

    assert send() == 200 and send(300000) == 200
    trigger.touch()
    assert send(300000) == 503  # its bulk file could not be synced: nothing was appended
    assert send() == 503
    failed = trigger.stat().st_size
    assert failed >= 2, "nothing failed"
    trigger.unlink()
    # The state of the pages on the disk is unknown, so only a restart resumes.
    assert send() == 503
    assert edge.request("GET", "/status/ready", []).status == 503
    edge.stop()
    time.sleep(0.05)  # the kernel tells the start of a process in ticks of 10 ms: one in the fault's tick is none after it
    edge.start()
    assert send() == 200
    stored = {record["seq"] for record in edge.sluice.queued()}
    assert len(stored) >= len(confirmed)
    edge.sluice.drain()
    assert edge.sluice.stats()["dead"] == 0
    assert len(edge.sluice.report("orders")) in (len(confirmed), len(confirmed) + 1)
    os.rmdir(trigger.parent)
