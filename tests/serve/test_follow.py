"""docs/follow.md: its consumers, literally, through kills, restores, a rebuild and two nodes."""

import contextlib
import itertools
import json
import random
import re
import shutil
import socket
import sqlite3
import subprocess
import sys

import pytest
from fleet import history
from fleet.node import Node
from fleet.storm import close_all, found, wait_until_applied
from harness import orders, paths, postgres, sign
from harness.edge import Edge
from harness.http_block import EVENTS, http_block
from harness.serve import Serve
from serve import scene
from serve.live import all_changes
from serve.test_changes import check_chain

PAGE = (paths.ROOT / "docs" / "follow.md").read_text()
SAVE = [{"code": "ANN", "type": "DISCOUNT_CODE", "value_type": "PERCENTAGE", "value": "10"}]


def program(language):
    return re.search(rf"```{language}\n(.*?)```", PAGE, re.S)[1]


class Consumer:
    """A program of the page, as a process that may be killed."""

    def __init__(self, folder, language, port, token):
        self.folder, self.kept = folder, folder / f"kept-{language}"
        name, runner = {"python": ("follow.py", sys.executable), "js": ("follow.mjs", "node")}[language]
        (folder / name).write_text(program(language))
        token_file = folder / "follow.token"
        token_file.write_text(token + "\n")
        self.command = [runner, str(folder / name), f"http://127.0.0.1:{port}", str(token_file), str(self.kept)]
        self.process = None

    def start(self):
        with open(self.folder / "consumer.log", "ab") as log:
            self.process = subprocess.Popen(self.command, stdout=log, stderr=log)

    def kill(self):
        assert self.process.poll() is None, (self.folder / "consumer.log").read_text()
        self.process.kill()
        self.process.wait()

    def close(self):
        if self.process is not None and self.process.poll() is None:
            self.kill()


class PythonConsumer(Consumer):
    def __init__(self, *where):
        super().__init__(where[0], "python", *where[1:])

    def changes(self):
        if not self.kept.exists():
            return []
        with contextlib.closing(sqlite3.connect(self.kept, timeout=20)) as db:
            if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'changes'").fetchone():
                return []
            return [json.loads(text) for (text,) in db.execute("SELECT change FROM changes ORDER BY rowid")]


class NodeConsumer(Consumer):
    def __init__(self, *where):
        super().__init__(where[0], "js", *where[1:])

    def changes(self):
        if not self.kept.exists():
            return []
        lines = self.kept.read_text().split("\n")[:-1]  # without one that is being written
        return [change for line in lines for change in json.loads(line)["changes"]]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def both(folder, port, token):
    consumers = []
    for kind in (PythonConsumer, NodeConsumer):
        own = folder / kind.__name__
        own.mkdir()
        consumers.append(kind(own, port, token))
    return consumers


def ends(changes):
    return {change["node"]: (change["last"], change["hash"]) for change in changes}


def caught_up(consumers, reader):
    """Waits until every consumer has the whole feed, and compares it change by change."""
    feed = all_changes(reader)
    check_chain(feed)
    for one in consumers:
        paths.wait_until(lambda one=one: ends(one.changes()) == ends(feed), f"{type(one).__name__} to reach the end")
        kept = one.changes()
        check_chain(kept)
        key = lambda change: (change["node"], change["last"])  # noqa: E731
        assert sorted(kept, key=key) == sorted(feed, key=key)
    return feed


class Shop:
    """A store with a worker and a server on a port; each may be killed."""

    def __init__(self, edge, folder, tmp_path):
        self.edge, self.port, self.count = edge, free_port(), itertools.count()
        edge.sluice.account("acme")
        edge.sluice.shop("shop-1", "acme")
        _, self.secret = edge.sluice.token("acme", "write_orders")
        _, self.reading = edge.sluice.token("acme", "read_ledger")
        edge.sluice.shop("shop-1-late", "acme")
        for name, content in (("programs.toml", scene.PROGRAMS), ("creators.csv", scene.CREATORS)):
            (tmp_path / name).write_text(content.format(account="acme", shop="shop-1", program="spring"))
        edge.sluice("program", "apply", tmp_path / "programs.toml")
        edge.sluice("creator", "import", tmp_path / "creators.csv")
        self.serve = Serve(edge.store, folder, "--rate-limit", "1000000/60", "--listen", f"127.0.0.1:{self.port}")
        self.worker = None

    @property
    def reader(self):
        return self.serve.token(self.reading)

    def start_worker(self):
        with open(self.edge.folder / "worker.log", "ab") as log:
            self.worker = subprocess.Popen(
                [str(paths.SLUICE), "--store", str(self.edge.store), "worker"], stdout=log, stderr=log)

    def kill_worker(self):
        self.worker.kill()
        self.worker.wait()

    def end_worker(self):
        self.worker.terminate()
        assert self.worker.wait(timeout=paths.DEADLINE) == 0
        self.worker = None

    def kill_serve(self):
        self.serve.process.kill()
        self.serve.process.wait()
        self.serve.process = None

    def order(self, code="SAVE"):
        name = f"o{next(self.count)}"
        answer = self.edge.post_event("shop-1", self.secret, "ORDER_CREATE", scene.order(name, code))
        assert answer.status == 200

    def drained(self):
        last = self.edge.sluice.accepted()
        paths.wait_until(lambda: self.edge.sluice.stats()["applied_seq"] >= last, "the worker to apply everything")


@pytest.fixture
def shop(tmp_path):
    with Edge(http_block(EVENTS, limit="off")) as edge:
        edge.start()
        folder = paths.make_folder()
        one = Shop(edge, folder, tmp_path)
        try:
            one.start_worker()
            with one.serve:
                yield one
        finally:
            if one.worker is not None and one.worker.poll() is None:
                one.kill_worker()
            paths.drop_folder(folder)


def test_fe5_consumers_survive_kills_of_everything(shop, tmp_path):
    chance = random.Random(31)
    consumers = both(tmp_path, shop.port, shop.reading)
    try:
        for one in consumers:
            one.start()
        for _ in range(12):
            for _ in range(5):
                shop.order()
            what = chance.choice(["worker", "serve", "consumers"])
            if what == "worker":
                shop.kill_worker()
                shop.start_worker()
            elif what == "serve":
                shop.kill_serve()
                shop.order()
                shop.serve.__enter__()
            else:
                for one in consumers:
                    one.kill()
                shop.order()
                for one in consumers:
                    one.start()
        shop.drained()
        assert len(caught_up(consumers, shop.reader)) > 60
    finally:
        for one in consumers:
            one.close()


def test_fe5_a_restored_ledger_is_followed_from_the_start_and_a_rebuilt_one_from_the_cursor(shop, tmp_path):
    consumers = both(tmp_path, shop.port, shop.reading)
    ledger, kept = shop.edge.store / "ledger", shop.edge.store.parent / "kept"
    try:
        for one in consumers:
            one.start()
        shop.order()
        shop.drained()
        caught_up(consumers, shop.reader)
        shop.end_worker()
        shutil.copytree(ledger, kept)
        shop.start_worker()
        shop.order()
        shop.drained()
        before = caught_up(consumers, shop.reader)

        shop.end_worker()
        shop.serve.stop()
        shop.edge.sluice("ledger", "rebuild", "--from", shop.edge.store / "archive", "--into", shop.edge.store / "new")
        shutil.rmtree(ledger)
        (shop.edge.store / "new").rename(ledger)
        shop.serve.__enter__()
        assert caught_up(consumers, shop.reader) == before

        shop.serve.stop()
        shutil.rmtree(ledger)
        shutil.copytree(kept, ledger)
        shop.serve.__enter__()
        assert len(caught_up(consumers, shop.reader)) < len(before)
    finally:
        for one in consumers:
            one.close()


class Event:
    def __init__(self, order_id, day=1):
        self.shop, self.order_id, self.topic = history.SHOPS[0], order_id, "ORDER_UPDATE"
        self.body = sign.encode(orders.order(order_id, platform_updated_at=f"2024-03-{day:02}T00:00:00Z", discounts=SAVE))


@pytest.mark.skipif(bool(postgres.missing()), reason=str(postgres.missing()))
def test_fe6_consumers_follow_two_nodes_on_postgresql(tmp_path):
    folder, port = paths.make_folder(), free_port()
    with postgres.Server() as server:
        url = server.create()
        nodes = [Node("edge1", ledger=url), Node("edge2", ledger=url)]
        consumers = []
        try:
            secret = found(nodes)
            nodes[0].import_all()
            _, reading = nodes[0].sluice.token("acme", "read_ledger")
            serve = Serve(nodes[0].edge.store, folder, "--ledger", url, "--rate-limit", "1000000/60",
                          "--listen", f"127.0.0.1:{port}")
            with serve:
                reader = serve.token(reading)
                consumers = both(tmp_path, port, reading)
                for one in consumers:
                    one.start()
                for count in range(20):
                    assert nodes[count % 2].post(Event(f"o{count}"), secret).status == 200
                    if count % 7 == 3:
                        nodes[count % 2].kill_worker()
                        nodes[count % 2].start_worker()
                    if count % 7 == 5:
                        for one in consumers:
                            one.kill()
                            one.start()
                wait_until_applied(nodes)
                feed = caught_up(consumers, reader)
                assert len({change["node"] for change in feed}) == 2
        finally:
            for one in consumers:
                one.close()
            close_all([*(node.close for node in nodes)])
            paths.drop_folder(folder)


# `sluice feed verify` ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def feed(served):
    return all_changes(served.as_("acme"))


def verify(sluice, folder, lines):
    file = folder / "changes.ndjson"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return sluice.run("feed", "verify", file, "--format", "json")


def test_fe4_a_whole_feed_is_proven(served, feed, tmp_path):
    done = verify(served.sluice, tmp_path, feed)
    assert done.returncode == 0, done
    rows = {row["node"]: row for row in json.loads(done.stdout)}
    assert {node: (row["last"], row["hash"]) for node, row in rows.items()} == ends(feed)
    assert sum(row["changes"] for row in rows.values()) == len(feed)
    assert sum(row["masked"] for row in rows.values()) == sum(
        change["type"] == "creator.payee_changed" for change in feed) > 0


def test_fe4_answers_and_a_later_part_are_proven(served, feed, tmp_path):
    page = served.as_("acme").object("changes", limit=1000)
    assert verify(served.sluice, tmp_path, [page]).returncode == 0
    assert verify(served.sluice, tmp_path, feed[5:]).returncode == 0


def refused(served, folder, lines):
    done = verify(served.sluice, folder, lines)
    assert done.returncode == 1, done
    return done.stderr


def altered_members(change):
    """Every member that a hash covers, each altered alone."""
    for name in ("node", "first", "last", "type", "timestamp", "previous_hash", "hash", "account_number", "shop_number"):
        copy = json.loads(json.dumps(change))
        value = copy[name]
        copy[name] = value + 1 if isinstance(value, int) else ("0" if value[0] != "0" else "1") + value[1:]
        yield name, copy
    hashed = [name for name in change["entries"][0] if name not in ("account_id", "shop_id", "refers_to_node")]
    for index, name in itertools.product(range(len(change["entries"])), hashed):
        copy = json.loads(json.dumps(change))
        value = copy["entries"][index][name]
        copy["entries"][index][name] = (
            1 if name == "refers_to" and value is None else "x" if value is None else value + 1 if isinstance(value, int)
            else ("0" if value[0] != "0" else "1") + value[1:])
        yield f"entries[{index}].{name}", copy


@pytest.mark.parametrize("kind", ["order.attributed", "payout.taken", "payout.closed", "period.closed", "anomaly.recorded"])
def test_fe4_each_altered_member_is_found(served, feed, tmp_path, kind):
    place = next(i for i, change in enumerate(feed) if change["type"] == kind)
    for name, copy in altered_members(feed[place]):
        said = refused(served, tmp_path, [*feed[:place], copy, *feed[place + 1:]])
        assert f"line {place + 1}:" in said, (name, said)


def test_fe4_each_removed_change_is_found(served, feed, tmp_path):
    for place in range(0, len(feed) - 1, 3):
        said = refused(served, tmp_path, [*feed[:place], *feed[place + 1:]]) if place else None
        gone, follower = feed[place], feed[place + 1]
        if said:
            assert f"line {place + 1}: change {follower['first']} of node {follower['node']}" in said
            assert f"{gone['first']}" in said and "missing before it" in said, said


def test_fe4_each_swapped_pair_is_found(served, feed, tmp_path):
    for place in range(1, len(feed) - 1, 3):
        said = refused(served, tmp_path, [*feed[:place], feed[place + 1], feed[place], *feed[place + 2:]])
        assert f"line {place + 1}: change {feed[place + 1]['first']}" in said and "swapped" in said


def test_fe4_a_repeated_change_and_other_text_are_refused(served, feed, tmp_path):
    assert "swapped or repeated" in refused(served, tmp_path, [feed[0], feed[0]])
    assert "is no change of the feed" in refused(served, tmp_path, [{"node": "x"}])
    file = tmp_path / "torn.ndjson"
    file.write_text(json.dumps(feed[0])[:-5] + "\n")
    done = served.sluice.run("feed", "verify", file)
    assert done.returncode == 1 and "line 1: not JSON" in done.stderr
