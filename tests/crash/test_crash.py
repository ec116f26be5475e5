"""kill -9 of everything, reload storms with slow commits: nothing lost, doubled or made up.

SLUICE_CRASH_SECONDS sets the length of the storm (15 in CI), SLUICE_SEED its schedule.
"""

import os
import random
import signal
import struct
import subprocess
import sys
import time

import pytest

from crash import oracle
from harness import paths
from harness.edge import Edge, children

pytestmark = pytest.mark.crash

CONFIG = """
    sluice_store @STORE@ map_size=4g thread_pool=sluice offload_pool=offload;
    sluice_rate_limit off;

    server {
        listen 127.0.0.1:@PORT@;
        client_max_body_size 1m;
        location = /event/ecomm { sluice_ingest events; }
        location = /product-data { sluice_ingest catalog; }
    }
"""
PROGRAM = """
[[program]]
id = "crash-program"
account = "acme"
window_days = 30
base = "net"
precedence = ["AFFILIATE_CODE"]
hold_days = 0
default_rate = "10%"
"""
SECONDS = float(os.environ.get("SLUICE_CRASH_SECONDS", "15"))
SEED = os.environ.get("SLUICE_SEED", "123")


@pytest.fixture(scope="module")
def slow_sync(tmp_path_factory):
    library = tmp_path_factory.mktemp("shim") / "slow_sync.so"
    source = os.path.join(os.path.dirname(__file__), "slow_sync.c")
    subprocess.run(["cc", "-shared", "-fPIC", "-O2", "-o", library, source, "-ldl"], check=True)
    return library


class Site:
    """nginx, a sidecar and a load client, each of which may be killed at any time."""

    def __init__(self, threads, environment=None):
        self.edge = Edge(CONFIG, environment=environment)
        self.edge.expect_log("exited on signal 9")
        self.sluice = self.edge.sluice
        self.sluice.account("acme")
        self.shop = self.sluice.shop("crash-shop", "acme")
        _, secret = self.sluice.token("acme", "write_orders", "write_products")
        self.secret = self.edge.folder / "secret"
        self.secret.write_text(secret)
        program = self.edge.folder / "program.toml"
        program.write_text(PROGRAM)
        self.sluice("program", "apply", program)
        creators = self.edge.folder / "creators.csv"
        creators.write_text("creator_id,program_id,code\ncrash-creator,crash-program,CRASH\n")
        self.sluice("creator", "import", creators)
        self.journal = self.edge.folder / "journal"
        self.journal.touch()
        self.threads = threads
        self.sidecar = None
        self.injected = {"worker": 0, "master": 0, "sidecar": 0, "reload": 0}

    def start(self, fresh=False):
        self.edge.start()
        self.start_sidecar()
        self.client = subprocess.Popen(
            [sys.executable, os.path.join(os.path.dirname(__file__), "load_client.py"),
             str(self.edge.port), self.shop, str(self.secret), str(self.journal), SEED, str(self.threads)],
            env={**os.environ, "LOAD_FRESH": "1" if fresh else "0"},
        )

    def start_sidecar(self):
        with open(self.edge.folder / "sidecar.log", "ab") as log:
            self.sidecar = subprocess.Popen(
                [str(paths.SLUICE), "worker"], env=self.sluice.environment, stdout=log, stderr=log
            )

    def acked(self):
        return self.journal.read_bytes().count(b"A ")

    # Faults -------------------------------------------------------------------------------------

    def kill_worker(self, chance):
        workers = [pid for pid, title in children(self.edge.master) if "worker process" in title]
        if workers:
            os.kill(chance.choice(workers), signal.SIGKILL)
            self.injected["worker"] += 1

    def kill_sidecar(self, chance):
        self.sidecar.kill()
        self.sidecar.wait()
        self.injected["sidecar"] += 1
        time.sleep(chance.random() * 0.2)
        self.start_sidecar()

    def kill_master(self, chance):
        """The orphaned workers go on serving until they are killed too."""
        os.kill(self.edge.master, signal.SIGSTOP)  # else it may start a worker that the list does not have
        workers = [pid for pid, _ in children(self.edge.master)]
        self.edge.process.kill()
        self.edge.process.wait()
        time.sleep(chance.random() * 0.3)
        for pid in workers:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        paths.wait_until(
            lambda: not any(os.path.exists(f"/proc/{pid}") and _alive(pid) for pid in workers), "workers to go"
        )
        self.injected["master"] += 1
        self.edge.start()

    def reload(self, _):
        self.edge.send_signal(signal.SIGHUP)
        self.injected["reload"] += 1

    # The end ------------------------------------------------------------------------------------

    def finish(self):
        if self.edge.master is None or self.edge.process.poll() is not None:
            self.edge.start()
        self.client.terminate()
        assert self.client.wait(timeout=60) == 0
        self.sidecar.terminate()
        assert self.sidecar.wait(timeout=60) in (0, -signal.SIGTERM)  # it may have started just now
        self.sluice.drain()
        verdict = oracle.judge(self.journal, SEED, self.sluice, self.shop)
        stats = self.sluice.stats()
        assert stats["depth"] == 0, stats
        print(f"\nseed {SEED} injected {self.injected}\n{verdict}")
        self.sweep(verdict)
        return verdict

    def sweep(self, verdict):
        """A body whose record was never written is an orphan: at most one for a request that got no
        answer. The files of records that were applied went with them. Once they are old, they go."""
        bulk = self.edge.store / "queue" / "bulk"
        orphans = list(bulk.iterdir())
        print(f"orphaned bulk files {len(orphans)}")
        assert len(orphans) <= verdict.indoubt
        for path in orphans:
            os.utime(path, (0, 0))

        self.sluice.drain()
        assert not list(bulk.iterdir()), "orphaned bulk files were not swept"

    def clean(self):
        for process in (getattr(self, "client", None), self.sidecar):
            if process is not None and process.poll() is None:
                process.kill()
                process.wait()


def _alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.fixture
def site():
    made = []

    def make(*arguments, **options):
        made.append(Site(*arguments, **options))
        return made[-1]

    yield make
    for each in made:
        each.clean()
        if sys.exc_info()[0] is None:
            each.edge.__exit__(None, None, None)


def test_kill_storm(site):
    here = site(threads=6)
    here.start()
    chance = random.Random(SEED)
    paths.wait_until(lambda: here.acked() > 20, "some load")
    end = time.monotonic() + SECONDS
    kinds = [here.kill_worker] * 6 + [here.kill_sidecar] * 4 + [here.kill_master] + [here.reload]
    while time.monotonic() < end:
        time.sleep(chance.random() * 0.3)
        chance.choice(kinds)(chance)
    here.kill_worker(chance)
    here.kill_sidecar(chance)
    verdict = here.finish()
    assert here.injected["worker"] and here.injected["sidecar"]
    assert verdict.good, str(verdict)


def test_kill_storm_with_slow_commits(site, slow_sync):
    """Kills land inside commits most of the time."""
    here = site(threads=12, environment=None)
    counter = here.edge.folder / "delays"
    counter.write_bytes(bytes(8))
    here.edge.environment = shim(slow_sync, counter, 40)
    here.start()
    chance = random.Random(SEED)
    paths.wait_until(lambda: here.acked() > 20, "some load")
    end = time.monotonic() + SECONDS / 2
    while time.monotonic() < end:
        time.sleep(chance.random() * 0.2)
        chance.choice([here.kill_worker, here.kill_worker, here.kill_sidecar, here.kill_master])(chance)
    here.kill_worker(chance)
    verdict = here.finish()
    (delays,) = struct.unpack("<Q", counter.read_bytes())
    print(f"delays {delays}")
    assert delays > 0 and here.injected["worker"]
    assert verdict.good, str(verdict)


def shim(library, counter, milliseconds):
    preload = paths.sanitizer_environment().get("LD_PRELOAD", "")
    return {
        "LD_PRELOAD": f"{preload} {library}".strip(),
        "SLOW_SYNC_MS": str(milliseconds),
        "SLOW_SYNC_COUNT": str(counter),
    }


def test_reload_storm_with_slow_commits(site, slow_sync):
    """No request in flight goes without its answer, no worker stays behind, no alert."""
    here = site(threads=8)
    counter = here.edge.folder / "delays"
    counter.write_bytes(bytes(8))
    here.edge.environment = shim(slow_sync, counter, 300)
    here.edge.expected_log.clear()
    here.start(fresh=True)
    paths.wait_until(lambda: here.acked() > 8, "some load")
    end = time.monotonic() + SECONDS / 2
    chance = random.Random(SEED)
    while time.monotonic() < end:
        time.sleep(0.2)
        here.reload(chance)
    paths.wait_until(
        lambda: len(children(here.edge.master)) == 2 == len(here.edge.workers()), "old workers to go"
    )
    verdict = here.finish()
    (delays,) = struct.unpack("<Q", counter.read_bytes())
    print(f"delays {delays} reloads {here.injected['reload']}")
    assert delays > 0 and here.injected["reload"] > 5
    assert verdict.good, str(verdict)
    assert verdict.indoubt == 0, f"requests without an answer: {verdict}"


def test_the_oracle_sees_faults(tmp_path):
    """Each kind of fault moves its figure; else a green storm would say nothing."""
    from crash.load_client import order

    documents = {name: order(name, SEED) for name in ("a", "b", "c", "d")}

    class Fake:
        def __init__(self, names, twice=(), wrong=(), applied=None, products=()):
            self.names, self.twice, self.wrong = names, twice, wrong
            self.applied = len(names) if applied is None else applied
            self.products = products

        def report(self, kind, *_):
            if kind == "products":
                return [{"platform_product_id": name} for name in self.products]
            rows = []
            for name in self.names:
                document = documents[name]
                lines = oracle.commissions(document)
                if kind == "orders":
                    rows.append({
                        "order_id": name, "creator_id": "crash-creator",
                        "amount": "0" if name in self.wrong else document["amount"],
                        "commission_amount": str(sum(map(oracle.Fraction, lines.values()))),
                    })
                else:
                    entries = [
                        {"order_id": name, "line_item_id": line, "amount": amount}
                        for line, amount in lines.items()
                    ]
                    rows += entries * (2 if name in self.twice else 1)
            return rows

        def stats(self):
            return {"applied": self.applied, "stale": 0, "duplicate": 0, "dead": 0,
                    "catalog": len(self.products), "depth": 0}

    journal = tmp_path / "journal"
    journal.write_text("S order a\nA order a\nS order b\nI order b\nS order c\nS batch k\nA batch k\n")

    def verdict(*arguments, **options):
        return oracle.judge(journal, SEED, Fake(*arguments, **options), "shop")

    good = verdict(["a", "b"], products=["k"])
    assert good.good and (good.sent, good.acked, good.indoubt) == (4, 2, 2)
    assert verdict(["b"], products=["k"]).lost == 1
    assert verdict(["a"], products=[]).lost == 1
    assert verdict(["a", "d"], products=["k"]).phantom == 1
    assert verdict(["a"], twice=["a"], products=["k"]).dup > 0
    assert verdict(["a"], applied=2, products=["k"]).dup == 1
    assert verdict(["a"], wrong=["a"], products=["k"]).corrupt == 1
