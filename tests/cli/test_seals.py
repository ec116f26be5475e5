"""The key that seals commands, by the real command (controls K5). tests/unit/worker/drain/seal_test.cpp forges records."""
import os
import shutil
import stat

import pytest
from harness import queue_edit
from program import sluice
from test_replay import Books


@pytest.fixture
def books(tmp_path):
    return Books(tmp_path)


def credit(books, status=0):
    return books.run("credit", "--account", "acme", "--creator", "ann", "--program", "spring", "--amount", "1.00 USD",
                     "--reason", "as agreed", status=status)


def test_init_makes_a_key_that_its_owner_alone_may_read(books):
    assert stat.S_IMODE((books.store / "command.key").stat().st_mode) == 0o400


def test_commands_of_before_a_rotation_stay_valid(books):
    before = (books.store / "command.key").read_text().split()
    told = books.run("key", "rotate").out
    assert "the command key" in told
    key = books.store / "command.key"
    assert stat.S_IMODE(key.stat().st_mode) == 0o400
    first, second = key.read_text().splitlines()
    assert second == f"{before[0]} 4" and first != before[0], "the old key seals nothing after input 4"
    credit(books)
    books.run("key", "rotate")
    credit(books)
    assert books.replay().out.startswith("6 inputs were replayed"), "the replay judges all seals again"
    assert books.run("dead", "list", "--format", "json").out == "[]\n"


def test_without_the_key_nothing_is_commanded(books):
    key = books.store / "command.key"
    kept = key.read_bytes()
    key.unlink()
    assert "command.key" in credit(books, status=1).err
    assert "command.key" in books.run("worker", "--until-empty", status=1).err
    findings = [row for row in books.run("doctor", "--format", "json", status=1).out.split("},") if "command key" in row]
    assert findings and "from the backup" in findings[0]
    key.write_bytes(kept)
    key.chmod(0o440)
    assert "chmod 0400" in credit(books, status=1).err
    key.chmod(0o400)
    credit(books)


def test_a_fifo_in_the_place_of_the_key_is_refused(books):
    key = books.store / "command.key"
    key.unlink()
    os.mkfifo(key, 0o400)
    for line in ("credit", "worker", "doctor"):
        run = credit(books, status=1) if line == "credit" else books.run(
            line, *(("--until-empty",) if line == "worker" else ("--format", "json")), status=1)
        assert f"{key}" in run.err + run.out and "regular file" in run.err + run.out, (line, run)


def test_an_archive_is_judged_by_the_keys_that_are_named(books, tmp_path):
    """A replay verifies every seal again: with the key of another store no command is valid."""
    key, kept = books.store / "command.key", tmp_path / "kept.key"
    shutil.copy2(key, kept)
    (tmp_path / "b").mkdir()
    other = Books(tmp_path / "b")
    key.unlink()
    shutil.copy2(other.store / "command.key", key)
    assert "differences" in books.replay(status=1).err
    assert books.replay("--command-key", kept).err == ""


def test_a_rebuild_says_which_seals_it_could_not_check(books, tmp_path):
    """Without a key the verdicts of the workers count, which are archived."""
    rebuild = ("ledger", "rebuild", "--from", books.store / "archive", "--into")
    alone = sluice(*rebuild, tmp_path / "unchecked", store=tmp_path / "none")
    assert alone.status == 0 and alone.err.count("\n") == 1, alone
    assert alone.err.startswith("sluice: the seals of the commands of queue ") and "--command-key" in alone.err
    checked = sluice(*rebuild, tmp_path / "checked", "--command-key", books.store / "command.key", store=tmp_path / "none")
    assert checked.status == 0 and checked.err == "", checked
    assert books.run(*rebuild, tmp_path / "own").err == ""


def test_numbers_set_ahead_do_not_lengthen_the_life_of_a_key(books):
    """The old key seals nothing after the ledger's checkpoint, whatever the queue says."""
    with queue_edit.edited(books.store) as queue:
        queue.set_next_seq(1 << 40)
    told = books.run("key", "rotate")
    assert "commands among them become dead letters" in told.err
    assert (books.store / "command.key").read_text().splitlines()[1].endswith(" 4")


def test_a_command_of_a_time_that_was_undone_is_not_applied_again(books, tmp_path):
    books.run("backup", tmp_path / "backup")
    credit(books)
    with queue_edit.edited(books.store) as queue:
        captured = queue.get(5)
    restored = tmp_path / "restored"
    assert sluice("restore", tmp_path / "backup", store=restored).status == 0
    with queue_edit.edited(restored) as queue:
        queue.put(5, captured)
        queue.set_next_seq(6)
    assert sluice("worker", "--until-empty", store=restored).status == 0
    dead = sluice("dead", "list", "--format", "json", store=restored).out
    assert "COMMAND_NOT_SEALED: the command was sealed with a key that had been replaced by then" in dead
    assert sluice("doctor", "--replay", store=restored).status == 0


def test_a_gap_is_named_and_accepted(books):
    """A record that was deleted behind the worker's back."""
    with queue_edit.edited(books.store) as queue:
        queue.set_next_seq(8)
    assert "inputs 5 to 7 are missing" in books.run("worker", "--until-empty", status=1).err
    found = books.run("doctor", "--format", "json", status=1).out
    assert "inputs 5 to 7 are missing" in found and "accept-gap 5-7" in found
    accept = ("queue", "accept-gap")
    assert "is no gap" in books.run(*accept, "7-5", "--reason", "x", status=1).err
    assert "the missing inputs are 5-7" in books.run(*accept, "5-6", "--reason", "x", status=1).err
    assert "the archive has input 4" in books.run(*accept, "4-7", "--reason", "x", status=1).err
    assert "inputs 5-7 are lost" in books.run(*accept, "5-7", "--reason", "a broken nginx").out
    journal = books.run("report", "journal", "--account", "acme", "--format", "json").out
    assert "GAP_ACCEPTED" in journal and "a broken nginx" in journal
    credit(books)
    assert books.replay().err == ""
    assert "no input is missing" in books.run(*accept, "9", "--reason", "x", status=1).err
