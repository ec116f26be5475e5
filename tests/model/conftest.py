"""Fixtures of the worked examples."""

import pytest

from harness.edge import Edge
from model.rules import CONFIG, Shop


@pytest.fixture(scope="session")
def rules_edge():
    with Edge(CONFIG) as running:
        yield running.start()


@pytest.fixture
def shop(rules_edge):
    return Shop(rules_edge)


@pytest.fixture
def earning(shop):
    """A program at 10 % net, and Ann with the code ANN."""
    shop.apply_program()
    shop.code(shop.ann, "ANN")
    return shop
