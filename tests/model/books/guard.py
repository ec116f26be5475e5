"""K13: a command that a policy can stop is tried on a copy, and judged by what changed, whatever its verb."""

import copy
from fractions import Fraction

from model.books import limits
from model.books.state import Nothing, Refused

HAND = ("MANUAL", "CREDIT", "OPENING", "WRITE_OFF", "REVERSAL")
STOPS = (
    "approve_adjust_above", "approve_attribution_above", "approve_payee_change", "approve_rates", "approve_period_close",
)


def is_set(policy, name):
    return policy.get(name) not in (None, False)


def run_judged(ledger, at, command, accounts, run, wait):
    """Runs it, or calls `wait` with the account whose policy asks another actor."""
    judged = [account for account in accounts if can_stop(command, ledger.policy(account))]
    if not judged:
        return run(ledger)
    trial = copy.deepcopy(ledger)
    try:
        run(trial)
    except (Refused, Nothing):
        return run(ledger)
    trial.finish()
    new = trial.journal.entries[len(ledger.journal.entries):]
    asks = [account for account in judged if reasons(ledger, trial, at, account, new)]
    if asks:
        if len(changed_accounts(ledger, trial, new)) > 1:
            raise Refused("a command with a change that needs an approval names one account")
        return wait(asks[-1])
    result = run(ledger)
    for account in judged:
        if ledger.policy(account).get("approve_attribution_above") is not None:
            for (creator, currency), amount in commission(new, account).items():
                limits.count(ledger, at, "attribution", creator, currency, amount, account=account)
    return result


def can_stop(command, policy):
    if command["do"] == "program apply":
        return limits.has_approvals(policy)
    return any(is_set(policy, name) for name in STOPS)


def reasons(ledger, trial, at, account, new):
    policy = ledger.policy(account)
    paid_otherwise = {
        creator for (of, creator), profile in trial.profiles.items()
        if of == account and (profile.get("payee") or "") != (ledger.profiles.get((of, creator), {}).get("payee") or "")
    }
    return (
        limits.has_approvals(policy) and trial.policy(account) != policy
        or is_set(policy, "approve_rates") and rates_rise(ledger, trial, account)
        or is_set(policy, "approve_payee_change") and (
            any((account, creator) in ledger.profiles for creator in paid_otherwise) or code_changes_hands(ledger, trial, account)
        )
        or is_set(policy, "approve_period_close") and trial.periods.get(account) != ledger.periods.get(account)
        or limits.too_much(ledger, trial, at, account, "adjust", by_hand(new, account), paid_otherwise)
        or limits.too_much(ledger, trial, at, account, "attribution", commission(new, account), paid_otherwise)
    )


# Differences -------------------------------------------------------------------------------------------------


def sums_of(rows):
    sums = {}
    for creator, currency, amount in rows:
        sums[creator, currency] = sums.get((creator, currency), Fraction(0)) + abs(amount)
    return sums


def by_hand(new, account):
    """(creator, currency) -> sum of the sizes."""
    return sums_of(
        (e.creator, e.currency, e.amount) for e in new if e.account == account and not e.is_memo and e.reason in HAND
    )


def commission(new, account):
    orders = {}
    for e in new:
        if e.account == account and not e.is_memo and not e.payout and e.reason not in HAND:
            key = (e.shop, e.order, e.program, e.creator, e.currency)
            orders[key] = orders.get(key, Fraction(0)) + e.amount
    return sums_of((key[3], key[4], amount) for key, amount in orders.items() if amount)


def rates_rise(ledger, trial, account):
    for name, program in trial.programs.items():
        if program.account != account:
            continue
        known = ledger.programs.get(name)
        if (known is None or known.file != program.file) and limits.raises(known and known.file, program.file):
            return True
        groups = {rule["group"] for rule in program.file["rule"] if rule.get("group")}
        for creator, member in program.members.items():
            was = known.members[creator].group if known and creator in known.members else None
            if (was or "") != (member.group or "") and groups & {was, member.group}:
                return True
        named = {(account, rule["creator"]) for rule in program.file["rule"] if rule.get("creator")}
        if named & (trial.aliases.keys() - ledger.aliases.keys()):
            return True
    return False


def code_changes_hands(ledger, trial, account):
    """Another creator of the account has or had the code, and is not paid as the same payee."""
    def payee(creator):
        return limits.payee_of(trial, account, creator)

    def rows(of, code):
        return of.codes.get(code, [])

    for name, program in trial.programs.items():
        known = ledger.programs.get(name)
        for code in program.codes if program.account == account and known else ():
            before = {row.valid_from: row for row in rows(known, code)}
            owners = {
                row.creator for other in ledger.programs.values() if other.account == account for row in rows(other, code)
            }
            for row in rows(program, code):
                if not is_longer(row, before.get(row.valid_from)):
                    continue
                if any(not payee(o) or payee(o) != payee(row.creator) for o in owners - {row.creator}):
                    return True
    return False


def is_longer(row, before):
    return before is None or before.creator != row.creator or (
        before.valid_until is not None and (row.valid_until is None or row.valid_until > before.valid_until)
    )


def changed_accounts(ledger, trial, new):
    accounts = {entry.account for entry in new}
    accounts |= {key[0] for key in trial.profiles if trial.profiles[key] != ledger.profiles.get(key)}
    accounts |= {key[0] for key in trial.aliases.keys() - ledger.aliases.keys()}
    accounts |= {account for account in trial.policies if trial.policy(account) != ledger.policy(account)}
    for name, program in trial.programs.items():
        known = ledger.programs.get(name)
        if known is None or any(getattr(known, part) != getattr(program, part) for part in ("file", "members", "codes", "opening_at")):
            accounts.add(program.account)
    for device, clicks in trial.clicks.items():
        if clicks != ledger.clicks.get(device):
            accounts |= {trial.programs[click.program].account for click in clicks if click not in ledger.clicks.get(device, [])}
    return accounts
