"""The outcome of the next close, as `payout preview` finds it, in the answers of Today, orders and creators."""

import collections
import decimal
import shlex

import pytest
from harness import orders
from harness.cli import now
from harness.fake_time import FakeTime
from serve import scene
from serve.live import recent, served_shop

Decimal = decimal.Decimal
MINE = ("--account", "acme")
POLICY = """
[[policy]]
account = "acme"
min_payout = ["20.00 USD"]
require_payee = true
payout_day = 5
"""
MEMBERS = """creator_id,program_id,code,name,payee
ann,spring,SAVE,Ann Smith,DE89370400440532013000
low,spring,LOW,,payee-low
poor,spring,POOR,,
sunk,spring,SUNK,,payee-sunk
stop,spring,STOP,,payee-stop
"""


@pytest.fixture
def office(live, tmp_path):
    """Creators for every reason to be left out: below the minimum, without payee, negative, held."""
    (tmp_path / "policy.toml").write_text(POLICY)
    (tmp_path / "members.csv").write_text(MEMBERS)
    assert live.edge.sluice.run("program", "apply", tmp_path / "policy.toml").returncode == 3
    scene.approve(live.edge.sluice, MINE, "program apply")
    live.edge.sluice("creator", "import", tmp_path / "members.csv")
    sold = [("SAVE", 3), ("LOW", 1), ("POOR", 3), ("SUNK", 1), ("STOP", 3)]
    for code, count in sold:
        for number in range(count):
            live.order(f"{code}-{number}", code=code)
    live.edge.sluice("adjust", "--shop", "shop-1", "--order", "SUNK-0", "--amount=-9.00", *scene.WHY)
    live.edge.sluice("hold", *MINE, "--creator", "stop", *scene.WHY)
    return live


def test_today_has_the_sums_of_the_preview_for_the_next_close(office):
    preview = office.edge.sluice.json("payout", "preview", *MINE, "--until", now())
    left = collections.defaultdict(lambda: [Decimal(0), 0])
    for row in preview["skipped"]:
        name = "BLOCKED" if row["skip_reason"] in ("HELD", "BLOCKED") else row["skip_reason"]
        left[name][0] += Decimal(row["amount"])
        left[name][1] += 1
    today = office.reader.object("today")
    close = today["next_close"]
    assert (Decimal(close["amount"]), close["creators"]) == (sum(Decimal(row["amount"]) for row in preview["payouts"]), 1)
    assert {row["reason"]: [Decimal(row["amount"]), row["creators"]] for row in close["left"]} == left
    assert set(left) == {"BELOW_MINIMUM", "NO_PAYEE", "NOT_POSITIVE", "BLOCKED"}
    assert Decimal(today["payable"]) == Decimal(close["amount"]) + sum(
        Decimal(row["amount"]) for row in close["left"] if row["reason"] != "BLOCKED")
    assert close["payout_day"][7:] == "-05T00:00:00Z" and close["payout_day"] >= now()[:10]


@pytest.mark.parametrize("order, words", [
    ("SAVE-0", "8.00 USD for ann, payable; the next close, on 5 "),
    ("LOW-0", "8.00 USD for low, payable, but the next close leaves it: low has 8.00 USD payable, below the minimum of 20.00 USD."),
    ("POOR-0", "8.00 USD for poor, payable, but the next close leaves it: poor has no payee."),
    ("SUNK-0", "-1.00 USD for sunk, payable, but the next close leaves it: sunk's payable amounts are -1.00 USD in all."),
    ("STOP-0", "8.00 USD for stop, blocked by CREATOR_HOLD since "),
])
def test_an_order_says_if_the_next_close_takes_it(office, order, words):
    answer = office.reader.object("order", shop="shop-1", order=order)["answer"]
    assert answer["sentence"].startswith(words), answer
    assert answer["next_step"], answer


def test_the_command_of_an_order_releases_the_hold_that_blocks_it(office):
    """G6: of all programs first, then the one of the order's program."""
    office.edge.sluice("hold", *MINE, "--creator", "stop", "--program", "spring", *scene.WHY)

    def answer():
        office.edge.sluice("worker", "--until-empty")
        return office.reader.object("order", shop="shop-1", order="STOP-0")["answer"]

    for more in ([], ["--program", "spring"]):
        command = shlex.split(answer()["command"])
        assert command == ["sluice", "release", *MINE, "--creator", "stop", *more, "--reason", "WHY"]
        office.edge.sluice(*command[1:])
    assert answer()["status"] != "blocked"


def test_a_viewer_reads_no_balance_in_the_answer_of_an_order(office):
    """A viewer sees no balance and no payee of a creator: the close says only that it leaves the order."""
    for order in ("LOW-0", "POOR-0"):
        answer = office.serve.token(office.edge.sluice.token("acme", "read_orders")[1]).object("order", shop="shop-1", order=order)["answer"]
        assert answer["sentence"].endswith(", payable, but the next close leaves it."), answer
        assert answer["next_step"] == "a later close"


def test_a_creator_says_when_the_money_comes(office):
    paid = office.reader.object("creator", creator="ann")
    (close,) = paid["next_closes"]
    assert (close["currency"], close["amount"], close["reason"], close["payout_day"][8:10]) == ("USD", "24.00", None, "05")
    (low,) = office.reader.object("creator", creator="low")["next_closes"]
    assert (low["reason"], low["minimum"]) == ("BELOW_MINIMUM", "20.00")
    late = office.reader.object("creator", creator="cy")
    assert late["next_closes"] == [] and late["clearing"] == []


def test_what_is_pending_has_the_day_on_which_it_clears_and_the_payout_day_after_it(tmp_path, ledger):
    clock = FakeTime()
    clock.set("2026-03-02T09:00:00Z")
    with served_shop(tmp_path, clock, ledger=ledger) as live:
        program = scene.PROGRAMS.format(account="acme", shop="shop-1", program="spring").replace("clearing_days = 0", "clearing_days = 14", 1)
        (tmp_path / "slow.toml").write_text(program.replace("approve_adjust_above", "payout_day = 5\napprove_adjust_above"))
        live.edge.sluice.run("program", "apply", tmp_path / "slow.toml")
        scene.approve(live.edge.sluice, MINE, "program apply")
        sold = {"platform_ordered_at": "2026-03-01T10:00:00Z", "platform_updated_at": "2026-03-01T10:00:00Z"}
        live.send("ORDER_CREATE", scene.order("o1", "SAVE", **sold))
        assert live.reader.object("creator", creator="ann")["clearing"] == [
            {"day": "2026-03-15", "currency": "USD", "amount": "8.00", "payout_day": "2026-04-05T00:00:00Z"}]
        answer = live.reader.object("order", shop="shop-1", order="o1")["answer"]
        assert answer["sentence"] == "8.00 USD for ann, payable from 15 Mar 2026, for the close of 5 Apr 2026."
        clock.set("2026-03-20T09:00:00Z")
        answer = live.reader.object("order", shop="shop-1", order="o1")["answer"]
        assert answer["sentence"] == "8.00 USD for ann, payable; the next close, on 5 Apr 2026, takes it."
        assert answer["next_at"] == "2026-04-05T00:00:00Z"
    clock.folder.cleanup()


@pytest.mark.parametrize("day", ["0", "29", "'5'"])
def test_a_payout_day_that_some_month_lacks_is_refused(live, tmp_path, day):
    (tmp_path / "policy.toml").write_text(POLICY.replace("payout_day = 5", f"payout_day = {day}"))
    said = live.edge.sluice.refuses("program", "apply", tmp_path / "policy.toml")
    assert "policy.toml:6: payout_day: expected a day of the month from 1 to 28" in said


def test_an_order_that_waits_in_the_queue_is_explained_so(live):
    sluice = live.edge.sluice
    live.order("o1")
    assert sluice.run("report", "orders", *MINE).stderr == ""
    for document in (recent("late"), recent("o1", updated_at=now())):
        assert live.edge.post_event("shop-1", live.secret, "ORDER_CREATE", document).status == 200
    said = sluice.refuses("explain", "late", "--shop", "shop-1")
    assert "1 event of order late of shop shop-1 is durable and will be applied by the worker" in said
    newer = sluice.run("explain", "o1", "--shop", "shop-1")
    assert newer.returncode == 0 and "note: 1 event of order o1 of shop shop-1 is durable" in newer.stderr
    sluice("worker", "--until-empty")
    assert sluice.run("report", "orders", *MINE).stderr == sluice.run("explain", "late", "--shop", "shop-1").stderr == ""


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
    assert answer["next_step"] == "2.00 USD is deducted from the next payout"
    live.order("o2")
    live.edge.sluice("payout", "close", *MINE, "--until", now())
    answer = live.reader.object("order", shop="shop-1", order="o1")["answer"]
    assert "will be deducted" not in answer["sentence"] and " 2.00 USD of ann was deducted in payout P" in answer["sentence"], answer
    assert answer["next_step"] is None
