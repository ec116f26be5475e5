"""What the reports say against what the model says; every difference is named."""

from collections import defaultdict

from model.values import digits, instant, text, time_text


def check(history):
    """Drains, reads all reports of the history's shops, compares."""
    history.drain()
    for shop in history.shops:
        compare_orders(history, shop)
        compare_anomalies(history, shop)
        compare_products(history, shop)
    compare_journal(history)
    compare_balances(history)
    compare_payouts(history)


def run(history, steps):
    """So many steps, with a look at the reports now and then and at the end."""
    for number in range(steps):
        history.step()
        if number % 50 == 49:
            check(history)
    check(history)


def explain(history, shop, order_id):
    sent = [
        f"{topic} {body.decode()}"
        for where, topic, body in history.sent
        if where == shop and f'"platform_order_id":"{order_id}"'.encode() in body
    ]
    return f"\nseed {history.seed}, shop {shop}, order {order_id!r}:\n" + "\n".join(sent)


def compare_orders(history, shop):
    wanted = [row for row in history.ledger.report_orders() if row["shop_id"] == shop]
    found = history.sluice.report("orders", "--shop", shop)
    for row in found:
        row["attribution_types"] = sorted(row["attribution_types"])
    for row, right in zip(found, wanted):
        assert row == right, f"{difference(row, right)}{explain(history, shop, right['order_id'])}"
    assert [row["order_id"] for row in found] == [row["order_id"] for row in wanted]


def difference(row, right):
    return "; ".join(
        f"{name}: is {row.get(name, 'missing')!r}, should be {right.get(name, 'absent')!r}"
        for name in sorted(set(row) | set(right))
        if row.get(name, row) != right.get(name, right)
    )


def compare_journal(history):
    found = []
    for shop in history.shops:
        rows = history.sluice.report("journal", "--shop", shop)
        numbers = [row["entry"] for row in rows]
        assert numbers == sorted(set(numbers)), f"seed {history.seed}: entries out of order"
        found += rows
    by_entry = {row["entry"]: row for row in found}
    for row in history.seen_journal:
        assert by_entry[row["entry"]] == row, f"seed {history.seed}: an entry changed"
    history.seen_journal = found

    rows, wanted = defaultdict(list), defaultdict(list)
    for row in found:
        key = (row["shop_id"], row["order_id"], row["line_item_id"] or None, row["currency"])
        rows[key].append(row)
    for entry in history.ledger.journal:
        wanted[(entry.shop, entry.order, entry.line, entry.currency)].append(entry)
    for key in sorted(set(rows) | set(wanted), key=repr):
        entries = wanted[key]
        shown = [(r["event_seq"], r["amount"], r["reason"]) for r in rows[key]]
        right = [(e.seq, text(e.amount, digits(e.currency)), sorted(e.reasons)) for e in entries]
        where = f"{key}: is {shown}, should be {right}{explain(history, *key[:2])}"
        assert len(shown) == len(right), where
        for row, entry in zip(rows[key], entries):
            assert entry.seq is None or row["event_seq"] == entry.seq, where
            assert row["amount"] == text(entry.amount, digits(entry.currency)), where
            assert row["reason"] in entry.reasons, where
            assert (row["creator_id"], row["program_id"]) == (entry.creator, entry.program), where
            if row["reason"] not in ("ATTRIBUTION", "MANUAL"):
                earliest, latest = history.received[row["event_seq"]]
                at = instant(row["recorded_at"])
                # nginx's clock is cached; a second of slack is plenty.
                assert earliest - 10**9 <= at <= latest + 10**9, (row, earliest, latest)
    assert all(amount["amount"].strip("-0.") for amount in found), "a zero entry"


def compare_anomalies(history, shop):
    found = history.sluice.report("anomalies", "--shop", shop)
    rows = {(row["shop_id"], row["order_id"], row["kind"]): row for row in found}
    assert len(rows) == len(found), found
    wanted = {key: value for key, value in history.ledger.anomalies.items() if key[0] == shop}
    for key in sorted(set(rows) | set(wanted)):
        assert key in rows, f"{key} is missing{explain(history, *key[:2])}"
        assert key in wanted, f"{rows[key]} should not be{explain(history, *key[:2])}"
        seq, *counts = wanted[key]
        assert rows[key]["event_seq"] == seq, f"{rows[key]}, first {seq}{explain(history, *key[:2])}"
        assert rows[key]["count"] in counts, f"{rows[key]}: {counts}{explain(history, *key[:2])}"
        assert rows[key]["message"].strip()


def compare_balances(history):
    found = {}
    for row in history.sluice.report("balances"):
        if row["account_id"] == history.account:
            figures = {name: row[name] for name in ("pending", "payable", "paid", "total")}
            found[(row["program_id"], row["creator_id"], row["currency"])] = figures
    wanted = history.ledger.report_balances(history.now)
    for key in sorted(set(found) | set(wanted)):
        nothing = dict.fromkeys(("pending", "payable", "paid", "total"), text(0, digits(key[2])))
        is_, right = found.get(key, nothing), wanted.get(key, nothing)
        assert is_ == right, f"seed {history.seed}, {key}: is {is_}, should be {right}"


def compare_payouts(history):
    found = [
        (row["program_id"], row["creator_id"], row["currency"], row["amount"], row["until"])
        for row in history.sluice.report("payouts")
        if row["program_id"] in history.programs
    ]
    wanted = [
        (program, creator, currency, text(amount, digits(currency)), time_text(until))
        for program, creator, currency, amount, until in history.ledger.payouts
    ]
    assert sorted(found) == sorted(wanted), f"seed {history.seed}"


def compare_products(history, shop):
    catalog = history.ledger.catalogs.get(shop)
    wanted = [{**record, "shop_id": shop} for record in catalog.records.values()] if catalog else []

    def key(row):
        return (row["platform_product_id"], row.get("language") or "", row.get("country") or "")

    found = history.sluice.report("products", "--shop", shop)
    assert sorted(map(key, found)) == sorted(map(key, wanted)), f"seed {history.seed}"
    for row, right in zip(sorted(found, key=key), sorted(wanted, key=key)):
        assert row == right, f"seed {history.seed}: {difference(row, right)}"
