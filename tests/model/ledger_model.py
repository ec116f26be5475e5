"""The ledger's rules in Python: order book, refunds, attribution, commission, journal, payouts.

Rule names (O1, R2, M3 ...) are those of the commission rules. Where the rules leave two readings,
an entry's `reasons` and an anomaly's counts hold every value that is right.
"""

import hashlib
import json
from dataclasses import dataclass, field
from fractions import Fraction

from model.catalog_model import Catalog
from model.values import DAY, digits, half_even, instant, scale, text, time_text

CODE, LANDED = "AFFILIATE_CODE", "LANDED"
LEVELS = ("variant_sku", "sku", "product", "collection", "brand", "tag")


@dataclass
class Rate:
    """A rate as it is frozen with a line (M3). currency None: a percentage."""

    value: Fraction
    currency: str | None
    base: str


@dataclass
class Row:
    """What the newest statement of one refund id says (R1)."""

    line: str
    amount: str
    tax: str
    version: int
    arrival: int


@dataclass
class Entry:
    seq: int | None
    shop: str
    order: str
    line: str | None
    creator: str
    program: str
    currency: str
    amount: Fraction
    reasons: frozenset


@dataclass
class Order:
    shop: str
    order_id: str
    payload: dict = None
    version: int = None
    anon_id: str | None = None
    cancelled_at: int | None = None
    last_applied: int = None
    digests: set = field(default_factory=set)
    rows: dict = field(default_factory=dict)
    creator: str | None = None
    program: str | None = None
    types: frozenset = frozenset()
    frozen: dict = field(default_factory=dict)
    booked: dict = field(default_factory=dict)  # (line, currency) -> Fraction
    due: dict = field(default_factory=dict)  # currency -> Fraction, the journal's sum
    paid: str | None = None  # as paid, in the currency of then

    @property
    def lines(self):
        return {line["line_item_id"]: line for line in self.payload["line_items"]}

    @property
    def ordered_at(self):
        return instant(self.payload["platform_ordered_at"])

    @property
    def currency(self):
        return self.payload["currency_code"]

    def standing(self):
        """line -> the one row that counts (R2)."""
        result = {}
        for row in self.rows.values():
            best = result.get(row.line)
            if best is None or (row.version, row.arrival) > (best.version, best.arrival):
                result[row.line] = row
        return result

    def refunded(self):
        return {line: Fraction(row.amount) for line, row in self.standing().items()}


class Ledger:
    def __init__(self):
        self.accounts = {}  # shop -> account
        self.orders = {}
        self.catalogs = {}
        self.refund_owner = {}  # (shop, refund id) -> (order id, line id)
        self.anomalies = {}  # (shop, order, kind) -> [first seq, events, occurrences]
        self._shown = {}
        self.journal = []
        self.programs = {}
        self.members = set()  # (creator, program)
        self.codes = {}  # (program, lower code) -> creator
        self.touches = {}  # anon -> [(time, import number, creator, program)]
        self.imports = 0
        self.payouts = []
        self.adjustments = {}  # (program, creator, currency) -> open sum
        self.counters = dict.fromkeys(("applied", "stale", "duplicate", "catalog"), 0)

    # Order events (O1 to O3, C1) ------------------------------------------------------------------

    def event(self, seq, shop, topic, body, received, anon_field="svc_anon_id"):
        payload = json.loads(body)
        order_id = payload["platform_order_id"]
        order = self.orders.get((shop, order_id))
        digest = hashlib.sha256(topic.encode() + b"\0" + body).digest()
        if order and digest in order.digests:
            self.counters["duplicate"] += 1
            return
        first = order is None
        if first:
            order = self.orders[(shop, order_id)] = Order(shop, order_id)
        order.digests.add(digest)
        version = instant(payload.get("platform_updated_at") or payload["platform_ordered_at"])
        stale = not first and version < order.version
        self.counters["stale" if stale else "applied"] += 1
        if version > received + DAY and not stale:
            self._anomaly(order, "VERSION_IN_FUTURE", seq)

        refunded_before = order.refunded()
        was_cancelled = order.cancelled_at is not None
        lines_before = set(order.frozen)
        if not first and topic == "ORDER_CANCEL":
            if not payload.get("platform_cancelled_at"):
                self._anomaly(order, "CANCEL_WITHOUT_CANCELLED_AT", seq)
            elif version <= order.version and instant(payload["platform_cancelled_at"]) != order.cancelled_at:
                self._anomaly(order, "CANCEL_NOT_LATER", seq)
        if not stale:
            self._replace(order, topic, payload, version, first, payload.get(anon_field))
            order.last_applied = seq
            if was_cancelled and order.cancelled_at is None:
                self._anomaly(order, "CANCELLATION_WITHDRAWN", seq)
        for statement in payload.get("refund_line_items") or []:
            self._refund(order, statement, version, seq)
        self._exceeding(order, seq)

        attributed = order.creator is None and self._attribute(order)
        self._freeze(order)
        changed = was_cancelled != (order.cancelled_at is not None)
        self._book(order, seq, attributed and "ACCRUAL", lines_before, changed, refunded_before)

    @staticmethod
    def _replace(order, topic, payload, version, first, anon_id):
        at = payload.get("platform_cancelled_at")
        cancelled_at = instant(at) if at else None
        if topic == "ORDER_CANCEL" and cancelled_at and not first and version == order.version:
            cancelled_at = order.cancelled_at  # C1: does not cancel, the rest of it applies
        order.payload, order.version = payload, version
        order.cancelled_at, order.anon_id = cancelled_at, anon_id

    def _anomaly(self, order, kind, seq, occurrences=1):
        """Counts the events that showed it; `count` may also be that of the single occurrences."""
        key = (order.shop, order.order_id, kind)
        row = self.anomalies.setdefault(key, [seq, 0, 0])
        if self._shown.get(key) != seq:
            row[1] += 1
        row[2] += occurrences
        self._shown[key] = seq

    # Refunds (R1 to R3) ---------------------------------------------------------------------------

    def _refund(self, order, statement, version, seq):
        refund_id, line = statement["refund_line_item_id"], statement["line_item_id"]
        owner = self.refund_owner.get((order.shop, refund_id))
        if owner not in (None, (order.order_id, line)):
            self._anomaly(order, "REFUND_ID_REUSED", seq)
            return
        if owner is None:
            self.refund_owner[(order.shop, refund_id)] = (order.order_id, line)
            if any(row.line == line for row in order.rows.values()):
                self._anomaly(order, "DUPLICATE_REFUND_ID", seq)
        row = order.rows.get(refund_id)
        if row is None or version >= row.version:
            order.rows[refund_id] = Row(line, statement["amount"], statement["tax"], version, seq)

    def _exceeding(self, order, seq):
        refunded = order.refunded()
        over = [
            line
            for line, item in order.lines.items()
            if refunded.get(line, 0) > Fraction(item["amount"])
        ]
        if over:
            self._anomaly(order, "REFUND_EXCEEDS_LINE", seq, len(over))

    # Attribution (A1, A2) -------------------------------------------------------------------------

    def _covering(self, shop):
        return [
            program
            for program in self.programs.values()
            if program["account"] == self.accounts[shop]
            and (not program.get("shops") or shop in program["shops"])
        ]

    def _candidates(self, order, program):
        """type -> [(rank, creator)] of one program, best first."""
        found = {CODE: [], LANDED: []}
        for place, discount in enumerate(order.payload.get("discounts") or []):
            creator = self.codes.get((program["id"], ascii_lower(discount["code"])))
            if creator:
                found[CODE].append((place, creator))
        window = program["window_days"] * DAY
        touches = [
            touch
            for touch in self.touches.get(order.anon_id, [])
            if touch[3] == program["id"]
            and (touch[2], program["id"]) in self.members
            and order.ordered_at - window <= touch[0] <= order.ordered_at
        ]
        if touches:
            latest = max(touches, key=lambda touch: touch[:2])
            found[LANDED].append((-latest[0], latest[2]))
        return {kind: found[kind] for kind in program["precedence"] if found[kind]}

    def _attribute(self, order):
        choices = []
        for program in self._covering(order.shop):
            candidates = self._candidates(order, program)
            if not candidates:
                continue
            kind = next(iter(candidates))
            rank, creator = candidates[kind][0]
            types = frozenset(k for k, all_of in candidates.items() if creator in [c for _, c in all_of])
            choices.append(((kind != CODE, rank, program["id"].encode()), creator, program, types))
        if not choices:
            return False
        _, order.creator, program, order.types = min(choices, key=lambda choice: choice[0])
        order.program = program["id"]
        return True

    # Commission (M1 to M3) ------------------------------------------------------------------------

    def _freeze(self, order):
        if order.creator is None:
            return
        for line_id, line in order.lines.items():
            if line_id not in order.frozen:
                order.frozen[line_id] = self._rate(order, line)

    def _rate(self, order, line):
        program = self.programs[order.program]
        product = self.catalogs.setdefault(order.shop, Catalog()).product_of(line) or {}
        values = {
            "variant_sku": [line.get("variant_sku")],
            "sku": [line["sku"]],
            "product": [product.get("platform_product_id")],
            "collection": product.get("collections") or [],
            "brand": [product.get("brand")],
            "tag": product.get("tags") or [],
        }
        matching = [
            rule["rate"]
            for level in LEVELS
            for rule in program.get("rule", [])
            if rule["match"] == level and rule["value"] in values[level]
        ]
        for rate in matching + [program["default_rate"]]:
            if rate.endswith("%"):
                return Rate(Fraction(rate[:-1]) / 100, None, program["base"])
            amount, currency = rate.split()
            if currency == order.currency:
                return Rate(Fraction(amount), currency, program["base"])
        return Rate(Fraction(0), None, program["base"])

    @staticmethod
    def commission(order, line, rate, refunded):
        amount, tax = Fraction(line["amount"]), Fraction(line["tax"])
        if refunded and refunded >= amount:
            return Fraction(0)
        left = 1 - (refunded / amount if refunded else 0)
        if rate.currency is None:
            base = amount if rate.base == "gross" else max(amount - tax, Fraction(0))
            exact = base * rate.value * left
        elif rate.currency == order.currency:
            exact = int(line["quantity"]) * rate.value * left
        else:
            exact = Fraction(0)
        return half_even(exact, digits(order.currency))

    # Journal (J1) ---------------------------------------------------------------------------------

    def _book(self, order, seq, attributed, lines_before, cancel_changed, refunded_before):
        if order.creator is None:
            return
        refunded = order.refunded()
        target = {}
        if order.cancelled_at is None:
            for line_id, line in order.lines.items():
                value = self.commission(order, line, order.frozen[line_id], refunded.get(line_id))
                target[(line_id, order.currency)] = value
        for key in sorted(set(target) | set(order.booked)):
            delta = target.get(key, Fraction(0)) - order.booked.get(key, Fraction(0))
            if delta == 0:
                continue
            line_id, currency = key
            if attributed:
                reasons = {attributed}
            elif line_id not in lines_before:
                reasons = {"ACCRUAL"}
            else:
                refund_changed = refunded.get(line_id, 0) != refunded_before.get(line_id, 0)
                reasons = self._causes(order, line_id, currency, cancel_changed, refund_changed)
            self._enter(order, seq, line_id, currency, delta, frozenset(reasons))
        order.booked = {key: value for key, value in target.items() if value}

    @staticmethod
    def _causes(order, line_id, currency, cancel_changed, refund_changed):
        cause = "CANCELLATION" if cancel_changed else "REFUND" if refund_changed else "UPDATE"
        if line_id not in order.lines or currency != order.currency:
            # A line that is gone and an old currency are updates by name, whatever else came.
            return {cause, "UPDATE"}
        return {cause}

    def _enter(self, order, seq, line_id, currency, delta, reasons):
        self.journal.append(
            Entry(
                seq, order.shop, order.order_id, line_id, order.creator, order.program, currency,
                delta, reasons,
            )
        )
        order.due[currency] = order.due.get(currency, Fraction(0)) + delta
        if order.paid is not None:
            key = (order.program, order.creator, currency)
            self.adjustments[key] = self.adjustments.get(key, Fraction(0)) + delta

    # Commands -------------------------------------------------------------------------------------

    def products(self, shop, topic, products):
        self.counters["catalog"] += 1
        self.catalogs.setdefault(shop, Catalog()).apply(topic, products)

    def program_apply(self, programs):
        for program in programs:
            self.programs[program["id"]] = program
        self._retry()

    def creator_import(self, rows):
        for creator, program, code in rows:
            self.members.add((creator, program))
            if code:
                self.codes[(program, ascii_lower(code))] = creator
        self._retry()

    def creator_remove(self, creator, program, code=None):
        for key in [k for k, owner in self.codes.items() if k[0] == program and owner == creator]:
            if code is None or key[1] == ascii_lower(code):
                del self.codes[key]
        if code is None:
            self.members.discard((creator, program))

    def touch_import(self, rows):
        for anon_id, creator, program, at in rows:
            self.imports += 1
            self.touches.setdefault(anon_id, []).append((at, self.imports, creator, program))
        self._retry()

    def _retry(self):
        """A2: orders without a creator are tried again after every import."""
        for order in self.orders.values():
            if order.creator is None and self._attribute(order):
                self._freeze(order)
                self._book(order, order.last_applied, "ATTRIBUTION", set(), False, {})

    def adjust(self, shop, order_id, amount):
        order = self.orders[(shop, order_id)]
        self._enter(order, None, None, order.currency, Fraction(amount), frozenset({"MANUAL"}))

    # Payouts (P1) ---------------------------------------------------------------------------------

    def _hold_end(self, order):
        return order.ordered_at + self.programs[order.program]["hold_days"] * DAY

    def _earners(self):
        return [order for order in self.orders.values() if order.creator is not None]

    def payout_close(self, program, until):
        """An order that has nothing due is not paid, so that it may still earn later."""
        taken = {}
        for order in self._earners():
            open_ = order.paid is None and order.due.get(order.currency)
            if order.program == program and open_ and self._hold_end(order) <= until:
                taken.setdefault((order.creator, order.currency), []).append(order)
        open_keys = {key[1:] for key, value in self.adjustments.items() if key[0] == program and value}
        for creator, currency in sorted(set(taken) | open_keys):
            orders = taken.get((creator, currency), [])
            key = (program, creator, currency)
            amount = sum((order.due.get(currency, Fraction(0)) for order in orders), Fraction(0))
            amount += self.adjustments.get(key, Fraction(0))
            if amount <= 0:
                continue
            for order in orders:
                order.paid = text(order.due.get(currency, Fraction(0)), digits(currency))
            self.adjustments.pop(key, None)
            self.payouts.append((program, creator, currency, amount, until))

    # Reports --------------------------------------------------------------------------------------

    def report_orders(self):
        rows = []
        for order in self.orders.values():
            places = digits(order.currency)
            standing = list(order.standing().values())
            due = order.due.get(order.currency, Fraction(0))
            rows.append({
                "order_id": order.order_id,
                "shop_id": order.shop,
                "account_id": self.accounts[order.shop],
                "creator_id": order.creator,
                "program_id": order.program,
                "attribution_types": sorted(order.types),
                "commission_amount": text(due, places) if order.paid is None else order.paid,
                "amount": order.payload["amount"],
                "tax": order.payload["tax"],
                "shipping": order.payload["shipping"],
                "refund_amount": added(row.amount for row in standing),
                "refund_tax": added(row.tax for row in standing),
                "currency": order.currency,
                "cancelled_at": time_text(order.cancelled_at) if order.cancelled_at is not None else None,
                "ordered_at": time_text(order.ordered_at),
                "last_updated_at": time_text(order.version),
            })
        return sorted(rows, key=lambda row: (row["shop_id"].encode(), row["order_id"].encode()))

    def report_balances(self, now):
        sums = {}

        def add(program, creator, currency, column, value):
            row = sums.setdefault((program, creator, currency), dict.fromkeys(("pending", "payable", "paid"), Fraction(0)))
            row[column] += value

        for order in self._earners():
            if order.paid is None:
                column = "pending" if self._hold_end(order) > now else "payable"
                for currency, value in order.due.items():
                    add(order.program, order.creator, currency, column, value)
        for key, value in self.adjustments.items():
            add(*key, "payable", value)
        for program, creator, currency, amount, _ in self.payouts:
            add(program, creator, currency, "paid", amount)
        for entry in self.journal:
            add(entry.program, entry.creator, entry.currency, "pending", 0)
        return {
            key: {
                **{column: text(value, digits(key[2])) for column, value in row.items()},
                "total": text(sum(row.values(), Fraction(0)), digits(key[2])),
            }
            for key, row in sums.items()
        }


def ascii_lower(code):
    return "".join(c.lower() if c.isascii() else c for c in code)


def added(amounts):
    amounts = list(amounts)
    places = max((scale(amount) for amount in amounts), default=0)
    return text(sum((Fraction(amount) for amount in amounts), Fraction(0)), places)
