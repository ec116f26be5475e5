"""Today's figures are those of the journal, the balances and the orders."""

import collections
import contextlib
import datetime
import decimal
import os
import subprocess

import pytest
from harness import orders, paths
from harness.fake_time import FakeTime
from harness.serve import Serve, ask
from serve import scene
from serve.live import recent, served_shop, worker

Decimal = decimal.Decimal
EARNED = ("ACCRUAL", "ATTRIBUTION")
PAYOUTS = ("PAYOUT", "SETTLE", "VOID", "FAILED", "RETURNED")
ACCOUNTS = list(scene.ACCOUNTS)


@contextlib.contextmanager
def serve_on(served, day):
    """A server whose clock shows noon of another day."""
    clock, folder = FakeTime(), paths.make_folder()
    clock.set(f"{day}T12:00:00Z")
    try:
        with Serve(served.serve.command[2], folder, "--rate-limit", "1000000/60", environment=clock.environment) as serve:
            yield serve
    finally:
        paths.drop_folder(folder)
        clock.folder.cleanup()


def day_after(day):
    return (datetime.date.fromisoformat(day) + datetime.timedelta(days=1)).isoformat()


@pytest.fixture(scope="session")
def tomorrow(served):
    """A server for which today's postings are yesterday's."""
    (day,) = {row["accounting_date"][:10] for row in served.as_("acme").rows("journal")}
    with serve_on(served, day_after(day)) as serve:
        yield serve


def owed(row):
    """The posting's change of what is owed: `owed` is credited with what is earned."""
    return Decimal(row["amount"])


@pytest.mark.parametrize("account", ACCOUNTS)
def test_yesterday_and_its_bar_are_the_journals(served, tomorrow, account):
    journal = served.as_(account).rows("journal")
    (day,) = {row["accounting_date"][:10] for row in journal}
    today = tomorrow.token(served.secrets[f"{account}-manager"]).object("today", currency="USD")
    assert today["day"] == day and today["account_id"] == account
    postings = [row for row in journal if row["currency"] == "USD"]
    earned = sum(owed(row) for row in postings if row["reason"] in EARNED)
    adjusted = sum(owed(row) for row in postings if row["reason"] not in (*EARNED, *PAYOUTS))
    assert Decimal(today["yesterday"]["earned"]) == earned > 0
    assert len(today["days"]) == 30 and today["days"][-1] == {
        "day": day, "earned": today["yesterday"]["earned"], "adjusted": str(adjusted)}
    assert {bar["earned"] for bar in today["days"][:-1]} == {"0.00"} and today["yesterday"]["usual"] == "0.00"


@pytest.mark.parametrize("account", ACCOUNTS)
def test_the_tiles_are_sums_of_the_balances(served, account):
    reader = served.as_(account)
    balances = reader.rows("balances")
    today = reader.object("today")
    assert today["currency"] == "USD"
    for name in ("payable", "pending", "blocked", "in_payout"):
        assert Decimal(today[name]) == sum(Decimal(row[name]) for row in balances if row["currency"] == "USD"), name
    assert today["currencies"] == [{"currency": "USD", "owed": str(sum(
        Decimal(row["payable"]) + Decimal(row["pending"]) + Decimal(row["blocked"]) for row in balances))}]
    assert len(today["clearing"]) == 30 and today["clearing"][0]["day"] == today_text()


def today_text():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d")


@pytest.mark.parametrize("account", ACCOUNTS)
def test_creators_are_sorted_by_the_earnings_of_this_month(served, account):
    reader = served.as_(account)
    earned = collections.defaultdict(Decimal)
    for row in reader.rows("journal"):
        if row["reason"] in EARNED:
            earned[row["creator_id"]] += owed(row)
    earned["robert"] = earned.pop("bob")
    listed = [(row["creator_id"], Decimal(row["earned"]), row["earned_last_month"])
              for row in reader.object("today")["creators"]]
    assert listed == [(name, amount, "0.00") for name, amount in
                      sorted(earned.items(), key=lambda one: (-one[1], one[0]))]


@pytest.mark.parametrize("account", ACCOUNTS)
def test_work_that_waits_is_counted_and_lines_of_zero_left_out(served, account):
    reader = served.as_(account)
    waiting = {row["kind"]: row for row in reader.object("today")["waiting"]}
    approvals = reader.rows("approvals")
    assert waiting["approvals"]["count"] == len(approvals)
    (amount,) = waiting["approvals"]["amounts"]
    assert amount["currency"] == "USD"
    assert Decimal(amount["amount"]) == sum(Decimal(row["amount"]) for row in approvals if row["amount"])
    assert waiting["creator_holds"] == {"kind": "creator_holds", "count": 1, "amounts": [], "sentences": []}
    blocked = [row for row in reader.rows("orders", status="blocked") if row["creator_id"] != "cy"]
    assert waiting["blocked_orders"]["count"] == len(blocked)
    open_ = [row for row in reader.rows("anomalies") if not row["blocks"] and not row["acknowledged_by"]]
    assert waiting.get("anomalies", {"count": 0})["count"] == len(open_)
    assert not {"dead_letters", "nodes_behind", "payouts_failed"} & set(waiting)


@pytest.mark.parametrize("account", ACCOUNTS)
def test_yesterdays_orders_are_counted_and_listed_without_a_creator(served, account):
    orders = served.as_(account).rows("orders")
    (day,) = {row["ordered_at"][:10] for row in orders}
    with serve_on(served, day_after(day)) as serve:
        for name in ("viewer", "manager"):
            today = serve.token(served.secrets[f"{account}-{name}"]).object("today")
            assert (today["day"], today["yesterday"]["orders"]) == (day, len(orders))
            assert today["yesterday"]["attributed"] == sum(row["creator_id"] is not None for row in orders)
            without = sorted(((row["ordered_at"], row["shop_id"], row["order_id"]) for row in orders
                              if row["creator_id"] is None), reverse=True)
            assert [(row["ordered_at"], row["shop_id"], row["order_id"])
                    for row in today["unattributed"]] == without[:10]
            assert ["ANNA15"] in [row["codes"] for row in today["unattributed"]]


def test_money_is_null_without_read_ledger(served):
    today = served.as_("acme", "viewer").object("today")
    for name in ("currency", "currencies", "payable", "pending", "blocked", "in_payout", "next_close", "days", "clearing", "creators"):
        assert today[name] is None, name
    assert today["yesterday"]["earned"] is None and today["yesterday"]["usual"] is None
    assert all(row["amounts"] == [] for row in today["waiting"])
    assert not {"approvals", "payouts_failed", "blocked_orders"} & {row["kind"] for row in today["waiting"]}


def test_a_creators_months_are_the_statements(served):
    reader = served.as_("acme")
    month = scene.this_month()[:7]
    (shown,) = reader.object("creator", creator="ann")["months"]
    total = reader.object("statement", creator="ann", month=month)["sums"]
    assert shown["month"] == month and shown["currency"] == "USD"
    for name in ("earned", "adjusted", "paid_out"):
        assert Decimal(shown[name]) == sum(Decimal(row[name]) for row in total)


def test_the_pill_counts_inputs_that_are_not_applied(served):
    answer = served.as_("acme").get("today")
    assert answer.header("X-Sluice-Waiting") == "0" and answer.header("X-Sluice-Worker") == "stopped"
    (node,) = served.as_("acme").rows("nodes")
    assert node["waiting"] == 0 and not node["behind"]


def test_the_first_currency_has_the_most_owed_in_minor_units(live):
    """80 JPY are less than 8.00 USD."""
    live.send("ORDER_CREATE", {**recent("yen"), "currency_code": "JPY", "line_items": [orders.line(amount="1000", tax="200")]})
    live.order("dollars")
    today = live.reader.object("today")
    assert today["currencies"] == [{"currency": "USD", "owed": "8.00"}, {"currency": "JPY", "owed": "80"}]
    assert today["currency"] == "USD"


def test_a_shop_without_device_ids_waits_if_visitors_clicked_yesterday(clocked):
    live, clock = clocked
    path = live.edge.folder / "clicks.csv"
    path.write_text("svc_anon_id,creator_id,program_id,occurred_at\n" + "".join(
        f"{device},ann,spring,2026-03-02T0{hour}:00:00Z\n" for hour, device in enumerate(("device-1", "device-2", "device-1"))))
    live.edge.sluice("click", "import", path, "--reason", "as agreed")
    live.send("ORDER_CREATE", sold("o1"))
    shown, = (row for row in live.reader.rows("shops") if row["shop_id"] == "shop-1")
    assert shown["devices"] == {"orders": 1, "with_device": 0, "sentence": "shop-1: no order of the last 7 days carries a device id."}
    clock.set("2026-03-03T09:00:00Z")
    today = live.reader.object("today")
    day, = live.reader.rows("clicks", by="day", **{"from": "2026-03-02T00:00:00Z", "to": "2026-03-03T00:00:00Z"})
    assert (today["yesterday"]["clicks"], today["yesterday"]["devices"]) == (3, 2) == (day["clicks"], day["devices"])
    assert waiting_lines(live.reader)["shops_without_devices"] == (1, [])
    waits, = (row for row in today["waiting"] if row["kind"] == "shops_without_devices")
    assert waits["sentences"] == ["shop-1: no order of yesterday carries a device id, and 2 devices clicked"]
    live.serve.stop()  # its figures are read once a minute, and at its start
    live.serve.__enter__()
    paths.wait_until(lambda: 'sluice_shop_lacks_device_ids{account="acme",shop="shop-1"} 2\n' in ask(live.serve.read, "/metrics").body.decode(),
                     "the shop's figure")
    live.send("ORDER_CREATE", {**sold("o2"), "svc_anon_id": "device-1"})
    clock.set("2026-03-04T09:00:00Z")
    assert "shops_without_devices" not in waiting_lines(live.reader), "no visitor clicked on 3 March"
    shown, = (row for row in live.reader.rows("shops") if row["shop_id"] == "shop-1")
    assert shown["devices"]["sentence"] == "shop-1: 1 of 2 orders of the last 7 days carries a device id."
    clock.set("2026-03-10T00:00:00Z")
    shown, = (row for row in live.reader.rows("shops") if row["shop_id"] == "shop-1")
    assert shown["devices"] is None


# Work that waits, on a clock (G4) ------------------------------------------------------------------------------------

MINE = ("--account", "acme")


@contextlib.contextmanager
def served_at(time, folder, ledger=None):
    """A shop, and the clock of all its processes."""
    clock = FakeTime()
    clock.set(time)
    try:
        with served_shop(folder, clock, ledger=ledger) as live:
            yield live, clock
    finally:
        clock.folder.cleanup()


@pytest.fixture
def clocked(tmp_path, ledger):
    with served_at("2026-03-02T09:00:00Z", tmp_path, ledger) as made:
        yield made


def waiting_lines(reader):
    return {row["kind"]: (row["count"], row["amounts"]) for row in reader.object("today")["waiting"]}


def sold(name):
    return scene.order(name, "SAVE", platform_ordered_at="2026-03-01T10:00:00Z", platform_updated_at="2026-03-01T10:00:00Z")


def test_a_payout_that_failed_or_was_returned_waits_until_a_later_close_pays_it(clocked):
    """It left the list after 14 days, though no payment had arrived."""
    live, clock = clocked
    lines = []
    for number, ends in enumerate((("failed",), ("settle", "returned"))):
        live.send("ORDER_CREATE", sold(f"o{number}"))
        clock.set(f"2026-03-02T09:{number + 1}0:00Z")
        live.edge.sluice("payout", "close", *MINE, "--until", f"2026-03-02T09:{number}5:00Z")
        (payout,) = live.reader.rows("payouts", state="APPROVED")
        for step in ("sent", *ends):
            live.edge.sluice("payout", step, payout["payout_id"], *MINE, *scene.WHY)
        lines.append(waiting_lines(live.reader)["payouts_failed"])
    eight, both = [{"currency": "USD", "amount": "8.00"}], [{"currency": "USD", "amount": "16.00"}]
    # The second close pays the 8.00 of the first order as well, so that the failed payout waits no longer.
    assert lines == [(1, eight), (1, both)]
    clock.set("2026-09-16T09:25:00Z")
    assert waiting_lines(live.reader)["payouts_failed"] == (1, both)
    (ages,) = live.reader.rows("payouts/ages")
    assert (ages["state"], ages["payouts"], ages["over_30_days"]) == ("RETURNED", 1, "16.00")
    live.edge.sluice("payout", "close", *MINE, "--until", "2026-09-16T09:25:00Z")
    assert "payouts_failed" not in waiting_lines(live.reader)
    (void,) = live.reader.rows("payouts", state="APPROVED")
    live.edge.sluice("payout", "void", void["payout_id"], *MINE, *scene.WHY)
    assert waiting_lines(live.reader)["payouts_failed"] == (1, both), "a void payout paid nothing"


def fail_all(live):
    """The bank pays none of the payouts that are approved."""
    for payout in live.reader.rows("payouts", state="APPROVED"):
        for step in ("sent", "failed"):
            live.edge.sluice("payout", step, payout["payout_id"], *MINE, *scene.WHY)


def test_a_failed_payout_waits_until_its_orders_are_paid_whatever_else_is(clocked):
    """Any later payout of the creator ended the wait (G4)."""
    live, clock = clocked
    for name in ("o1", "o2"):
        live.send("ORDER_CREATE", sold(name))
    clock.set("2026-03-02T09:10:00Z")
    live.edge.sluice("payout", "close", *MINE, "--until", "2026-03-02T09:10:00Z")
    fail_all(live)
    sixteen, both = [{"currency": "USD", "amount": "16.00"}], [{"currency": "USD", "amount": "24.00"}]
    live.edge.sluice("hold", "--shop", "shop-1", "--order", "o2", *scene.WHY)
    clock.set("2026-03-02T09:20:00Z")
    live.edge.sluice("payout", "close", *MINE, "--until", "2026-03-02T09:20:00Z")
    assert waiting_lines(live.reader)["payouts_failed"] == (1, sixteen), "o2 is held, so that only o1 was paid"
    fail_all(live)
    assert waiting_lines(live.reader)["payouts_failed"] == (2, both)
    live.edge.sluice("release", "--shop", "shop-1", "--order", "o2", *scene.WHY)
    clock.set("2026-03-02T09:30:00Z")
    live.edge.sluice("payout", "close", *MINE, "--until", "2026-03-02T09:30:00Z")
    assert "payouts_failed" not in waiting_lines(live.reader)
    fail_all(live)
    assert waiting_lines(live.reader)["payouts_failed"] == (1, sixteen), "the last one took both orders"


def test_a_failed_payout_of_a_program_is_not_paid_by_the_close_of_another(clocked):
    live, clock = clocked
    folder = live.edge.folder
    (folder / "fall.toml").write_text('[[program]]\nid = "fall"\naccount = "acme"\ndefault_rate = "10%"\nclearing_days = 0\n')
    (folder / "fall.csv").write_text("creator_id,program_id,code,payee\nann,fall,FALL,DE89370400440532013000\n")
    live.edge.sluice("program", "apply", folder / "fall.toml")
    live.edge.sluice("creator", "import", folder / "fall.csv")
    for number, program in enumerate(("spring", "fall", "spring")):
        amount = f"{number + 1}.00 USD"
        live.edge.sluice("credit", *MINE, "--creator", "ann", "--program", program, "--amount", amount, *scene.WHY)
        clock.set(f"2026-03-02T09:{number + 1}0:00Z")
        live.edge.sluice("payout", "close", *MINE, "--program", program, "--until", f"2026-03-02T09:{number + 1}0:00Z")
        if number == 0:
            fail_all(live)
        waits = waiting_lines(live.reader).get("payouts_failed")
        assert waits == (None if number == 2 else (1, [{"currency": "USD", "amount": "1.00"}])), number
    assert live.reader.object("payouts/ages")["waiting"] == []


def test_a_payout_that_was_sent_waits_after_seven_days_and_its_end_has_a_reason(clocked):
    live, clock = clocked
    live.send("ORDER_CREATE", sold("o1"))
    clock.set("2026-03-02T09:10:00Z")
    live.edge.sluice("payout", "close", *MINE, "--until", "2026-03-02T09:10:00Z")
    (payout,) = live.reader.rows("payouts")
    live.edge.sluice("payout", "sent", payout["payout_id"], *MINE, *scene.WHY)
    clock.set("2026-03-09T09:10:00Z")
    assert "payouts_sent" not in waiting_lines(live.reader)
    clock.set("2026-03-09T09:11:01Z")
    assert waiting_lines(live.reader)["payouts_sent"] == (1, [{"currency": "USD", "amount": "8.00"}])
    ages = live.reader.object("payouts/ages")
    assert [(row["state"], row["up_to_7_days"], row["up_to_14_days"]) for row in ages["items"]] == [("SENT", "0.00", "8.00")]
    assert [row["payout_id"] for row in ages["waiting"]] == [payout["payout_id"]] and ages["waiting_count"] == 1
    live.edge.sluice("payout", "failed", payout["payout_id"], *MINE, "--reason", "account closed")
    assert live.reader.object("payout", payout=payout["payout_id"])["end_reason"] == "account closed"
    (listed,) = live.edge.sluice.json("payout", "list", *MINE)
    assert (listed["state"], listed["end_reason"]) == ("FAILED", "account closed")


def test_unfinished_payouts_are_aged_by_state_and_the_failed_ones_wait(clocked):
    """Each is 8.00 and lies in the last minute of a column, so that a slow machine reads it there; then in the last one."""
    live, clock = clocked
    names = ("ann", "eli", "fay", "gus")
    rows = "".join(f"{name},spring,X{name},ref-{name}\n" for name in names[1:])
    (live.edge.folder / "more.csv").write_text("creator_id,program_id,code,payee\n" + rows)
    live.edge.sluice("creator", "import", live.edge.folder / "more.csv")
    for name in names:
        live.send("ORDER_CREATE", scene.order(f"o-{name}", "SAVE" if name == "ann" else f"X{name}", platform_ordered_at="2026-03-01T10:00:00Z",
                                              platform_updated_at="2026-03-01T10:00:00Z"))
    clock.set("2026-03-02T09:10:00Z")
    live.edge.sluice("payout", "close", *MINE, "--until", "2026-03-02T09:10:00Z")
    payout = {row["creator_id"]: row["payout_id"] for row in live.reader.rows("payouts")}
    assert sorted(payout) == sorted(names)
    ends = {"eli": ("sent",), "fay": ("sent", "failed"), "gus": ("sent", "settle", "returned")}
    clock.set("2026-03-02T10:00:00Z")
    for name, steps in ends.items():
        for step in steps:
            live.edge.sluice("payout", step, payout[name], *MINE, "--reason", f"the bank {step}")
    ages = ("up_to_7_days", "up_to_14_days", "up_to_30_days", "over_30_days")
    eight = [{"currency": "USD", "amount": "8.00"}]
    for column, day in enumerate(("2026-03-09", "2026-03-16", "2026-04-01", "2026-09-16")):
        clock.set(f"{day}T09:59:00Z" if column < 3 else f"{day}T11:00:00Z")
        found = live.reader.object("payouts/ages")
        assert {row["state"]: [row[age] for age in ages] for row in found["items"]} == {
            state: ["8.00" if at == min(column + (state == "APPROVED"), 3) else "0.00" for at in range(4)]
            for state in ("APPROVED", "SENT", "FAILED", "RETURNED")}, (day, found["items"])
        assert all(row["payouts"] == 1 and row["amount"] == "8.00" for row in found["items"])
        waits = ["FAILED", "RETURNED"] + ["SENT"] * (column > 0)
        assert sorted(row["state"] for row in found["waiting"]) == waits and found["waiting_count"] == len(waits)
        assert {row["state"]: row["end_reason"] for row in found["waiting"] if row["state"] != "SENT"} == {
            "FAILED": "the bank failed", "RETURNED": "the bank returned"}
        lines = waiting_lines(live.reader)
        assert lines["payouts_failed"] == (2, [{"currency": "USD", "amount": "16.00"}])
        assert lines.get("payouts_sent") == ((1, eight) if column else None)


def test_dead_letters_are_counted_for_their_account_and_for_30_days_by_shop(tmp_path, ledger):
    """G4, G5: they are rows of the node that could not apply them."""
    clock = FakeTime()
    clock.set("2026-03-02T09:00:00Z")
    with served_shop(tmp_path, clock, catalog=True, ledger=ledger) as live:
        live.edge.sluice.account("beta")
        _, others = live.edge.sluice.token("beta", "read_orders", "read_ledger")
        _, sender = live.edge.sluice.token("acme", "write_products")
        large = {"products": [{"platform_product_id": "p", "title": "A" * 300_000}]}
        assert live.edge.post_catalog("shop-1", sender, "PRODUCT_UPSERT", large, "key").status == 200
        (body,) = (live.edge.store / "queue" / "bulk").glob("*.bulk")
        body.unlink()
        live.edge.sluice("worker", "--until-empty")

        def by_shop():
            return {row["shop_id"]: row["dead_letters"] for row in live.reader.rows("shops")}

        assert len(live.edge.sluice.json("dead", "list")) == 1
        assert waiting_lines(live.reader)["dead_letters"] == (1, [])
        assert "dead_letters" not in waiting_lines(live.serve.token(others))
        assert by_shop() == {"shop-1": 1, "shop-1-late": 0}
        clock.set("2026-04-02T09:00:00Z")
        for until, is_late in (("2026-03-01", False), ("2026-04-01", True)):
            said = live.edge.sluice("period", "close", *MINE, "--until", f"{until}T00:00:00Z", "--preview")
            assert ("late: 1 dead letter, received before the end, would be dated after it if replayed" in said) == is_late
        assert waiting_lines(live.reader)["dead_letters"] == (1, [])
        assert by_shop() == {"shop-1": 0, "shop-1-late": 0}
    clock.folder.cleanup()


def test_a_worker_that_died_is_behind_after_five_minutes(clocked):
    """G12: it counts no inputs any more, so its silence is taken for waiting ones."""
    live, clock = clocked

    def state():
        return live.reader.rows("nodes")[0]["worker_state"]

    clock.set("2026-03-02T10:00:00Z")
    command = [str(paths.SLUICE), "--store", str(live.edge.store), "worker"]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, env={**os.environ, **clock.environment}) as died:
        paths.wait_until(lambda: state() == "running", "the worker to run")
        died.kill()
    clock.set("2026-03-02T10:04:00Z")
    assert "nodes_behind" not in waiting_lines(live.reader)
    clock.set("2026-03-02T10:08:00Z")
    assert state() == "stale"
    assert waiting_lines(live.reader)["nodes_behind"] == (1, [])
    with worker(live.edge.store, clock.environment):
        paths.wait_until(lambda: "nodes_behind" not in waiting_lines(live.reader), "the next worker")
    clock.set("2026-03-02T11:00:00Z")
    assert state() == "stopped"
    assert waiting_lines(live.reader)["nodes_behind"] == (1, []), "a stopped worker counts none either"


OTHER_NODE = """INSERT INTO sluice_ledger.heads SELECT (jsonb_populate_record(heads, '{"node": "22222222-2222-3333-4444-555555555555",
    "number": 2, "last_received_s": %d, "last_received_ns": 0}')).* FROM sluice_ledger.heads WHERE number = 1"""


def test_a_node_that_was_taken_out_of_service_stays_in_the_list_and_is_no_work(postgres, tmp_path):
    """Today called it behind for ever (G12)."""
    url = postgres.create("gone")
    at = datetime.datetime(2026, 2, 25, 12, tzinfo=datetime.timezone.utc)
    with served_at("2026-03-02T09:00:00Z", tmp_path, url) as (live, clock):
        live.send("ORDER_CREATE", sold("o1"))
        postgres.query(OTHER_NODE % at.timestamp(), database="gone")
        states = [(node["behind"], node["gone_since"]) for node in live.reader.rows("nodes")]
        assert sorted(states) == [(False, None), (True, None)]
        assert waiting_lines(live.reader)["nodes_behind"][0] == 1
        clock.set("2026-03-04T12:00:00Z")
        live.edge.sluice("worker", "--until-empty")
        states = [(node["behind"], node["gone_since"]) for node in live.reader.rows("nodes")]
        assert sorted(states, key=str) == [(False, "2026-02-25T12:00:00Z"), (False, None)] and "nodes_behind" not in waiting_lines(live.reader)
        until = "2026-03-01T00:00:00Z"
        assert live.reader.object("periods", until=until)["checks"]["nodes"] == [2], "the close refuses without --allow-late"
        assert "use --allow-late" in live.edge.sluice.refuses("period", "close", *MINE, "--until", until)


def test_the_own_node_is_no_obstacle_to_a_month_that_the_close_would_take(clocked):
    """It called the node missing if it had received nothing since the month's end (G9, S2)."""
    live, clock = clocked
    until = "2026-04-01T00:00:00Z"
    assert not live.reader.object("periods", until=until)["checks"]["nodes_applied"], "the month is not over"
    clock.set("2026-04-01T00:00:00Z")
    checks = live.reader.object("periods", until=until)["checks"]
    assert (checks["nodes_applied"], checks["nodes"]) == (True, [])
    live.edge.sluice("period", "close", *MINE, "--until", until)


@pytest.mark.parametrize("amount", ["-60.00", "60.00"])
def test_an_adjustment_that_waits_is_counted_with_its_sign(live, amount):
    live.order("o1")
    live.edge.sluice.run("adjust", "--shop", "shop-1", "--order", "o1", f"--amount={amount}", "--reason", "as agreed")
    live.edge.sluice("worker", "--until-empty")
    assert waiting_lines(live.reader)["approvals"] == (1, [{"currency": "USD", "amount": amount}])
    assert live.serve.process.poll() is None
