#!/usr/bin/env python3
"""Measures starts, reloads and recoveries of nginx with many workers; prints one line for each figure.

    bench/transitions.py [--workers 64] [--records 9000] [--pad 0] [--map 16g] [--sync-ms 0] [--seconds 5]
        [--rounds 5] [--reuseport] [ROW...]

Rows: start, arrivals, reload, recovery, generations, catalog, storm, reloads. SLUICE_BUILD names the build folder.
"""
import argparse
import collections
import contextlib
import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from conftest import Merchant  # noqa: E402
from harness import paths  # noqa: E402
from harness.edge import Edge, children  # noqa: E402
from harness.lock_holder import WRITER, LockHolder  # noqa: E402
from harness.threads import PlainProbe  # noqa: E402

CONFIG = """
    sluice_store @STORE@ map_size=@MAP@ thread_pool=sluice offload_pool=offload;
    sluice_rate_limit 100000000 60s;
    server {
        listen 127.0.0.1:@PORT@;
        add_header X-Worker $pid always;
        location = /event/ecomm { sluice_ingest events; }
        location = /product-data { sluice_ingest catalog; }
        location = /which { return 204; }
        location = /slow { return 204; }
    }
"""
PLAIN = """
    server { listen 127.0.0.1:@PORT@; location = /which { return 204; } }
"""
MAIN = "worker_rlimit_nofile 8192;"


def report(row, **figures):
    print(f"{row}: " + ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in figures.items()), flush=True)


def since(began):
    return round(time.monotonic() - began, 3)


@contextlib.contextmanager
def nothing_moves(edge):
    """The queue's writer lock is held: no record leaves its lane."""
    holder = LockHolder(WRITER, edge.store / "queue")
    try:
        yield
    finally:
        holder.release()


def first_answer(edge):
    """Seconds from the start of nginx to the first answer of a location that is not sluice's."""
    began = time.monotonic()
    edge.start()
    assert edge.request("GET", "/which", []).status == 204
    return since(began)


class Bench:
    """nginx with a shop and signed requests."""

    def __init__(self, options, config=CONFIG, **edge_options):
        self.options = options
        self.edge = Edge(config.replace("@MAP@", options.map), main=MAIN, workers=options.workers, level="notice", **edge_options)
        self.edge.expect_log("exited on signal 9|sluice: ")

    def __enter__(self):
        self.edge.__enter__()
        self.edge.start()
        self.edge.wait_until_open()
        self.merchant = Merchant(self.edge, "acme")
        self.requests = self.edge.folder / "requests"
        secret = self.edge.folder / "secret"
        secret.write_text(self.merchant.secret)
        with open(self.requests, "wb") as file:
            subprocess.run([sys.executable, ROOT / "bench/load/make_requests.py", "--secret-file", secret, "--shop",
                            self.merchant.shop, "--lines", "1", "--count", "20000", "--pad", str(self.options.pad)],
                           stdout=file, check=True)
        return self

    def __exit__(self, *error):
        return self.edge.__exit__(*error)

    def load(self, seconds, connections=256, rate=0):
        return subprocess.Popen([paths.BUILD / "bench/sluice-load", "--port", str(self.edge.port), "--requests",
                                 self.requests, "--connections", str(connections), "--seconds", str(seconds),
                                 "--warmup", "0", "--rate", str(rate)], stdout=subprocess.PIPE, text=True)

    def loaded(self, seconds, **load):
        return json.loads(self.load(seconds, **load).communicate()[0])

    def rounds(self):
        """(orders/s, longest wait in ms: medians of five rounds; all answers by status)."""
        done = [self.loaded(self.options.seconds) for _ in range(5)]
        statuses = collections.Counter()
        for each in done:
            statuses.update(each["statuses"])
        return (statistics.median(each["accepted_per_s"] for each in done),
                statistics.median(each["accepted_us"]["max"] / 1000 for each in done), dict(statuses))

    def in_lanes(self):
        return self.edge.sluice.stats()["in_lanes"]

    def leave_records(self):
        """Kills all of nginx while its lanes hold records that were answered."""
        with nothing_moves(self.edge):
            for _ in range(30):
                left = self.options.records - self.in_lanes()
                if left <= 0:
                    break
                self.loaded(1, rate=max(500, left * 1.05))
            self.kill()
        return self.in_lanes()

    def kill(self):
        pids = [self.edge.master, *[pid for pid, _ in children(self.edge.master)]]
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        self.edge.process.wait()
        paths.wait_until(lambda: not any(paths.alive(pid) for pid in pids), "all processes to be gone")

    def hold_workers(self):
        """Unfinished requests of another location, one to each worker that answers."""
        held = {}
        for _ in range(20 * self.options.workers):
            connection = self.edge.connect()
            worker = int(connection.request("GET", "/which", []).header("X-Worker"))
            if worker in held:
                connection.close()
                continue
            connection.send(b"GET /slow HTTP/1.1\r\nHost: x\r\n")
            held[worker] = connection
        return list(held.values())


def bytes_of_first(requests):
    """Bytes of the first request, about what its record takes."""
    with open(requests, "rb") as file:
        return int(file.readline())


def start(options):
    """A start with and without the module, in alternating rounds, and each time records in the lanes."""
    plain, first, events, opened, left = [], [], [], [], []
    with Edge(PLAIN, main=MAIN, workers=options.workers) as without, Bench(options) as bench:
        for _ in range(options.rounds):
            plain.append(first_answer(without))
            without.stop()
            left.append(bench.leave_records())
            first.append(first_answer(bench.edge))
            began = time.monotonic()
            paths.wait_until(lambda: bench.edge.post_event(
                bench.merchant.shop, bench.merchant.secret, "ORDER_CREATE", {"x": 1}).status != 503, "an answer", 60)
            events.append(since(began))
            bench.edge.wait_until_open()
            opened.append(since(began))
        without.start()
    report("start", workers=options.workers, rounds=options.rounds, records_in_lanes=min(left),
           **compared(plain, first), first_event_after_s=spread(events), all_workers_open_after_s=spread(opened))


def arrivals(options):
    """Orders that arrive from the first moment of a start on: the first one, which creates the lanes, and restarts."""
    with Bench(options, environment=slow_syncs(options.sync_ms)) as bench:
        kinds = {"first": True, "again": False}
        for kind, is_first in kinds.items():
            longest, opened, statuses = [], [], collections.Counter()
            for _ in range(options.rounds):
                bench.edge.stop()
                if is_first:
                    bench.edge.sluice("queue", "move")
                    for lane in (bench.edge.store / "queue/lanes").glob("*.lane"):
                        lane.unlink()
                    bench.edge.sluice("queue", "drop-lanes")
                began = time.monotonic()
                first_answer(bench.edge)
                load = bench.load(options.seconds, connections=4 * options.workers, rate=2000)
                bench.edge.wait_until_open()
                opened.append(since(began))
                figures = json.loads(load.communicate()[0])
                longest.append(figures["accepted_us"]["max"] / 1e6)
                statuses.update(figures["statuses"])
            report(f"arrivals {kind}", workers=options.workers, sync_ms=options.sync_ms, rounds=options.rounds,
                   all_workers_open_after_s=spread(opened), longest_answer_s=spread(longest), statuses=dict(statuses))


def reload(options):
    """The longest wait of a new connection during a reload, with and without the module, in alternating rounds."""
    listen = ("@PORT@;", "@PORT@ reuseport;") if options.reuseport else ("", "")
    plain, ours = [], []
    with (Edge(PLAIN.replace(*listen), main=MAIN, workers=options.workers) as without,
          Bench(options, CONFIG.replace(*listen)) as bench):
        without.start()
        for _ in range(options.rounds):
            for edge, waits in ((without, plain), (bench.edge, ours)):
                probe = PlainProbe(edge)
                probe.start()
                edge.reload()
                time.sleep(options.seconds)
                said = probe.end()
                assert said["failures"] == 0, said
                waits.append(said["longest_gap_s"])
    report("reload", workers=options.workers, reuseport=options.reuseport, rounds=options.rounds, **compared(plain, ours))


def spread(values):
    return f"{round(statistics.median(values), 3)} ({min(values)} to {max(values)})"


def compared(plain, ours):
    return {"plain_nginx_s": spread(plain), "with_the_module_s": spread(ours),
            "bound_s": round(1.5 * statistics.median(plain) + 0.05, 3)}


def catalog(options):
    """The first catalog batch after a burst of orders, and those during the burst."""
    batch = {"products": [{"platform_product_id": "p", "title": "T"}]}

    def post(bench, key):
        began = time.monotonic()
        answer = bench.merchant.catalog("PRODUCT_UPSERT", batch, key)
        return answer.status, since(began)

    during, after = [], []
    with Bench(options) as bench:
        for number in range(options.rounds):
            load = bench.load(options.seconds)
            while load.poll() is None:
                during.append(post(bench, f"during-{number}-{len(during)}"))
            after.append(post(bench, f"after-{number}"))
            burst = json.loads(load.communicate()[0])
    report("catalog", workers=options.workers, rounds=options.rounds, orders_per_s=burst["accepted_per_s"],
           batches_during=len(during), first_after_s=spread([each[1] for each in after]),
           during_s=spread([each[1] for each in during]),
           statuses=dict(collections.Counter(each[0] for each in during + after)))


def recovery(options):
    with Bench(options) as bench:
        left = bench.leave_records()
        lanes = len(list((bench.edge.store / "queue/lanes").glob("*.lane")))
        began = time.monotonic()
        bench.edge.sluice("queue", "move")
        seconds = since(began)
        size = bytes_of_first(bench.requests) * left / 1e6
        report("recovery", workers=options.workers, lanes=lanes, records=left, megabytes=round(size),
               moved_in_s=seconds, megabytes_per_s=round(size / seconds))
        assert bench.in_lanes() == 0
        bench.edge.start()


def generations(options):
    with Bench(options, environment=slow_syncs(options.sync_ms)) as bench:
        bench.loaded(2)
        before = bench.rounds()
        held = []
        for _ in range(2):
            held += bench.hold_workers()
            serving = set(bench.edge.workers())
            bench.edge.send_signal(signal.SIGHUP)
            paths.wait_until(lambda old=serving: len(set(bench.edge.workers()) - old) == options.workers,
                             "the new workers", 60)
            time.sleep(2)
        old = len(children(bench.edge.master)) - options.workers
        bench.loaded(2)
        after = bench.rounds()
        report("generations", workers=options.workers, old_workers=old, sync_ms=options.sync_ms,
               before_per_s=before[0], after_per_s=after[0], ratio=round(after[0] / before[0], 2),
               longest_wait_before_ms=before[1], longest_wait_ms=after[1], statuses=after[2])
        for connection in held:
            connection.close()


def storm(options):
    with Bench(options, daemon="on") as bench:
        probe = PlainProbe(bench.edge)
        probe.start()
        load = bench.load(options.seconds * 6)
        held, old = [], None
        for step in ("reload", "upgrade", "reload", "kill", "upgrade", "reload"):
            if step == "reload":
                held += bench.hold_workers()[:8]
                bench.edge.send_signal(signal.SIGHUP)
            elif step == "kill":
                os.kill(bench.edge.workers()[0], signal.SIGKILL)
            else:
                if old is not None:  # nginx allows no upgrade while an older master runs
                    while held:
                        held.pop().close()
                    paths.wait_until(lambda gone=old: not paths.alive(gone), "the old master to go", 60)
                held += bench.hold_workers()[:8]
                old = bench.edge.start_new_binary()
                os.kill(old, signal.SIGQUIT)
            time.sleep(options.seconds)
        load = json.loads(load.communicate()[0])
        report("storm", workers=options.workers, **probe.end(), statuses=load["statuses"],
               broken_connections=load["broken"])
        for connection in held:
            connection.close()


def slow_syncs(milliseconds):
    shim = paths.make_folder() / "slow.so"
    subprocess.run(["gcc", "-shared", "-fPIC", ROOT / "bench/slow_sync.c", "-o", shim, "-ldl"], check=True)
    return {"LD_PRELOAD": str(shim), "SLOW_SYNC_US": str(int(milliseconds * 1000))}


def reloads(options):
    with Bench(options, environment=slow_syncs(150)) as bench:
        probe = PlainProbe(bench.edge)
        probe.start()
        for _ in range(15):
            bench.edge.send_signal(signal.SIGHUP)
            time.sleep(0.2)
        began = time.monotonic()
        paths.wait_until(lambda: len(children(bench.edge.master)) == options.workers, "the old workers to go", 120)
        report("reloads", workers=options.workers, old_workers_gone_s=since(began), **probe.end())


ROWS = {"start": start, "arrivals": arrivals, "reload": reload, "recovery": recovery, "generations": generations, "catalog": catalog,
        "storm": storm, "reloads": reloads}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=64)
    parser.add_argument("--records", type=int, default=9000)
    parser.add_argument("--pad", type=int, default=0, help="bytes that each order is longer")
    parser.add_argument("--map", default="16g", help="map_size=")
    parser.add_argument("--sync-ms", type=float, default=0, help="arrivals, generations: each sync takes so much longer")
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--reuseport", action="store_true", help="reload: each worker has a socket of its own")
    parser.add_argument("rows", nargs="*", metavar="ROW", choices=[[], *ROWS])
    options = parser.parse_args()
    for row in options.rows or ROWS:
        ROWS[row](options)


if __name__ == "__main__":
    main()
