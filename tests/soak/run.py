"""Soak: half load for a long time, with reloads, revoked tokens and rotated logs; nothing may grow.

    SOAK_SECONDS=3600 tests/soak/run.py [OUTPUT_FOLDER]

Samples go to OUTPUT_FOLDER/samples.csv, the plot to soak.svg. Exit code 0: flat, and nothing refused.
"""

import csv
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from harness import orders, paths  # noqa: E402
from harness.edge import Edge, children  # noqa: E402
from soak.plot import svg  # noqa: E402

CONFIG = """
    sluice_store @STORE@ map_size=1g thread_pool=sluice offload_pool=offload;
    sluice_rate_limit off;
    include @LOGCONF@;
    server {
        listen 127.0.0.1:@PORT@;
        access_log @DIR@/access.log sluice;
        keepalive_requests 1000000;
        location = /event/ecomm { sluice_ingest events; client_max_body_size 1m; client_body_buffer_size 1m; }
        location /status { sluice_status; }
    }
""".replace("@LOGCONF@", str(ROOT / "conf" / "nginx" / "sluice-log.conf"))
PROGRAM = """
[[program]]
id = "soak"
account = "acme"
window_days = 30
base = "gross"
precedence = ["AFFILIATE_CODE"]
clearing_days = 0
default_rate = "10%"
late_days = 36500
"""
SECONDS = float(os.environ.get("SOAK_SECONDS") or 3600)
FULL_RATE = float(os.environ.get("SOAK_FULL_RATE") or 0)  # orders a second; 0: measured first
SENDERS, ORDERS_EACH = 2, 1000
SAMPLE_EVERY, RELOAD_EVERY, REVOKE_EVERY, ROTATE_EVERY = 5, 30, 10, 60
RELOADS_END = 0.6  # of the run: a worker that is replaced every 30 s could not be seen to grow
# name -> (label, unit, divisor)
FIGURES = {
    "rate": ("orders a second", "", 1),
    "p99_ms": ("p99", "ms", 1),
    "worker_kb": ("worker memory", "MB", 1024),
    "master_kb": ("master memory", "MB", 1024),
    "sluice_worker_kb": ("sluice worker memory", "MB", 1024),
    "fds": ("descriptors", "", 1),
    "readers": ("reader slots", "", 1),
    "queue_bytes": ("queue file", "MB", 1 << 20),
    "depth": ("queue depth", "", 1),
}
# Limits of growth per hour (a byte for each event is about a megabyte), see growth_of().
FLAT = {"worker_kb": 1024, "master_kb": 1024, "sluice_worker_kb": 1024, "fds": 2, "readers": 2,
        "queue_bytes": 16 << 20}
# From where on it is judged: before it, buffers and the batches' rows reach their size.
JUDGED_FROM = {"worker_kb": 0.65}
ONE_BODY_KB = 512  # a large body is kept for reuse, or is not


def memory_kb(pid, kind="RssAnon"):
    """Returns the private memory of a process; shared memory and mapped files are not its growth."""
    try:
        with open(f"/proc/{pid}/status") as status:
            return int(next(line for line in status if line.startswith(kind)).split()[1])
    except (FileNotFoundError, StopIteration, ProcessLookupError):
        return 0


def descriptors(pid):
    try:
        return sum(1 for n in os.listdir(f"/proc/{pid}/fd")
                   if not os.readlink(f"/proc/{pid}/fd/{n}").startswith("socket:"))
    except OSError:
        return 0


def readers(folder):
    listing = subprocess.run(["mdb_stat", "-r", folder], capture_output=True, text=True, check=False).stdout
    return sum(1 for line in listing.splitlines() if line.split() and line.split()[0].isdigit())


class Sender:
    def __init__(self, edge, shop, secret, rate, number):
        self.accepted = self.odd = 0
        self.p99 = 0.0
        self.process = subprocess.Popen(
            [sys.executable, str(ROOT / "tests/soak/sender.py"), str(edge.port), shop, str(secret), str(rate),
             str(ORDERS_EACH), str(number)],
            stdout=subprocess.PIPE, text=True,
        )
        threading.Thread(target=self.follow, daemon=True).start()

    def follow(self):
        for line in self.process.stdout:
            accepted, odd, p99 = line.split()
            self.accepted, self.odd, self.p99 = int(accepted), int(odd), float(p99)

    def stop(self):
        self.process.terminate()
        self.process.wait()


class Soak:
    def __init__(self, output):
        self.output = output
        self.edge = Edge(CONFIG, level="notice")
        self.sluice = self.edge.sluice
        self.sluice.account("acme")
        self.shop = self.sluice.shop("soak-shop", "acme")
        self.secret = self.edge.folder / "secret"
        self.secret.write_text(self.sluice.token("acme", "write_orders")[1])
        program, creators = self.edge.folder / "program.toml", self.edge.folder / "creators.csv"
        program.write_text(PROGRAM)
        creators.write_text("creator_id,program_id,code\nc,soak,SOAK\n")
        self.sluice("program", "apply", program)
        self.sluice("creator", "import", creators)
        self.counts = {"reloads": 0, "revoked": 0, "rotated": 0}
        self.samples = []

    def run(self):
        self.edge.start()
        with open(self.edge.folder / "sluice_worker.log", "wb") as log:
            self.sluice_worker = subprocess.Popen(
                [str(paths.SLUICE), "worker"], env=self.sluice.environment, stdout=log, stderr=log
            )
        full = FULL_RATE or self.full_rate()
        half = full / SENDERS / 2
        print(f"full load {full:.0f} orders/s, soak at {2 * half:.0f} for {SECONDS:.0f} s", flush=True)
        self.senders = [Sender(self.edge, self.shop, self.secret, half, n) for n in range(SENDERS)]
        try:
            self.turn()
        finally:
            for sender in self.senders:
                sender.stop()
        self.sluice_worker.terminate()
        assert self.sluice_worker.wait(timeout=60) == 0, "the sluice worker failed"
        self.edge.stop()
        return full

    def full_rate(self):
        senders = [Sender(self.edge, self.shop, self.secret, 0, f"full{n}") for n in range(SENDERS)]
        time.sleep(12)
        rate = sum(sender.accepted for sender in senders) / 12
        for sender in senders:
            sender.stop()
        return rate

    def turn(self):
        began = time.monotonic()
        jobs = [[SAMPLE_EVERY, self.sample], [RELOAD_EVERY, self.reload], [REVOKE_EVERY, self.revoke],
                [ROTATE_EVERY, self.rotate]]
        due = [began + every for every, _ in jobs]
        while time.monotonic() - began < SECONDS:
            index = due.index(min(due))
            time.sleep(max(0, due[index] - time.monotonic()))
            jobs[index][1](time.monotonic() - began)
            due[index] += jobs[index][0]

    def sample(self, at):
        workers = self.edge.workers()
        accepted = sum(sender.accepted for sender in self.senders)
        last = self.samples[-1] if self.samples else {"at": 0, "accepted": 0}
        self.samples.append({
            "at": round(at, 1),
            "accepted": accepted,
            "odd": sum(sender.odd for sender in self.senders),
            "rate": (accepted - last["accepted"]) / max(at - last["at"], 0.1),
            "p99_ms": max(sender.p99 for sender in self.senders),
            "worker_kb": max((memory_kb(pid) for pid in workers), default=0),
            "master_kb": memory_kb(self.edge.master),
            "sluice_worker_kb": memory_kb(self.sluice_worker.pid),
            "fds": max((descriptors(pid) for pid in workers), default=0) + descriptors(self.edge.master)
            + descriptors(self.sluice_worker.pid),
            "readers": readers(self.edge.store / "queue") + readers(self.edge.store / "registry"),
            "queue_bytes": (self.edge.store / "queue" / "data.mdb").stat().st_size,
            "ledger_bytes": (self.edge.store / "ledger" / "data.mdb").stat().st_size,
            "depth": self.sluice.stats()["depth"],
            "sluice_worker_file_kb": memory_kb(self.sluice_worker.pid, "RssFile"),
            "machine_load": os.getloadavg()[0],
        })
        self.write()

    def reload(self, at):
        if at > SECONDS * RELOADS_END:
            return
        self.edge.send_signal(signal.SIGHUP)
        self.counts["reloads"] += 1

    def revoke(self, _):
        token, secret = self.sluice.token("acme", "write_orders")
        for _ in range(10):
            status = self.edge.post_event(self.shop, secret, "ORDER_CREATE", orders.order("revoke")).status
            if status != 503:  # the machine is busy; not a word about the token
                break
        assert status == 200, status
        self.sluice("token", "revoke", token)
        status = self.edge.post_event(self.shop, secret, "ORDER_CREATE", orders.order("revoke")).status
        assert status == 401, status
        self.counts["revoked"] += 1

    def rotate(self, _):
        for name in ("access.log", "error.log"):
            os.replace(self.edge.folder / name, self.edge.folder / f"{name}.1")
        self.edge.send_signal(signal.SIGUSR1)
        self.counts["rotated"] += 1

    def verdict(self, full):
        """Returns the violations, in words."""
        problems = []
        for name, allowed in FLAT.items():
            judged = self.samples[int(len(self.samples) * JUDGED_FROM.get(name, 0.5)):]
            risen, hours = growth_of([(s["at"], s[name]) for s in judged])
            growth = risen / hours if hours else 0
            values = [s[name] for s in judged]
            print(f"{name}: {min(values)} to {max(values)}, {growth:+.0f} an hour")
            if growth > allowed and risen > (ONE_BODY_KB if name.endswith("_kb") else 0):
                problems.append(f"{name} grows by {growth:.0f} an hour")
        last = self.samples[-1]
        if last["odd"] > last["accepted"] / 1000:  # a busy machine may keep a commit waiting once
            problems.append(f"{last['odd']} requests were refused")
        left = children(os.getpid())
        if left:
            problems.append(f"processes stayed behind: {left}")
        if not all(self.counts.values()):
            problems.append(f"nothing was disturbed: {self.counts}")
        print(f"accepted {last['accepted']} refused {last['odd']} {self.counts} full {full:.0f}/s "
              f"ledger {last['ledger_bytes'] >> 20} MB")
        return problems

    def write(self):
        self.output.mkdir(parents=True, exist_ok=True)
        with open(self.output / "samples.csv", "w", newline="") as file:
            rows = csv.DictWriter(file, self.samples[0].keys())
            rows.writeheader()
            rows.writerows(self.samples)
        title = f"{self.samples[-1]['at'] / 60:.0f} minutes, {self.counts['reloads']} reloads"
        (self.output / "soak.svg").write_text(svg(self.samples, FIGURES, title))


def growth_of(points):
    """From the median of the first third to that of the last third, and in how many hours."""
    third = max(1, len(points) // 3)
    first, last = points[:third], points[-third:]
    hours = (statistics.median(x for x, _ in last) - statistics.median(x for x, _ in first)) / 3600
    risen = statistics.median(y for _, y in last) - statistics.median(y for _, y in first)
    return risen, hours


def main():
    output = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build" / "soak"
    soak = Soak(output)
    with soak.edge:
        full = soak.run()
        problems = soak.verdict(full)
    print("\n".join(problems) or "flat")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
