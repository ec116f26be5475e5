import pytest
from program import sluice


@pytest.fixture
def store(tmp_path):
    path = tmp_path / "store"
    run = sluice("init", store=path)
    assert run.status == 0, run.err
    return path
