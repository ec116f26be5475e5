"""Compares the client's journal with the contents of the store: the verdict."""

from collections import Counter, defaultdict
from fractions import Fraction

from crash.load_client import order
from model.values import half_even, text


class Verdict:
    def __init__(self):
        self.sent = self.acked = self.lost = self.dup = 0
        self.phantom = self.indoubt = self.unanswered = self.corrupt = 0
        self.kept = 0  # requests in doubt that are in the store, which is legal

    def __str__(self):
        return (
            f"sent {self.sent} acked {self.acked} lost {self.lost} dup {self.dup} "
            f"phantom {self.phantom} indoubt {self.indoubt} unanswered {self.unanswered} corrupt {self.corrupt}"
        )

    @property
    def good(self):
        return self.acked > 0 and not (self.lost or self.dup or self.phantom or self.corrupt)


def read_journal(path):
    """kind -> {id: last word about it}. A last line that was cut counts as not written."""
    states = {"order": {}, "batch": {}}
    for line in path.read_text().split("\n")[:-1]:
        word, kind, name = line.split(" ")
        states[kind][name] = word
    return states


def commissions(document):
    """line -> commission at 10 % of the net amount."""
    return {
        line["line_item_id"]: text(half_even(Fraction(line["amount"]) / 10, 2), 2)
        for line in document["line_items"]
        if half_even(Fraction(line["amount"]) / 10, 2)
    }


def judge(journal, seed, sluice, shop):
    """After everything is drained."""
    verdict = Verdict()
    states = read_journal(journal)
    verdict.sent = sum(len(names) for names in states.values())
    words = Counter(word for names in states.values() for word in names.values())
    verdict.acked = words["A"]
    verdict.unanswered = words["I"] + words["S"]
    verdict.indoubt = verdict.unanswered + words["U"]  # a 503 of a full or failed disk may be stored
    orders = {row["order_id"]: row for row in sluice.report("orders", "--shop", shop)}
    entries = defaultdict(list)
    for row in sluice.postings("--shop", shop):
        entries[row["order_id"]].append(row)
    _judge_orders(verdict, states["order"], seed, orders, entries)
    products = Counter(row["platform_product_id"] for row in sluice.report("products", "--shop", shop))
    for name, word in states["batch"].items():
        verdict.lost += word == "A" and name not in products
        verdict.phantom += word == "N" and name in products
    verdict.phantom += sum(1 for name in products if name not in states["batch"])
    stats = sluice.stats()
    # No order is ever sent twice, so that every input is applied, and each batch at most once.
    verdict.dup += stats["duplicate"] + stats["stale"]
    verdict.dup += abs(stats["applied"] - len(orders)) + abs(stats["catalog"] - len(products))
    verdict.corrupt += stats["dead"]
    return verdict


def _judge_orders(verdict, states, seed, orders, entries):
    for name, word in states.items():
        if name not in orders:
            verdict.lost += word == "A"
            continue
        verdict.phantom += word == "N"
        verdict.kept += word in ("I", "S", "U")
        document = order(name, seed)
        row = orders[name]
        right = commissions(document)
        found = Counter((entry["line_item_id"], entry["amount"]) for entry in entries[name])
        verdict.dup += sum(count - 1 for count in found.values())
        good = (
            row["amount"] == document["amount"]
            and row["creator_id"] == "crash-creator"
            and dict(found.keys()) == right
            and Fraction(row["commission_amount"]) == sum(map(Fraction, right.values()))
        )
        verdict.corrupt += not good
    verdict.phantom += sum(1 for name in orders if name not in states)
