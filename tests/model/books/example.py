"""Runs one worked example (tests/examples/README.md) on the model."""

import json
from fractions import Fraction

from model.books import imports, payouts, periods, reports
from model.books.audit import audit
from model.books.example_inputs import VERBS, deletion, payload
from model.books.journal import EXPENSE, PAYOUT
from model.books.ledger import Ledger
from model.books.state import Input, Result
from model.values import digits, instant, text, time_text

NODE = "11111111-2222-3333-4444-555555555555"
START = "2026-02-01T00:00:00Z"
LETTER = {EXPENSE: "E", "owed": "O", PAYOUT: "Q", "paid": "D"}


def money(amount, currency):
    return f"{text(amount, digits(currency))} {currency}"


class Example:
    def __init__(self, example):
        self.example = example
        self.ledger = Ledger()
        self.strict = "journal" not in example["expect"]
        self.nodes = example.get("nodes", {"one": NODE})
        self.seqs = dict.fromkeys(self.nodes, 0)
        self.now = instant(example.get("start", START))
        self.events = {}  # (node, seq) -> number of the order event in the file
        self.last_event = {}  # order -> number of its last applied event
        self.names = {}  # name of a step -> command id
        self.digests = {}  # name of a preview -> digest
        self.payouts = {}  # P1 -> id
        self.journal = []

    def run(self):
        self.take({"programs": self.example["programs"], "policy": self.example.get("policy")})
        self.take({"creators": self.example["creators"]})
        for number, step in enumerate(self.example["steps"], 1):
            if "received" in step:
                self.now = instant(step["received"])
            else:
                self.now += 10**9
            self.where = f"step {number}: {json.dumps(step)}"
            self.step(step)
            self.expect(step.get("then", {}))
        self.where = "at the end"
        self.expect({"anomalies": [], "payouts": {}, **self.example["expect"]})

    # Steps --------------------------------------------------------------------------------------------

    def step(self, step):
        entries = self.ledger.journal.entries
        before = len(entries)
        result = self.take(step)
        new = entries[before:]
        if result is None:
            return
        refused = step.get("refused")
        default = "refused" if refused else "applied" if {"order", "products", "posted", "followed"} & set(step) else "done"
        if "delete_products" in step:
            default = "applied"
        self.equal("becomes", result.outcome, step.get("becomes", default), result.text)
        words = [refused] if isinstance(refused, str) else [*(refused or []), *step.get("says", [])]
        for word in words:
            assert self.full(word) in result.text, f"{self.where}: {word!r} is not in {result.text!r}"
        if isinstance(refused, str):
            self.equal("refused", result.text, refused)
        if refused:
            self.equal("entries", new, [])
        self.note_journal(new)
        self.name_payouts(result)
        postings = [entry for entry in new if not entry.is_memo]
        if self.strict:
            self.same_rows("postings", [self.posting(e) for e in postings], step.get("postings", []))
        if "memos" in step:
            self.same_rows("memos", [self.memo(e) for e in new if e.is_memo], step["memos"])
        if "close" in step or "preview" in step:
            skipped = [[self.ledger.creator_name(self.account(step), creator), money(amount, of), why] for creator, of, amount, why in result.skipped]
            self.same_rows("skipped", skipped, step.get("skipped", []))

    def input(self, step):
        node = step.get("node", "one")
        self.seqs[node] += 1
        return Input(
            self.nodes[node], self.seqs[node], self.now, self.account(step), step.get("actor", "finance"),
            step.get("key"), step.get("reason", "as agreed"),
        )

    @staticmethod
    def account(step):
        shop = step.get("order", {}).get("shop") if isinstance(step.get("order"), dict) else None
        return step.get("account", "other" if shop == "shop-9" else "acme")

    def take(self, step):
        """The step's result; None: it only looks."""
        if "edit" in step:
            return self.edit(*step["edit"], step["doctor"])
        if "order" in step:
            return self.event(step)
        if "adjust" in step:
            step = {"reason": step["adjust"][2], **step}
        shop = step.get("shop", "shop-1")
        for name, topic in (("products", "PRODUCT_UPSERT"), ("delete_products", "PRODUCT_DELETE")):
            if name in step:
                return self.ledger.products(self.input(step), shop, topic, step[name])
        if "posted" in step:
            return self.posted(step)
        if "followed" in step:
            return self.followed(step)
        command = self.command(step)
        if "preview" in step:
            return self.preview(step, command)
        if step.get("dry_run"):
            return self.dry_run(step, command)
        at = self.input(step)
        if "name" in step:
            self.names[step["name"]] = at.own_id
        return self.ledger.command(at, command)

    def event(self, step):
        at = self.input(step)
        self.events[(at.node, at.seq)] = len(self.events) + 1
        order = step["order"]
        shop = order.get("shop", "shop-1")
        at = Input(at.node, at.seq, at.received, at.account)
        body = deletion(order) if step["topic"] == "ORDER_DELETE" else payload(order, step.get("anon"))
        result = self.ledger.event(at, shop, step["topic"], json.dumps(body).encode(), step.get("source"))
        if result.outcome == "applied":
            self.last_event[(shop, order["id"])] = len(self.events)
        return result

    def posted(self, step):
        names = ("device", "creator", "program", "at", "link")
        rows = [dict(zip(names, row)) for row in step["posted"]]
        at = self.input(step)
        at = Input(at.node, at.seq, at.received, at.account)
        if "name" in step:
            self.names[step["name"]] = at.own_id
        return self.ledger.post_clicks(at, [{**row, "at": instant(row["at"])} for row in rows])

    def followed(self, step):
        at = self.input(step)
        at = Input(at.node, at.seq, at.received, at.account)
        if "name" in step:
            self.names[step["name"]] = at.own_id
        rows = [{"device": device, "at": instant(when), "link": link} for device, when, link in step["followed"]]
        return self.ledger.follow_links(at, rows)

    def command(self, step):
        for verb, make in VERBS.items():
            if verb in step:
                return make(self, step)
        raise AssertionError(f"{self.where}: no such step")

    def preview(self, step, command):
        """The same plan over the ledger as it is; it changes nothing."""
        at = Input(self.nodes["one"], 0, self.now, self.account(step), "finance")
        paid, skipped = payouts.plan(self.ledger, at, command)
        self.digests[step.get("name")] = payouts.run_digest(paid)
        return Result("done", skipped=skipped)

    def dry_run(self, step, command):
        before = len(self.ledger.journal.entries)
        at = self.input(step)
        self.seqs[step.get("node", "one")] -= 1
        result, rows = reports.dry_run(self.ledger, at, command)
        printed = [
            [f"{creator}@{program}", orders, money(then, of), money(now, of), money(now - then, of)]
            for (program, creator, of), (orders, then, now) in sorted(rows.items())
        ]
        self.same_rows("printed", printed, step["printed"])
        self.equal("entries", len(self.ledger.journal.entries), before)
        return result

    def edit(self, what, which, figure, letter):
        """Changes a stored figure, looks, puts it back."""
        place, name = EDITS[what](self, which)
        whole = place[name] if isinstance(place, (dict, list)) else getattr(place, name)
        self.equal("audit", audit(self.ledger), [])
        changed = Fraction(figure)
        if what == "item":
            changed = type(whole)(**{**whole.__dict__, "amount": changed})
        self.put(place, name, changed)
        letters = {found for found, _ in audit(self.ledger)}
        self.put(place, name, whole)
        assert letter in letters, f"{self.where}: the audit names {letters}"
        self.equal("audit", audit(self.ledger), [])

    @staticmethod
    def put(place, name, value):
        if isinstance(place, (dict, list)):
            place[name] = value
        else:
            setattr(place, name, value)

    # Rows -----------------------------------------------------------------------------------------------

    def note_journal(self, entries):
        """Rows of the files of the time before: what goes into `owed` but for payouts."""
        for entry in entries:
            if entry.is_memo or entry.payout:
                continue
            number = self.events.get((entry.node, entry.seq))
            if entry.reason == "ATTRIBUTION" and number is None:
                number = self.last_event[(entry.shop, entry.order)]
            row = [number or "adjust", f"{entry.order}/{entry.line}", money(entry.amount, entry.currency), entry.reason]
            self.journal.append(row)

    def name_payouts(self, result):
        for payout_id in result.payouts if result.outcome == "done" else []:
            self.payouts[f"P{len(self.payouts) + 1}"] = payout_id

    def payout_name(self, payout_id):
        return next(name for name, known in self.payouts.items() if known == payout_id)

    def full(self, word):
        return self.payouts.get(word) or self.names.get(word) or word

    def posting(self, entry):
        what = f"{entry.order}/{entry.line}" if entry.order else ""
        if entry.payout:
            what = self.payout_name(entry.payout)
        source, target = (LETTER[ledger_account.split(":")[0]] for ledger_account in entry.accounts)
        more = {
            "accounting_date": time_text(entry.accounting_date), "refers_to": entry.refers_to or None,
        }
        who = f"{entry.creator}@{entry.program}"
        return [source + target, who, what, money(entry.amount, entry.currency), entry.reason, more]

    def memo(self, entry):
        about = entry.order or (entry.payout and self.payout_name(entry.payout)) or entry.creator
        return [entry.reason, about, entry.actor]

    # Expectations -----------------------------------------------------------------------------------------

    def equal(self, name, found, wanted, more=""):
        assert found == wanted, f"{self.where}\n{name}: is {found}, should be {wanted} {more}"

    def same_rows(self, name, found, wanted):
        """Any order; a wanted row may be shorter than the found one."""
        left = list(found)
        for row in wanted:
            match = next((other for other in left if other[: len(row)] == row), None)
            assert match is not None, f"{self.where}\n{name}: {row} is missing in {left}"
            left.remove(match)
        assert not left, f"{self.where}\n{name}: {left} should not be"

    def expect(self, expect):
        for name, wanted in expect.items():
            getattr(self, f"expect_{name}")(wanted)

    def expect_orders(self, wanted):
        for order_id, members in wanted.items():
            found = self.order_row(order_id)
            for name, value in members.items():
                self.equal(f"{order_id}.{name}", found[name], value)
        if not self.strict:
            self.equal("orders", len(self.ledger.orders), len(wanted))

    def order_row(self, order_id):
        order = self.ledger.orders[("shop-1", order_id)]
        rows = list(order.standing_rows().values())
        position = order.position
        in_payout, paid = (sums_text(sums) for sums in reports.allocated_by_state(self.ledger, order))
        return {
            "creator": position and self.ledger.creator_name(order.account, position.creator),
            "program": position and position.program,
            "types": list(position.types) if position else [],
            "commission": money(*reports.commission(self.ledger, order)),
            "refund": reports.added(rows, "amount"),
            "refund_tax": reports.added(rows, "tax"),
            "cancelled": order.cancelled_at is not None,
            "status": reports.status(self.ledger, order, self.now),
            "blocked_by": reports.blocked_by(self.ledger, order),
            "in_payout": in_payout,
            "paid": paid,
            "volume": position and position.volume and money(position.volume[1], position.volume[0]),
            "device": order.device,
            "device_version": order.device_version and time_text(order.device_version),
        }

    def expect_journal(self, wanted):
        self.same_rows("journal", self.journal, wanted)

    def expect_anomalies(self, wanted):
        found = [
            [kind, order.order_id, self.events.get((self.nodes["one"], anomaly.first), 0), anomaly.count]
            for order in self.ledger.orders.values()
            for kind, anomaly in order.anomalies.items()
        ]
        self.same_rows("anomalies", found, wanted)

    def expect_click_days(self, wanted):
        days = imports.click_days(self.ledger)
        found = [[*key, *map(str, row)] for key, row in sorted(days.items())]
        self.equal("click_days", found, wanted)

    def expect_payouts(self, wanted):
        if isinstance(wanted, list):
            found = [self.old_payout(payout) for payout in self.ledger.payouts.values()]
            self.equal("payouts", found, wanted)
            return
        self.equal("payouts", sorted(self.payouts), sorted(wanted))
        for name, members in wanted.items():
            payout = self.ledger.payouts[self.payouts[name]]
            for member, value in members.items():
                found = self.payout_member(payout, member)
                if member == "items":
                    self.same_rows(f"{name}.items", found, value)
                else:
                    self.equal(f"{name}.{member}", found, value)

    def payout_member(self, payout, member):
        if member == "creator":
            return self.ledger.creator_name(payout.account, payout.creator)
        return PAYOUT_MEMBERS[member](payout)

    @staticmethod
    def old_payout(payout):
        orders = {(item.shop, item.order) for item in payout.items}
        return [payout.creator, payout.items[0].program, money(payout.amount, payout.currency), len(orders)]

    def expect_balances(self, wanted):
        for balances in wanted:
            at = instant(balances["at"]) if "at" in balances else self.now
            found = {
                (program, self.ledger.creator_name(account, creator), currency): row
                for account in self.ledger.registry
                for (program, creator, currency), row in reports.balances(self.ledger, account, at).items()
            }
            rows = {(row["program"], row["creator"], row["currency"]): row for row in balances["rows"]}
            self.equal("balances of", sorted(found), sorted(rows))
            for key, row in rows.items():
                for column in set(row) & set(reports.COLUMNS):
                    self.equal(f"{key} {column}", text(found[key][column], digits(key[2])), row[column])

    def expect_statements(self, wanted):
        for row in wanted:
            found = periods.statement(self.ledger, "acme", self.ledger.creator_id("acme", row["creator"]), row["month"])
            self.equal("status", found["status"], row["status"])
            self.equal("rows", len(found["rows"]), row["rows"])
            sums = [
                {"program": p, "currency": c, **{n: text(v, digits(c)) for n, v in figures.items()}}
                for (p, c), figures in found["sums"].items()
            ]
            self.equal("sums", sums, row["sums"])

    def expect_codes(self, wanted):
        found = []
        for program in self.ledger.programs.values():
            for code, rows in program.codes.items():
                found += [
                    [code.upper(), f"{r.creator}@{program.program_id}", time_text(r.valid_from),
                     r.valid_until and time_text(r.valid_until)]
                    for r in rows
                ]
        for row in wanted:
            assert row in found, f"{self.where}\ncodes: {row} is not in {found}"

    def expect_ids(self, wanted):
        self.equal("ids", self.payouts, wanted)


def sums_text(sums):
    return ", ".join(money(sums[currency], currency) for currency in sorted(sums) if sums[currency])


def item_name(item):
    line = "" if item.kind == "CREDIT" else item.line
    return f"{item.order}/{line}" if item.order else ""


PAYOUT_MEMBERS = {
    "amount": lambda payout: money(payout.amount, payout.currency),
    "state": lambda payout: payout.state,
    "items": lambda payout: [
        [i.program, item_name(i), i.kind, text(i.amount, digits(payout.currency))]
        for i in payout.items
    ],
}


def edit_item(example, which):
    name, what = which.split(" ")
    items = example.ledger.payouts[example.payouts[name]].items
    return items, next(i for i, item in enumerate(items) if f"{item.order}/{item.line}" == what)


def edit_balance(example, which):
    who, currency, ledger_account = which.split(" ")
    creator, program = who.split("@")
    return example.ledger.journal.sums[("acme", program, creator, currency)], ledger_account


def edit_allocated(example, which):
    order_id, who = which.split(" ")
    creator, program = who.split("@")
    taken = example.ledger.orders[("shop-1", order_id)].positions[(program, creator)].allocated
    return taken, next(iter(taken))


EDITS = {
    "payout": lambda example, which: (example.ledger.payouts[example.payouts[which]], "amount"),
    "item": edit_item,
    "balance": edit_balance,
    "allocated": edit_allocated,
}
