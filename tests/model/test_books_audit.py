"""D1: each check of the auditor sees a figure that was changed behind the ledger's back."""

from dataclasses import replace
from fractions import Fraction

import pytest

from model.books.audit import audit
from model.books.example import Example
from model.books.journal import NO_HASH, next_hash
from model.values import instant

ORDER = {"id": "o1", "codes": ["ANN"], "lines": [{"id": "l1", "amount": "100.00"}]}
STEPS = [
    {"programs": [{"id": "spring", "default_rate": "10%"}], "policy": {"approve_payout_above": ["5.00 USD"]}},
    {"creators": [["ann", "spring", "ANN"]]},
    {"topic": "ORDER_CREATE", "order": ORDER},
    {"adjust": ["o1", "2.00", "bonus"]},
    {"close": {}},
    {"period": {"until": "2026-02-01T00:00:00Z"}},
    {"credit": {"creator": "ann", "program": "spring", "amount": "3.00 USD"}},
]


@pytest.fixture
def ledger():
    example = Example({"expect": {}})
    example.now = instant("2026-01-15T00:00:00Z")
    for number, step in enumerate(STEPS):
        example.now += 8 * 86400 * 10**9 if number > 2 else 10**9
        result = example.take(step)
        assert result.outcome in ("applied", "done"), result
    assert audit(example.ledger) == []
    return example.ledger


def payout(ledger):
    return next(iter(ledger.payouts.values()))


def position(ledger):
    return ledger.orders[("shop-1", "o1")].position


def edit_entry(ledger):
    assert ledger.journal.entries[1].reason == "ACCRUAL"
    ledger.journal.entries[1] = replace(ledger.journal.entries[1], amount=Fraction(9))


def edit_number(ledger):
    ledger.journal.entries[1] = replace(ledger.journal.entries[1], number=7)


def edit_hash(ledger):
    ledger.journal.hashes[2] = NO_HASH


def cut_the_chain(ledger):
    ledger.journal.entries.pop()
    ledger.journal.hashes.pop()


def chain_anew(ledger):
    """The entry and every hash after it are changed: the chain is whole, but the sums are wrong."""
    edit_entry(ledger)
    head = NO_HASH
    for place, entry in enumerate(ledger.journal.entries):
        head = ledger.journal.hashes[place] = next_hash(head, entry)
    ledger.journal.heads = {key: head for key in ledger.journal.heads}


def edit_balance(ledger):
    next(iter(ledger.journal.sums.values()))["owed"] += 1


def edit_item(ledger):
    items = payout(ledger).items
    items[0] = replace(items[0], line="l2")


def edit_accrued(ledger):
    position(ledger).accrued[("l1", "USD")] += 1


def edit_allocated(ledger):
    position(ledger).allocated[("l1", "USD")] -= 1


def edit_rate(ledger):
    frozen = position(ledger).frozen
    frozen["l1"] = replace(frozen["l1"], rate=replace(frozen["l1"].rate, value=Fraction(1, 5)))


def edit_credit(ledger):
    next(iter(ledger.credits.values())).accrued[("", "USD")] += 1


def edit_period(ledger):
    row = next(iter(ledger.periods["acme"][0].rows.values()))
    row.closing["owed"] += 1


def edit_volume(ledger):
    key = next(iter(ledger.volumes))
    ledger.volumes[key] += 1


EDITS = {
    edit_entry: "abcdf", edit_number: "af", edit_hash: "a", cut_the_chain: "abd", chain_anew: "bdf", edit_balance: "b",
    edit_item: "cd", edit_accrued: "d", edit_allocated: "d", edit_rate: "d", edit_credit: "d", edit_period: "f", edit_volume: "g",
}


@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: edit.__name__)
def test_what_was_changed_is_seen(ledger, edit):
    edit(ledger)
    letters = {letter for letter, _ in audit(ledger)}
    assert letters <= set(EDITS[edit]) and letters, letters


@pytest.mark.parametrize("state", ["SENT", "PAID", "VOID", "FAILED", "RETURNED"])
def test_a_state_without_its_memo_entry_or_posting_is_seen(ledger, state):
    payout(ledger).state = state
    assert "c" in {letter for letter, _ in audit(ledger)}


def test_a_payout_that_needed_approval_cannot_be_approved_by_an_edit(ledger):
    """An approval is a memo entry; without the memo entry the close's own state stands."""
    assert payout(ledger).state == "CLOSED"
    payout(ledger).state = "APPROVED"
    assert "c" in {letter for letter, _ in audit(ledger)}
