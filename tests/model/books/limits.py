"""K4: limits count together what took effect without a second person; raised rates; what moves by hand."""

from fractions import Fraction

from model.books.rates import parse_factor, parse_money, parse_rate
from model.values import DAY

WINDOW = 31 * DAY


def limit(ledger, account, name, currency):
    """(is there one, amount): no list means no limit, a currency that the list lacks has None."""
    policy = ledger.policy(account)
    limits = {of: amount for amount, of in map(parse_money, policy.get(name) or [])}
    return policy.get(name) is not None, limits.get(currency)


def exceeds(ledger, at, name, kind, creator, currency, amount):
    """Compares the amount and what counts already with the policy's list."""
    is_set, above = limit(ledger, at.account, name, currency)
    if not is_set:
        return False
    date = ledger.accounting_date(at, at.account)
    counted = sum(
        (use[2] for key, use in ledger.uses.items()
         if key[:4] == (at.account, kind, creator, currency) and date - WINDOW <= use[1] <= date),
        Fraction(0),
    )
    return above is None or abs(amount) + counted > above


def count(ledger, at, kind, creator, currency, amount, of=None):
    """Skips commands that another actor approved."""
    name = of or at.command_id
    if amount and name not in ledger.pending_approvals:
        key = (at.account, kind, creator, currency, name)
        counted = ledger.uses[key][2] if key in ledger.uses else Fraction(0)
        ledger.uses[key] = (name, ledger.accounting_date(at, at.account), counted + abs(amount))


def uncount(ledger, payout):
    ledger.uses.pop((payout.account, "payout", payout.creator, payout.currency, payout.payout_id), None)


def accrued(orders):
    """(order, program, creator, currency) -> accrued."""
    sums = {}
    for order in orders:
        for position in order.positions.values():
            for (_, currency), amount in position.accrued.items():
                key = (order.key, position.program, position.creator, currency)
                sums[key] = sums.get(key, Fraction(0)) + amount
    return sums


def count_moved(ledger, at, before, orders):
    after = accrued(orders)
    for key in {*before, *after}:
        amount = after.get(key, Fraction(0)) - before.get(key, Fraction(0))
        count(ledger, at, "attribution", key[2], key[3], amount)


def moves_too_much(ledger, at, before, after):
    by_program, by_creator = {}, {}
    for key in {*before, *after}:
        amount = after.get(key, Fraction(0)) - before.get(key, Fraction(0))
        by_program[key[1:]] = by_program.get(key[1:], Fraction(0)) + amount
    for (_, creator, currency), amount in by_program.items():
        by_creator[creator, currency] = by_creator.get((creator, currency), Fraction(0)) + abs(amount)
    return any(
        exceeds(ledger, at, "approve_attribution_above", "attribution", *key, amount)
        for key, amount in by_creator.items() if amount
    )


# Raised rates ------------------------------------------------------------------------------------------------


def rate_rises(before, after):
    was, now = parse_factor(before), parse_factor(after)
    if was is not None or now is not None:
        return was is None or now is None or now > was
    before, after = parse_rate(before), parse_rate(after)
    return (before.currency, before.per_order) != (after.currency, after.per_order) or after.value > before.value


def tiers_rise(before, after):
    return len(before) != len(after) or any(
        parse_money(was["from"]) != parse_money(now["from"]) or rate_rises(was["rate"], now["rate"])
        for was, now in zip(before, after, strict=True)
    )


def rules_rise(before, after):
    def rest(rule):
        return {name: value for name, value in rule.items() if name not in ("rate", "tiers")}

    return len(before) != len(after) or any(
        rest(was) != rest(now) or rate_rises(was["rate"], now["rate"]) or tiers_rise(was.get("tiers", []), now.get("tiers", []))
        for was, now in zip(before, after, strict=True)
    )


def caps_rise(before, after):
    now = {currency: amount for amount, currency in map(parse_money, after)}
    return any(currency not in now or now[currency] > amount for amount, currency in map(parse_money, before))


def raises(before, after):
    """Whether a creator may earn more, or sooner, under the file's new row."""
    if before is None:
        return True
    start, end = (before.get("starts_at"), after.get("starts_at")), (before.get("ends_at"), after.get("ends_at"))
    return (
        rate_rises(before["default_rate"], after["default_rate"])
        or tiers_rise(before.get("default_tiers", []), after.get("default_tiers", []))
        or rules_rise(before["rule"], after["rule"])
        or caps_rise(before.get("max_per_order", []), after.get("max_per_order", []))
        or start[0] != start[1] and (None in start or start[1] < start[0])
        or end[0] is not None and (end[1] is None or end[1] > end[0])
        or any(after[name] > before[name] for name in ("late_days", "window_days"))
        or bool(before["shops"]) and (not after["shops"] or not set(after["shops"]) <= set(before["shops"]))
        or after["clearing_days"] < before["clearing_days"]
        or (before["base"], after["base"]) == ("net", "gross")
        or before["precedence"] != after["precedence"]
    )
