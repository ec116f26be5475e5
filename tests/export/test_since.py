"""`sluice export --since`: a full export and the changes after it are everything, once."""

import decimal
import itertools
import json
import resource
import shutil
import subprocess

import pytest
from harness import orders, paths
from harness.cli import Sluice
from harness.edge import Edge
from harness.http_block import EVENTS, http_block
from harness.serve import Serve
from serve import scene

from export.test_files import manifest_of, rows_of

NUMBERS = itertools.count(1)  # of orders, which all tests share
TABLES = ["changes", "journal", "journal_references"]
FORMATS = [(), ("--zstd",), ("--format", "csv"), ("--format", "csv", "--zstd")]


def cursor_of(folder, account="acme"):
    return {row["account_id"]: row["next_cursor"] for row in manifest_of(folder)["accounts"]}[account]


def entries(folder, table="journal", account="acme"):
    """Entries of an account by node and number; the account's references, likewise."""
    rows = rows_of(folder, table)
    found = {(row["node"], str(row["entry"])): row for row in rows if row.get("account_id", account) == account}
    assert len(found) == len([row for row in rows if row.get("account_id", account) == account])
    return found


class Shop:
    """Sends orders of both accounts, and applies them."""

    def __init__(self, site, edge):
        self.site, self.edge = site, edge
        self.acme, self.beta = site.secrets["acme-sender"], site.secrets["beta-sender"]

    def sell(self, count=1):
        """Orders with a code, the last one of them refunded, and one of the other account."""
        for _ in range(count):
            document = scene.order(f"since {next(NUMBERS)}", "SAVE")
            assert self.edge.post_event("shop-1", self.acme, "ORDER_CREATE", document).status == 200
        document.update(refund_line_items=[orders.refund("r", amount="10.00", tax="2.00")],
                        platform_updated_at="2030-01-01T00:00:00Z")
        assert self.edge.post_event("shop-1", self.acme, "ORDER_UPDATE", document).status == 200
        assert self.edge.post_event("shop-2", self.beta, "ORDER_CREATE", scene.order(f"since {next(NUMBERS)}", "SAVE")).status == 200
        self.site.sluice.drain()


@pytest.fixture
def shop(site):
    with Edge(http_block(EVENTS, limit="off"), store=site.sluice.store) as edge:
        edge.start()
        yield Shop(site, edge)


@pytest.fixture
def serve(site):
    folder = paths.make_folder()
    try:
        with Serve(site.sluice.store, folder, "--rate-limit", "1000000/60") as serve:
            yield serve.token(site.secrets["acme-manager"])
    finally:
        paths.drop_folder(folder)


@pytest.mark.parametrize("options", FORMATS)
def test_a_full_export_and_increments_have_every_entry_once(site, shop, options):
    shop.sell()
    first = site.export("first", *options)
    before, cursor = entries(first), cursor_of(first)
    gathered, parts = dict(before), []
    for number, count in enumerate((1, 0, 3)):
        if count:
            shop.sell(count)
        part = site.export(f"part-{number}", *options, "--since", cursor)
        manifest = manifest_of(part)
        assert [table["name"] for table in manifest["tables"]] == TABLES
        assert manifest["since"] == cursor and [row["account_id"] for row in manifest["accounts"]] == ["acme"]
        new = entries(part)
        assert not new.keys() & gathered.keys() and bool(new) == bool(count)
        assert (cursor_of(part) == cursor) == (not count)
        gathered.update(new)
        parts.append(part)
        cursor = cursor_of(part)
    last = site.export("last", *options)
    assert gathered == entries(last) and cursor == cursor_of(last)
    references = {key: row for folder in (first, *parts) for key, row in entries(folder, "journal_references").items()}
    assert references == entries(last, "journal_references")


def test_the_first_cursor_is_followed_by_nothing_and_an_empty_one_by_everything(site, serve):
    """Cursors of the feed and of exports are the same ones."""
    full = site.export("full")
    page = serve.object("changes", after=cursor_of(full))
    assert page == {"changes": [], "next": cursor_of(full), "more": False}
    start = serve.object("changes", limit=1)
    everything = site.export("everything", "--since", start["next"])
    whole = entries(full)
    own = {(start["changes"][0]["node"], str(row["entry"])) for row in start["changes"][0]["entries"]}
    assert entries(everything) == {key: row for key, row in whole.items() if key not in own}


def test_changes_equal_the_feed_and_are_proven(site, shop, serve):
    cursor = cursor_of(site.export("full"))
    shop.sell(2)
    scene.approve(site.sluice, ("--account", "acme"), "creator set")  # a change with a payee, which is masked
    part = site.export("part", "--since", cursor)
    lines = (part / "changes-0001.ndjson").read_text().split("\n")[:-1]
    feed = serve.object("changes", after=cursor, limit=1000)
    assert [json.loads(line) for line in lines] == feed["changes"] and feed["next"] == cursor_of(part)
    site.sluice("feed", "verify", part / "changes-0001.ndjson")
    in_csv = rows_of(site.export("csv", "--format", "csv", "--since", cursor), "changes")
    for row, change in zip(in_csv, feed["changes"], strict=True):
        assert json.loads(row.pop("entries")) == change.pop("entries")
        assert row == {name: "" if value is None else str(value) for name, value in change.items()}


def test_a_cursor_of_another_query_or_an_altered_one_is_refused(site, serve):
    good = cursor_of(site.export("full"))
    altered = ("A" if good[0] != "A" else "B") + good[1:]
    other = serve.object("journal", limit=1)["next"]
    for wrong in (altered, good[:-1], good + "A", other, "x", "A" * 3000):
        said = site.sluice.refuses("export", site.folder / "refused", "--since", wrong)
        assert "--since is not a cursor of this store" in said and "next_cursor" in said
        assert len(wrong) < 20 or wrong not in said
    assert not (site.folder / "refused").exists()


def test_a_ledger_that_has_gone_another_way_is_refused(site, shop):
    """Two copies of a store with different later changes, as after the restore of an older backup."""
    if site.server is not None:
        pytest.skip("the feed's own tests have it for PostgreSQL")
    shop.edge.stop()
    shutil.copytree(site.sluice.store, site.folder / "copy", symlinks=True)
    other = Sluice(site.folder / "copy")
    for number, sluice in enumerate((site.sluice, other), 1):
        sluice("credit", "--account", "acme", "--creator", "ann", "--program", "spring", "--amount", f"{number}.00 USD", *scene.WHY)
    cursor = cursor_of(site.export("full"))
    said = other.refuses("export", site.folder / "diverged", "--since", cursor)
    assert "not the one of the cursor" in said and "without --since" in said
    assert not (site.folder / "diverged").exists()


@pytest.mark.parametrize("options", FORMATS)
@pytest.mark.parametrize("database", ["duckdb", "clickhouse"])
def test_databases_add_each_change_once(site, shop, database, options):
    full = site.export("full", *options)
    shop.sell(2)
    part = site.export("part", *options, "--since", cursor_of(full))
    shop.sell(1)
    rest = site.export("rest", *options, "--since", cursor_of(part))
    query = ("SELECT count(*) AS n, CAST(sum(amount) AS {}) AS total, (SELECT count(*) FROM changes) AS changes, "
             "(SELECT count(*) FROM journal_references) AS referred FROM journal WHERE account_id = 'acme';").format(
                 {"duckdb": "VARCHAR", "clickhouse": "Nullable(String)"}[database])
    # A script that runs again, or too early, adds nothing twice.
    (row,) = site.load_all(database, [full, rest, part, part, rest], query)
    journal = site.sluice.json("report", "journal", "--account", "acme")
    assert int(row["n"]) == len(journal)
    assert decimal.Decimal(row["total"]) == sum(decimal.Decimal(entry["amount"] or 0) for entry in journal)
    assert int(row["changes"]) == len(rows_of(part, "changes")) + len(rows_of(rest, "changes"))
    assert int(row["referred"]) == len(rows_of(site.export("last"), "journal_references"))


def test_a_text_that_is_no_cursor_is_refused(tmp_path):
    sluice = Sluice(tmp_path / "store")
    sluice("init")
    sluice.account("acme")
    assert "--since is not a cursor" in sluice.refuses("export", tmp_path / "part", "--since", "x")


def test_a_write_that_fails_leaves_no_file(site):
    cursor = cursor_of(site.export("full"))
    folder = site.folder / "full-disk"
    run = subprocess.run([paths.SLUICE, "export", folder, "--since", cursor], env=site.sluice.environment,
                         capture_output=True, text=True, restore_signals=False,  # the program ignores SIGXFSZ, as Python does
                         preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)))
    assert run.returncode == 1 and "File too large" in run.stderr, run
    assert not folder.exists()
