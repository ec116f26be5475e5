"""Reports: orders and their states, balances, blocks, dry runs."""

import copy
from fractions import Fraction

from model.books import payouts, plausibility
from model.books.journal import OWED, PAID, PAYOUT
from model.books.state import ACTIVE
from model.values import text

COLUMNS = ("owed", "in_payout", "paid", "pending", "blocked", "payable", "total")


def active_items(ledger, order):
    """[(payout, item)] of the order's positions."""
    return [
        (payout, item)
        for payout in ledger.payouts.values()
        if payout.state in ACTIVE
        for item in payout.items
        if (item.shop, item.order) == (order.shop, order.order_id) and item.kind != "CREDIT"
    ]


def commission(ledger, order):
    """(amount, currency): the active COMMISSION items of the live position, or else the accrued amount."""
    position = order.position
    if position is None:
        return Fraction(0), order.currency
    items = [
        (payout, item)
        for payout, item in active_items(ledger, order)
        if item.kind == "COMMISSION" and (item.program, payout.creator) == order.live
    ]
    if not items:
        return position.accrued_in(order.currency), order.currency
    currencies = [payout.currency for payout, _ in items]
    currency = order.currency if order.currency in currencies else currencies[0]
    return sum((item.amount for payout, item in items if payout.currency == currency), Fraction(0)), currency


def allocated_by_state(ledger, order):
    """(in payout, paid): currency -> sum of the order's active items of any kind."""
    in_payout, paid = {}, {}
    for payout, item in active_items(ledger, order):
        sums = paid if payout.state == "PAID" else in_payout
        sums[payout.currency] = sums.get(payout.currency, Fraction(0)) + item.amount
    return in_payout, paid


def blocked_by(ledger, order):
    holds = ["HOLD"] if order.held else []
    position = order.position
    if position and ledger.held_creators & {
        (order.account, position.creator, ""), (order.account, position.creator, position.program)
    }:
        holds.append("CREATOR_HOLD")
    return holds + plausibility.blocking(ledger, order)


def status(ledger, order, now):
    """The first that applies."""
    if order.live is None:
        return "detached" if order.barred else "waiting"
    if order.rejected:
        return "rejected"
    if order.cancelled_at is not None:
        return "cancelled"
    states = {
        payout.state
        for payout, item in active_items(ledger, order)
        if item.kind == "COMMISSION" and (item.program, payout.creator) == order.live
    }
    if states:
        return "paid" if states == {"PAID"} else "in_payout"
    if blocked_by(ledger, order):
        return "blocked"
    return "payable" if ledger.is_cleared(order, order.position, now) else "pending"


def balances(ledger, account, now):
    """(program, creator, currency) -> row of COLUMNS. owed = pending + blocked + payable."""
    rows = {}
    for (of, *key), sums in ledger.journal.sums.items():
        if of == account:
            row = rows[tuple(key)] = dict.fromkeys(COLUMNS, Fraction(0))
            row["owed"], row["in_payout"], row["paid"] = sums[OWED], sums[PAYOUT], sums[PAID]
            row["total"] = sums[OWED] + sums[PAYOUT] + sums[PAID]
    below, write_offs = {}, []
    for order, unit in ledger.units(account):
        for currency in unit.currencies():
            left = unit.accrued_in(currency) - unit.allocated_in(currency)
            if left > 0 and payouts.blocks(ledger, order, unit):
                column = "blocked"
            else:
                column = "payable" if ledger.is_cleared(order, unit, now) else "pending"
            key = unit.program, unit.creator, currency
            rows[key][column] += left
            if column == "payable":
                below[key] = below.get(key, Fraction(0)) + min(left, 0)
                if order is None and unit.is_write_off and left > 0:
                    write_offs.append((unit, key, left))
    for unit, key, left in write_offs:
        rest = left - payouts.offset(unit, key[2], below, left)
        rows[key]["payable"] -= rest
        rows[key]["blocked"] += rest
    return rows


def accruals(ledger):
    """(order, program, creator, currency) -> accrued: what a dry run compares."""
    return {
        (order.key, *key, currency): order.positions[key].accrued_in(currency)
        for order in ledger.orders.values()
        for key in order.positions
        for currency in order.positions[key].currencies()
    }


def dry_run(ledger, at, command):
    """A4: the same code over a copy. (result, {(program, creator, currency): [orders, before, after]}). An order counts if its
    amount would change, or whether it has this creator."""
    trial = copy.deepcopy(ledger)
    result = trial.command(at, command)
    return result, differences(ledger, trial)


def owners(ledger):
    """(order, program, creator, currency) of each order that has a creator, in the currencies of its accruals or its own."""
    return {(order.key, *order.live, currency) for order in ledger.orders.values() if order.live
            for currency in order.position.currencies() or [order.currency]}


def handed_over(had, has):
    """The members of owners() before and after of orders that another creator or program has then."""
    changed = {one[:3] for one in had} ^ {one[:3] for one in has}
    return {one for one in had | has if one[:3] in changed}


def differences(ledger, trial):
    before, after = accruals(ledger), accruals(trial)
    moved = handed_over(owners(ledger), owners(trial))
    rows = {}
    for key in set(before) | set(after) | moved:
        then, now = before.get(key, Fraction(0)), after.get(key, Fraction(0))
        if then != now or key in moved:
            row = rows.setdefault(key[1:], [0, Fraction(0), Fraction(0)])
            row[0], row[1], row[2] = row[0] + 1, row[1] + then, row[2] + now
    return rows


def added(rows, name):
    scales = [getattr(row, "scale" if name == "amount" else "tax_scale") for row in rows]
    return text(sum((getattr(row, name) for row in rows), Fraction(0)), max(scales, default=0))
