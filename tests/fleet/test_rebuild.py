"""A fleet's ledger is lost and rebuilt from the archives of all its nodes."""

import os
import signal

import pytest

from fleet import history
from fleet.node import Node
from fleet.storm import close_all, found, wait_until_applied
from harness import cli, paths, postgres
from harness.cut_commit import ANSWER_LOST, CutCommit

REPORTS = ("orders", "journal", "balances", "payouts", "anomalies", "products")
WHY = ("--reason", "as agreed")
ROUNDS = 3

pytestmark = pytest.mark.skipif(bool(postgres.missing()), reason=str(postgres.missing()))


@pytest.fixture
def database():
    with postgres.Server() as server:
        yield server


def live(nodes, secret):
    """Events of each order through one node; between them people's commands through either."""
    events = history.make(5, 60, 4)
    size = len(events) // ROUNDS + 1
    nodes[0].post_products(secret)
    for number in range(ROUNDS):
        for event in events[number * size:(number + 1) * size]:
            answer = nodes[len(event.order_id) % 2 if number else 1].post(event, secret)
            assert answer.status == 200, answer
        wait_until_applied(nodes)
        if number == 0:
            nodes[0].import_all()  # what came through the other one waits for it
        closer = nodes[(number + 1) % 2]
        closer.sluice("payout", "close", "--account", "acme", "--until", cli.now(), *closer.ledger)
        order = events[number].order_id, events[number].shop
        nodes[number % 2].sluice("hold", "--order", order[0], "--shop", order[1], *WHY, *nodes[0].ledger)
    for node in nodes:
        stop(node)


def stop(node):
    node.worker.terminate()
    assert node.worker.wait(30) == 0
    node.worker = None


def reports(node, url):
    scope = {kind: ["--all-accounts"] if kind in cli.MONEY_REPORTS else [] for kind in REPORTS}
    return {kind: node.sluice("report", kind, "--format", "json", *scope[kind], "--ledger", url) for kind in REPORTS}


def rebuilt(database, name, nodes, *steps):
    """Reports of a new database, after a rebuild for each of `steps`, lists of archives."""
    url = database.create(name)
    nodes[0].sluice("ledger", "migrate", "--ledger", url)
    told = []
    for archives in steps:
        words = [word for archive in archives for word in ("--from", archive)]
        told.append(nodes[0].sluice("ledger", "rebuild", *words, "--ledger", url))
    return reports(nodes[0], url), told


def audited(node, archives, url):
    """The rows of every table are those that the archives make (K9)."""
    words = [word for archive in archives for word in ("--from", archive)]
    return node.sluice("doctor", "--replay", *words, "--ledger", url)


def test_the_archives_of_all_nodes_give_the_same_ledger(database):
    url = database.create("fleet")
    nodes = [Node("edge1", ledger=url), Node("edge2", ledger=url)]
    try:
        live(nodes, found(nodes))
        expected = reports(nodes[0], url)
        archives = [node.edge.store / "archive" for node in nodes]
        same, told = rebuilt(database, "anew", nodes, archives, archives)
        for kind in REPORTS:
            assert same[kind] == expected[kind], kind
        assert told[1].startswith("0 inputs replayed"), told  # again does nothing
        equal = audited(nodes[0], archives, url)
        assert " inputs were replayed: all " in equal, equal
        assert audited(nodes[0], archives, database.url("anew")) == equal  # byte for byte
        # One after the other, a command does not find what it found, so the order matters.
        other, _ = rebuilt(database, "apart", nodes, archives[1:], archives[:1])
        assert other["payouts"] != expected["payouts"]
    finally:
        close_all([*(node.close for node in nodes)])


def test_K9_the_order_has_the_batch_of_a_commit_without_an_answer(database):
    with CutCommit(database) as cut:
        url = database.create("cut")
        nodes = [Node("edge1", ledger=url.replace(str(database.folder), str(cut.folder))), Node("edge2", ledger=url)]
        cut_off, other = nodes
        events = iter(history.make(5, 20, 4))
        try:
            secret = found(nodes)
            cut_off.import_all()
            for node in nodes:
                assert node.post(next(events), secret).status == 200
                wait_until_applied(nodes)
            stop(cut_off)
            assert cut_off.post(next(events), secret).status == 200
            cut.cuts.append(ANSWER_LOST)
            cut_off.start_worker()
            paths.wait_until(lambda: cut.done, "a commit whose answer is lost")
            os.kill(cut_off.worker.pid, signal.SIGSTOP)  # before it tries again, the other node has a batch
            assert other.post(next(events), secret).status == 200
            wait_until_applied([other])
            os.kill(cut_off.worker.pid, signal.SIGCONT)
            assert cut_off.post(next(events), secret).status == 200
            wait_until_applied(nodes)
            for node in nodes:
                stop(node)
            archives = [node.edge.store / "archive" for node in nodes]
            assert " inputs were replayed: all " in audited(other, archives, url)
        finally:
            close_all([*(node.close for node in nodes)])
