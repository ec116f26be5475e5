"""Sites that are cleaned up whatever happened, and the shim that makes their processes fail."""

import sys

import pytest

from crash.site import Site
from faults import shim


@pytest.fixture(scope="session")
def fault_shim(tmp_path_factory):
    return shim.build(tmp_path_factory.mktemp("shim"))


@pytest.fixture
def site():
    made = []

    def make(*arguments, **options):
        made.append(Site(*arguments, **options))
        return made[-1]

    yield make
    for each in made:
        each.clean()
        if sys.exc_info()[0] is None:
            each.edge.__exit__(None, None, None)
