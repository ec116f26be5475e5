"""hledger and beancount read `export journal`, and report the balances of `report balances`, for random histories."""
import csv
import datetime
import decimal
import io
import random
import subprocess

import pytest
from harness import orders
from harness.edge import Edge
from program import sluice
from test_ledger import ACME, HTTP, Shop, until_now

WHY = ("--reason", "as agreed")
SECOND = '[[program]]\nid = "x:y.z"\naccount = "acme"\nshops = ["shop-1"]\ndefault_rate = "15%"\nlate_days = 36500\n'
CODES = {"SAVE": "spring", "BEN": "spring", "CYD": "x:y.z"}
STEPS = 30
BOOKS = {"Liabilities:Commission": "owed", "Liabilities:Payouts": "in_payout", "Assets:Paid": "paid"}


class History(Shop):
    """Random orders, refunds, corrections and payouts of three creators, two programs and two currencies."""

    def __init__(self, edge, folder, seed):
        super().__init__(edge, folder)
        self.chance, self.orders = random.Random(seed), []
        self.run("program", "apply", self.file("second.toml", SECOND))
        self.run("creator", "import", self.file(
            "more.csv", "creator_id,program_id,code\nben@example.org,spring,BEN\ncyd,x:y.z,CYD\n"))
        for _ in range(6):
            self.sell()
        self.close()
        for _ in range(STEPS):
            getattr(self, self.chance.choice(["sell", "sell", "refund", "refund", "adjust", "credit", "close", "move", "move"]))()
        self.drain()

    def sell(self):
        name = f"o{len(self.orders)}"
        self.orders.append((name, self.chance.choice(sorted(CODES)), self.chance.choice(["USD", "EUR", "JPY"])))
        self.event(self.orders[-1])

    def refund(self):
        self.event(self.chance.choice(self.orders), [orders.refund("r1", amount=str(self.chance.randint(21, 99)), tax="0")])

    def event(self, order, refunds=()):
        name, code, currency = order
        line = orders.line(amount=str(self.chance.randint(100, 900)), tax="0")
        now = datetime.datetime.now(datetime.timezone.utc).isoformat()
        self.send(name, code=code, currency_code=currency, line_items=[line], amount="900", tax="0", shipping="0",
                  refund_line_items=list(refunds), platform_updated_at=now)
        self.drain()

    def adjust(self):
        name, _, _ = self.chance.choice(self.orders)
        self.run("adjust", "--shop", "shop-1", "--order", name, "--amount", f"{self.chance.choice([-9, 4, 30])}", *WHY)

    def credit(self):
        self.run("credit", *ACME, "--creator", "ann", "--program", "spring", "--amount", "12.34 EUR", *WHY)

    def close(self):
        self.run("payout", "close", *ACME, *until_now())

    def move(self):
        """One payout goes one state on, if there is one."""
        ways = {"APPROVED": ["sent", "void", "settle"], "SENT": ["settle", "failed"], "PAID": ["returned"]}
        payouts = [row for row in self.json("payout", "list", *ACME) if row["state"] in ways]
        if payouts:
            payout = self.chance.choice(payouts)
            self.run("payout", self.chance.choice(ways[payout["state"]]), payout["payout_id"], *ACME, *WHY)


@pytest.fixture(scope="module", params=[1, 2])
def history(request, tmp_path_factory):
    with Edge(HTTP, workers=1) as edge:
        yield History(edge.start(), tmp_path_factory.mktemp("history"), request.param)


def balances(history):
    """{(book, program, creator, currency): amount}, without zeros; expense is minus the sum of the others."""
    found = {}
    for row in history.json("report", "balances", *ACME):
        place = (row["program_id"], row["creator_id"], row["currency"])
        owed = sum(decimal.Decimal(row[name]) for name in ("pending", "blocked", "payable"))
        amounts = {"owed": owed, "in_payout": decimal.Decimal(row["in_payout"]), "paid": decimal.Decimal(row["paid"])}
        amounts["expense"] = -sum(amounts.values())
        found |= {(book, *place): amount for book, amount in amounts.items() if amount}
    return found


def export(history, form, *more):
    return history.run("export", "journal", "--form", form, *ACME, *more).out


def test_hledger_reports_the_balances(history, tmp_path):
    file = tmp_path / "books.journal"
    file.write_text(export(history, "hledger"))
    line = ["hledger", "-f", file, "balance", "--flat", "--no-total", "--layout=tidy", "-O", "csv"]
    said = subprocess.run(line, capture_output=True, text=True, check=True).stdout
    found = {}
    for row in csv.DictReader(io.StringIO(said)):
        *book, _, program, creator = row["account"].split(":")
        amount = decimal.Decimal(row["value"])
        if amount:  # what a posting credits is negative there
            found[(BOOKS.get(":".join(book), "expense"), program, creator, row["commodity"])] = -amount
    assert found == {(book, program.replace(":", "%3A"), *more): amount for (book, program, *more), amount in balances(history).items()}
    assert len(found) >= 8


def test_beancount_reports_the_balances(history, tmp_path):
    file = tmp_path / "books.beancount"
    file.write_text(export(history, "beancount"))
    checked = subprocess.run(["bean-check", file], capture_output=True, text=True)
    assert (checked.returncode, checked.stdout + checked.stderr) == (0, "")
    query = "SELECT account, currency, sum(number) AS amount GROUP BY account, currency"
    said = subprocess.run(["bean-query", "-f", "csv", file, query], capture_output=True, text=True, check=True).stdout
    found = {}
    for row in csv.DictReader(io.StringIO(said)):
        row = {name.strip(): value.strip() for name, value in row.items()}
        *book, _, program, creator = row["account"].split(":")
        amount = decimal.Decimal(row["amount"])
        if amount:
            found[(BOOKS.get(":".join(book), "expense"), id_of(program), id_of(creator), row["currency"])] = -amount
    assert found == balances(history)


def id_of(part):
    """The id in a name of beancount: X, then the id with `-2E` for a dot."""
    first, *rest = part.removeprefix("X").split("-")
    return first + "".join(chr(int(word[:2], 16)) + word[2:] for word in rest)


def test_csv_has_every_posting_with_the_codes_of_the_map(history, tmp_path):
    codes = tmp_path / "codes.csv"
    codes.write_text("ledger_account,code,currency\nexpense,6300,\nowed,1740-eur,EUR\nowed,1740:{program},\n")
    rows = list(csv.DictReader(io.StringIO(export(history, "csv", "--map", codes))))
    journal = history.json("report", "journal", *ACME)
    postings = {(row["node"], str(row["entry"])): row for row in journal if row["amount"]}
    assert len(rows) == len(postings) > 0
    for row in rows:
        posting = postings[row["node"], row["entry"]]
        amount = decimal.Decimal(posting["amount"])
        assert (decimal.Decimal(row["amount"]), row["currency"], row["reason"]) == (
            abs(amount), posting["currency"], posting["reason"])
        sides = ("debit", "credit") if amount > 0 else ("credit", "debit")
        named = {"expense": "6300", "owed": "1740-eur" if row["currency"] == "EUR" else "1740:" + row["program_id"].replace(":", "%3A")}
        for side, account in zip(sides, ("debit_account", "credit_account")):
            book = posting[account].split(":")[0]
            assert row[side] == named.get(book, row[side])
            assert row[side].startswith(("6300", "1740", "Liabilities:Payouts:", "Assets:Paid:"))


# ---- Two months in one file ---------------------------------------------------------------------

def months(history, form, *more):
    """The export cut in two by an instant between its postings."""
    times = sorted({row["accounting_date"] for row in history.json("report", "journal", *ACME) if row["amount"]})
    cut = times[len(times) // 2]
    return export(history, form, "--until", cut, *more) + export(history, form, "--from", cut, *more)


def test_two_months_in_one_file_open_each_name_once(history, tmp_path):
    file = tmp_path / "books.beancount"
    for open_, right in (("once", True), ("always", False), ("never", False)):
        file.write_text(months(history, "beancount", "--open", open_))
        checked = subprocess.run(["bean-check", file], capture_output=True, text=True)
        assert (checked.returncode == 0) == right, checked.stderr
    assert "Duplicate open directive" in months_fault(history, tmp_path, "always")
    assert months(history, "beancount") == months(history, "beancount", "--open", "once")


def months_fault(history, tmp_path, open_):
    file = tmp_path / "books.beancount"
    file.write_text(months(history, "beancount", "--open", open_))
    return subprocess.run(["bean-check", file], capture_output=True, text=True).stderr


@pytest.mark.parametrize("open_, right", [("once", True), ("always", True), ("never", False)])
def test_hledger_strict_finds_every_name_and_currency_declared(history, tmp_path, open_, right):
    file = tmp_path / "books.journal"
    file.write_text(months(history, "hledger", "--open", open_))
    line = ["hledger", "--strict", "-f", file, "balance"]
    checked = subprocess.run(line, capture_output=True, text=True)
    assert (checked.returncode == 0) == right, checked.stderr


def test_declarations_are_no_part_of_csv(history):
    refused = sluice("export", "journal", "--form", "csv", "--open", "once", *ACME, store=history.store)
    assert (refused.status, "--form hledger or beancount, for --open," in refused.err) == (2, True)
    assert not [row for row in csv.DictReader(io.StringIO(export(history, "csv"))) if row["amount"].startswith("-")]
