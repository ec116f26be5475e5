"""Two primaries with clients at both: no payout is sent twice, and a reported result remains.

The primary loses etcd, its standbys and perhaps the proxies, but not its clients: the worker of one
edge still writes there, and people close and send payouts there, while the other side promotes
a standby and does the same. Then it heals, in an order drawn at random. SLUICE_SEED sets the
schedule, SLUICE_SPLIT_ROUNDS how many rounds there are.

A server that crashes shows its commits that no standby has, and so does one whose waiting COMMIT
an administrator cancels: that happens here, too.
"""

import json
import os
import pathlib
import random
import re
import signal
import subprocess
import time

import pytest

from fleet import clustered
from fleet.clustered import Fleet
from fleet.storm import wait_until_applied
from fleet.traffic import Traffic, check_once
from harness import cli, paths

pytestmark = [
    pytest.mark.crash,
    pytest.mark.skipif(bool(clustered.missing()), reason=str(clustered.missing())),
]
SENT = ("--account", "acme", "--reason", "today's payments")
PAYOUTS = "SELECT payout_id, amount, state FROM payouts ORDER BY 1"
SYNC_REP = "FROM pg_stat_activity WHERE wait_event = 'SyncRep'"


class Told:
    """A person's command, and what it said."""

    def __init__(self, node, *words):
        self.node, self.words = node, [*words, "--key", f"told-{random.getrandbits(64):x}"]
        self.process = self._begin()
        self.code, self.out, self.why = None, "", ""
        self.was_done = False

    def _begin(self):
        return subprocess.Popen(
            [*self.node.inside, str(paths.SLUICE), *self.words, *self.node.ledger], text=True,
            env=self.node.sluice.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def end(self):
        self.out, self.why = self.process.communicate(timeout=120)
        self.code = self.process.returncode
        return self

    def end_done(self):
        """A worker that hung at the old primary leaves it after 30 s (lock) or 20 s (COMMIT), which is longer than
        a person waits: asked again."""
        until = time.monotonic() + 300
        while not self.end().is_done():
            assert "finished later" in self.why and time.monotonic() < until, (self.words, self.why)
            self.process = self._begin()

    def is_done(self):
        return self.code == 0

    def said(self):
        """Returns the columns that do not change later; states do."""
        if self.words[1] == "close":
            return [(row["payout_id"], row["creator_id"], row["amount"]) for row in json.loads(self.out)["payouts"]]
        return self.out

    def check(self):
        """Done: asked again it says the same. Not done: it said so."""
        self.was_done = self.is_done()
        if not self.was_done:
            assert self.out == "" and re.search("finished later|expected", self.why), (self.words, self.why)
            return
        before = self.said()
        self.process = self._begin()
        assert self.end().is_done() and self.said() == before, f"{self.words} said {before}, then {self.out}{self.why}"


class Round:
    """One partition. Every choice is drawn from `seed`."""

    def __init__(self, fleet, seed):
        self.fleet, self.database, self.chance = fleet, fleet.database, random.Random(seed)
        self.seed = seed
        nodes = self.chance.sample(fleet.nodes, 3)
        self.cut, self.healthy = nodes[0], nodes[1:]
        self.told = []
        self.patroni_dies = self.chance.random() < 0.7
        self.proxy_hears = self.chance.random() < 0.3
        self.old_alone = self.chance.random() < 0.7
        self.trouble = self.chance.choice(["none", "cancel", "crash"]) if self.patroni_dies else "none"

    def __str__(self):
        return (f"seed {self.seed}: {self.cut.name} at the old primary"
                f"{'' if self.old_alone else ' and all others'}, its Patroni {'dead' if self.patroni_dies else 'alive'}, "
                f"HAProxy {'reaches' if self.proxy_hears else 'does not reach'} it, trouble: {self.trouble}")

    def close(self, node):
        return Told(node, "payout", "close", "--account", "acme", "--until", cli.now(), "--format", "json")

    def run(self):
        traffic = Traffic(self.fleet, self.seed)
        usual = self.cut.ledger
        traffic.start()
        try:
            payout = self._payout_to_send(traffic)
            old = self._split(payout)
            self.database.wait_primary(old)
            self._other_side(payout)
            self._make_trouble(old)
            traffic.stop()
            self._heal(old, usual)
        finally:
            traffic.end()
            self.cut.ledger = usual
        for told in self.told:
            told.end()
        wait_until_applied(self.fleet.nodes)
        return traffic.due, payout

    def _payout_to_send(self, traffic):
        """One that is approved before the split."""
        wanted = len(traffic.due) + 10
        paths.wait_until(lambda: len(traffic.due) >= wanted, "orders")
        wait_until_applied(self.healthy[:1])
        before = self.close(self.healthy[0]).end()
        assert before.is_done(), before.why
        self.told.append(before)
        return before.said()[0][0]

    def _split(self, payout):
        """The old primary alone, with the worker of `cut`, a close and a `payout sent`."""
        old = self.database.wait_primary()
        others = [member for member in self.database.members if member is not old]
        self.cut.kill_worker()
        self.cut.ledger = ["--ledger", self.database.url(old, *([] if self.old_alone else others))]
        self.cut.start_worker()
        paths.wait_until(lambda: "applies" in self.cut.worker_log().rsplit("\n", 2)[-2], "its worker")
        if self.patroni_dies:
            old.patroni.stop(signal.SIGKILL)
        self.database.isolate(old, () if self.proxy_hears else ("proxy",))
        commands = [lambda: self.close(self.cut), lambda: Told(self.cut, "payout", "sent", payout, *SENT)]
        self.chance.shuffle(commands)
        self.told += [command() for command in commands]
        return old

    def _other_side(self, payout):
        """The same at the new primary, while the old one still waits: it gets done, however the edge comes to
        the database."""
        there = [self.close(self.healthy[0]), Told(self.healthy[1], "payout", "sent", payout, *SENT)]
        for told in there:
            told.end_done()
        self.told += there

    def _make_trouble(self, old):
        if self.trouble == "cancel":
            paths.wait_until(lambda: old.query(f"SELECT pid {SYNC_REP}", self.database.database), "a commit to wait")
            old.query(f"SELECT pg_cancel_backend(pid) {SYNC_REP}", self.database.database)
        elif self.trouble == "crash":
            pids = old.query(f"SELECT pid {SYNC_REP}", self.database.database)
            server = old.postmaster()
            children = pathlib.Path(f"/proc/{server}/task/{server}/children").read_text().split()
            os.kill(int(pids[0][0]) if pids else int(children[0]), signal.SIGKILL)
        # Worker and commands there have time to use the present state of the old primary.
        time.sleep(self.chance.random() * 6)

    def _heal(self, old, usual):
        def heal_network():
            self.database.rejoin(old)

        def start_patroni():
            if self.patroni_dies:
                old.patroni.start()

        def move_worker():
            self.cut.kill_worker()
            self.cut.ledger = usual
            self.cut.start_worker()

        steps = [heal_network, start_patroni, move_worker]
        self.chance.shuffle(steps)
        for step in steps:
            step()
        self.database.wait_whole()



def payouts_at(member, database):
    """None while Patroni rewinds the former primary."""
    try:
        return member.query(PAYOUTS, database)
    except AssertionError:
        return None


def check(fleet, due, payouts_sent):
    """Checks the invariants after each partition, once it has healed and every input is applied."""
    query = fleet.database.query
    check_once(query, due)
    memos = dict(query("SELECT payout_id, count(*) FROM journal WHERE reason = 'SENT' GROUP BY 1"))
    assert memos == {payout: "1" for payout in payouts_sent}, "each payout that was told to be sent is sent once"
    paid = query(PAYOUTS)
    for member in fleet.database.members:
        paths.wait_until(lambda member=member: payouts_at(member, fleet.database.database) == paid,
                         f"{member.name} to have what was paid, and nothing else", 90)
    for node in fleet.nodes:
        done = node.sluice.run("doctor")
        assert done.returncode == 0, done.stdout + done.stderr


def rounds(count):
    """HAProxy looks every 2 s, three times: for up to 6 s it sends sessions to a former primary."""
    first = int(os.environ.get("SLUICE_SEED", "1")) * 1000
    fleet, due, sent = Fleet(check_every="2s", check_fall=3), {}, []
    try:
        for seed in range(first, first + count):
            this = Round(fleet, seed)
            print(this, flush=True)
            fresh, payout = this.run()
            due.update(fresh)
            sent.append(payout)
            check(fleet, due, sent)
            for told in this.told:
                told.check()
            done = sum(told.was_done for told in this.told)
            print(f"  {len(fresh)} orders; of {len(this.told)} commands {done} were reported as done, and remained so", flush=True)
    finally:
        fleet.close()


def test_two_primaries_pay_no_creator_twice():
    rounds(1)


@pytest.mark.long
def test_many_partitions():
    rounds(int(os.environ.get("SLUICE_SPLIT_ROUNDS", "12")))
