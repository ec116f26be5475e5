"""The state of the ledger: orders, positions, payouts, programs, codes, policies."""

import datetime
import hashlib
from dataclasses import dataclass, field
from fractions import Fraction

from model.values import DAY, instant

ACTIVE = ("CLOSED", "APPROVED", "SENT", "PAID")
ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


class Refused(Exception):
    """The sentence that the person who asked gets. Nothing was changed."""


class Nothing(Exception):
    """The requested state exists already: reported with exit 0, and nothing changes."""


@dataclass
class Result:
    outcome: str  # applied, stale, duplicate; done, nothing, repeated, pending, refused
    text: str = ""
    command_id: str = ""
    payouts: list = field(default_factory=list)  # ids that it made
    skipped: list = field(default_factory=list)  # (creator, currency, amount, why)
    digest: str = ""
    printed: list = field(default_factory=list)  # rows of a dry run


@dataclass(frozen=True)
class Input:
    """Where, when and by whom something came. `seq` counts from 1 on its node."""

    node: str
    seq: int
    received: int
    account: str = ""
    actor: str = ""
    key: str | None = None
    reason: str = ""
    command_id: str = ""  # of the command that asked; empty: an order event

    @property
    def own_id(self):
        return command_id(self.node, self.seq, self.received)


@dataclass
class Link:
    """Account, program and creator never change; a removed id is never used again."""

    account: str
    program: str
    creator: str
    to: str
    deep: bool
    state: str = "active"


def command_id(node, seq, received):
    digest = hashlib.sha256(node.encode() + seq.to_bytes(8, "big")).digest()
    bits = int.from_bytes(digest[:4], "big") >> 2
    random = "".join(ALPHABET[bits >> shift & 31] for shift in range(25, -1, -5))
    return f"C{compact_time(received)}-{random}"


def compact_time(received):
    days, rest = divmod(received // 10**9, 86400)
    date = datetime.date.fromordinal(days + datetime.date(1970, 1, 1).toordinal())
    return f"{date:%y%m%d}{rest // 3600:02}{rest // 60 % 60:02}{rest % 60:02}"


@dataclass(frozen=True)
class Rate:
    """currency None: a percentage as a fraction. per_order: shared by the lines of its rule (M4)."""

    value: Fraction
    currency: str | None = None
    per_order: bool = False


@dataclass(frozen=True)
class FrozenLine:
    """The frozen values of a line (M3). `rule` names the rule over versions: its item and conditions."""

    rate: Rate
    rule: tuple
    base: str
    factor: Fraction = Fraction(1)
    stated: str = ""  # the rule's own rate
    tiers: tuple = ()  # (from, rate), as the file has them
    tier: int | None = None  # place of the tier that gave the rate
    by_month: bool = False  # the tiers apply to the month


@dataclass
class Unit:
    """Accrued and allocated amounts of a position or of a credit; payouts allocate from both."""

    account: str
    program: str
    creator: str
    postings: list = field(default_factory=list)  # (accounting date, line, currency, amount)
    accrued: dict = field(default_factory=dict)  # (line, currency) -> Fraction; line "" is manual
    allocated: dict = field(default_factory=dict)  # (line, currency) -> Fraction, active items
    active: int = 0  # items in active payouts
    commissions: int = 0  # those of kind COMMISSION
    first_entry: dict = field(default_factory=dict)  # line -> entry number

    def currencies(self):
        """All amounts ever posted, because the accrued amount as of a day may differ where now it is zero."""
        return sorted({currency for _, _, currency, _ in self.postings})

    def accrued_in(self, currency):
        return sum((v for (_, c), v in self.accrued.items() if c == currency), Fraction(0))

    def allocated_in(self, currency):
        return sum((v for (_, c), v in self.allocated.items() if c == currency), Fraction(0))

    def side(self, currency, until=None):
        """line -> accrued in the currency; with `until` what was dated before it (K8)."""
        sums = {}
        for date, line, posted, amount in self.postings:
            if posted == currency and (until is None or date < until):
                sums[line] = sums.get(line, Fraction(0)) + amount
        return sums


@dataclass
class Position(Unit):
    """The earnings of one creator from one order under one program."""

    shop: str = ""
    order: str = ""
    types: tuple = ()
    link: str = ""  # of the click that attributed it
    cause: str = ""  # command id of what gave it out last; empty: an order event
    volume: tuple | None = None  # currency, net sales: frozen, or what gave a line its tier last (M4)
    customer: str | None = None  # new, returning, None
    asked_for_customer: bool = False  # some version that priced a line did
    group: str | None = None
    caps: dict = field(default_factory=dict)  # currency -> Fraction
    frozen: dict = field(default_factory=dict)  # line -> FrozenLine


@dataclass
class Credit(Unit):
    credit_id: str = ""
    shop: str = ""
    order: str = ""
    sale_at: int = 0
    is_write_off: bool = False
    amount: Fraction = Fraction(0)
    currency: str = ""


@dataclass
class RefundRow:
    line: str
    amount: Fraction
    tax: Fraction
    scale: int
    tax_scale: int
    version: int
    arrival: int


@dataclass
class Anomaly:
    first: int
    recorded_at: int = 0
    count: int = 0
    showing: bool = False
    acknowledged_by: str | None = None
    acknowledged_at: int | None = None
    value: object = None  # what raised it: (amount, currency), or an instant
    acknowledged_value: object = None


@dataclass
class Order:
    shop: str
    order_id: str
    account: str
    payload: dict = None
    version: int = None
    plausible_version: int | None = None  # highest that was not more than 24 h ahead of its receipt
    device: str | None = None
    device_version: int | None = None
    cancelled_at: int | None = None
    digests: dict = field(default_factory=dict)  # digest -> was stale
    standing: bytes | None = None  # digest of the event whose version stands
    is_deleted: bool = False  # the version that stands is a deletion by the platform
    stated: list = field(default_factory=list)  # of each event: customer, email, phone, device
    rows: dict = field(default_factory=dict)  # refund id -> RefundRow
    positions: dict = field(default_factory=dict)  # (program, creator) -> Position
    live: tuple | None = None
    barred: bool = False
    rejected: bool = False
    held: bool = False
    anomalies: dict = field(default_factory=dict)  # kind -> Anomaly
    long_ago: bool = False
    volume: tuple | None = None  # ((program, creator, month, currency), Fraction): what it adds

    @property
    def key(self):
        return self.shop.encode(), self.order_id.encode()

    @property
    def lines(self):
        return {line["line_item_id"]: line for line in self.payload["line_items"]}

    @property
    def ordered_at(self):
        return instant(self.payload["platform_ordered_at"])

    @property
    def currency(self):
        return self.payload["currency_code"]

    @property
    def position(self):
        return self.positions[self.live] if self.live else None

    @property
    def earns(self):
        return self.cancelled_at is None and not self.rejected

    def standing_rows(self):
        """line -> the one refund row that counts (R2)."""
        result = {}
        for row in self.rows.values():
            best = result.get(row.line)
            if best is None or (row.version, row.arrival) > (best.version, best.arrival):
                result[row.line] = row
        return result

    def refunded(self):
        return {line: row.amount for line, row in self.standing_rows().items()}


@dataclass(frozen=True)
class Item:
    program: str
    shop: str
    order: str
    line: str  # of a credit: its command id
    kind: str
    amount: Fraction
    sold_at: int = 0  # of the order when it was closed, or of the credit

    @property
    def key(self):
        return tuple(part.encode() for part in (self.program, self.shop, self.order, self.line, self.kind))


@dataclass
class Payout:
    payout_id: str
    run: str
    account: str
    creator: str
    currency: str
    amount: Fraction
    items: list
    until: int
    closed_at: int
    closed_by: str
    state: str
    payee: str = ""
    repointed_by: str | None = None
    repoints: int = 0
    bank_ref: str | None = None
    paid_at: int | None = None
    end_reason: str | None = None  # of a payout that is void, failed or returned
    moves: dict = field(default_factory=dict)  # state -> (actor, instant)


@dataclass(frozen=True)
class CodeRow:
    creator: str
    valid_from: int
    valid_until: int | None

    def covers(self, at):
        return self.valid_from <= at and (self.valid_until is None or at < self.valid_until)

    def owns_nothing(self):
        return self.valid_until is not None and self.valid_until <= self.valid_from

    def overlaps(self, other):
        return not (self.owns_nothing() or other.owns_nothing()) and (other.valid_until is None or self.valid_from < other.valid_until) and (
            self.valid_until is None or other.valid_from < self.valid_until
        )


@dataclass
class Member:
    effective_from: int
    group: str | None = None


@dataclass
class Program:
    program_id: str
    account: str
    file: dict
    first_effective_from: int  # of its first apply: the default of starts_at
    effective_from: dict  # shop, or * for all -> effective_from of the apply that added it
    members: dict = field(default_factory=dict)  # creator -> Member
    ever: set = field(default_factory=set)  # creators who are or were in it
    codes: dict = field(default_factory=dict)  # code in lower case -> [CodeRow]
    opening_at: int | None = None  # orders from before it earn nothing
    bounds: set = field(default_factory=set)  # (amount, currency) of tiers that apply to the month, of all versions

    @property
    def by_month(self):
        return self.file.get("tiers_apply") == "month"

    @property
    def late(self):
        return self.file["late_days"] * DAY

    @property
    def starts_at(self):
        given = self.file.get("starts_at")
        return self.first_effective_from if given is None else given

    def effective_from_of(self, shop):
        """None: the program does not cover the shop."""
        shops = self.file["shops"]
        if shops and shop not in shops:
            return None
        return self.effective_from[shop] if shop in self.effective_from else self.effective_from["*"]

    def covers(self, shop):
        return self.effective_from_of(shop) is not None


@dataclass(frozen=True)
class Click:
    at: int
    number: int
    creator: str
    program: str
    effective_from: int
    link: str = ""


@dataclass
class PendingApproval:
    """A command that waits for another actor (H3)."""

    waiting_id: str
    command: dict
    given: Input
    amount: Fraction | None = None
    currency: str | None = None
    live: tuple | None = None  # the position that an `adjust` was about
    state: str = "PENDING"
    ended_by: str = ""
    ended_at: int = 0


def ascii_lower(text):
    return "".join(c.lower() if c.isascii() else c for c in text)
