"""Order events (O1 to O5), cancellation (C1), refunds (R1 to R3), and what they post."""

import hashlib
import json
from fractions import Fraction

from model.books import attribution, forget, plausibility, rates
from model.books.state import Order, RefundRow
from model.values import DAY, instant, scale

SECOND = 10**9


def apply(ledger, at, shop, topic, body, source=None):
    """applied, stale or duplicate. `source`: of a shop with a platform, its name and `triggered_at`."""
    payload = json.loads(body)
    key = (shop, payload["platform_order_id"])
    digest = hashlib.sha256(topic.encode() + b"\0" + body).digest()
    order = ledger.orders.get(key)
    if order and digest in order.digests and (source is None or digest == order.standing):
        if topic != "ORDER_DELETE":
            forget.state_ids(order, payload)
        return "duplicate"
    if topic == "ORDER_DELETE":
        return delete(ledger, at, key, order, payload, source, digest)
    first = order is None
    if first:
        order = ledger.orders[key] = Order(*key, ledger.shops[shop])
    version = instant(payload.get("platform_updated_at") or payload["platform_ordered_at"])
    undone = order.version if undoes_deletion(order, source) else None
    if undone is not None:
        order.version = 0
    stale = not first and version < order.version
    order.digests[digest] = stale
    forget.state_ids(order, payload)

    before = Before(order)
    note_versions(ledger, order, at, topic, payload, version, first)
    state_device(order, payload, version)
    if not stale:
        replace(ledger, order, at, topic, payload, version, first)
        order.standing, order.is_deleted = digest, False
    if undone is not None:
        order.version = max(undone, order.version)  # O5
    for statement in payload.get("refund_line_items") or []:
        refund(ledger, order, at, statement, version)
    if first and source and source["platform"] == "shopify":
        earlier_deletion(ledger, at, order, version)
    finish(ledger, at, order, before, None if stale or source is None else notes_of(payload))
    return "stale" if stale else "applied"


def finish(ledger, at, order, before, notes=None):
    reason = None
    if order.live is None and attribution.attribute(ledger, at, order, cause=""):
        reason = "ACCRUAL"
    post(ledger, at, order, before, reason)
    if notes is not None:
        plausibility.note(ledger, at, order, notes)
    plausibility.judge(ledger, at, order, event=True)


def notes_of(payload):
    """O7: of the only object that a platform's translation has for it."""
    return payload.get("source", {}).get("notes", [])


# Orders that the platform of their shop deleted (O7) --------------------------------------------------


def delete(ledger, at, key, order, payload, source, digest):
    """The version of a deletion is what it says; on Shopify else the end of the second of its receipt, on
    WooCommerce the one that stands."""
    is_shopify = source["platform"] == "shopify"
    stated = payload.get("platform_updated_at")
    version = instant(stated) if stated else at.received // SECOND * SECOND + SECOND - 1 if is_shopify else None
    cancelled_at = instant(source["triggered_at"]) if source.get("triggered_at") else at.received
    if order is None:
        return keep_deletion(ledger, at, key, version, cancelled_at, digest) if is_shopify else "stale"
    version = order.version if version is None else version
    stale = version < order.version
    order.digests[digest] = stale
    before = Before(order)
    cancel(ledger, at, order, version, cancelled_at, at.received)
    if not stale:
        order.standing, order.is_deleted = digest, True
    finish(ledger, at, order, before)
    return "stale" if stale else "applied"


def undoes_deletion(order, source):
    """Any state of WooCommerce does, because its deletions have no version."""
    return source is not None and source["platform"] == "woocommerce" and order.is_deleted


def keep_deletion(ledger, at, key, version, cancelled_at, digest):
    known = ledger.deletions.get(key)
    if known and version <= known[0]:
        return "duplicate" if version == known[0] else "stale"
    ledger.deletions[key] = (version, cancelled_at, at.received, digest)
    return "applied"


def earlier_deletion(ledger, at, order, version):
    """A state that is not later than a deletion that came before it arrives cancelled."""
    known = ledger.deletions.pop((order.shop, order.order_id), None)
    if known and version <= known[0]:
        cancel(ledger, at, order, *known[:3])
        order.standing, order.is_deleted = known[3], True
        order.digests[known[3]] = False


def cancel(ledger, at, order, version, cancelled_at, received):
    if version <= received + DAY:
        order.plausible_version = max(version, order.plausible_version or version)
    elif version >= order.version:
        plausibility.show(ledger, at, order, "VERSION_IN_FUTURE")
    if version >= order.version:
        order.version, order.cancelled_at = version, cancelled_at


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
    ledger.count_volume(at, order)


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
