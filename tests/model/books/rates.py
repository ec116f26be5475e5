"""Rates and amounts: which rate (M1), a line (M2), frozen facts (M3), amounts per order (M4)."""

import datetime
import re
from dataclasses import replace
from fractions import Fraction

from model.books.state import FrozenLine, Rate, ascii_lower
from model.values import digits, half_even, instant, text, time_text

LEVELS = ("variant_sku", "sku", "sku_pattern", "product", "collection", "brand", "tag")
QUALIFIERS = ("creator", "group", "customer", "from", "until", "min_order_amount")
_RATE = re.compile(r"(\d{1,15}(?:\.\d{1,6})?) ([A-Z]{3})( per order)?")
_FACTOR = re.compile(r"x(\d{1,3}(?:\.\d{1,2})?)")
_PERCENT = re.compile(r"(\d{1,15}(?:\.\d{1,4})?)%")


def parse_rate(text):
    found = _PERCENT.fullmatch(text)
    if found:
        return Rate(Fraction(found.group(1)) / 100)
    found = _RATE.fullmatch(text)
    if not found:
        raise ValueError(text)
    return Rate(Fraction(found.group(1)), found.group(2), found.group(3) is not None)


def parse_factor(text):
    """"x2" -> 2, or None for a rate."""
    found = _FACTOR.fullmatch(text)
    return Fraction(found.group(1)) if found else None


def parse_money(text):
    """"25.00 EUR" -> (25, EUR)."""
    amount, currency = text.split(" ")
    return Fraction(amount), currency


# M1, M3: a line is frozen --------------------------------------------------------------------------


def freeze(ledger, order, position):
    """Lines that the position has not seen yet get their rate, rule and base."""
    if any(line_id not in position.frozen for line_id in order.lines):
        complete_facts(ledger, order, position)
    for line_id, line in order.lines.items():
        if line_id not in position.frozen:
            position.frozen[line_id] = choose(ledger, order, position, line)


def choose(ledger, order, position, line):
    file = ledger.programs[position.program].file
    values = item_values(ledger, order, line)
    matching, factors = [], []
    for place, rule in enumerate(file["rule"]):
        level = LEVELS.index(rule["match"]) if "match" in rule else len(LEVELS)
        if is_item(rule, values) and qualified(ledger, order, position, rule):
            factor = parse_factor(rule["rate"])
            (matching if factor is None else factors).append((level, -qualifiers(rule), place, rule))
    month = ledger.programs[position.program].by_month
    for *_, rule in sorted(matching, key=lambda found: found[:3]):
        frozen = stated(position, order, rule.get("tiers", []), rule["rate"], rule_name(rule), file["base"], month)
        if frozen.rate.currency in (None, order.currency):
            return multiplied(frozen, factors)
    frozen = stated(position, order, file.get("default_tiers", []), file["default_rate"], ("default",), file["base"], month)
    if frozen.rate.currency not in (None, order.currency):
        return FrozenLine(Rate(Fraction(0)), ("default",), file["base"])
    return multiplied(frozen, factors)


def stated(position, order, tiers, rate, rule, base, by_month):
    """A rule's rate before factors."""
    rows = tuple((row["from"], row["rate"]) for row in tiers)
    place = tier(position.volume, order.currency, rows)
    chosen = parse_rate(rate if place is None else rows[place][1])
    return FrozenLine(chosen, rule, base, Fraction(1), rate, rows, place, by_month)


def is_item(rule, values):
    if rule.get("match") == "sku_pattern":
        pattern = re.compile(".*".join(map(re.escape, rule["value"].split("*"))), re.DOTALL)
        return any(sku is not None and pattern.fullmatch(sku) for sku in (*values["variant_sku"], *values["sku"]))
    return "match" not in rule or rule["value"] in values[rule["match"]]


def multiplied(frozen, factors):
    """The most specific factor; of an amount per order only one without an item."""
    usable = [found for found in factors if not frozen.rate.per_order or found[0] == len(LEVELS)]
    if not usable:
        return frozen
    *_, rule = min(usable, key=lambda found: found[:3])
    factor = parse_factor(rule["rate"])
    return replace(frozen, rate=times(frozen.rate, factor), factor=factor)


def times(rate, factor):
    return Rate(rate.value * factor, rate.currency, rate.per_order)


def item_values(ledger, order, line):
    product = ledger.catalog(order.shop).product_of(line) or {}
    return {
        "variant_sku": [line.get("variant_sku")],
        "sku": [line["sku"]],
        "product": [product.get("platform_product_id")],
        "collection": product.get("collections") or [],
        "brand": [product.get("brand")],
        "tag": product.get("tags") or [],
    }


def qualifiers(rule):
    dates = "from" in rule or "until" in rule
    return dates + sum(name in rule for name in ("creator", "group", "customer", "min_order_amount"))


def qualified(ledger, order, position, rule):
    checks = {
        "creator": lambda value: ledger.creator_id(order.account, value) == position.creator,
        "group": lambda value: value == position.group,
        "customer": lambda value: value == position.customer,
        "from": lambda value: value <= order.ordered_at,
        "until": lambda value: order.ordered_at < value,
        "min_order_amount": lambda value: at_least(order, *parse_money(value)),
    }
    return all(checks[name](rule[name]) for name in QUALIFIERS if name in rule)


def at_least(order, amount, currency):
    return currency == order.currency and Fraction(order.payload["amount"]) >= amount


def rule_name(rule):
    """The same rule over versions of the file: same item, same qualifiers."""
    return tuple((name, rule[name]) for name in ("match", "value", *QUALIFIERS) if name in rule)


def tier(volume, currency, rows):
    """The place of the tier that holds; None: the rule's own rate."""
    known, amount = volume or (None, None)
    chosen, highest = None, None
    for place, (text, _) in enumerate(rows):
        start, of = parse_money(text)
        if of == currency == known and start <= amount and (highest is None or start > highest):
            chosen, highest = place, start
    return chosen


# M3, M4: facts of the order ------------------------------------------------------------------------


def freeze_facts(ledger, order, position):
    """Volume and customer: if the program asks for them then; else with a later line (complete_facts)."""
    program = ledger.programs[position.program]
    complete_facts(ledger, order, position)
    member = program.members.get(position.creator)
    position.group = member.group if member else None
    caps = [parse_money(text) for text in program.file.get("max_per_order", [])]
    position.caps = {currency: amount for amount, currency in caps}


def complete_facts(ledger, order, position):
    """Volume and customer are frozen once: when the position sees a new line and its program asks for them."""
    program = ledger.programs[position.program]
    rules = program.file["rule"]
    moves = program.by_month and is_open(ledger, order.account, month_of(order.ordered_at))
    if (not position.volume or moves) and (program.file.get("default_tiers") or any(rule.get("tiers") for rule in rules)):
        position.volume = order.currency, volume_of(ledger, order, position, program)
    if not position.asked_for_customer and any("customer" in rule for rule in rules):
        position.customer, position.asked_for_customer = customer_kind(ledger, order), True


def volume_of(ledger, order, position, program):
    """M4: of the creator's month, without the order; with it if tiers apply to the month."""
    key = (position.program, position.creator, month_of(order.ordered_at), order.currency)
    own = order.volume[1] if order.volume and order.volume[0] == key else Fraction(0)
    others = ledger.volumes.get(key, Fraction(0)) - own
    return others + sales(order) if program.by_month else others


def is_open(ledger, account, month):
    return ledger.closed_until(account) < month_bounds(month)[1]


def rate_month(position, currency, volume):
    """Lines that were frozen by a version whose tiers apply to the month get the tier of the volume. True: some line
    has another tier."""
    changed = False
    for line, frozen in position.frozen.items():
        place = tier((currency, volume), currency, frozen.tiers)
        if frozen.by_month and place != frozen.tier:
            rate = times(parse_rate(frozen.stated if place is None else frozen.tiers[place][1]), frozen.factor)
            position.frozen[line] = replace(frozen, rate=rate, tier=place)
            changed = True
    if changed:
        position.volume = currency, volume
    return changed


def rate_again(ledger, order, position):
    """A position that the order takes up again."""
    program = ledger.programs[position.program]
    if program.by_month and is_open(ledger, order.account, month_of(order.ordered_at)):
        rate_month(position, order.currency, volume_of(ledger, order, position, program))


def volume_words(currency, volume, month):
    places = digits(currency)
    while (volume * 10**places).denominator != 1:
        places += 1
    return f"volume {text(volume, places)} {currency} in {month}"


def month_of(at):
    return time_text(at)[:7]


def month_bounds(month):
    """The first instants of a month and of the next."""
    first = datetime.date.fromisoformat(month + "-01")
    after = (first + datetime.timedelta(days=31)).replace(day=1)
    return instant(f"{first}T00:00:00Z"), instant(f"{after}T00:00:00Z")


def customer_of(order):
    if order.payload.get("platform_customer_id"):
        return "id", order.payload["platform_customer_id"]
    if order.payload.get("email"):
        return "email", ascii_lower(order.payload["email"])
    return None


def customer_kind(ledger, order):
    who = customer_of(order)
    if who is None:
        return None
    place = (order.ordered_at, order.order_id.encode())
    for other in ledger.orders.values():
        if other.shop == order.shop and (other.ordered_at, other.order_id.encode()) < place:
            if customer_of(other) == who:
                return "returning"
    return "new"


def net_sales(order):
    """Returns the amount that the order adds to its creator's tier volume."""
    return Fraction(0) if order.live is None else sales(order)


def sales(order):
    if not order.earns:
        return Fraction(0)
    rows = order.standing_rows()
    total = Fraction(0)
    for line_id, line in order.lines.items():
        amount, tax = Fraction(line["amount"]), Fraction(line["tax"])
        row = rows.get(line_id)
        if row and row.amount:
            if row.amount >= amount:
                continue
            amount -= max(row.amount - row.tax, Fraction(0))
        total += max(amount - tax, Fraction(0))
    return total


# M2, M4: amounts -----------------------------------------------------------------------------------


def commissions(order, position):
    """line -> commission as of now, in the order's currency."""
    if not order.earns:
        return {}
    exact = before_refunds(order, position)
    refunded = order.refunded()
    return {
        line: half_even(value * part_left(order.lines[line], refunded.get(line)), digits(order.currency))
        for line, value in exact.items()
    }


def part_left(line, refunded):
    amount = Fraction(line["amount"])
    if not refunded:
        return Fraction(1)
    return Fraction(0) if refunded >= amount else 1 - refunded / amount


def before_refunds(order, position):
    """line -> exact product, or whole minor units where an amount per order was shared."""
    places = digits(order.currency)
    exact, shared = {}, {}
    for line_id, line in order.lines.items():
        frozen = position.frozen[line_id]
        if frozen.rate.currency not in (None, order.currency):
            exact[line_id] = Fraction(0)
        elif frozen.rate.currency is None:
            exact[line_id] = base_of(line, frozen) * frozen.rate.value
        elif frozen.rate.per_order:
            shared.setdefault(frozen.rule, []).append(line_id)
        else:
            exact[line_id] = int(line["quantity"]) * frozen.rate.value
    for lines in shared.values():
        weights = {line: base_of(order.lines[line], position.frozen[line]) for line in lines}
        exact.update(share(first_amount(position, lines[0]), weights, places))
    cap = position.caps.get(order.currency)
    if cap is not None and sum(half_even(v, places) for v in exact.values()) > half_even(cap, places):
        exact = share(cap, exact, places)
    return exact


def first_amount(position, line):
    """The amount that was frozen first for the line's rule; `frozen` is in the order of freezing."""
    own = position.frozen[line]
    return next(
        frozen.rate.value
        for frozen in position.frozen.values()
        if (frozen.rule, frozen.rate.currency, frozen.rate.per_order) == (own.rule, own.rate.currency, True)
    )


def base_of(line, frozen):
    amount = Fraction(line["amount"])
    return amount if frozen.base == "gross" else max(amount - Fraction(line["tax"]), Fraction(0))


def share(amount, weights, places):
    """The amount in whole minor units by largest remainder, ties to the lower line id."""
    units = half_even(amount, places) * 10**places
    total = sum(weights.values(), Fraction(0))
    if total == 0:
        return dict.fromkeys(weights, Fraction(0))
    parts = {line: units * weight / total for line, weight in weights.items()}
    whole = {line: part.numerator // part.denominator for line, part in parts.items()}
    rest = int(units - sum(whole.values()))
    for line in sorted(parts, key=lambda line: (whole[line] - parts[line], line.encode()))[:rest]:
        whole[line] += 1
    return {line: Fraction(number, 10**places) for line, number in whole.items()}


def bases(order, position):
    return sum((base_of(line, position.frozen[i]) for i, line in order.lines.items()), Fraction(0))
