"""Order events (O1 to O5), cancellation (C1), refunds (R1 to R3), and what they post."""

import hashlib
import json
from fractions import Fraction

from model.books import attribution, forget, plausibility, rates
from model.books.state import Order, RefundRow
from model.values import DAY, instant, scale


def apply(ledger, at, shop, topic, body):
    """applied, stale or duplicate."""
    payload = json.loads(body)
    key = (shop, payload["platform_order_id"])
    digest = hashlib.sha256(topic.encode() + b"\0" + body).digest()
    order = ledger.orders.get(key)
    if order and digest in order.digests:
        forget.state_ids(order, payload)
        return "duplicate"
    first = order is None
    if first:
        order = ledger.orders[key] = Order(*key, ledger.shops[shop])
    version = instant(payload.get("platform_updated_at") or payload["platform_ordered_at"])
    stale = not first and version < order.version
    order.digests[digest] = stale
    forget.state_ids(order, payload)

    before = Before(order)
    note_versions(ledger, order, at, topic, payload, version, first)
    state_device(order, payload, version)
    if not stale:
        replace(ledger, order, at, topic, payload, version, first)
    for statement in payload.get("refund_line_items") or []:
        refund(ledger, order, at, statement, version)
    reason = None
    if order.live is None and attribution.attribute(ledger, at, order, cause=""):
        reason = "ACCRUAL"
    post(ledger, at, order, before, reason)
    plausibility.judge(ledger, at, order, event=True)
    return "stale" if stale else "applied"


class Before:
    """The state of an order before an input, from which the reasons follow."""

    def __init__(self, order):
        self.cancelled = order.cancelled_at is not None
        self.refunded = order.refunded()
        self.lines = set(order.position.frozen) if order.live else set()


def note_versions(ledger, order, at, topic, payload, version, first):
    """O3, O5, and the anomalies of C1 that an event shows by itself."""
    if version <= at.received + DAY:
        order.plausible_version = max(version, order.plausible_version or version)
    elif first or version >= order.version:
        plausibility.show(ledger, at, order, "VERSION_IN_FUTURE")
    if topic == "ORDER_CANCEL" and not first:
        if not payload.get("platform_cancelled_at"):
            plausibility.show(ledger, at, order, "CANCEL_WITHOUT_CANCELLED_AT")
        elif version <= order.version and instant(payload["platform_cancelled_at"]) != order.cancelled_at:
            plausibility.show(ledger, at, order, "CANCEL_NOT_LATER")


def state_device(order, payload, version):
    """O4: the newest version that stated a device id; at one version the later arrival."""
    device = payload.get("svc_anon_id")
    if device and (order.device is None or version >= order.device_version):
        order.device, order.device_version = device, version


def replace(ledger, order, at, topic, payload, version, first):
    stated = payload.get("platform_cancelled_at")
    cancelled_at = instant(stated) if stated else None
    if topic == "ORDER_CANCEL" and cancelled_at and not first and version == order.version:
        cancelled_at = order.cancelled_at  # C1: does not cancel, the rest of it applies
    if order.cancelled_at is not None and cancelled_at is None:
        plausibility.show(ledger, at, order, "CANCELLATION_WITHDRAWN")
    order.payload, order.version, order.cancelled_at = payload, version, cancelled_at
    if first and order.ordered_at < at.received - 400 * DAY:
        order.long_ago = True


def refund(ledger, order, at, statement, version):
    """R1, R2: rows by refund id; an id belongs to the first order and line that used it."""
    refund_id, line = statement["refund_line_item_id"], statement["line_item_id"]
    owner = ledger.refund_owner.setdefault((order.shop, refund_id), (order.order_id, line))
    if owner != (order.order_id, line):
        plausibility.show(ledger, at, order, "REFUND_ID_REUSED")
        return
    row = order.rows.get(refund_id)
    if row is None and any(other.line == line for other in order.rows.values()):
        plausibility.show(ledger, at, order, "DUPLICATE_REFUND_ID")
    if row is None or version >= row.version:
        ledger.arrivals += 1
        order.rows[refund_id] = RefundRow(
            line, Fraction(statement["amount"]), Fraction(statement["tax"]),
            scale(statement["amount"]), scale(statement["tax"]), version, ledger.arrivals,
        )


# Postings (J1) ----------------------------------------------------------------------------------------


def post(ledger, at, order, before=None, reason=None):
    """Brings the live position to what the rules give now. `reason`: of all its postings."""
    position = order.position
    if position is not None:
        rates.freeze(ledger, order, position)
        target = {(line, order.currency): v for line, v in rates.commissions(order, position).items()}
        lines = {key for key, value in position.accrued.items() if key[0] and value}
        for line, currency in sorted(lines | set(target), key=encoded):
            delta = target.get((line, currency), Fraction(0)) - position.accrued.get((line, currency), Fraction(0))
            if delta:
                why = reason or cause(order, before, line)
                ledger.posting(at, position, line, currency, delta, why, order.shop, order.order_id)
    ledger.count_volume(order)


def encoded(key):
    return tuple(part.encode() for part in key)


def cause(order, before, line):
    if line not in before.lines:
        return "ACCRUAL"
    if before.cancelled != (order.cancelled_at is not None):
        return "CANCELLATION"
    if order.refunded().get(line, 0) != before.refunded.get(line, 0):
        return "REFUND"
    return "UPDATE"


def clear(ledger, at, order, position, reason):
    """Takes what is accrued of the position's lines back; the manual part stays."""
    for line, currency in sorted((key for key, value in position.accrued.items() if key[0] and value), key=encoded):
        amount = -position.accrued[(line, currency)]
        ledger.posting(at, position, line, currency, amount, reason, order.shop, order.order_id)
