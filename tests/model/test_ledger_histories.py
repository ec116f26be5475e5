"""The real nginx, queue, worker and reports against the independent model, on random histories.

SLUICE_SEED=n runs one seed; SLUICE_HISTORIES=n so many (12 in CI).
"""

import os

import pytest

from harness.edge import Edge
from model import compare
from model.history import History

CONFIG = """
    sluice_store @STORE@ map_size=4g thread_pool=sluice offload_pool=offload;
    sluice_rate_limit off;

    server {
        listen 127.0.0.1:@PORT@ reuseport;
        add_header X-Seq $sluice_seq always;
        location = /event/ecomm { sluice_ingest events; }
        location = /product-data { sluice_ingest catalog; }
    }
"""

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
    steps = int(os.environ.get("SLUICE_STEPS", "120"))
    for number in range(steps):
        history.step()
        if number % 50 == 49:
            compare.check(history)
    compare.check(history)
    after = edge.sluice.stats()
    for name, count in history.ledger.counters.items():
        assert after[name] - before[name] == count, f"seed {seed}: {name}"
    assert after["depth"] == 0 and after["dead"] == 0
