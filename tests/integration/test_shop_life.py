"""A shop's whole life through the real nginx and worker, on both ledgers: every state's commission to the cent by the
independent model, in every order of arrival; the worked examples; no person on any disk."""

import json
import random
from fractions import Fraction

import pytest

from harness import paths
from harness.archive import archived
from harness.edge import Edge
from harness.platform_senders import signature
from harness.postgres import Server, missing
from harness.serve import Reader, Serve
from model.platform_model import Settings
from model.platform_model import Shopify as ShopifyModel
from model.platform_payloads import PERSONS, ShopifyPayloads, WooCommercePayloads, as_json
from model.values import half_even, instant, text
from test_webhooks import CONFIG, World, accepted, earn, payload, refused

TRIGGERED = "2026-03-01T10:00:01.516267807Z"
REFUNDED = "2026-03-02T10:00:00Z"
SUCCESS = [{"kind": "refund", "status": "success"}]


@pytest.fixture(scope="module", params=["lmdb", "postgres"])
def edge(request):
    server = None
    if request.param == "postgres":
        if missing():
            pytest.skip(missing())
        server = Server().start()
        server.create()
    try:
        with Edge(CONFIG) as running:
            if server:
                running.sluice("ledger", "migrate", "--ledger", server.url())
                running.sluice("worker", "--until-empty", "--ledger", server.url())
            running.server = server
            yield running.start()
    finally:
        if server:
            server.remove()


@pytest.fixture
def world(edge):
    made = World(edge)
    earn(made)
    return made


def line(number, price, tax, quantity=1, **more):
    return {"id": number, "quantity": quantity, "price": price, "product_id": number, "tax_lines": [{"price": tax}], **more}


def refund(rows=(), adjustments=(), status="success", **more):
    transactions = [{"kind": "refund", "status": status}] if status else []
    return {"processed_at": REFUNDED, "transactions": transactions,
            "refund_line_items": [dict(zip(("line_item_id", "quantity", "subtotal", "total_tax"), row)) for row in rows],
            "order_adjustments": [dict(zip(("amount", "kind"), one)) for one in adjustments], **more}


def order(number, lines, second=1, **more):
    made = {"id": number, "created_at": "2026-03-01T10:00:00Z", "updated_at": f"2026-03-01T10:00:{second:02}Z",
            "currency": "EUR", "taxes_included": True, "total_price": "200.00", "line_items": lines, "refunds": [],
            "discount_codes": [{"code": "ANNA15", "amount": "15.00"}],
            "discount_applications": [{"type": "discount_code", "code": "ANNA15"}]}
    return {**made, **more}


# A whole life -----------------------------------------------------------------------------------------------------------


def both(shop, presentment):
    return {"shop_money": {"amount": shop}, "presentment_money": {"amount": presentment}}


CUP = line(11, "60.00", "17.50", 2, discount_allocations=[{"amount": "15.00"}],
           price_set=both("60.00", "64.95"))
CAP, PEN = line(12, "40.00", "6.67"), line(15, "25.00", "4.17")
OTHERS = [line(13, "50.00", "0.00", gift_card=True), line(14, "4.00", "0.00", tip_payment_gateway=None)]
EDITED = refund([(12, 1, 40.00, 6.67)], status=None)
RETURNED = refund([(11, 1, 52.50, 8.75)])
MONEY = refund(adjustments=[("-10.00", "refund_discrepancy")])
SHIPPING = refund(adjustments=[("-4.90", "shipping_refund")], refund_shipping_lines=[{"subtotal": "4.90"}])
FIRST = {"shipping_lines": [{"price": "4.90"}], "financial_status": "pending", "presentment_currency": "USD"}
PAID = {**FIRST, "financial_status": "paid"}


def life():
    """[(topic, order)]: the last two are of one second."""
    three = [CUP, CAP, *OTHERS]
    four = [*three, PEN]
    refunds = [EDITED, RETURNED, MONEY, SHIPPING]
    return [
        ("orders/create", order(1, three, 1, **FIRST)),
        ("orders/paid", order(1, three, 2, **PAID)),
        ("orders/updated", order(1, four, 3, **PAID, refunds=refunds[:1])),
        ("orders/updated", order(1, four, 4, **PAID, refunds=refunds[:2])),
        ("orders/updated", order(1, four, 5, **PAID, refunds=refunds[:3])),
        ("orders/updated", order(1, four, 6, **PAID, refunds=refunds)),
        ("orders/cancelled", order(1, four, 6, **PAID, refunds=refunds, cancelled_at="2026-03-01T10:00:06Z")),
    ]


def model_of(state):
    body = json.dumps(state)
    return ShopifyModel(json.loads(body, parse_float=str, parse_int=str), Settings(), instant(TRIGGERED)).translate()


def commission(state):
    """10 % of net, less what was refunded in proportion."""
    found = model_of(state)
    if found.cancelled_at is not None:
        return "0.00"
    earned = Fraction(0)
    for each in found.lines:
        if each.refunded < each.amount:
            left = 1 - each.refunded / each.amount
            earned += half_even((each.amount - each.tax) / 10 * left, 2)
    return text(earned, 2)


def deliver(world, topic, state):
    accepted(world.shopify.send(json.dumps(state), topic=topic, triggered_at=TRIGGERED))


def earned_by(world):
    balance = world.balance("EUR")
    return balance[3] if balance else "0.00"


def test_each_state_of_a_life_earns_the_models_commission(world):
    states = life()
    expected = [commission(state) for _, state in states]
    assert len(set(expected)) >= 5 and expected[-1] == "0.00"
    for (topic, state), amount in zip(states, expected):
        deliver(world, topic, state)
        assert earned_by(world) == amount, state["updated_at"]
    orders = world.file("orders.json", json.dumps({"orders": [states[-1][1]]}))
    assert world.sluice.json("reconcile", orders, "--shop", world.shop, "--source", "shopify", "--settle", "0s") == []
    accepted(world.shopify.send('{"id":1}', topic="orders/delete", triggered_at="2026-03-01T10:00:07Z"))
    assert earned_by(world) == "0.00" and world.only_order()["cancelled_at"]


@pytest.mark.parametrize("seed", range(4))
def test_webhooks_may_arrive_in_any_order(world, seed):
    """Two of one second among them; a retry comes now and then."""
    chosen = random.Random(seed)
    states = life()[:6 + seed % 2]
    expected = commission(states[-1][1])
    arrivals = states + chosen.choices(states, k=2)
    chosen.shuffle(arrivals)
    for topic, state in arrivals:
        deliver(world, topic, state)
    assert earned_by(world) == expected, [state["updated_at"] for _, state in arrivals]
    row = world.only_order()
    assert row["last_updated_at"][:19] == "2026-03-01T10:00:06" and bool(row["cancelled_at"]) == bool(seed % 2)


# The worked examples ----------------------------------------------------------------------------------------------------

A = line(11, "60.00", "17.50", 2, discount_allocations=[{"amount": "15.00"}])
EIGHTY, TWENTY, FIFTY = line(11, "80.00", "13.33"), line(12, "20.00", "3.33"), line(11, "50.00", "8.33")
FIFTY_BACK = [(11, 1, 50.00, 8.33)]
TWO_MONIES = line(11, "90.00", "15.00", price_set=both("90.00", "97.43"))
EXAMPLES = {
    1: ([A], {}, "8.75"),
    2: ([line(11, "50.00", "17.00", 2, discount_allocations=[{"amount": "15.00"}])], {"taxes_included": False}, "8.50"),
    3: ([A], {"refunds": [refund([(11, 1, 52.50, 8.75)])]}, "4.38"),
    4: ([EIGHTY, TWENTY], {"refunds": [MONEY]}, "7.50"),
    5: ([FIFTY], {"refunds": [refund(FIFTY_BACK, [("30.00", "refund_discrepancy")])]}, "2.50"),
    6: ([FIFTY], {"refunds": [refund(FIFTY_BACK, [("50.00", "refund_discrepancy")], "pending")]}, "0.00"),
    7: ([A], {"refunds": [SHIPPING]}, "8.75"),
    8: ([line(11, "40.00", "6.67"), line(12, "25.00", "4.17")],
        {"refunds": [refund([(11, 1, 40.00, 6.67)], status=None)]}, "2.08"),
    9: ([line(11, "30.00", "5.00"), *OTHERS], {}, "2.50"),
    10: ([TWO_MONIES], {"presentment_currency": "USD"}, "7.50"),
    11: ([A], {"discount_applications": [{"type": "automatic", "title": "ANNA15"}]}, None),
    12: ([A], {"cancelled_at": "2026-03-01T10:00:01Z"}, "0.00"),
}
BY_PLUGIN = {"id": 9, "total": "-33.75",
             "line_items": [{"line_item_id": 1, "quantity": -1, "total": "-28.13", "total_tax": "-5.62"}]}
WOO_EXAMPLES = {13: ([], "8.32"), 14: ([{"id": 9, "reason": "", "total": "-10.00"}], "7.49"), 15: ([BY_PLUGIN], "5.51")}


def with_own_lines(state):
    """The ids of lines are unique within a shop."""
    state = json.loads(json.dumps(state))
    rows = [row for one in state["refunds"] for row in one.get("refund_line_items", one.get("line_items", []))]
    for holder, name in [(each, "id") for each in state["line_items"]] + [(row, "line_item_id") for row in rows]:
        holder[name] += 1000 * state["id"]
    return state


def test_the_worked_examples_earn_their_commission(world):
    """Numbers 1 to 15; the tests of the translation have their lines and rows."""
    for number, (lines, more, _) in EXAMPLES.items():
        deliver(world, "orders/updated", with_own_lines(order(number, lines, **more)))
    deliver(world, "orders/updated", with_own_lines(order(12, [A])))  # the state before arrives last
    for number, (refunds, _) in WOO_EXAMPLES.items():
        state = {**json.loads(payload("woocommerce", "order")), "id": number, "refunds": refunds}
        accepted(world.woocommerce.send(json.dumps(with_own_lines(state))))
    rows = world.rows("orders") + world.sluice.report("orders", "--shop", world.woo_shop)
    found = {int(row["order_id"]): row["commission_amount"] if row["creator_id"] else None for row in rows}
    assert found == {number: example[-1] for number, example in (EXAMPLES | WOO_EXAMPLES).items()}
    noted = {int(row["order_id"]) for shop in (world.shop, world.woo_shop)
             for row in world.sluice.report("anomalies", "--shop", shop) if row["kind"] == "REFUND_NOT_BY_LINE"}
    assert noted == {4, 5, 14}


def test_the_customers_currency_counts_if_the_shop_says_so(world):
    world.sluice("shop", "set", world.shop, "--platform", "shopify", "--money", "presentment")
    lines = [{**TWO_MONIES, "tax_lines": [{"price_set": both("15.00", "16.24")}]}]
    deliver(world, "orders/updated", order(10, lines, presentment_currency="USD", total_price_set=both("90.00", "97.43")))
    assert world.balance("USD")[3] == "8.12" and world.balance("EUR") is None


def test_today_counts_open_requests_about_persons_apart(world, edge):
    _, reader = world.sluice.token(world.account, "read_orders", "read_ledger")
    for topic in ("customers/redact", "customers/data_request"):
        asked = {"shop_id": 1, "shop_domain": "mugs.myshopify.com", "customer": {"id": 7}}
        accepted(world.shopify.send(json.dumps(asked), topic=topic))
    accepted(world.shopify.send(payload("shopify", "order").replace("EUR", "TMN")))
    world.sluice.drain()
    folder = edge.folder / world.account
    folder.mkdir()
    with Serve(edge.store, folder) as serve:
        waiting = Reader(serve, token=reader).object("today")["waiting"]
    counts = {line["kind"]: line["count"] for line in waiting}
    assert (counts["privacy_requests"], counts["dead_letters"]) == (2, 1)


# Commands -------------------------------------------------------------------------------------------------------------


def letters_of(world):
    world.sluice.drain()
    return [row for row in world.sluice.json("dead", "list") if row["shop_id"] == world.shop]


def ask(world, topic, customer=207119551, **more):
    body = {"shop_id": 1, "shop_domain": "mugs.myshopify.com", "customer": {"id": customer, "email": "bob.norman@mail.example"}, **more}
    accepted(world.shopify.send(json.dumps(body), topic=topic))
    (letter,) = letters_of(world)
    return letter["seq"]


def test_forget_answers_a_request_about_a_person(world):
    customer = int("98" + world.account.rpartition("-")[2].rjust(9, "0"))  # of no other shop in the archive
    accepted(world.shopify.send(payload("shopify", "order").replace("207119551", str(customer))))
    seq = ask(world, "customers/redact", customer, orders_to_redact=[450789469508])
    rows = world.sluice.json("forget", "--request", seq, "--dry-run")
    assert [(row["person"].split()[0], row["orders"]) for row in rows] == [
        ("order", ["450789469508"]), ("customer", []), ("customer", ["450789469508"])]
    assert letters_of(world) and str(customer).encode() in archived(world.edge.store)
    assert world.sluice.json("forget", "--request", seq) == rows
    assert not letters_of(world)
    assert str(customer).encode() not in archived(world.edge.store)
    assert [row["order_id"] for row in world.rows("orders")] == ["450789469508"]


@pytest.mark.parametrize("topic, said", [("customers/data_request", "wants to see"), ("shop/redact", "the books of shop")])
def test_other_requests_are_listed_and_stay(world, topic, said):
    accepted(world.shopify.send(payload("shopify", "order")))
    seq = ask(world, topic)
    run = world.sluice.run("forget", "--request", seq)
    assert run.returncode == 0 and said in run.stderr and f"dead discard {seq}" in run.stderr
    assert letters_of(world)
    assert world.sluice.refuses("forget", "--request", seq, "--shop", world.shop, code=2)
    if topic == "customers/data_request":
        assert f"sluice explain ORDER --shop {world.shop}" in run.stderr
        assert "105.00" in world.sluice("explain", "450789469508", "--shop", world.shop)
    world.sluice("dead", "discard", seq, "--reason", "answered")
    assert not letters_of(world)


def test_orders_of_a_file_are_sent_and_reconciled(world):
    """A back-fill and the webhook of the same state are one order; a list knows no more than its second."""
    path = world.file("orders.json", f"[{payload('shopify', 'order')}]")

    def reconciled():
        world.sluice.drain()
        rows = world.sluice.json("reconcile", path, "--shop", world.shop, "--source", "shopify", "--settle", "0s")
        return [(row["class"], row["field"]) for row in rows]

    assert reconciled() == [("missing", None)]
    secret = world.file("token", world.secret)
    secret.chmod(0o600)
    said = world.sluice("send", "orders", path, "--source", "shopify", "--shop", world.shop, "--token-file", secret,
                        "--share", "100", "--url", f"http://127.0.0.1:{world.edge.port}")
    assert "1 sent, 0 rejected" in said
    assert world.journal() == [("1466", "8.75", "ACCRUAL")]
    accepted(world.shopify.send(payload("shopify", "order")))
    assert reconciled() == []
    accepted(world.shopify.send(payload("shopify", "refunds")))
    assert reconciled() == [("newer", "platform_updated_at")]


def test_wc4_a_refund_that_was_deleted_is_found_by_reconcile(world):
    """It sends no webhook before WooCommerce 11.2, and may leave the version as it was."""
    order = json.loads(payload("woocommerce", "order"))
    refund = {"id": 9, "reason": "", "total": "-10.00"}
    accepted(world.woocommerce.send(json.dumps({**order, "refunds": [refund]}), topic="order.updated"))
    world.sluice.drain()

    def reconciled(refunds):
        path = world.file("woo.json", json.dumps([{**order, "refunds": refunds}]))
        rows = world.sluice.json("reconcile", path, "--shop", world.woo_shop, "--source", "woocommerce", "--settle", "0s")
        return [(row["class"], row["field"], row["file"], row["ledger"]) for row in rows]

    assert reconciled([refund]) == []
    assert reconciled([]) == [("different", "refund_line_items", "0.00", "10.00")]


def test_verify_names_the_token_that_signed(world):
    body = payload("woocommerce", "order")
    path = world.file("signed.json", body)
    other = world.sluice.shop(f"{world.account}-other", world.account)
    world.sluice("shop", "set", other, "--platform", "woocommerce")
    of_app, of_woo = (signature(secret, body.encode()) for secret in (world.secret_of_app, "a secret of that shop alone"))
    world.give("woocommerce_webhooks", "a secret of that shop alone", "--shop", other)
    assert "matches" in world.sluice("verify", path, "--shop", world.woo_shop, "--signature", of_app)
    assert f"the token of shop {other}" in str(world.sluice.refuses("verify", path, "--shop", world.woo_shop, "--signature", of_woo))
    wrong = signature("another secret of some shop", body.encode())
    assert "made in its admin" in str(world.sluice.refuses("verify", path, "--shop", world.shop, "--signature", wrong))
    assert "44 characters" in str(world.sluice.refuses("verify", path, "--shop", world.shop, "--signature", wrong[:-1]))


def test_a_shop_is_given_a_platform_before_its_orders_are_translated(world):
    other = world.sluice.shop(f"{world.account}-other", world.account)
    path = world.file("order.json", payload("shopify", "order"))
    said = world.sluice.refuses("translate", path, "--shop", other)
    assert "sluice shop set" in str(said)
    world.sluice("shop", "set", other, "--platform", "shopify", "--from", "2026-01-01T00:00:00Z")
    assert json.loads(world.sluice("translate", path, "--shop", other))["platform_order_id"] == "450789469508"


def mapped_otherwise(world, **changes):
    """Returns an order of a file with the values that were seen, and lines as another mapping reads them."""
    path = world.file("order.json", payload("shopify", "order"))
    document = json.loads(world.sluice("translate", path, "--source", "shopify"))
    document["line_items"][0].update(changes)
    return document


def test_orders_that_are_read_otherwise_today_are_corrected(world):
    world.sluice("account", "set", world.account, "--rate-limit", "100/60")
    assert world.edge.post_event(world.shop, world.secret, "ORDER_UPDATE", mapped_otherwise(world, amount="65.00")).status == 200
    assert world.journal() == [("1466", "4.75", "ACCRUAL")]
    (line,) = world.sluice("translate", "--stored", "--shop", world.shop).splitlines()
    fix = json.loads(line)
    assert fix["line_items"][0]["amount"] == "105.00" and fix["platform_customer_id"] == "207119551"
    assert fix["svc_anon_id"] == "dev-12345678"
    assert not world.sluice("translate", "--stored", "--shop", world.shop, "--since", "2100-01-01T00:00:00Z")
    secret = world.file("token", world.secret)
    secret.chmod(0o600)
    world.sluice("send", "events", world.file("fix.ndjson", line + "\n"), "--shop", world.shop, "--token-file", secret,
                 "--share", "100", "--url", f"http://127.0.0.1:{world.edge.port}")
    assert world.journal() == [("1466", "4.75", "ACCRUAL"), ("1466", "4.00", "UPDATE")]
    assert not world.sluice("translate", "--stored", "--shop", world.shop)


def test_explain_shows_the_platforms_values(world):
    accepted(world.shopify.send(payload("shopify", "order")))
    accepted(world.shopify.send(payload("shopify", "refunds")))
    world.sluice.drain()
    said = world.sluice("explain", "450789469508", "--shop", world.shop)
    assert "from shopify orders/updated, delivery 545ebdd4-0000-4000-8000-000000000001, " \
        "triggered 2026-03-01T10:00:01.516267807Z, mapping shopify/1" in said
    assert "line_items[0]." not in said
    said = world.sluice("explain", "450789469508", "--shop", world.shop, "--source")
    assert "line_items[0].price_set.shop_money.amount = 60.00 " in said and "SF1" in said
    first, second = (event["source"] for event in world.sluice.json("explain", "450789469508", "--shop", world.shop)["events"])
    assert (first["platform"], first["mapping"], first["signed"], first["notes"]) == ("shopify", 1, True, [])
    assert second["notes"] == ["REFUND_NOT_BY_LINE"] and second["delivery_id"].endswith("2")
    row = next(row for row in second["fields"] if row["platform_field"] == "refunds[0].refund_line_items[0].subtotal")
    assert (row["field"], row["value"], row["rule"]) == ("refund_line_items[0].amount", "62.50", "SF1")
    assert "Norman" not in json.dumps([first, second])


def test_each_event_says_how_it_came(world, edge):
    """As the ledger has it, whatever happens to the stored inputs: a post of a sender before the shop had a platform, a
    webhook, an order of a file, and a deletion before the order."""
    world.sluice("account", "set", world.account, "--rate-limit", "100/60")
    document = mapped_otherwise(world, amount="65.00")
    world.sluice("shop", "set", world.shop, "--platform", "none")

    def post(hour):
        version = {"platform_updated_at": f"2026-03-01T{hour}:00:00Z"}
        assert world.edge.post_event(world.shop, world.secret, "ORDER_UPDATE", document | version).status == 200
        world.sluice.drain()

    post("09")
    world.sluice("shop", "set", world.shop, "--platform", "shopify", "--domain", world.domain, "--from", "2026-01-01T00:00:00Z")
    accepted(world.shopify.send(payload("shopify", "order")))
    world.sluice.drain()
    post("11")
    accepted(world.shopify.send('{"id":77}', topic="orders/delete", triggered_at="2026-03-01T10:00:09Z"))
    world.sluice.drain()
    deliver(world, "orders/updated", with_own_lines(order(77, [A])))
    accepted(world.woocommerce.send(payload("woocommerce", "order")))
    world.sluice.drain()
    _, reader = world.sluice.token(world.account, "read_orders")
    folder = edge.folder / f"{world.account}-sources"
    folder.mkdir()
    with Serve(edge.store, folder) as serve:
        caller = Reader(serve, token=reader)
        for shop, name, expected in ((world.shop, 450789469508, ["signed_post", "shopify", "import"]),
                                     (world.shop, 77, ["shopify", "shopify"]), (world.woo_shop, 727, ["woocommerce"])):
            read = caller.object("order", shop=shop, order=name)["events"]
            assert [event["source"] for event in read] == [{"kind": kind} for kind in expected]
            told = world.sluice.json("explain", name, "--shop", shop)["events"]
            assert [event["source"]["kind"] for event in told] == expected
            assert [event["source"].get("platform") is None for event in told] == [kind == "signed_post" for kind in expected]


# No person on any disk --------------------------------------------------------------------------------------------------

OTHER_TOPICS = ("customers/redact", "customers/data_request", "shop/redact", "refunds/create", "orders/delete")


def is_of_a_test(path, edge):
    """Returns whether a test wrote the file, to send it."""
    return path.parent == edge.folder and path.suffix == ".json"


def test_no_person_reaches_a_disk(world, edge):
    """Names, addresses, numbers in every place where a platform has one; orders that are stored, ignored, refused,
    unreadable, and requests about the person."""
    for platform, payloads in ((world.shopify, ShopifyPayloads), (world.woocommerce, WooCommercePayloads)):
        for seed in range(40):
            made = payloads(random.Random(seed)).order()
            if seed % 8 == 0:
                made["currency"] = "TMN"  # a dead letter
            body = as_json(made)
            answer = platform.send(body)
            assert answer.status in (200, 400), answer
            if seed % 10 == 0:
                platform.send(body, changed=[(name, signature("a wrong secret of some shop", body.encode()))
                                             for name in ("X-Shopify-Hmac-Sha256", "X-WC-Webhook-Signature")])
    person = {"id": 7, "first_name": "Bob", "last_name": "Norman", "email": "bob.norman@example.com", "phone": "+33 1 99"}
    for topic in OTHER_TOPICS:
        request = {"id": 8, "shop_id": 1, "shop_domain": "x", "customer": person, "orders_to_redact": [1], "note": "Batz"}
        accepted(world.shopify.send(json.dumps(request), topic=topic))
    refused(world.shopify.send("[" + as_json(made) + "]"), 400)
    world.sluice.drain()
    assert world.rows("orders") and world.sluice.json("dead", "list")
    found = {"archive": archived(edge.store)}
    folders = [edge.folder, edge.store] + ([edge.server.folder] if edge.server else [])
    for folder in folders:
        found |= {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file() and not is_of_a_test(path, edge)}
    for person in PERSONS:
        assert not [name for name, content in found.items() if person.encode() in content], person
