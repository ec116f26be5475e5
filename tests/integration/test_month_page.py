"""docs/month.md, command by command, as a new user types it: the page alone is enough, and every command succeeds."""
import json
import re
import shlex
import subprocess
import sys

import pytest
from harness import orders
from harness.bank_answers import camt053, details, entry
from harness.paths import ROOT, SLUICE

sys.path.insert(0, str(ROOT / "tests" / "tools"))
from quarter import EVE, GINA, Quarter, as_user  # noqa: E402

PAGE = (ROOT / "docs" / "month.md").read_text()
FILES = ("payees.csv", "debtor.csv", "balances.csv", "codes.csv")
PROGRAM = """
[[program]]
id = "spring"
account = "acme"
shops = ["shop-1"]
default_rate = "10%"
late_days = 400
starts_at = 2025-06-01T00:00:00Z
"""
CREATORS = "creator_id,program_id,code\nann,spring,ANN\nben,spring,BEN\n"
SOLD = {"1001": ("ANN", "EUR"), "1002": ("BEN", "USD"), "1003": ("ANN", "USD"), "1004": ("BEN", "EUR"), "1005": ("ANN", "EUR")}
RUN, PAYOUT = "C260201080000-7KQ4M9", "P260201080000-7KQ4M9-"


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.M | re.S)


def commands():
    """Each command of the page, in its order."""
    text = "".join(blocks("sh")).replace("\\\n", " ")
    return [line.strip() for line in text.splitlines() if line.strip()]


class Month(Quarter):
    def prepare(self):
        """Makes the account, its program, its creators and the files of the page."""
        self.sluice("account", "create", "acme")
        self.secrets["acme"] = self.sluice.json("token", "create", "--account", "acme", "--scope", "write_orders")["secret"]
        self.sluice("shop", "create", "shop-1", "--account", "acme")
        self.apply(PROGRAM)
        self.sluice("creator", "import", self.file("creators.csv", CREATORS))
        for name, text in zip(FILES, blocks("csv"), strict=True):
            self.file(name, text)
        (policy,) = blocks("toml")
        self.policy = policy.replace('"gina"', f'"{GINA}"')

    def sell_january(self):
        at = "2026-01-10T10:00:00Z"
        for name, (code, currency) in SOLD.items():
            self.send("shop-1", "acme", "ORDER_CREATE", self.order(name, at))
            if name == "1004":  # a cancellation that is not later than the order
                self.send("shop-1", "acme", "ORDER_CANCEL", self.order(name, at) | {"platform_cancelled_at": at})
        self.sluice("worker", "--until-empty")

    def order(self, name, updated):
        code, currency = SOLD[name]
        return orders.order(
            name, amount="8000.00", tax="0.00", shipping="0.00", currency_code=currency,
            platform_ordered_at="2026-01-10T10:00:00Z", platform_updated_at=updated,
            line_items=[orders.line(amount="8000.00", tax="0.00")],
            discounts=[{"code": code, "type": "DISCOUNT_CODE", "value_type": "PERCENTAGE", "value": "5"}])

    def refund(self, name):
        """The order was paid; its creator owes the commission now."""
        document = self.order(name, "2026-02-02T10:00:00Z")
        document["refund_line_items"] = [orders.refund("r1", amount="8000.00", tax="0.00")]
        self.send("shop-1", "acme", "ORDER_UPDATE", document)
        self.sluice("worker", "--until-empty")

    # One command ---------------------------------------------------------------------------------------------

    def run_line(self, line):
        words = shlex.split(line)
        target = words.pop() if len(words) > 2 and words[-2] == ">" else None
        words = [self.filled(word) for word in (words[:-1] if target else words)][1:]
        by = self.approvers[0] if words[0] in ("approve", "approvals") else self.sluice
        done = subprocess.run([*by.prefix, SLUICE, *words], cwd=self.folder, capture_output=True, text=True,
                              env=by.environment, check=False)
        if target:
            (self.folder / target).write_text(done.stdout)
        self.note(words, done.stdout)
        return done

    def filled(self, word):
        """Ids and digests of the page become those of this month."""
        if word == "DIGEST":
            return self.digest
        if word == RUN:
            return self.payout_run
        return self.payouts[word] if word.startswith(PAYOUT) else word

    def note(self, words, said):
        digests = re.findall(r"\b[0-9a-f]{64}\b", said)
        self.digest = digests[-1] if digests else getattr(self, "digest", "")
        if words[:2] == ["payout", "close"]:
            self.payout_run = re.search(r"C\d{12}-[0-9A-Z]{6}", said)[0]
            rows = self.sluice.json("payout", "list", "--account", "acme")
            of = {}
            for row in rows:
                of.setdefault((row["creator_id"], row["currency"]), row["payout_id"])
            self.payouts = {PAYOUT + "0003": of["ben", "EUR"], PAYOUT + "0007": of["ben", "USD"],
                            PAYOUT + "0008": of["ann", "USD"], PAYOUT + "0009": of["ann", "EUR"]}
        if "export" in words and words[0] == "payout":
            euro = [row for row in self.sluice.json("payout", "list", "--account", "acme", "--currency", "EUR")
                    if row["state"] == "SENT"]
            self.file("statement.xml", camt053(*(
                entry(row["amount"], details(row["payout_id"], row["amount"], reference=f"B-{n}")) for n, row in enumerate(euro))))


def test_the_page_is_enough(tmp_path):
    if subprocess.run([*as_user(EVE), "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("this machine does not let a test log in as another user")
    month = Month(tmp_path)
    with month.edge:
        month.prepare()
        month.edge.start()
        for line in commands():
            if "creator set ann" in line:
                month.clock.set("2026-01-01T08:00:00Z")
                month.run_line(line.replace("ann", "ben"))  # each creator needs a payee
            if "hold list" in line:
                month.apply(month.policy)
                month.clock.set("2026-01-10T10:00:00Z")
                month.sell_january()
                month.clock.set("2026-02-01T08:00:00Z")
            if "--negative" in line:
                month.refund("1002")
            done = month.run_line(line)
            assert done.returncode == 0, (line, done.stdout, done.stderr)
        closed = json.loads(month.sluice("report", "trial-balance", "--account", "acme", "--month", "2026-01", "--format", "json"))
        assert sum(float(row["closing"]) for row in closed if row["currency"] == "EUR") == 0
