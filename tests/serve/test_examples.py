"""Worked examples from a shop's event to the answers of the API, and ids that a shell would run (section 12 and 13)."""

import decimal
import subprocess
import threading

import pytest
from harness import orders, paths
from harness.cli import now
from harness.fake_time import FakeTime
from harness.serve import ask
from serve import scene
from serve.live import THIS_MORNING, end_of, recent, served_shop, worker

MINE = ("--account", "acme")
PROGRAM = """
[[program]]
id = "{id}"
account = "acme"
default_rate = "5%"
clearing_days = {days}
late_days = 36500
"""


def add_program(live, folder, name, code, days):
    """A program of all shops, in which the code is ann's."""
    (folder / "more.toml").write_text(PROGRAM.format(id=name, days=days))
    (folder / "more.csv").write_text(f"creator_id,program_id,code\nann,{name},{code}\n")
    live.edge.sluice("program", "apply", folder / "more.toml")
    live.edge.sluice("creator", "import", folder / "more.csv")


def types(changes):
    return [change["type"] for change in changes]


def test_example_1_a_code_without_an_owner_leaves_its_order_waiting_and_finds_it(served):
    """The id has a slash, which the query carries as %2F (Q2)."""
    reader = served.as_("acme", "viewer")
    answer = ask(reader.path, "/v1/order?shop=shop-1&order=a%2Fb", reader.headers)
    assert answer.status == 200 and answer.json()["order_id"] == "a/b"
    assert answer.json()["answer"]["status"] == "waiting"
    found = [(row["kind"], row["shop_id"], row["id"]) for row in reader.rows("search", q="ANNA15")]
    assert ("order", "shop-1", "a/b") in found


def test_example_4_a_payout_over_two_programs_is_taken_from_each_and_closed_once(live, tmp_path):
    add_program(live, tmp_path, "summer", "SUN", 0)
    live.order("o1")
    live.order("o2", code="SUN")
    cursor = end_of(live.reader)
    live.edge.sluice("payout", "close", *MINE, "--until", now())
    changes = live.reader.object("changes", after=cursor)["changes"]
    assert sorted(types(changes)) == ["payout.closed", "payout.taken", "payout.taken"]
    taken = {row["program_id"]: row["amount"] for change in changes if change["type"] == "payout.taken"
             for row in change["entries"]}
    assert taken == {"spring": "8.00", "summer": "4.00"}
    (payout,) = live.reader.rows("payouts")
    assert {row["payout_id"] for change in changes for row in change["entries"]} == {payout["payout_id"]}
    items = live.reader.rows("payout/items", payout=payout["payout_id"])
    assert [row["order_id"] for row in items] == ["o1", "o2"]
    assert sum(decimal.Decimal(row["amount"]) for row in items) == decimal.Decimal(payout["amount"]) == 12
    assert {part["program_id"]: part["amount"] for part in live.reader.object(
        "payout", payout=payout["payout_id"])["parts"]} == taken


def test_example_5_a_credit_above_the_limit_waits_with_its_digest_and_moves_money_once_approved(live):
    cursor = end_of(live.reader)
    done = live.edge.sluice.run("credit", *MINE, "--creator", "ann", "--program", "spring", "--amount", "60.00 USD", *scene.WHY)
    assert done.returncode == 3, done
    page = live.reader.object("changes", after=cursor)
    (waiting,) = page["changes"]
    assert waiting["type"] == "command.waiting" and waiting["order_change"] is None
    assert live.reader.rows("balances") == []
    (pending,) = live.reader.rows("approvals")
    assert (pending["command"], pending["amount"], pending["currency"]) == ("credit", "60.00", "USD")
    digest = live.reader.object("approval", id=pending["id"])["digest"]
    assert digest == live.edge.sluice.json("approvals", "show", pending["id"], *MINE)["digest"]
    scene.approve(live.edge.sluice, MINE, "credit")
    changed, approved = live.reader.object("changes", after=page["next"])["changes"]
    assert (changed["type"], approved["type"]) == ("commission.changed", "command.approved")
    assert [(row["creator_id"], row["amount"]) for row in changed["entries"]] == [("ann", "60.00")]
    assert [row["line_item_id"] for row in approved["entries"]] == [pending["id"]]
    assert live.reader.rows("approvals") == [] and live.reader.rows("balances")[0]["payable"] == "60.00"


def test_example_6_a_cancellation_of_the_same_version_blocks_until_it_is_acknowledged(live, tmp_path):
    add_program(live, tmp_path, "slow", "SLOW", 30)
    live.order("o1", code="SLOW")
    assert live.status("o1") == "pending"
    cursor = end_of(live.reader)
    live.send("ORDER_CANCEL", recent("o1", code="SLOW", platform_cancelled_at=THIS_MORNING))
    assert types(live.reader.object("changes", after=cursor)["changes"]) == ["anomaly.recorded"]
    answer = live.reader.object("order", shop="shop-1", order="o1")["answer"]
    assert (answer["status"], live.reader.rows("orders")[0]["blocked_by"]) == ("blocked", ["CANCEL_NOT_LATER"])
    assert live.reader.object("anomalies")["counts"] == {"blocks": 1, "open": 0, "acknowledged": 0, "holds": 0}
    run_as_pasted(live.edge.sluice, answer["command"])
    assert live.status("o1") == "pending"
    assert live.reader.object("anomalies")["counts"] == {"blocks": 0, "open": 0, "acknowledged": 1, "holds": 0}


def run_as_pasted(sluice, command):
    """In a shell of its own, with `sluice` on the path."""
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False,
                          env={**sluice.environment, "PATH": f"{paths.SLUICE.parent}:/usr/bin:/bin"})
    assert done.returncode == 0 and done.stderr == "", (command, done)


@pytest.fixture
def clock():
    made = FakeTime()
    yield made
    made.folder.cleanup()


def test_example_7_a_refund_of_a_closed_month_is_listed_late_in_the_next_one(clock, tmp_path, ledger):
    """The clock goes back to January, as if another node had received the refund and was read after the close."""
    clock.set("2026-01-05T10:00:00Z")
    with served_shop(tmp_path, clock, ledger=ledger) as live:
        sold = {"platform_ordered_at": "2026-01-05T09:00:00Z", "platform_updated_at": "2026-01-05T09:00:00Z"}
        live.send("ORDER_CREATE", scene.order("o1", "SAVE", **sold))
        clock.set("2026-02-03T10:00:00Z")
        live.edge.sluice("period", "close", *MINE, "--until", "2026-02-01T00:00:00Z")

        def january():
            return [live.reader.get("statement", creator="ann", month="2026-01").body,
                    live.reader.get("period", until="2026-02-01T00:00:00Z").body]

        before = january()
        clock.set("2026-01-31T12:00:00Z")
        sold["platform_updated_at"] = "2026-01-31T11:00:00Z"
        live.send("ORDER_UPDATE", scene.order("o1", "SAVE", **sold, refund_line_items=[
            orders.refund("r1", amount="25.00", tax="5.00", platform_refunded_at="2026-01-31T11:00:00Z")]))
        clock.set("2026-02-04T10:00:00Z")
        assert january() == before
        (accrual,) = live.reader.rows("journal", reason="ACCRUAL")
        (refund,) = live.reader.rows("journal", reason="REFUND")
        assert refund["recorded_at"].startswith("2026-01-31T12:00:") and refund["amount"] == "-2.00"
        assert (refund["accounting_date"], refund["refers_to"]) == ("2026-02-01T00:00:00Z", accrual["entry"])
        february = live.reader.object("statement", creator="ann", month="2026-02")
        assert [(row["reason"], row["amount"], row["refers_to"]) for row in february["rows"]] == [
            ("REFUND", "-2.00", accrual["entry"])]
        (sums,) = february["sums"]
        assert [sums[name] for name in ("opening", "earned", "adjusted", "closing")] == ["8.00", "0.00", "-2.00", "6.00"]


# While the worker applies --------------------------------------------------------------------------------------------


def test_q6_answers_are_of_the_snapshot_they_name_and_pages_miss_no_row_while_orders_are_applied(live):
    """Each order is one input and earns 8.00, so the snapshot's number says the balance."""
    count, seen, known = 60, set(), []

    def sent():
        with live.edge.connect() as connection:
            for number in range(count):
                if number % 10 == 0:  # the reader sees a part of them before the next ones come
                    paths.wait_until(lambda: len(seen) > number // 10, "an answer of another snapshot")
                answer = live.edge.post_event("shop-1", live.secret, "ORDER_CREATE", recent(f"o{number:03}"), connection=connection)
                assert answer.status == 200

    def applied():
        answer = live.reader.get("balances")
        payable = sum(decimal.Decimal(row["payable"]) for row in answer.json()["items"])
        return int(answer.header("X-Sluice-Snapshot").partition(":")[2]), payable

    first, nothing = applied()
    assert nothing == 0
    sending = threading.Thread(target=sent)
    with worker(live.edge.store):
        sending.start()
        while len(known) < count:
            sequence, payable = applied()
            seen.add(sequence)
            assert payable == 8 * (sequence - first)
            walked = [row["order_id"] for row in live.reader.rows("orders", limit=7)]
            assert walked == sorted(set(walked)) and set(known) <= set(walked)
            known = walked
        sending.join()
    assert applied() == (first + count, 8 * count) and len(seen) >= count // 10


# Bad input (section 12) ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["$(reboot)'", "-rf", "a b;`id`", "<img onerror=1>"])
def test_a_command_of_an_answer_does_one_thing_whatever_the_id(live, name):
    live.order(name)
    live.edge.sluice("hold", "--shop", "shop-1", f"--order={name}", *scene.WHY)
    answer = live.reader.object("order", shop="shop-1", order=name)["answer"]
    assert answer["status"] == "blocked"
    run_as_pasted(live.edge.sluice, answer["command"])
    assert live.status(name) == "payable"


def test_an_id_with_a_control_character_gets_no_command(live):
    name = "line\nfeed"
    live.order(name)
    live.edge.sluice("hold", "--shop", "shop-1", "--order", name, *scene.WHY)
    answer = live.reader.object("order", shop="shop-1", order=name)["answer"]
    assert (answer["status"], answer["command"]) == ("blocked", None)
