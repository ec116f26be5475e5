"""The real nginx, queue, worker and reports against the independent model, on random histories.

SLUICE_SEED=n runs one seed; SLUICE_HISTORIES=n so many (12 in CI).
"""

import os

import pytest

from harness.edge import Edge
from model import compare, rules
from model.history import History

CONFIG = rules.CONFIG.replace("map_size=1g", "map_size=4g")

if "SLUICE_SEED" in os.environ:
    SEEDS = [int(os.environ["SLUICE_SEED"])]
else:
    SEEDS = list(range(1, 1 + int(os.environ.get("SLUICE_HISTORIES", "12"))))


@pytest.fixture(scope="module")
def edge():
    with Edge(CONFIG) as running:
        yield running.start()


@pytest.mark.parametrize("seed", SEEDS)
def test_history(edge, seed):
    before = edge.sluice.stats()
    history = History(seed, edge)
    compare.run(history, int(os.environ.get("SLUICE_STEPS", "120")))
    after = edge.sluice.stats()
    for name, count in history.ledger.counters.items():
        assert after[name] - before[name] == count, f"seed {seed}: {name}"
    assert after["depth"] == 0 and after["dead"] == 0
