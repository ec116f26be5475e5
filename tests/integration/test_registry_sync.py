"""One registry for a fleet, through PostgreSQL: what the source publishes is in force on every edge."""

import shutil
import signal

import pytest

from harness import cli, orders, postgres
from harness.http_block import EVENTS, http_block

pytestmark = pytest.mark.skipif(bool(postgres.missing()), reason=str(postgres.missing()))

CONFIG = http_block(EVENTS, limit="off")


@pytest.fixture(scope="module")
def server():
    with postgres.Server() as running:
        yield running


@pytest.fixture
def database(server):
    return server.create(orders.unique("registry").replace("-", "_"))


@pytest.fixture
def source(database, tmp_path):
    made = cli.Sluice(tmp_path / "source")
    made("init")
    made("ledger", "migrate", "--ledger", database)
    made.account("acme")
    made.shop("shop-1", "acme")
    return made


@pytest.fixture
def edge(start_edge, source):
    """nginx on a store that follows the source."""
    from harness.edge import Edge

    made = Edge(CONFIG)
    shutil.copy(source.store / "master.key", made.folder / "key")
    key = made.store / "master.key"
    key.unlink()
    shutil.copy(made.folder / "key", key)
    key.chmod(0o400)
    with made:
        yield made


def publish(source, database):
    assert source("registry", "export", "--to", database).startswith("published revision ")


def sync(edge, database, *more):
    return edge.sluice.json("registry", "sync", "--from", database, *more)


def status(edge, secret, connection=None):
    return edge.post_event("shop-1", secret, "ORDER_CREATE", orders.order(), connection=connection).status


def test_what_the_source_publishes_is_in_force_with_the_next_request(source, edge, database):
    token, secret = source.token("acme", "write_orders")
    publish(source, database)
    changes = sync(edge, database)
    assert [(change["kind"], change["change"]) for change in changes] == [
        ("account", "added"), ("shop", "added"), ("token", "added"),
    ]
    edge.start()
    with edge.connect() as connection:
        assert status(edge, secret, connection) == 200
        assert sync(edge, database) == []

        source("token", "revoke", token)
        assert status(edge, secret, connection) == 200  # not yet published
        publish(source, database)
        assert sync(edge, database) == [{"kind": "token", "id": token, "change": "revoked"}]
        assert status(edge, secret, connection) == 401

        _, secret = source.token("acme", "write_orders")
        publish(source, database)
        sync(edge, database)
        assert status(edge, secret, connection) == 200
        source("shop", "suspend", "shop-1")
        publish(source, database)
        sync(edge, database)
        assert status(edge, secret, connection) == 401


def test_an_edge_serves_with_the_last_known_registry_while_the_database_is_away(start_edge, tmp_path):
    with postgres.Server() as own:
        database = own.create("away")
        source = cli.Sluice(tmp_path / "source")
        source("init")
        source("ledger", "migrate", "--ledger", database)
        source.account("acme")
        source.shop("shop-1", "acme")
        _, secret = source.token("acme", "write_orders")
        publish(source, database)
        edge = start_edge(CONFIG)
        edge.stop()
        (edge.store / "master.key").unlink()
        shutil.copy(source.store / "master.key", edge.store / "master.key")
        (edge.store / "master.key").chmod(0o400)
        sync(edge, database)
        edge.start()
        assert status(edge, secret) == 200
        own.stop(signal.SIGQUIT)
        for _ in range(2):
            assert edge.sluice.refuses("registry", "sync", "--from", database).count("\n") == 1
            assert status(edge, secret) == 200
        assert "nothing" not in edge.sluice.run("account", "list").stdout
        own.start()
        assert sync(edge, database) == []


def test_a_sync_never_resurrects_a_token(source, edge, database):
    token, secret = source.token("acme", "write_orders")
    publish(source, database)
    sync(edge, database)
    edge.start()
    edge.sluice("token", "revoke", token)
    assert status(edge, secret) == 401
    source("account", "set", "acme", "--rate-limit", "5000/60")  # a newer state in which it is active
    publish(source, database)
    assert [change["kind"] for change in sync(edge, database)] == ["account"]
    assert status(edge, secret) == 401
    sync(edge, database, "--force")
    assert status(edge, secret) == 401


def test_what_is_published_is_never_older(source, edge, database, server):
    publish(source, database)
    sync(edge, database)
    name = database.split("?")[0].split("/")[-1]
    before = server.query("SELECT revision, encode(file, 'hex') FROM sluice_ledger.registry", name)
    source.token("acme", "write_orders")
    publish(source, database)
    sync(edge, database)
    # A user who may write to the database can put back an older text, but no edge takes it.
    ((revision, file),) = before
    server.query(
        f"UPDATE sluice_ledger.registry SET revision = {revision}, file = decode('{file}', 'hex')", name
    )
    assert "older" in edge.sluice.refuses("registry", "sync", "--from", database)
    # Nor what was changed without the key.
    server.query("UPDATE sluice_ledger.registry SET revision = 99, file = file || ' '", name)
    assert "damaged" in edge.sluice.refuses("registry", "sync", "--from", database)


def test_the_database_never_sees_a_secret_or_the_key(source, database, server):
    secret = "a secret that a person chose"
    source.token("acme", "write_orders", secret=secret)
    publish(source, database)
    name = database.split("?")[0].split("/")[-1]
    ((stored,),) = server.query("SELECT encode(file, 'hex') FROM sluice_ledger.registry", name)
    file = bytes.fromhex(stored).decode()
    assert '"sealed_secret"' in file
    assert secret not in file
    assert (source.store / "master.key").read_text().strip() not in file


def test_a_restored_source_is_a_fork_and_no_revocation_is_skipped(source, edge, database, tmp_path):
    """The backup counts up to the number that the edges have, with other content."""
    token, secret = source.token("acme", "write_orders")
    backup = tmp_path / "backup"
    shutil.copytree(source.store, backup)
    source("account", "set", "acme", "--rate-limit", "5000/60")
    publish(source, database)
    sync(edge, database)
    edge.start()
    assert status(edge, secret) == 200

    shutil.rmtree(source.store)
    shutil.copytree(backup, source.store)
    source("token", "revoke", token)
    refused = source.refuses("registry", "export", "--to", database)
    assert "restored from a backup" in refused and "--force" in refused and refused.count("\n") == 1
    source("registry", "export", "--to", database, "--force")
    refused = edge.sluice.refuses("registry", "sync", "--from", database)
    assert "forked" in refused and refused.count("\n") == 1
    assert status(edge, secret) == 200  # it serves with what it has, and its timer fails
    assert {"kind": "token", "id": token, "change": "revoked"} in sync(edge, database, "--force")
    assert status(edge, secret) == 401
    source("account", "set", "acme", "--rate-limit", "7000/60")
    publish(source, database)
    assert [change["kind"] for change in sync(edge, database)] == ["account"]


def test_another_source_needs_a_word(source, edge, database, tmp_path):
    publish(source, database)
    sync(edge, database)
    other = cli.Sluice(tmp_path / "other")
    other("init")
    other.account("acme")
    assert "--force" in other.refuses("registry", "export", "--to", database)
    other("registry", "export", "--to", database, "--force")
    refused = edge.sluice.refuses("registry", "sync", "--from", database)
    assert "another master key" in refused


def test_missing_parts_are_named(source, edge, database, server):
    assert "registry export --to" in edge.sluice.refuses("registry", "sync", "--from", database)
    empty = server.create("no_ledger")
    assert "sluice ledger migrate" in edge.sluice.refuses("registry", "sync", "--from", empty)
    edge.sluice.refuses("registry", "sync", "--from", "mysql://x")
    edge.sluice.refuses("registry", "sync", code=2)
    source.refuses("registry", "export", code=2)
    source.refuses("registry", "export", "file", "--to", database, code=2)
