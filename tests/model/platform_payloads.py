"""Random orders as Shopify and WooCommerce send them, with persons planted in every usual place."""

from fractions import Fraction

from model.values import digits, text

PERSONS = ("Norman", "Batz", "bob.norman", "+33 1 99", "Chestnut", "10.9.8.7", "Mozilla")


class Payloads:
    def __init__(self, random):
        self.random = random
        self.currency = random.choice(("EUR", "EUR", "USD", "JPY", "KWD"))

    def chance(self, of_hundred):
        return self.random.randrange(100) < of_hundred

    def money(self, highest=200):
        places = digits(self.currency) if self.chance(95) else self.random.choice((0, 1, 3, 6, 9))
        return text(Fraction(self.random.randrange(highest * 10**places), 10**places), places)

    def number(self, value):
        """An amount as a JSON number, the other form in which platforms write them."""
        return Number(value) if self.chance(50) else value

    def maybe(self, holder, name, value, of_hundred=80):
        if self.chance(of_hundred):
            holder[name] = value
        elif self.chance(30):
            holder[name] = None

    def shuffled(self, holder):
        names = list(holder)
        self.random.shuffle(names)
        return {name: holder[name] for name in names}

    def second(self):
        return f"2026-03-{self.random.randrange(1, 29):02}T10:00:{self.random.randrange(60):02}"

    def person(self):
        return {"first_name": "Bob", "last_name": "Norman", "address1": "Chestnut Street 92", "phone": "+33 1 99",
                "email": "bob.norman@example.com", "name": "Batz Norman"}


class Number(str):
    """Written without quotes."""


class ShopifyPayloads(Payloads):
    def amounts(self, holder, name, value, of_hundred=100):
        kind = self.random.randrange(3)
        money = {"amount": value, "currency_code": self.currency}
        other = {"amount": self.money(), "currency_code": "USD"}
        if self.chance(of_hundred):
            if kind != 1 or self.chance(50):
                holder[name] = value
            if kind:
                holder[name + "_set"] = {"shop_money": money, "presentment_money": other}

    def taxes(self):
        lines = []
        for _ in range(self.random.choice((0, 1, 1, 2))):
            tax = {"rate": Number("0.2"), "title": "VAT"}
            self.amounts(tax, "price", self.money(30))
            lines.append(tax)
        return lines

    def allocations(self):
        parts = []
        for _ in range(self.random.choice((0, 0, 1, 2))):
            part = {"discount_application_index": Number("0")}
            self.amounts(part, "amount", self.money(40))
            parts.append(part)
        return parts

    def line(self, number):
        line = {"id": Number(number), "quantity": Number(self.random.choice((1, 1, 2, 3, 0))), "title": "For Norman",
                "properties": [{"name": "to", "value": "Batz"}], "current_quantity": Number(0)}
        self.amounts(line, "price", self.money())
        self.maybe(line, "gift_card", self.chance(10))
        self.maybe(line, "product_id", Number(self.random.randrange(1, 10**15)))
        self.maybe(line, "sku", self.random.choice(("", "MUG", "CAP-1")))
        self.maybe(line, "variant_id", Number(self.random.randrange(1, 10**15)))
        self.maybe(line, "tax_lines", self.taxes())
        self.maybe(line, "discount_allocations", self.allocations())
        if self.chance(5):
            line["tip_payment_gateway"] = None
        return self.shuffled(line)

    def refund(self, lines):
        refund = {"id": Number(1), "note": "Norman called"}
        self.maybe(refund, "processed_at", self.second() + "+01:00")
        self.maybe(refund, "created_at", self.second() + "Z")
        rows = []
        for line in self.random.sample(lines, self.random.randrange(len(lines) + 1)):
            row = {"line_item_id": line["id"], "quantity": Number(self.random.randrange(3))}
            self.amounts(row, "subtotal", self.number(line.get("price") or self.money()))
            self.amounts(row, "total_tax", self.number(self.money(20)))
            rows.append(row)
        if self.chance(5):
            rows.append({"line_item_id": Number(99), "quantity": Number(1), "subtotal": Number("5.00")})
        self.maybe(refund, "refund_line_items", rows, 95)
        adjustments = []
        for _ in range(self.random.choice((0, 0, 1, 2))):
            entry = {"kind": self.random.choice(("refund_discrepancy", "refund_discrepancy", "shipping_refund", None))}
            self.amounts(entry, "amount", self.random.choice(("", "-")) + self.money(60))
            self.amounts(entry, "tax_amount", self.random.choice(("0.00", "-1.00")))
            adjustments.append(entry)
        self.maybe(refund, "order_adjustments", adjustments, 95)
        self.maybe(refund, "transactions", [
            {"kind": self.random.choice(("refund", "refund", "void")), "receipt": {"payer": "Norman"},
             "status": self.random.choice(("success", "success", "pending", "failure"))}
            for _ in range(self.random.randrange(3))])
        return self.shuffled(refund)

    def order(self):
        lines = [self.line(11 + at) for at in range(self.random.choice((1, 1, 2, 2, 3, 5)))]
        order = {"id": Number(820982911946154508), "line_items": lines,
                 "created_at": self.second() + "-05:00", "updated_at": self.second() + self.random.choice(("Z", ".25Z")),
                 "currency": self.currency, "presentment_currency": "USD", "taxes_included": self.chance(60),
                 "billing_address": self.person(), "shipping_address": self.person(), "note": "for Norman",
                 "browser_ip": "10.9.8.7", "client_details": {"user_agent": "Mozilla", "browser_ip": "10.9.8.7"},
                 "phone": "+33 1 99", "contact_email": "bob.norman@example.com",
                 "order_status_url": "https://s/77/orders/Norman"}
        order["refunds"] = [self.refund(lines) for _ in range(self.random.choice((0, 0, 1, 2, 3)))]
        self.amounts(order, "total_price", self.money(600))
        self.amounts(order, "total_tax", self.money(60), 90)
        self.maybe(order, "processed_at", self.second() + "Z")
        self.maybe(order, "cancelled_at", self.second() + "Z", 20)
        self.maybe(order, "financial_status", self.random.choice(("paid", "voided", "expired", "pending")))
        self.maybe(order, "source_name", self.random.choice(("web", "pos")))
        self.maybe(order, "test", self.chance(5))
        self.maybe(order, "name", self.random.choice(("#1001", "# 1001/b", " # ", "", "n" * 64, "n" * 65, "\u00e9" * 33, "a\u007fb",
                                                      ["#1001"], "820982911946154508")))
        self.maybe(order, "confirmation_number", self.random.choice(("XK4J2PQ9V", "SHORT12", "", "x" * 65)))
        self.maybe(order, "customer", {"id": Number(self.random.randrange(1, 10**13)), **self.person()})
        self.maybe(order, "email", "Bob.Norman@Example.com")
        self.maybe(order, "landing_site", self.random.choice(
            ("/", "/?q=Norman", "/a?x=1&svc_anon_id=dev%2D12345678#Norman", "/?svc_anon_id=short&svc_anon_id=dev-12345678")))
        self.maybe(order, "note_attributes", [
            {"name": self.random.choice(("svc_anon_id", "_svc_anon_id", "for")),
             "value": self.random.choice(("dev-abcdefgh", "Batz Norman", "dev-ijklmnop", ""))}
            for _ in range(self.random.randrange(3))])
        codes = [self.random.choice(("ANNA15", "anna15", "Norman's")) for _ in range(self.random.randrange(3))]
        self.maybe(order, "discount_codes", [
            {"code": code, "amount": self.money(20), "type": "percentage"} for code in codes])
        self.maybe(order, "discount_applications", [
            {"type": "discount_code", "code": "Anna15"} if "'" not in code else {"type": "manual", "title": code}
            for code in codes])
        shipping = []
        for _ in range(self.random.choice((0, 1, 1, 2))):
            entry = {"title": "to Norman", "is_removed": self.chance(10), "tax_lines": self.taxes(),
                     "discount_allocations": self.allocations()}
            self.amounts(entry, "price", self.money(10))
            shipping.append(entry)
        self.maybe(order, "shipping_lines", shipping)
        return self.shuffled(order)


class WooCommercePayloads(Payloads):
    def line(self, number):
        line = {"id": Number(number), "name": "For Norman", "total": self.random.choice(("",) * 9 + ("-",)) + self.money(),
                "quantity": Number(self.random.choice(("1", "1", "2", "3", "2.5", "0", "-1"))), "price": Number("1.5"),
                "meta_data": [{"key": "to", "value": "Batz"}]}
        self.maybe(line, "total_tax", self.money(30))
        self.maybe(line, "product_id", Number(self.random.choice((0, 93, 22))))
        self.maybe(line, "variation_id", Number(self.random.choice((0, 23))))
        self.maybe(line, "sku", self.random.choice(("", "MUG")))
        return self.shuffled(line)

    def refund(self, lines):
        refund = {"id": Number(9), "reason": "Norman called", "total": "-" + self.money(60)}
        if self.chance(50):
            refund["line_items"] = [
                {"line_item_id": line["id"], "quantity": Number(self.random.choice((0, -1, 1, "1.5"))),
                 "total": "-" + self.money(50), "total_tax": "-" + self.money(10)}
                for line in self.random.sample(lines, self.random.randrange(len(lines) + 1))]
            if self.chance(5):
                refund["line_items"].append({"line_item_id": Number(99), "total": "-1.00"})
            self.maybe(refund, "shipping_lines", [{"total": "-" + self.money(5), "total_tax": "-0.50"}], 40)
            self.maybe(refund, "fee_lines", [{"total": "-" + self.money(5)}], 20)
        return self.shuffled(refund)

    def order(self):
        lines = [self.line(1 + at) for at in range(self.random.choice((1, 1, 2, 2, 3, 5)))]
        order = {"id": Number(727), "line_items": lines, "date_created": "2026-03-01T00:00:00",
                 "date_created_gmt": self.second(), "date_modified_gmt": self.second(), "currency": self.currency,
                 "total": self.money(600), "billing": {**self.person(), "email": "Bob.Norman@example.com"},
                 "shipping": self.person(), "customer_ip_address": "10.9.8.7", "customer_user_agent": "Mozilla",
                 "customer_note": "for Norman", "payment_url": "https://s/?key=Norman", "prices_include_tax": True,
                 "refunds": [self.refund(lines) for _ in range(self.random.choice((0, 0, 1, 2)))]}
        self.maybe(order, "number", self.random.choice(("727", "2026-0012", "", "#")))
        self.maybe(order, "status", self.random.choice(
            ("processing", "completed", "on-hold", "refunded", "cancelled", "failed", "trash", "pending", "auto-draft")), 95)
        for name in ("total_tax", "shipping_total", "shipping_tax"):
            self.maybe(order, name, self.money(20))
        self.maybe(order, "customer_id", Number(self.random.choice((0, 0, 31))))
        self.maybe(order, "coupon_lines", [{"code": "anna15", "discount": self.money(20)}], 40)
        entry = self.random.choice(("https://s/", "https://s/?svc_anon_id=dev-12345678", "https://s/?e=Norman"))
        self.maybe(order, "meta_data", [
            {"key": self.random.choice(("svc_anon_id", "_svc_anon_id", "_wc_order_attribution_session_entry", "to")),
             "value": self.random.choice((entry, "dev-abcdefgh", ["Batz Norman"], {"a": "Norman"}))}
            for _ in range(self.random.randrange(4))])
        return self.shuffled(order)


def as_json(value):
    """JSON as both platforms write it, `/` and letters beyond ASCII escaped."""
    if isinstance(value, Number):
        return str(value)
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"').replace("/", "\\/") + '"'
    if isinstance(value, dict):
        return "{" + ",".join(as_json(name) + ":" + as_json(held) for name, held in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(as_json(held) for held in value) + "]"
    return {None: "null", True: "true", False: "false"}[value]


