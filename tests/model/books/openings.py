"""Amounts that end or begin a creator's account: balances of an earlier system, and write-offs."""

from fractions import Fraction

from model.books import imports, limits, plausibility
from model.books.rates import parse_money
from model.books.state import ACTIVE, Credit, Refused, Result
from model.values import digits, time_text


def posting_id(command_id, number):
    return f"{command_id}-{number:04}"


def open_in(unit, currency):
    return unit.accrued_in(currency) - unit.allocated_in(currency)


def sold_at(order, unit):
    return unit.sale_at if order is None else order.ordered_at


# Opening balances ---------------------------------------------------------------------------------------


def import_openings(ledger, at, command, approved=None):
    """Whole file or nothing. `approved` writes the memo entry of the approval."""
    date = command["at"]
    if date > at.received:
        raise Refused("--at is in the future")
    checked = checked_rows(ledger, at, command["rows"], date)
    for number, (program, creator, currency, amount) in enumerate(checked, 1):
        name = posting_id(at.command_id, number)
        if not approved:
            limits.count(ledger, at, "adjust", creator, currency, amount, name)
        post(ledger, at, name, program, creator, currency, amount, date, "OPENING")
        ledger.openings[(at.account, program, creator, currency)] = name
        ledger.programs[program].opening_at = date
    return Result("done", at.command_id)


def checked_rows(ledger, at, rows, date):
    faults, checked, seen = [], [], set()
    for line, row in enumerate(rows, 2):
        try:
            checked.append(checked_row(ledger, at, row, date))
            if checked[-1][:3] in seen:
                raise Refused("creator, program and currency are those of another line")
            seen.add(checked[-1][:3])
        except Refused as fault:
            faults.append(f"line {line}: {fault}")
    if faults:
        raise Refused("; ".join(faults))
    return checked


def checked_row(ledger, at, row, date):
    amount, currency = parse_money(row["amount"])
    program = ledger.programs.get(row["program"])
    if program is None or program.account != at.account:
        raise Refused(f"account {at.account} has no program {row['program']}")
    if program.opening_at is not None and program.opening_at != date:
        raise Refused(f"program {row['program']} has opening balances of {time_text(program.opening_at)}")
    for order, unit in ledger.units(at.account):
        if order is not None and unit.program == row["program"] and order.ordered_at < date and (
            unit is order.position or any([*unit.accrued.values(), *unit.allocated.values()])
        ):
            raise Refused(f"program {row['program']} has commission of an order from before the date")
    if amount == 0 or (amount * 10 ** digits(currency)).denominator != 1:
        raise Refused(f"{row['amount']} is no amount in {currency}")
    if row["creator"] not in program.ever:
        raise Refused(f"creator {row['creator']} was never in program {row['program']}; import the creator first")
    if (at.account, row["program"], row["creator"], currency) in ledger.openings:
        raise Refused(f"creator {row['creator']} has an opening balance already")
    return row["program"], row["creator"], currency, amount


def sums_of(rows):
    sums = {}
    for creator, currency, amount in rows:
        sums[creator, currency] = sums.get((creator, currency), Fraction(0)) + abs(amount)
    return sums


def post(ledger, at, name, program, creator, currency, amount, sale_at, reason):
    unit = ledger.credits[name] = Credit(
        at.account, program, creator, credit_id=name, sale_at=sale_at, is_write_off=reason == "WRITE_OFF",
        amount=amount, currency=currency)
    ledger.posting(at, unit, "", currency, amount, reason, command_id=name)
    ledger.money[name] = (unit, None, currency, amount)


def standing(ledger, account, command_id):
    """Postings of an import that were not reversed, in the order of its rows."""
    return [
        name for name in ledger.money
        if name.startswith(command_id + "-") and ledger.money[name][0].account == account and name not in ledger.reversals
    ]


def is_import(ledger, command_id):
    return posting_id(command_id, 1) in ledger.money


def end(ledger, at, names):
    """With the last opening balance of a program its date ends; the orders that wait are tried again."""
    lifted = False
    for name in names:
        unit, _, currency, _ = ledger.money[name]
        if ledger.openings.get((unit.account, unit.program, unit.creator, currency)) != name:
            continue
        del ledger.openings[(unit.account, unit.program, unit.creator, currency)]
        if not any(key[:2] == (unit.account, unit.program) for key in ledger.openings):
            ledger.programs[unit.program].opening_at = None
            lifted = True
    if lifted:
        imports.try_waiting(ledger, at, [at.account], lambda order: True)


def reverse_import(ledger, at, command, approved=None):
    names = standing(ledger, at.account, command["id"])
    if not names:
        raise Refused(f"each opening balance of {command['id']} was reversed before")
    check_not_written_off(ledger, names)
    for number, name in enumerate(names, 1):
        unit, _, currency, amount = ledger.money[name]
        by = posting_id(at.command_id, number)
        ledger.posting(at, unit, "", currency, -amount, "REVERSAL", command_id=by)
        ledger.reversals[name] = by
        if not approved:
            limits.count(ledger, at, "adjust", unit.creator, currency, amount, by)
    if approved:
        approved()
    end(ledger, at, names)
    return Result("done", at.command_id)


# Write-offs -------------------------------------------------------------------------------------------------


def payouts_with(ledger, credit):
    """The active payouts that hold the credit."""
    return [
        payout for payout in ledger.payouts.values() if payout.state in ACTIVE
        and any(item.kind == "CREDIT" and item.line == credit.credit_id for item in payout.items)
    ]


def check_not_written_off(ledger, names):
    """An amount below 0 that a payout deducted together with a write-off is taken back only after the write-off."""
    for name in names:
        unit, _, currency, _ = ledger.money[name]
        if not isinstance(unit, Credit) or unit.allocated_in(currency) >= 0:
            continue
        for payout in payouts_with(ledger, unit):
            if off := plausibility.write_off_in(ledger, payout, unit.program):
                raise Refused(f"{name} was written off by {off}: reverse that first")


def judge_deducted(ledger, at, unit):
    """After the reversal of a write-off: the orders whose amounts below 0 it made up for."""
    if not isinstance(unit, Credit) or not unit.is_write_off:
        return
    keys = {
        (item.shop, item.order) for payout in payouts_with(ledger, unit) for item in payout.items
        if item.program == unit.program and item.kind != "CREDIT" and item.amount < 0
    }
    for key in sorted(keys & set(ledger.orders)):
        plausibility.judge(ledger, at, ledger.orders[key], event=False)


def check_write_off(ledger, at, command):
    program = ledger.programs.get(command["program"])
    if program is None or program.account != at.account:
        raise Refused(f"account {at.account} has no program {command['program']}")
    units = [
        (order, unit) for order, unit in ledger.units(at.account)
        if (unit.program, unit.creator) == (command["program"], command["creator"])
    ]
    amount, currency = parse_money(command["amount"]) if "amount" in command else whole_debt(units, command)
    found = [(open_in(unit, currency), sold_at(order, unit)) for order, unit in units]
    owed = sum((amount_ for amount_, _ in found), Fraction(0))
    if not 0 < amount <= -owed or (amount * 10 ** digits(currency)).denominator != 1:
        raise Refused(f"creator {command['creator']} is owed {owed} {currency}")
    first = min(sold for open_, sold in found if open_ < 0)
    return {"amount": amount, "currency": currency, "creator": command["creator"], "sale_at": first}


def whole_debt(units, command):
    """The balance below 0, which has to be the only one, or of the currency that the command names."""
    sums = {}
    for _, unit in units:
        for currency in unit.currencies():
            sums[currency] = sums.get(currency, 0) + open_in(unit, currency)
    below = [(-amount, of) for of, amount in sums.items() if amount < 0 and command.get("currency") in (None, of)]
    if len(below) != 1:
        raise Refused(f"{len(below)} balances below 0: expected one")
    return below[0]


def post_write_off(ledger, at, asked, command, checked):
    post(ledger, at, asked.command_id, command["program"], command["creator"], checked["currency"], checked["amount"],
         checked["sale_at"], "WRITE_OFF")
