"""A commit that no standby has is never reported as done (docs/postgresql.md, Guarantees).

PostgreSQL itself shows it: after a crash of the primary, and when the wait of a COMMIT is cancelled.
Commits wait for a standby that is not there, or that is held up.
"""

import os
import pathlib
import subprocess

import pytest

from harness import paths, postgres, remedies
from harness.cli import Sluice, now
from harness.postgres_cluster import Cluster

pytestmark = pytest.mark.skipif(bool(postgres.missing()), reason=str(postgres.missing()))
WAITING = "FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
CLOSE = ("payout", "close", "--account", "acme", "--until", now(), "--key", "close-1")


class Place:
    """A primary, and a store with an account whose ledger it is."""

    def __init__(self):
        self.folder = paths.make_folder()
        self.database = Cluster(self.folder, "primary", settings=postgres.QUICK).start()
        self.sluice = Sluice(self.folder / "store")
        self.sluice("init")
        self.sluice.account("acme")
        self.url = self.database.url()
        self.sluice("ledger", "migrate", "--ledger", self.url)
        self.sluice("worker", "--until-empty", "--ledger", self.url)  # it is the store's from now on
        self.started = []

    def start(self, *words):
        self.started.append(subprocess.Popen(
            [str(paths.SLUICE), *words], env={**os.environ, "SLUICE_STORE": str(self.sluice.store)},
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
        return self.started[-1]

    def start_worker(self, *words):
        """A command that came first would apply its own record, and the worker would end."""
        worker = self.start("worker", *words)
        lock = pathlib.Path(self.sluice.store) / "worker.lock"
        paths.wait_until(lambda: lock.read_text().strip() == str(worker.pid), "the worker to hold its lock")
        return worker

    def close_up_to_its_commit(self):
        """`payout close`, whose COMMIT waits for a standby: it had to wait at the gate until commits were held."""
        gate = subprocess.Popen([str(postgres.PROGRAMS / "psql"), "-h", str(self.database.folder), "-U", "sluice",
                                 "-d", "postgres", "-Xqc",
                                 "SELECT pg_advisory_lock(1397511491, 1), pg_sleep(120)"])
        self.started.append(gate)
        paths.wait_until(lambda: self.locks("granted"), "the gate to be closed")
        command = self.start(*CLOSE)
        paths.wait_until(lambda: self.locks("NOT granted"), "the close to stand at the gate")
        self.database.set("synchronous_standby_names", "nobody")
        self.database.query("SELECT pg_terminate_backend(pid) FROM pg_locks "
                            "WHERE locktype = 'advisory' AND granted")
        gate.wait(30)
        self.commit_waits()
        return command

    def locks(self, state):
        return self.database.query(f"SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND {state}")

    def release_commits(self):
        self.database.set("synchronous_standby_names", "")

    def commit_waits(self):
        paths.wait_until(self.database.waiting_commits, "a commit that waits for a standby")

    def close(self):
        for process in self.started:
            process.kill()
            process.communicate()
        self.database.remove()
        paths.drop_folder(self.folder)


@pytest.fixture
def place():
    made = Place()
    yield made
    made.close()


@pytest.mark.parametrize("has_worker", [False, True])
def test_a_commit_with_a_cancelled_wait_is_not_done(place, has_worker):
    if has_worker:
        place.start_worker()
    command = place.close_up_to_its_commit()
    first = place.database.query(f"SELECT pid {WAITING}")
    assert ["t"] in place.database.query(f"SELECT pg_cancel_backend(pid) {WAITING}")
    # It is committed here; who asks again waits for a standby.
    paths.wait_until(lambda: [pid for pid in place.database.query(f"SELECT pid {WAITING}") if pid not in first],
                     "another wait for a standby")
    assert place.database.query("SELECT count(*) FROM sluice_ledger.commands") == [["1"]]
    assert command.poll() is None, command.communicate()
    place.release_commits()
    out, why = command.communicate(timeout=60)
    assert command.returncode == 0 and "clos" in out, (out, why)
    assert place.database.query("SELECT count(*) FROM sluice_ledger.commands") == [["1"]]


def test_what_a_crashed_primary_shows_is_not_done(place):
    worker = place.start_worker()
    command = place.close_up_to_its_commit()
    place.database.kill()
    place.database.start()
    assert place.database.query("SELECT count(*) FROM sluice_ledger.commands") == [["1"]]
    out, why = command.communicate(timeout=60)
    assert command.returncode == 1 and out == "", out
    assert "will be finished later" in why, why
    assert worker.poll() is None
    place.release_commits()
    assert "clos" in place.sluice(*CLOSE)


def test_a_result_is_read_from_the_primary(place):
    """The standby comes first in the URL, and lags behind."""
    standby = Cluster(place.folder, "standby", settings=postgres.QUICK).follow(place.database).start()
    try:
        paths.wait_until(lambda: place.database.query("SELECT state FROM pg_stat_replication")
                         == [["streaming"]], "the standby to stream")
        standby.query("SELECT pg_wal_replay_pause()")
        url = f"postgres://sluice@/postgres?host={standby.folder},{place.database.folder}"
        place.start_worker("--ledger", url)
        assert "clos" in place.sluice(*CLOSE, "--ledger", url, timeout=30)
        assert standby.query("SELECT count(*) FROM sluice_ledger.commands") == [["0"]]
    finally:
        standby.remove()


def test_what_doctor_says_of_standbys_helps(place):
    def found():
        return [(row["result"], row["remedy"].split(" ")[0]) for row in remedies.findings(place.sluice.store, "replication")]

    assert found() == [("note", "set")]
    standby = Cluster(place.folder, "standby", settings=postgres.QUICK).follow(place.database).start()
    try:
        place.database.set("synchronous_standby_names", "*")
        paths.wait_until(lambda: found() == [], "a synchronous standby")
        standby.stop()
        paths.wait_until(lambda: found() == [("problem", "bring")], "doctor to miss the standby")
        standby.start()
        paths.wait_until(lambda: found() == [], "the standby to be back")
    finally:
        standby.remove()


def test_locks_that_block_nothing_are_named_until_they_do(place):
    """Functions of the same names stand for a pooler, or an engine without advisory locks."""
    place.database.query("CREATE SCHEMA open; " + "; ".join(
        f"CREATE FUNCTION open.{name}(int, int) RETURNS void LANGUAGE sql AS ''"
        for name in ("pg_advisory_xact_lock", "pg_advisory_xact_lock_shared")))
    place.database.query("ALTER ROLE sluice SET search_path = open, pg_catalog, public")
    ((finding),) = remedies.findings(place.sluice.store, "writer lock")
    assert finding["remedy"].startswith("connect past the pooler")
    place.database.query("ALTER ROLE sluice RESET search_path")
    assert remedies.findings(place.sluice.store, "writer lock") == []


def test_what_is_applied_again_is_said(place):
    """A server took over without a commit that a command had reported as done. A command does not trim the queue."""
    place.database.query("CREATE DATABASE earlier TEMPLATE postgres", database="template1")
    place.sluice(*CLOSE)
    again = place.sluice.run("worker", "--until-empty", "--ledger", place.database.url("earlier"))
    assert again.returncode == 0
    assert "lacks inputs 1 to 1, which it had acknowledged" in again.stderr, again.stderr
    assert place.database.query("SELECT count(*) FROM sluice_ledger.commands", "earlier") == [["1"]]
