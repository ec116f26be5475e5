"""L8: as many nginx workers as a large machine has, and old ones that still serve after a reload."""

import os
import signal
import subprocess
import sys

import pytest

from harness import answers, http1, orders, paths, sign
from harness.edge import children
from harness.sign import EVENTS

WORKERS = 32
RELOADS = 3
CONFIG = """
    sluice_store @STORE@ map_size=1g thread_pool=sluice offload_pool=offload;
    sluice_rate_limit 100000000 60s;
    server {
        listen 127.0.0.1:@PORT@ reuseport;
        client_body_timeout 300s;
        add_header X-Worker $pid always;
        location = /event/ecomm { sluice_ingest events; }
        location = /product-data { sluice_ingest catalog; }
        location /status/ { sluice_status; }
        location = /which { return 204; }
    }
"""


def hold_each_worker(edge):
    """A connection to every worker whose request is not finished: it keeps the worker when it is to end."""
    held = {}
    for _ in range(100 * WORKERS):
        if len(held) == WORKERS:
            return list(held.values())
        connection = edge.connect()
        worker = int(connection.request("GET", "/which", []).header("X-Worker"))
        if worker in held:
            connection.close()
            continue
        connection.send(http1.head("POST", EVENTS, [("Content-Length", "10"), ("X-SVC-SHOP-ID", "s"),
                                                    ("X-SVC-TOPIC", "ORDER_CREATE"), ("X-Signature", "0" * 64)]))
        held[worker] = connection
    raise AssertionError(f"only {len(held)} workers answered")


def hold_none(edge, workers=WORKERS):
    """One idle connection to each worker that serves."""
    found = {}
    for _ in range(100 * workers):
        connection = edge.connect()
        worker = int(connection.request("GET", "/which", []).header("X-Worker"))
        found.setdefault(worker, connection)
        if found[worker] is not connection:
            connection.close()
        if len(found) == workers:
            break
    assert len(found) == workers
    return list(found.values())


def reload_beside_held(edge):
    before = set(edge.workers())
    edge.send_signal(1)
    paths.wait_until(lambda: len(set(edge.workers()) - before) == WORKERS and not before & set(edge.workers()),
                     "the new workers", 120)


@pytest.fixture(name="crowd")
def crowd_fixture(start_edge, new_merchant):
    edge = start_edge(CONFIG, workers=WORKERS, level="warn")
    merchant = new_merchant(edge, "acme")
    held = []
    for _ in range(RELOADS):
        edge.wait_until_open(len(children(edge.master)))  # old ones hold a request, and so their lane
        held += hold_each_worker(edge)
        reload_beside_held(edge)
    assert len(children(edge.master)) == WORKERS * (RELOADS + 1)
    yield edge, merchant
    for connection in held:
        connection.close()


def test_many_workers_and_the_old_ones_find_a_readers_slot(crowd):
    """No event gets 503, and a leaked token is revoked at once on every worker."""
    edge, merchant = crowd
    assert edge.request("GET", "/status/ready", []).status == 200
    connections = hold_none(edge)
    batch = {"products": [{"platform_product_id": "p", "title": "T"}]}
    for connection in connections:
        answers.is_success(merchant.event("ORDER_CREATE", orders.order(), connection=connection))
        answer = merchant.catalog("PRODUCT_UPSERT", batch, orders.unique("k"), connection=connection)
        assert answer.status == 200, answer
    edge.sluice("token", "revoke", merchant.token_id)
    for connection in connections:
        answers.is_unauthorized(merchant.event("ORDER_CREATE", orders.order(), connection=connection))
    said = edge.sluice.run("doctor").stdout
    assert "reader slots of 4096" not in said


COUNTER = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/statvfs.h>
#include <unistd.h>
int statvfs(const char* path, struct statvfs* out) {
    int (*real)(const char*, struct statvfs*) = dlsym(RTLD_NEXT, "statvfs");
    int fd = open(FILE_NAME, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    dprintf(fd, "%d\\n", (int) getpid());
    close(fd);
    return real(path, out);
}
int statvfs64(const char* path, struct statvfs64* out) { return statvfs(path, (struct statvfs*) out); }
"""


@pytest.fixture(name="samples")
def samples_fixture(start_edge, tmp_path):
    """(an nginx of four workers, a function: the processes that have sampled, one for each time)."""
    source, library, counted = tmp_path / "counter.c", tmp_path / "counter.so", tmp_path / "samples"
    source.write_text(COUNTER)
    subprocess.run(["gcc", "-shared", "-fPIC", f'-DFILE_NAME="{counted}"', source, "-o", library, "-ldl"], check=True)
    edge = start_edge(CONFIG, workers=4, environment={"LD_PRELOAD": str(library)})
    return edge, lambda: [int(line) for line in counted.read_text().split()] if counted.exists() else []


def test_one_worker_samples_for_all(samples):
    edge, seen = samples
    paths.wait_until(lambda: len(seen()) >= 4, "some samples")
    assert len(set(seen())) == 1, seen()
    for connection in hold_none(edge, 4):
        answer = connection.request("GET", "/status/status.json", [])
        assert b'"sample_age_seconds"' in answer.body, answer


def test_another_worker_samples_when_the_one_that_did_dies(samples):
    edge, seen = samples
    edge.expect_log("exited on signal 9")
    paths.wait_until(seen, "a sample")
    for _ in range(2):
        sampler = seen()[-1]
        os.kill(sampler, signal.SIGKILL)
        paths.wait_until(lambda: seen()[-1] != sampler, "another one to sample")
    edge.reload()
    paths.wait_until(lambda: seen()[-1] in edge.workers(), "a new worker to sample")


def test_an_old_lock_file_is_named_until_it_is_recreated(start_edge):
    """A store of an older release: `doctor` says what to do, and after a full stop there is room."""
    edge = start_edge(CONFIG)
    said = "queue: its lock file has 126 reader slots of 4096"
    assert said not in edge.sluice.run("doctor").stdout
    edge.stop()
    with open(edge.store / "queue" / "lock.mdb", "r+b") as lock:
        lock.truncate(8192)  # as LMDB makes it by itself
    script = paths.ROOT / "tests/faults/stalled_reader.py"
    old = subprocess.Popen([sys.executable, script, edge.store / "queue", str(1 << 30)], stdout=subprocess.PIPE, text=True)
    try:
        assert old.stdout.readline() == "reading\n"
        assert said in edge.sluice.run("doctor").stdout
    finally:
        old.kill()
        old.wait()
        old.stdout.close()
    assert said not in edge.sluice.run("doctor").stdout
