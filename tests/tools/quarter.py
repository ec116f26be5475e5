#!/usr/bin/env python3
"""A quarter as finance runs it, with a faked clock: docs/month.md is this quarter as a page.

    tests/tools/quarter.py FOLDER        plays it and leaves store, statements and books in FOLDER

Two accounts, three programs, two currencies, a person who closes and two who approve; balances of an earlier system,
payouts that fail and that the bank returns, and a debt that is written off. Orders arrive through nginx, everything else is done by the real commands, as the page has them. Whatever has to tie is compared
here: statements, trial balance, balances as of the end of the month, the journal in hledger, and the bank's total.
"""
import csv
import decimal
import json
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from harness import orders  # noqa: E402
from harness.bank_answers import camt053, details, entry, pain002, status  # noqa: E402
from harness.cli import Sluice, as_user  # noqa: E402
from harness.edge import Edge  # noqa: E402
from harness.fake_time import FakeTime  # noqa: E402
from harness.http_block import EVENTS, http_block  # noqa: E402

MONTHS = ("2026-01", "2026-02", "2026-03", "2026-04", "2026-05")
EVE, GINA, FRANK = "games", "backup", "news"  # system users: one who closes, two who approve
POLICY = """
[[policy]]
account = "{account}"
approve_payout_above = ["20.00 EUR", "20.00 USD"]
approve_adjust_above = ["20.00 EUR", "20.00 USD"]
approvers = ["backup", "news"]
"""
PROGRAM = """
[[program]]
id = "{program}"
account = "{account}"
shops = ["{shop}"]
default_rate = "{rate}"
late_days = 400
starts_at = 2025-06-01T00:00:00Z
"""
PROGRAMS = {"spring": ("acme", "shop-1", "10%"), "summer": ("acme", "shop-2", "15%"), "solo": ("beta", "shop-3", "10%")}
CREATORS = ("ann", "ben", "cyd")
IBANS = {"ann": "DE89370400440532013000", "ben": "NO9386011117947", "cyd": "MT84MALT011000012345MTLCAST001S"}
PAYEES = "payee,name,iban,email\n" + "".join(f"ref-{c},{c.title()},{iban},{c}@example.org\n" for c, iban in IBANS.items())
DEBTOR = "name,iban\nAcme,GB82WEST12345698765432\n"
OPENINGS = {
    "acme": "ann,spring,EUR,25.00\nben,summer,EUR,-3.00\ncyd,spring,USD,10.00\n",
    "beta": "ann,solo,EUR,12.00\n",
}
BOOKS = {"Expenses:Commission": "expense", "Liabilities:Commission": "owed", "Liabilities:Payouts": "payout",
         "Assets:Paid": "paid"}


class Quarter:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.clock = FakeTime()
        self.clock.set("2025-12-31T09:00:00Z")
        self.edge = Edge(http_block(EVENTS, map_size="256m"), workers=1, main=self.clock.nginx_lines,
                         environment=self.clock.environment)
        self.sluice = Sluice(self.edge.store, self.clock.environment)
        self.sluice.prefix = as_user(EVE)
        self.approvers = [Sluice(self.edge.store, self.clock.environment) for _ in (GINA, FRANK)]
        for approver, name in zip(self.approvers, (GINA, FRANK)):
            approver.prefix = as_user(name)
        self.secrets, self.number, self.paid_by_bank = {}, 0, {}

    # The first day ---------------------------------------------------------------------------------------------

    def begin(self):
        codes = ["creator_id,program_id,code,payee"]
        for program, (account, shop, rate) in PROGRAMS.items():
            if account not in self.secrets:
                self.sluice("account", "create", account)
                self.secrets[account] = self.sluice.json("token", "create", "--account", account, "--scope", "write_orders")["secret"]
            self.sluice("shop", "create", shop, "--account", account)
            self.apply(PROGRAM.format(program=program, account=account, shop=shop, rate=rate))
            codes += [f"{creator},{program},{creator.upper()}-{program},ref-{creator}" for creator in CREATORS]
        self.sluice("creator", "import", self.file("creators.csv", "\n".join(codes) + "\n"))
        for account in self.secrets:
            self.apply(POLICY.format(account=account))
            self.take_over(account)

    def take_over(self, account):
        """Balances of an earlier system; those of acme are above the limit."""
        self.clock.set("2026-01-01T07:00:00Z")
        file = self.file(f"{account}-balances.csv", "creator_id,program_id,currency,amount\n" + OPENINGS[account])
        done = self.sluice.run("opening", "import", file, "--account", account, "--at", "2026-01-01T00:00:00Z",
                               "--reason", "old system")
        if account == "acme":
            assert done.returncode == 3, done
            (waiting,) = self.sluice.json("approvals", "--account", account)
            self.approve(account, waiting["id"], self.approvers[0])
        else:
            assert done.returncode == 0, done
        assert len(self.sluice.json("opening", "list", "--account", account)) == OPENINGS[account].count("\n")

    def approve(self, account, what, approver):
        shown = approver.json("approvals", "show", what, "--account", account)
        approver("approve", what, "--account", account, "--expect", shown["digest"])

    def apply(self, text):
        self.sluice("program", "apply", self.file("programs.toml", text))

    def file(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    # A month -----------------------------------------------------------------------------------------------------

    def sell(self, month):
        """Every third day one order for each creator and program; every seventh is refunded by half."""
        for day in range(2, 27, 3):
            at = f"{month}-{day:02}T10:00:00Z"
            self.clock.set(at)
            for program, (account, shop, _) in PROGRAMS.items():
                for place, creator in enumerate(CREATORS):
                    self.number += 1
                    net = 40 + self.number * 7 % 90
                    document = order_of(program, creator, self.number, net, at, "USD" if place == 2 else "EUR")
                    self.send(shop, account, "ORDER_CREATE", document)
                    if self.number % 7 == 0:
                        document["platform_updated_at"] = at.replace("T10", "T11")
                        document["refund_line_items"] = [orders.refund(f"r{self.number}", amount=f"{net / 2:.2f}", tax="0.00")]
                        self.send(shop, account, "ORDER_UPDATE", document)
        self.sluice("worker", "--until-empty")

    def send(self, shop, account, topic, document):
        answer = self.edge.post_event(shop, self.secrets[account], topic, document)
        assert answer.status == 200, answer

    def pay(self, account, month, following):
        """Preview, close, approve, export; the bank pays all but one, and returns one the month after."""
        end = ("--account", account, "--until", f"{following}-01T00:00:00Z")
        preview = self.sluice.json("payout", "preview", *end)
        closed = self.sluice.json("payout", "close", *end, "--expect", preview["digest"])
        run = closed["payouts"][0]["payout_run"]
        if any(payout["state"] == "CLOSED" for payout in closed["payouts"]):
            assert self.sluice.run("approve", run, "--account", account).returncode == 1, "the closer does not approve"
            self.approve(account, run, self.approvers[MONTHS.index(month) % 2])
        for currency, form in (("EUR", ("--form", "pain.001", "--debtor", self.file("debtor.csv", DEBTOR))),
                               ("USD", ("--form", "csv", "--columns", "paypal"))):
            self.sluice("payout", "export", run, "--account", account, "--currency", currency, *form, "--payees",
                        self.file("payees.csv", PAYEES), "--out", self.folder / f"{account}-{month}-{currency}")
        instructed = re.findall(r"<EndToEndId>(.*?)</EndToEndId>", (self.folder / f"{account}-{month}-EUR").read_text())
        payouts = {payout["payout_id"]: payout for payout in closed["payouts"]}
        assert instructed == sorted(name for name, payout in payouts.items() if payout["currency"] == "EUR")
        self.answer(account, month, payouts, instructed)

    def answer(self, account, month, payouts, instructed):
        """ben's transfer is refused; ann's comes back in February; PayPal's payments are settled by hand."""
        refused = [name for name in instructed if payouts[name]["creator_id"] == "ben" and month != "2026-03"]
        paid = [name for name in instructed if name not in refused]
        back = [name for name in paid if payouts[name]["creator_id"] == "ann" and month == "2026-02"]
        report = pain002(*(status(name, "RJCT", payouts[name]["amount"], reason="AC01") for name in refused))
        entries = [entry(payouts[name]["amount"], details(name, payouts[name]["amount"], reference=f"B-{name[-4:]}"))
                   for name in paid]
        entries += [entry(payouts[name]["amount"], details(name, payouts[name]["amount"], returned="AC04"), credit=True)
                    for name in back]
        statement = camt053(*entries, entry("1.50", reference="FEE"))
        for name, text in (("report", report), ("statement", statement)) if refused else (("statement", statement),):
            file = self.file(f"{account}-{month}-{name}.xml", text)
            debtor = ("--debtor", self.folder / "debtor.csv")
            self.sluice("bank", "import", file, "--account", account, *debtor, "--preview")
            for _ in range(2):  # the second time changes nothing
                rows = self.sluice.json("bank", "import", file, "--account", account, *debtor)
            assert {row["outcome"] for row in rows} <= {"KNOWN", "UNMATCHED"}
        dollars = [name for name, payout in payouts.items() if payout["currency"] == "USD"]
        self.sluice("payout", "settle", *dollars, "--account", account, "--reason", "PayPal's report")
        for name in [*paid, *dollars]:
            if name not in back:
                key = (account, payouts[name]["currency"])
                self.paid_by_bank[key] = self.paid_by_bank.get(key, 0) + decimal.Decimal(payouts[name]["amount"])

    # Ties -----------------------------------------------------------------------------------------------------

    def close_month(self, account, month, following):
        scope = ("--account", account)
        until = f"{following}-01T00:00:00Z"
        self.sluice("period", "close", *scope, "--until", until, "--preview")
        self.sluice("period", "close", *scope, "--until", until)
        into = self.folder / "statements" / account / month
        self.sluice("report", "statements", *scope, "--month", month, "--into", into)
        trial = self.sluice.json("report", "trial-balance", *scope, "--month", month)
        sums = {}
        for row in trial:
            for name in ("opening", "closing"):
                sums[row["currency"], name] = sums.get((row["currency"], name), 0) + decimal.Decimal(row[name])
        assert set(sums.values()) == {0}, sums
        owed = {}
        for row in trial:
            if row["ledger_account"] == "owed":
                owed[row["program_id"], row["currency"]] = -decimal.Decimal(row["closing"])
        assert nonzero(owed) == nonzero(self.owed_as_of(scope, until)) == nonzero(statement_closings(into))
        self.compare_with_hledger(account, trial, until)

    def owed_as_of(self, scope, until):
        owed = {}
        for row in self.sluice.json("report", "balances", *scope, "--as-of", until):
            key = (row["program_id"], row["currency"])
            total = sum(decimal.Decimal(row[name]) for name in ("pending", "blocked", "payable"))
            owed[key] = owed.get(key, 0) + total
        return owed

    def compare_with_hledger(self, account, trial, until):
        """The trial balance of the month is the general ledger's, by program and currency."""
        file = self.file("books.journal", self.sluice("export", "journal", "--form", "hledger", "--account", account, "--until", until))
        said = subprocess.run(["hledger", "-f", file, "balance", "--flat", "--no-total", "--layout=tidy", "-O", "csv"],
                              capture_output=True, text=True, check=True).stdout
        found = {}
        for row in csv.DictReader(said.splitlines()):
            *book, _, program, _ = row["account"].split(":")
            key = (program, row["commodity"], BOOKS[":".join(book)])
            found[key] = found.get(key, 0) + decimal.Decimal(row["value"])
        wanted = {(row["program_id"], row["currency"], row["ledger_account"]): decimal.Decimal(row["closing"]) for row in trial}
        assert nonzero(found) == nonzero(wanted)

    def end(self):
        """The creators have what the bank paid out; the ledger is sound, and its archive says the same."""
        for account in self.secrets:
            paid = {}
            for row in self.sluice.json("report", "balances", "--account", account):
                key = (account, row["currency"])
                paid[key] = paid.get(key, 0) + decimal.Decimal(row["paid"])
            assert nonzero(paid) == {key: amount for key, amount in self.paid_by_bank.items() if key[0] == account}
            states = {row["state"] for row in self.sluice.json("payout", "list", "--account", account)}
            assert states == {"PAID", "FAILED", "RETURNED"}
            reasons = {row["reason"] for row in self.sluice.json("report", "journal", "--account", account)}
            assert {"OPENING", "ACCRUAL", "REFUND", "SETTLE", "FAILED", "RETURNED"} <= reasons
            assert ("WRITE_OFF" in reasons) == (account == "beta")
            approvers = {row["approved_by"] for row in self.sluice.json("report", "approvals", "--account", account)}
            assert approvers == {GINA, FRANK}
        found = {row["check"]: row for row in json.loads(self.sluice.run("doctor", "--format", "json").stdout)}
        assert found["journal"]["result"] == "ok", found["journal"]
        self.sluice("doctor", "--replay")

    def back_fill(self):
        """An order from before the opening balances: the earlier system has paid it."""
        document = order_of("spring", "ann", "old", 100, "2025-12-20T10:00:00Z", "EUR")
        self.send("shop-1", "acme", "ORDER_CREATE", document)
        self.sluice("worker", "--until-empty")
        (row,) = [row for row in self.sluice.json("report", "orders") if row["order_id"] == "spring-old"]
        assert (row["creator_id"], row["status"]) == (None, "waiting")

    def write_off(self):
        """In April an order is refunded that cyd was paid for, and the debt is given up."""
        at = "2026-04-02T10:00:00Z"
        self.clock.set(at)
        bought = [row for row in self.sluice.json("report", "orders", "--account", "beta")
                  if row["creator_id"] == "cyd" and row["status"] == "paid"][-1]
        document = order_of("solo", "cyd", bought["order_id"].removeprefix("solo-"), bought["amount"].split(".")[0],
                            bought["ordered_at"], "USD")
        document |= {"platform_updated_at": at,
                     "refund_line_items": [orders.refund("r-april", amount=bought["amount"], tax="0.00")]}
        self.send("shop-3", "beta", "ORDER_UPDATE", document)
        self.sluice("worker", "--until-empty")
        scope = ("--account", "beta")
        (negative,) = self.sluice.json("report", "balances", *scope, "--negative")
        assert (negative["creator_id"], negative["payable"]) == ("cyd", "-" + bought["commission_amount"])
        self.sluice("write-off", *scope, "--creator", "cyd", "--program", "solo", "--reason", "left")
        assert self.sluice.json("report", "balances", *scope, "--negative") == []

    def play(self):
        self.begin()
        self.edge.start()
        self.back_fill()
        for month, following in zip(MONTHS, MONTHS[1:-1]):
            self.clock.set(f"{month}-01T08:00:00Z")
            self.sell(month)
            for account in self.secrets:
                self.clock.set(f"{following}-01T09:00:00Z")
                self.pay(account, month, following)
                self.close_month(account, month, following)
        self.write_off()
        self.clock.set("2026-05-01T09:00:00Z")
        for account in self.secrets:
            self.close_month(account, "2026-04", "2026-05")
        self.end()


def order_of(program, creator, number, net, at, currency):
    code = {"code": f"{creator.upper()}-{program}", "type": "DISCOUNT_CODE", "value_type": "PERCENTAGE", "value": "5"}
    return orders.order(
        f"{program}-{number}", amount=f"{net}.00", tax="0.00", shipping="0.00", discounts=[code], currency_code=currency,
        platform_ordered_at=at, platform_updated_at=at, line_items=[orders.line(amount=f"{net}.00", tax="0.00")])


def nonzero(rows):
    return {key: amount for key, amount in rows.items() if amount}


def statement_closings(folder):
    closings = {}
    for file in sorted(folder.iterdir()):
        for row in csv.DictReader(file.read_text().splitlines()):
            if row["reason"] == "PERIOD_CLOSING":
                key = (row["program_id"], row["currency"])
                closings[key] = closings.get(key, 0) + decimal.Decimal(row["amount"])
    return closings


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    quarter = Quarter(folder)
    with quarter.edge:
        quarter.play()
        print(json.dumps({f"{account} {currency}": str(amount) for (account, currency), amount in quarter.paid_by_bank.items()}))


if __name__ == "__main__":
    main()
