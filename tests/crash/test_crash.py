"""kill -9 of everything, at random: nothing lost, doubled or made up.

SLUICE_CRASH_SECONDS sets the length of the storm (15 in CI), SLUICE_SEED its schedule.
"""

import os
import random
import time

import pytest

from crash import oracle
from crash.load_client import order
from crash.site import SEED

pytestmark = pytest.mark.crash
SECONDS = float(os.environ.get("SLUICE_CRASH_SECONDS", "12"))


def test_kill_storm(site):
    here = site(threads=6)
    here.edge.expect_log("exited on signal 9")
    here.start()
    chance = random.Random(SEED)
    end = time.monotonic() + SECONDS
    kinds = [here.kill_worker] * 6 + [here.kill_sluice_worker] * 4 + [here.kill_master] + [here.reload]
    while time.monotonic() < end:
        time.sleep(chance.random() * 0.3)
        chance.choice(kinds)(chance)
    here.kill_worker(chance)
    here.kill_sluice_worker(chance)
    verdict = here.finish()
    assert here.injected["worker"] and here.injected["sluice worker"]
    assert verdict.good, str(verdict)


def test_kill_storm_with_slow_commits(site, fault_shim):
    """Kills land inside commits most of the time."""
    here = site(threads=12, shim=fault_shim)
    here.edge.expect_log("exited on signal 9")
    here.slow_commits(40)
    here.start()
    chance = random.Random(SEED)
    end = time.monotonic() + SECONDS / 2
    while time.monotonic() < end:
        time.sleep(chance.random() * 0.2)
        chance.choice([here.kill_worker, here.kill_worker, here.kill_sluice_worker, here.kill_master])(chance)
    here.kill_worker(chance)
    delays = here.shim.injected
    verdict = here.finish()
    print(f"delays {delays}")
    assert delays > 0 and here.injected["worker"]
    assert verdict.good, str(verdict)


def test_the_oracle_sees_faults(tmp_path):
    """Each kind of fault moves its figure; else a green storm would say nothing."""
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

        def postings(self, *arguments):
            return self.report("journal", *arguments)

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
