"""The real nginx, queue, worker, command line and reports against the independent model, on random
histories.

SLUICE_SEED=n runs one seed; SLUICE_HISTORIES=n so many (3 in CI), SLUICE_STEPS=n so long.
"""

import os

import pytest

from harness.edge import Edge
from model import compare, rules
from model.history import History
from model.program_edge import ProgramEdge

CONFIG = rules.CONFIG.replace("map_size=1g", "map_size=4g")

if "SLUICE_SEED" in os.environ:
    SEEDS = [int(os.environ["SLUICE_SEED"])]
else:
    SEEDS = list(range(1, 1 + int(os.environ.get("SLUICE_HISTORIES", "3"))))


@pytest.fixture(scope="module")
def edge():
    with Edge(CONFIG) as running:
        yield ProgramEdge(running.start())


def run(edge, seed):
    compare.run(History(seed, edge), int(os.environ.get("SLUICE_STEPS", "100")))


@pytest.mark.parametrize("seed", SEEDS[:1])
def test_history(edge, seed):
    run(edge, seed)


@pytest.mark.parametrize("seed", SEEDS[1:])
def test_more_histories(edge, seed):
    run(edge, seed)
