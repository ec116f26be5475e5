"""Record rules of the catalog endpoint: worked cases, and random batches against a model."""

import copy
import json
import random

import pytest

from harness import answers, orders, sign
from harness.mutate import ODD, mutated
from model import product_model
from model.product_model import INVALID, REQUIRED, Field
from model.strict_json import parse


def verdict(merchant, products, topic="PRODUCT_UPSERT", raw=None):
    """Returns the verdict of the service: a list of errors, empty for 200."""
    body = raw if raw is not None else sign.encode({"products": products})
    answer = merchant.catalog(topic, body, orders.unique("record"), connection=verdict.connection)
    if answer.status == 200:
        answers.catalog_success(answer, len(parse(body).all("products")[0]))
        return []
    return answers.record_errors(answer)


@pytest.fixture(autouse=True, scope="module")
def _connection(edge):
    with edge.connect() as verdict.connection:
        yield


FULL_VARIANT = {
    "variant_sku": "v1", "parent_id": "p", "position": 3, "title": "Large", "product_url": "https://x/",
    "image_src": "https://x/i", "price": 1.25, "list_price": 2, "sale_price": 0, "currency_code": "USD",
    "availability": "in stock", "allowed_regions": ["US", "anything"],
    **{f"option{n}_{part}": "o" for n in (1, 2, 3) for part in ("name", "value", "swatch_src")},
    "prices": [{"list_price": 1, "sale_price": 2, "currency_code": "EUR", "allowed_region": "DE"}],
    "selected_options": [{"name": "Size", "value": "L"}, {"name": None, "value": None}],
}
FULL = {
    "platform_product_id": "p", "parent_id": "p", "position": 0, "title": "T", "handle": "h", "brand": "b",
    "active": True, "in_stock": False, "product_url": "u", "image_src": "i", "language": "en",
    "country": "US", "list_price": 10, "sale_price": 9.99, "currency_code": "USD",
    "price_currency_code": "JPY", "availability": "out of stock", "allowed_regions": ["US"],
    "prices": {
        "price": 1, "priceRange": {"min": 1, "max": 2}, "salePrice": 1, "salePriceRange": {"min": 0, "max": 2.5},
        "promotionalPrice": 2, "promotionalPriceRange": {"min": 1, "max": 1},
        "discountedPrices": [{"discount": {"id": "d"}, "price": 1}],
        "discountedPriceRanges": [{"discount": {"id": "d"}, "range": {"min": 1, "max": 2}}],
    },
    "promotional_code": "PROMO", "collections": ["c"], "tags": ["t"], "variants": [FULL_VARIANT],
}


def walk(fields, sample, path=""):
    """(path, Field) of every field below, through nested records."""
    nested = {
        "prices": product_model.PRICES if "platform_product_id" in sample else product_model.VARIANT_PRICE,
        "variants": product_model.VARIANT,
        "selected_options": product_model.SELECTED_OPTION,
        "discountedPrices": {"discount": Field(product_model.DISCOUNT), "price": Field(product_model.number)},
        "discountedPriceRanges": {"discount": Field(product_model.DISCOUNT), "range": Field(product_model.RANGE)},
        "discount": {"id": Field(product_model.text)},
    }
    for name in ("priceRange", "salePriceRange", "promotionalPriceRange", "range"):
        nested[name] = {"min": Field(product_model.number), "max": Field(product_model.number)}
    for name, field in fields.items():
        where = f"{path}.{name}" if path else name
        yield where, field
        inner = sample[name]
        if isinstance(inner, list) and isinstance(inner[0], dict):
            where, inner = where + "[0]", inner[0]
        if isinstance(inner, dict):
            yield from walk(nested[name], inner, where)


ALL_FIELDS = dict(walk(product_model.PRODUCT, FULL))
assert len(ALL_FIELDS) > 70


def changed(path, value):
    return orders.with_value(FULL, path, value)


def test_full_record_is_accepted(merchant):
    assert verdict(merchant, [FULL]) == []


def test_minimal_records_are_accepted(merchant):
    assert verdict(merchant, [{"platform_product_id": "p", "title": "T"}]) == []
    assert verdict(merchant, [{"platform_product_id": "p", "title": "T", "variants": [{"variant_sku": "v"}]}]) == []
    minimal = {"platform_product_id": "p", "title": "T", "parent_id": "q"}
    assert verdict(merchant, [minimal], "PRODUCT_DELETE") == []


@pytest.mark.parametrize("path", ALL_FIELDS)
def test_null(merchant, path):
    field = ALL_FIELDS[path]
    wanted = [] if field.nullable else [(0, f"products[0].{path}", REQUIRED if field.required else INVALID)]
    assert verdict(merchant, [changed(path, None)]) == wanted


@pytest.mark.parametrize("path", ALL_FIELDS)
def test_missing(merchant, path):
    field = ALL_FIELDS[path]
    wanted = [(0, f"products[0].{path}", REQUIRED)] if field.required else []
    assert verdict(merchant, [changed(path, orders.DROP)]) == wanted


@pytest.mark.parametrize("path", ALL_FIELDS)
def test_wrong_types(merchant, path):
    for value in ("text", 1, 1.5, True, [], {}, [1], {"a": 1}, ["x"], [None], [[]], [{}]):
        products = [changed(path, value)]
        wanted = product_model.errors_of("PRODUCT_UPSERT", parse(json.dumps(products).encode()))
        assert sorted(verdict(merchant, products)) == sorted(wanted), value


@pytest.mark.parametrize("path", ALL_FIELDS)
def test_named_field_twice_is_invalid(merchant, path):
    parent, _, name = path.rpartition(".")
    document = copy.deepcopy(FULL)
    target = document
    for step in [s for s in parent.replace("]", "").replace("[", ".").split(".") if s]:
        target = target[int(step)] if step.isdigit() else target[step]
    again = json.dumps(target[name])
    target["@@"] = 0
    text = json.dumps({"products": [document]})
    for spelled in (name, "\\u%04x" % ord(name[0]) + name[1:]):
        raw = text.replace('"@@": 0', f'"{spelled}": {again}').encode()
        assert verdict(merchant, None, raw=raw) == [(0, f"products[0].{path}", INVALID)]


LISTS = {
    "collections": (250, "c"), "tags": (250, "t"), "variants": (250, {"variant_sku": "v"}),
    "variants[0].selected_options": (100, {}),
    "prices.discountedPrices": (10, {}), "prices.discountedPriceRanges": (10, {}),
}


@pytest.mark.parametrize("path", LISTS)
def test_list_limits(merchant, path):
    limit, element = LISTS[path]
    for size, good in ((0, True), (limit, True), (limit + 1, False), (limit * 4, False)):
        wanted = [] if good else [(0, f"products[0].{path}", INVALID)]
        assert verdict(merchant, [changed(path, [element] * size)]) == wanted, size


@pytest.mark.parametrize("path", ["allowed_regions", "variants[0].allowed_regions", "variants[0].prices"])
def test_lists_without_a_limit(merchant, path):
    element = {} if path.endswith("prices") else "US"
    assert verdict(merchant, [changed(path, [element] * 3000)]) == []


VALUES = {
    "language": (["en", "de", "zu"], ["EN", "eng", "xx", "", "e", "en-US", "en "]),
    "country": (["US", "DE", "ZW"], ["us", "USA", "XX", "", "UK", "U"]),
    "currency_code": (["USD", "JPY", "XCG", "ZWG", "XAD"], ["usd", "US", "", "ZZZ", "USDX"]),
    "price_currency_code": (["USD", "CAD", "GBP", "AUD", "EUR", "JPY", "CHF"], ["usd", "", "ZZZ"]),
    "availability": (["in stock", "out of stock"], ["In stock", "in_stock", "", "in  stock", "preorder"]),
    "variants[0].availability": (["in stock", "out of stock"], ["IN STOCK", "x", ""]),
    "variants[0].currency_code": (["EUR"], ["eur", "EURO", ""]),
    "variants[0].prices[0].currency_code": (["EUR"], ["eur", "EURO", ""]),
    "title": (["x", " ", "\u0001", "é" * 5000], ["", "a\0b"]),
    "platform_product_id": (["x", " ", "x" * 1024, "é" * 512], ["", "x" * 1025, "é" * 513]),
    "parent_id": (["x"], [""]),
    "variants[0].parent_id": (["x"], [""]),
    "variants[0].variant_sku": (["x", "x" * 1024], ["", "x" * 1025]),
    "position": ([0, -1, 2**63 - 1, -(2**63)], [1.0, 0.5, True, "1"]),
    "variants[0].position": ([0, -1], [1.0, "1"]),
    "list_price": ([0, -1, 1.5, 1e300, 2**63], ["1", True]),
    "handle": (["", "any thing"], [1]),
    "brand": ([""], [1]),
    "product_url": (["", "not a url"], [{}]),
    "promotional_code": ([""], [0]),
    "collections": ([[""], ["a", "a"]], [["a", 1], [None]]),
    "prices.priceRange": ([{}, {"min": 5, "max": 1}, {"min": 1}], [{"min": "1"}, {"max": None}]),
    "prices": ([{}, {"unknown": 1}], [[], "x"]),
    "variants[0].selected_options": ([[{}], [{"name": ""}]], [[None], [{"name": 1}]]),
}


@pytest.mark.parametrize("path", VALUES)
def test_values(merchant, path):
    good, bad = VALUES[path]
    for value in good:
        assert verdict(merchant, [changed(path, value)]) == [], value
    for value in bad:
        products = [changed(path, value)]
        wanted = product_model.errors_of("PRODUCT_UPSERT", parse(json.dumps(products).encode()))
        assert wanted and sorted(verdict(merchant, products)) == sorted(wanted), value


@pytest.mark.parametrize("spelled,good", [("1", True), ("-0", True), ("1e0", False), ("1.0", False), ("1E2", False), ("10e-1", False)])
def test_integer_is_written_without_fraction_or_exponent(merchant, spelled, good):
    raw = b'{"products":[{"platform_product_id":"p","title":"T","position":%s}]}' % spelled.encode()
    assert verdict(merchant, None, raw=raw) == ([] if good else [(0, "products[0].position", INVALID)])


def test_nul_in_a_named_string_is_invalid(merchant):
    for path in ("brand", "variants[0].option2_name", "collections[0]"):
        assert verdict(merchant, [changed(path, "a\0b")]) == [(0, f"products[0].{path}", INVALID)]


def test_unknown_fields_are_accepted(merchant):
    record = changed("unknown", {"a": [None, 1.5, "x"]})
    record["variants"][0]["unknown"] = []
    assert verdict(merchant, [record]) == []


# PRODUCT_DELETE -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["platform_product_id", "parent_id", "title"])
def test_delete_requires(merchant, name):
    record = {"platform_product_id": "p", "title": "T", "parent_id": "q"}
    for value, code in ((orders.DROP, REQUIRED), (None, REQUIRED), ("", INVALID), (5, INVALID), ([], INVALID)):
        changed_record = orders.with_value(record, name, value)
        assert verdict(merchant, [changed_record], "PRODUCT_DELETE") == [(0, f"products[0].{name}", code)]


def test_delete_checks_language_and_country(merchant):
    record = {"platform_product_id": "p", "title": "T", "parent_id": "q"}
    assert verdict(merchant, [{**record, "language": "en", "country": "US"}], "PRODUCT_DELETE") == []
    for name, value in (("language", "EN"), ("country", "us"), ("language", 5), ("country", "")):
        found = verdict(merchant, [{**record, name: value}], "PRODUCT_DELETE")
        assert found == [(0, f"products[0].{name}", INVALID)]


def test_delete_checks_nothing_else(merchant):
    record = {name: {"wrong": 1} for name in product_model.PRODUCT}
    record.update({"platform_product_id": "p", "title": "T", "parent_id": "q"})
    del record["language"], record["country"]
    assert verdict(merchant, [record], "PRODUCT_DELETE") == []


# Random records against the model -----------------------------------------------------------------

@pytest.mark.parametrize("seed", range(4))
def test_random_batches_get_the_verdict_of_the_model(merchant, seed):
    chance = random.Random(seed)
    for _ in range(500):
        topic = chance.choice(["PRODUCT_UPSERT", "PRODUCT_UPSERT", "PRODUCT_DELETE"])
        products = [mutated(chance, FULL) for _ in range(chance.choice([1, 1, 2, 4]))]
        if chance.random() < 0.1:
            products.append(chance.choice(ODD))
        raw = json.dumps({"products": products}).encode()
        wanted = product_model.errors_of(topic, parse(raw).all("products")[0])
        found = verdict(merchant, None, topic, raw=raw)
        # An element that is no object: its field may be the index alone, or absent.
        found = [(index, field or f"products[{index}]", code) for index, field, code in found]
        assert [index for index, _, _ in found] == sorted(index for index, _, _ in found)
        assert sorted(found) == sorted(wanted), raw
