"""Fixtures that all folders share: one nginx for pure request tests, others on demand."""

import functools
import pathlib
import re

import pytest

from harness import paths
from harness.edge import Edge

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


# Both endpoints with nothing special. The rate limit is out of the way; other tests are about it.
CONFIG = """
    sluice_store @STORE@ map_size=1g thread_pool=sluice offload_pool=offload;
    sluice_rate_limit 100000000 60s;

    server {
        listen 127.0.0.1:@PORT@ reuseport;
        add_header X-Worker $pid always;
        add_header X-Seq $sluice_seq always;
        add_header X-Receipt $sluice_receipt always;
        add_header X-Result $sluice_result always;

        location = /event/ecomm {
            client_max_body_size 1m;
            sluice_ingest events;
        }
        location = /product-data {
            client_max_body_size 128m;
            sluice_ingest catalog;
        }
        location = /spooled/event/ecomm {
            client_max_body_size 1m;
            client_body_buffer_size 1k;
            sluice_ingest events;
        }
        location = /spooled/product-data {
            client_max_body_size 128m;
            client_body_buffer_size 1k;
            sluice_ingest catalog;
        }
        location = /lc/event/ecomm {
            sluice_header_prefix X-LC-;
            sluice_ingest events;
        }
        location = /lc/product-data {
            sluice_header_prefix X-LC-;
            sluice_ingest catalog;
        }
        location = /which { return 204; }
    }
"""


class Merchant:
    """An account with one shop and one token of each scope."""

    def __init__(self, edge, account):
        self.edge = edge
        self.account = edge.sluice.account(account)
        self.shop = edge.sluice.shop(f"{account}-shop", account)
        self.token_id, self.secret = edge.sluice.token(account, "write_orders", "write_products")

    def event(self, topic, document, **options):
        return self.edge.post_event(self.shop, self.secret, topic, document, **options)

    def catalog(self, topic, document, key, **options):
        return self.edge.post_catalog(self.shop, self.secret, topic, document, key, **options)


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
