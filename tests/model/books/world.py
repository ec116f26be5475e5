"""Random inputs of every kind, for the property tests. A step is (kind, four numbers): what they
mean depends on what is there, so that every list of steps is a history and a shorter one is, too.
"""

import copy
import json

from model.books.audit import audit
from model.books.example_inputs import payload, program_row
from model.books.ledger import Ledger
from model.books.state import Input
from model.values import DAY, instant, time_text

NODES = ("11111111-2222-3333-4444-555555555555", "99999999-8888-7777-6666-555555555555")
START = instant("2026-04-01T00:00:00Z")
VERSIONS = instant("2026-02-02T00:00:00Z")
ORDERED = ("2026-01-01T00:00:00Z", "2026-01-10T00:00:00Z", "2026-01-31T23:59:59Z", "2026-02-01T00:00:00Z")
AMOUNTS = ("100.00", "33.33", "0.05", "250.00", "0.00")
REFUNDED = ("40.00", "100.00", "0.00", "12.34", "300.00")
CREATORS, PROGRAMS, ACTORS = ("ann", "ben"), ("spring", "summer"), ("eve", "frank")
CODES = ("ANN", "BEN", "LATE")
RATES = ("10%", "12.5%", "5.00 USD per order", "1.50 USD", "33.3333%")
POLICIES = (
    {}, {"min_payout": ["25.00 USD"]}, {"approve_payout_above": ["20.00 USD"]},
    {"approve_adjust_above": ["4.00 USD"]}, {"blocking": []}, {"require_payee": True}, {"blocking": []}, {},
    {"approve_attribution_above": ["15.00 USD"], "approve_run_above": ["30.00 USD"]}, {"approve_rates": True},
    {"approve_payee_change": True, "payee_cooling_days": 1}, {"approve_period_close": True},
)


class World:
    def __init__(self):
        self.ledger = Ledger()
        self.now = START
        self.seqs = dict.fromkeys(NODES, 0)
        self.versions = 0
        self.keyed = []  # (input, command) of commands that were not refused
        self.entries = 0
        self.statements = {}  # (creator, month) -> statement of a closed month
        self.command(program_file(0, 0, 0))
        self.command({"do": "creator import", "rows": [
            {"creator": "ann", "program": "spring", "code": "ANN"}, {"creator": "ben", "program": "spring", "code": "BEN"},
            {"creator": "ann", "program": "summer"}, {"creator": "ben", "program": "summer"},
        ]})

    # Inputs -------------------------------------------------------------------------------------------

    def input(self, node=0, actor=0, back=0):
        """`back`: received so many days before, as of a queue that lags."""
        self.now += 10**9
        name = NODES[node % 2]
        self.seqs[name] += 1
        return Input(name, self.seqs[name], self.now - back, "acme", ACTORS[actor % 2], reason="as agreed")

    def command(self, command, actor=0):
        at = self.input(actor=actor)
        at = Input(**{**at.__dict__, "key": f"k{at.seq}"})
        before = len(self.ledger.journal.entries)
        result = self.ledger.command(at, copy.deepcopy(command))
        if result.outcome == "refused":
            assert len(self.ledger.journal.entries) == before, result
        else:
            self.keyed.append((at, command))
        return result

    def step(self, kind, *numbers):
        STEPS[kind](self, *numbers)

    def event(self, which, what, how, when):
        order = {
            "id": f"o{which % 4}", "ordered": ORDERED[which % 4], "codes": [CODES[what % 3]] if what % 4 else [],
            "currency": "JPY" if how % 8 == 3 else "USD",
            "lines": [
                {"id": f"l{n}", "amount": "1500" if how % 8 == 3 else AMOUNTS[(how + n) % 5], "tax": "0.00"}
                for n in range(1, 2 + how % 3)
            ],
        }
        if what % 3 == 0:
            order["refunds"] = [{"id": f"r{which % 4}-1", "line": "l1", "amount": REFUNDED[how % 5]}]
        self.versions += 1
        version = VERSIONS + (self.versions - when % 3 * 2) * 10**9 + (when % 40 == 39) * 400 * DAY
        order["updated"] = time_text(version)
        topic = ("ORDER_UPDATE", "ORDER_CREATE", "ORDER_CANCEL")[when % 7 % 3]
        if when % 11 == 0:
            order["cancelled"] = time_text(version)
        at = self.input(node=when, back=(when % 5) * 10 * DAY)
        at = Input(at.node, at.seq, at.received, "acme")
        body = json.dumps(payload(order, ("d1", None, None, "d2")[when % 4])).encode()
        self.ledger.event(at, "shop-1", topic, body)

    def refund(self, which, how, *_):
        """The order as it is, with a refund of its first line."""
        order = self.order(which)
        if order is None:
            return
        document = copy.deepcopy(order.payload)
        self.versions += 1
        document["platform_updated_at"] = time_text(max(VERSIONS + self.versions * 10**9, order.version + 1))
        line = document["line_items"][0]["line_item_id"]
        document["refund_line_items"] = [{
            "refund_line_item_id": f"r{order.order_id}-{line}", "line_item_id": line, "amount": REFUNDED[how % 5],
            "tax": "0.00", "quantity": "1", "sku": "SKU", "platform_refunded_at": document["platform_updated_at"],
        }]
        at = self.input()
        self.ledger.event(Input(at.node, at.seq, at.received, "acme"), "shop-1", "ORDER_UPDATE", json.dumps(document).encode())

    def order(self, which):
        orders = sorted(self.ledger.orders.values(), key=lambda order: order.key)
        return orders[which % len(orders)] if orders else None

    def on_order(self, which, actor=0, **command):
        order = self.order(which)
        if order is not None:
            self.command({**command, "order": order.order_id}, actor)

    def close(self, days, program, minimum, actor):
        self.command({
            "do": "payout close", "until": self.now - (0, 0, 0, 15, 40)[days % 5] * DAY,
            "programs": [[], [], ["spring"]][program % 3], "ignore_minimum": minimum % 2 == 0,
        }, actor)

    def move(self, verb, which, actor, _):
        if self.ledger.payouts:
            ids = sorted(self.ledger.payouts)
            verbs = ("sent", "settle", "failed", "returned", "void")
            self.command({"do": verbs[verb % 5], "ids": [ids[which % len(ids)]]}, actor)

    def approve(self, which, actor, withdraw, _):
        ids = sorted([*self.ledger.payouts, *self.ledger.pending_approvals])
        if ids:
            do = "withdraw" if withdraw % 5 == 0 else "approve"
            self.command({"do": do, "id": ids[which % len(ids)]}, actor)

    def by_hand(self, what, which, how, actor):
        order_commands = (
            {"do": "adjust", "amount": ("5.00", "-3.00", "12.34", "-40")[how % 4]},
            {"do": "hold"}, {"do": "release"}, {"do": "release", "of": "reject"}, {"do": "reject"},
            {"do": "attribute", "creator": CREATORS[how % 2], "program": PROGRAMS[which % 2], "replace": how % 3 > 0},
            {"do": "detach", "retry": how % 3 == 0},
            {"do": "anomaly ack", "kind": ("CURRENCY_CHANGED", "VERSION_IN_FUTURE", "CANCEL_NOT_LATER")[how % 3]},
            {"do": "order reset"},
        )
        self.on_order(which, actor, **order_commands[what % len(order_commands)])

    def money(self, what, which, how, actor):
        if what % 2 or not self.ledger.money:
            self.command({
                "do": "credit", "creator": CREATORS[which % 2], "program": "spring", "sale_at": START - 60 * DAY,
                "amount": ("12.00 USD", "-1.00 USD", "700 JPY")[how % 3], **({"order": f"o{how % 5}"} if how % 2 else {}),
            }, actor)
        else:
            ids = sorted(self.ledger.money)
            self.command({"do": "reverse", "id": ids[which % len(ids)]}, actor)

    def imports(self, what, which, how, actor):
        rows = [{"creator": CREATORS[which % 2], "program": PROGRAMS[how % 2], "code": CODES[what % 3]}]
        if how % 3:
            rows[0]["valid_from"] = START - 100 * DAY
        if what % 5 == 0:
            rows[0]["group"] = "gold"
        click = {"device": ("d1", "d2")[how % 2], "creator": CREATORS[which % 2], "program": PROGRAMS[what % 2],
                 "at": instant(ORDERED[how % 4]) - which % 3 * DAY}
        commands = (
            {"do": "creator import", "rows": rows},
            {"do": "click import", "rows": [click]},
            program_file(what, which, how),
            {"do": "creator remove", "creator": CREATORS[which % 2], "program": PROGRAMS[how % 2]},
            {"do": "hold", "creator": CREATORS[which % 2]},
            {"do": "release", "creator": CREATORS[which % 2]},
        )
        self.command(commands[(what + how) % len(commands)], actor)

    def undo(self, which, how, *_):
        causes = sorted({o.position.cause for o in self.ledger.orders.values() if o.live} - {""})
        if causes:
            self.command({"do": "detach", "cause": causes[which % len(causes)], "retry": how % 2 == 0})

    def period(self, *_):
        self.now += 20 * DAY
        month = time_text(self.now)[:7]
        self.command({"do": "period close", "until": instant(f"{month}-01T00:00:00Z"), "allow_late": True})

    def rest(self, days, *_):
        self.now += days % 30 * DAY

    # Invariants ---------------------------------------------------------------------------------------

    def check(self):
        assert audit(self.ledger) == []


def program_file(what, which, how):
    programs = [
        {"id": name, "clearing_days": (10, 0, 30)[which % 3], "default_rate": RATES[(what + n) % 5], "late_days": 366,
         "default_tiers": [{"from": "100.00 USD", "rate": "15%"}] if how % 2 else [],
         "max_per_order": ["20.00 USD"] if how % 3 == 1 else []}
        for n, name in enumerate(PROGRAMS)
    ]
    policy = {"account": "acme", **POLICIES[(which + how) % len(POLICIES)]}
    return {"do": "program apply", "programs": [program_row(row) for row in programs], "policies": [policy]}


STEPS = {
    "event": World.event, "refund": World.refund, "close": World.close, "move": World.move, "approve": World.approve,
    "by hand": World.by_hand, "money": World.money, "imports": World.imports, "undo": World.undo,
    "period": World.period, "rest": World.rest,
}
