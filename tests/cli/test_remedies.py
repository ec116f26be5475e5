"""The remedies of `doctor`: each is performed as it is printed, and the finding is gone."""
import re
import shlex

import pytest
from harness import queue_edit
from program import sluice
from test_replay import Books


@pytest.fixture
def books(tmp_path):
    return Books(tmp_path)


def findings(store, check):
    rows = sluice("doctor", "--format", "json", store=store).json()
    return [row for row in rows if row["check"] == check and row["result"] != "ok"]


def perform(store, remedy, **words):
    """Runs the commands of sluice that a remedy names, in their order, with its words in capitals replaced."""
    commands = re.findall(r"sluice ((?:[a-z-]+|[A-Z]+|\d+-\d+| )+)", remedy)
    assert commands, remedy
    for command in commands:
        line = [str(words.get(word, word)) for word in shlex.split(command)]
        run = sluice(*line, store=store)
        assert run.status == 0, (line, run)


def test_dead_letters_are_discarded(books):
    with queue_edit.edited(books.store) as queue:
        queue.put(5, b"damaged")
        queue.set_next_seq(6)
    books.run("worker", "--until-empty")
    ((finding),) = findings(books.store, "dead")
    assert finding["finding"] == "1 input could not be applied"
    listed, given_up = finding["remedy"].split("; then ")[0], finding["remedy"].rsplit(" or ", 1)[1]
    perform(books.store, listed)
    perform(books.store, given_up, SEQ=5, TEXT="damaged")
    assert findings(books.store, "dead") == []


def test_a_lost_input_is_accepted(books):
    with queue_edit.edited(books.store) as queue:
        queue.set_next_seq(8)

    def named():
        return re.findall(r"sluice queue accept-gap \d+-\d+ --reason \w+", sluice("doctor", "--format", "json", store=books.store).out)

    perform(books.store, named()[0])
    assert named() == []


def test_room_for_accounts_is_made(tmp_path):
    store = tmp_path / "small"
    assert sluice("init", "--max-accounts", 1, store=store).status == 0
    assert sluice("account", "create", "acme", store=store).status == 0
    ((finding),) = findings(store, "registry")
    perform(store, finding["remedy"].split(",")[0], N=100)
    assert findings(store, "registry") == []


def test_nothing_waits_in_a_restored_store(books, tmp_path):
    """The control page of a restored store is new: it said that inputs of before wait."""
    books.run("backup", tmp_path / "backup")
    restored = tmp_path / "restored"
    assert sluice("restore", tmp_path / "backup", store=restored).status == 0
    assert sluice("queue", "stats", "--format", "json", store=restored).json()["depth"] == 0
    ((worker),) = findings(restored, "worker")
    assert worker["finding"] == "no worker runs; 0 inputs wait"
