"""Anomalies (H2): momentary ones show by an event, lasting ones are judged."""

from fractions import Fraction

from model.books import rates
from model.books.state import ACTIVE, Anomaly, Refused
from model.values import DAY, digits, half_even

MOMENTARY = (
    "VERSION_IN_FUTURE", "CANCEL_WITHOUT_CANCELLED_AT", "CANCEL_NOT_LATER", "CANCELLATION_WITHDRAWN",
    "DUPLICATE_REFUND_ID", "REFUND_ID_REUSED",
)
NOTES = ("REFUND_NOT_BY_LINE", "TOTALS_DIFFER", "QUANTITY_ROUNDED")
BLOCKING = (
    "VERSION_IN_FUTURE", "CANCEL_WITHOUT_CANCELLED_AT", "CANCEL_NOT_LATER", "REFUND_ID_REUSED",
    "LINES_EXCEED_AMOUNT", "COMMISSION_EXCEEDS_BASE", "AMOUNT_ABOVE_LIMIT", "ORDERED_IN_FUTURE",
    "CURRENCY_CHANGED", "CREDITED_ORDER", "DEBT_WRITTEN_OFF",
)


def show(ledger, at, order, kind, event=True):
    """A momentary kind: once per input in the count; blocks again after an acknowledgement."""
    anomaly = order.anomalies.setdefault(kind, Anomaly(at.seq if event else 0, at.received))
    if not is_open(anomaly):
        ledger.begun.append(kind)
    if (order.key, kind) not in ledger.shown:
        ledger.shown.add((order.key, kind))
        anomaly.count += 1
    anomaly.showing, anomaly.acknowledged_by, anomaly.acknowledged_at = True, None, None


def note(ledger, at, order, notes):
    """O7: a note shows as long as the newest version has it, and stays acknowledged as long."""
    for kind in NOTES:
        anomaly = order.anomalies.get(kind)
        if kind not in notes:
            if anomaly and anomaly.showing:
                anomaly.showing, anomaly.acknowledged_by, anomaly.acknowledged_at = False, None, None
            continue
        if anomaly is None:
            anomaly = order.anomalies[kind] = Anomaly(at.seq, at.received)
            was_open = False
        else:
            was_open = is_open(anomaly)
        anomaly.count += 1
        anomaly.showing = True
        if is_open(anomaly) and not was_open:
            ledger.begun.append(kind)


def is_open(anomaly):
    return anomaly.showing and anomaly.acknowledged_by is None


def judge(ledger, at, order, event):
    """Lasting kinds, after every input that touches the order. The count is of order events after
    which it was so, and of each beginning by another input. An anomaly that begins to show or blocks
    again has a memo entry, after all others of the order; momentary kinds come first."""
    judge_lasting(ledger, at, order, event)
    for kind in ledger.begun:
        ledger.memo(at, "ANOMALY", order=order, line=kind)
    ledger.begun.clear()


def judge_lasting(ledger, at, order, event):
    for kind, condition in LASTING.items():
        holds = condition(ledger, at, order)
        anomaly = order.anomalies.get(kind)
        if not holds:
            if anomaly:
                anomaly.showing, anomaly.acknowledged_by, anomaly.acknowledged_at = False, None, None
                anomaly.acknowledged_value = None
            continue
        begins = anomaly is None or not anomaly.showing
        if anomaly is None:
            anomaly = order.anomalies[kind] = Anomaly(at.seq if event else 0, at.received)
        was_open = is_open(anomaly)
        counts = begins or (event and kind != "ORDERED_LONG_AGO")
        value = VALUES[kind](ledger, order)
        if anomaly.acknowledged_by is not None and goes_beyond(kind, value, anomaly.acknowledged_value):
            anomaly.acknowledged_by, anomaly.acknowledged_at, anomaly.value = None, None, value
        if counts:
            anomaly.value = value
        anomaly.count += counts
        anomaly.showing = True
        if is_open(anomaly) and not was_open:
            ledger.begun.append(kind)


def goes_beyond(kind, value, seen):
    """K6: more than what was acknowledged, of another currency, or further from the receipt."""
    if kind == "ORDERED_LONG_AGO":
        return value < seen
    if kind == "ORDERED_IN_FUTURE":
        return value > seen
    return value[1] != seen[1] or value[0] > seen[0]


def exceeded_lines(order):
    refunded = order.refunded()
    return [i for i, line in order.lines.items() if refunded.get(i, 0) > Fraction(line["amount"])]


def lines_exceed_amount(ledger, at, order):
    over = rates.parse_rate(ledger.policy(order.account).get("lines_over", "10%")).value
    lines = sum(Fraction(line["amount"]) for line in order.lines.values())
    return lines > Fraction(order.payload["amount"]) * (1 + over)


def exceeding_tax(order):
    sent = [(Fraction(row["tax"]), Fraction(row["amount"])) for row in [order.payload, *order.lines.values()]]
    refunds = [(row.tax, row.amount) for row in order.standing_rows().values()]
    return max([tax for tax, amount in sent + refunds if tax > amount], default=Fraction(0))


def beyond_amount(order):
    return sum(Fraction(line["amount"]) for line in order.lines.values()) - Fraction(order.payload["amount"])


def refunded_beyond(order):
    refunded = order.refunded()
    return sum((refunded[i] - Fraction(order.lines[i]["amount"]) for i in exceeded_lines(order)), Fraction(0))


def commission_before_refunds(order):
    places = digits(order.currency)
    return sum((half_even(v, places) for v in rates.before_refunds(order, order.position).values()), Fraction(0))


def commission_exceeds_base(ledger, at, order):
    """Rounded sums, before refunds."""
    position = order.position
    if position is None or not order.earns:
        return False
    places = digits(order.currency)
    share = rates.parse_rate(ledger.policy(order.account).get("max_share", "100%")).value
    return commission_before_refunds(order) > half_even(rates.bases(order, position) * share, places)


def amount_above_limit(ledger, at, order):
    limits = [rates.parse_money(text) for text in ledger.policy(order.account).get("amount_limit", [])]
    return any(c == order.currency and Fraction(order.payload["amount"]) > limit for limit, c in limits)


def ordered_in_future(ledger, at, order):
    return order.ordered_at > at.received + DAY


def currency_changed(ledger, at, order):
    """Some allocated amount has another currency than the order."""
    return any(
        currency != order.currency and position.allocated_in(currency)
        for position in order.positions.values()
        for currency in position.currencies()
    )


def credited_order(ledger, at, order):
    return any(
        (credit.shop, credit.order) == (order.shop, order.order_id) and not ledger.reversed_by(credit.credit_id)
        for credit in ledger.credits.values()
    )


def deducting(ledger, order, position, currency):
    """The active payouts that deducted an amount of the position in this currency."""
    def taken(payout):
        return sum((
            item.amount for item in payout.items
            if item.kind != "CREDIT" and (item.program, item.shop, item.order) == (position.program, order.shop, order.order_id)
        ), Fraction(0))

    return [
        payout for payout in ledger.payouts.values()
        if payout.state in ACTIVE and (payout.creator, payout.currency, payout.account) ==
        (position.creator, currency, order.account) and taken(payout) < 0
    ]


def open_after_deduction(ledger, order):
    """[(amount, currency, program, payouts)] of positions with an amount open above 0 after a payout deducted one."""
    found = []
    for position in order.positions.values():
        for currency in position.currencies() if position.active else ():
            left = position.accrued_in(currency) - position.allocated_in(currency)
            payouts = deducting(ledger, order, position, currency) if left > 0 else []
            if payouts:
                found.append((left, currency, position.program, payouts))
    return found


def write_off_in(ledger, payout, program):
    for item in payout.items:
        if item.kind == "CREDIT" and item.program == program:
            credit = ledger.credits[item.line]
            if credit.is_write_off and not ledger.reversed_by(credit.credit_id):
                return credit.credit_id
    return None


def debt_written_off(ledger, at, order):
    """A debt that a payout deducted together with a write-off does not exist any more: it would be paid."""
    return any(
        write_off_in(ledger, payout, program)
        for _, _, program, payouts in open_after_deduction(ledger, order) for payout in payouts
    )


def first_open_after_deduction(ledger, order):
    (amount, currency, *_), *_ = open_after_deduction(ledger, order)
    return amount, currency


LASTING = {
    "REFUND_EXCEEDS_LINE": lambda ledger, at, order: bool(exceeded_lines(order)),
    "LINES_EXCEED_AMOUNT": lines_exceed_amount,
    "TAX_EXCEEDS_AMOUNT": lambda ledger, at, order: bool(exceeding_tax(order)),
    "COMMISSION_EXCEEDS_BASE": commission_exceeds_base,
    "AMOUNT_ABOVE_LIMIT": amount_above_limit,
    "ORDERED_IN_FUTURE": ordered_in_future,
    "ORDERED_LONG_AGO": lambda ledger, at, order: order.long_ago,
    "CURRENCY_CHANGED": currency_changed,
    "CREDITED_ORDER": credited_order,
    "DEBT_WRITTEN_OFF": debt_written_off,
}
KINDS = (*MOMENTARY, *LASTING, *NOTES)


def amount_of(ledger, order):
    return Fraction(order.payload["amount"]), order.currency


VALUES = {  # K6: what raised a lasting kind
    "REFUND_EXCEEDS_LINE": lambda ledger, order: (refunded_beyond(order), order.currency),
    "LINES_EXCEED_AMOUNT": lambda ledger, order: (beyond_amount(order), order.currency),
    "TAX_EXCEEDS_AMOUNT": lambda ledger, order: (exceeding_tax(order), order.currency),
    "COMMISSION_EXCEEDS_BASE": lambda ledger, order: (commission_before_refunds(order), order.currency),
    "AMOUNT_ABOVE_LIMIT": amount_of,
    "CURRENCY_CHANGED": amount_of,
    "CREDITED_ORDER": amount_of,
    "DEBT_WRITTEN_OFF": first_open_after_deduction,
    "ORDERED_IN_FUTURE": lambda ledger, order: order.ordered_at,
    "ORDERED_LONG_AGO": lambda ledger, order: order.ordered_at,
}


def blocking_kinds(ledger, account):
    policy = ledger.policy(account)
    return policy["blocking"] if "blocking" in policy else BLOCKING


def blocking(ledger, order):
    """Kinds that block the order now."""
    wanted = blocking_kinds(ledger, order.account)
    return [
        kind
        for kind in KINDS
        if kind in wanted and kind in order.anomalies
        and order.anomalies[kind].showing and order.anomalies[kind].acknowledged_by is None
    ]


def acknowledge(ledger, at, order, kind):
    """True: something changed."""
    if kind not in KINDS:
        raise Refused(f"{kind} is no kind of anomaly; there are {', '.join(KINDS)}")
    anomaly = order.anomalies.get(kind)
    if anomaly is None:
        raise Refused(f"order {order.order_id} of shop {order.shop} has no anomaly {kind}")
    if not anomaly.showing or anomaly.acknowledged_by is not None:
        return False
    anomaly.acknowledged_by, anomaly.acknowledged_at = at.actor, at.received
    if kind in VALUES:
        anomaly.value = anomaly.acknowledged_value = VALUES[kind](ledger, order)
    return True
