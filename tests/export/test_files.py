"""The files of `sluice export`: complete, described by their manifest, and equal to the views and reports."""

import csv
import datetime
import decimal
import hashlib
import io
import json
import random
import re
import resource
import subprocess
import time

import pytest
from harness import paths

from export.conftest import LARGEST, ODD

TABLES = ["orders", "positions", "commissions", "journal", "journal_references", "balances", "payouts", "payout_items", "anomalies",
          "products", "periods", "period_sums", "links", "click_days", "link_days"]
VIEWS_PAGE, EXPORT_PAGE = (paths.ROOT / "docs" / name for name in ("postgresql.md", "export.md"))


def manifest_of(folder):
    """The manifest, after every file was compared with it."""
    manifest = json.loads((folder / "manifest.json").read_text())
    named = {file["name"]: file for file in manifest["files"]}
    assert sorted(path.name for path in folder.iterdir()) == sorted([*named, "manifest.json"])
    for name, file in named.items():
        path = folder / name
        content = path.read_bytes()
        assert (hashlib.sha256(content).hexdigest(), len(content)) == (file["sha256"], file["bytes"]), name
        assert path.stat().st_mode & 0o777 == 0o600
    assert folder.stat().st_mode & 0o777 == 0o700
    for table in manifest["tables"]:
        assert table["rows"] == sum(file["rows"] for file in manifest["files"] if file["table"] == table["name"])
    return manifest


def text_of(path):
    if path.suffix == ".zst":
        return subprocess.run(["zstd", "-dqc", path], check=True, capture_output=True).stdout.decode()
    return path.read_bytes().decode()


def rows_of(folder, table):
    """Rows as dictionaries of JSON values, or of texts for CSV, in the order of the files."""
    rows = []
    for file in json.loads((folder / "manifest.json").read_text())["files"]:
        if file["table"] == table:
            text = text_of(folder / file["name"])
            found = (list(csv.DictReader(io.StringIO(text, newline=""))) if ".csv" in file["name"]
                     else [json.loads(line) for line in text.split("\n")[:-1]])
            assert len(found) == file["rows"]
            rows += found
    return rows


@pytest.mark.parametrize("options", [(), ("--zstd",), ("--format", "csv"), ("--format", "csv", "--zstd")])
def test_the_manifest_has_every_file_with_rows_and_digest(site, options):
    folder = site.export("files", *options)
    manifest = manifest_of(folder)
    assert [table["name"] for table in manifest["tables"]] == TABLES
    assert {"duckdb.sql", "clickhouse.sql"} < {file["name"] for file in manifest["files"]}
    assert manifest["compression"] == ("zstd" if "--zstd" in options else None)
    (node,) = manifest["snapshot"]
    assert node["applied_seq"] == site.sluice.json("queue", "stats")["applied_seq"]
    for table in manifest["tables"]:
        rows = rows_of(folder, table["name"])
        # The scene has no entry of an earlier month.
        assert table["rows"] > 0 or table["name"] in ("period_sums", "journal_references")
        for row in rows:
            assert list(row) == [column["name"] for column in table["columns"]]


def columns_of_the_page(page, cells):
    """{table: columns} of a table of a page, whose last of so many cells has the columns."""
    return {name: columns.split(", ") for name, columns in
            re.findall(rf"^\| `(\w+)` \|{' [^|]+ [|]' * (cells - 2)} ([^|]+) \|$", page.read_text(), re.M)}


def views_of_the_page():
    return columns_of_the_page(VIEWS_PAGE, 3)


def test_tables_have_the_columns_of_the_pages(site):
    """The columns of the view, in its order, and results of rules."""
    manifest = manifest_of(site.export("columns"))
    found = {table["name"]: [column["name"] for column in table["columns"]] for table in manifest["tables"]}
    views, further = views_of_the_page(), columns_of_the_page(EXPORT_PAGE, 2)
    assert {*views, *further} < {*TABLES} and len(views) == 8
    for name in {*views, *further}:
        assert sorted(found[name]) == sorted(views.get(name, []) + further.get(name, [])), name
        assert [column for column in found[name] if column in views.get(name, [])] == views.get(name, []), name


def comparable(value):
    """Equal for equal numbers and instants, whichever program wrote them. Views have microseconds."""
    if not isinstance(value, str):
        return value
    if re.fullmatch(r"-?\d{1,30}(\.\d{1,12})?", value):
        return decimal.Decimal(value)
    time_of = re.fullmatch(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?(Z|\+00:00)", value)
    return time_of[1] + (time_of[2] or ".")[:7].ljust(7, "0") if time_of else value


def sorted_rows(rows):
    return sorted(({name: comparable(value) for name, value in row.items()} for row in rows), key=repr)


def numbers_as_texts(text):
    return json.loads(text, parse_float=str)


def test_the_tables_equal_the_views(site):
    """The views of docs/postgresql.md, read by PostgreSQL itself; each has columns of the table of its name."""
    if site.server is None:
        pytest.skip("the embedded ledger has no views")
    folder = site.export("views")
    amounts = {column["name"] for table in json.loads((folder / "manifest.json").read_text())["tables"]
               for column in table["columns"] if column["type"] == "amount"}
    pages = views_of_the_page()
    assert {name for (name,) in site.server.query("SELECT viewname FROM pg_views WHERE schemaname = 'public'")} == {*pages}
    for view, columns in pages.items():
        query = f"SET timezone = 'UTC'; SELECT encode(convert_to(row_to_json(v)::text, 'UTF8'), 'hex') FROM {view} v"
        viewed = [numbers_as_texts(bytes.fromhex(row).decode()) for (row,) in site.server.query(query)]
        for row in viewed:
            assert list(row) == columns
            row.update({name: str(row[name]) for name in amounts & set(row) if row[name] is not None})
        exported = [{name: row[name] for name in columns} for row in rows_of(folder, view)]
        assert sorted_rows(exported) == sorted_rows(viewed), view


def test_csv_has_the_rows_of_ndjson(site):
    lines, table = site.export("lines"), site.export("table", "--format", "csv")

    def as_csv(value):
        if isinstance(value, list) and all(isinstance(one, str) and ";" not in one for one in value):
            return ";".join(value)
        return "" if value is None else value if isinstance(value, str) else json.dumps(value).lower()

    for name in set(TABLES) - {"products", "balances"}:
        wanted = [{column: as_csv(value) for column, value in row.items()} for row in rows_of(lines, name)]
        assert rows_of(table, name) == wanted, name
    for row, wanted in zip(rows_of(table, "products"), rows_of(lines, "products"), strict=True):
        assert json.loads(row["tags"] or "null") == wanted["tags"]
        assert json.loads(row["other_fields"] or "null") == wanted["other_fields"]
        assert row["title"] == wanted["title"]


@pytest.mark.parametrize("options", [(), ("--format", "csv")])
def test_odd_texts_survive(site, options):
    folder = site.export("odd", *options)
    orders = rows_of(folder, "orders")
    assert {row["order_id"] for row in orders} > set(ODD)
    assert {row["sku"] for row in rows_of(folder, "commissions")} > set(ODD)
    assert {row["title"] for row in rows_of(folder, "products")} > set(ODD)
    assert [row["amount"] for row in orders if row["order_id"] == "large"] == [LARGEST]
    assert 'said "so", again; =now' in {row["note"] for row in rows_of(folder, "journal")}
    assert "2024-03-01T10:00:00.123456789Z" in {row["ordered_at"] for row in orders}


def sums(rows, key, value):
    found = {}
    for row in rows:
        name = tuple(row[column] for column in key)
        found[name] = found.get(name, 0) + decimal.Decimal(row[value] or 0)
    return found


def test_sums_equal_the_reports(site):
    folder = site.export("sums")
    report = site.sluice.json
    for table, name, key, value in [
        ("orders", "orders", ("commission_currency", "program_id"), "commission_amount"),
        ("orders", "orders", ("currency",), "refund_amount"),
        ("journal", "journal", ("reason", "currency"), "amount"),
        ("balances", "balances", ("account_id", "program_id", "currency"), "total"),
        ("balances", "balances", ("account_id", "program_id", "currency"), "payable"),
        ("payouts", "payouts", ("state", "currency"), "amount"),
        ("anomalies", "anomalies", ("kind",), "count"),
    ]:
        every = () if name in ("orders", "anomalies") else ("--all-accounts",)
        rows = report("report", name, *every)
        assert sums(rows_of(folder, table), key, value) == sums(rows, key, value), table
        assert len(rows_of(folder, table)) == len(rows)
    assert len(rows_of(folder, "products")) == len(report("report", "products"))
    assert len(rows_of(folder, "periods")) == sum(
        len(report("period", "list", "--account", account)) for account in ("acme", "beta"))


def test_creators_have_their_first_ids(site):
    """So that orders and balances can be joined with the journal after a rename."""
    folder = site.export("names")
    for table in ("orders", "journal", "balances"):
        ids = {row["creator_id"] for row in rows_of(folder, table)}
        assert "bob" in ids and "robert" not in ids, table


# -- Folders ------------------------------------------------------------------------------------------------------


def test_a_folder_with_files_is_refused(site):
    folder = site.folder / "used"
    folder.mkdir(exist_ok=True)
    (folder / "x").write_text("mine")
    said = site.sluice.refuses("export", folder)
    assert f'"{folder}" has files' in said and "new or empty" in said
    assert [path.name for path in folder.iterdir()] == ["x"]
    assert "Not a directory" in site.sluice.refuses("export", folder / "x")
    assert "FOLDER" in site.sluice.refuses("export", code=2)
    assert "expected ndjson or csv" in site.sluice.refuses("export", site.folder / "n", "--format", "xml", code=2)
    assert not (site.folder / "n").exists()


def test_an_empty_folder_and_folders_above_it_are_fine(site):
    (site.folder / "empty").mkdir(mode=0o700)
    site.sluice("export", site.folder / "empty")
    site.sluice("export", site.folder / "deep" / "er" / "export")
    manifest_of(site.folder / "empty")
    manifest_of(site.folder / "deep" / "er" / "export")


def test_a_write_that_fails_leaves_no_file(site):
    folder = site.folder / "full"
    run = subprocess.run([paths.SLUICE, "export", folder], env=site.sluice.environment, capture_output=True, text=True,
                         restore_signals=False,  # Python ignores SIGXFSZ, and so does the program
                         preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)))
    assert run.returncode == 1 and "File too large" in run.stderr, run
    assert not folder.exists()


def test_a_killed_export_has_no_manifest_unless_it_is_complete(site):
    """kill -9 at random points."""
    chance = random.Random(31)
    outcomes = set()
    for number in range(40):
        folder = site.folder / f"killed-{number}"
        process = subprocess.Popen([paths.SLUICE, "export", folder], env=site.sluice.environment,
                                   stdout=subprocess.DEVNULL)
        deadline = time.monotonic() + chance.uniform(0.0, 0.2)
        files = chance.randint(0, 14)
        while time.monotonic() < deadline and process.poll() is None and len(list(folder.glob("*"))) < files:
            time.sleep(0.0005)
        process.kill()
        process.wait()
        if (folder / "manifest.json").exists():
            manifest_of(folder)
            outcomes.add("complete")
        else:
            outcomes.add("incomplete")
    assert "incomplete" in outcomes


def test_the_time_of_the_balances_is_named(site):
    before = datetime.datetime.now(datetime.timezone.utc)
    manifest = manifest_of(site.export("time"))
    at = datetime.datetime.fromisoformat(manifest["as_of"][:26].rstrip("Z") + "+00:00")
    assert before <= at <= datetime.datetime.now(datetime.timezone.utc)
