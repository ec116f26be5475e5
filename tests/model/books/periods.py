"""Months: accounting dates (S1) are set by the ledger; here are closes (S2) and statements (S3)."""

import hashlib
from dataclasses import dataclass, field
from fractions import Fraction

from model.books import rates
from model.books.journal import EARNED, OWED, PAID, PAYOUT, canonical_bytes
from model.books.state import Refused
from model.values import time_text

PAYOUT_REASONS = ("PAYOUT", "VOID", "FAILED", "RETURNED")


@dataclass
class PeriodRow:
    """Sums of one program, creator and currency: ledger account -> figures; reason -> sum."""

    opening: dict
    closing: dict
    reasons: dict
    digest: str


@dataclass
class Period:
    start: int | None
    until: int
    rows: dict = field(default_factory=dict)  # (program, creator, currency) -> PeriodRow


def compute(ledger, account, start, until):
    """The rows from the journal alone."""
    entries = [e for e in ledger.journal.entries if e.account == account and not e.is_memo and e.accounting_date < until]
    rows = {}
    for entry in sorted(entries, key=lambda e: (e.accounting_date, e.node, e.number)):
        key = (entry.program, entry.creator, entry.currency)
        row = rows.setdefault(key, (dict.fromkeys((OWED, PAYOUT, PAID), Fraction(0)), {}, [], {}))
        opening, reasons, inside, closing = row
        before = start is not None and entry.accounting_date < start
        for ledger_account in (OWED, PAYOUT, PAID):
            closing[ledger_account] = closing.get(ledger_account, Fraction(0)) + entry.into(ledger_account)
            if before:
                opening[ledger_account] += entry.into(ledger_account)
        if not before:
            reasons[entry.reason] = reasons.get(entry.reason, Fraction(0)) + entry.amount
            inside.append(canonical_bytes(entry))
    return {
        key: PeriodRow(opening, closing, reasons, hashlib.sha256(b"".join(inside)).hexdigest())
        for key, (opening, reasons, inside, closing) in rows.items()
    }


def closable(ledger, at, until, allow_late):
    """The period, or Refused."""
    periods = ledger.periods.get(at.account, [])
    start = periods[-1].until if periods else None
    if not time_text(until).endswith("-01T00:00:00Z"):
        raise Refused(f"--until {time_text(until)} is not the first instant of a month")
    if until > at.received:
        raise Refused(f"--until {time_text(until)} lies in the future")
    if start is not None and until <= start:
        raise Refused(f"--until {time_text(until)} is not after {time_text(start)}: so far it is closed")
    late = sorted(n for n, received in {**ledger.last_receipt, at.node: at.received}.items() if received < until)
    if late and not allow_late:
        raise Refused(f"node {late[0]} has applied nothing received since {time_text(until)}; or say --allow-late")
    return Period(start, until)


def close(ledger, at, period):
    period.rows = compute(ledger, at.account, period.start, period.until)
    ledger.memo(at, "PERIOD_CLOSED", account=at.account, line=time_text(period.until))
    ledger.periods.setdefault(at.account, []).append(period)


def statement(ledger, account, creator, month):
    """opening + entries = closing, per program and currency, by accounting date."""
    start, until = rates.month_bounds(month)
    sums, rows = {}, []
    for entry in ledger.journal.entries:
        if entry.is_memo or (entry.account, entry.creator) != (account, creator) or entry.accounting_date >= until:
            continue
        row = sums.setdefault((entry.program, entry.currency), dict.fromkeys(
            ("opening", "earned", "adjusted", "paid_out", "closing"), Fraction(0)))
        row["closing"] += entry.into(OWED)
        if entry.accounting_date < start:
            row["opening"] += entry.into(OWED)
            continue
        rows.append(entry)
        if entry.reason in EARNED:
            row["earned"] += entry.amount
        elif entry.reason in PAYOUT_REASONS:
            row["paid_out"] -= entry.into(OWED)
        else:
            row["adjusted"] += entry.into(OWED)
    closed = ledger.closed_until(account) >= until
    return {
        "account_id": account, "creator_id": creator, "month": month,
        "status": "closed" if closed else "open: may change",
        "rows": sorted(rows, key=lambda e: (e.accounting_date, e.node, e.number)),
        "sums": {key: sums[key] for key in sorted(sums)},
    }
