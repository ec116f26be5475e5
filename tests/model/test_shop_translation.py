"""The translation of platforms' orders against the independent model, on very many random orders.

SLUICE_SEED=n runs one seed; SLUICE_SHOP_ORDERS=n so many orders for each seed (500 in CI).
SLUICE_SHOP_PAYLOADS=FOLDER reads orders that the platforms published: files *.json below FOLDER/shopify and
FOLDER/woocommerce.
"""

import json
import os
import pathlib
import random
import re
import subprocess
from fractions import Fraction

import pytest

from harness import paths
from model.platform_model import Fault, Settings, Shopify, WooCommerce
from model.platform_payloads import PERSONS, ShopifyPayloads, WooCommercePayloads, as_json
from model.values import instant, time_text

DRIVER = paths.BUILD / "tests" / "translate_driver"
COUNT = int(os.environ.get("SLUICE_SHOP_ORDERS", "500"))
SEEDS = [int(os.environ["SLUICE_SEED"])] if "SLUICE_SEED" in os.environ else list(range(1, 7))
AMOUNTS = ("amount", "tax", "shipping", "value")
START = "2026-03-03T00:00:00Z"


class Driver:
    def __enter__(self):
        self.process = subprocess.Popen([str(DRIVER)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        assert self.process.wait(timeout=paths.DEADLINE) == 0
        self.process.stdout.close()

    def translate(self, *request, **details):
        return json.loads(self.raw(*request, **details))

    def raw(self, platform, topic, body, settings=None, triggered_at="", from_file=False):
        settings = settings or Settings()
        fields = (platform, topic, triggered_at, int(from_file), START if settings.since else "", 0,
                  int(settings.presentment), int(settings.tests), int(settings.gift_cards), body)
        self.process.stdin.write("\t".join(str(field) for field in fields) + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline()


@pytest.fixture(scope="module")
def driver():
    with Driver() as running:
        yield running


def values_of(holder):
    """A canonical order with fractions for amounts, whole numbers for quantities, instants for times."""
    if isinstance(holder, list):
        return [values_of(held) for held in holder]
    if not isinstance(holder, dict):
        return holder
    found = {}
    for name, value in holder.items():
        if name in AMOUNTS:
            value = Fraction(value)
        elif name == "quantity":
            value = int(value)
        elif name.endswith("_at"):
            value = instant(value)
        found[name] = values_of(value)
    return found


def settings_of(chosen):
    return Settings(presentment=chosen.randrange(4) == 0, tests=chosen.randrange(2) == 0,
                    gift_cards=chosen.randrange(2) == 0, since=instant(START) if chosen.randrange(3) == 0 else None)


def check(driver, platform, body, settings, triggered_at="", from_file=False):
    topic = "orders/updated" if platform == "shopify" else "order.updated"
    found = driver.translate(platform, topic, body, settings, triggered_at, from_file)
    payload = json.loads(body, parse_float=str, parse_int=str)
    event = instant(triggered_at) if triggered_at else None
    model = (Shopify(payload, settings, event, from_file) if platform == "shopify"
             else WooCommerce(payload, settings))
    try:
        expected = model.translate()
    except Fault as fault:
        assert found["kind"] == "faults", fault
        return found
    if isinstance(expected, str):
        assert found == {"kind": "ignored", "ignored": expected, "anon_id": ""}
        return found
    if not expected.lines:
        assert found["kind"] == "deletion"
        assert found["body"]["platform_updated_at"] == time_text(expected.updated_at)
        return found
    assert found["kind"] == "order", found
    order = dict(found["body"])
    source = order.pop("source")
    assert values_of(order) == expected.canonical()
    assert set(source.get("notes", [])) == expected.notes
    assert found["anon_id"] == (expected.device or "")
    return found


def check_seen(driver, platform, found, body, settings, triggered_at, from_file):
    """No person is in the result, and what was read gives the same order again."""
    text = json.dumps(found)
    assert not [person for person in PERSONS if person in text]
    if found["kind"] not in ("order", "deletion"):
        return
    again = driver.translate(platform, "orders/updated" if platform == "shopify" else "order.updated",
                             json.dumps(found["body"]["source"]["seen"]), settings, triggered_at, from_file)
    for name in ("platform_customer_id", "svc_anon_id"):
        found["body"].pop(name, None)
    assert again["body"] == found["body"]
    assert driver.translate(platform, "orders/updated" if platform == "shopify" else "order.updated", body,
                            settings, triggered_at, from_file)["kind"] == found["kind"]


@pytest.mark.parametrize("platform", ["shopify", "woocommerce"])
@pytest.mark.parametrize("seed", SEEDS)
def test_random_orders_are_translated_as_by_the_model(driver, platform, seed):
    chosen = random.Random(f"{platform} {seed}")
    kinds = set()
    for at in range(COUNT):
        payloads = (ShopifyPayloads if platform == "shopify" else WooCommercePayloads)(chosen)
        order = payloads.order()
        if chosen.randrange(8) == 0:
            del order[chosen.choice(list(order))]
        body = as_json(order)
        settings = settings_of(chosen)
        triggered_at = chosen.choice(("", payloads.second() + "Z", payloads.second() + ".516267807Z"))
        from_file = chosen.randrange(10) == 0
        try:
            found = check(driver, platform, body, settings, triggered_at, from_file)
            check_seen(driver, platform, found, body, settings, triggered_at, from_file)
        except Exception:
            print(f"seed {seed}, order {at}: {vars(settings)} {triggered_at} {from_file}\n{body}")
            raise
        kinds.add(found["kind"])
    assert {"order", "ignored"} <= kinds


def test_shares_of_a_refund_sum_up_to_it(driver):
    chosen = random.Random(7)
    for _ in range(COUNT):
        payloads = ShopifyPayloads(chosen)
        payloads.currency = "EUR"
        lines = [{"id": str(at), "quantity": 1, "price": f"{chosen.randrange(1, 20000) / 100:.2f}"}
                 for at in range(chosen.randrange(1, 9))]
        whole = sum(Fraction(line["price"]) for line in lines)
        money = Fraction(chosen.randrange(1, 30000), 100)
        order = {"id": 1, "created_at": "2026-03-01T10:00:00Z", "updated_at": "2026-03-01T10:00:00Z",
                 "currency": "EUR", "taxes_included": True, "total_price": "0", "line_items": lines,
                 "refunds": [{"order_adjustments": [{"amount": f"-{float(money):.2f}"}],
                              "transactions": [{"kind": "refund", "status": "success"}]}]}
        found = driver.translate("shopify", "orders/updated", json.dumps(order))
        rows = [Fraction(row["amount"]) for row in found["body"]["refund_line_items"]]
        assert sum(rows) == min(money, whole)
        assert all(row <= Fraction(line["price"]) for row, line in zip(rows, lines))


@pytest.mark.parametrize("text, value", [
    ("12.50", "12.50"), ("12.5", "12.50"), ("1e2", "100.00"), ("1.25E-1", "0.125"), ("0.0000005", "0.00"),
    ("0.0000015", "0.000002"), ("0.00000050000001", "0.000001"), ("10.123456789", "10.123457"), ("-0.0", "0.00"),
    ("999999999999999.999999", "999999999999999.999999"), ("00000000000000000012.5", "12.50"), ("1e-400", "0.00"),
    ("0e99999999999999999999", "0.00"),
    ("999999999999999.9999995", None), ("1000000000000000", None), ("1e400", None), ("", None), ("1.", None),
    (".5", None), ("+1", None), ("1,5", None), (" 1", None), ("1e", None), ("--1", None), ("0x1", None),
])
def test_an_amount_is_read_from_its_digits(driver, text, value):
    order = {"id": 1, "created_at": "2026-03-01T10:00:00Z", "updated_at": "2026-03-01T10:00:00Z", "currency": "EUR",
             "taxes_included": True, "total_price": "0", "line_items": [{"id": 1, "quantity": 1, "price": text}],
             "refunds": []}
    found = driver.translate("shopify", "orders/updated", json.dumps(order))
    assert (found["body"]["line_items"][0]["amount"] if found["kind"] == "order" else None) == value
    if re.fullmatch(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?", text) and value:
        raw = json.dumps(order).replace(json.dumps(text), text)
        number = driver.translate("shopify", "orders/updated", raw)
        assert number["body"]["line_items"] == found["body"]["line_items"]


def published():
    folder = os.environ.get("SLUICE_SHOP_PAYLOADS")
    return sorted(pathlib.Path(folder).glob("*/*.json")) if folder else []


@pytest.mark.parametrize("order", published(), ids=lambda path: getattr(path, "stem", "none"))
def test_a_published_order_is_translated_as_by_the_model(driver, order):
    body = json.dumps(json.loads(order.read_text()))
    found = check(driver, order.parent.name, body, Settings(tests=True))
    assert found["kind"] in ("order", "deletion"), found


GOLDEN = sorted((paths.ROOT / "tests" / "model" / "translated").glob("*/*.json"))


@pytest.mark.parametrize("order", GOLDEN, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_the_bytes_of_a_mapping_stay(driver, order):
    """A change of the output of any body needs a new number of the mapping, and files of that number."""
    platform, number = order.parent.name.split("-")
    shopify = platform == "shopify"
    found = driver.raw(platform, "orders/updated" if shopify else "order.updated", order.read_text().strip(),
                       triggered_at="2026-03-01T10:00:01.516267807Z" if shopify else "")
    assert found == order.with_suffix(".translated").read_text()
    assert json.loads(found)["body"]["source"]["mapping"] == int(number)
