"""No room: a full disk, and a full queue, with and without a reader that stalls. Service resumes by itself."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from harness.merchant import CONFIG, Merchant
from harness import answers, orders, paths, sign
from harness.edge import Edge
from harness.http_block import CATALOG, EVENTS, STATUS, http_block

pytestmark = pytest.mark.crash
DISK_BYTES = 96 << 20
HOLD_SECONDS = float(os.environ.get("SLUICE_FULL_SECONDS", "2"))


@pytest.fixture
def small_disk(tmp_path):
    """A file system of its own, ext4 where a loop device can be had."""
    if os.geteuid() != 0:
        pytest.skip("mounting needs root")
    image, folder = tmp_path / "image", tmp_path / "disk"
    folder.mkdir()
    with open(image, "wb") as file:
        file.truncate(DISK_BYTES)
    subprocess.run(["mkfs.ext4", "-q", "-m", "0", image], check=True)
    mounted = subprocess.run(["mount", "-o", "loop", image, folder], capture_output=True, text=True)
    if mounted.returncode != 0:
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "sluice-test", folder])
    if mounted.returncode != 0:
        pytest.skip("this machine mounts nothing")
    folder.chmod(0o755)
    yield folder
    subprocess.run(["umount", folder], check=True)


class StalledReader:
    def __init__(self, site, map_bytes):
        script = os.path.join(os.path.dirname(__file__), "stalled_reader.py")
        self.process = subprocess.Popen(
            [sys.executable, script, str(site.edge.store / "queue"), str(map_bytes)],
            stdout=subprocess.PIPE, text=True,
        )
        assert self.process.stdout.readline() == "reading\n"
        self.process.send_signal(signal.SIGSTOP)

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


def report(site):
    return json.loads(site.edge.request("GET", "/sluice/status.json", [], length=False).body)


def refused(site):
    """Answers of 503. The client's journal cannot tell: it repeats a batch until that is stored, and sooner
    or later each of its threads has one in hand and notes nothing more."""
    status = report(site)
    return sum(status[endpoint]["results"]["unavailable"] for endpoint in ("events", "catalog"))


def since(start):
    return round(time.monotonic() - start, 2)


def fill(folder):
    """Takes every block that is left."""
    path = folder / "filler"
    with open(path, "wb") as file:
        at, step = 0, DISK_BYTES
        while step >= 4096:
            try:
                os.posix_fallocate(file.fileno(), at, step)
                at += step
            except OSError:
                step //= 2
        try:
            while True:
                file.write(bytes(4096))
                file.flush()
        except OSError:
            pass
    return path


@pytest.mark.parametrize("drained", [True, False], ids=["drained", "sluice worker stopped"])
def test_disk_full(small_disk, site, drained):
    """503 while it is full, nothing lost; once something frees it, no restart is needed."""
    here = site(threads=6, store=small_disk / "store", workers=1)
    here.edge.expect_log("No space left|sluice: |\\[crit\\]")
    here.start()
    if not drained:
        here.sluice_worker.terminate()
        here.sluice_worker.wait()
    before = refused(here)
    filler = fill(small_disk)
    start = time.monotonic()
    paths.wait_until(lambda: refused(here) > before, "the first 503")
    first = since(start)
    time.sleep(HOLD_SECONDS)
    assert here.edge.request("GET", "/sluice/health", [], length=False).status == 200
    start, acked = time.monotonic(), here.acked()
    filler.unlink()
    paths.wait_until(lambda: here.acked() > acked + 5, "service to resume", 30)
    resumed = since(start)
    if not drained:
        here.start_sluice_worker()
    stop = refused(here) - before
    verdict = here.finish()
    print(f"disk full: first 503 after {first} s, {stop} requests got one, resumed after {resumed} s")
    assert stop > 0, "the disk was never full"
    assert verdict.good, str(verdict)


@pytest.mark.parametrize("stalled", [False, True], ids=["no reader", "stalled reader"])
def test_queue_full(site, stalled):
    """503 begins at the mark; the drain makes room again, also after a reader that stalled is gone."""
    map_bytes = 8 << 20
    here = site(threads=6, map_size="8m", workers=1)
    here.edge.expect_log("sluice: ")
    here.start()
    here.sluice_worker.send_signal(signal.SIGSTOP)
    acked = here.acked()
    paths.wait_until(lambda: here.acked() > acked + 20, "some records")
    reader = StalledReader(here, map_bytes) if stalled else None
    before = refused(here)
    paths.wait_until(lambda: refused(here) > before + 20, "the mark", 120)
    sample = paths.wait_until(lambda: report(here)["queue"], "a sample of the queue")
    used = here.sluice.stats()["bytes"] / sample["bytes_mark"]
    advice = "make sure that the worker runs, or raise map_size of sluice_store"
    assert advice in here.sluice.run("doctor").stdout
    here.sluice_worker.send_signal(signal.SIGCONT)
    if stalled:
        # Everything is applied and trimmed, in spite of the reader; only its pages cannot be used again.
        paths.wait_until(lambda: here.sluice.stats()["depth"] < 200, "the drain beside the reader", 60)
        reader.kill()
    start, acked = time.monotonic(), here.acked()
    paths.wait_until(lambda: here.acked() > acked + 20, "service to resume", 60)
    resumed = since(start)
    paths.wait_until(lambda: advice not in here.sluice.run("doctor").stdout, "doctor to see the room")
    stop = refused(here) - before
    verdict = here.finish()
    print(f"queue full: 503 began at {used:.3f} of the mark, {stop} requests got one, resumed after {resumed} s")
    # The contents of the lanes are admitted as well, and not yet part of the queue's bytes.
    assert 0.94 <= used <= 1.01
    assert (here.edge.store / "queue" / "data.mdb").stat().st_size <= map_bytes
    assert verdict.good, str(verdict)


def test_keys_of_batches_stop_batches_and_no_orders(start_edge, new_merchant):
    """One account's keys fill what all share. It is said what has no room, and of what there is enough."""
    edge = start_edge(http_block(EVENTS, CATALOG, STATUS, limit="off", map_size="4m"), workers=1)
    edge.expect_log("product batches get 503")
    merchant, other = (new_merchant(edge, name) for name in ("acme", "other"))
    body = sign.encode({"products": [{"platform_product_id": "p", "title": "t"}]})

    def send(sender, key):
        return sender.catalog("PRODUCT_UPSERT", body, key, connection=connection)

    with edge.connect() as connection:
        count = 0
        while (answer := send(merchant, f"key-{count}")).status == 200:
            count += 1
            if count % 500 == 0:
                edge.sluice.drain()
        assert answer.status == 503 and answer.header("Retry-After"), count
        edge.sluice.drain()
        assert count == (4 << 20) // 8 // 200
        assert send(other, "first").status == 503
        assert send(merchant, "key-0").status == 200, "a replay needs no room"
        assert merchant.event("ORDER_CREATE", orders.order()).status == 200
    assert edge.log().count("product batches get 503") == 1
    assert "orders and products get 503" not in edge.log()
    paths.wait_until(lambda: b"keys_filling" in edge.request("GET", "/sluice/status.json", []).body, "a sample")
    assert "make map_size of sluice_store larger, or sluice_idempotency_ttl shorter" in edge.sluice.run("doctor").stdout


@pytest.mark.parametrize("first, then", [("64m", "8m"), ("8m", "64m")], ids=["lowered", "raised"])
def test_another_map_size_while_the_worker_runs(start_edge, new_merchant, first, then):
    """The worker's map was the old one, or as large as the file: it had no page to delete with, and nginx got no room."""
    def block(size):
        return http_block(EVENTS, limit="off", map_size=size)

    edge = start_edge(block(first), workers=1)
    edge.expect_log("sluice: ")
    merchant = new_merchant(edge, "acme")
    said = edge.folder / "worker.log"
    with open(said, "wb") as log:
        worker = subprocess.Popen([str(paths.SLUICE), "worker"], env=edge.sluice.environment, stderr=log)
    try:
        assert merchant.event("ORDER_CREATE", orders.order()).status == 200
        paths.wait_until(lambda: edge.sluice.stats()["depth"] == 0, "the worker")
        worker.send_signal(signal.SIGSTOP)
        for _ in range(120):  # 12 MB, or until the queue is full
            merchant.event("ORDER_CREATE", orders.order(pad="x" * 100_000))
        edge.configure(block(then))
        edge.reload()
        for _ in range(120):
            merchant.event("ORDER_CREATE", orders.order(pad="x" * 100_000))
        worker.send_signal(signal.SIGCONT)
        paths.wait_until(lambda: edge.sluice.stats()["depth"] == 0, "the drain", 60)
        paths.wait_until(lambda: merchant.event("ORDER_CREATE", orders.order()).status == 200, "room", 30)
        assert "cannot trim" not in said.read_text()
    finally:
        worker.kill()
        worker.wait()


def test_worker_started_on_full_disk_survives_and_resumes(small_disk):
    """L10: records wait in lanes, the disk is full. The service neither ends nor latches the queue."""
    edge = Edge(CONFIG, store=small_disk / "store")
    edge.sluice("init")
    edge.expect_log("No space left|sluice: |\\[crit\\]")
    with edge:
        edge.start()
        merchant = Merchant(edge, "acme")
        for _ in range(20):
            answers.is_success(merchant.event("ORDER_CREATE", orders.order()))
        filler = fill(small_disk)
        worker = subprocess.Popen([str(paths.SLUICE), "worker"], env=edge.sluice.environment, stderr=subprocess.PIPE)
        try:
            for _ in range(30):
                time.sleep(0.1)
                assert worker.poll() is None, worker.communicate()
            assert "latch" not in edge.sluice.run("doctor").stdout
            filler.unlink()
            paths.wait_until(lambda: edge.sluice.stats()["depth"] == 0, "the worker to apply", 15)
        finally:
            worker.terminate()
            worker.wait()


def test_a_worker_that_is_to_end_gives_up_on_a_full_disk(small_disk):
    """`--until-empty` says what is wrong, and ends; the orders are still there."""
    edge = Edge(CONFIG, store=small_disk / "store")
    edge.sluice("init")
    with edge:
        edge.start()
        merchant = Merchant(edge, "acme")
        for _ in range(20):
            answers.is_success(merchant.event("ORDER_CREATE", orders.order()))
        filler = fill(small_disk)
        run = edge.sluice.run("worker", "--until-empty", "--retry-timeout", 1)
        assert run.returncode == 1, run
        assert "No space left" in run.stderr, run.stderr
        filler.unlink()
        edge.sluice("worker", "--until-empty")
        assert edge.sluice.stats()["depth"] == 0
