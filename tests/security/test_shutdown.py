"""A worker process that ends while its commit is on the disk, and a disk that fails."""

import os
import pathlib
import struct
import subprocess

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


def test_shutdown_timeout_during_a_commit(start_edge, new_merchant, preload, tmp_path):
    """nginx gives up on the connections while the commit still runs: nothing is touched that is gone."""
    counter = tmp_path / "delays"
    counter.write_bytes(bytes(8))
    slow = preload(paths.ROOT / "bench/slow_sync.c")
    edge = start_edge(
        CONFIG, main="worker_shutdown_timeout 50ms;", workers=1,
        environment={**slow, "SLOW_SYNC_US": "400000", "SLOW_SYNC_COUNT": str(counter)},
    )
    merchant = new_merchant(edge, "acme")

    def delays():
        return struct.unpack("<Q", counter.read_bytes()[:8])[0]

    bodies = []
    for _ in range(4):
        connections = [edge.connect() for _ in range(6)]
        before = delays()
        for connection in connections:
            body = sign.encode(orders.order())
            bodies.append(body)
            headers = sign.event_headers(merchant.shop, merchant.secret, "ORDER_CREATE", body)
            connection.send(
                http1.head("POST", sign.EVENTS, headers + [("Content-Length", str(len(body)))]) + body
            )
        paths.wait_until(lambda: delays() > before, "a commit to begin")
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
    # What the disk did with the pages is unknown, so that only a restart goes on.
    assert send() == 503
    assert edge.request("GET", "/status/ready", []).status == 503
    edge.stop()
    edge.start()
    assert send() == 200
    stored = {record["seq"] for record in edge.sluice.queued()}
    assert len(stored) >= len(confirmed)
    edge.sluice.drain()
    assert edge.sluice.stats()["dead"] == 0
    assert len(edge.sluice.report("orders")) in (len(confirmed), len(confirmed) + 1)
    os.rmdir(trigger.parent)
