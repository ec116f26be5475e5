"""The answer of an order that was paid and then refunded names the next deduction."""

from harness import orders
from harness.cli import now
from serve import scene
from serve.live import recent

MINE = ("--account", "acme")


def test_a_refund_of_a_paid_commission_names_the_deduction(live):
    """The first sentence said PAID alone, and the next step was none."""
    live.order("o1")
    live.edge.sluice("payout", "close", *MINE, "--until", now())
    (payout,) = live.reader.rows("payouts")
    for step in ("sent", "settle"):
        live.edge.sluice("payout", step, payout["payout_id"], *MINE, *scene.WHY)
    live.send("ORDER_CREATE", recent("o1", updated_at=now(), refund_line_items=[orders.refund("r1", amount="25.00", tax="5.00")]))
    answer = live.reader.object("order", shop="shop-1", order="o1")["answer"]
    assert answer["status"] == "paid"
    assert answer["sentence"].startswith("8.00 USD for ann was paid on ") and answer["sentence"].endswith(
        f" in payout {payout['payout_id']}; 2.00 USD will be deducted from the next payout.")
    live.order("o2")
    live.edge.sluice("payout", "close", *MINE, "--until", now())
    answer = live.reader.object("order", shop="shop-1", order="o1")["answer"]
    assert "will be deducted" not in answer["sentence"] and " 2.00 USD of ann was deducted in payout P" in answer["sentence"], answer
