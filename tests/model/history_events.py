"""Order events and product batches of a random history."""

import copy
import json
from fractions import Fraction

from harness import sign
from model.books.plausibility import NOTES
from model.values import DAY, text, time_text

HOUR = 3600 * 10**9
CURRENCIES = ["USD"] * 6 + ["EUR", "JPY", "KWD", "CLF"]


class Events:
    ODD_IDS = ["o'1", 'q"uote', "ü-ñ-漢", "a b", "-", "..", "/", "x" * 399, "x" * 400, "x" * 401,
               "y" * 511, "z" * 1024, "é" * 512, "\t", "%2F", "1", "01"]

    def decimal(self, top):
        places = self.chance.choice([0, 1, 2, 2, 2, 3, 6])
        number = self.chance.randrange(top * 10**places + 1)
        whole, part = divmod(number, 10**places)
        return f"{whole}.{part:0{places}}" if places else str(whole)

    def line(self, line_id):
        amount = self.decimal(self.chance.choice([3, 100, 100, 5000]))
        if self.chance.random() < 0.05:
            amount = self.chance.choice(["0", "0.00", "999999999999999.999999", "0.000001"])
        tax = self.decimal(max(1, int(Fraction(amount) / 5)) % 10**9) if self.chance.random() < 0.7 else "0"
        item = {
            "line_item_id": line_id,
            "sku": self.chance.choice(["s1", "s2", "s3", "prod-1", "prod-2", "v1"]),
            "amount": amount,
            "tax": tax,
            "quantity": str(self.chance.choice([1, 1, 1, 2, 3, 7, 999999999])),
        }
        if self.chance.random() < 0.5:
            item["variant_sku"] = self.chance.choice(["v1", "v2", "v3", None, "s2"])
        return item

    def refunds(self, order_id, lines):
        statements, used = [], set()
        for item in lines:
            if self.chance.random() < 0.6:
                continue
            line_id = item["line_item_id"]
            refund_id = f"r-{order_id[:20]}-{line_id}"
            odd = self.chance.random()
            if odd < 0.08:
                refund_id += "-b"
            elif odd < 0.12:
                refund_id = f"r-{self.chance.choice(self.order_ids)[:20]}-{self.chance.choice('ab')}"
            if refund_id not in used:
                used.add(refund_id)
                statements.append(self.refund_row(refund_id, item))
        return statements

    def refund_row(self, refund_id, item):
        return {
            "refund_line_item_id": refund_id,
            "line_item_id": item["line_item_id"],
            "platform_refunded_at": time_text(self.start - self.chance.randrange(9) * DAY),
            "sku": item["sku"],
            "amount": self.refund_amount(item["amount"]),
            "tax": self.decimal(3),
            "quantity": str(self.chance.randrange(3)),
        }

    def refund_amount(self, amount):
        kind = self.chance.random()
        if kind < 0.15:
            return self.chance.choice(["0", "0.00"])
        if kind < 0.35:
            return amount
        if kind < 0.45:
            return str(int(Fraction(amount)) + 1)[:15]
        return self.decimal(max(1, min(int(Fraction(amount)), 10**14)))

    def time(self, nanoseconds):
        """The instant in one of its spellings."""
        plain = time_text(nanoseconds)
        kind = self.chance.random()
        if kind < 0.7:
            return plain
        if kind < 0.8:
            return plain[:-1]
        if kind < 0.9:
            return plain.lower()
        return time_text(nanoseconds + 2 * HOUR)[:-1] + "+02:00"

    def base_of(self, order_id):
        """About when it was ordered: most in the last weeks, some too long ago or in the future."""
        sum_ = sum(order_id.encode())
        days = {0: 410, 1: -30}.get(sum_ % 11, sum_ % 40)
        return self.start - days * DAY - 6 * HOUR

    def version(self, order_id, known):
        self.clock += 1
        version = min(self.base_of(order_id), self.start) + 10**9 * (self.clock - self.chance.choice([0, 0, 0, 1, 3, 10, 30]))
        version += self.chance.choice([0, 0, 0, 1])
        if known and self.chance.random() < 0.1:
            version = known.version
        if self.chance.random() < 0.02:
            version = self.edge.now() + self.chance.choice([3, 50]) * DAY
        return version

    def event(self):
        shop, order_id = self.chance.choice(self.shops), self.chance.choice(self.order_ids)
        known = self.ledger.orders.get((shop, order_id))
        ordered_at = self.base_of(order_id) + self.chance.choice([0, 0, 0, 1, -1, 10**9]) * self.chance.choice([1, 10**6])
        version = self.version(order_id, known)
        lines = [self.line(f"l{n}") for n in self.chance.sample(range(1, 6), self.chance.randrange(1, 5))]
        topic = self.chance.choice(["ORDER_CREATE", "ORDER_UPDATE", "ORDER_UPDATE", "ORDER_CANCEL"])
        payload = {
            "platform_order_id": order_id,
            "platform_ordered_at": self.time(ordered_at),
            "platform_updated_at": self.time(version),
            "amount": self.amount(lines),
            "tax": self.decimal(100) if self.chance.random() < 0.2 else "0",
            "shipping": self.decimal(20),
            "currency_code": self.currency(known),
            "line_items": lines,
            **self.customer(order_id),
        }
        if topic == "ORDER_CREATE" and self.chance.random() < 0.3:
            del payload["platform_updated_at"]
        if self.chance.random() < (0.5 if topic == "ORDER_CANCEL" else 0.04):
            payload["platform_cancelled_at"] = self.time(version)
        refunds = self.refunds(order_id, lines)
        if refunds or self.chance.random() < 0.2:
            payload["refund_line_items"] = refunds
        if self.chance.random() < 0.6:
            payload["svc_anon_id"] = self.chance.choice([*self.devices, None])
        if self.chance.random() < 0.5:
            payload["discounts"] = [self.discount() for _ in range(self.chance.randrange(1, 4))]
        if self.platforms[shop]:
            payload["source"] = {"notes": self.chance.sample([*NOTES, "OTHER"], self.chance.choice([0, 0, 1, 2]))}
        self.send(shop, topic, payload)

    def amount(self, lines):
        """Mostly what the lines add up to."""
        if self.chance.random() < 0.2:
            return self.decimal(5000)
        sum_ = min(sum(Fraction(line["amount"]) for line in lines), Fraction(10**15 - 1))
        return text(sum_, 6).rstrip("0").rstrip(".")

    def customer(self, order_id):
        """Some orders share a customer; an order keeps the one that it has."""
        which = sum(order_id.encode()) % 5
        if which < 2:
            return {"platform_customer_id": f"customer-{which}", "email": f"Mail{which}@example.org"}
        return {"email": "Mail@Example.org", "phone": "+4912345"} if which == 2 else {}

    def currency(self, known):
        if known is None:
            return self.chance.choice(CURRENCIES)
        return known.currency if self.chance.random() < 0.95 else self.chance.choice(CURRENCIES)

    def discount(self):
        code = self.chance.choice([*self.codes, "NOBODY"])
        return {
            "code": self.chance.choice([code, code.upper(), code.lower()]),
            "type": "DISCOUNT_CODE",
            "value_type": self.chance.choice(["PERCENTAGE", "FIXED_AMOUNT"]),
            "value": "5",
        }

    def refund(self):
        """An order as it is, with a refund of one of its lines."""
        order = self.any_order()
        if order is None:
            return
        payload = self.as_sent(order)
        if payload is None:
            return
        item = self.chance.choice(payload["line_items"])
        self.clock += 1
        version = max(order.version + 1, self.base_of(order.order_id) + 10**9 * self.clock)
        payload["platform_updated_at"] = self.time(version)
        payload["refund_line_items"] = [self.refund_row(f"r-{order.order_id[:20]}-{item['line_item_id']}", item)]
        self.send(order.shop, "ORDER_UPDATE", payload)

    def as_sent(self, order):
        """Its newest payload; None: it was forgotten, or was not sent by this history."""
        for shop, _, body in reversed(self.sent):
            payload = json.loads(body)
            if "line_items" in payload and (shop, payload["platform_order_id"]) == (order.shop, order.order_id):
                return copy.deepcopy(payload)
        return None

    def resend(self):
        if not self.sent:
            return
        shop, topic, body = self.chance.choice(self.sent)
        if self.chance.random() < 0.2:
            body = b" " + body  # another body: not a duplicate
        self.put(shop, topic, body)

    def send(self, shop, topic, payload):
        body = sign.encode(payload)
        self.put(shop, topic, body)

    def put(self, shop, topic, body):
        more = [self.source(shop)] if self.platforms[shop] else []
        self.edge.event(shop, topic, body, self.lag(), *more)
        self.sent.append((shop, topic, body))

    def source(self, shop):
        """The source of a webhook of this shop."""
        made = {"platform": self.platforms[shop]}
        if self.chance.random() < 0.5:
            made["triggered_at"] = time_text(self.edge.now() - self.chance.randrange(3) * HOUR)
        return made

    def deletion(self):
        """The platform of a shop deleted an order, which may be unknown."""
        shops = [shop for shop in self.shops if self.platforms[shop]]
        if not shops:
            return
        shop, order_id = self.chance.choice(shops), self.chance.choice(self.order_ids)
        payload = {"platform_order_id": order_id}
        if self.chance.random() < 0.6:
            known = self.ledger.orders.get((shop, order_id))
            payload["platform_updated_at"] = time_text(self.version(order_id, known))
        self.put(shop, "ORDER_DELETE", sign.encode(payload))

    def lag(self):
        """Returns a time of receipt of a queue that lags: long before it is applied."""
        return self.chance.choice([0] * 9 + [40]) * DAY

    # Catalog --------------------------------------------------------------------------------------

    def products(self):
        topic = "PRODUCT_UPSERT" if self.chance.random() < 0.8 else "PRODUCT_DELETE"
        records = [self.product(topic) for _ in range(self.chance.randrange(1, 4))]
        self.edge.products(self.chance.choice(self.shops), topic, records)

    def product(self, topic):
        record = {
            "platform_product_id": self.chance.choice(["prod-1", "prod-2", "prod-3", "s1"]),
            "title": self.chance.choice(["T", "Ü", "title"]),
        }
        if topic == "PRODUCT_DELETE" or self.chance.random() < 0.3:
            record["parent_id"] = self.chance.choice(["prod-1", "other"])
        if self.chance.random() < 0.3:
            record["language"] = self.chance.choice(["de", "en"])
        if self.chance.random() < 0.3:
            record["country"] = self.chance.choice(["DE", "US"])
        if topic == "PRODUCT_DELETE":
            return record
        variants = [[{"variant_sku": v} for v in self.chance.sample(["v1", "v2", "v3", "s2"], n)] for n in (1, 2)]
        options = {
            "brand": ["acme", "other", None],
            "collections": [None, [], ["sale"], ["new", "sale"]],
            "tags": [None, ["t1"], ["t2", "t1"]],
            "variants": [None, [], *variants],
            "list_price": [1, 2.5, 0, 19.99],
            "active": [True, False],
            "in_stock": [True, False, None],
        }
        for name, values in options.items():
            if self.chance.random() < 0.4:
                record[name] = self.chance.choice(values)
        return record
