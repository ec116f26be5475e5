"""The program file: programs, one policy per account; refused files (12), commands that need approval (H3)."""

from model.books import imports, limits, rates
from model.books.rates import parse_money, parse_rate
from model.books.state import Program, Refused
from model.values import DAY

LISTS = (
    "min_payout", "approve_payout_above", "approve_adjust_above", "approve_attribution_above", "approve_run_above",
    "amount_limit",
)

def apply(ledger, at, command, approved=None):
    """`approved` marks the approval, if there is one. `programs` and `policies` as in the file, times as instants. Nothing is applied in part."""
    policies = {row["account"]: row for row in command.get("policies", [])}
    for row in policies.values():
        check_policy(ledger, row)
    for row in command["programs"]:
        check_program(ledger, row, policies.get(row["account"], ledger.policy(row["account"])))
    changed = [account for account, row in policies.items() if ledger.policy(account) != row]
    above = [text for account in changed for text in rates_above(ledger, policies[account], command)]
    for account in changed:
        ledger.policies[account] = policies[account]
        ledger.memo(at, "POLICY_CHANGED", account=account)
    for row in command["programs"]:
        put(ledger, at, command, row)
    if approved:
        approved()
    accounts = {row["account"] for row in command["programs"]}
    imports.try_waiting(ledger, at, accounts, lambda order: True)
    return "; ".join(above)


def rates_above(ledger, policy, command):
    """Programs in force, other than those of the file, with a rate above max_rate."""
    named = {row["id"] for row in command["programs"]}
    for name, program in sorted(ledger.programs.items()):
        if program.account == policy["account"] and name not in named:
            try:
                check_rates(f"program {name}", program.file, policy)
            except Refused as refused:
                yield f"{refused}, {parse_rate(policy['max_rate']).value * 100}%, and stays in force"


def known_file(ledger, row):
    return ledger.programs[row["id"]].file if row["id"] in ledger.programs else None


def is_changed(ledger, row):
    return known_file(ledger, row) != row


def put(ledger, at, command, row):
    program = ledger.programs.get(row["id"])
    effective_from = command["effective_from"] if command.get("effective_from") is not None else at.received - row["late_days"] * DAY
    if program is None:
        program = ledger.programs[row["id"]] = Program(row["id"], row["account"], row, effective_from, {})
        opens = row.get("starts_at") is not None
    else:
        opens = row.get("starts_at") not in (None, program.file.get("starts_at"))
    covered = dict(program.effective_from)
    program.file = row
    if program.by_month:
        program.bounds |= {
            parse_money(tier["from"]) for place in [row, *row["rule"]] for tier in place.get("default_tiers", place.get("tiers", []))
        }
    program.effective_from = {}
    for shop in row["shops"] or ["*"]:
        old = covered.get(shop, covered.get("*"))
        program.effective_from[shop] = effective_from if old is None else old
    if not row["shops"]:  # shops that were named before keep what they had
        program.effective_from.update({shop: old for shop, old in covered.items() if shop != "*"})
    if opens:  # an explicit date is honoured whole: the apply that opens the interval tries it all
        program.effective_from = {shop: min(old, row["starts_at"]) for shop, old in program.effective_from.items()}


# Refusals -----------------------------------------------------------------------------------------------------


def check_policy(ledger, row):
    account = row["account"]
    if account not in ledger.registry:
        raise Refused(f"policy: there is no account {account}")
    for name in LISTS:
        currencies = [parse_money(text)[1] for text in row.get(name, [])]
        if len(set(currencies)) != len(currencies):
            raise Refused(f"policy of {account}: {name} has two amounts of one currency")


def check_program(ledger, row, policy):
    where = f"program {row['id']}"
    known = ledger.programs.get(row["id"])
    if row["account"] not in ledger.registry:
        raise Refused(f"{where}: there is no account {row['account']}")
    if known and known.account != row["account"]:
        raise Refused(f"{where}: belongs to account {known.account}")
    starts = known.first_effective_from if known and row.get("starts_at") is None else row.get("starts_at")
    if row.get("ends_at") is not None and starts is not None and row["ends_at"] <= starts:
        raise Refused(f"{where}: ends_at is not after starts_at")
    caps = [parse_money(text)[1] for text in row.get("max_per_order", [])]
    if len(set(caps)) != len(caps):
        raise Refused(f"{where}: max_per_order has two amounts of one currency")
    check_rates(where, row, policy)
    check_months(where, row)


def check_months(where, row):
    """Another tier changes the number of a rate, and nothing else."""
    if row.get("tiers_apply", "order") not in ("order", "month"):
        raise Refused(f"{where}: tiers_apply is order or month")
    if row.get("tiers_apply") != "month":
        return
    places = [(row["default_rate"], row.get("default_tiers", []))]
    places += [(rule["rate"], rule["tiers"]) for rule in row["rule"] if rule.get("tiers")]
    if not any(tiers for _, tiers in places):
        raise Refused(f"{where}: tiers_apply is month, and the program has no tiers")
    for rate, tiers in places:
        own = parse_rate(rate)
        for tier in tiers:
            other = parse_rate(tier["rate"])
            if (other.currency, other.per_order) != (own.currency, own.per_order):
                raise Refused(f"{where}: expected rates of one kind and currency")
            if own.currency not in (None, parse_money(tier["from"])[1]):
                raise Refused(f"{where}: expected from in the currency of the rate")


def check_rates(where, row, policy):
    limit = parse_rate(policy.get("max_rate", "100%"))
    check_rate(where, "default_rate", row["default_rate"], limit)
    check_tiers(where, "default_tiers", row.get("default_tiers", []), limit)
    for number, rule in enumerate(row["rule"], 1):
        check_rule(f"{where}, rule {number}", rule, limit)
        factor = rates.parse_factor(rule["rate"])
        if factor is not None and any(rate.currency is None and rate.value * factor > limit.value for rate in stated_rates(row)):
            raise Refused(f"{where}, rule {number}: {rule['rate']} is above max_rate")


def stated_rates(row):
    """Every rate that a factor may multiply."""
    tiers = [*row.get("default_tiers", []), *(tier for rule in row["rule"] for tier in rule.get("tiers", []))]
    texts = [row["default_rate"], *(rule["rate"] for rule in row["rule"]), *(tier["rate"] for tier in tiers)]
    return [parse_rate(text) for text in texts if rates.parse_factor(text) is None]


def check_rule(where, rule, limit):
    if not any(name in rule for name in ("match", *rates.QUALIFIERS)):
        raise Refused(f"{where}: has neither an item nor a qualifier")
    if ("match" in rule) != ("value" in rule):
        raise Refused(f"{where}: match and value belong together")
    if "from" in rule and "until" in rule and rule["until"] <= rule["from"]:
        raise Refused(f"{where}: until is not after from")
    if rule.get("customer") not in (None, "new", "returning"):
        raise Refused(f"{where}: customer is new or returning")
    if rates.parse_factor(rule["rate"]) is None:
        check_rate(where, "rate", rule["rate"], limit)
    elif rule.get("tiers"):
        raise Refused(f"{where}: tiers beside a factor")
    check_tiers(where, "tiers", rule.get("tiers", []), limit)


def check_rate(where, name, text, limit):
    try:
        rate = parse_rate(text)
    except ValueError:
        raise Refused(f'{where}: {name} "{text}" is no rate; expected "10%", "1.50 USD" or "5.00 USD per order"') from None
    if rate.currency is None and rate.value > limit.value:
        raise Refused(f"{where}: {name} {text} is above max_rate")


def check_tiers(where, name, tiers, limit):
    highest = {}
    for row in tiers:
        start, currency = parse_money(row["from"])
        if currency in highest and start <= highest[currency]:
            raise Refused(f"{where}: {name} do not rise at {row['from']}")
        highest[currency] = start
        check_rate(where, name, row["rate"], limit)
