#!/usr/bin/env python3
"""A year of a real shop through nginx, queue, worker and ledger; every commission computed twice.

    tests/tools/retail.py FOLDER [--orders N]

FOLDER holds the "Online Retail" data set of the UCI Machine Learning Repository as one CSV file for
each day; the public repository databricks/Spark-The-Definitive-Guide has it in
data/retail-data/by-day. It is converted to orders of two shops in 15 currencies, with returns as
refunds and cancellations, sent with `sluice send` to a real nginx, and applied by a real worker.
The worker is killed in between, creators are imported while orders wait for them. What sluice
reports and pays is compared with commissions, balances and payouts that this file computes by
itself, in fractions; and nothing may change when a part is sent again.
"""
import argparse
import collections
import csv
import datetime
import json
import pathlib
import subprocess
import sys
import time
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from fractions import Fraction

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from harness import paths  # noqa: E402
from harness.edge import Edge  # noqa: E402

CURRENCIES = {
    "United Kingdom": "GBP", "Channel Islands": "GBP", "Switzerland": "CHF", "Norway": "NOK", "Sweden": "SEK",
    "Denmark": "DKK", "Poland": "PLN", "Japan": "JPY", "Australia": "AUD", "USA": "USD", "Canada": "CAD",
    "Singapore": "SGD", "Hong Kong": "HKD", "Israel": "ILS", "Bahrain": "BHD",
}
DIGITS = {"JPY": 0, "BHD": 3}
CHEAP = {"85123A": Fraction(5, 100), "22423": Fraction(25, 1000)}  # rates by SKU
EACH = {"84077": Decimal("0.05")}  # GBP for each unit
HTTP = """
    sluice_store @STORE@ map_size=2g thread_pool=sluice offload_pool=offload;
    server {
        listen 127.0.0.1:@PORT@;
        location = /event/ecomm { sluice_ingest events; client_max_body_size 1m; client_body_buffer_size 64k; }
    }
"""
PROGRAMS = """
[[program]]
id = "home"
account = "retail"
shops = ["uk"]
base = "net"
default_rate = "10%"
late_days = 36500
[[program.rule]]
match = "sku"
value = "85123A"
rate = "5%"
[[program.rule]]
match = "sku"
value = "22423"
rate = "2.5%"
[[program.rule]]
match = "sku"
value = "84077"
rate = "0.05 GBP"

[[program]]
id = "abroad"
account = "retail"
shops = ["world"]
base = "gross"
default_rate = "7.25%"
late_days = 36500
"""


def digits_of(currency):
    return DIGITS.get(currency, 2)


def rounded(value, currency, how=ROUND_HALF_EVEN):
    """A Fraction to the currency's minor unit, exactly."""
    scale = 10 ** digits_of(currency)
    scaled = value * scale
    whole, rest = divmod(scaled.numerator, scaled.denominator)
    half = Fraction(rest, scaled.denominator) - Fraction(1, 2)
    up = half > 0 or (half == 0 and (how == ROUND_HALF_UP or whole % 2 == 1))
    return Decimal(whole + up).scaleb(-digits_of(currency))


def text_of(time_):
    return time_.strftime("%Y-%m-%dT%H:%M:%SZ")


class Order:
    """An order as the shop knows it, and the commission that it should earn."""

    def __init__(self, row):
        self.id, self.customer = row["InvoiceNo"], row["CustomerID"].removesuffix(".0")
        self.at = self.version = datetime.datetime.fromisoformat(row["InvoiceDate"])
        self.home = row["Country"] in ("United Kingdom", "Channel Islands")
        self.currency = CURRENCIES.get(row["Country"], "EUR")
        self.lines, self.cancelled = [], None

    @property
    def shop(self):
        return "uk" if self.home else "world"

    def add(self, row):
        quantity = int(row["Quantity"])
        amount = rounded(Fraction(row["UnitPrice"]) * quantity, self.currency, ROUND_HALF_UP)
        tax = rounded(Fraction(amount) / 6, self.currency, ROUND_HALF_UP) if self.home else Decimal(0)
        self.lines.append({"sku": row["StockCode"], "quantity": quantity, "amount": amount, "tax": tax, "back": 0})

    def give_back(self, sku, quantity, at):
        """Takes units back, as many as there are. @return how many were left over."""
        for line in self.lines:
            taken = min(line["quantity"] - line["back"], quantity) if line["sku"] == sku else 0
            line["back"] += taken
            quantity -= taken
        self.version = at
        if all(line["back"] == line["quantity"] for line in self.lines):
            self.cancelled = at
        return quantity

    def refunded(self, line):
        if line["back"] == line["quantity"]:
            return line["amount"]
        return rounded(Fraction(line["amount"]) * line["back"] / line["quantity"], self.currency, ROUND_HALF_UP)

    def payload(self, code):
        total = sum(line["amount"] for line in self.lines)
        body = {
            "platform_order_id": self.id, "platform_customer_id": self.customer,
            "platform_ordered_at": text_of(self.at), "platform_updated_at": text_of(self.version),
            "platform_cancelled_at": text_of(self.cancelled) if self.cancelled else None,
            "amount": str(total), "tax": str(sum(line["tax"] for line in self.lines)), "shipping": "0",
            "currency_code": self.currency, "svc_anon_id": "device-" + self.customer if self.customer else None,
            "line_items": [
                {"line_item_id": str(number), "sku": line["sku"], "quantity": str(line["quantity"]),
                 "amount": str(line["amount"]), "tax": str(line["tax"])} for number, line in enumerate(self.lines)],
            "refund_line_items": [
                {"refund_line_item_id": f"{self.id}-{number}", "line_item_id": str(number), "sku": line["sku"],
                 "platform_refunded_at": text_of(self.version), "quantity": str(line["back"]),
                 "amount": str(self.refunded(line)), "tax": "0"}
                for number, line in enumerate(self.lines) if line["back"]],
        }
        if code:
            body["discounts"] = [{"code": code, "type": "DISCOUNT_CODE", "value_type": "PERCENTAGE", "value": "5"}]
        return json.dumps(body, separators=(",", ":"))

    def commission(self):
        """Rules M1 to M3, R3 and C1, computed without sluice."""
        total = Decimal(0)
        for line in self.lines:
            left = 1 - Fraction(self.refunded(line)) / Fraction(line["amount"]) if line["amount"] else 1
            base = Fraction(line["amount"]) - (Fraction(line["tax"]) if self.home else 0)
            if self.home and line["sku"] in EACH and self.currency == "GBP":
                earned = Fraction(EACH[line["sku"]]) * line["quantity"]
            elif self.home:
                earned = base * CHEAP.get(line["sku"], Fraction(1, 10))
            else:
                earned = base * Fraction(725, 10000)
            total += rounded(earned * left, self.currency)
        return Decimal(0) if self.cancelled else total


class Year:
    """Orders and events, in the order in which they happened; who brought which customer."""

    def __init__(self, folder, orders_max):
        self.orders, self.events = {}, []
        bought = collections.defaultdict(list)
        self.lost = 0
        for invoice in self.invoices(folder):
            if invoice[0]["InvoiceNo"].isdigit() and len(self.orders) < orders_max:
                self.sell(invoice, bought)
            elif invoice[0]["InvoiceNo"].startswith("C"):
                self.take_back(invoice, bought)

    @staticmethod
    def invoices(folder):
        for day in sorted(folder.glob("*.csv")):
            with open(day, encoding="utf-8", newline="") as file:
                by_number = collections.defaultdict(list)
                for row in csv.DictReader(file):
                    by_number[row["InvoiceNo"]].append(row)
            yield from sorted(by_number.values(), key=lambda rows: (rows[0]["InvoiceDate"], rows[0]["InvoiceNo"]))

    @staticmethod
    def creator_of(customer):
        """One customer in three comes by a code, one by a link, one by himself."""
        number = int(customer) if customer else 0
        return (number % 3, number % 29) if customer else (2, 0)

    def code_of(self, order):
        kind, creator = self.creator_of(order.customer)
        return f"Code{creator}" if kind == 0 else None

    def sell(self, rows, bought):
        order = Order(rows[0])
        for row in rows:
            if int(row["Quantity"]) > 0 and Fraction(row["UnitPrice"]) >= 0:
                order.add(row)  # also what was given away, at a price of 0
        if not order.lines:
            return
        self.orders[order.id] = order
        self.events.append((order.shop, order.payload(self.code_of(order))))
        for line in order.lines:
            bought[order.customer, line["sku"]].append(order)

    def take_back(self, rows, bought):
        changed = {}
        at = datetime.datetime.fromisoformat(rows[0]["InvoiceDate"])
        for row in rows:
            left = -int(row["Quantity"])
            customer = row["CustomerID"].removesuffix(".0")
            for order in reversed(bought[customer, row["StockCode"]] if customer else []):
                if left > 0 and order.version < at or order.id in changed:
                    left = order.give_back(row["StockCode"], left, at)
                    changed[order.id] = order
            self.lost += left > 0
        self.events += [(order.shop, order.payload(self.code_of(order))) for order in changed.values()]

    def clicks(self):
        """Every second order of customers who came by a link was within the window of 30 days of a click."""
        seen = collections.Counter()
        for order in self.orders.values():
            kind, creator = self.creator_of(order.customer)
            if kind == 1:
                seen[order.customer] += 1
                days = 3 if seen[order.customer] % 2 else 400
                at = order.at - datetime.timedelta(days=days)
                yield f"device-{order.customer}", f"creator-{creator}", "home" if order.home else "abroad", at

    def expected(self):
        """order -> (creator, program, commission)."""
        clicks = collections.defaultdict(list)
        for device, _creator, program, at in self.clicks():
            clicks[device, program].append(at)
        result = {}
        for order in self.orders.values():
            kind, creator = self.creator_of(order.customer)
            program = "home" if order.home else "abroad"
            window = datetime.timedelta(days=30)
            clicked = any(order.at - window <= at <= order.at for at in clicks[f"device-{order.customer}", program])
            if kind == 0 or (kind == 1 and clicked):
                result[order.id] = (f"creator-{creator}", program, order.commission())
            else:
                result[order.id] = (None, None, Decimal(0))
        return result


class Shop:
    def __init__(self, edge):
        self.edge, self.folder, self.times, self.worker = edge, edge.folder, {}, None
        self.sluice("account", "create", "retail", "--rate-limit", "100000000/60")
        for shop in ("uk", "world"):
            self.sluice("shop", "create", shop, "--account", "retail")
        token = json.loads(self.sluice("token", "create", "--account", "retail", "--scope", "write_orders",
                                       "--format", "json"))
        self.token = self.file("token", token["secret"] + "\n")
        self.token.chmod(0o600)

    def start_worker(self):
        self.worker = subprocess.Popen([paths.SLUICE, "--store", self.edge.store, "worker"], stderr=subprocess.DEVNULL)

    def kill_worker(self):
        """As a crash would, in the middle of its work."""
        self.worker.kill()
        self.worker.wait(60)

    def stop_worker(self):
        self.worker.terminate()
        self.worker.wait(60)

    def file(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def sluice(self, *line):
        run = subprocess.run([paths.SLUICE, "--store", self.edge.store, *map(str, line)], capture_output=True, text=True)
        if run.returncode != 0:
            raise RuntimeError(f"{' '.join(map(str, line))}: {run.stdout[-2000:]}{run.stderr}")
        return run.stdout

    def report(self, name):
        scope = ["--all-accounts"] if name in ("balances", "payouts") else []
        return json.loads(self.sluice("report", name, *scope, "--format", "json"))

    def timed(self, what, *line):
        began = time.monotonic()
        out = self.sluice(*line)
        self.times[what] = self.times.get(what, 0) + time.monotonic() - began
        return out.strip()

    def send(self, events, name):
        for shop in ("uk", "world"):
            lines = [body for where, body in events if where == shop]
            path = self.file(f"{name}-{shop}.ndjson", "".join(line + "\n" for line in lines))
            print(self.timed("send", "send", "events", path, "--url", f"http://127.0.0.1:{self.edge.port}", "--shop",
                             shop, "--token-file", self.token, "--share", 100), f"({name}, {shop})", flush=True)

    def wait_for_worker(self):
        began = time.monotonic()
        while (stats := json.loads(self.sluice("queue", "stats", "--format", "json"))) and (
                stats["depth"] or stats["attribution_left"]):
            time.sleep(0.05)
        self.times["worker"] = self.times.get("worker", 0) + time.monotonic() - began
        return stats


def compare(shop, year):
    """@return what differs, in words."""
    expected = year.expected()
    wrong, sums = [], collections.Counter()
    rows = shop.report("orders")
    for row in rows:
        wanted = expected.pop(row["order_id"])
        got = (row["creator_id"], row["program_id"], Decimal(row["commission_amount"]))
        if got != wanted:
            wrong.append(f"order {row['order_id']}: {got}, computed {wanted}")
        if wanted[0]:
            sums[wanted[1], wanted[0], row["currency"]] += wanted[2]
    wrong += [f"order {order} is missing" for order in expected]
    for row in shop.report("balances"):
        computed = sums.pop((row["program_id"], row["creator_id"], row["currency"]), Decimal(0))
        if Decimal(row["total"]) != computed:
            wrong.append(f"balance {row}: computed {computed}")
    wrong += [f"balance of {key} is missing: {value}" for key, value in sums.items() if value]
    return wrong, len(rows)


def pay(shop, year):
    """Everything has cleared: one close pays all of it. @return what differs, in words."""
    computed = collections.Counter()
    for order, (creator, _program, commission) in year.expected().items():
        computed[creator, year.orders[order].currency] += commission
    computed = {key: amount for key, amount in computed.items() if amount > 0}
    until = datetime.datetime.now(datetime.timezone.utc).isoformat()
    close = json.loads(shop.timed("payout close", "payout", "close", "--account", "retail", "--until", until,
                                  "--format", "json"))
    paid = {(row["creator_id"], row["currency"]): Decimal(row["amount"]) for row in close["payouts"]}
    wrong = [f"payout of {key}: {paid.get(key)}, computed {computed.get(key)}"
             for key in paid.keys() | computed.keys() if paid.get(key) != computed.get(key)]
    shop.timed("payout settle", "payout", "settle", close["payouts"][0]["payout_run"], "--account", "retail",
               "--reason", "the bank has paid")
    for row in shop.report("balances"):
        if Decimal(row["paid"]) != Decimal(row["total"]) or Decimal(row["pending"]) or Decimal(row["payable"]):
            wrong.append(f"not all of it is paid: {row}")
    print(f"{len(paid)} payouts, {len(wrong)} differ")
    return wrong


def go_through(shop, year):
    """@return what went wrong, in words."""
    half = len(year.events) // 2
    shop.sluice("program", "apply", shop.file("programs.toml", PROGRAMS))
    shop.send(year.events[:half // 2], "first quarter")
    shop.kill_worker()
    shop.start_worker()
    shop.send(year.events[half // 2:half], "second quarter")
    rows = "".join(f"creator-{i},{program},Code{i}\n" for i in range(29) for program in ("home", "abroad"))
    print(shop.timed("import", "creator", "import", shop.file("creators.csv", "creator_id,program_id,code\n" + rows)))
    # The command is over: so is its work, though the worker was still applying orders when it began.
    stats = json.loads(shop.sluice("queue", "stats", "--format", "json"))
    early = sum(year.code_of(year.orders[row["order_id"]]) is not None and row["creator_id"] is None
                for row in shop.report("orders"))
    wrong = [f"{early} orders waited still when the import was over"] if early or stats["attribution_left"] else []
    shop.send(year.events[half:], "second half")
    clicks = "".join(f"{device},{creator},{program},{text_of(at)}\n" for device, creator, program, at in year.clicks())
    print(shop.timed("import", "click", "import",
                     shop.file("clicks.csv", "svc_anon_id,creator_id,program_id,occurred_at\n" + clicks)))
    stats = shop.wait_for_worker()
    differs, orders = compare(shop, year)
    print(f"{orders} orders: {len(differs)} commissions and balances differ")
    before = shop.report("orders"), shop.report("balances")
    shop.send(year.events[::20], "again")
    again = shop.wait_for_worker()
    if (shop.report("orders"), shop.report("balances")) != before:
        wrong.append("events that came again changed something")
    if again["dead"] or again["applied"] != stats["applied"]:
        wrong.append(f"of the events that came again some were no repetition: {again}, before {stats}")
    return wrong + differs + pay(shop, year)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--orders", type=int, default=1 << 30, help="only the first N orders")
    options = parser.parse_args()
    year = Year(options.folder, options.orders)
    if not year.orders:
        sys.exit(f"{options.folder} holds no invoices")
    lines = sum(len(order.lines) for order in year.orders.values())
    currencies = {order.currency for order in year.orders.values()}
    print(f"{len(year.orders)} orders, {lines} lines, {len(year.events)} events, {len(currencies)} currencies; "
          f"{sum(1 for order in year.orders.values() if order.cancelled)} cancelled, "
          f"{sum(1 for order in year.orders.values() if any(line['back'] for line in order.lines))} with returns")
    with Edge(HTTP, workers=2) as edge:
        shop = Shop(edge.start())
        shop.start_worker()
        try:
            wrong = go_through(shop, year)
        finally:
            shop.stop_worker()
    print("seconds:", ", ".join(f"{what} {seconds:.1f}" for what, seconds in shop.times.items()))
    for line in wrong[:20]:
        print("WRONG", line)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
