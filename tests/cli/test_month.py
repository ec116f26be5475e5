"""A month as finance runs it: boundaries, closes that run forward, acknowledgements, lists (K6 to K8, K11, S2, S3)."""
import csv
import datetime
import io
import json
import time

import pytest
from harness import orders
from harness.cli import now
from harness.edge import Edge
from program import sluice
from test_ledger import ACME, HTTP, Shop, until_now

WHY = ("--reason", "as agreed")
LIMITED = '[[policy]]\naccount = "acme"\namount_limit = ["120.00 USD"]\n'
MONTH = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m")


@pytest.fixture
def shop(tmp_path):
    with Edge(HTTP, workers=1) as edge:
        yield Shop(edge.start(), tmp_path)


@pytest.fixture
def sold(shop):
    """One order of ann's and one of ben's, 8.00 each, received in different milliseconds."""
    shop.run("creator", "import", shop.file("b.csv", "creator_id,program_id,code\nben,spring,BEN\n"))
    shop.send("o1")
    time.sleep(0.01)
    shop.send("o2", code="BEN")
    shop.drain()
    return shop


def instant(date):
    """Orders dates whose fractions have no trailing zeros: .9Z is after .12Z, .1Z before it."""
    return date.rstrip("Z")


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


# K8: one boundary -------------------------------------------------------------------------------------------------


def test_K8_an_entry_at_the_boundary_belongs_to_the_next_interval(sold):
    entries = sold.json("report", "journal", *ACME)
    dates = sorted((row["accounting_date"] for row in entries), key=instant)
    first, last = dates[0], dates[-1]
    assert first != last
    balances = ("report", "balances", *ACME, "--as-of")
    assert sold.json(*balances, first) == []
    assert [row["creator_id"] for row in sold.json(*balances, last)] == ["ann"]
    assert [row["payouts"] for row in [sold.json("payout", "preview", *ACME, "--until", first)]] == [[]]
    (paid,) = sold.json("payout", "preview", *ACME, "--until", last)["payouts"]
    assert paid["creator_id"] == "ann"
    journal = ("report", "journal", *ACME)
    assert sold.json(*journal, "--to", last) == [row for row in entries if instant(row["accounting_date"]) < instant(last)]
    assert sold.json(*journal, "--from", last) == [row for row in entries if instant(row["accounting_date"]) >= instant(last)]
    assert sold.json(*journal, "--from", last, "--by", "receipt") == [r for r in entries if instant(r["recorded_at"]) >= instant(last)]
    assert "expected accounting or receipt" in sold.run(*journal, "--by", "x", status=2).err


def test_K8_statement_balances_and_journal_are_one_number(sold):
    tomorrow = (datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=1)).isoformat()
    sold.run("adjust", "--shop", "shop-1", "--order", "o1", "--amount", "-3.00", *WHY)
    (sums,) = sold.json("report", "statement", *ACME, "--creator", "ann", "--month", MONTH)["sums"]
    (balance,) = sold.json("report", "balances", *ACME, "--creator", "ann")
    journal = sold.json("report", "journal", *ACME, "--creator", "ann", "--from", f"{MONTH}-01T00:00:00Z", "--to", tomorrow)
    assert sums["closing"] == balance["total"] == "5.00"
    assert sum(float(row["amount"]) for row in journal if row["amount"]) == 5.0


# K7: closes run forward -------------------------------------------------------------------------------------------


def test_K7_a_close_before_the_last_one_is_refused(sold):
    before = now()
    (ann, _) = sold.json("payout", "close", *ACME, *until_now())["payouts"]
    for verb in ("close", "preview"):
        refused = sold.run("payout", verb, *ACME, "--until", before, status=1).err
        assert f"until which payout run {ann['payout_run']} was closed" in refused
    sold.run("payout", "void", ann["payout_run"], *ACME, *WHY)
    assert len(sold.json("payout", "close", *ACME, "--until", before)["payouts"]) == 2


# K6: an acknowledgement is for what was seen ----------------------------------------------------------------------


def test_K6_a_larger_value_blocks_again(sold):
    sold.run("program", "apply", sold.file("limited.toml", LIMITED))
    order = ("--shop", "shop-1", "--order", "o3")

    def event(amount, version):
        lines = [{"line_item_id": "l1", "sku": "sku-1", "amount": amount, "tax": "0.00", "quantity": "1"}]
        sold.send("o3", amount=amount, line_items=lines, platform_updated_at=f"2024-05-0{version}T00:00:00Z")
        sold.drain()
        (row,) = [row for row in sold.json("report", "anomalies") if row["kind"] == "AMOUNT_ABOVE_LIMIT"]
        return row["blocks"], row["value"], row["acknowledged_value"]

    assert event("210.00", 1) == (True, "210.00 USD", None)
    said = sold.run("anomaly", "ack", *order, "--kind", "AMOUNT_ABOVE_LIMIT", *WHY).out
    assert "acknowledged at 210.00 USD" in said
    assert event("205.00", 2) == (False, "205.00 USD", "210.00 USD")
    assert event("2000000.00", 3) == (True, "2000000.00 USD", "210.00 USD")
    skipped = sold.json("payout", "preview", *ACME, *until_now())["skipped"]
    assert [(row["creator_id"], row["skip_reason"]) for row in skipped] == [("ann", "BLOCKED")]


# K11: small things ------------------------------------------------------------------------------------------------


def test_K11_a_run_is_settled_without_ended_payouts(sold):
    ann, ben = sold.json("payout", "close", *ACME, *until_now())["payouts"]
    sold.run("payout", "void", ann["payout_id"], *ACME, *WHY)
    said = sold.run("payout", "settle", ann["payout_run"], *ACME, *WHY, "--paid-at", "2024-12-31T10:00:00Z").out
    assert said.startswith("1 payout settled; ") and f"{ann['payout_id']} is passed over: it is VOID" in said
    assert "VOID: settle is not possible" in sold.run("payout", "settle", ann["payout_id"], *ACME, *WHY, status=1).err
    (paid,) = sold.json("payout", "list", *ACME, "--state", "PAID")
    assert (paid["payout_id"], paid["paid_at"]) == (ben["payout_id"], "2024-12-31T10:00:00Z")


def test_K11_payouts_by_currency(sold):
    sold.run("credit", *ACME, "--creator", "ann", "--program", "spring", "--amount", "5.00 EUR", "--sale-at",
             "2024-01-01T00:00:00Z", *WHY)
    rows = sold.json("payout", "close", *ACME, *until_now())["payouts"]
    assert [row["currency"] for row in rows] == ["EUR", "USD", "USD"]
    assert [r["currency"] for r in sold.json("payout", "list", *ACME, "--currency", "EUR")] == ["EUR"]
    assert "expected an ISO 4217 code" in sold.run("payout", "list", *ACME, "--currency", "euro", status=2).err


def test_K11_a_preview_is_one_table_in_csv(sold):
    sold.run("hold", *ACME, "--creator", "ben", *WHY)
    shown = sold.json("payout", "preview", *ACME, *until_now())
    payout, skipped, last = rows_of(sold.run("payout", "preview", *ACME, *until_now(), "--format", "csv").out)
    assert (payout["creator_id"], payout["amount"], payout["skip_reason"]) == ("ann", "8.00", "")
    assert (skipped["creator_id"], skipped["amount"], skipped["skip_reason"], skipped["skipped_amount"]) == (
        "ben", "", "HELD", "8.00")
    assert last["digest"] == shown["digest"] and last["creator_id"] == ""


def test_K11_explain_calls_a_renamed_creator_by_the_new_id(sold):
    sold.run("creator", "rename", "ann", "annie", *ACME)
    explained = sold.run("explain", "o1", "--shop", "shop-1").out
    assert "creator annie" in explained and "to annie in spring" in explained and "creator ann " not in explained
    as_json = json.loads(sold.run("explain", "o1", "--shop", "shop-1", "--format", "json").out)
    assert as_json["attribution"]["creator_id"] == "annie"
    assert as_json["attribution"]["candidates"][0]["creator_id"] == "annie"
    assert as_json["accruals"][0]["creator_id"] == "annie"


def test_K11_detach_names_the_accounts_of_its_cause(sold):
    sold.run("account", "create", "other")
    sold.run("shop", "create", "shop-9", "--account", "other")
    secret = sold.json("token", "create", "--account", "other", "--scope", "write_orders")["secret"]
    sold.run("program", "apply", sold.file("other.toml", '[[program]]\nid = "theirs"\naccount = "other"\n'
                                                         'default_rate = "10%"\nlate_days = 36500\n'))
    sold.send("o3", code="BOTH")
    discounts = [{"code": "BOTH", "type": "DISCOUNT_CODE", "value_type": "PERCENTAGE", "value": "10"}]
    assert sold.edge.post_event("shop-9", secret, "ORDER_CREATE", orders.order("x1", discounts=discounts)).status == 200
    sold.drain()
    sold.run("creator", "import", sold.file("both.csv", "creator_id,program_id,code\nann,spring,BOTH\nzoe,theirs,BOTH\n"))
    (cause,) = {row["command_id"] for row in sold.json("report", "journal", "--all-accounts")
                if row["reason"] == "ATTRIBUTION"}
    refused = sold.run("detach", "--cause", cause, *WHY, status=1).err
    assert "attributed orders of accounts acme, other" in refused and "--account" in refused
    assert "of account acme" in sold.run("detach", "--cause", cause, *ACME, *WHY).out
    assert "of account other" in sold.run("detach", "--cause", cause, *WHY).out  # the one that is left
    assert "no change: no order of account acme" in sold.run("detach", "--cause", cause, *ACME, *WHY).out
    for account in ((), ACME):
        assert "C260101000000-ABCDEF" in sold.run("detach", "--cause", "C260101000000-ABCDEF", *account, *WHY, status=1).err


def test_K11_an_import_lists_codes_that_stay_removed(sold):
    full = sold.file("full.csv", "creator_id,program_id,code\nann,spring,SAVE\nben,spring,BEN\n")
    sold.run("creator", "remove", "ben", "--program", "spring", "--code", "BEN")
    assert "stays so without dates: line 3 BEN" in sold.run("creator", "import", full).out
    sold.send("o4", code="BEN", platform_ordered_at=now(), platform_updated_at=now())
    sold.drain()
    (row,) = [row for row in sold.json("report", "orders") if row["order_id"] == "o4"]
    assert row["status"] == "waiting"


def test_K11_a_period_close_is_previewed(sold):
    until = f"{MONTH}-01T00:00:00Z"
    close = ("period", "close", *ACME, "--until", until)
    assert sold.json(*close, "--preview") == []  # everything was received this month
    said = sold.run(*close, "--preview").out
    assert f"preview, nothing was changed: account acme would be closed until {until}" in said
    assert sold.json("period", "list", *ACME) == []
    refused = sold.run("period", "close", *ACME, "--until", "2024-01-02T00:00:00Z", "--preview", status=1).err
    assert "not the first instant of a month" in refused
    sold.run(*close)
    assert "is closed" in sold.run(*close, "--preview", status=1).err


def test_a_preview_has_totals_payees_programs_and_later_amounts(sold):
    sold.run("creator", "set", "ann", *ACME, "--payee", "ref-1")
    text = '[[policy]]\naccount = "acme"\napprove_payout_above = ["10.00 USD"]\n'
    sold.run("program", "apply", sold.file("limits.toml", text))
    sold.run("credit", *ACME, "--creator", "ben", "--program", "spring", "--amount", "5.00 USD", "--sale-at",
             "2024-01-01T00:00:00Z", *WHY)
    shown = sold.run("payout", "preview", *ACME, *until_now()).out
    (ann,) = [line for line in shown.splitlines() if " ann " in line]
    assert {"ref-1", "spring", "8.00", "APPROVED"} <= set(ann.split()) and "would be APPROVED" in ann
    assert "would be CLOSED" in shown
    assert "total 21.00 USD in 2 payouts, 1 to be approved" in shown
    assert [row["programs"] for row in sold.json("payout", "preview", *ACME, *until_now())["payouts"]] == [["spring"]] * 2
    empty = sold.run("payout", "preview", *ACME, "--until", "2024-06-01T00:00:00Z").out
    assert "nothing to pay until 2024-06-01T00:00:00Z" in empty
    assert "later: 21.00 USD have cleared, but are dated by receipt from " in empty and "may pay them" in empty
    without = sold.run("payout", "preview", *ACME, "--until", "2024-06-01T00:00:00Z", "--exclude", "ann").out
    assert "later: 13.00 USD have cleared" in without, "no promise for who is excluded"
    held = '[[program]]\nid = "spring"\naccount = "acme"\ndefault_rate = "10%"\nlate_days = 36500\nclearing_days = 14\n'
    sold.run("program", "apply", sold.file("held.toml", held))
    sold.send("o9", platform_ordered_at=now(), platform_updated_at=now())
    sold.drain()
    assert "later: 8.00 USD clear from " in sold.run("payout", "preview", *ACME, *until_now()).out


def test_program_apply_prints_each_change(sold):
    said = sold.run("program", "apply", sold.file("limited.toml", LIMITED)).out
    assert 'policy of acme: amount_limit not set -> ["120.00 USD"]' in said
    raised = LIMITED.replace("120.00", "90.00") + (
        '[[program]]\nid = "spring"\naccount = "acme"\ndefault_rate = "12%"\nclearing_days = 3\nlate_days = 36500\n')
    said = sold.run("program", "apply", sold.file("raised.toml", raised)).out
    assert '1 program applied, 1 changed; policy of acme: amount_limit ["120.00 USD"] -> ["90.00 USD"]' in said
    assert 'program spring: clearing_days 0 -> 3, default_rate "10%" -> "12%"' in said
    assert sold.run("program", "apply", sold.file("raised.toml", raised)).out.strip() == \
        "no change: the ledger has what the file states"


def test_program_apply_names_each_rule_that_changes(sold):
    def apply(*rules):
        text = '[[program]]\nid = "spring"\naccount = "acme"\ndefault_rate = "10%"\nlate_days = 36500\n'
        for brand, rate in rules:
            text += f'[[program.rule]]\nmatch = "brand"\nvalue = "{brand}"\nrate = "{rate}"\n'
        return sold.run("program", "apply", sold.file("rules.toml", text)).out

    many = [(f"brand-{i}", "5%") for i in range(9)]
    assert apply(*many).count("rule added: ") == 9
    said = apply(*many[:-2], ("brand-7", "15%"), ("new", "1%"))
    rule = '{"match":"brand","value":"%s","rate":"%s"}'
    assert "rule changed: " + rule % ("brand-7", "5%") + " -> " + rule % ("brand-7", "15%") in said, said
    assert "rule removed: " + rule % ("brand-8", "5%") in said and "rule added: " + rule % ("new", "1%") in said
    long = "b" * 300
    apply((long, "5%"))
    assert 'bbb","rate":"5%"} -> ...' in apply((long, "6%")), "the difference is shown, not the beginning"


def test_an_export_passes_the_columns_of_payees_through(sold):
    for creator in ("ann", "ben"):
        sold.run("creator", "set", creator, *ACME, "--payee", f"ref-{creator}")
    payees = sold.file("payees.csv", "payee,name,email\nref-ann,Ann,ann@x.test\nref-ben,Ben,ben@x.test\n")
    ann, ben = sold.json("payout", "close", *ACME, *until_now())["payouts"]

    def export(payout, *more, status=0):
        out = sold.folder / "bank.csv"
        done = sold.run("payout", "export", payout["payout_id"], *ACME, "--payees", payees, "--out", out, *more,
                        status=status)
        return done.err if status else out.read_text()

    assert "neither a field" in export(ann, "--form", "csv", "--columns", "Phone=phone", status=1)
    assert "--form csv, for --columns" in export(ann, "--form", "json", "--columns", "paypal", status=2)
    assert "in braces" in export(ann, "--form", "csv", "--remittance", "{iban}", status=1)
    text = export(ann, "--form", "csv", "--columns", "paypal", "--remittance", "Commission {month} {creator}")
    month = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m")
    assert text == f"ann@x.test,8.00,USD,{ann['payout_id']},Commission {month} ann,PayPal\n"
    assert "--form pain.001, for --execution-date" in export(
        ben, "--form", "json", "--execution-date", "2999-01-01", status=2)
    debtor = sold.file("debtor.csv", "name,iban\nAcme,DE89370400440532013000\n")
    assert "that day has passed" in export(
        ben, "--form", "pain.001", "--debtor", debtor, "--execution-date", "1999-01-01", status=1)
    (payment,) = json.loads(export(ben, "--form", "json", "--remittance", "For {creator}"))["payments"]
    assert (payment["iban"], payment["email"], payment["remittance"]) == (None, "ben@x.test", "For ben")


def test_holds_are_listed(sold):
    sold.run("hold", *ACME, "--creator", "ben", "--program", "spring", "--reason", "asks the lawyer")
    sold.run("hold", "--shop", "shop-1", "--order", "o1", "--reason", "looks odd")
    creator, order = sold.json("hold", "list", *ACME)
    assert [creator[n] for n in ("creator_id", "program_id", "order_id", "reason")] == [
        "ben", "spring", None, "asks the lawyer"]
    assert [order[n] for n in ("shop_id", "order_id", "creator_id", "reason")] == ["shop-1", "o1", None, "looks odd"]
    assert creator["actor"] == order["actor"] and order["held_at"] > creator["held_at"]
    sold.run("release", "--shop", "shop-1", "--order", "o1", *WHY)
    assert [row["creator_id"] for row in sold.json("hold", "list", *ACME)] == ["ben"]
    assert "--reason is required" in sold.run("hold", "--shop", "shop-1", "--order", "o1", status=2).err
    assert "--account is required" in sold.run("hold", "list", status=2).err
    listed = [row["creator_id"] for row in sold.json("hold", "list", *ACME)]
    for line in (("--store", sold.store, "hold", "list", *ACME), (f"--store={sold.store}", "hold", "list", *ACME)):
        assert [row["creator_id"] for row in sluice(*line, "--format", "json").json()] == listed
    assert "--reason is required" in sluice(
        "--store", sold.store, "hold", "--shop", "shop-1", "--order", "o1").err


# Reports of a month -----------------------------------------------------------------------------------------------


def test_statements_of_all_creators_in_one_pass(sold):
    sold.run("creator", "import", sold.file("idle.csv", "creator_id,program_id\nidle,spring\n"))
    sold.run("creator", "rename", "ben", "b/ben", *ACME)
    into = sold.folder / "statements"
    said = sold.run("report", "statements", *ACME, "--month", MONTH, "--into", into).out
    assert said.startswith(f"2 statements of account acme, {MONTH}, written to ")
    assert sorted(path.name for path in into.iterdir()) == ["ann.csv", "b%2Fben.csv"]
    one = sold.run("report", "statement", *ACME, "--creator", "ann", "--month", MONTH, "--format", "csv").out
    assert (into / "ann.csv").read_text() == one
    opening, entry, closing = rows_of(one)
    assert [opening["reason"], entry["reason"], closing["reason"]] == ["PERIOD_OPENING", "ACCRUAL", "PERIOD_CLOSING"]
    assert [closing[name] for name in ("opening", "earned", "adjusted", "paid_out", "amount")] == [
        "0.00", "8.00", "0.00", "0.00", "8.00"]
    assert {(row["account_id"], row["creator_id"], row["month"], row["status"]) for row in (opening, entry, closing)} == {
        ("acme", "ann", MONTH, "open: may change")}
    sold.run("report", "statements", *ACME, "--month", MONTH, "--into", into, "--format", "json")
    whole = sold.json("report", "statement", *ACME, "--creator", "b/ben", "--month", MONTH)
    assert json.loads((into / "b%2Fben.json").read_text()) == whole
    assert "could not be written" in sold.run("report", "statements", *ACME, "--month", MONTH, "--into",
                                              blocked(sold.folder), status=1).err


def blocked(folder):
    """A folder in which a statement's name is taken by a folder."""
    (folder / "blocked" / "ann.csv").mkdir(parents=True)
    return folder / "blocked"


def test_the_trial_balance_sums_to_zero_and_ties_to_the_statements(sold):
    for payout in sold.json("payout", "close", *ACME, *until_now())["payouts"][:1]:
        sold.run("payout", "settle", payout["payout_id"], *ACME, *WHY)
    sold.run("adjust", "--shop", "shop-1", "--order", "o2", "--amount", "-3.00", *WHY)
    rows = sold.json("report", "trial-balance", *ACME, "--month", MONTH)
    books = {row["ledger_account"]: [float(row[n]) for n in ("opening", "debit", "credit", "closing")] for row in rows}
    assert books == {
        "expense": [0, 16, 3, 13], "owed": [0, 19, 16, 3], "payout": [0, 8, 16, -8], "paid": [0, 0, 8, -8]}
    statements = [sold.json("report", "statement", *ACME, "--creator", creator, "--month", MONTH)["sums"][0]
                  for creator in ("ann", "ben")]
    assert books["owed"][3] == -sum(float(sums["closing"]) for sums in statements)
    balances = sold.json("report", "balances", *ACME)
    assert books["paid"][3] == -sum(float(row["paid"]) for row in balances)
    table = sold.run("report", "trial-balance", *ACME, "--month", MONTH).out
    assert "USD in all: opening 0.00, debit 43.00, credit 43.00, closing 0.00" in table
    following = (datetime.date.fromisoformat(f"{MONTH}-01") + datetime.timedelta(days=32)).strftime("%Y-%m")
    later = {row["ledger_account"]: row for row in sold.json("report", "trial-balance", *ACME, "--month", following)}
    assert {name: (float(row["opening"]), row["debit"]) for name, row in later.items()} == {
        name: (sums[3], "0.00") for name, sums in books.items()}


# Into the books of the company ------------------------------------------------------------------------------------


def test_a_negative_balance_is_listed_with_its_age(sold):
    negative = ("report", "balances", *ACME, "--negative")
    assert sold.json(*negative) == []
    sold.run("adjust", "--shop", "shop-1", "--order", "o1", "--amount", "-3.00", *WHY)
    (ann,) = [payout for payout in sold.json("payout", "close", *ACME, *until_now())["payouts"] if payout["amount"] == "5.00"]
    sold.run("payout", "settle", ann["payout_id"], *ACME, *WHY)
    sold.run("adjust", "--shop", "shop-1", "--order", "o1", "--amount", "-1.00", *WHY)
    sold.run("adjust", "--shop", "shop-1", "--order", "o1", "--amount", "-1.00", *WHY)
    (row,) = sold.json(*negative)
    first, second = [entry["accounting_date"] for entry in sold.json("report", "journal", *ACME, "--creator", "ann")
                     if entry["amount"] == "-1.00"]
    assert (row["creator_id"], row["total"], row["days"]) == ("ann", "3.00", 0)
    assert row["negative_since"] == first != second
    (balance,) = sold.json("report", "balances", *ACME, "--creator", "ann")
    assert {**balance, "negative_since": first, "days": 0} == row


def test_the_journal_leaves_with_the_names_of_a_map(sold):
    export = ("export", "journal", "--form")
    assert "Liabilities:Commission:acme:spring:ann  -8.00 USD" in sold.run(*export, "hledger").out
    assert "1970-01-01 open Liabilities:Commission:Xacme:Xspring:Xann" in sold.run(*export, "beancount", *ACME).out
    codes = sold.file("codes.csv", "ledger_account,code,program_id\nowed,1740:{creator},spring\nexpense,6300,\n")
    said = sold.run(*export, "hledger", "--map", codes, "--until", now()).out
    assert "    6300  8.00 USD\n    1740:ann  -8.00 USD\n" in said
    assert sold.run(*export, "hledger", "--until", "2020-01-01T00:00:00Z").out == "decimal-mark .\n"
    for text, words in (
        ("ledger_account,code\nbank,1\n", "codes.csv:2: ledger_account: expected expense, owed, payout or paid"),
        ("ledger_account,code\nowed,\n", "codes.csv:2: code: expected a name"),
        ("ledger_account,code\nowed,a;b\n", "codes.csv:2: code: expected a name"),
        ("ledger_account,code\nowed,{order}\n", "codes.csv:2: code: expected {account}, {program}"),
        ("ledger_account\nowed\n", "expected a header line with the columns ledger_account,code"),
    ):
        assert words in sold.run(*export, "csv", "--map", sold.file("codes.csv", text), status=1).err
    for form, codes in (
        ("beancount", ("1740", "Assets", "Bank:Paid", "Assets:paid", "Assets:Paid out", "Assets::Paid", "assets:Paid")),
        ("hledger", ("(1740)", "[1740]", "*1740", "!1740", "=1740", "1740::x", ":1740")),
    ):
        for code in codes:
            file = sold.file("codes.csv", f"ledger_account,code\nowed,{code}\n")
            said = sold.run(*export, form, "--map", file, status=1).err
            assert f"codes.csv:2: code: {form} expects a name" in said, (code, said)
    codes = sold.file("codes.csv", "ledger_account,code\nowed,{creator}:{program}:{creator}\n")
    assert "    ann:spring:ann  -8.00 USD\n" in sold.run(*export, "hledger", "--map", codes).out, "each word, each time"
    assert "account beta" in sold.run(*export, "csv", "--account", "beta", status=1).err


def test_an_order_id_adds_no_line_to_an_exported_journal(sold):
    sold.send('o9\n    Assets:Paid  9.00 USD ; "')
    sold.drain()
    for form in ("hledger", "beancount"):
        said = sold.run("export", "journal", "--form", form).out
        assert "\n    Assets:Paid  9.00" not in said and "o9%0A    Assets:Paid  9.00 USD %3B %22" in said
