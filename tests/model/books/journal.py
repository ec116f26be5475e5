"""The journal (J1 to J4): postings between four books, memo entries, chains of hashes, sums (J2).

docs/record-format.md defines the canonical bytes of an entry.
"""

import hashlib
from dataclasses import dataclass, replace
from fractions import Fraction

from model.values import digits

EXPENSE, OWED, PAYOUT, PAID = "expense", "owed", "payout", "paid"
ACCOUNTS = {"": 0, EXPENSE: 1, OWED: 2, PAYOUT: 3, PAID: 4}
# Reason -> (number in the canonical bytes, from, to). The reason implies both books.
REASONS = {
    "ACCRUAL": (1, EXPENSE, OWED),
    "ATTRIBUTION": (2, EXPENSE, OWED),
    "CANCELLATION": (3, EXPENSE, OWED),
    "REFUND": (4, EXPENSE, OWED),
    "UPDATE": (5, EXPENSE, OWED),
    "MANUAL": (6, EXPENSE, OWED),
    "DETACH": (7, EXPENSE, OWED),
    "REJECT": (8, EXPENSE, OWED),
    "RELEASE": (9, EXPENSE, OWED),
    "CREDIT": (10, EXPENSE, OWED),
    "REVERSAL": (11, EXPENSE, OWED),
    "PAYOUT": (12, OWED, PAYOUT),
    "SETTLE": (13, PAYOUT, PAID),
    "VOID": (14, PAYOUT, OWED),
    "FAILED": (15, PAYOUT, OWED),
    "RETURNED": (16, PAID, OWED),
    "OPENING": (17, EXPENSE, OWED),
    "WRITE_OFF": (18, EXPENSE, OWED),
    "TIER": (19, EXPENSE, OWED),
}
MEMOS = {
    "ATTRIBUTED": 64,
    "DETACHED": 65,
    "REJECTED": 66,
    "HELD": 67,
    "RELEASED": 68,
    "ACKNOWLEDGED": 69,
    "CLOSED": 70,
    "APPROVED": 71,
    "SENT": 72,
    "RESET": 73,
    "PERIOD_CLOSED": 74,
    "POLICY_CHANGED": 75,
    "RENAMED": 76,
    "PENDING": 77,
    "REPOINTED": 78,
    "PAYEE_CHANGED": 79,
    "ANOMALY": 80,
    "WITHDRAWN": 81,
    "GAP_ACCEPTED": 82,
    "DISCARDED": 83,
}
EARNED = ("ACCRUAL", "ATTRIBUTION")
NO_HASH = bytes(32)
PROOF = "SHA-256 of a pending command"  # compare.py puts the real one in its place


@dataclass(frozen=True)
class Entry:
    """A posting, or a memo entry: then `amount` is None and the books are empty."""

    node: str
    number: int
    seq: int
    command_id: str
    account: str
    account_number: int
    shop: str
    shop_number: int
    order: str
    line: str
    program: str
    creator: str
    currency: str
    amount: Fraction | None
    reason: str
    payout: str
    recorded_at: int
    accounting_date: int
    refers_to: int
    note: str
    actor: str

    @property
    def is_memo(self):
        return self.amount is None

    @property
    def accounts(self):
        """The full names of the books it goes from and to."""
        if self.is_memo:
            return "", ""
        return tuple(f"payout:{self.payout}" if b == PAYOUT else b for b in REASONS[self.reason][1:])

    def into(self, account):
        """Returns the amount that it adds to a ledger account: owed, payout, paid, expense."""
        _, source, target = REASONS[self.reason]
        return self.amount * ((target == account) - (source == account))


def canonical_bytes(entry):
    def number(value, width):
        return (value % (1 << 8 * width)).to_bytes(width, "little")

    def text(value):
        raw = value.encode()
        return number(len(raw), 4) + raw

    def instant(nanoseconds):
        seconds, rest = divmod(nanoseconds, 10**9)
        return number(seconds, 8) + number(rest, 4)

    if entry.is_memo:
        code, source, target, scale, unscaled = MEMOS[entry.reason], "", "", 0, 0
    else:
        code, source, target = REASONS[entry.reason]
        scale = digits(entry.currency)
        unscaled = int(entry.amount * 10**scale)
    return b"".join([
        b"SLJ2", number(entry.number, 8), text(entry.node), number(entry.seq, 8), text(entry.command_id),
        number(entry.account_number, 4), number(entry.shop_number, 4), text(entry.order), text(entry.line),
        text(entry.program), text(entry.creator), text(entry.currency),
        number(ACCOUNTS[source], 1), number(ACCOUNTS[target], 1), number(scale, 1), number(unscaled, 16),
        number(code, 1), text(entry.payout), instant(entry.recorded_at), instant(entry.accounting_date),
        number(entry.refers_to, 8), text(entry.note), text(entry.actor),
    ])


def next_hash(before, entry):
    return hashlib.sha256(before + canonical_bytes(entry)).digest()


class Journal:
    def __init__(self):
        self.entries = []
        self.last = {}  # node -> number of its last entry
        self.heads = {}  # (account, node) -> hash
        self.hashes = []  # of each entry, as stored
        self.sums = {}  # (account, program, creator, currency) -> {kind of account: sum}

    def prove(self, place, line):
        """Sets the text of a memo entry PENDING, and computes all hashes again."""
        self.entries[place] = replace(self.entries[place], line=line)
        self.heads = {}
        for number, entry in enumerate(self.entries):
            key = (entry.account, entry.node)
            self.hashes[number] = self.heads[key] = next_hash(self.heads.get(key, NO_HASH), entry)

    def append(self, **fields):
        node = fields["node"]
        entry = Entry(number=self.last.get(node, 0) + 1, **fields)
        assert entry.is_memo or entry.amount != 0, entry
        self.last[node] = entry.number
        key = (entry.account, node)
        self.heads[key] = next_hash(self.heads.get(key, NO_HASH), entry)
        self.entries.append(entry)
        self.hashes.append(self.heads[key])
        if not entry.is_memo:
            row = self.sums.setdefault(sums_key(entry), dict.fromkeys((EXPENSE, OWED, PAYOUT, PAID), Fraction(0)))
            for account in row:
                row[account] += entry.into(account)
        return entry


def sums_key(entry):
    return entry.account, entry.program, entry.creator, entry.currency
