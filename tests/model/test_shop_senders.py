"""The shops' side: the plugin of conf/shops in Debian's PHP, and Shopify's own library on what the tests' sender signs."""

import json
import pathlib
import subprocess

import pytest

from harness import npm, paths
from harness.platform_senders import Shopify
from model.test_shop_translation import Driver

PLUGIN = paths.ROOT / "conf" / "shops" / "sluice-for-woocommerce.php"
HERE = pathlib.Path(__file__).parent
DEVICE = "dev-12345678"


def run_plugin(payload, refunds=None, cookies=None):
    given = {"payload": payload, "refunds": refunds or {}, "cookies": cookies or {}}
    said = subprocess.run(["php", str(HERE / "wordpress.php"), str(PLUGIN)], input=json.dumps(given), check=True,
                          capture_output=True, text=True, timeout=paths.DEADLINE)
    assert not said.stderr
    return json.loads(said.stdout)


def woo_order(**changes):
    return {**json.loads((HERE / "translated" / "woocommerce-1" / "order.json").read_text()), **changes}


def refund_rows(order):
    with Driver() as driver:
        found = driver.translate("woocommerce", "order.updated", json.dumps(order))["body"]
    rows = [(row["amount"], row["tax"], row["quantity"]) for row in found["refund_line_items"]]
    return rows, found["source"].get("notes", [])


def test_the_plugin_is_php_without_a_fault():
    checked = subprocess.run(["php", "-l", str(PLUGIN)], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout


def test_the_plugin_names_the_lines_of_a_refund():
    order = woo_order(refunds=[{"id": 9, "reason": "", "total": "-35.75"}])
    items = {"line_item": [{"line": "1", "quantity": -1, "total": "-28.13", "total_tax": "-5.62"}],
             "shipping": [{"total": "-1.00", "total_tax": "-0.20"}], "fee": [{"total": "-0.80", "total_tax": "0"}]}
    assert refund_rows(order)[1] == ["REFUND_NOT_BY_LINE"]
    payload = run_plugin(order, {9: items})["payload"]
    assert refund_rows(payload) == ([("33.75", "5.62", "1"), ("0.00", "0.00", "0")], [])


def test_an_order_has_its_refunded_lines_in_a_webhook_and_in_an_export():
    """WC2 with BF1: the state of a file replaces that of the webhook of its second, so it may not have less."""
    order = woo_order(refunds=[{"id": 9, "reason": "", "total": "-35.75"}])
    items = {"line_item": [{"line": "1", "quantity": -1, "total": "-28.13", "total_tax": "-5.62"}]}
    made = run_plugin(order, {9: items})
    assert made["payload"]["refunds"][0]["line_items"]
    assert made["webhooks"] == [made["payload"], made["payload"]]


def test_money_beyond_the_items_of_a_refund_is_shared():
    order = woo_order(refunds=[{"id": 9, "reason": "", "total": "-43.75"}])
    items = {"line_item": [{"line": "1", "quantity": -1, "total": "-28.13", "total_tax": "-5.62"}]}
    rows, notes = refund_rows(run_plugin(order, {9: items})["payload"])
    assert rows == [("38.84", "6.47", "1"), ("4.91", "0.82", "0")]
    assert notes == ["REFUND_NOT_BY_LINE"]


def test_the_plugin_leaves_everything_else_as_it_is():
    order = woo_order()
    assert run_plugin(order)["payload"] == order
    unknown = woo_order(refunds=[{"id": 9, "total": "-1.00"}])
    assert run_plugin(unknown)["payload"] == unknown
    part = {"id": 1}
    assert run_plugin(part)["payload"] == part, "a request may ask for some fields only"


@pytest.mark.parametrize("cookie, kept", [(DEVICE, True), ("short", False), ("x" * 129, False), (DEVICE + "\n", False),
                                          ("dev 12345678", False), (None, False)])
def test_the_plugin_keeps_the_device_of_a_new_order(cookie, kept):
    orders = run_plugin({}, cookies={} if cookie is None else {"svc_anon_id": cookie})["orders"]
    assert set(orders) == {"woocommerce_checkout_create_order", "woocommerce_store_api_checkout_update_order_meta"}
    for meta in orders.values():
        assert meta == ({"_svc_anon_id": cookie} if kept else {})


def test_a_request_of_the_sender_is_valid_to_shopifys_library():
    folder = npm.install(HERE / "shopify_library", "shopify-library", "ci")
    body = (HERE / "translated" / "shopify-1" / "order.json").read_text().strip()
    headers = dict(Shopify(None, "mugs.myshopify.com", "the app's secret").headers(body.encode()))
    for secret, valid in (("the app's secret", True), ("another secret", False)):
        request = json.dumps({"secret": secret, "headers": headers, "body": body})
        said = subprocess.run(["node", "verify.mjs"], cwd=folder, input=request, capture_output=True, text=True,
                              check=True, timeout=paths.DEADLINE)
        assert json.loads(said.stdout)["valid"] is valid, said.stdout
