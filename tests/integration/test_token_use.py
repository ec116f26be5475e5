"""Which token is in use: its id in the access log, its last day, its label and maker (B4)."""

import datetime

from harness import orders, paths

CONFIG = """
    sluice_store @STORE@ map_size=1g thread_pool=sluice offload_pool=offload;
    log_format token "$sluice_result $sluice_token";
    server {
        listen 127.0.0.1:@PORT@;
        access_log @DIR@/access.log token;
        location = /event/ecomm { sluice_ingest events; }
        location = /product-data { sluice_ingest catalog; }
    }
"""
PRODUCT = {"products": [{"platform_product_id": "p", "title": "T"}]}


def listed(edge):
    return {row["token_id"]: row for row in edge.sluice.json("token", "list")}


def test_b4_the_token_in_use_is_told_from_the_others(start_edge, new_merchant):
    edge = start_edge(CONFIG, workers=1)
    merchant = new_merchant(edge, "acme")
    catalog_id, catalog_secret = edge.sluice.token("acme", "write_products")
    idle = edge.sluice.json("token", "create", "--account", "acme", "--scope", "write_orders", "--label", "old shop")
    assert edge.post_event("shop-1", "no secret of theirs", "ORDER_CREATE", orders.order("bad")).status == 401
    assert edge.post_event(merchant.shop, merchant.secret, "ORDER_CREATE", orders.order("o1")).status == 200
    assert edge.post_catalog(merchant.shop, catalog_secret, "PRODUCT_UPSERT", PRODUCT, "key-1").status == 200
    access = edge.folder / "access.log"
    lines = paths.wait_until(lambda: len(lines := access.read_text().splitlines()) == 3 and lines, "three lines")
    assert lines == ["unauthorized -", f"accepted {merchant.token_id}", f"accepted {catalog_id}"]

    before = datetime.datetime.now(datetime.timezone.utc).date()
    assert all(row["last_used"] is None for row in listed(edge).values())
    edge.sluice("worker", "--until-empty")
    rows = listed(edge)
    days = {str(before), str(datetime.datetime.now(datetime.timezone.utc).date())}
    assert rows[merchant.token_id]["last_used"] in days and rows[catalog_id]["last_used"] in days
    assert rows[idle["token_id"]]["last_used"] is None and rows[idle["token_id"]]["label"] == "old shop"
    assert all(row["made_by"] for row in rows.values())
    (change,) = [row["change"] for row in edge.sluice.json("report", "changes") if idle["token_id"] in row["change"]]
    assert change == f"token create {idle['token_id']} of acme: write_orders, old shop"
    assert (edge.store / "token.days").stat().st_mode & 0o777 == 0o600


def test_b4_a_label_is_a_short_text(start_edge, new_merchant):
    edge = start_edge(CONFIG, workers=1)
    new_merchant(edge, "acme")
    for label in ("", "x" * 101):
        assert "expected 1 to 100 bytes" in edge.sluice.refuses(
            "token", "create", "--account", "acme", "--scope", "write_orders", "--label", label, code=2)
