"""A shop of its own for each worked example, and words for what is done to it."""

from harness import orders
from harness.cli import now
from harness.orders import order

CONFIG = """
    sluice_store @STORE@ map_size=1g thread_pool=sluice offload_pool=offload;
    sluice_rate_limit off;

    server {
        listen 127.0.0.1:@PORT@ reuseport;
        add_header X-Seq $sluice_seq always;
        add_header X-Receipt $sluice_receipt always;
        location = /event/ecomm { sluice_ingest events; }
        location = /product-data { sluice_ingest catalog; }
    }
"""
PROGRAM = {
    "window_days": 30, "base": "net", "precedence": '["AFFILIATE_CODE", "LANDED"]', "clearing_days": 14,
    "default_rate": '"10%"', "late_days": 36500,
}


class Shop:
    def __init__(self, edge):
        self.edge, self.sluice = edge, edge.sluice
        self.account = self.sluice.account(orders.unique("rules"))
        self.shop = self.sluice.shop(f"{self.account}-shop", self.account)
        _, self.secret = self.sluice.token(self.account, "write_orders", "write_products")
        self.program = f"{self.account}-program"
        self.ann, self.bob = f"{self.account}-ann", f"{self.account}-bob"

    def real_only(self):
        """The example is about more than the ledger's rules."""
        assert self.edge.store

    def file(self, name, text):
        path = self.edge.folder / name
        path.write_text(text)
        return path

    def apply_program(self, rules="", program=None, **changes):
        settings = {**PROGRAM, **changes}
        settings["base"] = f'"{settings["base"].strip(chr(34))}"'
        text = f'[[program]]\nid = "{program or self.program}"\naccount = "{self.account}"\n'
        text += "".join(f"{name} = {value}\n" for name, value in settings.items())
        for match, value, rate in rules or []:
            text += f'[[program.rule]]\nmatch = "{match}"\nvalue = "{value}"\nrate = "{rate}"\n'
        self.sluice("program", "apply", self.file("p.toml", text))

    def codes(self, *rows):
        text = "creator_id,program_id,code\n"
        text += "".join(f"{creator},{program or self.program},{code}\n" for creator, code, program in rows)
        self.sluice("creator", "import", self.file("c.csv", text))

    def code(self, creator, code, program=None):
        self.codes((creator, code, program))

    def click(self, anon_id, creator, at, program=None):
        text = f"svc_anon_id,creator_id,program_id,occurred_at\n{anon_id},{creator},{program or self.program},{at}\n"
        self.sluice("click", "import", self.file("t.csv", text))

    def send(self, document, topic="ORDER_UPDATE"):
        answer = self.edge.post_event(self.shop, self.secret, topic, document)
        assert answer.status == 200, answer
        known = answer.header("X-Seq")
        return int(known) if known else self.sluice.seq_of(answer)

    def products(self, *records, topic="PRODUCT_UPSERT"):
        answer = self.edge.post_catalog(self.shop, self.secret, topic, {"products": records}, orders.unique("k"))
        assert answer.status == 200, answer

    def rows(self, kind):
        self.sluice.drain()
        return self.sluice.report(kind, "--shop", self.shop)

    def only_order(self):
        (row,) = self.rows("orders")
        return row

    def journal(self):
        return [(row["line_item_id"] or "", row["amount"], row["reason"]) for row in self.rows("journal")
                if row["amount"] is not None]

    def postings(self):
        """The journal without its memo entries."""
        return [row for row in self.rows("journal") if row["amount"] is not None]

    def anomalies(self):
        return {row["kind"]: (row["event_seq"], row["count"]) for row in self.rows("anomalies")}

    def balance(self, currency="USD", creator=None):
        self.sluice.drain()
        found = [
            tuple(row[name] for name in ("pending", "payable", "paid", "total"))
            for row in self.sluice.report("balances")
            if row["account_id"] == self.account and row["currency"] == currency
            and row["creator_id"] == (creator or self.ann)
        ]
        return found[0] if found else None

    def close(self):
        """Closes and settles the payable amounts."""
        scope = ("--account", self.account)
        closed = self.sluice.json("payout", "close", *scope, "--program", self.program, "--until", now())["payouts"]
        if closed:
            self.sluice("payout", "settle", closed[0]["payout_run"], *scope, "--reason", "the bank has paid")


def with_code(code="ANN", **changes):
    discount = {"code": code, "type": "DISCOUNT_CODE", "value_type": "PERCENTAGE", "value": "10"}
    return order("o", discounts=[discount], **changes)


def at(second, minute=0):
    return f"2024-03-01T12:{minute:02}:{second:02}Z"
