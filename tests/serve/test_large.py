"""A list that an answer has no room for is cut, with a mark and a way to the rest: nothing is refused for good."""

import csv
import datetime
import io
import json

import pytest
from harness import orders
from harness.serve import ask, target_of
from serve.live import YESTERDAY, all_changes, recent, served_shop
from serve.test_changes import check_chain, hash_of

LINES = 12_000
MOST = 8 << 20


def later(minutes):
    at = datetime.datetime.strptime(YESTERDAY, "%Y-%m-%dT%H:%M:%SZ") + datetime.timedelta(minutes=minutes)
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")


def large(**changes):
    """An order that a shop with many small things sends: 12,000 lines, 1 MB."""
    lines = [orders.line(f"line-{number:05}", sku="s", amount="1.00", tax="0.00") for number in range(LINES)]
    return {**recent("large"), "amount": f"{LINES}.00", "tax": "0.00", "shipping": "0.00", "line_items": lines, **changes}


@pytest.fixture(scope="module", params=["lmdb", "postgres"])
def shop(request, tmp_path_factory):
    """The order is placed, cancelled and restored: three changes of 12,000 entries, then one of a small order."""
    ledger = request.getfixturevalue("postgres").create("large") if request.param == "postgres" else None
    with served_shop(tmp_path_factory.mktemp("made"), ledger=ledger, body="8m") as live:
        live.send("ORDER_CREATE", large())
        live.send("ORDER_CANCEL", large(platform_updated_at=later(1), platform_cancelled_at=later(1)))
        live.send("ORDER_UPDATE", large(platform_updated_at=later(2)))
        live.order("small")
        yield live


@pytest.fixture(scope="module")
def feed(shop):
    return all_changes(shop.reader, limit=1000)


def whole(shop, change):
    """The change with the entries that the feed had no room for."""
    entries = shop.reader.rows("change", node=change["node"], change=change["last"], limit=1000)
    return {name: value for name, value in change.items() if name != "entries_total"} | {"entries": entries}


def test_a_large_order_does_not_stop_its_accounts_feed(shop, feed):
    large_ones = [change for change in feed if "entries_total" in change]
    assert len(large_ones) == 3 and feed[-1]["entries"][0]["order_id"] == "small"
    for change in large_ones:
        assert change["entries_total"] == change["last"] - change["first"] + 1 >= LINES > len(change["entries"]) > 1000
        full = whole(shop, change)
        assert full["entries"][:len(change["entries"])] == change["entries"] and hash_of(full) == change["hash"]
    check_chain([whole(shop, change) if "entries_total" in change else change for change in feed])


def test_every_answer_of_the_feed_fits_and_pages_follow_one_another(shop, feed):
    found, after = [], {}
    while True:
        answer = shop.reader.get("changes", limit=1000, **after)
        assert answer.status == 200 and len(answer.body) <= MOST, answer
        page = answer.json()
        found += page["changes"]
        after = {"after": page["next"]}
        if not page["more"]:
            break
    assert found == feed


def test_one_change_is_found_by_any_of_its_numbers_and_others_are_404(shop, feed):
    change = next(one for one in feed if "entries_total" in one)
    for number in (change["first"], change["first"] + 7, change["last"]):
        page = shop.reader.object("change", node=change["node"], change=number, limit=1)
        assert page["change"] == {name: value for name, value in change.items() if name not in ("entries", "entries_total")}
        assert page["items"] == change["entries"][:1] and page["next"]
    for other in ({"node": change["node"], "change": feed[-1]["last"] + 1}, {"node": "x", "change": 1}):
        assert shop.reader.get("change", **other).status == 404


def test_feed_verify_counts_changes_that_were_cut_and_proves_whole_ones(shop, feed, tmp_path):
    file = tmp_path / "changes.ndjson"
    for lines, cut in ((feed, 3), ([whole(shop, one) if "entries_total" in one else one for one in feed], 0)):
        file.write_text("".join(json.dumps(line) + "\n" for line in lines))
        (row,) = shop.edge.sluice.json("feed", "verify", file)
        assert (row["cut"], row["hash"]) == (cut, feed[-1]["hash"])
    lines[-2]["entries"].pop()
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert shop.edge.sluice.run("feed", "verify", file).returncode == 1


def followed(reader, path, member, **parameters):
    """Every item of a list of an object."""
    items, after = [], {}
    while True:
        answer = reader.get(path, **parameters, **after)
        assert answer.status == 200 and len(answer.body) <= MOST, answer
        found = answer.json()
        items += found[member]
        marks = [mark for mark in found.get("cut", []) if mark["member"] == member]
        if not marks:
            return items
        assert marks[0]["from"] + marks[0]["shown"] == len(items) < marks[0]["total"]
        after = {"after": marks[0]["next"]}


def test_an_order_of_12000_lines_is_shown_whole(shop):
    explained = shop.edge.sluice.json("explain", "large", "--shop", "shop-1")
    first = shop.reader.object("order", shop="shop-1", order="large")
    assert first["answer"]["sentence"].startswith("1200.00 USD for ann") and first["cut"]
    for member in ("lines", "journal", "events", "accruals"):
        assert followed(shop.reader, "order", member, shop="shop-1", order="large") == explained[member], member
    cursor = first["cut"][0]["next"]
    answer = shop.reader.get("order", shop="shop-1", order="small", after=cursor)
    assert (answer.status, answer.code) == (400, "cursor_invalid")


def test_a_statement_of_36000_postings_is_shown_whole_in_each_format(shop):
    parameters = {"creator": "ann", "month": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m")}
    whole_one = shop.edge.sluice.json("report", "statement", "--account", "acme", "--creator", "ann", "--month", parameters["month"])
    statement = whole_one[0] if isinstance(whole_one, list) else whole_one
    assert len(statement["rows"]) > 3 * LINES
    assert followed(shop.reader, "statement", "rows", **parameters) == statement["rows"]
    lines, target = [], target_of("statement", {**parameters, "format": "csv"})
    while target:
        answer = asked(shop, target)
        page = list(csv.reader(io.StringIO(answer.body.decode())))
        lines += page if not lines else page[1:]
        link = answer.header("Link")
        target = link[1:link.index(">")] if link else None
    printed = shop.edge.sluice("report", "statement", "--account", "acme", "--creator", "ann", "--month", parameters["month"],
                               "--format", "csv")
    assert lines == list(csv.reader(io.StringIO(printed)))
    page = shop.reader.get("statement", **parameters, format="html").body.decode()
    assert "The next ones</a>" in page and f"of {len(statement['rows'])} postings" in page


def asked(shop, target):
    answer = ask(shop.reader.path, target, shop.reader.headers)
    assert answer.status == 200 and len(answer.body) <= MOST, answer
    return answer
