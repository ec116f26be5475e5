"""Order of arrival: with distinct versions an order's own fields, cancellation and refund rows do
not depend on it; nor, with one code in every event, do its commission and the journal's sums.
"""

import random
from collections import defaultdict
from fractions import Fraction

import pytest

from harness import sign
from model.rules import Shop, at, with_code


def events(chance, count):
    """Events of one order with distinct versions; a refund id belongs to one line."""
    made = []
    for number in range(count):
        lines = [
            {
                "line_item_id": f"l{n}", "sku": "s", "amount": f"{chance.randrange(1, 200)}.{chance.randrange(100):02}",
                "tax": "0.50", "quantity": str(chance.randrange(1, 5)),
            }
            for n in sorted(chance.sample(range(4), chance.randrange(1, 5)))
        ]
        refunds = [
            {
                "refund_line_item_id": f"r-{item['line_item_id']}", "line_item_id": item["line_item_id"],
                "platform_refunded_at": at(0), "sku": "s", "quantity": "1", "tax": "0",
                "amount": chance.choice(["0", item["amount"], "3.5", "1.25"]),
            }
            for item in lines
            if chance.random() < 0.5
        ]
        document = with_code(
            platform_updated_at=at(number), line_items=lines, amount=str(chance.randrange(1000)),
            currency_code=chance.choice(["USD", "USD", "USD", "JPY"]), refund_line_items=refunds,
        )
        if chance.random() < 0.3:
            document["platform_cancelled_at"] = at(number)
        made.append((chance.choice(["ORDER_CREATE", "ORDER_UPDATE"]), sign.encode(document)))
    return made


def arrive_in_any_order(rules_edge, seed):
    chance = random.Random(seed)
    sent = events(chance, 6)
    outcomes = []
    for _ in range(5):
        shop = Shop(rules_edge)
        shop.apply_program(default_rate='"12.5%"')
        shop.code(shop.ann, "ANN")
        for topic, body in sent:
            shop.send(body, topic)
        row = shop.only_order()
        sums = defaultdict(Fraction)
        for entry in shop.postings():
            sums[entry["currency"]] += Fraction(entry["amount"])
        sums = {currency: value for currency, value in sums.items() if value}
        for name in ("shop_id", "account_id", "creator_id", "program_id"):
            del row[name]
        assert Fraction(row["commission_amount"]) == sum(sums.values())
        outcomes.append((row, sums))
        chance.shuffle(sent)
    assert all(outcome == outcomes[0] for outcome in outcomes), outcomes


@pytest.mark.parametrize("seed", range(4))
def test_arrival_order_does_not_matter(rules_edge, seed):
    arrive_in_any_order(rules_edge, seed)


@pytest.mark.parametrize("seed", range(4, 12))
def test_more_orders_of_arrival_do_not_matter(rules_edge, seed):
    arrive_in_any_order(rules_edge, seed)
