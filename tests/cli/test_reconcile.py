"""`sluice reconcile`: a shop's own list of orders against both ledgers."""
import csv
import datetime
import io
import json
import os
import random
import subprocess

import pytest
from harness import orders, postgres
from harness.edge import Edge
from program import PROGRAM, sluice
from test_ledger import HTTP, Shop

WINDOW = ("--since", "2024-01-01T00:00:00Z", "--until", "2025-01-01T00:00:00Z")
COUNT = 24
LEDGERS = ["embedded", pytest.param("postgres", marks=pytest.mark.skipif(
    bool(postgres.missing()), reason=str(postgres.missing())))]


class Site(Shop):
    def __init__(self, edge, folder, ledger):
        self.ledger, self.payloads = ledger, {}
        super().__init__(edge, folder)

    def run(self, *line, status=0):
        in_ledger = line[0] in ("program", "creator", "worker", "report")
        return super().run(*line, *(self.ledger if in_ledger else ()), status=status)

    def sell(self, name, **changes):
        payload = orders.order(name, **changes)
        answer = self.edge.post_event("shop-1", self.secret, "ORDER_CREATE", payload)
        assert answer.status == 200, answer
        self.payloads[name] = payload

    def drain(self):
        self.run("worker", "--until-empty")

    def export(self):
        """The rows of `report orders`, and their header."""
        text = self.run("report", "orders", "--format", "csv").out
        rows = list(csv.DictReader(io.StringIO(text)))
        return list(rows[0]), rows

    def csv(self, header, rows, name="list.csv"):
        out = io.StringIO()
        table = csv.DictWriter(out, header, extrasaction="ignore")
        table.writeheader()
        table.writerows(rows)
        return self.file(name, out.getvalue())

    def ndjson(self, payloads, name="list.ndjson"):
        return self.file(name, "".join(json.dumps(one) + "\n" for one in payloads))

    def reconcile(self, path, *line, status=0):
        run = sluice("reconcile", path, "--shop", "shop-1", "--format", "json", *self.ledger, *line, store=self.store)
        assert run.status == status, run
        return run.json() if run.out else run.err

    def summary(self, path, *line):
        run = sluice("reconcile", path, "--shop", "shop-1", *self.ledger, *line, store=self.store)
        assert run.status == 0, run
        return run.out.splitlines()[-1]

    def found(self, path, *line, status=0):
        """(class, order) of each row."""
        return sorted({(row["class"], row["order_id"]) for row in self.reconcile(path, *line, status=status)})


@pytest.fixture(scope="module", params=LEDGERS)
def site(request, tmp_path_factory):
    with Edge(HTTP, workers=1) as edge, postgres.Server() if request.param == "postgres" else NoServer() as server:
        ledger = ()
        if request.param == "postgres":
            ledger = ("--ledger", server.create())
            assert sluice("ledger", "migrate", *ledger).status == 0
        site = Site(edge.start(), tmp_path_factory.mktemp("site"), ledger)
        for number in range(COUNT):
            day = datetime.datetime(2024, 3, 1) + datetime.timedelta(hours=number)
            time = day.isoformat() + "Z"
            site.sell(f"o{number}", platform_ordered_at=time, platform_updated_at=time,
                      platform_cancelled_at=time if number == 7 else None)
        site.drain()
        yield site


class NoServer:
    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


@pytest.mark.parametrize("seed", range(3))
def test_finds_exactly_the_orders_that_an_export_lacks(site, seed):
    """`extra` for orders that the list lacks, `missing` for those that the ledger lacks."""
    chance = random.Random(seed)
    header, rows = site.export()
    assert len(rows) == COUNT
    gone = chance.sample(rows, chance.randint(1, 9))
    kept = [row for row in rows if row not in gone]
    added = [dict(row, order_id=row["order_id"] + "-lost") for row in chance.sample(rows, 4)]
    path = site.csv(header, chance.sample(kept + added, len(kept) + len(added)))
    wanted = [("extra", row["order_id"]) for row in gone] + [("missing", row["order_id"]) for row in added]
    assert site.found(path, *WINDOW) == sorted(wanted)
    assert site.found(path) == sorted(pair for pair in wanted if pair[0] == "missing")


def test_what_differs_is_named_with_both_values(site):
    """Versions first; at one version every field that differs; amounts by value."""
    _, rows = site.export()
    named = {row["order_id"]: row for row in rows}
    named["o1"].update(amount="105.5")
    named["o2"].update(amount="105", tax="20.000000")  # the same values
    named["o3"].update(last_updated_at="2024-04-01 02:00:00 +0200")
    named["o4"].update(last_updated_at="2024-02-01T00:00:00Z", amount="1")
    named["o5"].update(tax="1", shipping="2.00", currency="EUR")
    named["o6"].update(cancelled_at="2024-03-02T00:00:00Z")
    named["o7"].update(cancelled_at="")
    path = site.csv(list(rows[0]), rows)
    found = [(row["class"], row["order_id"], row["field"], row["file"], row["ledger"]) for row in site.reconcile(path)]
    assert sorted(found) == [
        ("different", "o1", "amount", "105.5", "105.00"),
        ("different", "o5", "currency_code", "EUR", "USD"),
        ("different", "o5", "shipping", "2.00", "5.00"),
        ("different", "o5", "tax", "1", "20.00"),
        ("different", "o6", "platform_cancelled_at", "cancelled", "not cancelled"),
        ("different", "o7", "platform_cancelled_at", "not cancelled", "cancelled"),
        ("newer", "o4", "platform_updated_at", "2024-02-01T00:00:00Z", "2024-03-01T04:00:00Z"),
        ("stale", "o3", "platform_updated_at", "2024-04-01T00:00:00Z", "2024-03-01T03:00:00Z"),
    ]
    only = site.found(path, "--only", "stale,newer")
    assert only == [("newer", "o4"), ("stale", "o3")]


def test_bad_rows_are_unreadable_and_the_others_are_compared(site):
    """Line and field of a wrong value."""
    path = site.file("bad.csv", "platform_order_id,amount,platform_updated_at,currency_code\n"
                     "o1,1.2.3,,USD\n,105.00,,USD\no2,105.00,yesterday,USD\no3,105.00,,usd\no4,105.00\nnone,1,,\n")
    found = [(row["class"], row["line"], row["field"], row["file"]) for row in site.reconcile(path)]
    assert found == [
        ("unreadable", 2, "amount", "1.2.3"), ("unreadable", 3, "platform_order_id", None),
        ("unreadable", 4, "platform_updated_at", "yesterday"), ("unreadable", 5, "currency_code", "usd"),
        ("unreadable", 6, None, None), ("missing", 7, None, None),
    ]
    path = site.file("bad.ndjson", '{"platform_order_id": "o1", "amount": 105}\n{"platform_order_id": \n[]\n\n'
                     '{"amount": "1.00"}\n{"platform_order_id": "o1", "note": "' + "x" * (1 << 20) + '"}\n')
    found = [(row["class"], row["line"], row["field"]) for row in site.reconcile(path)]
    assert found == [("unreadable", 1, "amount"), ("unreadable", 2, None), ("unreadable", 3, None),
                     ("unreadable", 5, "platform_order_id"), ("unreadable", 6, None)]


def test_payloads_are_compared_and_the_missing_ones_written_for_send(site, tmp_path):
    """`--write-events` has the payloads, byte for byte, that the ledger lacks."""
    lost = orders.order("lost", platform_updated_at="2024-03-05T10:00:00Z")
    newer = dict(site.payloads["o3"], platform_updated_at="2024-03-09T10:00:00Z")
    broken = {"platform_order_id": "thin", "amount": "1.00"}
    path = site.ndjson([*site.payloads.values(), lost, newer, broken])
    out = tmp_path / "out.ndjson"
    rows = site.reconcile(path, "--write-events", out)
    assert [(row["class"], row["order_id"]) for row in rows] == [("missing", "lost"), ("stale", "o3"), ("missing", "thin")]
    assert rows[2]["note"].startswith("not written: "), rows
    assert [json.loads(line) for line in out.read_text().splitlines()] == [lost, newer]
    site.reconcile(path, "--write-events", out, "--only", "missing")
    assert [json.loads(line) for line in out.read_text().splitlines()] == [lost]
    checked = sluice("send", "events", out, "--check")
    assert checked.status == 0, checked


def test_files_of_other_programs_are_read(site):
    """Byte order marks, CRLF, line breaks in quotes, times with zones, a header that begins like a mark."""
    path = site.folder / "windows.csv"
    path.write_bytes("\ufeffplatform_order_id,note,amount,platform_updated_at\r\n"
                     '"o1","two\r\nlines, ""quoted""",105.00,2024-03-01 02:00:00 +0100\r\n\r\n'
                     "o2,,105.00,2024-02-29 21:00:00 -0500\r\n".encode())
    assert site.found(path, "--check") == []
    path.write_bytes("ｎｏｔｅ,platform_order_id\nx,o1\n".encode())
    assert site.found(path, "--map", "amount=ｎｏｔｅ") == [("unreadable", "o1")]
    path = site.folder / "marked.ndjson"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(site.payloads["o1"]).encode() + b"\r\n")
    assert site.found(path, "--check") == []
    path = site.folder / "marked.txt"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(site.payloads["o1"]).encode() + b"\n")
    assert site.found(path, "--check") == []


def test_ids_that_no_event_can_have_are_unreadable(site):
    """A file in another encoding ends neither command nor session, also on PostgreSQL."""
    path = site.folder / "latin.csv"
    path.write_bytes(b"platform_order_id,amount\nBestellung-\xe4,1\nnul\0,1\no1,105.00\n" + b"x" * 1025 + b",1\n")
    found = [(row["class"], row["line"], row["field"]) for row in site.reconcile(path)]
    assert found == [("unreadable", line, "platform_order_id") for line in (2, 3, 5)]
    path = site.file("nul.ndjson", '{"platform_order_id": "a\\u0000b"}\n')
    assert [(row["class"], row["line"]) for row in site.reconcile(path)] == [("unreadable", 1)]


def test_an_order_that_is_listed_twice_is_compared_once(site, tmp_path):
    lost = orders.order("twice")
    path = site.ndjson([lost, site.payloads["o1"], lost, site.payloads["o1"]])
    out = tmp_path / "out.ndjson"
    assert [(row["class"], row["line"]) for row in site.reconcile(path, "--write-events", out)] == [("missing", 1)]
    assert [json.loads(line) for line in out.read_text().splitlines()] == [lost]
    assert "0 missing" in site.summary(site.ndjson([site.payloads["o1"]] * 3)) and "1 same" in site.summary(site.folder / "list.ndjson")
    versions = [site.payloads["o1"], dict(site.payloads["o1"], platform_updated_at="2024-02-01T00:00:00Z", amount="1")]
    assert site.found(site.ndjson(versions)) == [("newer", "o1")]  # another version is another statement


def test_a_row_for_each_item_is_one_order_if_the_rows_agree(site):
    """Exports of TikTok Shop, Etsy, Magento and WooCommerce repeat the order's total."""
    path = site.file("items.csv", "Order ID,SKU,Order Amount\no1,A,105.00\no2,C,105\no1,B,105\nlost,A,9\nlost,B,9.00\n")
    mapped = ("--map", "platform_order_id=Order ID,amount=Order Amount")
    assert site.found(path, *mapped) == [("missing", "lost")]
    assert site.summary(path, *mapped).startswith("1 missing") and "2 same" in site.summary(path, *mapped)
    path = site.file("items.csv", "Order ID,SKU,Line Amount\no1,A,105.00\no1,B,5.00\n")  # not the order's total
    (row,) = site.reconcile(path, "--map", "platform_order_id=Order ID,amount=Line Amount", "--check", status=1)
    assert (row["class"], row["line"], row["note"]) == ("unreadable", 3, "line 2 has other values of this order")


def test_a_mapped_member_that_a_row_lacks_is_unreadable(site):
    """It was never compared, and the row counted as `same`."""
    rows = [{"platform_order_id": "o1", "total": "105.00"}, {"platform_order_id": "o2", "Total": "999.99"}]
    found = site.reconcile(site.ndjson(rows), "--map", "amount=total", "--check", status=1)
    assert [(row["class"], row["line"], row["field"]) for row in found] == [("unreadable", 2, "amount")]
    assert "'total', which --map names" in found[0]["note"]
    nothing = site.csv(["platform_order_id", "Total"], [{"platform_order_id": "o1", "Total": ""}])
    run = sluice("reconcile", nothing, "--shop", "shop-1", "--map", "amount=Total", "--check", *site.ledger, store=site.store)
    assert run.status == 1 and "no row has a value in 'Total'" in run.err, run


def test_members_below_others_are_mapped_and_parts_are_no_orders(site):
    """A bulk export of Shopify: line items are rows of their own, with the order's id in __parentId."""
    rows = [
        {"id": "o1", "totalPriceSet": {"shopMoney": {"amount": "105.0", "currencyCode": "USD"}}},
        {"id": "gid://shopify/LineItem/1", "__parentId": "o1", "quantity": 1},
        {"id": "o2", "totalPriceSet": {"shopMoney": {"amount": "1.0", "currencyCode": "USD"}}},
        {"id": "o3", "totalPriceSet": None}, {"id": "o4", "totalPriceSet": {}},
        {"id": "o5", "totalPriceSet.shopMoney.amount": "105.00", "totalPriceSet": {"shopMoney": {"currencyCode": "USD"}}},
    ]
    mapped = "platform_order_id=id,amount=totalPriceSet.shopMoney.amount,currency_code=totalPriceSet.shopMoney.currencyCode"
    assert site.found(site.ndjson(rows), "--map", mapped) == [("different", "o2"), ("unreadable", "o4")]
    assert site.found(site.ndjson([{"id": 5838, "total": "1.00"}]), "--map", "platform_order_id=id,amount=total") == [
        ("missing", "5838")]


def test_ids_that_a_spreadsheet_changed_are_never_missing(site):
    for name in ("000123", "583870900000000001"):
        if name not in site.payloads:
            site.sell(name)
    site.drain()
    same = ("\to1", "o1 ", " o2\u00a0", "'o3", '"=""o4"""', "583870900000000001\t", "'000123")
    path = site.file("ids.csv", "platform_order_id,amount\n" + "".join(f"{name},105.00\n" for name in same))
    assert site.found(path, "--check") == []
    wrong = ("123", "5.8387E+17", "583870900000000000", "7")
    path = site.file("ids.csv", "platform_order_id,amount\n" + "".join(f"{name},105.00\n" for name in wrong))
    rows = site.reconcile(path)
    assert [(row["class"], row["order_id"], row["field"]) for row in rows] == [
        ("unreadable", "123", "platform_order_id"), ("unreadable", "5.8387E+17", "platform_order_id"),
        ("unreadable", "583870900000000000", "platform_order_id"), ("missing", "7", None)]
    assert "the ledger has 000123" in rows[0]["note"] and all("as text" in row["note"] for row in rows[:3])
    extra = [name for kind, name in site.found(path, *WINDOW) if kind == "extra"]
    assert "000123" not in extra and "583870900000000001" in extra


@pytest.mark.parametrize("name, data, words", [
    ("a.csv", b"ID;Reference;Total\no1;X;105,00\n", "separated by ';': read it with --separator ';'"),
    ("a.csv", b"ID;Total, net;Date\no1;105;x\n", "--separator ';'"),
    ("a.csv", b"ID\tTotal\no1\t105\n", "separated by tabs: read it with --separator tab"),
    ("a.csv", b"sep=;\nID;Total\no1;105\n", "its first line is 'sep=;': read it with --separator ';'"),
    ("a.csv", b"sep=,\nID,Total\no1,105\n", "its first line is 'sep=': read it with --separator ','"),
    ("a.csv", b"Number,Total\no1,105\n", "its columns are 'Number', 'Total'"),
    ("a.csv", "ID\tTotal\no1\t105\n".encode("utf-16"), "UTF-16: convert it with `iconv"),
    ("a.csv", "ID\tTotal\no1\t105\n".encode("utf-16-be"), "UTF-16"),
    ("a.csv", b"PK\x03\x04\x14\x00", "spreadsheets (.xlsx"),
    ("a.csv", b"\x1f\x8b\x08\x00", "compressed"),
    ("a.json", b'[\n {"ID": "o1"}\n]', "JSON array"),
    ("a.ndjson", b'[{"ID": "o1"}]', "JSON array"),
    ("a.json", b'{\n "ID": "o1"\n}\n', "JSON over several lines"),
])
def test_a_refusal_names_the_kind_of_the_file(site, name, data, words):
    path = site.folder / name
    path.write_bytes(data)
    run = sluice("reconcile", path, "--shop", "shop-1", "--map", "platform_order_id=ID,amount=Total", *site.ledger,
                 store=site.store)
    assert run.status == 1 and words in run.err, run


def test_a_separator_is_given(site):
    for text, separator in (("sep=;\nID;Total, net\no1;105.00\n", ";"), ("\n\nID;Total, net\no1;105.00\n", ";"),
                            ("ID\tTotal, net\no1\t105.00\n", "tab"), ('sep=,\nID,"Total, net"\no1,105.00\n', ",")):
        path = site.file("other.csv", text)
        mapped = ("--map", "amount=Total, net,platform_order_id=ID", "--separator", separator)
        assert site.found(path, *mapped, "--check") == [], text


def test_check_and_settle(site):
    """Exit 1 for what needs a person; an order within --settle may still be on its way."""
    young = datetime.datetime.now(datetime.timezone.utc).isoformat().replace("+00:00", "Z")
    same = list(site.payloads.values())
    path = site.ndjson(same + [orders.order("young", platform_updated_at=young)])
    assert site.found(path, "--check") == []
    assert site.found(path, "--check", "--settle", "0s", status=1) == [("missing", "young")]
    newer = dict(same[0], platform_updated_at="2024-01-09T10:00:00Z", platform_ordered_at="2024-01-09T10:00:00Z")
    assert site.found(site.ndjson([newer]), "--check") == [("newer", "o0")]
    assert site.found(site.ndjson(same[1:]), "--check", *WINDOW, status=1) == [("extra", "o0")]


def test_waits_for_the_inputs_of_its_start(site):
    """Inputs that the queue holds are applied first."""
    name = f"late-{len(site.payloads)}"
    payload = orders.order(name)
    answer = site.edge.post_event("shop-1", site.secret, "ORDER_CREATE", payload)
    assert answer.status == 200, answer
    path = site.ndjson([payload], "late.ndjson")
    assert site.found(path, "--no-wait", "--settle", "0s") == [("missing", name)]
    with Worker(site):
        assert site.found(path, "--settle", "0s") == []
    site.payloads[name] = payload


class Worker:
    """The worker, for as long as the block lasts."""

    def __init__(self, site):
        self.site = site

    def __enter__(self):
        self.process = subprocess.Popen([str(PROGRAM), "worker", *self.site.ledger],
                                        env={**os.environ, "SLUICE_STORE": str(self.site.store)},
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        assert self.process.wait(30) == 0


SHOPIFY = """Name,Email,Financial Status,Currency,Subtotal,Shipping,Taxes,Total,Created at,Lineitem name,Cancelled at,Id
#1001,ann@example.org,paid,USD,100.00,5.00,20.00,105.00,2024-03-01 01:00:00 +0100,Hat,,o0
#1001,ann@example.org,,,,,,,2024-03-01 01:00:00 +0100,Scarf,,
#1002,ben@example.org,voided,USD,100.00,5.00,20.00,105.00,2024-03-01 08:00:00 +0100,Hat,2024-03-01 09:00:00 +0100,o7
#1003,cyd@example.org,paid,USD,100.00,5.00,20.00,115.00,2024-03-01 02:00:00 +0100,Hat,,o1
#1004,dan@example.org,paid,USD,100.00,5.00,20.00,105.00,2024-03-01 02:00:00 +0100,Hat,,9004
"""
SHOPIFY_MAP = ("platform_order_id=Id,platform_ordered_at=Created at,platform_cancelled_at=Cancelled at,"
               "amount=Total,tax=Taxes,shipping=Shipping,currency_code=Currency")
WOOCOMMERCE = """order_id,order_number,date,status,shipping_total,tax_total,order_total,order_currency,billing_email
o0,o0,2024-03-01 00:00:00,completed,5,20,105,USD,ann@example.org
o2,o2,2024-03-01 02:00:00,processing,5,19,105,USD,ben@example.org
9005,9005,2024-03-01 03:00:00,completed,5,20,105,USD,cyd@example.org
"""
WOOCOMMERCE_MAP = ("platform_order_id=order_id,platform_ordered_at=date,amount=order_total,tax=tax_total,"
                   "shipping=shipping_total,currency_code=order_currency")


def test_exports_of_shopify_and_woocommerce_are_read_by_map(site):
    """The columns of the shops' own exports; a further line item is no further order."""
    shopify = site.file("shopify.csv", SHOPIFY)
    assert site.found(shopify, "--map", SHOPIFY_MAP) == [("different", "o1"), ("missing", "9004")]
    woocommerce = site.file("woocommerce.csv", WOOCOMMERCE)
    assert site.found(woocommerce, "--map", WOOCOMMERCE_MAP) == [("different", "o2"), ("missing", "9005")]


@pytest.mark.parametrize("text, line, status, words", [
    ("id,amount\no1,1\n", (), 1, "no column platform_order_id"),
    ("platform_order_id\no1\n", ("--map", "amount=Total"), 1, "no column 'Total'"),
    ("", (), 1, "no column platform_order_id"),
    ('platform_order_id\n"o1\n', (), 1, "never closed"),
    ("platform_order_id,note\no1," + "x" * (1 << 20) + "\n", (), 1, "longer than 1 MB"),
    ("platform_order_id\no1\n", ("--write-events", "out.ndjson"), 1, "NDJSON"),
    ("platform_order_id\no1\n", ("--since", "2024-01-02T00:00:00Z", "--until", "2024-01-01T00:00:00Z"), 1, "--since before"),
    ("platform_order_id\no1\n", ("--since", "2024-01-02T00:00:00Z"), 2, "--until"),
    ("platform_order_id\no1\n", ("--map", "colour=Red"), 2, "platform_order_id, platform_ordered_at"),
    ("platform_order_id\no1\n", ("--map", "amount=A,amount=B"), 2, "twice"),
    ("platform_order_id\no1\n", ("--only", "same"), 2, "missing, stale"),
    ("platform_order_id\no1\n", ("--separator", ";;"), 2, "one character"),
    ("platform_order_id\no1\n", ("--settle", "soon"), 2, "10m"),
    ("platform_order_id,amount,amount\no1,1,2\n", (), 1, "two columns 'amount'"),
])
def test_bad_input(site, text, line, status, words):
    run = sluice("reconcile", site.file("x.csv", text), "--shop", "shop-1", *line, *site.ledger, store=site.store)
    assert run.status == status and words in run.err, run


def test_an_unknown_shop_is_named(site):
    run = sluice("reconcile", site.file("y.csv", "platform_order_id\n"), "--shop", "shop-9", store=site.store)
    assert run.status == 1 and "shop-9" in run.err, run
