"""DuckDB and ClickHouse load an export with the scripts that come with it, and have the sums of the reports."""

import decimal
import json
import re

import pytest
from harness import paths

from export.conftest import LARGEST, ODD

OPTIONS = [(), ("--zstd",), ("--format", "csv"), ("--format", "csv", "--zstd")]
DATABASES = ["duckdb", "clickhouse"]
# Amounts as texts, because JSON's numbers are not exact.
TEXT = {"duckdb": "VARCHAR", "clickhouse": "Nullable(String)"}


def sums(rows, key):
    found = {}
    for row in rows:
        name = tuple(row[column] for column in key)
        count, total = found.get(name, (0, 0))
        found[name] = count + int(row.get("n", 1)), total + decimal.Decimal(row["total"] or 0)
    return found


def of_report(rows, key, value):
    return sums([{**row, "total": row[value]} for row in rows], key)


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("database", DATABASES)
def test_sums_of_a_database_equal_the_reports(site, database, options):
    folder = site.export("loaded", *options)
    text, report = TEXT[database], site.sluice.json
    queries = [
        ("orders", "commission_amount", ("commission_currency", "program_id"), report("report", "orders")),
        ("journal", "amount", ("reason", "currency"), report("report", "journal", "--all-accounts")),
        ("balances", "payable", ("account_id", "program_id", "currency"), report("report", "balances", "--all-accounts")),
        ("payouts", "amount", ("state", "currency"), report("report", "payouts", "--all-accounts")),
    ]
    query = " UNION ALL ".join(
        f"SELECT '{table}' AS name, CAST(coalesce({(*key, 'NULL')[0]}, '') AS {text}) AS a, "
        f"CAST({(*key, 'NULL', 'NULL')[1]} AS {text}) AS b, CAST({(*key, 'NULL', 'NULL')[2]} AS {text}) AS c, "
        f"count(*) AS n, CAST(sum({value}) AS {text}) AS total FROM {table} GROUP BY 1, 2, 3, 4"
        for table, value, key, _ in queries)
    rows = site.load(database, folder, f"SELECT * FROM ({query}) AS every;")
    for table, value, key, reported in queries:
        found = [row for row in rows if row["name"] == table]
        wanted = of_report(reported, key, value)
        assert {name[:len(key)]: value for name, value in sums(found, ("a", "b", "c")).items()} == wanted, table


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("database", DATABASES)
def test_odd_texts_reach_a_database(site, database, options):
    folder = site.export("odd-loaded", *options)
    text = TEXT[database]
    rows = site.load(database, folder, "SELECT order_id AS text FROM orders UNION ALL SELECT sku FROM commissions "
                                       "UNION ALL SELECT title FROM products UNION ALL SELECT note FROM journal "
                                       f"UNION ALL SELECT CAST(amount AS {text}) FROM orders;")
    found = [row["text"] for row in rows]
    for odd in ODD:
        assert found.count(odd) == 3, odd
    assert LARGEST in found and 'said "so", again; =now' in found


@pytest.mark.parametrize("options", OPTIONS)
def test_lists_and_times_reach_a_database(site, options):
    folder = site.export("types-loaded", *options)
    query = ("SELECT order_id, attribution_types, length(payouts) AS payouts FROM orders "
             "WHERE shop_id = 'shop-1' AND order_id IN ('o1', 'o3') ORDER BY order_id;")
    for database in DATABASES:
        paid, free = site.load(database, folder, query)
        assert (paid["attribution_types"], int(paid["payouts"])) == (["AFFILIATE_CODE"], 1)
        assert (free["attribution_types"], int(free["payouts"])) == ([], 0)
    (row,) = site.load("duckdb", folder, "SELECT min(epoch_us(ordered_at)) AS first FROM orders "
                                         "WHERE ordered_at > '2024-03-01T10:00:00Z';")
    assert int(row["first"]) == 1709287200123456
    (row,) = site.load("clickhouse", folder, "SELECT toString(min(ordered_at)) AS first FROM orders "
                                             "WHERE ordered_at > '2024-03-01 10:00:00';")
    assert row["first"] == "2024-03-01 10:00:00.123456789"


def test_duckdb_writes_a_parquet_file_that_it_reads_back(site):
    folder = site.export("parquet")
    (row,) = site.load("duckdb", folder, "SELECT count(*) AS n, (SELECT count(*) FROM (FROM orders EXCEPT ALL "
                                         "FROM 'orders.parquet')) AS more, (SELECT count(*) FROM (FROM 'orders.parquet' "
                                         "EXCEPT ALL FROM orders)) AS other FROM 'orders.parquet';")
    assert (int(row["n"]), int(row["more"]), int(row["other"])) == (len(site.sluice.json("report", "orders")), 0, 0)
    assert (folder / "orders.parquet").read_bytes()[:4] == b"PAR1"


def test_the_documented_query_cuts_months_in_utc_whatever_the_zone_of_the_analyst(site):
    """A late entry of January in New York is one of February in the ledger."""
    folder = site.export("zones")
    file = folder / "journal-0001.ndjson"
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    dates = ["2026-02-01T03:00:00.5Z", "2026-02-28T23:59:59.999999999Z"]
    file.write_text("".join(json.dumps({**row, "accounting_date": dates[number % 2]}) + "\n" for number, row in enumerate(rows)))
    blocks = re.findall("```sql\n(.*?)```", (paths.ROOT / "docs" / "export.md").read_text(), re.S)
    (documented,) = (block for block in blocks if "date_trunc" in block)
    setting, query = documented.split(";\n", 1)
    assert setting == "SET TimeZone = 'UTC'"
    months = f"SELECT DISTINCT strftime(month, '%Y-%m') AS month FROM ({query.strip().rstrip(';')}) ORDER BY month;"
    for zone in ("America/New_York", "Pacific/Kiritimati"):
        cut = site.load("duckdb", folder, f"{setting};\n{months}", TZ=zone)
        assert [row["month"] for row in cut] == ["2026-02"], zone
        unset = site.load("duckdb", folder, months, TZ=zone)
        assert len(unset) == 2, "without the setting the zone moves entries into another month"


@pytest.mark.parametrize("options", [(), ("--format", "csv"), ("--zstd",)])
def test_duckdb_sniffs_every_file_and_finds_every_row(site, options):
    folder = site.export("sniffed", *options)
    manifest = json.loads((folder / "manifest.json").read_text())
    tables = [file for file in manifest["files"] if file["rows"] is not None]
    assert len(tables) >= 12
    for file in tables:
        (row,) = site.query("duckdb", folder, f"SELECT count(*) AS n FROM '{file['name']}';")
        assert int(row["n"]) == file["rows"], file["name"]


def test_sniffing_destroys_amounts_of_csv_and_times_of_ndjson(site):
    """docs/export.md says so; `duckdb.sql` keeps both."""
    folder = site.export("sniffed", "--format", "csv")
    (row,) = site.query("duckdb", folder, "SELECT typeof(any_value(amount)) AS kind, CAST(max(amount) AS VARCHAR) AS most FROM 'orders-0001.csv';")
    assert row["kind"] == "DOUBLE" and row["most"] != LARGEST
    folder = site.export("sniffed")
    (row,) = site.query("duckdb", folder, "SELECT typeof(any_value(amount)) AS amount, typeof(any_value(ordered_at)) AS time "
                                          "FROM 'orders-0001.ndjson';")
    assert (row["amount"], row["time"]) == ("VARCHAR", "VARCHAR")
    (folder / "ids.csv").write_text("id\n1.10\n1.1\n")
    (row,) = site.query("duckdb", folder, "SELECT count(DISTINCT id) AS n FROM 'ids.csv';")
    assert int(row["n"]) == 1
