"""Fixtures that all folders share: one nginx for pure request tests, others on demand."""

import functools
import pathlib
import re

import pytest

from harness import paths
from harness.edge import Edge
from harness.merchant import CONFIG, Merchant

MORE = pathlib.Path(__file__).with_name("more.txt")


@functools.cache
def more():
    """Files and tests of more.txt, by their ids. `FILE[VALUE]`: its tests with this value of a parameter."""
    return tuple(line.split()[0] for line in MORE.read_text().splitlines() if line and not line.startswith("#"))


def is_more(test):
    """Whether make test-more runs the test of this id, and not make test."""
    return any(test == name or test.startswith((name + "/", name + "::", name + "[")) or has_value(test, name) for name in more())


def has_value(test, name):
    file, _, value = name.partition("[")
    if "::" in name or not value or not test.startswith(file + "::"):
        return False
    values = re.split("[-\\]]", test.partition("[")[2])
    return value.rstrip("]") in values[:-1]


# Files of which one worker has the longest work: they come first, so that none of them is left for the end.
LONG_FILES = (
    "integration/test_postgres.py",
    "integration/test_ledger_copy.py",
    "integration/test_postgres_commands.py",
    "integration/test_starts.py",
    "notify/test_delivery.py",
    "serve/test_changes.py",
    "serve/test_isolation.py",
    "serve/test_large.py",
    "serve/test_resources.py",
    "torture/test_power_cut.py",
)


def pytest_collection_modifyitems(items):
    for item in items:
        if is_more(item.nodeid):
            item.add_marker(pytest.mark.more)
    items.sort(key=lambda item: item.nodeid.partition("::")[0] not in LONG_FILES)


def pytest_sessionfinish(session):
    if not hasattr(session.config, "workerinput"):
        paths.drop_folder(paths.run_folder())


@pytest.fixture(scope="session")
def edge():
    with Edge(CONFIG) as running:
        yield running.start()


@pytest.fixture(scope="session")
def merchant(edge):
    return Merchant(edge, "acme")


@pytest.fixture
def start_edge():
    """A function that starts an nginx of the test's own, with the given http block."""
    running = []

    def start(http, **options):
        made = Edge(http, **options)
        running.append(made)
        return made.start()

    yield start
    failures = []
    for made in reversed(running):
        try:
            made.__exit__(None, None, None)
        except AssertionError as failure:
            failures.append(failure)
    if failures:
        raise failures[0]


@pytest.fixture
def new_merchant():
    return Merchant
