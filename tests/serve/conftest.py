import itertools

import pytest
from harness import paths
from harness.cli import Sluice
from harness.postgres import Server, missing
from harness.serve import Serve
from serve import scene
from serve.live import served_shop


databases = itertools.count(1)


class Served:
    """A server on the scene's ledger, with the tokens, and the commands of the same store."""

    def __init__(self, serve, sluice, secrets):
        self.serve, self.sluice, self.secrets = serve, sluice, secrets

    def as_(self, account, name="manager"):
        return self.serve.token(self.secrets[f"{account}-{name}"])


@pytest.fixture(scope="session", params=["lmdb", "postgres"])
def served(request):
    """The scene on each ledger."""
    with scene.on(request.param) as (folder, sluice, secrets, _):
        with Serve(folder / "store", folder, "--rate-limit", "1000000/60") as serve:
            yield Served(serve, sluice, secrets)


@pytest.fixture
def store():
    """An empty store with two accounts."""
    folder = paths.make_folder()
    sluice = Sluice(folder / "store")
    sluice("init")
    for account in ("acme", "beta", "gamma"):
        sluice.account(account)
    yield folder, sluice
    paths.drop_folder(folder)


@pytest.fixture(scope="session")
def postgres():
    if missing():
        pytest.fail(missing())
    with Server() as server:
        yield server


@pytest.fixture(params=["lmdb", "postgres"])
def ledger(request):
    """None for the embedded ledger, or a new database's URL."""
    if request.param == "lmdb":
        return None
    return request.getfixturevalue("postgres").create(f"live{next(databases)}")


@pytest.fixture
def live(tmp_path, ledger):
    with served_shop(tmp_path, ledger=ledger) as shop:
        yield shop
