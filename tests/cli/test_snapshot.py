"""`sluice ledger snapshot`: an audit begins with one when the archive no longer reaches back (controls K9)."""
import os
import shutil

import pytest
from harness import postgres
from program import sluice
from test_replay import WHY, Books

ON_BOTH = [pytest.param("folder"), pytest.param("database", marks=pytest.mark.skipif(
    bool(postgres.missing()), reason=str(postgres.missing())))]


class Snapped(Books):
    """Four inputs, a snapshot, and an archive that begins with input 5."""

    def __init__(self, folder, ledger=()):
        super().__init__(folder, ledger)
        self.run("worker", "--until-empty", "--no-archive")
        self.told = self.run("ledger", "snapshot").out
        shutil.rmtree(self.store / "archive")
        (self.store / "archive").mkdir(mode=0o700)
        self.credit("1.00 USD")
        self.run("worker", "--until-empty")

    @property
    def snapshot(self):
        return max((self.store / "snapshots").iterdir())

    def credit(self, amount):
        self.run("credit", "--account", "acme", "--creator", "ann", "--program", "spring", "--amount", amount, *WHY)


@pytest.fixture
def snapped(tmp_path):
    return Snapped(tmp_path)


@pytest.mark.parametrize("kind", ON_BOTH)
def test_the_audit_begins_with_the_newest_snapshot(tmp_path, kind):
    if kind == "folder":
        found_and_named(Snapped(tmp_path), None)
        return
    with postgres.Server() as server:
        url = server.create()
        assert sluice("ledger", "migrate", "--ledger", url).status == 0
        found_and_named(Snapped(tmp_path, ["--ledger", url]), server)


def found_and_named(books, server):
    assert books.told.startswith(f"{books.snapshot}: ") and " tables, sealed\n" in books.told, books.told
    equal = books.replay()
    assert equal.out.startswith("1 inputs were replayed: all "), equal
    assert f"compared from the snapshot {books.snapshot} on" in equal.err
    if server is not None:
        server.query("UPDATE sluice_ledger.creators SET payee = 'P-9' WHERE creator = 'ben'")
    else:
        alter(books.store / "ledger" / "data.mdb", b"P-2", b"P-9")
    found = books.replay(status=1)
    assert "creators" in found.out and "ben" in found.out and "P-2" in found.out, found


def alter(path, old, new):
    held = path.read_bytes()
    assert old in held
    path.write_bytes(held.replace(old, new))


def test_an_archive_that_reaches_back_needs_no_snapshot(tmp_path):
    books = Books(tmp_path)
    books.run("ledger", "snapshot")
    told = books.replay()
    assert told.out.startswith("4 inputs were replayed") and "snapshot" not in told.err


def test_the_refusal_of_a_short_archive_names_the_command(snapped):
    shutil.rmtree(snapped.snapshot)
    refused = snapped.replay(status=1)
    assert "the archive begins with input 5" in refused.err and "`sluice ledger snapshot`" in refused.err, refused.err


def test_edited_rows_of_a_snapshot_are_refused(snapped):
    alter(snapped.snapshot / "data.mdb", b"P-2", b"P-9")
    refused = snapped.replay(status=1)
    assert "has other rows than those that were sealed" in refused.err, refused.err


def test_the_rows_of_an_older_snapshot_are_refused(snapped):
    old = (snapped.snapshot / "data.mdb").read_bytes()
    snapped.run("ledger", "snapshot")
    (snapped.snapshot / "data.mdb").write_bytes(old)
    refused = snapped.replay(status=1)
    assert "has other rows than those that were sealed" in refused.err, refused.err


def test_edited_digests_of_a_snapshot_are_refused(snapped):
    alter(snapped.snapshot / "snapshot", b"table creators", b"table creatorz")
    refused = snapped.replay(status=1)
    assert "was changed, or was sealed by another key" in refused.err, refused.err


def test_a_snapshot_under_another_time_is_refused(snapped):
    """An old one cannot pass for a newer one."""
    snapped.snapshot.rename(snapped.store / "snapshots" / "2030-01-01T00:00:00Z")
    refused = snapped.replay(status=1)
    assert "has other rows than those that were sealed" in refused.err, refused.err


@pytest.mark.parametrize("text", [b"", b"seal ", b"sluice ledger snapshot\n", b"seal 0000000g " + b"0" * 64 + b"\n", b"x" * (1 << 21)],
                         ids=["empty", "cut", "no seal", "no number", "large"])
def test_a_snapshot_without_a_seal_is_refused(snapped, text):
    (snapped.snapshot / "snapshot").write_bytes(text)
    assert snapped.replay(status=1).err.startswith("sluice: ")


def test_a_key_that_was_retired_vouches_for_nothing(snapped):
    snapped.run("key", "rotate", ledger=())
    refused = snapped.replay(status=1)
    assert "`sluice key rotate` ends what was sealed before it" in refused.err, refused.err
    snapped.run("ledger", "snapshot")
    snapped.replay()


def test_a_ledger_that_was_set_back_is_older_than_its_snapshot(snapped):
    kept = snapped.store.parent / "kept"
    shutil.copytree(snapped.store / "ledger", kept)
    snapped.credit("2.00 USD")
    snapped.run("worker", "--until-empty", "--no-archive")
    snapped.run("ledger", "snapshot")
    shutil.rmtree(snapped.store / "ledger")
    kept.rename(snapped.store / "ledger")
    refused = snapped.replay(status=1)
    assert "the ledger was restored or cut" in refused.err, refused.err


@pytest.mark.parametrize("point", ["copying", "proved"])
def test_a_snapshot_that_was_killed_is_none(tmp_path, point):
    books = Books(tmp_path)
    killed = sluice("ledger", "snapshot", store=books.store, env={**os.environ, "SLUICE_CRASH_AT": point})
    assert killed.status != 0
    assert [path.name for path in (books.store / "snapshots").iterdir()] == ["unfinished"]
    books.run("ledger", "snapshot")
    (made,) = (books.store / "snapshots").iterdir()
    assert (made / "snapshot").read_text().startswith("sluice ledger snapshot\n") and made.name != "unfinished"


def test_a_damaged_ledger_is_not_sealed(snapped):
    alter(snapped.store / "ledger" / "data.mdb", b"spring", b"sprint")
    refused = snapped.run("ledger", "snapshot", status=1)
    assert "is damaged" in refused.err, refused.err
    assert (snapped.store / "snapshots").stat().st_mode & 0o777 == 0o700
