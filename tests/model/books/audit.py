"""D1: the invariants of any ledger at any time. Each failure is (letter, description)."""

from fractions import Fraction

from model.books import payouts, periods, rates
from model.books.journal import EXPENSE, NO_HASH, OWED, PAID, PAYOUT, REASONS, next_hash, sums_key
from model.books.state import ACTIVE

ENDED = {"PAID": "SETTLE", "VOID": "VOID", "FAILED": "FAILED", "RETURNED": "RETURNED"}


def audit(ledger):
    return [
        (letter, failure)
        for letter, check in sorted(CHECKS.items())
        for failure in check(ledger)
    ]


def chains(ledger):
    heads, numbers = {}, {}
    for entry, stored in zip(ledger.journal.entries, ledger.journal.hashes, strict=True):
        numbers[entry.node] = numbers.get(entry.node, 0) + 1
        if entry.number != numbers[entry.node]:
            yield f"entry {entry.number} of node {entry.node} stands where {numbers[entry.node]} should"
        key = (entry.account, entry.node)
        heads[key] = next_hash(heads.get(key, NO_HASH), entry)
        if heads[key] != stored:
            yield f"entry {entry.number} of node {entry.node}: stored hash is {stored.hex()}"
    if heads != ledger.journal.heads or numbers != ledger.journal.last:
        yield "a chain ends elsewhere than its head says"


def balances(ledger):
    sums = {}
    for entry in ledger.journal.entries:
        if not entry.is_memo:
            row = sums.setdefault(sums_key(entry), dict.fromkeys((EXPENSE, OWED, PAYOUT, PAID), Fraction(0)))
            for account in row:
                row[account] += entry.into(account)
    for key in sorted({*sums, *ledger.journal.sums}):
        stored, computed = ledger.journal.sums.get(key), sums.get(key)
        if stored != computed:
            yield f"balance {key}: stored {stored}, computed {computed}"
        elif sum(stored.values()) != 0:
            yield f"balance {key}: the books add up to {sum(stored.values())}"


def payouts_(ledger):
    for payout in ledger.payouts.values():
        entries = [e for e in ledger.journal.entries if e.payout == payout.payout_id]
        moved = [e for e in entries if not e.is_memo]
        name = f"payout {payout.payout_id}"
        if sum(item.amount for item in payout.items) != payout.amount:
            yield f"{name}: amount {payout.amount}, items {sum(item.amount for item in payout.items)}"
        per_program = program_sums((item.program, item.amount) for item in payout.items)
        posted = program_sums((e.program, e.amount) for e in moved if e.reason == "PAYOUT")
        if per_program != posted:
            yield f"{name}: items {per_program}, postings {posted}"
        closed = [e.line.split(" ") for e in entries if e.reason == "CLOSED"]
        repointed = [e.line for e in entries if e.reason == "REPOINTED"]
        proven = repointed[-1] if repointed else closed[0][0] if closed else None
        if proven != payouts.proof(payout):
            yield f"{name}: its items are not those of its memo entry CLOSED"
        elif payout.state != state_of(entries, closed[0][1]):
            yield f"{name}: state {payout.state}, by its entries {state_of(entries, closed[0][1])}"
        left = sum((e.into(PAYOUT) for e in moved), Fraction(0))
        if left != (0 if payout.state in ENDED else payout.amount):
            yield f"{name}: {left} is left on its account"


def program_sums(rows):
    sums = {}
    for program, amount in rows:
        sums[program] = sums.get(program, Fraction(0)) + amount
    return {program: amount for program, amount in sums.items() if amount}


def state_of(entries, first):
    """By memo entries and postings; `first`: what it was closed as, CLOSED or (no approval needed) APPROVED."""
    reasons = [e.reason for e in entries]
    for state, reason in (("RETURNED", "RETURNED"), ("FAILED", "FAILED"), ("VOID", "VOID"), ("PAID", "SETTLE"), ("SENT", "SENT")):
        if reason in reasons:
            return state
    order = [reason for reason in reasons if reason in ("APPROVED", "REPOINTED")]
    return {"APPROVED": "APPROVED", "REPOINTED": "CLOSED"}[order[-1]] if order else first


def positions(ledger):
    allocated, numbers = {}, {}
    for payout in ledger.payouts.values():
        if payout.state in ACTIVE:
            for item in payout.items:
                unit = payouts.unit_of(ledger, payout, item)
                key = (id(unit), "" if item.kind == "CREDIT" else item.line, payout.currency)
                allocated[key] = allocated.get(key, Fraction(0)) + item.amount
                counts = numbers.setdefault(id(unit), [0, 0])
                counts[0] += 1
                counts[1] += item.kind == "COMMISSION"
    posted = posted_accruals(ledger)
    for account in ledger.registry:
        for order, unit in ledger.units(account):
            name = f"{getattr(unit, 'order', '')} {unit.creator}@{unit.program}"
            if {k: v for k, v in unit.accrued.items() if v} != posted.get(unit_key(order, unit), {}):
                yield f"position {name}: accrued is {unit.accrued}"
            active = {(line, c): v for (i, line, c), v in allocated.items() if i == id(unit) and v}
            if unit.allocated != active:
                yield f"position {name}: allocated is {unit.allocated}, active items say {active}"
            if [unit.active, unit.commissions] != numbers.get(id(unit), [0, 0]):
                yield f"position {name}: its active items are miscounted"
            if order is not None:
                yield from lines(order, unit, name)


def lines(order, position, name):
    """The accrued amounts of the lines equal M2; a position that is not live has none."""
    right = {}
    if order.position is position:
        right = {(line, order.currency): v for line, v in rates.commissions(order, position).items() if v}
    accrued = {key: value for key, value in position.accrued.items() if key[0]}
    if accrued != right:
        yield f"position {name}: accrued of its lines is {accrued}, the rules give {right}"


def unit_key(order, unit):
    if order is None:
        return "credit", unit.credit_id
    return order.key, unit.program, unit.creator


def posted_accruals(ledger):
    sums = {}
    for entry in ledger.journal.entries:
        if entry.is_memo or REASONS[entry.reason][1] != EXPENSE:
            continue
        key = ((entry.shop.encode(), entry.order.encode()), entry.program, entry.creator)
        if entry.reason in ("CREDIT", "OPENING", "WRITE_OFF"):
            key = ("credit", entry.command_id)
        elif entry.reason == "REVERSAL":
            of = {by: reversed_ for reversed_, by in ledger.reversals.items()}[entry.command_id]
            key = ("credit", of) if of in ledger.credits else key
        unit = sums.setdefault(key, {})
        line = (entry.line, entry.currency)
        unit[line] = unit.get(line, Fraction(0)) + entry.amount
        if unit[line] == 0:
            del unit[line]
    return sums


def period_sums(ledger):
    for account, closed in ledger.periods.items():
        for period in closed:
            if period.rows != periods.compute(ledger, account, period.start, period.until):
                yield f"period of {account} until {period.until}: its sums are not those of its entries"


def volumes(ledger):
    sums = {}
    for order in ledger.orders.values():
        if order.live:
            key = (*order.live, rates.month_of(order.ordered_at), order.currency)
            sums[key] = sums.get(key, Fraction(0)) + rates.net_sales(order)
    right = {key: value for key, value in sums.items() if value}
    if right != ledger.volumes:
        yield f"tier volumes are {ledger.volumes}, orders give {right}"


CHECKS = {"a": chains, "b": balances, "c": payouts_, "d": positions, "f": period_sums, "g": volumes}
