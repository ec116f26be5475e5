"""Random histories: each step is done to the real system and to the model.

A history is a function of its seed. It owns an account, two shops, programs, creators and codes,
so that many histories share one nginx and one store.
"""

import json
import random
import time
from fractions import Fraction

from harness import sign
from model.ledger_model import Ledger
from model.values import DAY, time_text

HOUR = 3600 * 10**9
CURRENCIES = ["USD"] * 6 + ["EUR", "JPY", "KWD", "CLF"]
RATES = ["10%", "5%", "12.5%", "0.3333%", "33.3333%", "100%", "0%", "1.50 USD", "0.005 USD",
         "7 JPY", "0.0005 KWD", "2.255 EUR"]
ODD_IDS = ["o'1", 'q"uote', "ü-ñ-漢", "a b", "-", "..", "/", "x" * 399, "x" * 400, "x" * 401,
           "y" * 511, "z" * 1024, "é" * 512, "\t", "%2F", "1", "01"]


class History:
    def __init__(self, seed, edge, name=None):
        self.chance = random.Random(seed)
        self.seed, self.edge, self.sluice = seed, edge, edge.sluice
        self.ledger = Ledger()
        self.now = time.time_ns()
        tag = name or f"h{seed}"
        self.account = self.sluice.account(f"{tag}-a")
        self.shops = [self.sluice.shop(f"{tag}-s{n}", self.account) for n in (1, 2)]
        for shop in self.shops:
            self.ledger.accounts[shop] = self.account
        _, self.secret = self.sluice.token(self.account, "write_orders", "write_products")
        self.programs = [f"{tag}-p{n}" for n in (1, 2)]
        self.creators = [f"{tag}-c{n}" for n in (1, 2, 3)]
        self.codes = [f"Code{n}" for n in range(5)]
        self.anon_ids = [f"{tag}-anon{n}" for n in range(4)]
        self.order_ids = [f"order-{n}" for n in range(5)] + self.chance.sample(ODD_IDS, 2)
        self.sent = []  # (shop, topic, body)
        self.received = {}  # sequence number -> (earliest, latest)
        self.future = set()
        self.keys = self.clock = 0
        self.seen_journal = []
        self.connection = edge.connect()
        self.program_apply()
        self.creator_import()

    # One step -------------------------------------------------------------------------------------

    STEPS = [
        ("event", 60), ("resend", 6), ("products", 7), ("program_apply", 4), ("creator_import", 5),
        ("creator_remove", 2), ("touch_import", 8), ("payout_close", 4), ("adjust", 2), ("drain", 4),
    ]

    def step(self):
        names, weights = zip(*self.STEPS)
        name = self.chance.choices(names, weights)[0]
        getattr(self, name)()
        return name

    def drain(self):
        self.sluice("worker", "--until-empty", "--batch", self.chance.choice([1, 3, 1000]))

    # Events ---------------------------------------------------------------------------------------

    def decimal(self, top):
        places = self.chance.choice([0, 1, 2, 2, 2, 3, 6])
        number = self.chance.randrange(top * 10**places + 1)
        whole, part = divmod(number, 10**places)
        return f"{whole}.{part:0{places}}" if places else str(whole)

    def line(self, line_id):
        amount = self.decimal(self.chance.choice([3, 100, 5000]))
        if self.chance.random() < 0.05:
            amount = self.chance.choice(["0", "0.00", "999999999999999.999999", "0.000001"])
        tax = self.decimal(30) if self.chance.random() < 0.7 else "0"
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
            if refund_id in used:
                continue
            used.add(refund_id)
            statements.append({
                "refund_line_item_id": refund_id,
                "line_item_id": line_id,
                "platform_refunded_at": time_text(self.now - self.chance.randrange(9) * DAY),
                "sku": item["sku"],
                "amount": self.refund_amount(item["amount"]),
                "tax": self.decimal(3),
                "quantity": str(self.chance.randrange(3)),
            })
        return statements

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

    def event(self):
        shop = self.chance.choice(self.shops)
        order_id = self.chance.choice(self.order_ids)
        known = self.ledger.orders.get((shop, order_id))
        base = self.now - (sum(order_id.encode()) % 40) * DAY - 6 * HOUR
        ordered_at = base + self.chance.choice([0, 0, 0, 1, -1, 10**9]) * self.chance.choice([1, 10**6])
        self.clock += 1
        version = base + 10**9 * (self.clock - self.chance.choice([0, 0, 0, 1, 3, 10, 30]))
        version += self.chance.choice([0, 0, 0, 1])
        if known and self.chance.random() < 0.1:
            version = known.version
        if self.clock > 100 and self.chance.random() < 0.01 and (shop, order_id) not in self.future:
            # Once per order: what a stale event of the future shows is left open.
            self.future.add((shop, order_id))
            version = self.now + 3 * DAY
        lines = [self.line(f"l{n}") for n in self.chance.sample(range(1, 6), self.chance.randrange(1, 5))]
        topic = self.chance.choice(["ORDER_CREATE", "ORDER_UPDATE", "ORDER_UPDATE", "ORDER_CANCEL"])
        payload = {
            "platform_order_id": order_id,
            "platform_ordered_at": self.time(ordered_at),
            "platform_updated_at": self.time(version),
            "amount": self.decimal(5000),
            "tax": self.decimal(100),
            "shipping": self.decimal(20),
            "currency_code": self.currency(known),
            "line_items": lines,
        }
        if topic == "ORDER_CREATE" and self.chance.random() < 0.3:
            del payload["platform_updated_at"]
        if self.chance.random() < (0.6 if topic == "ORDER_CANCEL" else 0.06):
            payload["platform_cancelled_at"] = self.time(version)
        refunds = self.refunds(order_id, lines)
        if refunds or self.chance.random() < 0.2:
            payload["refund_line_items"] = refunds
        if self.chance.random() < 0.6:
            payload["svc_anon_id"] = self.chance.choice([*self.anon_ids, None])
        if self.chance.random() < 0.4:
            payload["discounts"] = [self.discount() for _ in range(self.chance.randrange(1, 4))]
        self.send(shop, topic, sign.encode(payload))

    def currency(self, known):
        if known is None:
            return self.chance.choice(CURRENCIES)
        if known.paid is not None or self.chance.random() < 0.93:
            return known.currency
        return self.chance.choice(CURRENCIES)

    def discount(self):
        code = self.chance.choice([*self.codes, "NOBODY"])
        return {
            "code": self.chance.choice([code, code.upper(), code.lower()]),
            "type": "DISCOUNT_CODE",
            "value_type": self.chance.choice(["PERCENTAGE", "FIXED_AMOUNT"]),
            "value": "5",
        }

    def resend(self):
        if not self.sent:
            return
        shop, topic, body = self.chance.choice(self.sent)
        if self.chance.random() < 0.2:
            body = b" " + body  # another body: not a duplicate
        self.send(shop, topic, body)

    def send(self, shop, topic, body):
        before = time.time_ns()
        answer = self.edge.post_event(shop, self.secret, topic, body, connection=self.connection)
        assert (answer.status, answer.body) == (200, b"success"), (answer, body)
        known = answer.header("X-Seq")
        seq = int(known) if known else self.sluice.seq_of(answer)
        self.received[seq] = (before, time.time_ns())
        self.sent.append((shop, topic, body))
        self.ledger.event(seq, shop, topic, body, before)

    # Catalog --------------------------------------------------------------------------------------

    def products(self):
        shop = self.chance.choice(self.shops)
        topic = "PRODUCT_UPSERT" if self.chance.random() < 0.8 else "PRODUCT_DELETE"
        records = [self.product(topic) for _ in range(self.chance.randrange(1, 4))]
        self.keys += 1
        answer = self.edge.post_catalog(
            shop, self.secret, topic, {"products": records}, f"{self.seed}-{self.keys}",
            connection=self.connection,
        )
        assert answer.status == 200, (answer, records)
        self.ledger.products(shop, topic, records)

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
        options = {
            "brand": lambda: self.chance.choice(["acme", "other", None]),
            "collections": lambda: self.chance.choice([None, [], ["sale"], ["new", "sale"]]),
            "tags": lambda: self.chance.choice([None, ["t1"], ["t2", "t1"]]),
            "variants": lambda: self.chance.choice([
                None, [], *[
                    [{"variant_sku": v} for v in self.chance.sample(["v1", "v2", "v3", "s2"], n)]
                    for n in (1, 2)
                ],
            ]),
            "list_price": lambda: self.chance.choice([1, 2.5, 0, 19.99]),
            "active": lambda: self.chance.choice([True, False]),
            "in_stock": lambda: self.chance.choice([True, False, None]),
        }
        for name, make in options.items():
            if self.chance.random() < 0.4:
                record[name] = make()
        return record

    # Commands -------------------------------------------------------------------------------------

    def file(self, name, text):
        path = self.edge.folder / name
        path.write_text(text)
        return path

    def program_apply(self):
        chosen = [p for p in self.programs if p not in self.ledger.programs or self.chance.random() < 0.6]
        programs = [self.program(program) for program in chosen]
        if not programs:
            return
        self.sluice("program", "apply", self.file("program.toml", toml(programs)))
        self.ledger.program_apply(programs)

    def program(self, program_id):
        rules = [
            ("variant_sku", "v1"), ("sku", "s1"), ("sku", "s2"), ("product", "prod-1"),
            ("collection", "sale"), ("collection", "new"), ("brand", "acme"), ("tag", "t1"), ("tag", "t2"),
            ("sku", "s1"), ("brand", "acme"),
        ]
        chosen = self.chance.sample(rules, self.chance.randrange(5))
        return {
            "id": program_id,
            "account": self.account,
            "shops": self.chance.choice([[], self.shops, self.shops[:1], self.shops[1:]]),
            "window_days": self.chance.choice([1, 30, 365]),
            "base": self.chance.choice(["net", "gross"]),
            "precedence": self.chance.choice(
                [["AFFILIATE_CODE", "LANDED"], ["LANDED", "AFFILIATE_CODE"], ["AFFILIATE_CODE"], ["LANDED"]]
            ),
            "hold_days": self.chance.choice([0, 14, 30, 400]),
            "default_rate": self.chance.choice(RATES),
            "rule": [
                {"match": match, "value": value, "rate": self.chance.choice(RATES)}
                for match, value in chosen
            ],
        }

    def creator_import(self):
        rows = []
        for _ in range(self.chance.randrange(1, 4)):
            program = self.chance.choice(self.programs)
            code = self.chance.choice([*self.codes, ""])
            owner = self.ledger.codes.get((program, code.lower()))
            taken = [c for c, p, k in rows if p == program and k.lower() == code.lower() and code]
            creator = owner or (taken[0] if taken else self.chance.choice(self.creators))
            rows.append((creator, program, self.chance.choice([code, code.upper()])))
        lines = ["creator_id,program_id,code", *[",".join(row) for row in rows]]
        self.sluice("creator", "import", self.file("creators.csv", "\n".join(lines) + "\n"))
        self.ledger.creator_import(rows)

    def creator_remove(self):
        if not self.ledger.codes:
            return
        (program, code), creator = self.chance.choice(sorted(self.ledger.codes.items()))
        if self.chance.random() < 0.3:
            self.sluice("creator", "remove", creator, "--program", program)
            self.ledger.creator_remove(creator, program)
            return
        self.sluice("creator", "remove", creator, "--program", program, "--code", code)
        self.ledger.creator_remove(creator, program, code)

    def touch_import(self):
        members = sorted(self.ledger.members)
        if not members:
            return
        orders = [order for order in self.ledger.orders.values()]
        rows = []
        for _ in range(self.chance.randrange(1, 4)):
            creator, program = self.chance.choice(members)
            owned = sorted(self.ledger.codes.items())
            if owned and self.chance.random() < 0.5:
                (program, _), creator = self.chance.choice(owned)
            at = self.now - self.chance.randrange(50) * DAY
            if orders and self.chance.random() < 0.8:
                order = self.chance.choice(orders)
                window = self.ledger.programs[program]["window_days"] * DAY
                at = order.ordered_at + self.chance.choice([0, 1, -1, -window, -window - 1, 1 - window, -HOUR])
            rows.append((self.chance.choice(self.anon_ids), creator, program, at))
        lines = [f"{anon},{creator},{program},{self.time(at)}" for anon, creator, program, at in rows]
        header = "svc_anon_id,creator_id,program_id,occurred_at"
        self.sluice("touch", "import", self.file("touches.csv", "\n".join([header, *lines]) + "\n"))
        self.ledger.touch_import(rows)

    def payout_close(self):
        program = self.chance.choice(self.programs)
        until = self.now - self.chance.randrange(50) * DAY - self.chance.randrange(20) * HOUR
        earners = [o for o in self.ledger.orders.values() if o.program == program]
        if earners and self.chance.random() < 0.5:
            order = self.chance.choice(earners)
            hold_end = order.ordered_at + self.ledger.programs[program]["hold_days"] * DAY
            until = min(hold_end + self.chance.choice([0, -1]), until + 60 * DAY if hold_end > self.now else hold_end)
            until = min(until, self.now)
        self.sluice("payout", "close", "--program", program, "--until", time_text(until))
        self.ledger.payout_close(program, until)

    def adjust(self):
        """Only of paid orders: before that, the rules leave open when it becomes payable."""
        paid = sorted(k for k, order in self.ledger.orders.items() if order.paid is not None)
        if not paid:
            return
        shop, order_id = self.chance.choice(paid)
        currency = self.ledger.orders[(shop, order_id)].currency
        amount = self.chance.choice(["5", "-5", "120", "-3"])
        arguments = ["--order=" + order_id, "--shop", shop, "--amount=" + amount, "--reason", "by hand"]
        self.sluice("adjust", *arguments)
        assert currency
        self.ledger.adjust(shop, order_id, amount)


def toml(programs):
    out = []
    for program in programs:
        out.append("[[program]]")
        rules = program["rule"]
        out += [f"{name} = {json.dumps(value)}" for name, value in program.items() if name != "rule"]
        for rule in rules:
            out.append("[[program.rule]]")
            out += [f"{name} = {json.dumps(value)}" for name, value in rule.items()]
    return "\n".join(out) + "\n"
