"""Every resource has the rows of the command that prints the same, of the same snapshot."""

import csv
import datetime
import decimal
import io
import json

import pytest
from harness import paths
from harness.serve import ask
from serve import scene

ACCOUNTS = list(scene.ACCOUNTS)
MASK = "••••"
PAYEES = ("payee", "old_payee", "new_payee")


def masked(value):
    if value is None:
        return None
    return MASK + value[-4:] if len(value) >= 8 else MASK


def with_masks(rows):
    return [{name: masked(value) if name in PAYEES else value for name, value in row.items()} for row in rows]


def masked_deeply(value):
    """Masks payees in a command's object, and in the settings that it would change."""
    if isinstance(value, list):
        return [masked_deeply(item) for item in value]
    if not isinstance(value, dict):
        return value
    if str(value.get("field")).endswith(".payee"):
        return {**value, "before": masked(value["before"]), "after": masked(value["after"])}
    return {name: masked(inner) if name in PAYEES else masked_deeply(inner) for name, inner in value.items()}


def masked_journal(rows):
    """The journal names payees in PAYEE_CHANGED."""
    for row in rows:
        if row["reason"] == "PAYEE_CHANGED":
            row["line_item_id"] = " -> ".join(masked(payee) if payee else "" for payee in
                                              row["line_item_id"].split(" -> "))
    return rows


def of_account(account):
    return ("--account", account)


# Resource, command, whether the command takes --account.
LISTS = [
    ("orders", ("report", "orders"), True),
    ("anomalies", ("report", "anomalies"), True),
    ("products", ("report", "products"), True),
    ("balances", ("report", "balances"), True),
    ("payouts", ("payout", "list"), True),
    ("approvals", ("approvals",), True),
    ("payees", ("report", "payees"), True),
    ("clicks", ("report", "clicks"), True),
    ("links", ("link", "list"), True),
    ("creators", ("creator", "list"), False),
    ("programs", ("program", "list"), False),
]


@pytest.mark.parametrize("account", ACCOUNTS)
@pytest.mark.parametrize("resource, command, named", LISTS, ids=[entry[0] for entry in LISTS])
@pytest.mark.parametrize("limit", [1, 2, 1000])
def test_a_list_equals_the_commands_rows_whatever_the_page(served, account, resource, command, named, limit):
    expected = served.sluice.json(*command, *(of_account(account) if named else ()))
    if not named:
        expected = [row for row in expected if row["account_id"] == account]
    assert expected, "the scene has no such row"
    assert served.as_(account).rows(resource, limit=limit) == with_masks(expected)


@pytest.mark.parametrize("account", ACCOUNTS)
@pytest.mark.parametrize("limit", [1, 1000])
def test_shops_equal_the_command_and_have_last_events(served, account, limit):
    listed = [{name: value for name, value in row.items() if name not in ("platform", "domain", "orders_from")}
              for row in served.sluice.json("shop", "list", *of_account(account))]
    rows = served.as_(account).rows("shops", limit=limit)
    assert [{name: row[name] for name in listed[0]} for row in rows] == listed
    assert {name for row in rows for name in row} - set(listed[0]) == {"last_event_at", "silence", "dead_letters", "devices"}


@pytest.mark.parametrize("account", ACCOUNTS)
def test_holds_equal_the_commands_rows(served, account):
    expected = served.sluice.json("hold", "list", *of_account(account))
    assert served.as_(account).rows("holds") == expected


@pytest.mark.parametrize("account", ACCOUNTS)
@pytest.mark.parametrize("limit", [1, 7, 1000])
def test_the_journal_is_the_commands_newest_first(served, account, limit):
    expected = served.sluice.json("report", "journal", *of_account(account))[::-1]
    assert "SE4550000000058398257466" in [row["line_item_id"].rpartition(" -> ")[2] for row in expected
                                          if row["reason"] == "PAYEE_CHANGED"]
    assert served.as_(account).rows("journal", limit=limit) == masked_journal(expected)


@pytest.mark.parametrize("account", ACCOUNTS)
def test_periods_are_the_commands_and_the_open_one(served, account):
    rows = served.as_(account).rows("periods")
    assert rows[:-1] == served.sluice.json("period", "list", *of_account(account))
    assert rows[-1]["account_id"] == account and rows[-1]["until"] is None
    sums = served.as_(account).rows("period", until=rows[0]["until"])
    assert sums == [] or {row["until"] for row in sums} == {rows[0]["until"]}


@pytest.mark.parametrize("account", ACCOUNTS)
def test_an_order_equals_explain(served, account):
    shop, _ = scene.ACCOUNTS[account]
    for row in served.sluice.json("report", "orders", *of_account(account), "--shop", shop):
        explained = served.sluice.json("explain", row["order_id"], "--shop", shop)
        shown = served.as_(account).object("order", shop=shop, order=row["order_id"])
        assert shown.pop("names") == ({"ann": "Ann Smith"} if '"creator_id": "ann"' in json.dumps(explained) else {})
        assert shown == explained
        assert explained["answer"]["status"] == row["status"]


@pytest.mark.parametrize("account", ACCOUNTS)
def test_a_payout_its_items_and_its_run_equal_the_commands(served, account):
    reader = served.as_(account)
    for row in served.sluice.json("payout", "list", *of_account(account)):
        assert reader.object("payout", payout=row["payout_id"]) == with_masks([row])[0]
        items = served.sluice.json("payout", "show", row["payout_id"], *of_account(account))
        assert reader.rows("payout/items", payout=row["payout_id"], limit=1) == items
        run = reader.object("run", run=row["payout_run"])
        assert run["payout_run"] == row["payout_run"] and run["account_id"] == account and run["names"] == {"ann": "Ann Smith"}
        assert [(one["creator_id"], one["currency"], one["amount"], one["skip_reason"]) for one in run["skipped"]] == [
            ("ann", "USD", "8.00", "BLOCKED"), ("ann", "USD", "8.00", "HELD"), ("cy", "USD", "4.00", "HELD")]
        assert reader.rows("payouts", run=row["payout_run"]) == [
            one for one in reader.rows("payouts") if one["payout_run"] == row["payout_run"]]
    assert [row["payout_run"] for row in reader.rows("runs", limit=1)] == [run["payout_run"]]


@pytest.mark.parametrize("account", ACCOUNTS)
def test_creators_programs_statements_and_balances_equal_the_commands(served, account):
    reader = served.as_(account)
    for creator in ("ann", "bob", "robert", "cy"):
        shown = reader.object("creator", creator=creator)
        balances = shown.pop("balances")
        for name in ("clearing", "next_closes", "payee_changes", "click_months", "links"):  # tests of their own
            assert isinstance(shown.pop(name), list)
        assert shown.pop("payouts") == reader.rows("payouts", creator=creator)[::-1]
        assert len(shown["months"]) == 1
        expected = served.sluice.json("creator", "show", creator, *of_account(account))
        assert shown == with_masks([expected])[0]
        assert balances == served.sluice.json("report", "balances", *of_account(account), "--creator", creator)
        assert reader.rows("balances", creator=creator) == balances
        month = scene.this_month()[:7]
        statement = ("report", "statement", *of_account(account), "--creator", creator, "--month", month)
        assert reader.object("statement", creator=creator, month=month) == served.sluice.json(*statement)
        text = reader.get("statement", creator=creator, month=month, format="csv").body.decode()
        assert text == served.sluice(*statement, "--format", "csv")
    for program in served.sluice.json("program", "list"):
        if program["account_id"] == account:
            shown = served.sluice.json("program", "show", program["program_id"])
            assert reader.object("program", program=program["program_id"]) == shown
            assert reader.rows("program/versions", program=program["program_id"]) == [program]


def test_a_statement_as_a_page_has_its_amounts_and_only_text_from_rows(served):
    """The scene has an order named <img onerror=1>."""
    month = scene.this_month()[:7]
    answer = served.as_("acme").get("statement", creator="ann", month=month, format="html")
    assert answer.header("Content-Type") == "text/html; charset=utf-8"
    assert answer.header("Content-Security-Policy").startswith("default-src 'none'; style-src 'unsafe-inline'")
    statement = served.as_("acme").object("statement", creator="ann", month=month)
    page = answer.body.decode()
    for row in statement["sums"]:
        assert f">{row['closing']}</td>" in page and f">{row['earned']}</td>" in page
    assert "&lt;img onerror=1&gt;" in page and "<img" not in page and "<script" not in page
    assert page.count("<tr>") == sum(len(statement[name]) + 1 for name in ("sums", "rows", "payouts") if statement[name])


@pytest.mark.parametrize("account", ACCOUNTS)
def test_what_waits_for_approval_is_shown_as_approvers_see_it(served, account):
    """With payees masked: in fields, differences, and payouts."""
    reader = served.as_(account)
    waiting = served.sluice.json("approvals", *of_account(account))
    run = reader.rows("runs")[0]["payout_run"]
    for name in [row["id"] for row in waiting] + [run]:
        expected = served.sluice.json("approvals", "show", name, *of_account(account))
        shown = reader.object("approval", id=name)
        assert shown.pop("names") == ({"ann": "Ann Smith"} if '"ann"' in json.dumps(shown) else {})
        assert shown == masked_deeply(expected) and len(shown["digest"]) == 64
    (change,) = [row for row in waiting if row["command"] == "creator set"]
    shown = reader.object("approval", id=change["id"])
    assert shown["fields"]["payee"] == "••••5555"
    assert shown["differences"] == [{"field": "creator cy.payee", "before": MASK, "after": "••••5555"}]
    assert reader.get("approval", id="nobody-has-this").status == 404


@pytest.mark.parametrize("account", ACCOUNTS)
@pytest.mark.parametrize("creator", [None, "bob"])
def test_the_history_of_payees_is_the_commands(served, account, creator):
    of = {} if creator is None else {"creator": creator}
    options = [word for name, value in of.items() for word in (f"--{name}", value)]
    expected = served.sluice.json("report", "payees", *of_account(account), "--history", *options)
    assert [(row["old_payee"], row["new_payee"]) for row in expected] == [("ref-1", "SE4550000000058398257466")]
    assert served.as_(account).rows("payees", history="true", **of) == with_masks(expected)
    text = served.as_(account).get("payees", history="true", format="csv").body.decode()
    assert text.splitlines()[0].split(",") == list(expected[0]) and "SE4550" not in text


@pytest.mark.parametrize("account", ACCOUNTS)
def test_a_trial_balance_equals_the_commands(served, account):
    month = scene.this_month()
    start = scene.this_month()
    end = "9999-01-01T00:00:00Z"
    rows = served.as_(account).rows("trial-balance", **{"from": start, "until": end})
    expected = served.sluice.json("report", "trial-balance", *of_account(account), "--month", month[:7])
    assert [{**row, "month": None} for row in rows] == [{**row, "month": None} for row in expected]


@pytest.mark.parametrize("resource, command", [
    ("orders", ("report", "orders")), ("anomalies", ("report", "anomalies")), ("balances", ("report", "balances")),
    ("products", ("report", "products")),
])
def test_csv_is_the_commands(served, resource, command):
    answer = served.as_("acme").get(resource, format="csv", limit=1000)
    assert answer.header("Content-Type").startswith("text/csv")
    printed = served.sluice(*command, "--account", "acme", "--format", "csv")
    assert list(csv.reader(io.StringIO(answer.body.decode(), newline=""))) == list(
        csv.reader(io.StringIO(printed, newline="")))


def test_filters_select_rows_by_their_members(served):
    reader = served.as_("acme")
    rows = reader.rows("orders")
    for name, member in (("status", "status"), ("creator", "creator_id"), ("program", "program_id"),
                         ("shop", "shop_id")):
        for value in {row[member] for row in rows if row[member]}:
            assert reader.rows("orders", **{name: value}, limit=3) == [row for row in rows if row[member] == value]
    assert reader.rows("orders", attributed="false") == [row for row in rows if row["creator_id"] is None]
    assert [row["order_id"] for row in reader.rows("orders", code="anna15")] == ["a/b"]
    assert reader.rows("orders", **{"from": "2024-03-02T00:00:00Z"}) == []
    assert reader.rows("orders", to="2024-03-02T00:00:00Z") == rows
    assert [row["order_id"] for row in reader.rows("orders", code="save", sort="id")] == [
        row["order_id"] for row in rows if row["order_id"] not in ("a/b", "o2", "o3") and row["shop_id"] == "shop-1"]
    anomalies = reader.rows("anomalies")
    for filters, covers in (({"blocks": "false"}, lambda row: not row["blocks"]),
                            ({"acknowledged": "true"}, lambda row: row["acknowledged_by"]),
                            ({"kind": anomalies[0]["kind"]}, lambda row: row["kind"] == anomalies[0]["kind"])):
        assert reader.rows("anomalies", **filters) == [row for row in anomalies if covers(row)]
    journal = reader.rows("journal")
    assert reader.rows("journal", reason="REFUND") == [row for row in journal if row["reason"] == "REFUND"]
    payouts = reader.rows("payouts")
    for state in {row["state"] for row in payouts}:
        assert reader.rows("payouts", state=state) == [row for row in payouts if row["state"] == state]


@pytest.mark.parametrize("limit", [1, 3, 1000])
@pytest.mark.parametrize("filters", [{}, {"creator": "ann"}, {"code": "SAVE"}, {"creator": "bob", "code": "bob"},
                                     {"shop": "shop-1-late"}, {"status": "waiting"}, {"attributed": "false"},
                                     {"from": "2024-03-01T00:00:00Z", "to": "2024-03-02T00:00:00Z"},
                                     {"from": "2024-03-02T00:00:00Z"}, {"to": "2024-03-01T00:00:00Z"}])
def test_orders_by_time_are_the_same_rows_whatever_the_page(served, filters, limit):
    """The index of all orders, of a creator and of a code. Shops and orders break ties."""
    reader = served.as_("acme")
    by_id = reader.rows("orders", **filters)
    rising = reader.rows("orders", sort="ordered_at", limit=limit, **filters)
    assert sorted(map(str, rising)) == sorted(map(str, by_id))
    assert [row["ordered_at"] for row in rising] == sorted(row["ordered_at"] for row in by_id)
    assert reader.rows("orders", sort="-ordered_at", limit=limit, **filters) == rising[::-1]


def test_creators_have_their_earnings_and_the_best_come_first(served):
    """The sums of the month equal the statements (S3)."""
    reader = served.as_("acme")
    rows = reader.rows("creators")
    for row in rows:
        statement = reader.object("statement", creator=row["creator_id"], month=scene.this_month()[:7])
        sums = {entry["currency"]: entry["earned"] for entry in statement["sums"]
                if entry["program_id"] == row["program_id"]}
        assert {entry["currency"]: entry["this_month"] for entry in row["earned"]} == sums
    best = reader.rows("creators", sort="-earned", limit=1)
    assert sorted(map(str, best)) == sorted(map(str, rows)) and best[0]["creator_id"] == "ann"
    months = reader.object("creator", creator="ann")["months"]
    assert {entry["month"] for entry in months} == {scene.this_month()[:7]}
    viewer = served.as_("acme", "viewer")
    assert viewer.get("creators", sort="-earned").status == 403
    assert {str(row["earned"]) for row in viewer.rows("creators")} == {"None"}
    assert viewer.object("creator", creator="ann")["months"] is None


@pytest.mark.parametrize("order, status, sentence", [
    ("a/b", "waiting", "No creator: code ANNA15 belongs to no creator of a program that covers shop-1."),
    ("cancelled", "cancelled", "Cancelled by the shop on 2 Mar 2024; it earns nothing."),
    ("held", "blocked", "8.00 USD for ann, blocked by HOLD since "),
    ("rejected", "rejected", "Rejected on "),
    ("detached", "detached", "Detached on "),
    ("o1", "paid", " USD for ann, in payout P"),
])
def test_an_answer_is_a_sentence_for_the_phone(served, order, status, sentence):
    answer = served.as_("acme").object("order", shop="shop-1", order=order)["answer"]
    assert answer["status"] == status and sentence in answer["sentence"], answer


def test_a_command_is_quoted_and_none_has_a_control_character(served):
    reader = served.as_("acme")
    held = reader.object("order", shop="shop-1", order="held")["answer"]
    assert held["command"] == "sluice release --shop shop-1 --order held --reason 'WHY'"
    assert reader.object("order", shop="shop-1", order="line\nfeed")["answer"]["command"] is None


def test_search_finds_orders_creators_codes_and_ids(served):
    reader = served.as_("acme")

    def kinds(text):
        return [(row["kind"], row["id"]) for row in reader.rows("search", q=text)]

    assert kinds("o1")[0] == ("order", "o1")
    assert ("order", "a/b") in kinds("ANNA15") and ("code", "SAVE") in kinds("save")
    assert {("order", "o1"), ("order", "detached")} <= set(kinds("save")), "with and without a creator"
    owners = [(row["creator_id"], row["sentence"].split(" from ")[0]) for row in reader.rows("search", q="save") if row["kind"] == "code"]
    assert owners == [("ann", "code of ann in spring"), ("cy", "code of cy in spring-late")], "a code has an owner in each program"
    assert {row["creator_id"] for row in reader.rows("search", q="o1") if row["kind"] == "order"} == {"ann", "cy"}
    assert kinds("robert")[0] == ("creator", "robert") == kinds("bob")[0]
    payout = reader.rows("payouts")[0]
    assert kinds(payout["payout_id"]) == [("payout", payout["payout_id"])]
    assert kinds(payout["payout_run"])[0] == ("payout_run", payout["payout_run"])
    assert ("order", "cancelled") in kinds("canc")
    # By name, in the middle of an id or code, as shops print it, by bank reference and by amount.
    assert kinds("smith") == [("creator", "ann")] and kinds("Ann S") == [("creator", "ann")]
    assert ("code", "LATE") in kinds("ate") and ("order", "cancelled") in kinds("ancell")
    assert kinds("#o2")[0] == ("order", "o2")
    assert kinds("shop-1")[0] == ("shop", "shop-1") and kinds("spring")[0] == ("program", "spring")
    assert kinds("bank-1") == kinds("NK-1") == [("payout", reader.rows("payouts", state="PAID")[0]["payout_id"])]
    assert ("order", "o1") in kinds("105.00 USD") and ("payout", payout["payout_id"]) in kinds(f"{payout['amount']} {payout['currency']}")
    sentences = {row["id"]: row["sentence"] for row in reader.rows("search", q="8.00 USD")}
    assert sentences["o1"].startswith("commission 8.00 USD of 105.00 USD, creator ann"), "what it was found by"
    searched = reader.object("search", q="nothing of this name")["searched"]
    assert searched[0] == "ids and numbers of orders, ids of creators, links, shops and programs, and discount codes" and len(searched) == 3
    assert kinds("nothing of this name") == []
    assert kinds("spring-mug") == [("link", "spring-mug")] and ("link", "spring-cap") in kinds("spring")


def test_a_command_that_took_effect_is_found_with_the_order_or_creator_that_shows_it(served):
    """Its id opened the approvals, which have none of this name (G5)."""
    reader = served.as_("acme")
    made = {row["reason"]: row["command_id"] for row in reader.rows("journal") if row["reason"] in ("MANUAL", "CREDIT")}
    for reason, shown in (("MANUAL", ("shop-1", "o1", "ann")), ("CREDIT", (None, None, "ann"))):
        (hit,) = reader.rows("search", q=made[reason])
        assert (hit["kind"], hit["match"]) == ("command", "exact") and (hit["shop_id"], hit["order_id"], hit["creator_id"]) == shown
    (waiting,) = reader.rows("search", q=reader.rows("approvals")[0]["id"])
    assert (waiting["kind"], waiting["order_id"], waiting["creator_id"]) == ("command", None, None)


def test_orders_name_their_creators_and_are_listed_if_they_block_by_themselves(served):
    reader = served.as_("acme")
    listed = reader.object("orders", limit=1000)
    assert listed["names"] == {"ann": "Ann Smith"} == reader.object("links")["names"]
    assert served.as_("acme", "viewer").object("order", shop="shop-1", order="o1")["names"] == {"ann": "Ann Smith"}
    assert reader.object("holds", creator="cy")["names"] == {} and set(reader.object("holds")) >= {"names"}
    codes = {row["order_id"]: one["codes"] for row, one in zip(listed["items"], listed["codes"]) if row["shop_id"] == "shop-1"}
    assert (codes["a/b"], codes["o1"], codes["o3"]) == (["ANNA15"], ["SAVE"], [])
    assert reader.object("orders", sort="-ordered_at", code="bob", limit=1)["codes"] == [{"codes": ["bob"]}]
    waiting = {row["kind"]: row["count"] for row in reader.object("today")["waiting"]}
    blocked = reader.rows("orders", blocked="true")
    assert len(blocked) == waiting["blocked_orders"] > 0 and {row["creator_id"] for row in blocked} == {"ann"}
    assert "cy" in {row["creator_id"] for row in reader.rows("orders", status="blocked")}, "a hold on a creator blocks other orders"


def test_a_creators_view_has_the_history_of_the_payee(served):
    changes = served.as_("acme").object("creator", creator="robert")["payee_changes"]
    listed = served.as_("acme").rows("payees", creator="robert", history="true")
    assert changes == listed[::-1] and changes[0]["old_payee"] == "••••" and changes[0]["new_payee"].endswith("7466")
    assert changes[0]["actor"] and served.as_("acme", "viewer").object("creator", creator="robert")["payee_changes"] is None


def test_an_approval_names_its_possible_approvers_and_the_actual_one(served):
    reader = served.as_("acme")
    (waiting,) = [row["id"] for row in reader.rows("approvals") if row["command"] == "creator set"]
    shown = reader.object("approval", id=waiting)
    assert (shown["state"], shown["approvers"], shown["ended_by"]) == ("PENDING", [], None)
    (change,) = shown["differences"]
    assert (change["field"], change["before"], change["after"]) == ("creator cy.payee", "••••", "••••5555")
    (applied,) = [row for row in served.sluice.json("report", "approvals", "--account", "acme")]
    done = reader.object("approval", id=applied["subject"])
    assert done["state"] == "APPROVED" and done["ended_by"] == applied["approved_by"] and done["ended_at"] == applied["approved_at"]


def test_periods_list_the_checks_before_a_month_is_closed(served):
    reader = served.as_("acme")
    until = (datetime.datetime.now(datetime.timezone.utc).replace(day=1) + datetime.timedelta(days=32)).strftime("%Y-%m-01T00:00:00Z")
    checks = reader.object("periods", until=until)["checks"]
    assert "checks" not in reader.object("periods")
    blocked = sum(decimal.Decimal(row["blocked"]) for row in reader.rows("balances"))
    assert [(row["currency"], decimal.Decimal(row["amount"])) for row in checks.pop("blocked")] == [("USD", blocked)]
    unfinished = [row for row in reader.rows("payouts") if row["state"] in ("CLOSED", "APPROVED", "SENT")]
    assert checks == {"until": until, "nodes_applied": False, "nodes": [1], "approvals": len(reader.rows("approvals")),
                      "payouts_unfinished": len(unfinished)}
    assert reader.object("periods", until=scene.this_month())["checks"]["nodes_applied"]


@pytest.mark.parametrize("limit", [1, 2, 1000])
@pytest.mark.parametrize("filters", [{"blocks": "true"}, {"blocks": "true", "shop": "shop-1"},
                                     {"showing": "true", "acknowledged": "false"},
                                     {"showing": "true", "acknowledged": "false", "blocks": "false"}])
def test_anomalies_that_need_attention_come_newest_first_whatever_the_page(served, filters, limit):
    """From their index, with the rows that the table has."""
    reader = served.as_("acme")
    blocking = [row for row in reader.rows("anomalies", showing="true") if row["blocks"]]
    open_ = [row for row in reader.rows("anomalies", showing="true") if not row["blocks"] and not row["acknowledged_by"]]
    expected = {"true": blocking, "false": open_, None: blocking + open_}[filters.get("blocks")]
    rows = reader.rows("anomalies", limit=limit, **filters)
    assert sorted(map(str, rows)) == sorted(map(str, expected)) and blocking
    times = [datetime.datetime.fromisoformat(row["recorded_at"]) for row in rows]
    assert times == sorted(times, reverse=True)
    assert reader.object("anomalies", **filters)["counts"] == {
        "blocks": len(blocking), "open": len(open_), "acknowledged": 0, "holds": len(reader.rows("holds"))}
    answer = reader.get("anomalies", **{**filters, "kind": "CANCEL_NOT_LATER"})
    assert answer.json()["items"] == [row for row in rows if row["kind"] == "CANCEL_NOT_LATER"]


def test_a_creator_has_the_newest_payouts_and_a_list_names_the_holds(served):
    reader = served.as_("acme")
    payouts = reader.rows("payouts", creator="ann")
    assert payouts and reader.object("creator", creator="ann")["payouts"] == payouts[::-1][:10]
    assert served.as_("acme", "viewer").object("creator", creator="ann")["payouts"] is None
    page = reader.object("creators")
    assert [(row["creator_id"], held) for row, held in zip(page["items"], page["held"])] == [
        (row["creator_id"], row["creator_id"] == "cy") for row in page["items"]]


def test_a_list_of_creators_has_the_balances_of_each_for_managers(served):
    listed = served.as_("acme").rows("balances")
    page = served.as_("acme").object("creators")
    sums = [[{name: balance[name] for name in ("currency", "pending", "blocked", "payable")} for balance in listed
             if (balance["creator_id"], balance["program_id"]) == (row["creator_id"], row["program_id"])] for row in page["items"]]
    assert any(sums) and [[{name: one[name] for name in one if name != "owed"} for one in row] for row in page["balances"]] == sums
    assert all(decimal.Decimal(one["owed"]) == sum(decimal.Decimal(one[name]) for name in ("pending", "blocked", "payable"))
               for row in page["balances"] for one in row)
    assert served.as_("acme", "viewer").object("creators")["balances"] is None


def test_anomalies_come_with_the_commissions_of_their_orders(served):
    reader = served.as_("acme", "viewer")
    commissions = {(row["shop_id"], row["order_id"]): row["creator_id"] and
                   {"amount": row["commission_amount"], "currency": row["commission_currency"]} for row in reader.rows("orders")}
    page = reader.object("anomalies")
    assert len(page["items"]) > 2
    assert page["commissions"] == [commissions[row["shop_id"], row["order_id"]] for row in page["items"]]


def test_shops_list_the_orders_next_to_an_id(served):
    reader = served.as_("acme", "viewer")

    def near(order):
        return [row["order_id"] for row in reader.object("shops", shop="shop-1", near=order)["nearest"]]

    assert near("o20") == ["o2", "o3"] and near("o2") == ["o1", "o3"]
    assert near("o2\u00e4") == ["o2", "o3"] and near("\u00e4" * 500) == ["rejected"]
    assert near("!") == ["$(reboot)'"] and near("zz") == ["rejected"]
    assert reader.object("shops", shop="shop-1-new", near="o1")["nearest"] == []
    assert [row["shop_id"] for row in reader.object("shops", near="o1")["items"]] == [
        row["shop_id"] for row in reader.object("shops")["items"]]


def test_an_order_has_its_codes_and_the_steps_of_its_payouts(served):
    reader = served.as_("acme")
    shown = reader.object("order", shop="shop-1", order="o1")
    assert shown["codes"] == ["SAVE"] and shown["answer"]["next_at"] is None
    (payout,) = shown["payouts"]
    steps = reader.object("payout", payout=payout["payout_id"])
    assert {name: payout[name] for name in ("closed_at", "sent_at", "ended_at")} == {
        name: steps[name] for name in ("closed_at", "sent_at", "ended_at")}


def test_nodes_show_the_chain_and_this_nodes_worker(served):
    (node,) = served.as_("acme").rows("nodes")
    journal = served.as_("acme").rows("journal")
    assert node["hash"] == next(row["hash"] for row in journal if row["hash"])
    assert node["entries"] == len(journal) and node["worker_state"] == "stopped"


def test_me_names_the_token_and_its_account(served):
    me = served.as_("acme", "viewer").object("me")
    assert me["user"] is None and me["token_id"].startswith("tok_") and me["limit"] == "1000000/60"
    assert me["accounts"] == [{"account_id": "acme", "role": "viewer", "scopes": ["read_orders"]}]


def test_x4_a_shop_has_its_last_event_and_a_verdict(served):
    rows = {row["shop_id"]: row for row in served.as_("acme").rows("shops")}
    sent, new = rows["shop-1"], rows["shop-1-new"]
    assert sent["last_event_at"].endswith(":00Z") and sent["silence"]["state"] == "learning"
    assert sent["silence"]["sentence"].startswith("shop-1: heard ")
    assert sent["silence"]["silent"] >= 0 and sent["silence"]["limit"] is None and sent["dead_letters"] == 0
    assert (new["last_event_at"], new["silence"]["sentence"]) == (None, "shop-1-new: no event yet.")
    listed = json.loads(served.sluice("shop", "silence", "--account", "acme", "--check", "--format", "json"))
    assert [(row["shop_id"], row["last_event_at"]) for row in listed] == [
        (row["shop_id"], row["last_event_at"]) for row in rows.values() if not row["suspended"]]


def test_x4_silence_is_a_metric(served):
    def metrics():
        return ask(served.serve.read, "/metrics").body.decode()

    paths.wait_until(lambda: 'sluice_shop_silence_seconds{account="acme",shop="shop-1"} ' in metrics(), "the silence of a shop")
    assert 'sluice_shop_silence_limit_seconds{account="acme",shop="shop-1"}' not in metrics(), "it is learned"
    assert "\nsluice_unsealed_commands 0\n" in metrics()
