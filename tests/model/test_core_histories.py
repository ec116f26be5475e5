"""The rules of the ledger against the independent model, on very many random histories.

SLUICE_SEED=n runs one seed; SLUICE_CORE_HISTORIES=n so many (40 in CI).
"""

import os

import pytest

from model import compare
from model.core_edge import CoreEdge
from model.history import History

COUNT = int(os.environ.get("SLUICE_CORE_HISTORIES", "40"))
SEEDS = [int(os.environ["SLUICE_SEED"])] if "SLUICE_SEED" in os.environ else range(1, 1 + COUNT)


def run(seed, edge):
    history = History(seed, edge)
    edge.now = history.now
    compare.run(history, 250)
    stats = edge.sluice.stats()
    for name, count in history.ledger.counters.items():
        assert stats[name] == count, f"seed {seed}: {name}"
    assert stats["dead"] == 0


@pytest.mark.parametrize("seed", SEEDS)
def test_history_in_memory(tmp_path, seed):
    with CoreEdge(tmp_path) as edge:
        run(seed, edge)


@pytest.mark.parametrize("seed", list(SEEDS)[:8])
def test_history_in_the_embedded_ledger(tmp_path, seed):
    with CoreEdge(tmp_path, tmp_path / "ledger") as edge:
        run(seed + 100000, edge)
