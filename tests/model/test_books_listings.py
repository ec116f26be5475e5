"""The model's listings: their columns, their order, and figures of one small history."""

import json

import pytest

from model.books import listings
from model.books.example import Example

COLUMNS = {
    "balances": "account_id program_id creator_id currency pending blocked payable in_payout paid total",
    "journal": "node entry event_seq command_id account_id program_id creator_id shop_id order_id line_item_id "
               "currency amount debit_account credit_account reason payout_id recorded_at accounting_date refers_to note actor "
               "refers_to_node",
    "payouts": "payout_id payout_run account_id creator_id name payee programs currency amount state until closed_at closed_by "
               "approved_by approved_at sent_by sent_at ended_by ended_at end_reason repoints repointed_by message parts bank_ref paid_at "
               "orders items",
    "items": "payout_id program_id shop_id order_id line_item_id kind amount ordered_at",
    "statement": "account_id creator_id month status rows sums",
    "rows": "accounting_date program_id currency ledger_account reason amount shop_id order_id line_item_id refers_to payout_id",
    "sums": "program_id currency opening earned adjusted paid_out closing",
    "orders": "order_id shop_id account_id creator_id program_id attribution_types commission_amount accrued "
              "commission_currency amount tax shipping refund_amount refund_tax currency cancelled_at ordered_at "
              "last_updated_at status blocked_by payouts",
    "anomalies": "event_seq account_id shop_id order_id kind recorded_at count blocks acknowledged_by acknowledged_at value acknowledged_value",
    "approvals": "id command account_id amount currency actor reason received_at",
    "skipped": "creator_id currency amount skip_reason",
}
O1 = {"id": "o1", "codes": ["ANN"], "lines": [{"id": "l1", "amount": "100.00"}]}
O2 = {"id": "o2", "codes": ["ANN"], "amount": "10.00", "lines": [{"id": "l1", "amount": "100.00"}]}


STEPS = [
    {"programs": [{"id": "spring", "default_rate": "10%", "clearing_days": 10}],
     "policy": {"approve_payout_above": ["5.00 USD"], "approve_adjust_above": ["5.00 USD"]}},
    {"creators": [{"creator": "ann", "program": "spring", "code": "ANN", "name": "Ann", "payee": "acc-1"}]},
    {"topic": "ORDER_CREATE", "order": O1},
    {"topic": "ORDER_CREATE", "order": O2},
    {"close": {}, "actor": "eve"},
    {"adjust": ["o1", "7.00", "bonus"], "actor": "eve"},
]


@pytest.fixture(scope="module")
def example():
    """o1 is closed by eve and awaits approval; o2 is blocked; an adjustment awaits approval as well."""
    made = Example({"expect": {}})
    for step in STEPS:
        made.now += 10**9
        assert made.take(step).outcome in ("applied", "done", "pending")
    return made


def names(rows):
    assert rows
    json.dumps(rows)
    assert all(list(row) == list(rows[0]) for row in rows)
    return " ".join(rows[0])


def test_columns(example):
    ledger = example.ledger
    statement = listings.statement(ledger, "acme", "ann", "2026-02")
    payout = next(iter(ledger.payouts.values()))
    found = {
        "balances": listings.balances(ledger, "acme", example.now),
        "journal": listings.journal(ledger, "acme"),
        "payouts": listings.payout_rows(ledger, "acme"),
        "items": listings.payout_items(payout),
        "statement": [statement],
        "rows": statement["rows"],
        "sums": statement["sums"],
        "orders": listings.orders(ledger, "acme", example.now),
        "anomalies": listings.anomalies(ledger, "acme"),
        "approvals": listings.approvals(ledger, "acme"),
    }
    for name, rows in found.items():
        assert names(rows) == COLUMNS[name], name


def test_a_preview_has_payouts_skipped_and_digest(example):
    at = example.input({})
    command = {"until": example.now}
    shown = listings.preview(example.ledger, at, command)
    assert list(shown) == ["payouts", "skipped", "digest"]
    assert names(shown["skipped"]) == COLUMNS["skipped"]
    assert shown["skipped"] == [{"creator_id": "ann", "currency": "USD", "amount": "10.00", "skip_reason": "BLOCKED"}]
    assert shown["payouts"] == []


def test_figures(example):
    ledger = example.ledger
    (balance,) = listings.balances(ledger, "acme", example.now)
    shown = {name: balance[name] for name in ("pending", "blocked", "payable", "in_payout", "paid", "total")}
    assert shown == {"pending": "0.00", "blocked": "10.00", "payable": "0.00", "in_payout": "10.00", "paid": "0.00",
                     "total": "20.00"}
    (payout,) = listings.payout_rows(ledger, "acme")
    assert (payout["state"], payout["closed_by"], payout["approved_by"], payout["name"], payout["payee"]) == (
        "CLOSED", "eve", None, "Ann", "acc-1")
    assert [(row["status"], row["payouts"]) for row in listings.orders(ledger, "acme", example.now)] == [
        ("in_payout", [payout["payout_id"]]), ("blocked", [])]
    assert [(row["command"], row["amount"]) for row in listings.approvals(ledger, "acme")] == [
        ("adjust", "7.00"), ("payout close", "10.00")]
    (anomaly,) = listings.anomalies(ledger, "acme")
    assert (anomaly["kind"], anomaly["blocks"], anomaly["event_seq"]) == ("LINES_EXCEED_AMOUNT", True, 4)


def test_memo_entries_have_no_amount_and_postings_two_accounts(example):
    for row in listings.journal(example.ledger, "acme"):
        assert (row["amount"] is None) == (row["debit_account"] is None) == (row["credit_account"] is None)
    closing = [row for row in listings.journal(example.ledger, "acme") if row["payout_id"]]
    assert [(row["reason"], row["debit_account"], row["credit_account"]) for row in closing] == [
        ("PAYOUT", "owed", "payout:" + closing[0]["payout_id"]), ("CLOSED", None, None)]
