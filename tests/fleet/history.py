"""Orders whose outcome does not depend on the way their events take.

For each order: events with distinct versions, the same codes, the same anonymous id, one currency,
refund ids of its own, each for one line. Then order of arrival moves only attribution's moment,
journal entries and anomalies, never a sum.
"""

import random

from harness import orders, sign

PROGRAMS = """
[[program]]
id = "codes"
account = "acme"
shops = []
window_days = 30
base = "net"
precedence = ["AFFILIATE_CODE", "LANDED"]
clearing_days = 14
default_rate = "10%"
late_days = 36500

[[program.rule]]
match = "collection"
value = "sale"
rate = "3.3333%"

[[program.rule]]
match = "sku"
value = "sku-3"
rate = "0.75 USD"

[[program]]
id = "links"
account = "acme"
shops = ["shop-2"]
window_days = 7
base = "gross"
precedence = ["LANDED"]
clearing_days = 0
default_rate = "12.5%"
late_days = 36500
"""
CREATORS = """creator_id,program_id,code
ann,codes,ANN
bob,codes,BOB
bob,links,
cid,links,
"""
CLICKS = """svc_anon_id,creator_id,program_id,occurred_at
phone-1,bob,links,2024-02-28T10:00:00Z
phone-2,cid,links,2024-02-29T10:00:00Z
phone-2,ann,codes,2024-02-20T10:00:00Z
phone-3,ann,codes,2023-02-20T10:00:00Z
"""
PRODUCTS = [
    {"platform_product_id": "p-1", "title": "P1", "collections": ["sale"],
     "variants": [{"variant_sku": "sku-1"}, {"variant_sku": "sku-2"}]},
]
SHOPS = ["shop-1", "shop-2"]


class Event:
    def __init__(self, shop, order_id, topic, document):
        self.shop, self.order_id, self.topic = shop, order_id, topic
        self.body = sign.encode(document)


def stamp(chance, minute):
    fraction = chance.choice(["", ".5", ".000001", ".123456789"])
    return f"2024-03-{1 + minute // 1440:02}T{minute // 60 % 24:02}:{minute % 60:02}:00{fraction}Z"


class Order:
    """Returns the fields that all events of an order share."""

    def __init__(self, chance, number):
        self.chance = chance
        self.id, self.shop = f"order-{number}", chance.choice(SHOPS)
        self.currency = chance.choice(["USD", "USD", "EUR", "JPY", "KWD"])
        self.codes = chance.choice([[], ["ANN"], ["bob"], ["none", "ann"]])
        self.anon = chance.choice([None, "phone-1", "phone-2", "phone-3", "phone-4"])
        self.lines = [
            orders.line(f"l{n}", sku=f"sku-{chance.randrange(1, 5)}", quantity=str(chance.randrange(1, 5)),
                        amount=f"{chance.randrange(1, 300)}.{chance.randrange(100):02}", tax="1.005")
            for n in range(chance.randrange(1, 5))
        ]

    def refunds(self, lines):
        return [
            orders.refund(f"{self.id}-r-{line['line_item_id']}", line["line_item_id"], sku=line["sku"],
                          amount=self.chance.choice(["0", "0.50", "1.25", line["amount"]]))
            for line in lines if self.chance.random() < 0.4
        ]

    def event(self, number):
        lines = self.chance.sample(self.lines, self.chance.randrange(1, len(self.lines) + 1))
        document = orders.order(
            self.id, line_items=lines, amount=f"{self.chance.randrange(1000)}.10",
            currency_code=self.currency, platform_updated_at=stamp(self.chance, 2 + number),
            refund_line_items=self.refunds(lines), svc_anon_id=self.anon,
            discounts=[{"code": code, "type": "DISCOUNT_CODE", "value_type": "PERCENTAGE", "value": "5"}
                       for code in self.codes],
        )
        topic = self.chance.choice(["ORDER_CREATE"] * 3 + ["ORDER_UPDATE"] * 5 + ["ORDER_CANCEL"])
        if topic == "ORDER_CANCEL" or self.chance.random() < 0.05:
            document["platform_cancelled_at"] = document["platform_updated_at"]
        return Event(self.shop, self.id, topic, document)


def make(seed, orders_count, events_max):
    """All events, in an order of their own."""
    chance = random.Random(seed)
    events = []
    for number in range(orders_count):
        order = Order(chance, number)
        events += [order.event(n) for n in range(chance.randrange(1, events_max + 1))]
    chance.shuffle(events)
    return events
