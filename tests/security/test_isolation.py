"""docs/security.md: one account never reads or affects what is another's, and a captured request changes nothing."""

import pytest

from harness import answers, orders, sign
from harness.http_block import CATALOG, EVENTS, http_block

CONFIG = http_block(EVENTS, CATALOG, limit="20 1h")
UNLIMITED = CONFIG.replace("20 1h", "1000000 1h")
PROGRAM = """
[[program]]
id = "{account}-program"
account = "{account}"
window_days = 30
base = "gross"
precedence = ["AFFILIATE_CODE"]
clearing_days = 0
default_rate = "10%"
late_days = 36500
"""


def batch(product, title):
    return {"products": [{"platform_product_id": product, "title": title}]}


@pytest.fixture
def two(start_edge, new_merchant):
    edge = start_edge(UNLIMITED, workers=1)
    return edge, new_merchant(edge, "victim"), new_merchant(edge, "thief")


def report(edge, kind, merchant):
    return edge.sluice.report(kind, "--shop", merchant.shop)


def test_a_token_opens_its_own_account_only(two):
    edge, victim, thief = two
    answers.is_unauthorized(edge.post_event(victim.shop, thief.secret, "ORDER_CREATE", orders.order()))
    answers.catalog_error(edge.post_catalog(victim.shop, thief.secret, "PRODUCT_UPSERT", batch("p", "T"), "k"), 404)
    body = sign.encode(orders.order())
    signed_by_thief = sign.event_headers(thief.shop, thief.secret, "ORDER_CREATE", body)
    for shops in ([victim.shop, thief.shop], [thief.shop, victim.shop]):
        headers = sign.without(signed_by_thief, "X-SVC-SHOP-ID") + [("X-SVC-SHOP-ID", shop) for shop in shops]
        answers.is_unauthorized(edge.request("POST", sign.EVENTS, headers, body))
    assert edge.sluice.accepted() == 0


def test_a_shop_that_is_not_mine_looks_like_one_that_is_not_there(two):
    edge, victim, thief = two
    answered = [
        edge.post_catalog(shop, thief.secret, "PRODUCT_UPSERT", batch("p", "T"), "k")
        for shop in (victim.shop, "nowhere")
    ]
    assert answered[0].status == answered[1].status == 404 and answered[0].body == answered[1].body
    answered = [
        edge.post_event(shop, thief.secret, "ORDER_CREATE", orders.order("o")) for shop in (victim.shop, "nowhere")
    ]
    assert answered[0].status == 401
    assert [name for name, _ in answered[0].headers] == [name for name, _ in answered[1].headers]


def test_no_account_uses_up_anothers_limit(start_edge, new_merchant):
    edge = start_edge(CONFIG, workers=1)
    victim, thief = new_merchant(edge, "victim"), new_merchant(edge, "thief")
    for number in range(50):
        edge.post_event(victim.shop, thief.secret, "ORDER_CREATE", orders.order())
        edge.post_catalog(victim.shop, thief.secret, "PRODUCT_UPSERT", batch("p", "T"), f"k{number}")
        edge.post_event(victim.shop, victim.secret[:-1], "ORDER_CREATE", orders.order())
        thief.event("ORDER_CREATE", orders.order())
    assert thief.event("ORDER_CREATE", orders.order()).status == 429
    answer = victim.event("ORDER_CREATE", orders.order())
    assert answer.status == 200 and answer.header("X-RateLimit-Remaining") == "19"


def test_idempotency_keys_are_the_shops_own(two):
    edge, victim, thief = two
    first = victim.catalog("PRODUCT_UPSERT", batch("p", "the victim's"), "key")
    stolen = thief.catalog("PRODUCT_UPSERT", batch("p", "the thief's"), "key")
    answers.catalog_success(stolen, 1)  # no conflict, no replay: it learns nothing of the victim's key
    again = victim.catalog("PRODUCT_UPSERT", batch("p", "the victim's"), "key")
    assert (again.status, again.body) == (first.status, first.body)
    edge.sluice.drain()
    assert [row["title"] for row in report(edge, "products", victim)] == ["the victim's"]
    assert [row["title"] for row in report(edge, "products", thief)] == ["the thief's"]


def test_products_and_orders_of_one_id_are_each_accounts_own(two):
    edge, victim, thief = two
    for account in ("victim", "thief"):
        program = edge.folder / "program.toml"
        program.write_text(PROGRAM.format(account=account))
        edge.sluice("program", "apply", program)
        creators = edge.folder / "creators.csv"
        creators.write_text(f"creator_id,program_id,code\n{account}-creator,{account}-program,SAVE\n")
        edge.sluice("creator", "import", creators)
    save = [{"code": "SAVE", "type": "DISCOUNT_CODE", "value_type": "PERCENTAGE", "value": "10"}]
    refund = [orders.refund("r1", amount="50.00")]
    first = orders.order("order", discounts=save)
    answers.is_success(victim.event("ORDER_CREATE", first))
    answers.catalog_success(victim.catalog("PRODUCT_UPSERT", batch("p", "the victim's"), "k1"), 1)
    edge.sluice.drain()
    before = {kind: report(edge, kind, victim) for kind in ("orders", "journal", "products", "anomalies")}
    assert before["orders"][0]["commission_amount"] == "10.00"

    later = "2024-03-09T10:00:00Z"
    attacks = [
        orders.order("order", discounts=save, platform_updated_at=later, refund_line_items=refund),
        orders.order("order", discounts=save, platform_updated_at=later, platform_cancelled_at=later),
        orders.order("order", platform_updated_at="2024-03-08T10:00:00Z", amount="1.00"),
    ]
    for attack in attacks:
        answers.is_success(thief.event("ORDER_UPDATE", attack))
    delete = {"products": [{"platform_product_id": "p", "parent_id": "p", "title": "T"}]}
    answers.catalog_success(thief.catalog("PRODUCT_DELETE", delete, "k1"), 1)
    edge.sluice.drain()
    assert {kind: report(edge, kind, victim) for kind in before} == before
    # The refund id that the thief used first is still the victim's to use.
    answers.is_success(
        victim.event("ORDER_UPDATE", orders.order("order", discounts=save, platform_updated_at=later,
                                                  refund_line_items=refund))
    )
    edge.sluice.drain()
    (row,) = report(edge, "orders", victim)
    assert row["refund_amount"] == "50.00" and row["commission_amount"] == "5.00"
    assert report(edge, "anomalies", victim) == []
    balances = {row["account_id"]: row["total"] for row in edge.sluice.report("balances")}
    assert balances["victim"] == "5.00"


def test_a_captured_event_changes_nothing(two):
    edge, victim, thief = two
    body = sign.encode(orders.order("order"))
    headers = sign.event_headers(victim.shop, victim.secret, "ORDER_CREATE", body)
    answers.is_success(edge.request("POST", sign.EVENTS, headers, body))
    update = sign.encode(orders.order("order", platform_updated_at="2024-03-05T10:00:00Z", amount="200.00"))
    answers.is_success(victim.event("ORDER_UPDATE", update))
    edge.sluice.drain()
    kinds = ("orders", "journal", "anomalies", "products")
    before = {kind: report(edge, kind, victim) for kind in kinds}
    assert before["orders"][0]["amount"] == "200.00"

    for _ in range(3):
        answers.is_success(edge.request("POST", sign.EVENTS, headers, body))
    for topic in ("ORDER_UPDATE", "ORDER_CANCEL"):
        answers.is_success(edge.request("POST", sign.EVENTS, sign.replaced(headers, x_svc_topic=topic), body))
    # Under another account's shop, or with one byte changed, it does not verify.
    answers.is_unauthorized(edge.request("POST", sign.EVENTS, sign.replaced(headers, x_svc_shop_id=thief.shop), body))
    answers.is_unauthorized(edge.request("POST", sign.EVENTS, headers, body.replace(b"105.00", b"905.00")))
    answers.is_unauthorized(edge.request("POST", sign.EVENTS, headers, body + b" "))
    edge.sluice.drain()
    after = {kind: report(edge, kind, victim) for kind in kinds}
    # ORDER_CANCEL without its field records an anomaly (Z9: also in the journal), and blocks until it is
    # acknowledged; no figure changes.
    kinds_shown = {row["kind"] for row in after.pop("anomalies")} - {row["kind"] for row in before.pop("anomalies")}
    assert kinds_shown <= {"CANCEL_WITHOUT_CANCELLED_AT"}
    added = [row for row in after["journal"] if row not in before["journal"]]
    assert [(row["reason"], row["line_item_id"], row["amount"]) for row in added] == [
        ("ANOMALY", "CANCEL_WITHOUT_CANCELLED_AT", None)
    ]
    for rows in (before, after):
        (order,) = rows["orders"]
        assert set(order.pop("blocked_by")) <= {"CANCEL_WITHOUT_CANCELLED_AT"}
        rows["journal"] = [row for row in rows["journal"] if row["reason"] != "ANOMALY"]
    assert after == before
    stats = edge.sluice.stats()
    assert (stats["duplicate"], stats["stale"], stats["applied"]) == (3, 2, 2)


def test_a_captured_batch_changes_nothing(two):
    edge, victim, _ = two
    body = sign.encode(batch("p", "first"))
    headers = sign.catalog_headers(victim.shop, victim.secret, "PRODUCT_UPSERT", body, "key")
    first = edge.request("POST", sign.CATALOG, headers, body)
    answers.catalog_success(victim.catalog("PRODUCT_UPSERT", batch("p", "second"), "key 2"), 1)
    again = edge.request("POST", sign.CATALOG, headers, body)
    assert again.body == first.body
    changed = sign.replaced(headers, x_svc_topic="PRODUCT_DELETE")
    delete = edge.request("POST", sign.CATALOG, changed, body)
    assert delete.status in (400, 422)
    edge.sluice.drain()
    assert [row["title"] for row in report(edge, "products", victim)] == ["second"]
    assert edge.sluice.stats()["catalog"] == 2
