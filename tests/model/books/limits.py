"""K4: limits count together what took effect without a second person; raised rates; what moves by hand."""

import hashlib
from fractions import Fraction

from model.books.rates import parse_factor, parse_money, parse_rate
from model.values import DAY

WINDOW = 31 * DAY
APPROVALS = (
    "approve_payout_above", "approve_adjust_above", "approve_attribution_above", "approve_run_above",
    "approve_payee_change", "approve_rates", "approve_period_close", "approve_payees_file",
)


def limit(ledger, account, name, currency):
    """(is there one, amount): no list means no limit, a currency that the list lacks has None."""
    policy = ledger.policy(account)
    limits = {of: amount for amount, of in map(parse_money, policy.get(name) or [])}
    return policy.get(name) is not None, limits.get(currency)


def payee_of(ledger, account, creator):
    """The reference's digest, which a forget does not change, or None."""
    payee = ledger.profiles.get((account, creator), {}).get("payee")
    return payee_digest(payee) if payee else None


def payee_digest(payee):
    if payee.startswith("sha256:"):
        return payee.split(":")[1]
    return hashlib.sha256(b"payee:" + payee.encode()).hexdigest()


def uses_of(ledger, at, account, kind):
    """(creator, currency, date, amount, payee) of 31 days, and of all later dates."""
    date = ledger.accounting_date(at, account)
    return [
        (key[2], key[3], *use[1:]) for key, use in ledger.uses.items()
        if key[:2] == (account, kind) and date - WINDOW <= use[1]
    ]


def excess(ledger, profiles, at, account, kind, name, amounts):
    """The keys of the amounts that are too much: `amounts` has (creator, payee, currency) -> amount."""
    if ledger.policy(account).get(name) is None:
        return set()
    creators, payees = {}, {}

    def add(sums, key, amount):
        if key[0] is not None:
            sums[key] = sums.get(key, Fraction(0)) + abs(amount)

    for creator, currency, _, amount, payee in uses_of(ledger, at, account, kind):
        add(creators, (creator, currency), amount)
        for one in {payee, payee_of(profiles, account, creator)}:
            add(payees, (one, currency), amount)
    for (creator, payee, currency), amount in amounts.items():
        add(creators, (creator, currency), amount)
        add(payees, (payee, currency), amount)

    def is_above(sums, key):
        _, above = limit(ledger, account, name, key[1])
        return bool(sums.get(key)) and (above is None or sums[key] > above)

    return {
        key for key in amounts if is_above(creators, (key[0], key[2])) or is_above(payees, (key[1], key[2]))
    }


def too_much(ledger, trial, at, account, kind, amounts, paid_otherwise):
    name = {"adjust": "approve_adjust_above", "attribution": "approve_attribution_above"}[kind]
    currencies = {use[1] for use in uses_of(ledger, at, account, kind)}
    given = {(creator, payee_of(trial, account, creator), of): amount for (creator, of), amount in amounts.items()}
    for creator in paid_otherwise:
        for of in currencies:
            given.setdefault((creator, payee_of(trial, account, creator), of), Fraction(0))
    return bool(excess(ledger, trial, at, account, kind, name, given))


def of_run(ledger, at, currency):
    """K13: closes within 24 hours are one payout run."""
    date = ledger.accounting_date(at, at.account)
    return sum((use[3] for use in uses_of(ledger, at, at.account, "payout") if use[1] == currency and use[2] >= date - DAY),
               Fraction(0))


def has_approvals(policy):
    return any(policy.get(name) not in (None, False) for name in APPROVALS)


def count(ledger, at, kind, creator, currency, amount, of=None, account=None, payee=None):
    """Skips commands that another actor approved."""
    name, account = of or at.command_id, account or at.account
    if amount and name not in ledger.pending_approvals:
        key = (account, kind, creator, currency, name)
        counted = ledger.uses[key][2] if key in ledger.uses else Fraction(0)
        payee = payee_digest(payee) if payee else payee_of(ledger, account, creator)
        ledger.uses[key] = (name, ledger.accounting_date(at, account), counted + abs(amount), payee)


def uncount(ledger, payout):
    ledger.uses.pop((payout.account, "payout", payout.creator, payout.currency, payout.payout_id), None)


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
        or before.get("tiers_apply", "order") != after.get("tiers_apply", "order")
        or caps_rise(before.get("max_per_order", []), after.get("max_per_order", []))
        or start[0] != start[1] and (None in start or start[1] < start[0])
        or end[0] is not None and (end[1] is None or end[1] > end[0])
        or any(after[name] > before[name] for name in ("late_days", "window_days"))
        or bool(before["shops"]) and (not after["shops"] or not set(after["shops"]) <= set(before["shops"]))
        or after["clearing_days"] < before["clearing_days"]
        or (before["base"], after["base"]) == ("net", "gross")
        or before["precedence"] != after["precedence"]
    )
