"""A fleet with tiers, one node of which lags by hours while both are killed: the archives of both give the same ledger,
byte for byte (controls K9).

The tier of an order depends on what was applied before it, so only the order in which the fleet applied its batches
gives the same rates. So do limits that count together, payees that are frozen, and approvals by signature, each through
both nodes. SLUICE_SEED sets the schedule of a long run, SLUICE_FLEET_ROUNDS how many there are.
"""

import datetime
import json
import os
import random
import time
from fractions import Fraction

import pytest

from fleet import history
from fleet.node import Node
from fleet.storm import close_all, copy_registry, create_registry, wait_until_applied
from harness import orders, postgres, sign
from harness.cli import Sluice, as_user
from harness.fake_time import FakeTime
from model.books.signatures import Key

pytestmark = [pytest.mark.crash, pytest.mark.skipif(bool(postgres.missing()), reason=str(postgres.missing()))]
HOURS_LATE = 5
COOLING_DAYS = 2
ADJUSTED = "tiered-1"
TIERED = """
[[program]]
id = "tiered"
account = "acme"
shops = []
default_rate = "5%"
default_tiers = [{ from = "300.00 USD", rate = "10%" }, { from = "900.00 USD", rate = "20%" }]
tiers_apply = "month"
late_days = 36500

[[policy]]
account = "acme"
approve_run_above = []
approve_adjust_above = ["50.00 USD"]
payee_cooling_days = 2
approvers = ["gina KEY"]
""".replace("KEY", Key("gina").public)
CREATORS = "creator_id,program_id,code,payee\nann,tiered,ANN,ref-ann\nbob,tiered,BOB,ref-bob\n"
ACME = ("--account", "acme")
WHY = ("--reason", "as agreed")
UPDATED = datetime.datetime(2024, 3, 2, 10, tzinfo=datetime.timezone.utc)
START = datetime.datetime(2026, 2, 28, 20, tzinfo=datetime.timezone.utc)  # hours before a month ends


class Event:
    def __init__(self, chance, number, version):
        self.shop, self.topic = history.SHOPS[number % 2], "ORDER_UPDATE"
        self.order_id = f"tiered-{number}"
        amount = f"{chance.randrange(20, 160)}.00"
        code = {"code": chance.choice(["ANN", "BOB"]), "type": "DISCOUNT_CODE", "value_type": "PERCENTAGE", "value": "5"}
        refunds = [orders.refund(f"{self.order_id}-r", amount="7.00", tax="0")] if chance.random() < 0.2 else []
        self.body = sign.encode(orders.order(
            self.order_id, amount=amount, tax="0", shipping="0", discounts=[code], refund_line_items=refunds,
            line_items=[orders.line(amount=amount, tax="0")],
            platform_updated_at=(UPDATED + datetime.timedelta(minutes=version)).isoformat().replace("+00:00", "Z")))


class Pair:
    """Two nodes whose clock the test sets, on one ledger."""

    def __init__(self, database, seed):
        self.chance, self.database = random.Random(seed), database
        self.clock = FakeTime()
        self.at = START
        self.clock.set(self.time())
        self.url = database.create()
        self.nodes = [Node(name, ledger=self.url, clock=self.clock) for name in ("edge1", "edge2")]
        first, second = self.nodes
        first.sluice("ledger", "migrate", *first.ledger)
        self.secret = create_registry(first)
        copy_registry(first, second)
        for node in self.nodes:
            node.start()
        for words, name, text in ((("program", "apply"), "tiered.toml", TIERED), (("creator", "import"), "c.csv", CREATORS)):
            file = first.edge.folder / name
            file.write_text(text)
            first.sluice(*words, file, *first.ledger)
        self.number, self.known, self.closed, self.adjusted, self.held = 0, set(), False, [], None

    def close(self):
        close_all([node.close for node in self.nodes])

    def time(self):
        return self.at.isoformat().replace("+00:00", "Z")

    def later(self, **span):
        self.at += datetime.timedelta(**span)
        self.clock.set(self.time())

    def post(self, node, count):
        """New orders, and later events of old ones, which may have come through the other node."""
        for _ in range(count):
            self.number += 1
            known = sorted(self.known)
            number = self.chance.choice(known) if len(known) > 4 and self.chance.random() < 0.5 else self.number
            self.known.add(number)
            answer = node.post(Event(self.chance, number, self.number), self.secret)
            assert answer.status == 200, answer
            self.later(seconds=20)

    def kill(self, node):
        """At some moment of its work."""
        time.sleep(self.chance.random() * 0.15)
        node.kill_worker()
        time.sleep(self.chance.random() * 0.1)
        node.start_worker()

    def lag(self, late, other, count):
        """`late` receives and applies nothing for hours; then it catches up while both are killed."""
        if self.held is not None:
            other.sluice("release", "--account", "acme", "--creator", self.held, *WHY, *other.ledger)
            self.later(days=COOLING_DAYS)
        late.kill_worker()
        self.post(late, count)
        self.later(hours=HOURS_LATE)
        self.post(other, count)
        self.kill(other)
        wait_until_applied([other])
        paid = json.loads(other.sluice("payout", "close", *ACME, "--until", self.time(), "--format", "json", *other.ledger))
        run = paid["payouts"][0]["payout_run"]
        self.approve(run, other)
        self.adjust(other)
        if self.at.month == 3 and not self.closed:
            other.sluice("period", "close", "--account", "acme", "--until", "2026-03-01T00:00:00Z", "--allow-late", *other.ledger)
            self.closed = True
        late.start_worker()
        self.post(other, count // 2)
        for _ in range(3):
            self.kill(self.chance.choice(self.nodes))
        self.repoint(paid["payouts"][0], late, other)
        self.check_cooling(paid["payouts"][0]["creator_id"], late)
        self.adjust(late)
        self.held = self.chance.choice(["ann", "bob"])
        late.sluice("hold", "--account", "acme", "--creator", self.held, *WHY, *late.ledger)
        self.kill(late)
        wait_until_applied(self.nodes)

    def approve(self, name, node):
        """Gina signs what the node shows."""
        text = node.sluice("approvals", "show", name, *ACME, "--statement", *node.ledger)
        signed = node.edge.folder / "signed"
        signed.write_text(Key("gina").sign(text))
        by = Sluice(node.sluice.store)
        by.environment, by.prefix = node.sluice.environment, as_user("daemon")
        by("approve", name, *ACME, "--signature", signed, *node.ledger)

    def repoint(self, payout, late, other):
        """The payee changes through one node, and the payout moves and is approved again through the other."""
        name, payee = payout["payout_id"], f"ref-{self.number}"
        other.sluice("creator", "set", payout["creator_id"], *ACME, "--payee", payee, *WHY, *other.ledger)
        late.sluice("payout", "repoint", name, *ACME, *WHY, *late.ledger)
        self.approve(name, other)

    def check_cooling(self, creator, node):
        """controls K1: who changed the payee through one node is not paid through the other for days."""
        preview = json.loads(node.sluice("payout", "preview", *ACME, "--until", self.time(), "--format", "json", *node.ledger))
        assert creator in {row["creator_id"] for row in preview["skipped"] if row["skip_reason"] == "PAYEE_CHANGED"}, preview
        assert creator not in {row["creator_id"] for row in preview["payouts"]}, preview

    def adjust(self, node):
        """Each half of the limit and more: the second waits, through whichever node it comes."""
        done = node.sluice.run("adjust", "--shop", history.SHOPS[1], "--order", ADJUSTED, "--amount", "30.00", *WHY,
                               *node.ledger)
        self.adjusted.append(done.returncode)

    def stop(self):
        for node in self.nodes:
            node.worker.terminate()
            assert node.worker.wait(30) == 0
            node.worker = None


def archives(pair):
    own, other = pair.nodes
    return ("--from", own.edge.store / "archive", "--from", other.edge.store / "archive",
            "--command-key", other.edge.store / "command.key")


def audited(pair, url):
    done = pair.nodes[0].sluice.run("doctor", "--replay", *archives(pair), "--ledger", url)
    assert done.returncode == 0 and done.stderr == "", done
    assert " inputs were replayed: all " in done.stdout, done
    return done.stdout


def lags(pair):
    """How much older the first input of a batch is than the input that the other node applied before it."""
    inputs = pair.database.query(
        "SELECT b.number, b.node_id, min(extract(epoch FROM j.recorded_at)) AS first, max(extract(epoch FROM j.recorded_at)) "
        "FROM sluice_ledger.batches b JOIN journal j ON j.node = b.node_id AND j.event_seq BETWEEN b.first_seq AND b.last_seq "
        "GROUP BY 1, 2 ORDER BY 1")
    return [float(before[3]) - float(after[2]) for before, after in zip(inputs, inputs[1:])]


def check_late_entries(pair, seed):
    """S1: each names the first entry of its line by number and node, which may be the other node."""
    rows = json.loads(pair.nodes[0].report("journal"))
    posted = {(row["node"], row["entry"]): row for row in rows}
    same = ("account_id", "program_id", "creator_id", "shop_id", "order_id", "line_item_id")
    late = [row for row in rows if row["refers_to"] is not None]
    for row in late:
        first = posted[row["refers_to_node"], row["refers_to"]]
        assert [first[name] for name in same] == [row[name] for name in same] and first["reason"] == "ACCRUAL", (row, first)
    assert any(row["node"] != row["refers_to_node"] for row in late), f"seed {seed}: {len(late)} late entries"
    assert all(row["refers_to_node"] is None for row in rows if row["refers_to"] is None)
    folder = pair.nodes[0].edge.folder / "late"
    pair.nodes[0].sluice("export", folder, *pair.nodes[0].ledger)
    exported = map(json.loads, (folder / "journal_references-0001.ndjson").read_text().splitlines())
    assert {(row["node"], row["entry"]): row["refers_to_node"] for row in exported} == {
        (row["node"], row["entry"]): row["refers_to_node"] for row in late}


def rates(pair):
    """The commissions of orders now, in percent of their amounts; `commission_amount` is what a payout took first."""
    rows = json.loads(pair.nodes[0].report("orders"))
    return {Fraction(row["accrued"]) / Fraction(row["amount"]) * 100 for row in rows
            if row["accrued"] and row["refund_amount"] in (None, "0", "0.00") and row["order_id"] != ADJUSTED}


def play(seed, rounds, count):
    with postgres.Server() as database:
        pair = Pair(database, seed)
        try:
            for node in pair.nodes:
                pair.post(node, count)
            wait_until_applied(pair.nodes)
            for number in range(rounds):
                late = pair.nodes[number % 2]
                pair.lag(late, pair.nodes[(number + 1) % 2], count)
            earned = rates(pair)
            check_late_entries(pair, seed)
            pair.stop()
            # The volume of the whole month decides, so most orders end at the highest tier.
            assert {20} <= earned <= {5, 10, 20}, f"seed {seed}: {earned}"
            assert max(lags(pair)) > HOURS_LATE * 3600, f"seed {seed}: no node was late"
            equal = audited(pair, pair.url)
            anew = database.create("anew")
            own = pair.nodes[0].sluice
            own("ledger", "migrate", "--ledger", anew)
            done = own.run("ledger", "rebuild", *archives(pair), "--ledger", anew)
            assert done.returncode == 0 and done.stderr == "", done
            assert audited(pair, anew) == equal, f"seed {seed}"
            # Without the other node's key its commands keep the verdicts of its worker, and the rebuild says so.
            unchecked = database.create("unchecked")
            own("ledger", "migrate", "--ledger", unchecked)
            done = own.run("ledger", "rebuild", *archives(pair)[:4], "--ledger", unchecked)
            assert done.returncode == 0, done
            assert f"the seals of the commands of queue {pair.nodes[1].uuid} were not checked" in done.stderr, done
            assert pair.adjusted == [0] + [3] * (2 * rounds - 1), "amounts count together, whichever node they come through"
            verified = own("report", "approvals", *ACME, "--verify", "--format", "json", "--ledger", anew)
            assert [row["verdict"] for row in json.loads(verified)] == ["valid"] * 2 * rounds
            assert sum(node.kills for node in pair.nodes) >= 5 * rounds
        finally:
            pair.close()


def test_K9_the_archives_of_a_fleet_with_tiers_give_the_same_bytes():
    play(9, 2, 12)


@pytest.mark.long
@pytest.mark.parametrize("turn", range(int(os.environ.get("SLUICE_FLEET_ROUNDS", "5"))))
def test_K9_storms_with_tiers(turn):
    play(int(os.environ.get("SLUICE_SEED", "1")) * 1000 + turn, 6, 40)
