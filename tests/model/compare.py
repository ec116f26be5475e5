"""Compares the reports with the model; names every difference."""

import json
import re
from fractions import Fraction

from model.books import causes, listings
from model.books.audit import audit
from model.books.journal import PROOF
from model.books.rates import month_of
from model.values import time_text


def run(history, steps):
    """Runs so many steps, and compares the reports at intervals and at the end."""
    for number in range(steps):
        history.step()
        if number % 50 == 49:
            check(history)
    check(history)


def check(history):
    """Everything that reports show of the history's account."""
    history.take_in()
    history.edge.drain(1000)
    reports, now = history.edge.reports()
    # Where histories share a ledger the entries of one do not begin with 1.
    wrong = [found for found in audit(history.ledger) if found[0] != "a" or not history.place.entries]
    assert not wrong, f"seed {history.seed}: {wrong}"
    assert not reports["broken"], f"seed {history.seed}: {reports['broken']}"
    compare_journal(history, reports["journal"])
    compare_orders(history, reports["orders"], now)
    compare_anomalies(history, reports["anomalies"])
    compare_products(history, reports["products"])
    wanted = {
        "balances": listings.balances(history.ledger, history.account, now),
        "payouts": listings.payout_rows(history.ledger, history.account),
        "items": [
            row for name in sorted(history.ledger.payouts)
            for row in listings.payout_items(history.ledger.payouts[name])
        ],
        "approvals": listings.approvals(history.ledger, history.account),
        "codes": codes(history.ledger),
    }
    if "codes" in reports:  # a code keeps the case that it was first imported with
        reports["codes"] = sorted(([program, code.lower(), *row] for program, code, *row in reports["codes"]), key=repr)
    for name in sorted(set(wanted) & set(reports)):
        same(reports[name], wanted[name], f"seed {history.seed}, {name}")
    compare_statements(history, now)
    for name, count in history.counters.items():
        assert reports["stats"][name] == count, f"seed {history.seed}: {name}"
    assert reports["stats"]["dead"] == 0


def same(found, wanted, where):
    """Rows in order, or objects that hold such rows."""
    if isinstance(found, dict) and isinstance(wanted, dict):
        assert sorted(found) == sorted(wanted), f"{where}: {difference(found, wanted)}"
        for name in found:
            same(found[name], wanted[name], f"{where}, {name}")
        return
    if isinstance(found, list) and isinstance(wanted, list):
        for number, (row, right) in enumerate(zip(found, wanted)):
            if isinstance(row, dict):
                assert row == right, f"{where}, row {number}: {difference(row, right)}"
            assert row == right, f"{where}, row {number}: is {row}, should be {right}"
        more, missing = found[len(wanted):], wanted[len(found):]
        assert not more and not missing, f"{where}: should not be: {more[:3]}; is missing: {missing[:3]}"
        return
    assert found == wanted, f"{where}: is {found}, should be {wanted}"


def same_run(found, wanted, where):
    """Compares the output of a close or preview. Creators without a payout may come in any order."""
    for run in (found, wanted):
        if run is not None:
            run["skipped"].sort(key=lambda row: (row["creator_id"], row["currency"], row["skip_reason"]))
    same(found, wanted, where)


def difference(row, right):
    names = sorted(name for name in set(row) | set(right) if row.get(name, "none") != right.get(name, "none"))
    whole = json.dumps({name: value for name, value in row.items() if name not in names}, ensure_ascii=False)
    told = "; ".join(f"{n}: is {row.get(n, 'missing')!r}, should be {right.get(n, 'absent')!r}" for n in names)
    return f"{told} in {whole}"


def explain(history, shop, order_id):
    sent = [
        f"{topic} {body.decode()}"
        for where, topic, body in history.sent
        if where == shop and json.loads(body)["platform_order_id"] == order_id
    ]
    return f"\nseed {history.seed}, shop {shop}, order {order_id!r}:\n" + "\n".join(sent)


def compare_orders(history, found, now):
    wanted = listings.orders(history.ledger, history.account, now)
    for row, right in zip(found, wanted):
        row["attribution_types"] = sorted(row["attribution_types"])
        assert row == right, f"{difference(row, right)}{explain(history, right['shop_id'], right['order_id'])}"
    assert [row["order_id"] for row in found] == [row["order_id"] for row in wanted]


def compare_journal(history, found):
    """Entry by entry; the hash of the last entry of a group stands for every byte before it."""
    for row, before in zip(found, history.seen_journal):
        shown = {"line_item_id": before["line_item_id"]} if row["reason"] == "PAYEE_CHANGED" else {}
        assert {**row, **shown} == before, f"seed {history.seed}: an entry changed"  # a forget hides the payee
    assert len(found) >= len(history.seen_journal)
    history.seen_journal = [dict(row) for row in found]
    for place, row in enumerate(found):  # the model does not know the bytes of a pending command
        if row["reason"] == "PENDING" and history.ledger.journal.entries[place].line == PROOF:
            assert re.fullmatch("[0-9a-f]{64} [A-Z_]+", row["line_item_id"]), row
            history.ledger.journal.prove(place, row["line_item_id"])
    begins = 0
    for place, row in enumerate(found, 1):
        if row["hash"]:  # the last entry of a group
            for entry in found[begins:place]:
                assert (entry.pop("first"), entry.pop("last")) == (begins + 1, place), f"seed {history.seed}, entry {entry['entry']}"
            begins = place
    for row, right, hash_ in zip(found, listings.journal(history.ledger, history.account), history.ledger.journal.hashes):
        shown = row.pop("hash")
        where = f"seed {history.seed}, entry {right['entry']}"
        if row != right:
            order = explain(history, right["shop_id"], right["order_id"]) if right["order_id"] else ""
            raise AssertionError(f"{where}: {difference(row, right)}{order}")
        assert shown in (None, hash_.hex()), where
        assert row["amount"] is None or row["amount"].strip("-0."), f"{where}: a zero entry"
    assert len(found) == len(history.ledger.journal.entries), f"seed {history.seed}: {len(found)} entries"


def compare_anomalies(history, found):
    def key(row):
        return row["shop_id"], row["order_id"], row["kind"]

    for row in found:
        assert row.pop("message").strip()
        row["value"], row["acknowledged_value"] = seen(row["value"]), seen(row["acknowledged_value"])
    wanted = sorted(listings.anomalies(history.ledger, history.account), key=key)
    for row, right in zip(sorted(found, key=key), wanted):
        assert row == right, f"{difference(row, right)}{explain(history, right['shop_id'], right['order_id'])}"
    assert len(found) == len(wanted), f"seed {history.seed}: {set(map(key, found)) ^ set(map(key, wanted))}"


def seen(value):
    """The value of an anomaly (K6), whatever digits its amount has."""
    if value is None or " " not in value:
        return value
    amount, currency = value.split(" ")
    return [str(Fraction(amount)), currency]


def compare_products(history, found):
    wanted = [
        {**record, "shop_id": shop} for shop, catalog in history.ledger.catalogs.items() for record in catalog.records.values()
    ]

    def key(row):
        return row["shop_id"], row["platform_product_id"], row.get("language") or "", row.get("country") or ""

    same(sorted(found, key=key), sorted(wanted, key=key), f"seed {history.seed}, products")


def codes(ledger):
    rows = [
        [name, code, row.creator, time_text(row.valid_from), None if row.valid_until is None else time_text(row.valid_until)]
        for name, program in ledger.programs.items() for code, owners in program.codes.items() for row in owners
    ]
    return sorted(rows, key=repr)


def compare_causes(history):
    """Why each order is, or is not, each creator's. Returns the causes that came up."""
    found, now = history.edge.causes()
    wanted = causes.all_causes(history.ledger, history.account, now)
    assert found.keys() == wanted.keys(), f"seed {history.seed}: {found.keys() ^ wanted.keys()}"
    for key, cause in found.items():
        right = wanted[key]
        assert cause in right if isinstance(right, set) else cause == right, (
            f"seed {history.seed}, {key}: is {cause}, should be {right}{explain(history, key[0], key[1])}")
    return set(found.values())


def compare_statements(history, now):
    """Compares one month for each creator; over time every month is compared."""
    for creator in history.creators:
        month = month_of(now - history.chance.randrange(90) * 86400 * 10**9)
        if (history.account, creator) not in history.ledger.profiles:
            continue  # never in a program
        shown = history.edge.statement(creator, month)
        shown.pop("payouts")
        wanted = listings.statement(history.ledger, history.account, creator, month)
        same(shown, wanted, f"seed {history.seed}, statement {creator} {month}")
