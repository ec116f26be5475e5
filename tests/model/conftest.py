"""Fixtures of the worked examples: each runs on the real thing and on the model alone."""

import pytest

from harness.edge import Edge
from model.model_shop import Unsupported, model_shop
from model.rules import CONFIG, Shop


@pytest.fixture(scope="session")
def rules_edge():
    with Edge(CONFIG) as running:
        yield running.start()


@pytest.fixture(params=["real", "model"])
def shop(request, tmp_path):
    if request.param == "model":
        return model_shop(tmp_path)
    return Shop(request.getfixturevalue("rules_edge"))


@pytest.hookimpl(hookwrapper=True)
def pytest_pyfunc_call(pyfuncitem):
    outcome = yield
    if outcome.excinfo and issubclass(outcome.excinfo[0], Unsupported):
        pytest.skip("not in the model")


@pytest.fixture
def earning(shop):
    """A program at 10 % net, and Ann with the code ANN."""
    shop.apply_program()
    shop.code(shop.ann, "ANN")
    return shop
