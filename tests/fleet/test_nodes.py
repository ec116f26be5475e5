"""Two nodes on one PostgreSQL: every report, in every form, names the node that an entry came through."""

import csv
import io
import json

import pytest

from fleet import history
from fleet.node import Node
from fleet.storm import close_all, copy_registry, found, wait_until_applied
from harness import cli, orders, paths, postgres, sign
from harness.serve import Serve

pytestmark = pytest.mark.skipif(bool(postgres.missing()), reason=str(postgres.missing()))

SHOP = history.SHOPS[0]


class Event:
    def __init__(self, order_id, day, **changes):
        self.shop, self.order_id, self.topic = SHOP, order_id, "ORDER_UPDATE"
        document = orders.order(order_id, platform_updated_at=f"2024-03-{day:02}T00:00:00Z",
                                discounts=[{"code": "ANN", "type": "DISCOUNT_CODE", "value_type": "PERCENTAGE",
                                            "value": "10"}], **changes)
        self.body = sign.encode(document)


@pytest.fixture(scope="module")
def fleet():
    with postgres.Server() as server:
        url = server.create()
        nodes = [Node("edge1", ledger=url), Node("edge2", ledger=url)]
        try:
            one, two = nodes
            secret = found(nodes)
            one.import_all()
            too_much = [orders.refund("r-{}", amount="999")]
            receipts = {}

            def send(node, name, event):
                answer = node.post(event, secret)
                assert answer.status == 200, answer
                receipts[name] = answer.header("X-Receipt")
                wait_until_applied(nodes)

            send(one, "a1", Event("a", 1))
            send(two, "a2", Event("a", 2, amount="80.00", line_items=[orders.line("l1", amount="80.00")]))
            send(two, "a1 again", Event("a", 1))
            for node, order_id in ((one, "b"), (two, "c")):
                send(node, order_id, Event(order_id, 3, refund_line_items=[
                    dict(too_much[0], refund_line_item_id=f"r-{order_id}")]))
            for node in nodes:
                node.sluice("payout", "close", "--account", "acme", "--until", cli.now(), *node.ledger)
                send(node, f"d-{node.name}", Event(f"d-{node.name}", 4))
            two.sluice("payout", "close", "--account", "acme", "--until", cli.now(), *two.ledger)
            yield one, two, receipts
        finally:
            close_all([*(node.close for node in nodes)])


def rows(node, kind, form="json"):
    scope = ["--all-accounts"] if kind in cli.MONEY_REPORTS else []
    text = node.sluice("report", kind, *scope, "--format", form, *node.ledger)
    return json.loads(text) if form == "json" else list(csv.DictReader(io.StringIO(text))) if form == "csv" else text


def test_each_report_names_the_node(fleet):
    one, two, _ = fleet
    last = {row["order_id"]: row["node"] for row in rows(one, "orders")}
    assert last == {"a": two.uuid, "b": one.uuid, "c": two.uuid, "d-edge1": one.uuid, "d-edge2": two.uuid}
    showed = {(row["order_id"], row["kind"]): row["node"] for row in rows(one, "anomalies")}
    assert showed["b", "REFUND_EXCEEDS_LINE"] == one.uuid and showed["c", "REFUND_EXCEEDS_LINE"] == two.uuid
    assert showed["a", "ORDERED_LONG_AGO"] == one.uuid, "the first that showed it"
    assert {row["node"] for row in rows(one, "journal")} == {one.uuid, two.uuid}
    payouts = rows(one, "payouts")
    closed = {entry["payout_id"]: entry["node"] for entry in rows(one, "journal") if entry["reason"] == "PAYOUT"}
    assert {row["payout_id"]: row["node"] for row in payouts} == closed
    assert set(closed.values()) == {one.uuid, two.uuid} and len({row["payout_id"] for row in payouts}) == len(payouts)


@pytest.mark.parametrize("kind", ["orders", "anomalies", "journal", "payouts"])
def test_all_forms_of_a_report_name_it_and_both_nodes_say_the_same(fleet, kind):
    one, two, _ = fleet
    listed = rows(one, kind)
    assert rows(two, kind) == listed and listed
    assert [row["node"] for row in rows(one, kind, "csv")] == [row["node"] for row in listed]
    table = rows(one, kind, "table")
    for node in fleet[:2]:
        assert table.count(node.uuid) == sum(row["node"] == node.uuid for row in listed), "numbers alone name no node"


def test_explain_names_the_node_of_events_entries_and_payouts(fleet):
    one, two, _ = fleet
    explained = json.loads(one.sluice("explain", "a", "--shop", SHOP, "--format", "json", *one.ledger))
    assert [event["node"] for event in explained["events"]] == [one.uuid, two.uuid]
    assert {entry["node"] for entry in explained["journal"]} >= {one.uuid, two.uuid}
    assert explained["payouts"] and all(payout["node"] in (one.uuid, two.uuid) for payout in explained["payouts"])
    text = two.sluice("explain", "a", "--shop", SHOP, *two.ledger)
    (first, second) = (event["event_seq"] for event in explained["events"])
    assert f"#{first} of node {one.uuid}  ORDER_UPDATE" in text and f"#{second} of node {two.uuid}  ORDER_UPDATE" in text
    assert f"since input {first} of node {one.uuid} (" in text
    assert f"{explained['payouts'][0]['payout_id']} of node {explained['payouts'][0]['node']}" in text


def test_a_receipt_leads_to_its_own_node(fleet):
    """The same number on both nodes is two inputs."""
    one, two, receipts = fleet
    assert len(set(receipts.values())) == len(receipts)
    for node, name, outcome in ((one, "a1", "applied"), (two, "a2", "applied"), (two, "a1 again", "duplicate")):
        said = json.loads(node.sluice("explain", receipts[name], "--format", "json", *node.ledger))
        assert (said["node"], said["outcome"]) == (node.uuid, outcome), said
    text = two.sluice("explain", receipts["a1 again"], *two.ledger)
    assert f" of node {two.uuid}, " in text and f" of node {one.uuid}: it changed nothing" in text


def test_views_name_it_too(fleet):
    one, two, _ = fleet
    listed = {row["order_id"]: row["node"] for row in rows(one, "orders")}
    database = json.loads(one.sluice("payout", "list", "--all-accounts", "--format", "json", *one.ledger))
    assert database == rows(one, "payouts") and listed["a"] == two.uuid


def test_K11_detach_knows_the_commands_of_other_nodes(fleet):
    one, two, _ = fleet
    why = ("--account", "acme", "--reason", "as agreed")
    one.sluice("hold", "--shop", SHOP, "--order", "b", "--reason", "as agreed", *one.ledger)
    (held,) = {row["command_id"] for row in rows(one, "journal") if "HELD" in row["reason"]}
    assert "no change" in two.sluice("detach", "--cause", held, *why, *two.ledger)


def test_K9_clicks_name_the_input_and_the_node_of_their_import(fleet):
    one, two, _ = fleet
    later = two.edge.folder / "later.csv"
    later.write_text("svc_anon_id,creator_id,program_id,occurred_at\nphone-9,ann,codes,2024-02-20T10:00:00Z\n")
    two.sluice("click", "import", later, *two.ledger)
    applied = two.stats()["applied_seq"]
    listed = json.loads(one.sluice("click", "list", "--account", "acme", "--format", "json", *one.ledger))
    assert {(row["node"], row["event_seq"]) for row in listed if row["occurred_at"] == "2024-02-20T10:00:00Z"} == {
        (one.uuid, 3), (two.uuid, applied)}, "the third command of the one, the last input of the other"
    assert len(listed) == 5


def test_dead_letters_of_every_node_are_counted(fleet):
    """A person who asks one server has the work of the whole fleet to do. `dead list` is of the node that can replay them."""
    one, two, _ = fleet
    _, sender = one.sluice.token("acme", "write_products")
    _, reading = one.sluice.token("acme", "read_orders", "read_ledger")
    copy_registry(one, two)
    two.worker.terminate()
    two.worker.wait(timeout=paths.DEADLINE)
    large = {"products": [{"platform_product_id": "p", "title": "A" * 300_000}]}
    assert two.edge.post_catalog(SHOP, sender, "PRODUCT_UPSERT", large, "large").status == 200
    (body,) = (two.edge.store / "queue" / "bulk").glob("*.bulk")
    body.unlink()
    two.start_worker()
    wait_until_applied([two])
    assert [len(json.loads(node.sluice("dead", "list", "--format", "json", *node.ledger))) for node in (one, two)] == [0, 1]
    for node in (one, two):
        folder = paths.make_folder()
        try:
            with Serve(node.edge.store, folder, *node.ledger) as serve:
                reader = serve.token(reading)
                assert ("dead_letters", 1) in [(row["kind"], row["count"]) for row in reader.object("today")["waiting"]]
                assert {row["shop_id"]: row["dead_letters"] for row in reader.rows("shops")}[SHOP] == 1
        finally:
            paths.drop_folder(folder)
