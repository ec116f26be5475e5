"""docs/record-format.md is enough to read a store: format_reader.py knows nothing else."""

import decimal
import hashlib
import json
import re
import struct
import tarfile
import time

import pytest

from docs import facts
from docs import format_reader as reader
from harness import orders, paths, sign
from docs.test_examples import CONFIG

PAGE = facts.read("docs/record-format.md")
PROGRAM = '[[program]]\nid = "spring"\naccount = "acme"\ndefault_rate = "10%"\nlate_days = 36500\n'
CODE = {"code": "mia10", "type": "DISCOUNT_CODE", "value_type": "PERCENTAGE", "value": "10"}


@pytest.fixture
def site(start_edge, new_merchant, tmp_path):
    edge = start_edge(CONFIG, workers=1)
    merchant = new_merchant(edge, "acme")
    (tmp_path / "program.toml").write_text(PROGRAM)
    (tmp_path / "creators.csv").write_text("creator_id,program_id,code\nmia,spring,mia10\n")
    edge.sluice("program", "apply", tmp_path / "program.toml")
    edge.sluice("creator", "import", tmp_path / "creators.csv")
    return edge, merchant


def send(merchant, count):
    documents = [orders.order(f"o-{number}", discounts=[CODE]) for number in range(count)]
    for document in documents:
        assert merchant.event("ORDER_CREATE", document).status == 200
    return [sign.encode(document) for document in documents]


def test_the_page_has_the_ledgers_format():
    (number,) = re.findall(r"kLedgerFormat = (\d+);", facts.read("lmdb_store/ledger/tables.hpp"))
    assert re.findall(r"`ledger/data.mdb`, format (\d+)\.", PAGE) == [number]


def test_lane_queue_archive_and_ledger_are_read_from_the_tables_of_the_page(site):
    edge, merchant = site
    bodies = send(merchant, 5)
    (lane,) = sorted((edge.store / "queue" / "lanes").glob("*.lane"))
    ring, batches = reader.read_lane(lane)
    assert lane.stat().st_size == 4096 + ring
    in_lane = [record for _, batch in batches for record in batch]
    assert [record["body"] for record in in_lane] == bodies

    edge.sluice("queue", "move")
    queued = [record for _, record in sorted(reader.read_queue(edge.store / "queue").items()) if record["topic"] < 16]
    assert [record["body"] for record in queued] == bodies
    assert {record["shop_id"] for record in queued} == {merchant.shop}
    assert [record["receipt"][1:] for record in queued] == [
        (offset, index) for offset, batch in batches for index in range(len(batch))
    ]

    edge.sluice.drain()
    archived = []
    for number, segment in enumerate(sorted((edge.store / "archive").glob("*.sla")), 1):
        head, inputs = reader.read_segment(segment)
        assert head["ordinal"] == number
        archived += inputs
    assert [seq for seq, _ in archived] == list(range(1, len(archived) + 1))
    assert [record["topic"] for _, record in archived] == [32, 33] + [1] * 5
    assert [record["body"] for _, record in archived[2:]] == bodies
    assert "programs" in json.loads(archived[0][1]["body"])

    ledger = reader.read_ledger(PAGE, edge.store / "ledger")
    assert [(row["account_id"], row["shop_id"]) for _, row in ledger["shops"]] == [
        (merchant.account.encode(), merchant.shop.encode())
    ]
    ((key, sums),) = ledger["balances"]
    (row,) = edge.sluice.report("balances")
    assert (key["program"], key["creator"], key["currency"]) == (b"spring", b"mia", b"USD")
    assert [str(sums[name]) for name in ("owed", "in_payout", "paid")] == [row["total"], "0.00", "0.00"]
    assert row["total"] == "40.00"

    for key, order in ledger["orders"]:
        (shown,) = [entry for entry in edge.sluice.report("orders") if entry["order_id"] == key["order_id"].decode()]
        assert order["amount"].decode() == shown["amount"] and order["currency"] == shown["currency"]
        (position,) = order["positions"]
        assert position["creator"] == b"mia"
        assert sum(accrual["accrued"] for accrual in position["accruals"]) == decimal.Decimal(shown["commission_amount"])
    groups = [group for _, group in ledger["journal"] if group["order_id"]]
    reasons = [[entry["reason"] for entry in group["entries"]] for group in groups]
    posted = [entry["amount"] for group in groups for entry in group["entries"] if entry["reason"] < 64]
    assert len(posted) == 5 and sum(posted) == decimal.Decimal(row["total"])
    assert reasons.count([80]) == 5, "each order is older than 400 days, an anomaly of its own"


def test_a_dead_letter_is_read_from_the_archive_with_its_reason(site):
    edge, merchant = site
    large = {"products": [{"platform_product_id": "p", "title": "A" * 300_000}]}
    assert merchant.catalog("PRODUCT_UPSERT", large, "key").status == 200
    assert merchant.catalog("PRODUCT_UPSERT", large, "another").status == 200
    lost, kept = sorted((edge.store / "queue" / "bulk").glob("*.bulk"))
    lost.unlink()
    edge.sluice.drain()
    (segment,) = (edge.store / "archive").glob("*.sla")
    _, inputs = reader.read_segment(segment)
    batches = [record for _, record in inputs if record["topic"] == 16]
    assert sorted(record["location"] for record in batches) == [1, 2]
    (letter,) = edge.sluice.json("dead", "list")
    for record in batches:
        assert record["bulk"] and record["reason"] == (letter["reason"] if record["location"] == 2 else "")


def test_every_table_of_the_ledger_of_a_release_is_read_from_the_page(tmp_path):
    """The store of tests/upgrade has rows in most tables; each is read to its last byte."""
    (golden,) = (paths.ROOT / "tests" / "upgrade").glob("store-format-*.tar.xz")
    with tarfile.open(golden) as archive:
        archive.extractall(tmp_path)
    environment = tmp_path / "store" / "ledger"
    found = reader.read_ledger(PAGE, environment)
    assert set(found) == set(reader.tables(environment))
    filled = {table for table, rows in found.items() if rows}
    assert {"orders", "journal", "heads", "chains", "catalog", "payouts", "clicks", "seals", "waiting"} <= filled, filled


def check_chains(ledger):
    """Every group continues the chain of its account and node, up to the row of the chain; returns the entries."""
    canonical = reader.Canonical(PAGE)
    nodes = {head["number"]: key["queue"].decode() for key, head in ledger["heads"]}
    hashes, entries = {}, 0
    for key, group in ledger["journal"]:
        chain = key["node"], group["account"]
        before = hashes.get(chain, bytes(32))
        hashes[chain] = canonical.hashed(before, nodes[key["node"]], key["first_entry"], group)
        assert hashes[chain] == group["hash"], (key, group)
        entries += len(group["entries"])
    assert hashes == {(key["node"], key["account"]): row["hash"] for key, row in ledger["chains"]}
    assert entries == sum(row["entries"] for _, row in ledger["chains"])
    return [entry for _, group in ledger["journal"] for entry in group["entries"]]


def test_the_hash_chain_of_a_journal_follows_from_the_page(tmp_path):
    (golden,) = (paths.ROOT / "tests" / "upgrade").glob("store-format-*.tar.xz")
    with tarfile.open(golden) as archive:
        archive.extractall(tmp_path)
    entries = check_chains(reader.read_ledger(PAGE, tmp_path / "store" / "ledger"))
    assert {entry["reason"] for entry in entries} >= {1, 12, 64, 70}, "too little to compare"
    assert any(entry["amount"] < 0 for entry in entries)


def test_the_registry_is_read_from_the_tables_of_the_page(site):
    edge, merchant = site
    token, secret = edge.sluice.token(merchant.account, "read_orders", "read_ledger", expires="2100-01-01T00:00:00Z")
    edge.sluice("token", "revoke", token)
    edge.sluice("user", "add", "Ann@Example.com", "--account", merchant.account, "--role", "manager")
    edge.sluice("shop", "set", merchant.shop, "--platform", "shopify", "--domain", "mugs.example", "--from",
                "2026-01-01T00:00:00Z", "--platform-shop", "548380009", "--gift-cards", "count")
    hook = edge.sluice.json("token", "create", "--account", merchant.account, "--scope", "shopify_webhooks",
                            "--shop", merchant.shop)["token_id"]
    found = reader.read_registry(PAGE, edge.store / "registry")
    assert found["account_ids"] == {struct.pack(">I", 1): b"acme"}
    account, shop, stored = found["accounts"]["acme"], found["shops"][merchant.shop], found["tokens"][token]
    assert (account["number"], account["slot"], account["rate_requests"], account["suspended"]) == (1, 0, 0, 0)
    assert (shop["number"], shop["account_number"], shop["account_id"]) == (1, 1, "acme")
    assert 0 <= time.time() - account["created_at"][0] < 3600
    assert (shop["platform"], shop["domain"], shop["platform_shop"], shop["source_flags"]) == (1, "mugs.example", 548380009, 4)
    assert shop["orders_from"] == (1767225600, 0) and found["tokens"][hook]["shop_id"] == merchant.shop
    assert found["tokens"][hook]["scopes"] == 16 and hook.encode() not in found["bearers"].values()
    assert stored["account_id"] == "acme" and stored["scopes"] == 4 | 8 and stored["shop_id"] == ""
    assert stored["expires_at"] == (4102444800, 0) and stored["revoked_at"] >= stored["created_at"]
    digest = hashlib.sha256(secret.encode()).digest()
    assert stored["secret_sha256"] == digest and found["bearers"][digest] == token.encode()
    assert len(stored["sealed_secret"]) == 12 + len(secret) + 16
    retired = b"\xff" * 4 + struct.pack(">IQ", 1, ~stored["revoked_at"][0] & (1 << 64) - 1) + token.encode()
    kept = struct.pack(">I", 1) + merchant.token_id.encode()
    kept_hook = struct.pack(">I", 1) + hook.encode()
    assert found["account_tokens"] == {retired: b"", kept: b"", kept_hook: b""}
    ((name, user),) = found["users"].items()
    assert name == ("ann@example.com", "acme") and (user["role"], user["removed_at"]) == (2, None)
    history = {key: value for key, value in found["main"].items() if key.startswith(b"history/")}
    changes = {key for key in found["main"] if key.startswith((b"change/", b"next_change"))}  # who changed what
    assert changes and set(found["main"]) - set(history) - changes == {
        b"format", b"next_account", b"next_shop", b"key_check", b"domain/shopify/mugs.example"}
    assert found["main"][b"format"] == struct.pack("<I", 2)
    assert found["main"][b"domain/shopify/mugs.example"] == merchant.shop.encode()
    assert found["main"][b"next_shop"] == struct.pack(">I", 2) and history
    assert all(len(key) == 16 and len(value) == 40 for key, value in history.items())

    pages, generation, signing = reader.read_published(edge.store / "registry" / "published")
    assert (edge.store / "registry" / "data.mdb").read_bytes().startswith(pages) and signing == 1
    assert (edge.store / "registry" / "generation").read_bytes() == struct.pack("<Q", generation) + bytes(4088)


def test_an_altered_row_is_recognised(site):
    edge, merchant = site
    send(merchant, 1)
    edge.sluice.drain()
    ((key, value),) = reader.rows(edge.store / "ledger", "balances")
    layout = reader.Layout(PAGE)
    reader.Fields(layout, key, value)
    for altered in ((key, bytes([value[0] ^ 0x10]) + value[1:]), (key + b"\0", value)):
        with pytest.raises(AssertionError):
            reader.Fields(layout, *altered)
