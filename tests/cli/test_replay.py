"""`sluice doctor --replay` by the real command, on both ledgers (controls K9)."""
import json
import shutil
import subprocess

import pytest
from harness import postgres
from program import PROGRAM, sluice

PROGRAM_FILE = """
[[program]]
id = "spring"
account = "acme"
default_rate = "10%"
late_days = 36500
"""
WHY = ("--reason", "as agreed")


class Books:
    """A store with credits and payouts, and nothing of nginx."""

    def __init__(self, folder, ledger=()):
        self.store, self.ledger = folder / "store", list(ledger)
        self.run("init", ledger=())
        self.run("account", "create", "acme", ledger=())
        self.run("shop", "create", "shop-1", "--account", "acme", ledger=())
        file = folder / "programs.toml"
        file.write_text(PROGRAM_FILE)
        self.run("program", "apply", file)
        names = folder / "creators.csv"
        names.write_text("creator_id,program_id,code,payee\nann,spring,ANN,P-1\nben,spring,BEN,P-2\n")
        self.run("creator", "import", names)
        for creator, amount in (("ann", "12.00 USD"), ("ben", "7.50 USD")):
            self.run("credit", "--account", "acme", "--creator", creator, "--program", "spring", "--amount", amount, *WHY)

    def run(self, *words, status=0, ledger=None):
        done = sluice(*words, *(self.ledger if ledger is None else ledger), store=self.store)
        assert done.status == status, (words, done)
        return done

    def replay(self, *words, status=0):
        return self.run("doctor", "--replay", *words, status=status)


@pytest.fixture
def books(tmp_path):
    return Books(tmp_path)


def test_an_unedited_ledger_is_equal(books):
    told = books.replay().out
    assert told.startswith("4 inputs were replayed: all ") and told.endswith(" rows are equal\n"), told
    assert books.replay("--format", "json").out == "[]\n"


def test_the_worker_may_run_meanwhile(books):
    worker = subprocess.Popen([PROGRAM, "--store", books.store, "worker"], stderr=subprocess.DEVNULL)
    try:
        for number in range(3):
            books.run("credit", "--account", "acme", "--creator", "ann", "--program", "spring", "--amount",
                      f"{number + 1}.00 USD", *WHY)
            assert books.replay().out.startswith(f"{5 + number} inputs were replayed")
    finally:
        worker.terminate()
        worker.wait(30)


def test_what_the_archive_lacks_is_read_from_the_queue(books):
    """A worker that was killed after its commit and before the archive was written."""
    archive = books.store / "archive"
    kept = {path.name: path.read_bytes() for path in archive.iterdir()}
    books.run("credit", "--account", "acme", "--creator", "ann", "--program", "spring", "--amount", "1.00 USD", *WHY)
    for path in archive.iterdir():
        path.write_bytes(kept[path.name])
    assert books.replay().out.startswith("5 inputs were replayed")


def test_an_archive_that_is_cut_is_refused(books):
    (segment,) = (books.store / "archive").glob("*.sla")
    books.run("worker", "--until-empty")  # also trims the queue
    segment.write_bytes(segment.read_bytes()[:150])
    refused = books.replay(status=1)
    assert "ends at input 0, the ledger has applied input 4" in refused.err and "cut" in refused.err, refused.err


def test_an_archive_that_no_longer_reaches_back_is_refused(books):
    books.run("worker", "--until-empty", "--no-archive")
    shutil.rmtree(books.store / "archive")
    (books.store / "archive").mkdir(mode=0o700)
    books.run("credit", "--account", "acme", "--creator", "ann", "--program", "spring", "--amount", "1.00 USD", *WHY)
    books.run("worker", "--until-empty")
    refused = books.replay(status=1)
    assert "the archive begins with input 5" in refused.err, refused.err


def test_the_archive_of_another_store_is_refused(books, tmp_path):
    (tmp_path / "b").mkdir()
    other = Books(tmp_path / "b")
    refused = books.replay("--from", other.store / "archive", status=1)
    assert "it is the archive of another store" in refused.err, refused.err


def test_usage():
    assert sluice("doctor", "--from", "/tmp").status == 2
    assert sluice("doctor", "--replay", "--nginx-conf", "x").status == 2


@pytest.mark.skipif(bool(postgres.missing()), reason=str(postgres.missing()))
@pytest.mark.parametrize("edit, table, column, stored, right", [
    ("UPDATE sluice_ledger.money_commands SET accrued = 9999.00 WHERE creator = 'ann'",
     "money_commands", "accrued", "9999.00", "12.00"),
    ("UPDATE sluice_ledger.creators SET payee = 'THIEF' WHERE creator = 'ben'", "creators", "payee", "THIEF", "P-2"),
    ("UPDATE sluice_ledger.balances SET owed = owed + 1 WHERE creator = 'ann'", "balances", "owed", "13.00", "12.00"),
    ("DELETE FROM sluice_ledger.codes WHERE creator = 'ben'", "codes", None, None, None),
    ("UPDATE sluice_ledger.state SET programs_revision = 77", "heads", "programs_revision", "77", None),
])
def test_an_edit_in_the_database_is_named(tmp_path, edit, table, column, stored, right):
    with postgres.Server() as server:
        url = server.create()
        assert sluice("ledger", "migrate", "--ledger", url).status == 0
        books = Books(tmp_path, ["--ledger", url])
        assert books.replay().out.startswith("4 inputs were replayed")
        server.query(edit)
        found = books.replay("--format", "json", status=1)
        (row,) = json.loads(found.out)
        assert (row["table"], row["column"]) == (table, column), row
        assert row["key"]
        assert stored is None or row["stored"] == stored
        assert right is None or row["right"] == right
        assert "1 difference" in found.err
