"""The model of double entry beside the model of the time before, which other tests hold against the
real system: where the rules did not change, both give the same orders, journal, payouts, sums.

SLUICE_SEED=n runs one seed; SLUICE_BOOKS_HISTORIES=n so many (12 in CI).
"""

import itertools
import json
import os
import time
from collections import defaultdict

import pytest

from model import history, ledger_model
from model.answer import Answer
from model.books import listings
from model.books.audit import audit
from model.books.ledger import Ledger
from model.books.plausibility import MOMENTARY
from model.books.state import Input
from model.values import digits, text

COUNT = int(os.environ.get("SLUICE_BOOKS_HISTORIES", "12"))
SEEDS = [int(os.environ["SLUICE_SEED"])] if "SLUICE_SEED" in os.environ else range(1, 1 + COUNT)
NODE = "11111111-2222-3333-4444-555555555555"
LONG_AGO = -(10**29)
KINDS = (*MOMENTARY, "REFUND_EXCEEDS_LINE")


class Both(ledger_model.Ledger):
    """Every input to both. Here are the readings that make old inputs what they were: no bound on
    what reaches back, codes that are removed with effect from the beginning, closes that settle."""

    def __init__(self):
        super().__init__()
        self.books = None
        self.now = time.time_ns()
        self.numbers = itertools.count(1)
        self.seqs = {}  # of events: in the books -> in the history

    def command(self, **command):
        if self.books is None:
            self.account = self.accounts[min(self.accounts)]
            shops = {shop: number for number, shop in enumerate(sorted(self.accounts), 1)}
            self.books = Ledger({self.account: (1, shops)})
        result = self.books.command(self.input(self.now), command)
        assert result.outcome == "done", (command, result)

    def input(self, received):
        return Input(NODE, next(self.numbers), received, self.account, "finance", reason="by hand")

    def event(self, seq, shop, topic, body, received, anon_field="svc_anon_id"):
        """With one device id per order: whether an update without it keeps it is new (O4)."""
        document = json.loads(body)
        device = sum(document["platform_order_id"].encode()) % 4
        document["svc_anon_id"] = f"{self.account.removesuffix('-a')}-anon{device}"
        body = json.dumps(document, ensure_ascii=False).encode()
        super().event(seq, shop, topic, body, received, anon_field)
        at = self.input(received)
        self.seqs[at.seq] = seq
        self.books.event(at, shop, topic, body)

    def products(self, shop, topic, products):
        super().products(shop, topic, products)
        self.books.products(self.input(self.now), shop, topic, products)

    def program_apply(self, programs):
        super().program_apply(programs)
        self.command(do="program apply", programs=[{**program, "late_days": 366} for program in programs])

    def creator_import(self, rows):
        super().creator_import(rows)
        self.command(do="creator import", rows=[dict(zip(("creator", "program", "code"), row)) for row in rows])

    def creator_remove(self, creator, program, code=None):
        super().creator_remove(creator, program, code)
        self.command(do="creator remove", creator=creator, program=program, code=code, at=LONG_AGO)

    def touch_import(self, rows):
        super().touch_import(rows)
        self.command(do="touch import", rows=[dict(zip(("device", "creator", "program", "at"), row)) for row in rows])

    def payout_close(self, program, until):
        super().payout_close(program, until)
        self.command(do="old payout close", program=program, until=until)

    def adjust(self, shop, order_id, amount):
        super().adjust(shop, order_id, amount)
        self.command(do="adjust", shop=shop, order=order_id, amount=amount)


class Edge:
    """Stands for nginx and program: takes everything."""

    def __init__(self, folder):
        self.folder, self.sluice, self.numbers = folder, self, itertools.count(1)

    def __call__(self, *_):
        pass

    def connect(self):
        return None

    def account(self, name):
        return name

    def shop(self, name, _account):
        return name

    def token(self, *_):
        return "id", "secret"

    def post_event(self, *_, **__):
        return Answer(next(self.numbers))

    post_catalog = post_event


def compare(both, now):
    books = both.books
    assert audit(books) == []
    same_orders(both, now)
    same_journal(both)
    same_balances(both, now)
    payouts = [
        (p.items[0].program, p.creator, p.currency, p.amount, p.until) for p in books.payouts.values()
    ]
    assert sorted(payouts) == sorted(both.payouts)
    for (shop, order_id, kind), (first, *counts) in both.anomalies.items():
        anomaly = books.orders[(shop, order_id)].anomalies[kind]
        assert both.seqs[anomaly.first] == first and anomaly.count in counts, (order_id, kind)
    shown = {(o.shop, o.order_id, kind) for o in books.orders.values() for kind in o.anomalies if kind in KINDS}
    assert shown == set(both.anomalies)


def same_orders(both, now):
    rows = {(row["shop_id"], row["order_id"]): row for row in listings.orders(both.books, both.account, now)}
    wanted = both.report_orders()
    assert len(rows) == len(wanted)
    for row in wanted:
        found = rows[(row["shop_id"], row["order_id"])]
        assert {name: found[name] for name in row} == row


def same_journal(both):
    found, wanted = defaultdict(list), defaultdict(list)
    for e in both.books.journal.entries:
        if not e.is_mark and not e.payout:
            found[(e.shop, e.order, e.line, e.currency)].append((both.seqs.get(e.seq), e.amount, e.reason))
    for e in both.journal:
        wanted[(e.shop, e.order, e.line or "", e.currency)].append(e)
    assert set(found) == set(wanted)
    for key, entries in wanted.items():
        assert len(entries) == len(found[key]), key
        for entry, (seq, amount, reason) in zip(entries, found[key]):
            assert amount == entry.amount and reason in entry.reasons, key
            # An ATTRIBUTION had the order's last event; now it has the import's own number.
            assert seq == (None if reason in ("ATTRIBUTION", "MANUAL") else entry.seq), key


def same_balances(both, now):
    """What is blocked now was pending or payable."""
    rows = {(r["program_id"], r["creator_id"], r["currency"]): r for r in listings.balances(both.books, both.account, now)}
    wanted = both.report_balances(now)
    assert set(rows) == set(wanted)
    for key, row in wanted.items():
        columns = ("paid", "total") if rows[key]["blocked"] != text(0, digits(key[2])) else tuple(row)
        assert {name: rows[key][name] for name in columns} == {name: row[name] for name in columns}, key


@pytest.mark.parametrize("seed", SEEDS)
def test_history(tmp_path, monkeypatch, seed):
    monkeypatch.setattr(history, "Ledger", Both)
    played = history.History(seed, Edge(tmp_path))
    for number in range(200):
        played.ledger.now = played.now
        played.step()
        if number % 50 == 49:
            compare(played.ledger, played.now)
    compare(played.ledger, played.now)
