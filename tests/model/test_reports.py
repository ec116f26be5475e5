"""Reports and what else reads the ledger: filters, forms, order, explain, dead letters, rebuild."""

import csv
import io
import json

import pytest

from harness.cli import MONEY_REPORTS
from harness.orders import line, order, refund
from model.rules import Shop, at, with_code
from model.values import instant


@pytest.fixture
def shop(rules_edge):
    return Shop(rules_edge)


def ordered(order_id, when, **changes):
    return {**with_code(platform_ordered_at=when, **changes), "platform_order_id": order_id}


@pytest.fixture
def three(earning):
    earning.code(earning.bob, "BOB")
    earning.send(ordered("b", "2024-01-01T00:00:00Z"))
    earning.send(ordered("a", "2024-02-01T00:00:00Z"))
    earning.send({**ordered("c", "2024-03-01T00:00:00Z"), "discounts": with_code("BOB")["discounts"]})
    earning.sluice.drain()
    return earning


def ids(rows):
    return [row["order_id"] for row in rows]


def test_orders_are_sorted_by_shop_and_order(three):
    assert ids(three.sluice.report("orders", "--shop", three.shop)) == ["a", "b", "c"]
    every = [(r["shop_id"].encode(), r["order_id"].encode()) for r in three.sluice.report("orders")]
    assert every == sorted(every)


def test_long_ids_are_sorted_as_ids(earning):
    names = ["x" * 450 + "b", "x" * 450 + "a", "x" * 399 + "z", "x", "y", "x" * 1024, "w" * 500, "z" * 420, "é" * 300]
    for name in names:
        earning.send(ordered(name, "2024-01-01T00:00:00Z"))
    assert ids(earning.rows("orders")) == sorted(names, key=str.encode)


def test_orders_from_and_to_are_about_ordered_at(three):
    def report(*arguments):
        return ids(three.sluice.report("orders", "--shop", three.shop, *arguments))

    assert report("--from", "2024-02-01T00:00:00Z") == ["a", "c"]
    assert report("--to", "2024-02-01T00:00:00Z") == ["b"]
    assert report("--from", "2024-01-01T00:00:00.000000001Z", "--to", "2024-03-01T00:00:00Z") == ["a"]
    assert report("--from", "2024-02-01T02:00:00+02:00", "--to", "2024-02-01T00:00:01Z") == ["a"]


def test_reports_by_creator(three):
    assert ids(three.sluice.report("orders", "--creator", three.bob)) == ["c"]
    assert ids(three.sluice.postings("--creator", three.bob)) == ["c"]
    (row,) = three.sluice.report("balances", "--creator", three.bob)
    assert row["total"] == "8.00"


def test_journal_from_and_to_are_about_recorded_at(three):
    rows = three.sluice.report("journal", "--shop", three.shop)
    second = rows[1]["recorded_at"]
    later = three.sluice.report("journal", "--shop", three.shop, "--from", second)
    earlier = three.sluice.report("journal", "--shop", three.shop, "--to", second)
    assert [r for r in rows if instant(r["recorded_at"]) >= instant(second)] == later
    assert [r for r in rows if instant(r["recorded_at"]) < instant(second)] == earlier


SHAPES = {
    "orders": ["order_id", "shop_id", "account_id", "creator_id", "program_id", "attribution_types", "commission_amount",
               "accrued", "commission_currency", "amount", "tax", "shipping", "refund_amount", "refund_tax", "currency",
               "cancelled_at", "ordered_at", "last_updated_at", "status", "blocked_by", "payouts", "node"],
    "journal": ["node", "entry", "event_seq", "command_id", "account_id", "program_id", "creator_id", "shop_id",
                "order_id", "line_item_id", "currency", "amount", "debit_account", "credit_account", "reason", "payout_id", "recorded_at",
                "accounting_date", "refers_to", "note", "actor", "hash",
                "refers_to_node", "first", "last"],
    "balances": ["account_id", "program_id", "creator_id", "currency", "pending", "blocked", "payable", "in_payout",
                 "paid", "total"],
    "anomalies": ["node", "event_seq", "account_id", "shop_id", "order_id", "kind", "recorded_at", "count", "message",
                  "blocks", "acknowledged_by",
                  "acknowledged_at", "value", "acknowledged_value"],
    "payouts": ["node", "payout_id", "payout_run", "account_id", "creator_id", "name", "payee", "programs", "currency", "amount", "state",
                "until", "closed_at", "closed_by", "approved_by", "approved_at", "repoints", "repointed_by", "sent_by", "sent_at",
                "message", "ended_by", "ended_at", "end_reason", "bank_ref", "paid_at", "orders", "items", "parts"],
}


def scope(kind):
    return ["--all-accounts"] if kind in MONEY_REPORTS else []


@pytest.mark.parametrize("kind", SHAPES)
def test_shape_of_the_json_rows(three, kind):
    three.send(ordered("a", "2024-02-01T00:00:00Z", refund_line_items=[refund("r", amount="999")]))
    three.sluice.drain()
    three.close()
    rows = three.sluice.report(kind)
    assert rows
    for row in rows:
        assert list(row) == SHAPES[kind]


@pytest.mark.parametrize("kind", [*SHAPES, "products"])
def test_csv_and_table_have_the_same_rows(three, kind):
    three.products({"platform_product_id": "p", "title": 'a "quoted", title'})
    three.close()
    rows = three.sluice.report(kind)
    parsed = list(csv.DictReader(io.StringIO(three.sluice("report", kind, *scope(kind), "--format", "csv"))))
    assert len(parsed) >= len(rows)
    if kind in SHAPES:
        assert set(parsed[0]) >= set(SHAPES[kind]) if parsed else True
    if kind == "orders":
        assert [row["commission_amount"] for row in parsed] == [row["commission_amount"] for row in rows]
    table = three.sluice("report", kind, *scope(kind))
    assert table.strip()
    assert three.sluice("report", kind, *scope(kind), "--format", "table") == table


@pytest.mark.parametrize("kind", [*SHAPES, "products"])
def test_empty_reports_are_empty_arrays(earning, kind):
    only = ["--account", earning.account] if kind in MONEY_REPORTS else ["--shop", earning.shop]
    assert earning.sluice.report(kind, *only) == []


def test_explain_names_every_step(three):
    three.send(ordered("a", "2024-02-01T00:00:00Z", platform_updated_at=at(9), refund_line_items=[refund("r", amount="33.00")]))
    three.sluice.drain()
    text = three.sluice("explain", "a", "--shop", three.shop)
    for word in (three.ann, three.program, "33.00", "8.00", "10%", "5.36"):
        assert word in text, f"{word} is not in\n{text}"
    assert json.loads(three.sluice("explain", "a", "--shop", three.shop, "--format", "json"))
    three.sluice.refuses("explain", "nothing", "--shop", three.shop)


def test_statement_of_a_month(three):
    import datetime

    month = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m")
    text = three.sluice("report", "statement", "--account", three.account, "--creator", three.ann, "--month", month)
    assert "16.00" in text, text
    three.sluice.refuses("report", "statement", "--account", three.account, "--creator", three.ann, "--month", "2024-13",
                         code=None)


def test_queue_peek_and_export(three, tmp_path):
    three.send(ordered("d", "2024-01-01T00:00:00Z"))
    (record,) = [r for r in three.sluice.queued() if r["shop_id"] == three.shop]
    assert set(record) == {"seq", "topic", "shop_id", "received_at", "trace", "bytes", "body"}
    three.sluice("queue", "export", tmp_path / "export")
    assert (tmp_path / "export").stat().st_size > record["bytes"]
    stats = three.sluice.stats()
    assert set(stats) == {"first_seq", "last_seq", "depth", "in_lanes", "bytes", "applied_seq", "applied", "stale",
                          "duplicate", "dead", "catalog", "commands", "clicks", "attribution_left"}
    assert stats["depth"] == 1 and stats["last_seq"] == record["seq"] == stats["applied_seq"] + 1


def test_forget_takes_personal_data_and_leaves_figures(earning):
    person = {"platform_customer_id": "c-77", "email": "jane@example.org", "phone": "+1 555 0100"}
    earning.send({**ordered("a", "2024-01-01T00:00:00Z"), **person})
    earning.send({**ordered("b", "2024-01-01T00:00:00Z"), "platform_customer_id": "c-78", "email": "joe@example.org"})
    before = earning.rows("orders"), earning.rows("journal")
    earning.sluice("forget", "--shop", earning.shop, "--customer", "c-77")
    assert (earning.rows("orders"), earning.rows("journal")) == before
    # The same event again is still a duplicate: digests stay.
    count = earning.sluice.stats()["duplicate"]
    earning.send({**ordered("a", "2024-01-01T00:00:00Z"), **person})
    earning.sluice.drain()
    assert earning.sluice.stats()["duplicate"] == count + 1
    assert "jane@example.org" not in earning.sluice("explain", "a", "--shop", earning.shop)


def test_rebuild_gives_the_same_ledger(three, tmp_path):
    three.click("anon", three.bob, "2024-02-20T00:00:00Z")
    three.send(order("late", svc_anon_id="anon"))
    three.close()
    three.send(ordered("a", "2024-02-01T00:00:00Z", platform_updated_at=at(9), line_items=[line(amount="50")]))
    three.sluice.drain()
    target = tmp_path / "rebuilt"
    three.sluice("ledger", "rebuild", "--from", three.edge.store / "archive", "--into", target)
    assert target.exists()


def test_doctor_finds_a_healthy_store_healthy(three):
    result = three.sluice.run("doctor", "--format", "json")
    problems = [row["check"] for row in json.loads(result.stdout) if row["result"] == "problem"]
    assert problems == ["worker"], result.stdout  # none runs here


def test_registry_commands_do_not_enter_the_queue(earning):
    before = earning.sluice.accepted()
    account = earning.sluice.account(earning.account + "-more")
    earning.sluice.shop(account + "-shop", account)
    earning.sluice.token(account, "read_orders")
    assert earning.sluice.accepted() == before


@pytest.mark.parametrize(
    "rows,bad_line",
    [
        (["x,{program},ANN"], 2),  # owned by Ann
        (["{bob},{program},NEW", "x,{program},ann"], 3),
        (["x,nowhere,CODE"], 2),
        (["x,{program}"], 2),
        (["x,{program},CODE,more"], 2),
        ([",{program},CODE"], 2),
        (["x y,{program},CODE"], 2),
        (["{bob},{program},NEW", "x,{program},new"], 3),
    ],
)
def test_bad_creator_file_fails_as_a_whole_with_its_line(earning, rows, bad_line):
    text = "creator_id,program_id,code\n"
    text += "".join(row.format(program=earning.program, bob=earning.bob) + "\n" for row in rows)
    path = earning.file("bad.csv", text)
    said = earning.sluice.refuses("creator", "import", path, code=None)
    assert f"{bad_line}" in said, said
    earning.send(with_code("NEW"))
    assert earning.only_order()["creator_id"] is None


@pytest.mark.parametrize(
    "header,row",
    [
        ("svc_anon_id,creator_id,program_id,occurred_at", "a,{ann},{program},yesterday"),
        ("svc_anon_id,creator_id,program_id,occurred_at", "a,{ann},nowhere,2024-01-01T00:00:00Z"),
        ("svc_anon_id,creator_id,program_id,occurred_at", ",{ann},{program},2024-01-01T00:00:00Z"),
        ("svc_anon_id,creator_id,program_id,occurred_at", "a,{ann},{program}"),
        ("anon,creator_id,program_id,occurred_at", "a,{ann},{program},2024-01-01T00:00:00Z"),
    ],
)
def test_bad_click_file_is_refused(earning, header, row):
    text = f"{header}\n{row.format(ann=earning.ann, program=earning.program)}\n"
    earning.sluice.refuses("click", "import", earning.file("bad.csv", text), code=None)


@pytest.mark.parametrize(
    "change",
    [
        {"default_rate": '"10"'}, {"default_rate": '"-1%"'}, {"default_rate": '"1.23456%"'}, {"default_rate": '"5 usd"'},
        {"default_rate": "10"}, {"base": '"brutto"'}, {"precedence": '["CODE"]'}, {"window_days": "-1"},
        {"window_days": '"30"'}, {"clearing_days": "1.5"}, {"nonsense": "1"}, {"account": '"nowhere"'},
    ],
    ids=str,
)
def test_bad_program_file_names_file_and_line(earning, change):
    text = f'[[program]]\nid = "{earning.program}"\n'
    settings = {"account": f'"{earning.account}"', "window_days": 30, "base": '"net"', "clearing_days": 0,
                "precedence": '["AFFILIATE_CODE"]', "default_rate": '"99%"', **change}
    text += "".join(f"{name} = {value}\n" for name, value in settings.items())
    path = earning.file("bad.toml", text)
    said = earning.sluice.refuses("program", "apply", path, code=None)
    assert "bad.toml" in said, said
    earning.send(with_code())
    assert earning.only_order()["commission_amount"] == "8.00"
