"""How the catalog is kept: merges, clears, copies, deletes; `sluice report products`."""

import pytest


def product(**changes):
    return {"platform_product_id": "p", "title": "T", **changes}


def rows(shop):
    found = shop.rows("products")
    return sorted(found, key=lambda r: (r["platform_product_id"], r.get("language") or "", r.get("country") or ""))


def only(shop):
    (row,) = rows(shop)
    assert row.pop("shop_id") == shop.shop
    return row


def test_created_record_has_its_fields_and_its_parent(shop):
    shop.products(product(list_price=10, sale_price=9.990, active=True, variants=[{"variant_sku": "v", "price": 1.5}]))
    assert only(shop) == {
        "platform_product_id": "p", "title": "T", "parent_id": "p", "list_price": 10, "sale_price": 9.99,
        "active": True, "variants": [{"variant_sku": "v", "price": 1.5}],
    }


def test_absent_keeps_null_clears_and_arrays_replace(shop):
    shop.products(product(brand="b", tags=["a", "b"], collections=["c"], in_stock=True, handle="h",
                          variants=[{"variant_sku": "v1", "title": "x"}, {"variant_sku": "v2"}]))
    shop.products(product(title="U", brand=None, tags=["z"], variants=[{"variant_sku": "v2", "price": None}]))
    assert only(shop) == {
        "platform_product_id": "p", "parent_id": "p", "title": "U", "brand": None, "tags": ["z"],
        "collections": ["c"], "in_stock": True, "handle": "h",
        "variants": [{"variant_sku": "v2", "price": None}],
    }
    shop.products(product(collections=None, variants=[], tags=None))
    row = only(shop)
    assert (row["collections"], row["variants"], row["tags"]) == (None, [], None)


def test_parent_id_keeps_its_stored_value(shop):
    shop.products(product(parent_id="q"))
    shop.products(product())
    assert only(shop)["parent_id"] == "q"
    shop.products(product(parent_id="r"))
    assert only(shop)["parent_id"] == "r"


def test_parent_of_a_variant_is_stored_as_sent(shop):
    shop.products(product(variants=[{"variant_sku": "a"}, {"variant_sku": "b", "parent_id": "x"}]))
    assert only(shop)["variants"] == [{"variant_sku": "a"}, {"variant_sku": "b", "parent_id": "x"}]


def test_localised_copies_are_records_of_their_own(shop):
    shop.products(
        product(title="none"), product(title="en", language="en"), product(title="US", country="US"),
        product(title="en-US", language="en", country="US"),
    )
    shop.products(product(language="en", brand="b", title="en2"))
    assert [(r["title"], r.get("brand")) for r in rows(shop)] == [
        ("none", None), ("US", None), ("en2", "b"), ("en-US", None),
    ]


def deleted(**changes):
    return {"platform_product_id": "p", "title": "T", "parent_id": "p", **changes}


@pytest.mark.parametrize(
    "change,left",
    [
        ({}, []),
        ({"language": "en"}, ["none", "US", "en-US"]),
        ({"country": "US"}, ["none", "en", "en-US"]),
        ({"language": "en", "country": "US"}, ["none", "US", "en"]),
        ({"language": "de"}, ["none", "US", "en", "en-US"]),
    ],
)
def test_delete_takes_all_copies_or_exactly_one(shop, change, left):
    shop.products(
        product(title="none"), product(title="en", language="en"), product(title="US", country="US"),
        product(title="en-US", language="en", country="US"), product(platform_product_id="q", title="other"),
    )
    shop.products(deleted(**change), topic="PRODUCT_DELETE")
    assert [r["title"] for r in rows(shop)] == [*left, "other"]


def test_deleted_record_starts_empty(shop):
    shop.products(product(brand="b", parent_id="q"))
    shop.products(deleted(), topic="PRODUCT_DELETE")
    shop.products(product())
    assert only(shop) == {"platform_product_id": "p", "title": "T", "parent_id": "p"}


def test_records_of_a_batch_apply_in_order(shop):
    shop.products(product(title="1", brand="a"), product(title="2", tags=["t"]), product(title="3"))
    row = only(shop)
    assert (row["title"], row["brand"], row["tags"]) == ("3", "a", ["t"])


def test_shops_have_catalogs_of_their_own(shop):
    second = shop.sluice.shop(f"{shop.account}-second", shop.account)
    shop.products(product(title="first"))
    answer = shop.edge.post_catalog(second, shop.secret, "PRODUCT_UPSERT", {"products": [product(title="second")]}, "k")
    assert answer.status == 200
    assert only(shop)["title"] == "first"
    (row,) = shop.sluice.report("products", "--shop", second)
    assert (row["title"], row["shop_id"]) == ("second", second)


def test_numbers_come_back_equal_in_value(shop):
    values = [0, -1, 1.10, 0.1, 1e-7, 123456789.123456, 2**63, 1e21, 19.999999999]
    shop.products(product(variants=[{"variant_sku": f"v{n}", "price": value} for n, value in enumerate(values)]))
    assert [variant["price"] for variant in only(shop)["variants"]] == values


def test_text_comes_back_as_sent(shop):
    texts = ["é", "\u2028", "\"\\/", "\u0001\n\t", "😀", "</script>", "x" * 2000]
    shop.products(product(tags=texts, platform_product_id="ü/ñ"))
    row = only(shop)
    assert (row["tags"], row["platform_product_id"]) == (texts, "ü/ñ")


def test_ids_up_to_1024_bytes_are_kept_apart(shop):
    ids = ["x" * size for size in (1, 399, 400, 401, 511, 512, 1023, 1024)] + ["x" * 1023 + "y"]
    shop.products(*[product(platform_product_id=i, title=str(len(i)) + i[-1], variants=[{"variant_sku": i}]) for i in ids])
    found = {r["platform_product_id"]: r["title"] for r in rows(shop)}
    assert found == {i: str(len(i)) + i[-1] for i in ids}


def test_batch_over_256_kilobytes_goes_the_same_way(shop):
    records = [product(platform_product_id=f"p{n:04}", title="x" * 500) for n in range(1000)]
    shop.products(*records)
    assert [r["platform_product_id"] for r in rows(shop)] == [r["platform_product_id"] for r in records]
    bulk = shop.edge.store / "queue" / "bulk"
    assert not [path for path in bulk.rglob("*") if path.is_file()]
