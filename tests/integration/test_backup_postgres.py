"""`sluice backup` of a store whose ledger is in PostgreSQL, with a dump of the database: both are taken while orders
arrive and are applied, and together they restore everything that was acknowledged before."""

import subprocess

import pytest

from harness import cli, paths
from harness.http_block import EVENTS, STATUS, http_block
from harness.postgres import Server, missing
from test_backup_command import Sender, order_ids, worker

assert worker  # a fixture
CONFIG = http_block(EVENTS, STATUS, limit="off")
PROGRAM = """
[[program]]
id = "spring"
account = "acme"
default_rate = "10%"
late_days = 36500
"""


@pytest.fixture(name="server")
def server_fixture():
    if missing():
        pytest.fail(missing())
    with Server() as server:
        server.create()
        yield server


def dump(server, path):
    path.write_bytes(subprocess.run(
        [server.programs / "pg_dump", "--format", "custom", "-h", server.folder, "-U", "sluice", server.database],
        check=True, capture_output=True).stdout)


def put_back(server, path):
    server.query(f"DROP DATABASE {server.database} WITH (FORCE)", database="postgres")
    server.create()
    subprocess.run([server.programs / "pg_restore", "--exit-on-error", "-h", server.folder, "-U", "sluice", "-d",
                    server.database], stdin=path.open("rb"), check=True)


def test_a_dump_and_a_backup_restore_everything_acknowledged(start_edge, new_merchant, server, worker, tmp_path):
    edge = start_edge(CONFIG)
    merchant = new_merchant(edge, "acme")
    (tmp_path / "p.toml").write_text(PROGRAM)
    edge.sluice("ledger", "migrate", "--ledger", server.url())
    (edge.store / "ledger.url").write_text(server.url() + "\n")
    edge.sluice("program", "apply", tmp_path / "p.toml")
    running = worker(edge.store)
    senders = [Sender(merchant, f"s{number}") for number in range(3)]
    for sender in senders:
        sender.start()
    try:
        paths.wait_until(lambda: all(len(sender.acknowledged) > 40 for sender in senders), "orders")
        dump(server, tmp_path / "dump")
        dumped = sum(len(sender.acknowledged) for sender in senders)
        paths.wait_until(lambda: sum(len(sender.acknowledged) for sender in senders) > dumped + 90, "orders")
        dumped_upto = edge.sluice.stats()["applied_seq"]
        paths.wait_until(lambda: edge.sluice.stats()["first_seq"] > dumped_upto, "the queue to be trimmed")
        before = [order for sender in senders for order in sender.acknowledged]
        edge.sluice("backup", tmp_path / "b")
    finally:
        for sender in senders:
            sender.end()
    running.terminate()
    running.wait()
    edge.stop()

    put_back(server, tmp_path / "dump")
    copy = cli.Sluice(tmp_path / "b.store")
    copy("restore", tmp_path / "b")
    assert (copy.store / "ledger.url").read_text().strip() == server.url()
    copy("ledger", "rebuild", "--from", copy.store / "archive", "--ledger", server.url())
    copy.drain()
    found = order_ids(copy)
    assert len(found) == len(set(found)), "nothing double"
    assert set(before) <= set(found), "everything that was acknowledged before the backup began"
    assert copy.run("doctor").stdout.count("the chain of hashes holds") == 1
    # The archive of the copy alone makes the same ledger.
    assert "rows are equal" in copy.run("doctor", "--replay").stdout
