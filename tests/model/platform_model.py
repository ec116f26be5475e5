"""Sections "Shopify" and "WooCommerce" of docs/shops.md a second time, with fractions for amounts.

Reads a payload that json.loads(..., parse_float=str, parse_int=str) made, so no number is a double.
"""

import hashlib
import re
from fractions import Fraction

from model.values import digits, half_even, instant

SECOND = 10**9
DEVICE = re.compile(r"[A-Za-z0-9._~-]{8,128}")
NOTES = ("REFUND_NOT_BY_LINE", "TOTALS_DIFFER", "QUANTITY_ROUNDED")


class Fault(Exception):
    """A field that must be there is missing or unreadable."""


def amount(given):
    return Fraction(0) if given in (None, "") else half_even_signed(Fraction(given), 6)


def half_even_signed(value, places):
    return -half_even(-value, places) if value < 0 else half_even(value, places)


def needed(holder, name):
    if holder.get(name) is None:
        raise Fault(name)
    return holder[name]


def share_tax(tax, part, whole, currency):
    return half_even(tax * part / whole, digits(currency)) if whole else Fraction(0)


def largest_remainder(total, weights, currency):
    unit = Fraction(1, 10 ** digits(currency))
    units = half_even(total, digits(currency)) / unit
    whole = sum(weights)
    if not whole:
        return [Fraction(0)] * len(weights)
    exact = [units * weight / whole for weight in weights]
    shares = [value.numerator // value.denominator for value in exact]
    by_fraction = sorted(range(len(weights)), key=lambda at: (shares[at] - exact[at], at))
    for at in by_fraction[: int(units - sum(shares))]:
        shares[at] += 1
    return [min(share * unit, weight) for share, weight in zip(shares, weights)]


def customer_of(number, email):
    if number:
        return number
    if not email:
        return None
    folded = "".join(chr(ord(c) + 32) if "A" <= c <= "Z" else c for c in email)
    return "mail:" + hashlib.sha256(b"email:" + folded.encode()).hexdigest()


def device_in_url(url, field):
    query = url.partition("#")[0].partition("?")[2]
    for pair in query.split("&"):
        name, equals, value = pair.partition("=")
        if equals and percent(name) == field:
            return percent(value) if DEVICE.fullmatch(percent(value)) else None
    return None


def percent(text):
    return re.sub("%([0-9a-fA-F]{2})", lambda found: chr(int(found.group(1), 16)), text)


def first_device(pairs, field):
    for name, value in pairs:
        if name in (field, "_" + field) and isinstance(value, str) and DEVICE.fullmatch(value):
            return value
    return None


def without_none(held):
    if isinstance(held, list):
        return [without_none(each) for each in held]
    if not isinstance(held, dict):
        return held
    return {name: without_none(value) if isinstance(value, list) else value
            for name, value in held.items() if value is not None}


def is_number(given):
    """Whether it is kept as what people call the order."""
    return (isinstance(given, str) and len(given.encode()) <= 64 and given.strip("# ") != ""
            and not any(c < " " or c == "\x7f" for c in given))


class Line:
    def __init__(self, number, sku, variant, quantity):
        self.id, self.sku, self.variant, self.quantity = number, sku, variant, quantity
        self.amount = self.tax = self.refunded = self.refunded_tax = Fraction(0)
        self.pieces, self.times = 0, []

    def refund(self, amount_part, tax_part, pieces, at):
        self.refunded += amount_part
        self.refunded_tax += tax_part
        self.pieces += pieces
        self.times.append(at)


class Order:
    def __init__(self):
        self.lines, self.discounts, self.notes = [], [], set()
        self.amount = self.tax = self.shipping = Fraction(0)
        self.number = self.confirmation = None
        self.customer = self.device = self.cancelled_at = self.refunds_at = None

    def settle(self):
        """Nothing is below 0, and the whole is not less than its parts."""
        before = (self.amount, self.tax, self.shipping, [(line.amount, line.tax) for line in self.lines])
        self.amount, self.tax, self.shipping = (max(value, Fraction(0)) for value in before[:3])
        for line in self.lines:
            if line.amount < 0:
                line.amount = line.tax = Fraction(0)
            line.tax = max(line.tax, Fraction(0))
        self.amount = max(self.amount, self.shipping + sum(line.amount for line in self.lines))
        if before != (self.amount, self.tax, self.shipping, [(line.amount, line.tax) for line in self.lines]):
            self.notes.add("TOTALS_DIFFER")

    def spread(self, money, at):
        self.notes.add("REFUND_NOT_BY_LINE")
        left = [max(line.amount - line.refunded, Fraction(0)) for line in self.lines]
        for line, part in zip(self.lines, largest_remainder(min(money, sum(left)), left, self.currency)):
            if part:
                line.refund(part, share_tax(line.tax, part, line.amount, self.currency), 0, at)

    def canonical(self):
        order = {
            "platform_order_id": self.id,
            "platform_customer_id": self.customer,
            "platform_ordered_at": self.ordered_at,
            "platform_updated_at": self.updated_at,
            "platform_cancelled_at": self.cancelled_at,
            "amount": self.amount,
            "tax": self.tax,
            "shipping": self.shipping,
            "currency_code": self.currency,
            "discounts": [
                {"code": code, "type": "DISCOUNT_CODE", "value_type": "FIXED_AMOUNT", "value": value}
                for code, value in self.discounts
            ],
            "line_items": [
                {"line_item_id": line.id, "sku": line.sku, "variant_sku": line.variant, "amount": line.amount,
                 "tax": line.tax, "quantity": line.quantity}
                for line in self.lines
            ],
            "refund_line_items": [
                {"refund_line_item_id": line.id, "line_item_id": line.id, "sku": line.sku,
                 "variant_sku": line.variant, "amount": line.refunded, "tax": line.refunded_tax,
                 "quantity": line.pieces, "platform_refunded_at": max(line.times, default=self.refunds_at)}
                for line in self.lines
            ] if self.refunds_at is not None else [],
            "platform_order_numbers": [self.number] if is_number(self.number) and self.number != self.id else [],
            "platform_confirmation_number":
                self.confirmation if is_number(self.confirmation) and len(self.confirmation.encode()) >= 8 else None,
            "svc_anon_id": self.device,
        }
        return without_none({name: value for name, value in order.items() if value != []})


class Settings:
    def __init__(self, presentment=False, tests=False, gift_cards=False, since=None):
        self.presentment, self.tests, self.gift_cards, self.since = presentment, tests, gift_cards, since


class Shopify:
    def __init__(self, payload, settings, triggered_at=None, from_file=False):
        self.given, self.settings = payload, settings
        self.money_name = "presentment_money" if settings.presentment else "shop_money"
        self.triggered_at, self.from_file = triggered_at, from_file

    def money(self, holder, name, need=False):
        held = holder.get(name + "_set")
        if held is None:
            return amount(needed(holder, name) if need else holder.get(name))
        held = needed(held, self.money_name) if need else held.get(self.money_name)
        if held is None:
            return Fraction(0)
        return amount(needed(held, "amount") if need else held.get("amount"))

    def taxes(self, holder):
        return sum((self.money(tax, "price") for tax in holder.get("tax_lines") or []), Fraction(0))

    def allocated(self, holder):
        return sum((self.money(part, "amount") for part in holder.get("discount_allocations") or []), Fraction(0))

    def translate(self):
        given, order = self.given, Order()
        if given.get("test") and not self.settings.tests:
            return "test_order"
        order.ordered_at = instant(given.get("processed_at") or needed(given, "created_at"))
        if self.settings.since is not None and order.ordered_at < self.settings.since:
            return "before_start"
        order.id = needed(given, "id")
        order.number, order.confirmation = given.get("name"), given.get("confirmation_number")
        second = instant(needed(given, "updated_at")) // SECOND * SECOND
        is_cancelled = given.get("cancelled_at") is not None
        if is_cancelled:
            order.cancelled_at = instant(given["cancelled_at"])
        elif given.get("financial_status") in ("voided", "expired"):
            order.cancelled_at = second
        order.currency = needed(given, "presentment_currency" if self.settings.presentment else "currency")
        included = needed(given, "taxes_included")
        order.amount, order.tax = self.money(given, "total_price", True), self.money(given, "total_tax")
        self.read_discounts(order)
        for line in given.get("shipping_lines") or []:
            if not line.get("is_removed"):
                price = self.money(line, "price") - self.allocated(line)
                order.shipping += max(price + (0 if included else self.taxes(line)), Fraction(0))
        for line in needed(given, "line_items"):
            self.read_line(order, line, included)
        self.read_person(order)
        order.settle()
        refunds = needed(given, "refunds")
        self.read_refunds(order, refunds, included)
        if refunds:
            order.refunds_at = max((self.time_of(refund) for refund in refunds if self.time_of(refund)), default=second)
        order.updated_at = second + self.rank(second, is_cancelled, len(refunds))
        return order

    def rank(self, second, is_cancelled, refunds):
        if self.from_file:
            event = SECOND - 1
        else:
            event = 0 if self.triggered_at is None else min(max(self.triggered_at - second, 0), SECOND - 1)
        return 500_000_000 * is_cancelled + 1_000_000 * min(refunds, 499) + event // 1000

    def read_discounts(self, order):
        entered = {(entry.get("code") or "").lower() for entry in self.given.get("discount_applications") or []
                   if entry.get("type") == "discount_code"}
        for discount in self.given.get("discount_codes") or []:
            if discount.get("code") and discount["code"].lower() in entered:
                order.discounts.append((discount["code"], max(amount(discount.get("amount")), Fraction(0))))

    def read_line(self, order, given, included):
        number, quantity = needed(given, "id"), int(needed(given, "quantity"))
        left_out = given.get("gift_card") and not self.settings.gift_cards
        if left_out or "tip_payment_gateway" in given or quantity == 0:
            return
        line = Line(number, given.get("product_id") or "custom", given.get("sku") or given.get("variant_id"), quantity)
        line.tax = self.taxes(given)
        line.amount = self.money(given, "price", True) * quantity - self.allocated(given)
        line.amount += 0 if included else line.tax
        order.lines.append(line)

    def read_person(self, order):
        order.customer = customer_of((self.given.get("customer") or {}).get("id"), self.given.get("email"))
        pairs = [(note.get("name"), note.get("value")) for note in self.given.get("note_attributes") or []]
        order.device = first_device(pairs, "svc_anon_id") or device_in_url(
            self.given.get("landing_site") or "", "svc_anon_id")

    @staticmethod
    def time_of(refund):
        stated = refund.get("processed_at") or refund.get("created_at")
        return instant(stated) if stated else None

    def read_refunds(self, order, refunds, included):
        lines = {line.id: line for line in order.lines}
        more, more_at = Fraction(0), []
        for refund in refunds:
            at = self.time_of(refund)
            states = {entry.get("status") for entry in refund.get("transactions") or [] if entry.get("kind") == "refund"}
            beyond = -sum(
                (self.money(entry, "amount") + self.money(entry, "tax_amount")
                 for entry in refund.get("order_adjustments") or [] if entry.get("kind") != "shipping_refund"),
                Fraction(0))
            rows = [self.row_of(entry, included) for entry in refund.get("refund_line_items") or []]
            gross = sum((row[1] for row in rows), Fraction(0))
            if beyond < 0 and "success" in states and gross:
                order.notes.add("REFUND_NOT_BY_LINE")
                parts = largest_remainder(max(gross + beyond, Fraction(0)), [row[1] for row in rows], order.currency)
                rows = [(name, part, share_tax(tax, part, whole, order.currency), pieces)
                        for (name, whole, tax, pieces), part in zip(rows, parts)]
            for name, part, tax, pieces in rows:
                if name in lines:
                    lines[name].refund(part, tax, pieces, at)
                else:
                    order.notes.add("REFUND_NOT_BY_LINE")
            if beyond > 0 and states & {"success", "pending"}:
                more += beyond
                more_at.append(at)
        if more:
            order.spread(more, max((at for at in more_at if at is not None), default=None))
        for line in order.lines:
            line.times = [at for at in line.times if at is not None]
            within = abs(line.amount - line.refunded) <= Fraction(len(refunds), 10 ** digits(order.currency))
            if line.pieces >= line.quantity and within:
                line.refunded, line.refunded_tax = line.amount, line.tax

    def row_of(self, entry, included):
        subtotal, tax = self.money(entry, "subtotal"), self.money(entry, "total_tax")
        gross = subtotal if included else subtotal + tax
        return entry.get("line_item_id"), max(gross, Fraction(0)), max(tax, Fraction(0)), int(entry.get("quantity") or 0)


class WooCommerce:
    def __init__(self, payload, settings):
        self.given, self.settings = payload, settings

    def translate(self):
        given, order = self.given, Order()
        status = given.get("status")
        if status in ("pending", "checkout-draft", "auto-draft"):
            return "not_placed"
        order.ordered_at = instant(needed(given, "date_created_gmt"))
        if self.settings.since is not None and order.ordered_at < self.settings.since:
            return "before_start"
        order.id, order.currency = needed(given, "id"), needed(given, "currency")
        order.number = given.get("number")
        order.updated_at = instant(needed(given, "date_modified_gmt"))
        if status in ("cancelled", "failed", "trash"):
            order.cancelled_at = order.updated_at
        total = order.amount = amount(needed(given, "total"))
        order.tax = amount(given.get("total_tax"))
        order.shipping = amount(given.get("shipping_total")) + amount(given.get("shipping_tax"))
        order.discounts = [(coupon["code"], max(amount(coupon.get("discount")), Fraction(0)))
                           for coupon in given.get("coupon_lines") or [] if coupon.get("code")]
        for line in needed(given, "line_items"):
            self.read_line(order, line)
        self.read_person(order)
        order.settle()
        refunds = needed(given, "refunds")
        order.refunds_at = order.updated_at
        money = sum((abs(amount(refund.get("total"))) for refund in refunds), Fraction(0))
        if money >= total if refunds else status == "refunded":
            for line in order.lines:
                line.refund(line.amount, line.tax, line.quantity, order.updated_at)
        else:
            self.read_refunds(order, refunds)
        return order

    def read_line(self, order, given):
        sent = Fraction(needed(given, "quantity"))
        quantity = max(-(-sent.numerator // sent.denominator), 1)
        if quantity != sent:
            order.notes.add("QUANTITY_ROUNDED")
        product, variation = given.get("product_id"), given.get("variation_id")
        line = Line(needed(given, "id"), product if product not in (None, "0", "") else "custom",
                    given.get("sku") or (variation if variation != "0" else None) or None, quantity)
        line.tax = amount(given.get("total_tax"))
        line.amount = amount(needed(given, "total")) + line.tax
        order.lines.append(line)

    def read_person(self, order):
        number = self.given.get("customer_id")
        order.customer = customer_of(number if number != "0" else None, (self.given.get("billing") or {}).get("email"))
        pairs = [(meta.get("key"), meta.get("value")) for meta in self.given.get("meta_data") or []]
        entries = [value for key, value in pairs
                   if key == "_wc_order_attribution_session_entry" and isinstance(value, str) and value]
        order.device = first_device(pairs, "svc_anon_id") or device_in_url((entries or [""])[0], "svc_anon_id")

    @staticmethod
    def read_refunds(order, refunds):
        lines, more = {line.id: line for line in order.lines}, Fraction(0)
        for refund in refunds:
            elsewhere = Fraction(0)
            for entry in refund.get("line_items") or []:
                tax = abs(amount(entry.get("total_tax")))
                gross = abs(amount(entry.get("total"))) + tax
                elsewhere += gross
                pieces = abs(Fraction(entry.get("quantity") or 0))
                if entry.get("line_item_id") in lines:
                    lines[entry["line_item_id"]].refund(
                        gross, tax, -(-pieces.numerator // pieces.denominator), order.updated_at)
                else:
                    order.notes.add("REFUND_NOT_BY_LINE")
            for name in ("shipping_lines", "fee_lines"):
                for entry in refund.get(name) or []:
                    elsewhere += abs(amount(entry.get("total"))) + abs(amount(entry.get("total_tax")))
            more += max(abs(amount(refund.get("total"))) - elsewhere, Fraction(0))
        if more:
            order.spread(more, order.updated_at)
