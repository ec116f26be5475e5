"""The rules of the ledger against the independent model, on very many random histories. In PostgreSQL
each view is compared with an export as well (tests/unit/ledger/books_views.cpp).

SLUICE_SEED=n runs one seed; SLUICE_CORE_HISTORIES=n so many (24 in CI), SLUICE_CORE_STEPS=n so long.
"""

import os
import tempfile

import pytest

from harness import postgres
from model import compare
from model.core_edge import CoreEdge
from model.history import History

COUNT = int(os.environ.get("SLUICE_CORE_HISTORIES", "24"))
STEPS = int(os.environ.get("SLUICE_CORE_STEPS", "250"))
SEEDS = [int(os.environ["SLUICE_SEED"])] if "SLUICE_SEED" in os.environ else list(range(1, 1 + COUNT))


SEEN_CAUSES = {}  # seed -> causes


def run(seed, ledger=None):
    with CoreEdge(ledger) as edge:
        history = History(seed, edge)
        compare.run(history, STEPS)
        SEEN_CAUSES[seed] = compare.compare_causes(history)
        if seed % 3 == 0:
            assert edge.is_rebuilt_equal(), f"seed {seed}: a rebuild gives other rows"
        if seed % 3 == 1:
            history.repeat_all()
            compare.check(history)


@pytest.mark.parametrize("seed", SEEDS)
def test_history_in_memory(seed):
    run(seed)


@pytest.mark.parametrize("seed", SEEDS[: len(SEEDS) // 4 + 1])
def test_history_in_the_embedded_ledger(seed):
    """In memory where the machine has such a place: this is about rules, not about disks."""
    memory = "/dev/shm" if os.path.isdir("/dev/shm") else None
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        run(seed + 100000, os.path.join(folder, "ledger"))


def test_histories_show_most_causes():
    """Else the comparison of causes would say little."""
    if len(SEEN_CAUSES) < 12:
        pytest.skip("few histories were run")
    seen = set().union(*SEEN_CAUSES.values())
    assert len(seen) >= 20, seen


@pytest.fixture(scope="module")
def server():
    if postgres.missing():
        pytest.skip(postgres.missing())
    with postgres.Server() as running:
        yield running


@pytest.mark.parametrize("seed", SEEDS[: len(SEEDS) // 16 + 1])
def test_history_in_postgresql(server, seed):
    run(seed + 200000, server.create(f"history_{seed}"))


@pytest.mark.parametrize("seed", SEEDS[: len(SEEDS) // 3])
def test_more_histories_in_postgresql(server, seed):
    run(seed + 300000, server.create(f"more_{seed}"))
