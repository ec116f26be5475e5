"""From a signed order to every report, through the real nginx, queue, worker and ledger."""
import csv
import datetime
import io
import json
import os
import shutil
import signal
import socket
import struct
import subprocess

import pytest
from harness import orders, paths
from harness.cli import now
from harness.edge import Edge
from harness.http_block import CATALOG, EVENTS, http_block
from program import PROGRAM, sluice

HTTP = http_block(EVENTS, CATALOG, "add_header X-Receipt $sluice_receipt;", map_size="256m")
PROGRAM_FILE = """
[[program]]
id = "spring"
account = "acme"
default_rate = "10%"
late_days = 36500
"""


class Shop:
    def __init__(self, edge, folder):
        self.edge, self.folder, self.store = edge, folder, edge.store
        self.run("account", "create", "acme")
        self.run("shop", "create", "shop-1", "--account", "acme")
        self.secret = self.json("token", "create", "--account", "acme", "--scope",
                                "write_orders,write_products")["secret"]
        self.run("program", "apply", self.file("p.toml", PROGRAM_FILE))
        self.run("creator", "import", self.file("c.csv", "creator_id,program_id,code\nann,spring,SAVE\n"))

    def file(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def run(self, *line, status=0):
        run = sluice(*line, store=self.store)
        assert run.status == status, (line, run)
        assert status == 0 or len(run.err.splitlines()) == (1 if status == 1 else 2), run.err
        return run

    def json(self, *line):
        return self.run(*line, "--format", "json").json()

    def doctor(self, *line):
        """Its findings, whatever its exit status."""
        return sluice("doctor", *line, "--format", "json", store=self.store).json()

    def send(self, order_id, code="SAVE", **changes):
        discounts = [{"code": code, "type": "DISCOUNT_CODE", "value_type": "PERCENTAGE", "value": "10"}]
        document = orders.order(order_id, discounts=discounts, **changes)
        answer = self.edge.post_event("shop-1", self.secret, "ORDER_CREATE", document)
        assert answer.status == 200, answer
        return answer.header("X-Receipt")

    def drain(self):
        self.run("worker", "--until-empty")


@pytest.fixture
def shop(tmp_path):
    with Edge(HTTP, workers=1) as edge:
        yield Shop(edge.start(), tmp_path)


@pytest.fixture
def sold(shop):
    """Two orders: one attributed to ann, one unattributed."""
    shop.send("o1")
    shop.send("o2", code="NOBODYS", platform_ordered_at="2024-05-01T00:00:00Z", platform_updated_at="2024-05-01T00:00:00Z")
    shop.drain()
    return shop


def test_what_waits_is_seen_and_then_applied(shop):
    shop.send("o1")
    shop.send("o2")
    assert shop.json("queue", "stats")["depth"] == 2  # one may still be in a lane, without a number
    shop.run("queue", "move")
    stats = shop.json("queue", "stats")
    assert (stats["depth"], stats["last_seq"] - stats["applied_seq"]) == (2, 2)
    rows = shop.json("queue", "peek")
    assert [list(row) for row in rows] == [["seq", "topic", "shop_id", "received_at", "trace", "bytes", "body"]] * 2
    assert json.loads(rows[0]["body"])["platform_order_id"] == "o1"
    assert rows[0]["bytes"] == len(rows[0]["body"].encode())
    assert len(shop.json("queue", "peek", "--limit", 1)) == 1
    assert [row["seq"] for row in shop.json("queue", "peek", "--from", rows[1]["seq"])] == [rows[1]["seq"]]
    target = shop.folder / "export.ndjson"
    shop.run("queue", "export", target)
    assert [json.loads(line) for line in target.read_text().splitlines()] == rows
    assert target.stat().st_mode & 0o777 == 0o600
    shop.drain()
    stats = shop.json("queue", "stats")
    assert (stats["depth"], stats["applied"], stats["commands"], stats["dead"]) == (0, 2, 2, 0)
    assert shop.json("queue", "peek") == []


def test_report_orders(sold):
    rows = sold.json("report", "orders")
    assert [row["order_id"] for row in rows] == ["o1", "o2"]
    assert list(rows[0]) == [
        "order_id", "shop_id", "account_id", "creator_id", "program_id", "attribution_types", "commission_amount",
        "accrued", "commission_currency", "amount", "tax", "shipping", "refund_amount", "refund_tax", "currency",
        "cancelled_at", "ordered_at", "last_updated_at", "status", "blocked_by", "payouts", "node"]
    assert [row["status"] for row in rows] == ["payable", "waiting"]
    assert rows[0]["creator_id"] == "ann" and rows[0]["attribution_types"] == ["AFFILIATE_CODE"]
    assert rows[0]["commission_amount"] == "8.00"  # 10 % of 100.00 - 20.00
    assert (rows[1]["creator_id"], rows[1]["commission_amount"]) == (None, "0.00")
    assert [r["order_id"] for r in sold.json("report", "orders", "--creator", "ann")] == ["o1"]
    assert [r["order_id"] for r in sold.json("report", "orders", "--from", "2024-05-01T00:00:00Z")] == ["o2"]
    assert [r["order_id"] for r in sold.json("report", "orders", "--to", "2024-05-01T00:00:00Z")] == ["o1"]
    assert "there is no shop shop-2" in sold.run("report", "orders", "--shop", "shop-2", status=1).err
    as_csv = list(csv.DictReader(io.StringIO(sold.run("report", "orders", "--format", "csv").out)))
    assert [row["commission_amount"] for row in as_csv] == ["8.00", "0.00"]
    assert "o1" in sold.run("report", "orders").out


ACME = ("--account", "acme")


def until_now():
    return "--until", now()


def postings(shop, *more):
    return [e for e in shop.json("report", "journal", *ACME, *more) if e["amount"] is not None]


def test_journal_balances_and_adjustment(sold):
    (entry,) = postings(sold)
    assert list(entry) == [
        "node", "entry", "event_seq", "command_id", "account_id", "program_id", "creator_id", "shop_id", "order_id",
        "line_item_id", "currency", "amount", "debit_account", "credit_account", "reason", "payout_id", "recorded_at", "accounting_date",
        "refers_to", "note", "actor", "hash", "refers_to_node", "first", "last"]
    assert (entry["amount"], entry["reason"], entry["line_item_id"]) == ("8.00", "ACCRUAL", "l1")
    assert (entry["debit_account"], entry["credit_account"], entry["actor"]) == ("expense", "owed", None)
    sold.run("adjust", "--order", "o1", "--shop", "shop-1", "--amount", "-1.50", "--reason", "a gift")
    assert [(e["amount"], e["reason"], e["note"]) for e in postings(sold)] == [
        ("8.00", "ACCRUAL", None), ("-1.50", "MANUAL", "a gift")]
    assert postings(sold)[1]["actor"] and len(postings(sold)[1]["hash"]) == 64
    for more in ([*ACME], ["--all-accounts"], [*ACME, "--creator", "ann"]):
        (balance,) = sold.json("report", "balances", *more)
        assert balance == {"account_id": "acme", "program_id": "spring", "creator_id": "ann", "currency": "USD",
                           "pending": "0.00", "blocked": "0.00", "payable": "6.50", "in_payout": "0.00",
                           "paid": "0.00", "total": "6.50"}
    (order,) = sold.json("report", "orders", "--creator", "ann")
    assert (order["commission_amount"], order["accrued"]) == ("6.50", "6.50")
    assert "creator bob was never in a program" in sold.run("report", "balances", *ACME, "--creator", "bob", status=1).err
    assert "there is no shop shop-9" in sold.run("report", "orders", "--shop", "shop-9", status=1).err
    assert "there is no account nope" in sold.run("report", "balances", "--account", "nope", status=1).err
    sold.run("shop", "create", "shop-2", "--account", "acme")
    assert sold.json("report", "orders", "--shop", "shop-2") == []  # nothing came yet
    assert "a gift" in sold.run("explain", "o1", "--shop", "shop-1").out
    sold.run("adjust", "--order", "o1", "--shop", "shop-1", "--amount", "0", "--reason", "x", status=1)
    sold.run("adjust", "--order", "o1", "--shop", "shop-1", "--amount", "1", "--reason", "", status=1)
    sold.run("adjust", "--order", "o1", "--shop", "shop-1", "--amount", "1", "--reason", "r" * 1001, status=1)
    sold.run("adjust", "--order", "o1", "--shop", "shop-1", "--amount", "1", status=2)
    refused = sold.run("adjust", "--order", "none", "--shop", "shop-1", "--amount", "1", "--reason", "x", status=1)
    assert "there is no order none in shop shop-1" in refused.err


def test_what_needs_an_account_says_so(sold):
    """Rule S4."""
    for line in (["report", "journal"], ["report", "balances"], ["report", "payouts"], ["payout", "list"],
                 ["report", "statement", "--creator", "ann", "--month", "2024-05"],
                 ["payout", "preview", "--until", "2024-12-31T00:00:00Z"]):
        assert "--account" in sold.run(*line, status=2).err


def test_payout_and_statement(sold):
    close = ("payout", "close", *ACME, *until_now())
    preview = sold.json("payout", "preview", *close[2:])
    closed = sold.json(*close, "--expect", preview["digest"])
    assert closed["digest"] == preview["digest"] and closed["skipped"] == []
    (payout,) = sold.json("payout", "list", *ACME)
    assert closed["payouts"] == [payout]
    assert list(payout) == [
        "node", "payout_id", "payout_run", "account_id", "creator_id", "name", "payee", "programs", "currency", "amount",
        "state", "until", "closed_at", "closed_by", "approved_by", "approved_at", "repoints", "repointed_by", "sent_by",
        "sent_at", "message", "ended_by", "ended_at", "end_reason", "bank_ref", "paid_at", "orders", "items", "parts"]
    assert (payout["amount"], payout["state"], payout["orders"]) == ("8.00", "APPROVED", 1)
    assert sold.json("report", "payouts", *ACME) == [payout]
    assert sold.json(*close)["payouts"] == [], "closing again pays nothing twice"
    month = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m")
    statement = sold.json("report", "statement", *ACME, "--creator", "ann", "--month", month)
    assert list(statement) == ["account_id", "creator_id", "month", "status", "rows", "sums", "payouts"]
    assert [(r["reason"], r["ledger_account"], r["amount"]) for r in statement["rows"]] == [
        ("ACCRUAL", "owed", "8.00"), ("PAYOUT", "owed", "-8.00")]
    assert statement["sums"] == [{"program_id": "spring", "currency": "USD", "opening": "0.00", "earned": "8.00",
                                  "adjusted": "0.00", "paid_out": "8.00", "closing": "0.00"}]
    assert statement["payouts"] == [{"payout_id": payout["payout_id"], "currency": "USD", "amount": "8.00"}]
    assert sold.json("report", "statement", *ACME, "--creator", "ann", "--month", "2020-01")["rows"] == []
    future = (datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=1)).isoformat()
    sold.run("payout", "close", *ACME, "--until", future, status=1)
    sold.run(*close, "--program", "none", status=1)


def test_explain(sold):
    text = sold.run("explain", "o1", "--shop", "shop-1").out
    assert "ann" in text and "8.00" in text
    assert isinstance(sold.json("explain", "o1", "--shop", "shop-1"), dict)
    sold.run("explain", "nope", "--shop", "shop-1", status=1)
    for order in ("112214", "nope"):  # a number could be one of an input
        assert sold.run("explain", order, status=1).err.endswith("; for an order, add --shop S\n")
    sold.run("explain", "o1", "--shop", "nope", status=1)
    sold.run("explain", "o1", "--shop", "shop-1", "--format", "csv", status=2)


def test_an_order_that_waits_for_the_worker_is_explained(shop):
    """E: it was `shop shop-1 has no applied input yet`, or an order that is unknown."""
    shop.send("o1")
    said = shop.run("explain", "--shop", "shop-1", "o1", status=1).err
    assert "1 event of order o1 of shop shop-1 is durable and will be applied by the worker" in said
    assert "has no applied input yet" in shop.run("explain", "--shop", "shop-1", "o2", status=1).err
    shop.drain()
    shop.send("o2")
    assert "1 event of order o2 of shop shop-1 is durable" in shop.run("explain", "--shop", "shop-1", "o2", status=1).err
    assert "o3" in shop.run("explain", "--shop", "shop-1", "o3", status=1).err
    shop.drain()
    shop.run("explain", "--shop", "shop-1", "o2")


def test_a_report_says_that_the_worker_stands_still(shop):
    """E: it showed what was applied long ago, without a word. The control page has the last sign of life."""
    def told(*command):
        return shop.run(*command).err

    def set_heartbeat(change):
        with open(shop.store / "queue" / "control", "r+b") as page:
            page.seek(24)  # ControlWords::heartbeat_ms
            (heartbeat,) = struct.unpack("<Q", page.read(8))
            page.seek(24)
            page.write(struct.pack("<Q", change(heartbeat)))

    shop.send("o1")
    shop.drain()
    assert told("report", "orders") == ""
    set_heartbeat(lambda now: now - 301_000)
    shop.drain()
    shop.send("o2")
    assert told("report", "orders") == "", "a worker that is restarted is no standstill"
    set_heartbeat(lambda now: now - 301_000)
    month = ("--month", "2024-05")
    for command in (("report", "orders"), ("report", "balances", *ACME), ("explain", "--shop", "shop-1", "o1"),
                    ("report", "statement", *ACME, "--creator", "ann", *month), ("report", "trial-balance", *ACME, *month),
                    ("report", "statements", *ACME, *month, "--into", shop.file("statements", "").with_name("months")),
                    ("report", "payees", *ACME), ("report", "approvals", *ACME), ("creator", "list"),
                    ("creator", "show", "ann", *ACME), ("payout", "list", *ACME), ("program", "list"), ("hold", "list", *ACME),
                    ("payout", "preview", *ACME, "--until", "2024-06-01T00:00:00Z"),
                    ("export", "journal", *ACME, "--form", "csv")):
        assert told(*command).count("the worker has not run since") == 1, command
    set_heartbeat(lambda _: 0)
    assert "no worker has run yet: inputs that arrived later are not in this" in told("report", "orders")
    shop.drain()
    assert told("report", "orders") == ""


def test_a_receipt_leads_to_its_event_and_its_order(shop):
    """Returns the $sluice_receipt of an answer, as nginx's log has it."""
    receipts = [shop.send("o1"), shop.send("o1"), shop.send("o1", platform_updated_at="2020-01-01T00:00:00Z")]
    waiting = shop.json("explain", receipts[0])
    assert (waiting["outcome"], waiting["order_id"], waiting["order"]) == ("waiting", "o1", None)
    assert waiting["state"] in ("in_lane", "queued")
    assert "waits for the worker" in shop.run("explain", receipts[0]).out
    shop.drain()
    first, again, old = (shop.json("explain", receipt) for receipt in receipts)
    assert [said["outcome"] for said in (first, again, old)] == ["applied", "duplicate", "stale"]
    assert {said["state"] for said in (first, again, old)} == {"applied"}
    assert f"#{first['seq']}: it changed nothing" in again["explanation"]
    assert first["order"] == shop.json("explain", "o1", "--shop", "shop-1")
    text = shop.run("explain", receipts[0]).out
    assert f"Input #{first['seq']} of node {first['node']}, applied\n  ORDER_CREATE of shop shop-1" in text and "Journal" in text
    assert shop.json("explain", str(first["seq"])) == first  # as batches have it
    assert shop.json("queue", "find", str(first["seq"]))["state"] == "applied"
    products = {"products": [{"platform_product_id": "p", "title": "T"}]}
    catalog = shop.edge.post_catalog("shop-1", shop.secret, "PRODUCT_UPSERT", products, "key-1")
    shop.drain()
    batch = shop.json("explain", catalog.header("X-Receipt"))
    assert (batch["topic"], batch["outcome"], batch["order"]) == ("PRODUCT_UPSERT", "applied", None)
    assert "no order o2" in shop.run("explain", "o2", "--shop", "shop-1", status=1).err
    assert "for an order, add --shop S" in shop.run("explain", "o1", status=1).err
    mine = receipts[0].split("-")[0]
    other = "0" * 6 if mine != "0" * 6 else "1" * 6
    for command in (["explain"], ["queue", "find"]):
        told = shop.run(*command, receipts[0].replace(mine, other), status=1).err
        assert f"is of another node: those of this one begin with {mine}" in told
    assert "no record with the receipt 9-9-9" in shop.run("explain", "9-9-9", status=1).err


def test_products_keep_numbers_as_sent(shop):
    body = b'{"products":[{"platform_product_id":"p1","title":"T","list_price":1.10,"tags":["a","b"],"brand":null}]}'
    import hashlib
    headers = [("Content-Type", "application/json"), ("X-SVC-SHOP-ID", "shop-1"), ("X-SVC-TOPIC", "PRODUCT_UPSERT"),
               ("Idempotency-Key", "k1"), ("Authorization", "Bearer " + shop.secret),
               ("X-Signature", hashlib.sha256(body).hexdigest())]
    assert shop.edge.request("POST", "/product-data", headers, body).status == 200
    shop.drain()
    run = shop.run("report", "products", "--format", "json")
    assert '"list_price": 1.10' in run.out
    (row,) = run.json()
    assert row["shop_id"] == "shop-1" and row["parent_id"] == "p1" and row["brand"] is None and row["tags"] == ["a", "b"]
    (row,) = csv.DictReader(io.StringIO(shop.run("report", "products", "--format", "csv").out))
    assert (row["list_price"], row["tags"], row["brand"]) == ("1.10", "a;b", "")


def test_forget_and_dead_letters(sold):
    sold.run("forget", "--shop", "shop-1", "--customer", "c1")
    assert sold.json("dead", "list") == []
    sold.run("dead", "show", 1, status=1)
    sold.run("dead", "replay", "--all")
    sold.run("dead", "replay", 1, status=1)
    sold.run("dead", "replay", status=2)


def test_creator_remove(sold):
    sold.run("creator", "remove", "ann", "--program", "spring")
    sold.send("o3")
    sold.drain()
    assert sold.json("report", "orders")[2]["creator_id"] is None
    sold.run("creator", "remove", "ann", "--program", "none", status=1)


def test_an_import_is_all_or_nothing_and_names_its_line(sold):
    for text, expected in [
        ("creator_id,program_id,code\nbob,spring,NEW\nbob,spring,save\n", ":3: code "),
        ("creator_id,program_id,code\nbob,none,NEW\n", ":2: there is no program none"),
        ("creator_id,program_id,code\nbob,spring\n", ":2: expected 3 fields, found 2"),
        ("creator_id,program_id,code\nb b,spring,X\n", ":2: creator_id: expected"),
        ("creator_id,code\n", ":1: expected a header line"),
        ("creator_id,program_id,coed\n", ":1: expected a header line"),
        ("creator_id,program_id,code,valid_from\nbob,spring,X,soon\n", ":2: valid_from: expected a time"),
        ("creator_id,program_id,valid_from\nbob,spring,2024-01-01T00:00:00Z\n", ":2: valid_from, valid_until: expected a code"),
    ]:
        path = sold.file("bad.csv", text)
        run = sold.run("creator", "import", path, status=1)
        assert f"{path}{expected}" in run.err
    path = sold.file("click.csv", "svc_anon_id,creator_id,program_id,occurred_at\na1,ann,spring,yesterday\n")
    assert f"{path}:2: occurred_at: expected a time" in sold.run("click", "import", path, status=1).err
    sold.send("o4", code="NEW")
    sold.drain()
    assert "was never in a program" in sold.run("report", "orders", "--creator", "bob", status=1).err


@pytest.mark.parametrize(
    "text, expected",
    [
        ("", ":1: expected at least one [[program]] or [[policy]]"),
        ("[[program]]\nid = 'a'\n", ":1: expected account = "),
        ("[[program]]\nid = 'a'\naccount = 'acme'\n", ":1: expected default_rate = "),
        ("[[program]]\nid = 'a'\naccount = 'nope'\ndefault_rate = '1%'\n", ":3: account: there is no account nope"),
        ("[[program]]\nid = 'a'\naccount = 'acme'\nshops = ['s']\ndefault_rate = '1%'\n", ":4: shops: there is no shop s"),
        ("[[program]]\nid = 'a'\naccount = 'acme'\ndefault_rate = '1'\n", ":4: default_rate: "),
        ("[[program]]\nid = 'a'\naccount = 'acme'\ndefault_rate = '1%'\nhold = 3\n", ":5: unknown key 'hold'"),
        ("[[program]]\nid = 'a'\naccount = 'acme'\ndefault_rate = '1%'\nclearing_days = -1\n", ":5: clearing_days: expected"),
        ("[[program]]\nid = 'a'\naccount = 'acme'\ndefault_rate = '1%'\nbase = 'x'\n", ":5: base: expected"),
        ("[[program]]\nid = 'a'\naccount = 'acme'\ndefault_rate = '1%'\n[[program.rule]]\nmatch = 'x'\n", ":6: match: expected"),
        ("[[program]]\nid = 'a'\naccount = 'acme'\ndefault_rate = '101%'\n", ":4: default_rate: 101% is above the account's max_rate"),
        ("[[policy]]\naccount = 'acme'\nmax_rate = '5%'\n[[program]]\nid = 'a'\naccount = 'acme'\ndefault_rate = '6%'\n",
         ":7: default_rate: 6% is above"),
        ("[[program]\n", ":1: "),
    ],
)
def test_a_wrong_program_file_is_named_by_file_and_line(store, tmp_path, text, expected):
    assert sluice("account", "create", "acme", store=store).status == 0
    path = tmp_path / "p.toml"
    path.write_text(text)
    run = sluice("program", "apply", path, store=store)
    assert run.status == 1
    assert f"{path}{expected}" in run.err and len(run.err.splitlines()) == 1


def test_the_example_program_applies(store):
    from program import ROOT
    assert sluice("account", "create", "acme", store=store).status == 0
    assert sluice("shop", "create", "acme-us", "--account", "acme", store=store).status == 0
    assert sluice("program", "apply", ROOT / "conf" / "samples" / "program.toml", store=store).status == 0
    (row,) = sluice("program", "list", "--format", "json", store=store).json()
    assert (row["program_id"], row["clearing_days"], row["default_rate"], len(row["rules"])) == ("spring", 14, "10%", 4)


def test_a_filter_that_means_nothing_is_no_option(store):
    for line in (["products", "--creator", "c"], ["balances", *ACME, "--from", "2024-01-01T00:00:00Z"]):
        assert sluice("report", *line, store=store).status == 2
        assert line[-2] not in sluice("report", line[0], "--help", store=store).out


def test_worker_notifies_systemd_and_stops_cleanly(store, tmp_path):
    address = str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
        notify.bind(address)
        notify.settimeout(30)
        running = subprocess.Popen([PROGRAM, "--store", store, "worker"], stderr=subprocess.PIPE, text=True,
                                   env={"PATH": os.environ["PATH"], "NOTIFY_SOCKET": address})
        try:
            said = notify.recv(4096).decode()
            while "READY=1" not in said:
                said += "\n" + notify.recv(4096).decode()
            while "WATCHDOG=1" not in said:
                said += "\n" + notify.recv(4096).decode()
            second = sluice("worker", "--until-empty", store=store)
            assert second.status == 1 and str(running.pid) in second.err
            run = sluice("dead", "replay", "--all", store=store)
            assert run.status == 0, "a command is applied by the running worker"
        finally:
            running.send_signal(signal.SIGTERM)
            _, err = running.communicate(timeout=30)
        assert running.returncode == 0
        assert "stopped" in err


def test_rebuild_gives_the_same_ledger(sold):
    run = sold.run("ledger", "rebuild", "--from", sold.store / "archive", "--into", sold.folder / "new")
    assert "equal" in run.out
    sold.run("ledger", "rebuild", "--from", sold.store / "archive", "--into", sold.folder / "new", status=1)
    sold.run("ledger", "rebuild", "--from", sold.store / "archive", status=2)


def test_a_rebuild_that_was_killed_is_refused_and_begun_again(sold):
    """Its batches are not synced before its end, so that only a whole one is a ledger."""
    ledger, new = sold.store / "ledger" / "data.mdb", sold.folder / "killed"
    rebuild = ("ledger", "rebuild", "--from", sold.store / "archive", "--into", new)
    whole = ledger.read_bytes()
    assert sluice(*rebuild, store=sold.store, env={**os.environ, "SLUICE_CRASH_AT": "committed"}).status != 0
    ledger.write_bytes((new / "data.mdb").read_bytes())
    refused = sold.run("report", "orders", status=1).err
    assert f"is an unfinished rebuild of {sold.store / 'archive'}: remove the folder" in refused
    sold.run("worker", "--until-empty", status=1)
    ledger.write_bytes(whole)
    shutil.rmtree(new)
    assert "equal" in sold.run(*rebuild).out


def test_an_older_copy_of_the_ledger_is_found_and_rebuilt(sold):
    """As docs/operations.md restores it."""
    ledger, new = sold.store / "ledger" / "data.mdb", sold.folder / "new"
    older = ledger.read_bytes()
    sold.send("later")
    sold.run("worker", "--until-empty")
    before = sold.json("report", "orders")
    ledger.write_bytes(older)
    findings = sluice("doctor", "--format", "json", store=sold.store).json()
    assert ["older copy" in row["finding"] for row in findings if row["check"] == "ledger"] == [True]
    sold.run("worker", "--until-empty", status=1)
    run = sold.run("ledger", "rebuild", "--from", sold.store / "archive", "--into", new)
    assert "not compared" in run.out
    ledger.write_bytes((new / "data.mdb").read_bytes())
    sold.run("worker", "--until-empty")
    assert sold.json("report", "orders") == before
    assert all(row["check"] != "ledger" for row in sluice("doctor", "--format", "json", store=sold.store).json())


def test_an_import_reports_the_work_it_leaves(shop):
    """Rule A2: more orders waited than the command's own transaction tries again."""
    discounts = [{"code": "LATER", "type": "DISCOUNT_CODE", "value_type": "PERCENTAGE", "value": "10"}]
    lines = [json.dumps(orders.order(f"o{i}", discounts=discounts)) for i in range(400)]
    token = shop.file("token", shop.secret + "\n")
    token.chmod(0o600)
    shop.run("send", "events", shop.file("o.ndjson", "\n".join(lines) + "\n"), "--url",
             f"http://127.0.0.1:{shop.edge.port}", "--shop", "shop-1", "--token-file", token, "--share", 100)
    codes = shop.file("l.csv", "creator_id,program_id,code\nzoe,spring,LATER\n")
    left = "orders of 2 codes, devices, programs or months are still to be tried or rated again"
    assert shop.run("creator", "import", codes, "--no-wait").out == f"1 row imported; {left}\n"
    assert shop.json("queue", "stats")["attribution_left"] == 2
    assert [row["finding"] for row in shop.doctor() if row["check"] == "attribution"] == [left]
    shop.run("worker", "--until-empty")
    assert shop.json("queue", "stats")["attribution_left"] == 0
    assert {row["creator_id"] for row in shop.json("report", "orders")} == {"zoe"}


def test_doctor(sold):
    rows = sold.doctor()
    assert {"store", "permissions", "key", "disk", "clock", "readers", "registry", "queue", "worker", "journal", "nginx"} <= {
        row["check"] for row in rows}
    assert all(row["remedy"] for row in rows if row["result"] == "problem")
    (sold.store / "ledger" / "data.mdb").chmod(0o644)
    run = sluice("doctor", "--format", "json", store=sold.store)
    assert run.status == 1 and "problem" in run.err
    problems = [row for row in run.json() if row["result"] == "problem"]
    assert any("data.mdb has mode 0644" in row["finding"] and "doctor --mend" in row["remedy"] for row in problems)


def test_creators_and_programs_are_listed(shop):
    shop.run("creator", "import", shop.file("d.csv", "creator_id,program_id,code\nann,spring,MORE\nbob,spring,\n"))
    shop.run("creator", "remove", "bob", "--program", "spring")
    rows = shop.json("creator", "list", "--program", "spring")
    assert [(r["creator_id"], sorted(r["codes"]), r["removed"]) for r in rows] == [
        ("ann", ["MORE", "SAVE"], False), ("bob", [], True)]
    assert "there is no program autumn" in shop.run("creator", "list", "--program", "autumn", status=1).err
    assert shop.json("program", "show", "spring")["default_rate"] == "10%"
    assert "there is no program autumn" in shop.run("program", "show", "autumn", status=1).err


def test_a_click_of_a_stranger_is_warned_of(shop):
    file = shop.file("t.csv", "svc_anon_id,creator_id,program_id,occurred_at\n"
                     "d1,ann,spring,2024-03-01T00:00:00Z\nd2,anna,spring,2024-03-01T00:00:00Z\n"
                     "d3,anna,spring,2024-03-02T00:00:00Z\n")
    run = sluice("click", "import", file, "--strict", store=shop.store)
    assert run.status == 1 and f"{file}:3: creator anna is not in program spring\n" in run.err
    assert "2 clicks of creators who are in no such program; nothing was imported" in run.err
    run = sluice("click", "import", file, store=shop.store)
    assert (run.status, run.out) == (0, "3 clicks imported\n") and run.err.count("anna") == 1


def worker_finding(shop):
    return [(row["result"], row["finding"]) for row in shop.doctor() if row["check"] == "worker"]


def test_doctor_goes_by_the_workers_lock(shop):
    shop.send("o1")
    assert worker_finding(shop) == [("problem", "no worker runs; 3 inputs wait")] or (
        worker_finding(shop) == [("problem", "no worker runs; 1 input waits")])
    running = subprocess.Popen([PROGRAM, "--store", shop.store, "worker"], stderr=subprocess.DEVNULL)
    try:
        paths.wait_until(lambda: worker_finding(shop) == [("ok", "the worker runs; 0 inputs wait")], "the worker to run")
        running.kill()
        running.wait()
        # It was killed without notice and its heartbeat is recent, but the lock shows that it is gone.
        assert worker_finding(shop) == [("problem", "no worker runs; 0 inputs wait")]
    finally:
        running.kill()
        running.wait()
    assert shop.run("doctor", status=1).err == "sluice: 1 problem\n"


def test_doctor_looks_at_the_configuration_that_it_is_given(shop):
    def nginx_of(*line):
        return [(row["result"], row["finding"]) for row in shop.doctor(*line) if row["check"] == "nginx"][0]

    conf = shop.edge.folder / "nginx.conf"
    assert nginx_of("--nginx-conf", conf) == ("ok", "its configuration is right and names this store")
    other = shop.file("other.conf", conf.read_text().replace(str(shop.store), str(shop.folder)))
    result, finding = nginx_of("--nginx-conf", other)
    assert result == "problem", finding
    broken = shop.file("broken.conf", "events {}\nnonsense;\n")
    result, finding = nginx_of("--nginx-conf", broken)
    assert result == "problem" and "nonsense" in finding


READER = """
import ctypes, sys, time
lmdb = ctypes.CDLL("liblmdb.so.0")
env, txn = ctypes.c_void_p(), ctypes.c_void_p()
assert lmdb.mdb_env_create(ctypes.byref(env)) == 0
assert lmdb.mdb_env_open(env, sys.argv[1].encode(), 0x20000, 0o600) == 0
assert lmdb.mdb_txn_begin(env, None, 0x20000, ctypes.byref(txn)) == 0
print("reading", flush=True)
time.sleep(600)
"""


def start_reader(folder):
    reader = subprocess.Popen(
        ["/usr/bin/python3", "-c", READER, str(folder)], stdout=subprocess.PIPE, text=True
    )
    assert reader.stdout.readline() == "reading\n"
    return reader


@pytest.mark.parametrize("folder", ["registry", "queue", "ledger"])
def test_doctor_finds_readers_that_died(sold, folder):
    # The first process to open an environment starts with an empty table of readers: one stays.
    with start_reader(sold.store / folder) as alive, start_reader(sold.store / folder) as dead:
        dead.kill()
        dead.wait()
        try:
            findings = [row["finding"] for row in sold.doctor() if row["check"] == "readers"]
            again = [row["result"] for row in sold.doctor() if row["check"] == "readers"]
        finally:
            alive.kill()
    assert findings == [f"{folder}: 1 reader slots of dead processes were freed"]
    assert again == ["ok"]


def test_send_is_taken_by_the_real_server(shop):
    token = shop.file("token", shop.secret + "\n")
    token.chmod(0o600)
    target = ["--url", f"http://127.0.0.1:{shop.edge.port}", "--shop", "shop-1", "--token-file", token,
              "--share", 100]
    lines = [json.dumps(orders.order(f"o{i}")) for i in range(300)] + ['{"platform_order_id":"bad"}']
    run = sluice("send", "events", shop.file("o.ndjson", "\n".join(lines) + "\n"), *target, store=shop.store)
    assert run.status == 1 and "300 sent, 1 rejected" in run.out
    assert f"{shop.folder / 'o.ndjson'}:301: platform_ordered_at: REQUIRED" in run.out
    rows = [json.dumps({"platform_product_id": f"p{i}", "title": "T" if i != 7 else ""}) for i in range(1200)]
    run = sluice("send", "products", shop.file("p.ndjson", "\n".join(rows) + "\n"), *target, store=shop.store)
    assert run.status == 1 and "1199 sent, 1 rejected" in run.out and "p.ndjson:8: title: " in run.out
    shop.drain()
    assert len(shop.json("report", "orders")) == 300
    assert len(shop.json("report", "products")) == 1199
    checked = sluice("send", "events", shop.folder / "o.ndjson", "--check")
    assert checked.status == 1 and "o.ndjson:301: platform_ordered_at: REQUIRED" in checked.out
