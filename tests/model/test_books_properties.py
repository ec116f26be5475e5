"""Invariants of every history: sums, items, each amount once, keys, rebuild, closed months.

The histories are the same in every run. SLUICE_BOOKS=n tries n times as many.
"""

import os
from fractions import Fraction

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from model.books import attribution, events, payouts, periods, plausibility, rates, reports
from model.books.audit import audit
from model.books.journal import EXPENSE, OWED, PAID, PAYOUT
from model.books.world import STEPS, World

MORE = int(os.environ.get("SLUICE_BOOKS", "1"))
COMMON = {"deadline": None, "derandomize": True, "suppress_health_check": list(HealthCheck)}
NUMBER = st.integers(0, 10**6)
WEIGHTED = ["event"] * 5 + ["refund", "close", "move", "move", "by hand"] * 3 + ["approve"] * 2 + list(STEPS)
STEP = st.tuples(st.sampled_from(WEIGHTED), NUMBER, NUMBER, NUMBER, NUMBER)
HISTORY = st.lists(STEP, min_size=5, max_size=40)


def played(history):
    world = World()
    for step in history:
        world.step(*step)
    return world


@settings(max_examples=150 * MORE, **COMMON)
@given(HISTORY)
def test_the_auditor_finds_nothing_after_any_step(history):
    world = World()
    for step in history:
        before = len(world.ledger.journal.entries)
        world.step(*step)
        postings = [e for e in world.ledger.journal.entries[before:] if not e.is_memo]
        for currency in {e.currency for e in postings}:
            moved = [e for e in postings if e.currency == currency]
            assert sum(e.into(account) for e in moved for account in (EXPENSE, OWED, PAYOUT, PAID)) == 0
        keys = [(e.program, e.creator, e.shop, e.order, e.line, e.currency, e.payout, e.seq, e.node) for e in postings]
        assert len(keys) == len(set(keys)), "J1: one posting per line, currency and input"
        world.check()


@settings(max_examples=150 * MORE, **COMMON)
@given(HISTORY)
def test_a_payout_always_equals_its_items(history):
    world, seen = World(), {}
    for step in history:
        world.step(*step)
        for payout_id, payout in world.ledger.payouts.items():
            assert payout.amount == sum(item.amount for item in payout.items) > 0
            assert all(item.amount for item in payout.items)
            assert seen.setdefault(payout_id, list(payout.items)) == payout.items


@settings(max_examples=200 * MORE, **COMMON)
@given(HISTORY)
def test_open_again_pays_each_amount_once(history):
    """Whatever happened between void, failure, return and the last close, the accrued amount is allocated once, or the
    creator owes."""
    world = played(history)
    ledger = world.ledger
    for payout in list(ledger.payouts.values()):
        for verb in ("void", "failed"):
            world.command({"do": verb, "ids": [payout.payout_id]})
    for order in ledger.orders.values():
        order.held = False
        for kind, anomaly in order.anomalies.items():
            if anomaly.showing and anomaly.acknowledged_by is None:
                plausibility.acknowledge(ledger, world.input(), order, kind)
    ledger.held_creators.clear()
    ledger.policies.clear()
    world.now += 100 * 86400 * 10**9
    result = world.command({"do": "payout close", "until": world.now})
    assert {why for *_, why in result.skipped} <= {"NOT_POSITIVE"}
    owing = {(creator, currency) for creator, currency, *_ in result.skipped}
    for _, unit in ledger.units("acme"):
        for currency in unit.currencies():
            if (unit.creator, currency) not in owing:
                assert unit.allocated_in(currency) == unit.accrued_in(currency)
    for (_, _, creator, currency), sums in ledger.journal.sums.items():
        if (creator, currency) not in owing:
            assert sums[OWED] == 0
    assert audit(ledger) == []
    again = world.command({"do": "payout close", "until": world.now})
    assert again.payouts == [] and again.skipped == result.skipped


@settings(max_examples=200 * MORE, **COMMON)
@given(HISTORY, st.integers(0, 60))
def test_nothing_is_paid_that_was_not_accrued_at_t_or_is_not_accrued_now(history, days):
    world = played(history)
    until = world.now - days * 86400 * 10**9
    result = world.command({"do": "payout close", "until": until, "ignore_minimum": True})
    allocated = {}
    for payout_id in result.payouts:
        payout = world.ledger.payouts[payout_id]
        for item in payout.items:
            unit = payouts.unit_of(world.ledger, payout, item)
            allocated[(id(unit), payout.currency)] = unit
    for (_, currency), unit in allocated.items():
        then = sum(unit.side(currency, until).values(), Fraction(0))
        assert unit.allocated_in(currency) == min(then, unit.accrued_in(currency))


@settings(max_examples=100 * MORE, **COMMON)
@given(HISTORY)
def test_commands_replayed_with_their_keys_change_nothing(history):
    world = played(history)
    entries = list(world.ledger.journal.entries)
    for at, command in world.keyed:
        result = world.ledger.command(type(at)(**{**at.__dict__, "seq": at.seq + 10**6}), command)
        assert result.outcome in ("repeated", "pending", "refused")  # the last: it was withdrawn
        other = world.ledger.command(type(at)(**{**at.__dict__, "reason": "another"}), command)
        assert other.outcome == "refused"
    assert world.ledger.journal.entries == entries
    assert audit(world.ledger) == []


@settings(max_examples=60 * MORE, **COMMON)
@given(HISTORY)
def test_a_rebuild_gives_the_same_bytes(history):
    ledger = played(history).ledger
    again = ledger.rebuilt()
    assert again.journal.hashes == ledger.journal.hashes
    assert again.payouts == ledger.payouts and again.orders == ledger.orders
    assert again.periods == ledger.periods and again.volumes == ledger.volumes


@settings(max_examples=100 * MORE, **COMMON)
@given(HISTORY)
def test_a_closed_month_never_changes(history):
    world, printed = World(), {}
    for step in [*history, ("period", 0, 0, 0, 0), *history]:
        world.step(*step)
        closed = world.ledger.closed_until("acme")
        for month in ("2025-12", "2026-01", "2026-02", "2026-03"):
            for creator in ("ann", "ben"):
                statement = periods.statement(world.ledger, "acme", creator, month)
                if rates.month_bounds(month)[1] <= closed:
                    assert statement["status"] == "closed"
                    assert printed.setdefault((creator, month), statement) == statement
                for sums in statement["sums"].values():
                    earned = sums["opening"] + sums["earned"] + sums["adjusted"] - sums["paid_out"]
                    assert earned == sums["closing"]


@settings(max_examples=100 * MORE, **COMMON)
@given(HISTORY)
def test_balances_add_up(history):
    world = played(history)
    for row in reports.balances(world.ledger, "acme", world.now).values():
        assert row["owed"] == row["pending"] + row["blocked"] + row["payable"]
        assert row["total"] == row["owed"] + row["in_payout"] + row["paid"]


@settings(max_examples=100 * MORE, **COMMON)
@given(HISTORY)
def test_a_preview_equals_its_close(history):
    world = played(history)
    at = world.input()
    paid, skipped = payouts.plan(world.ledger, at, {"until": world.now})
    result = world.command({"do": "payout close", "until": at.received, "expect": payouts.run_digest(paid)})
    assert result.outcome == "done" and result.skipped == skipped
    if paid:
        late = world.command({"do": "payout close", "until": at.received, "expect": result.digest})
        assert late.outcome == "refused"


@settings(max_examples=100 * MORE, **COMMON)
@given(HISTORY)
def test_what_an_import_did_not_find_no_later_event_finds(history):
    """A2: after every import and apply, no order waits that A1 would give to a creator."""
    world = World()
    for step in history:
        world.step(*step)
        if step[0] == "imports":
            for order in world.ledger.orders.values():
                if order.live is None and not order.barred:
                    assert attribution.choose(world.ledger, order) is None, order


@settings(max_examples=200 * MORE, **COMMON)
@given(st.integers(0, 10**6), st.lists(st.integers(0, 10**5), min_size=1, max_size=9), st.sampled_from([0, 2, 3]))
def test_shares_sum_to_the_amount(amount, weights, places):
    amount = Fraction(amount, 10**places)
    shared = rates.share(amount, {f"l{n}": Fraction(w) for n, w in enumerate(weights)}, places)
    assert sum(shared.values()) == (amount if any(weights) else 0)
    for n, weight in enumerate(weights):
        if any(weights):
            assert abs(shared[f"l{n}"] - amount * weight / sum(weights)) < Fraction(1, 10**places)


@settings(max_examples=150 * MORE, **COMMON)
@given(HISTORY, NUMBER, NUMBER)
def test_a_refund_never_raises_another_line(history, which, how):
    world = played(history)
    order = world.order(which)
    if order is None or order.live is None:
        return
    before = rates.commissions(order, order.position)
    refunded = order.refunded()
    world.refund(which, how)
    after = rates.commissions(order, order.position)
    for line, amount in after.items():
        if order.refunded().get(line, 0) == refunded.get(line, 0):
            assert amount == before.get(line, amount)


@settings(max_examples=100 * MORE, **COMMON)
@given(st.permutations(range(6)), st.lists(st.sampled_from(["d1", "d2", None]), min_size=6, max_size=6))
def test_the_device_id_does_not_depend_on_the_order_of_arrival(arrival, devices):
    """O4: the newest version that stated one."""

    class Known:
        device = device_version = None

    for version in arrival:
        events.state_device(Known, {"svc_anon_id": devices[version]}, version)
    stated = [(version, device) for version, device in enumerate(devices) if device]
    assert (Known.device_version, Known.device) == (max(stated) if stated else (None, None))


@settings(max_examples=150 * MORE, **COMMON)
@given(HISTORY, NUMBER)
def test_detach_and_attribute_undo_each_other(history, which):
    """A3: back to the creator it had, an order has its frozen rates and what was accrued."""
    world = played(history)
    order = world.order(which)
    if order is None or order.live is None:
        return
    program, creator = order.live
    position = order.position
    accrued, frozen = dict(position.accrued), dict(position.frozen)
    assert world.command({"do": "detach", "order": order.order_id}).outcome == "done"
    assert all(not line for line, _ in position.accrued), "only what was posted by hand stays"
    command = {"do": "attribute", "order": order.order_id, "creator": creator, "program": program}
    assert world.command(command).outcome == "done"
    assert order.position is position
    assert (position.accrued, position.frozen) == (accrued, frozen)


@settings(max_examples=150 * MORE, **COMMON)
@given(HISTORY, NUMBER, NUMBER, NUMBER)
def test_a_dry_run_equals_its_command(history, what, which, how):
    world = played(history)
    command = {"do": "creator import", "rows": [
        {"creator": ("ann", "ben")[which % 2], "program": "spring", "code": ("ANN", "BEN", "LATE")[what % 3],
         "valid_from": world.now - how % 100 * 86400 * 10**9},
    ]}
    at = world.input()
    before, hashes = reports.accruals(world.ledger), list(world.ledger.journal.hashes)
    had = reports.owners(world.ledger)
    trial, rows = reports.dry_run(world.ledger, at, command)
    assert world.ledger.journal.hashes == hashes and reports.accruals(world.ledger) == before
    assert world.ledger.command(at, command).outcome == trial.outcome
    after, found = reports.accruals(world.ledger), {}
    moved = reports.handed_over(had, reports.owners(world.ledger))
    for key in set(before) | set(after) | moved:
        change = after.get(key, 0) - before.get(key, 0)
        if change or key in moved:
            orders, sum_ = found.get(key[1:], (0, 0))
            found[key[1:]] = (orders + 1, sum_ + change)
    assert found == {key: (orders, now - then) for key, (orders, then, now) in rows.items()}
