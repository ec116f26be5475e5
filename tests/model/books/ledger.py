"""The ledger: takes one input after the other, keeps the books, answers.

Independent of the product: nothing here is shared with it but the words of the rules.
"""

import copy
import json
from dataclasses import replace
from fractions import Fraction

from model.books import commands, events, imports, links, payouts, plausibility, rates
from model.books.journal import PROOF, Journal
from model.books.state import Nothing, PendingApproval, Refused, Result
from model.catalog_model import Catalog

REGISTRY = {"acme": (1, {"shop-1": 1, "shop-2": 2}), "other": (2, {"shop-9": 9})}


class Ledger:
    def __init__(self, registry=None):
        self.registry = REGISTRY if registry is None else registry
        self.shops = {shop: account for account, (_, shops) in self.registry.items() for shop in shops}
        self.journal = Journal()
        self.orders = {}
        self.programs = {}
        self.policies = {}  # account -> policy as in the file
        self.policy_setters = {}  # account -> who set it last
        self.profiles = {}  # (account, creator) -> {name, payee}
        self.uses = {}  # (account, kind, creator, currency, id) -> (id, accounting date, amount): K4
        self.payee_changes = {}  # (account, creator, command id) -> the first and the last reference
        self.payees_changed = {}  # (account, creator) -> receipt of the last change of the payee
        self.aliases = {}  # (account, later id of a creator) -> the first one, which entries have
        self.called = {}  # (account, first id) -> the newest, which reports show
        self.clicks = {}  # device -> [Click]
        self.click_number = 0
        self.links = {}  # link -> Link
        self.click_arrivals = []  # (device, Click), of those that were not stored already
        self.catalogs = {}
        self.deletions = {}  # (shop, order) that is unknown -> (version, cancelled at, receipt, digest)
        self.refund_owner = {}  # (shop, refund id) -> (order, line)
        self.arrivals = 0
        self.volumes = {}  # (program, creator, month, currency) -> net sales
        self.payouts = {}  # id -> Payout
        self.runs = []  # (run, account, until, programs) of each close; no programs: all
        self.credits = {}  # command id -> Credit
        self.money = {}  # command or posting id of adjust, credit, opening, write-off, reverse -> what it posted
        self.openings = {}  # (account, program, creator, currency) -> posting id of the opening balance
        self.reversals = {}  # command id -> command id of its reversal
        self.held_creators = set()  # (account, creator, program or "")
        self.keys = {}  # (account, key) -> (content, Result)
        self.pending_approvals = {}  # command id -> PendingApproval
        self.periods = {}  # account -> [Period]
        self.last_receipt = {}  # node -> receipt of its last applied input
        self.shown = set()
        self.begun = []  # kinds of anomalies that began to show in the order at hand, or block again
        self.memos = []
        self.months = []  # (input, account, (program, creator, month)) whose orders may have another tier
        self.log = []  # what was put in, for a rebuild

    # Inputs -----------------------------------------------------------------------------------------

    def event(self, at, shop, topic, body, source=None):
        self._begin(at, ("event", at, shop, topic, body, source))
        outcome = events.apply(self, at, shop, topic, body, source)
        self._end(at)
        return Result(outcome)

    def products(self, at, shop, topic, records):
        self._begin(at, ("products", at, shop, topic, records))
        self.catalog(shop).apply(topic, records)
        self._end(at)
        return Result("applied")

    def post_clicks(self, at, rows):
        self._begin(at, ("post_clicks", at, copy.deepcopy(rows)))
        at = replace(at, command_id=at.own_id)
        imports.post_clicks(self, at, rows)
        self._end(at)
        return Result("applied")

    def follow_links(self, at, rows):
        self._begin(at, ("follow_links", at, copy.deepcopy(rows)))
        links.follow(self, replace(at, command_id=at.own_id), rows)
        self._end(at)
        return Result("applied")

    def command(self, at, command):
        """`command` is a JSON object: {"do": ..., its arguments}."""
        self._begin(at, ("command", at, copy.deepcopy(command)))
        at = replace(at, command_id=at.own_id)
        result = self._answer(at, command)
        self._end(at)
        return result

    def _answer(self, at, command):
        content = json.dumps([command, at.reason], sort_keys=True)
        if command["do"] == "forget":  # what was forgotten is compared with nothing
            content += at.command_id
        accounts = commands.accounts_of(self, at, command)
        for account in accounts if at.key else ():
            known = self.keys.get((account, at.key))
            if known and known[0] != content:
                return Result("refused", f"key {at.key} was used by {known[1].command_id} with other content")
            if known:
                return commands.answer_again(self, known[1])
        before = len(self.journal.entries)
        try:
            result = commands.run(self, at, command)
        except Refused as refused:
            assert len(self.journal.entries) == before and not self.memos, command
            return Result("refused", str(refused), at.command_id)
        except Nothing as nothing:
            assert len(self.journal.entries) == before and not self.memos, command
            result = Result("nothing", str(nothing))
        result.command_id = at.command_id
        for account in accounts if at.key else ():
            self.keys[(account, at.key)] = (content, result)
        return result

    def _begin(self, at, record):
        self.log.append(record)
        self.shown.clear()
        self.memos = []

    def _end(self, at):
        self.finish()
        self.last_receipt[at.node] = at.received

    def finish(self):
        self.append_memos()
        months, self.months = self.months, []
        for at, account, month in months:
            self.rate_month(at, account, *month)

    def rate_month(self, at, account, program, creator, month):
        """M4: the orders of a creator's month get the tier of its volume, by (platform_ordered_at, shop, order id)."""
        numbers = self.registry[account][1]
        orders = [
            order for order in self.orders.values()
            if order.account == account and order.live == (program, creator) and rates.month_of(order.ordered_at) == month
        ]
        for order in sorted(orders, key=lambda order: (order.ordered_at, numbers[order.shop], order.order_id.encode())):
            volume = self.volumes.get((program, creator, month, order.currency), Fraction(0))
            if rates.rate_month(order.position, order.currency, volume):
                now = replace(at, reason=rates.volume_words(order.currency, volume, month))
                events.post(self, now, order, reason="TIER")
                plausibility.judge(self, now, order, event=False)
                self.append_memos()

    def append_memos(self):
        for memo in self.memos:
            self.journal.append(**memo)
        self.memos = []

    def rebuilt(self):
        """A new ledger from the same inputs."""
        ledger = Ledger(self.registry)
        for kind, at, *rest in self.log:
            getattr(ledger, kind)(at, *copy.deepcopy(rest))
        return ledger

    # Entries ----------------------------------------------------------------------------------------

    def accounting_date(self, at, account):
        return max(at.received, self.closed_until(account))

    def closed_until(self, account):
        periods = self.periods.get(account)
        return periods[-1].until if periods else -(10**30)

    def _fields(self, at, account, shop):
        number, shops = self.registry[account]
        return {
            "node": at.node, "seq": at.seq, "command_id": at.command_id, "account": account,
            "account_number": number, "shop": shop, "shop_number": shops.get(shop, 0),
            "recorded_at": at.received, "accounting_date": self.accounting_date(at, account),
            "note": at.reason, "actor": at.actor,
        }

    def posting(self, at, unit, line, currency, amount, reason, shop="", order="", command_id=None):
        """expense -> owed, of a position or credit. Its memo entries are numbered after its postings, and
        before those of the next."""
        own = (("", ""), (unit.program, unit.creator))
        later = [m for m in self.memos if (m["shop"], m["order"]) == (shop, order) and (m["program"], m["creator"]) in own]
        if len(later) < len(self.memos):
            self.memos = [m for m in self.memos if m not in later]
            self.append_memos()
            self.memos = later
        late = at.received < self.closed_until(unit.account)
        entry = self.journal.append(
            **{**self._fields(at, unit.account, shop), "command_id": command_id or at.command_id},
            order=order, line=line, program=unit.program,
            creator=unit.creator, currency=currency, amount=amount, reason=reason, payout="",
            refers_to=unit.first_entry.get(line, 0) if late else 0,
        )
        unit.first_entry.setdefault(line, entry.number)
        unit.postings.append((entry.accounting_date, line, currency, amount))
        add(unit.accrued, (line, currency), amount)

    def change_payee(self, at, account, creator, payee):
        """controls K1: the memo entry has the digests of both references, so that a forget changes no entry."""
        profile = self.profiles[(account, creator)]
        old = profile.get("payee") or ""
        if payee != old:
            digests = [payouts.payee_digest(reference).hex() for reference in (old, payee)]
            self.memo(at, "PAYEE_CHANGED", account=account, creator=creator, line=" ".join(digests))
            self.payees_changed[(account, creator)] = at.received
            key = (account, creator, at.command_id)
            first = self.payee_changes[key].split(" -> ")[0] if key in self.payee_changes else old
            self.payee_changes[key] = f"{first} -> {payee}"
            profile["payee"] = payee

    def wait(self, at, command, account, amount=None, currency=None, live=None):
        """H3, K3: the memo entry PENDING proves the command; the model does not know the bytes of its body."""
        self.pending_approvals[at.command_id] = PendingApproval(
            at.command_id, command, replace(at, account=account), amount, currency, live)
        self.memo(at, "PENDING", account=account, line=PROOF)
        return Result("pending", f"{at.command_id} waits for another actor's approve")

    def payout_posting(self, at, payout, program, amount, reason):
        self.journal.append(
            **self._fields(at, payout.account, ""), order="", line="", program=program,
            creator=payout.creator, currency=payout.currency, amount=amount, reason=reason,
            payout=payout.payout_id, refers_to=0,
        )

    def memo(self, at, name, account=None, order=None, line="", program="", creator="", payout=""):
        shop, order_id = (order.shop, order.order_id) if order else ("", "")
        self.memos.append({
            **self._fields(at, account or order.account, shop), "order": order_id, "line": line,
            "program": program, "creator": creator, "currency": "", "amount": None, "reason": name,
            "payout": payout, "refers_to": 0,
        })

    # Parts ------------------------------------------------------------------------------------------

    def catalog(self, shop):
        return self.catalogs.setdefault(shop, Catalog())

    def policy(self, account):
        return self.policies.get(account, {})

    def creator_id(self, account, given):
        return self.aliases.get((account, given), given)

    def creator_name(self, account, first):
        return self.called.get((account, first), first)

    def reversed_by(self, command_id):
        return self.reversals.get(command_id)

    def units(self, account):
        """Positions by order and key, then credits: everything that payouts take from."""
        for order in sorted(self.orders.values(), key=lambda order: order.key):
            if order.account == account:
                for key in sorted(order.positions, key=lambda key: (key[0].encode(), key[1].encode())):
                    yield order, order.positions[key]
        for credit_id in sorted(self.credits):
            if self.credits[credit_id].account == account:
                yield None, self.credits[credit_id]

    def clears_at(self, order, unit):
        hold = self.programs[unit.program].file["clearing_days"] * 86400 * 10**9
        return (unit.sale_at if order is None else order.ordered_at) + hold

    def is_cleared(self, order, unit, until):
        return unit.active > 0 or self.clears_at(order, unit) <= until

    def count_volume(self, at, order):
        """Keeps the tier volumes (M4): what the order adds now in place of what it added."""
        before, after = order.volume, None
        if order.live:
            after = ((*order.live, rates.month_of(order.ordered_at), order.currency), rates.net_sales(order))
        order.volume = after
        if before and after and before[0] == after[0]:
            self.move_volume(at, order, after[0], after[1] - before[1])
            return
        if before:
            self.move_volume(at, order, before[0], -before[1])
        if after:
            comes = before is not None and before[0][:2] == after[0][:2]
            self.move_volume(at, order, *after, comes=comes)

    def move_volume(self, at, order, key, amount, comes=False):
        """`comes`: an order of another month or currency of the creator, with the tiers that it had there."""
        was = self.volumes.get(key, Fraction(0))
        if amount:
            add(self.volumes, key, amount)
        program, creator, month, currency = key
        reached = [
            sum(of == currency and start <= volume for start, of in self.programs[program].bounds)
            for volume in (was, was + amount)
        ]
        if self.programs[program].by_month and (comes or reached[0] != reached[1]) and rates.is_open(self, order.account, month):
            self.months.append((at, order.account, (program, creator, month)))


def add(sums, key, amount):
    sums[key] = sums.get(key, Fraction(0)) + amount
    if sums[key] == 0:
        del sums[key]
