"""conf/openapi.yaml: current, sound, and what a running server really does."""

import copy
import json
import re
import subprocess
import sys

import jsonschema
import pytest
import yaml

from docs import facts
from harness import orders, paths, sign
from harness.http_block import EVENTS, LARGE_CATALOG, http_block

CONFIG = http_block(EVENTS, LARGE_CATALOG, limit="100000 60s")


class NoDuplicates(yaml.SafeLoader):
    """A key that stands twice would silently win over the first."""

    def construct_mapping(self, node, deep=False):
        keys = [key.value for key, _ in node.value]
        assert len(keys) == len(set(keys)), f"twice in one mapping: {keys} at {node.start_mark}"
        return super().construct_mapping(node, deep)


DOCUMENT = yaml.load(facts.read("conf/openapi.yaml"), NoDuplicates)  # noqa: S506


def test_generated_files_are_current():
    dump = paths.BUILD / "tests" / "tables_dump"
    result = subprocess.run(
        [sys.executable, str(paths.ROOT / "tests/docs/generate.py"), str(dump), "--check"],
        capture_output=True, text=True, check=False,
    )
    assert result.returncode == 0, result.stdout + "run scripts/docs"


def test_version_and_references():
    assert DOCUMENT["openapi"].startswith("3.1.")
    assert DOCUMENT["info"]["version"] == "0.0.0"
    for reference in re.findall(r'\$ref"?: "#(/[^"]+)"', facts.read("conf/openapi.yaml")):
        at = DOCUMENT
        for key in reference.strip("/").split("/"):
            at = at[key]
    for schema in DOCUMENT["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema)


def validator(schema):
    root = {**schema, "components": DOCUMENT["components"]}
    return jsonschema.Draft202012Validator(root)


def resolve(node):
    while "$ref" in node:
        at = DOCUMENT
        for key in node["$ref"].removeprefix("#/").split("/"):
            at = at[key]
        node = at
    return node


def check_answer(path, answer):
    """Status, content type, headers and body are those that the document promises."""
    responses = DOCUMENT["paths"][path]["post"]["responses"]
    assert str(answer.status) in responses, answer.status
    promised = resolve(responses[str(answer.status)])
    for name, header in promised.get("headers", {}).items():
        assert answer.header(name) is not None, f"{answer.status} lacks {name}"
        validator(resolve(header)["schema"]).validate(int(answer.header(name)))
    if "content" not in promised:
        assert answer.body == b"", answer.body
        return
    media = answer.header("Content-Type").split(";")[0]
    schema = promised["content"][media]["schema"]
    value = json.loads(answer.body) if media == "application/json" else answer.body.decode()
    validator(schema).validate(value)


@pytest.fixture(scope="module")
def shop(request):
    from harness.merchant import Merchant
    from harness.edge import Edge

    with Edge(CONFIG) as edge:
        edge.start()
        yield Merchant(edge, "acme")


def upsert(**changes):
    product = {"platform_product_id": "p", "title": "t"}
    product.update(changes)
    return product


ORDERS = {
    "plain": orders.order(),
    "refund": orders.order(refund_line_items=[orders.refund("r1")]),
    "nulls": orders.order(email=None, discounts=None, refund_line_items=None, svc_anon_id=None),
    "unknown field": orders.order(note={"a": [1]}),
    "no amount": {k: v for k, v in orders.order().items() if k != "amount"},
    "number as amount": orders.order(amount=105.0),
    "sign": orders.order(tax="-1"),
    "exponent": orders.order(shipping="1e2"),
    "seven digits": orders.order(amount="1.1234567"),
    "no lines": orders.order(line_items=[]),
    "quantity 0": orders.order(line_items=[orders.line(quantity="0")]),
    "quantity 00": orders.order(line_items=[orders.line(quantity="00")]),
    "quantity 01": orders.order(line_items=[orders.line(quantity="01")]),
    "refund of 0": orders.order(refund_line_items=[orders.refund("r1", quantity="0", amount="0")]),
    "date alone": orders.order(platform_ordered_at="2024-03-01"),
    "offset": orders.order(platform_ordered_at="2024-03-01T10:00:00.5+01:00"),
    "discount": orders.order(discounts=[{"code": "A", "type": "DISCOUNT_CODE", "value_type": "PERCENTAGE", "value": "5"}]),
    "discount without value": orders.order(discounts=[{"code": "A", "type": "DISCOUNT_CODE", "value_type": "PERCENTAGE"}]),
    "array": [1],
}

PRODUCTS = {
    "plain": upsert(),
    "variants": upsert(variants=[{"variant_sku": "v", "prices": [{"currency_code": "EUR", "list_price": 1.5}],
                                  "selected_options": [{"name": None, "value": "x"}]}]),
    "prices": upsert(prices={"price": None, "priceRange": {"min": 1, "max": 2},
                             "discountedPrices": [{"discount": {"id": "d"}, "price": 3}]}),
    "null tags": upsert(tags=None),
    "null handle": upsert(handle=None),
    "no title": {"platform_product_id": "p"},
    "empty title": upsert(title=""),
    "variant without sku": upsert(variants=[{}]),
    "variant null image": upsert(variants=[{"variant_sku": "v", "image_src": None}]),
    "251 tags": upsert(tags=["t"] * 251),
    "250 tags": upsert(tags=["t"] * 250),
    "eleven discounts": upsert(prices={"discountedPrices": [{}] * 11}),
    "availability": upsert(availability="maybe"),
    "position": upsert(position=1.5),
    "text price": upsert(list_price="1"),
    "unknown field": upsert(colour="red"),
}


@pytest.mark.parametrize("name", sorted(ORDERS))
def test_the_document_and_the_server_agree_on_orders(shop, name):
    schema = validator(DOCUMENT["components"]["schemas"]["OrderEvent"])
    document = copy.deepcopy(ORDERS[name])
    answer = shop.event("ORDER_CREATE", document)
    assert answer.status == (200 if schema.is_valid(document) else 400), answer.body
    check_answer(sign.EVENTS, answer)


@pytest.mark.parametrize("name", sorted(PRODUCTS))
def test_the_document_and_the_server_agree_on_products(shop, name):
    schema = validator(DOCUMENT["components"]["schemas"]["ProductUpsert"])
    document = {"products": [PRODUCTS[name]]}
    answer = shop.catalog("PRODUCT_UPSERT", document, f"key of {name}")
    assert answer.status == (200 if schema.is_valid(document) else 422), answer.body
    check_answer(sign.CATALOG, answer)


def test_other_answers(shop):
    edge = shop.edge
    body = sign.encode(orders.order())
    good = sign.event_headers(shop.shop, shop.secret, "ORDER_CREATE", body)
    for headers, status in (
        (sign.without(good, "X-Signature"), 401),
        (sign.replaced(good, x_svc_topic="ORDER_EAT"), 400),
    ):
        answer = edge.request("POST", sign.EVENTS, headers, body)
        assert answer.status == status
        check_answer(sign.EVENTS, answer)

    body = sign.encode({"products": [upsert()]})
    good = sign.catalog_headers(shop.shop, shop.secret, "PRODUCT_UPSERT", body, "k")
    for headers, status in (
        (sign.without(good, "Idempotency-Key"), 400),
        (sign.without(good, "Authorization"), 401),
        (sign.replaced(good, authorization="Bearer unknown-and-long"), 403),
        (sign.replaced(good, x_svc_shop_id="elsewhere"), 404),
        (sign.replaced(good, x_signature="0" * 64), 401),
    ):
        answer = edge.request("POST", sign.CATALOG, headers, body)
        assert answer.status == status
        check_answer(sign.CATALOG, answer)


def test_limited_and_unavailable_answers(shop):
    edge = shop.edge
    edge.sluice("account", "set", "acme", "--rate-limit", "1/86400")
    try:
        answers = [shop.event("ORDER_CREATE", orders.order()) for _ in range(2)]
        assert answers[-1].status == 429
        check_answer(sign.EVENTS, answers[-1])
        answer = shop.catalog("PRODUCT_UPSERT", {"products": [upsert()]}, "limited")
        assert answer.status == 429
        check_answer(sign.CATALOG, answer)
    finally:
        edge.sluice("account", "set", "acme", "--rate-limit", "default")
