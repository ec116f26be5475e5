"""Contract of the catalog endpoint: the order of the checks, statuses, bodies, headers."""

import itertools
import json
import shutil

import pytest
from harness.merchant import CONFIG

from harness import answers, http1, orders, sign
from harness.sign import CATALOG, replaced, without


def product(**changes):
    record = {"platform_product_id": orders.unique("p"), "title": "A product"}
    record.update(changes)
    return record


def batch(count=1, **changes):
    return sign.encode({"products": [product(**changes) for _ in range(count)]})


def signed(merchant, body, topic="PRODUCT_UPSERT", key=None):
    key = orders.unique("key") if key is None else key
    return sign.catalog_headers(merchant.shop, merchant.secret, topic, body, key)


def post(merchant, headers, body, method="POST"):
    return merchant.edge.request(method, CATALOG, headers, body)


# 200 --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 2, 999, 1000])
def test_success_counts_the_products(merchant, count):
    body = batch(count)
    answers.catalog_success(post(merchant, signed(merchant, body), body), count)


def test_delete_succeeds_for_a_product_that_never_was(merchant):
    body = batch(parent_id="x")
    answers.catalog_success(post(merchant, signed(merchant, body, "PRODUCT_DELETE"), body), 1)


def test_batch_is_in_the_queue_byte_for_byte(merchant):
    body = b'{ "extra": 1, "products" : [ {"platform_product_id":"\\u00fc","title":"\xc3\xbc"} ] }\n'
    answer = post(merchant, signed(merchant, body), body)
    answers.catalog_success(answer, 1)
    seq = int(answer.header("X-Seq"))
    (stored,) = merchant.edge.sluice.json("queue", "peek", "--from", seq, "--limit", 1)
    assert (stored["topic"], stored["shop_id"]) == ("PRODUCT_UPSERT", merchant.shop)
    assert stored["body"].encode() == body


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER", "bEaReR"])
def test_scheme_word_matches_in_any_case(merchant, scheme):
    body = batch()
    headers = replaced(signed(merchant, body), authorization=f"{scheme} {merchant.secret}")
    answers.catalog_success(post(merchant, headers, body), 1)


@pytest.mark.parametrize("spell", [str.lower, str.upper, str.title])
def test_signature_is_accepted_in_either_case(merchant, spell):
    body = batch()
    headers = replaced(signed(merchant, body), x_signature=spell(sign.digest_hex(body)))
    answers.catalog_success(post(merchant, headers, body), 1)


@pytest.mark.parametrize("value", ["application/json; charset=utf-8", "APPLICATION/JSON", "application/json;a=b"])
def test_content_type_parameters_and_case_do_not_matter(merchant, value):
    body = batch()
    answers.catalog_success(post(merchant, replaced(signed(merchant, body), content_type=value), body), 1)


def test_content_encoding_identity_is_accepted(merchant):
    body = batch()
    answers.catalog_success(post(merchant, signed(merchant, body) + [("Content-Encoding", "identity")], body), 1)


def test_chunked_and_spooled_bodies(merchant):
    for size in (1, 300):
        body = batch(size, collections=["c" * 100] * 10)
        for target in (CATALOG, "/spooled" + CATALOG):
            headers = signed(merchant, body) + [("Transfer-Encoding", "chunked")]
            with merchant.edge.connect() as connection:
                connection.send(http1.head("POST", target, headers) + http1.chunked(body, 5000))
                answers.catalog_success(connection.read(), size)
            headers = signed(merchant, body)
            answers.catalog_success(merchant.edge.request("POST", target, headers, body), size)


@pytest.mark.location_limits
def test_large_batch_of_20_megabytes(merchant):
    variants = [{"variant_sku": f"v{n}", "title": "x" * 300} for n in range(250)]
    body = batch(250, variants=variants)
    assert len(body) > 20_000_000
    answers.catalog_success(post(merchant, signed(merchant, body), body), 250)


# The order of the checks --------------------------------------------------------------------------
# Each fault spoils one check; of two faults the earlier check answers.


class Request:
    def __init__(self, merchant, limited):
        self.merchant = limited if limited else merchant
        self.method = "POST"
        self.body = batch()
        self.headers = {}
        self.drop = []
        self.topic, self.key = "PRODUCT_UPSERT", orders.unique("key")
        self.bad_signature = False

    def send(self):
        headers = signed(self.merchant, self.body, self.topic, self.key)
        headers = without(headers, *self.drop)
        headers = [(name, self.headers.get(name, value)) for name, value in headers]
        if self.bad_signature:
            headers = replaced(headers, x_signature="0" * 64)
        return post(self.merchant, headers, self.body, self.method)


def _set(name, value):
    return lambda request, world: request.headers.__setitem__(name, value)


def _bearer(which):
    return lambda request, world: request.headers.__setitem__("Authorization", f"Bearer {world[which]}")


def _body(make):
    return lambda request, world: setattr(request, "body", make())


def _conflict(request, world):
    request.key = world["used_key"]


FAULTS = [
    # name, status, how to spoil
    ("method", 405, lambda r, w: setattr(r, "method", "PUT")),
    ("content type", 400, _set("Content-Type", "text/plain")),
    ("topic", 400, lambda r, w: setattr(r, "topic", "ORDER_CREATE")),
    ("no shop", 400, lambda r, w: r.drop.append("X-SVC-SHOP-ID")),
    ("no key", 400, lambda r, w: r.drop.append("Idempotency-Key")),
    ("no authorization", 401, lambda r, w: r.drop.append("Authorization")),
    ("unknown token", 403, _bearer("unknown")),
    ("token without scope", 401, _bearer("scopeless")),
    ("unknown shop", 404, _set("X-SVC-SHOP-ID", "nowhere")),
    ("signature", 401, lambda r, w: setattr(r, "bad_signature", True)),
    ("limit", 429, None),
    ("no JSON", 400, _body(lambda: b"nonsense")),
    ("bad record", 422, _body(lambda: batch(title=""))),
    ("conflict", 400, _conflict),
]


@pytest.fixture(scope="module")
def world(edge, merchant):
    token = edge.sluice.token(merchant.account, "write_orders", "read_orders")
    body = batch()
    key = orders.unique("used")
    answers.catalog_success(post(merchant, signed(merchant, body, key=key), body), 1)
    return {"unknown": "f" * 40, "scopeless": token[1], "used_key": key}


@pytest.fixture(scope="module")
def limited(edge, merchant):
    """Another account that may send one request an hour, and has sent it."""
    from harness.merchant import Merchant

    made = Merchant(edge, "limited-account")
    token = edge.sluice.token(made.account, "write_orders", "read_orders")
    made.scopeless = token[1]
    edge.sluice("account", "set", made.account, "--rate-limit", "1/86400")
    body = batch()
    answers.catalog_success(post(made, signed(made, body, key="used-by-limited"), body), 1)
    return made


@pytest.mark.parametrize("pair", list(itertools.combinations(range(len(FAULTS)), 2)), ids=lambda p: f"{FAULTS[p[0]][0]}, {FAULTS[p[1]][0]}")
def test_the_first_failing_check_answers(merchant, world, limited, pair):
    chosen = [FAULTS[index] for index in pair]
    names = [name for name, _, _ in chosen]
    use_limited = "limit" in names
    if {"no authorization"} & set(names) and {"unknown token", "token without scope"} & set(names):
        pytest.skip("both spoil the same header")
    if set(names) == {"unknown token", "token without scope"} or set(names) == {"no shop", "unknown shop"}:
        pytest.skip("both spoil the same header")
    if set(names) == {"no JSON", "bad record"} or set(names) == {"no key", "conflict"}:
        pytest.skip("both spoil the same thing")
    here = dict(world)
    if use_limited:
        here = {"unknown": "f" * 40, "scopeless": limited.scopeless, "used_key": "used-by-limited"}
    request = Request(merchant, limited if use_limited else None)
    for _, _, spoil in chosen:
        if spoil:
            spoil(request, here)
    answer = request.send()
    assert answer.status == chosen[0][1], (names, answer)
    if chosen[0][1] != 422:
        answers.catalog_error(answer, chosen[0][1])


@pytest.mark.parametrize("fault", range(len(FAULTS)), ids=lambda n: FAULTS[n][0])
def test_every_check_alone(merchant, world, limited, fault):
    name, status, spoil = FAULTS[fault]
    request = Request(merchant, limited if name == "limit" else None)
    if spoil:
        spoil(request, world)
    answer = request.send()
    assert answer.status == status, answer
    if status != 422:
        answers.catalog_error(answer, status)
    # Every answer after the signature carries the rate headers, none before it.
    if fault > 9:
        answers.has_rate_headers(answer)
    else:
        answers.has_no_rate_headers(answer)
    assert answer.has("Retry-After") == (status == 429)


# 405 and 400 ------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH", "OPTIONS", "FOO"])
def test_other_methods_get_405_with_allow(edge, method):
    answer = edge.request(method, CATALOG, [])
    answers.catalog_error(answer, 405)
    assert answer.header("Allow") == "POST"


@pytest.mark.parametrize("name", ["X-SVC-TOPIC", "X-SVC-SHOP-ID", "Idempotency-Key", "Content-Type"])
@pytest.mark.parametrize("how", ["missing", "empty"])
def test_missing_or_empty_header_is_400(merchant, name, how):
    body = batch()
    headers = signed(merchant, body)
    headers = without(headers, name) if how == "missing" else [(n, "" if n == name else v) for n, v in headers]
    message = answers.catalog_error(post(merchant, headers, body), 400)
    assert name.lower() in message.lower()


@pytest.mark.parametrize("name", ["X-SVC-TOPIC", "Idempotency-Key", "Content-Type"])
def test_header_sent_twice_is_400(merchant, name):
    body = batch()
    headers = signed(merchant, body)
    answers.catalog_error(post(merchant, headers + [h for h in headers if h[0] == name], body), 400)


def test_shop_signature_or_authorization_sent_twice_is_refused(merchant):
    for name, statuses in (("X-SVC-SHOP-ID", (400, 401)), ("X-Signature", (401,)), ("Authorization", (400, 401))):
        body = batch()
        headers = signed(merchant, body)
        answer = post(merchant, headers + [h for h in headers if h[0] == name], body)
        assert answer.status in statuses, (name, answer)


@pytest.mark.parametrize("topic", ["product_upsert", "ORDER_CREATE", "PRODUCT_UPDATE", "PRODUCT_UPSERT2", "x" * 300])
def test_unknown_topic_is_400(merchant, topic):
    body = batch()
    answers.catalog_error(post(merchant, signed(merchant, body, topic), body), 400)


@pytest.mark.parametrize("value", ["text/plain", "application/jsonx", "multipart/form-data; boundary=x"])
def test_wrong_content_type_is_400(merchant, value):
    body = batch()
    answers.catalog_error(post(merchant, replaced(signed(merchant, body), content_type=value), body), 400)


@pytest.mark.parametrize("value", ["gzip", "br", "deflate"])
def test_content_encoding_is_400(merchant, value):
    body = batch()
    answers.catalog_error(post(merchant, signed(merchant, body) + [("Content-Encoding", value)], body), 400)


@pytest.mark.parametrize("size,status", [(1, 200), (255, 200), (256, 400), (3000, 400)])
def test_idempotency_key_is_1_to_255_bytes(merchant, size, status):
    body = batch()
    key = (orders.unique("k") + "x" * size)[-size:] if size > 20 else orders.unique("")[-1:]
    answer = post(merchant, signed(merchant, body, key=key), body)
    if size == 1 and answer.status == 400:
        assert "already used" in answer.body.decode()  # one byte has few values
    else:
        assert answer.status == status, answer


def test_idempotency_key_is_any_bytes(merchant):
    for key in ("é", '"quoted"', "a b", "a,b", "%00", "\t x".strip()):
        body = batch()
        answers.catalog_success(post(merchant, signed(merchant, body, key=key + orders.unique("")), body), 1)


# 401, 403, 404 ----------------------------------------------------------------------------------


@pytest.mark.parametrize("value", ["", "Basic YTpi", "Bearer", "token", "Bearerx", "Digest a=b"])
def test_authorization_that_is_no_bearer_is_401(merchant, value):
    body = batch()
    headers = replaced(signed(merchant, body), authorization=value)
    answers.catalog_error(post(merchant, headers, body), 401)


def test_bare_secret_as_authorization_is_401(merchant):
    body = batch()
    headers = replaced(signed(merchant, body), authorization=merchant.secret)
    answers.catalog_error(post(merchant, headers, body), 401)


@pytest.mark.parametrize("change", [lambda s: s + "x", lambda s: s[:-1], lambda s: s.swapcase(), lambda s: "x" * 3000])
def test_unknown_token_is_403(merchant, change):
    body = batch()
    headers = replaced(signed(merchant, body), authorization="Bearer " + change(merchant.secret))
    if change(merchant.secret) == merchant.secret:
        pytest.skip("the secret has no letter")
    answers.catalog_error(post(merchant, headers, body), 403)


def test_revoked_token_is_403_at_once(edge, merchant):
    token_id, secret = edge.sluice.token(merchant.account, "write_products")
    body = batch()
    headers = sign.catalog_headers(merchant.shop, secret, "PRODUCT_UPSERT", body, orders.unique("k"))
    answers.catalog_success(edge.request("POST", CATALOG, headers, body), 1)
    edge.sluice("token", "revoke", token_id)
    answers.catalog_error(edge.request("POST", CATALOG, headers, body), 403)


def test_shop_of_another_account_is_404(edge, merchant, new_merchant):
    other = new_merchant(edge, orders.unique("other"))
    body = batch()
    headers = sign.catalog_headers(other.shop, merchant.secret, "PRODUCT_UPSERT", body, "k")
    answers.catalog_error(edge.request("POST", CATALOG, headers, body), 404)
    answers.catalog_error(edge.request("POST", CATALOG, replaced(headers, x_svc_shop_id="nowhere"), body), 404)


@pytest.mark.parametrize("how", ["missing", "empty", "zeros", "short", "long", "hmac", "prefix", "base64", "of other bytes"])
def test_wrong_signature_is_401(merchant, how):
    body = batch()
    headers = signed(merchant, body)
    value = {
        "missing": None, "empty": "", "zeros": "0" * 64, "short": sign.digest_hex(body)[:-1],
        "long": sign.digest_hex(body) + "0", "hmac": sign.hmac_hex(merchant.secret, body),
        "prefix": "sha256=" + sign.digest_hex(body), "base64": "A" * 44,
        "of other bytes": sign.digest_hex(body + b"\n"),
    }[how]
    headers = without(headers, "X-Signature") if value is None else replaced(headers, x_signature=value)
    answers.catalog_error(post(merchant, headers, body), 401)


# The body as a whole ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [b"", b"null", b"[]", b"1", b'"x"', b"{}", b'{"products":null}', b'{"products":{}}', b'{"products":"x"}',
     b'{"products":[]}', b'{"products":[{}]', b'{"Products":[{}]}', b"nonsense",
     b'\xef\xbb\xbf{"products":[{"platform_product_id":"a","title":"b"}]}',
     b'{"products":[{"platform_product_id":"a","title":"b"}],"x":1e999}',
     b'{"products":[{"platform_product_id":"a","title":"b"}],"x":18446744073709551616}',
     b'{"products":[{"platform_product_id":"a","title":"\\ud800"}]}',
     b'{"products":[{"platform_product_id":"a","title":"\xff"}]}',
     b'{"products":[{"platform_product_id":"a","title":"b"}],"x":' + b"[" * 64 + b"]" * 64 + b"}",
     b'{"products":[{"platform_product_id":"a","title":"b"}]} x',
     b'{"products":[{"platform_product_id":"a","title":"b"}],"products":[{"platform_product_id":"a","title":"b"}]}'],
)
def test_body_that_is_no_batch_is_400(merchant, body):
    answer = post(merchant, signed(merchant, body), body)
    answers.catalog_error(answer, 400)
    answers.has_rate_headers(answer)


def test_1001_products_are_400(merchant):
    body = batch(1001)
    answers.catalog_error(post(merchant, signed(merchant, body), body), 400)
    body = sign.encode({"products": [0] * 1001})
    answers.catalog_error(post(merchant, signed(merchant, body), body), 400)


def test_64_levels_are_accepted(merchant):
    # The root is level 1, products 2, the record 3.
    body = b'{"products":[{"platform_product_id":"a","title":"b","x":' + b"[" * 61 + b"]" * 61 + b"}]}"
    answers.catalog_success(post(merchant, signed(merchant, body), body), 1)
    body = body.replace(b"[]", b"[[]]")
    answers.catalog_error(post(merchant, signed(merchant, body), body), 400)


# 422 --------------------------------------------------------------------------------------------


def test_nothing_of_a_bad_batch_is_stored(merchant):
    before = merchant.edge.sluice.accepted()
    body = sign.encode({"products": [product(), product(title=""), product()]})
    found = answers.record_errors(post(merchant, signed(merchant, body), body))
    assert found == [(1, "products[1].title", "INVALID_FORMAT")]
    assert merchant.edge.sluice.accepted() == before


def test_all_records_are_examined(merchant):
    body = sign.encode({"products": [{}, product(), {"title": "x"}, 5, product(active="yes")]})
    found = answers.record_errors(post(merchant, signed(merchant, body), body))
    assert [index for index, _, _ in found] == sorted(index for index, _, _ in found)
    assert {(index, field, code) for index, field, code in found if index != 3} == {
        (0, "products[0].platform_product_id", "REQUIRED"),
        (0, "products[0].title", "REQUIRED"),
        (2, "products[2].platform_product_id", "REQUIRED"),
        (4, "products[4].active", "INVALID_FORMAT"),
    }
    (third,) = [(field, code) for index, field, code in found if index == 3]
    assert third in ((None, "INVALID_FORMAT"), ("products[3]", "INVALID_FORMAT"))


def test_the_first_1000_record_errors_are_listed(merchant):
    variants = [{"variant_sku": ""}] * 2
    body = sign.encode({"products": [product(variants=variants) for _ in range(1000)]})
    found = answers.record_errors(post(merchant, signed(merchant, body), body))
    assert len(found) == 1000
    assert found == [
        (n // 2, f"products[{n // 2}].variants[{n % 2}].variant_sku", "INVALID_FORMAT") for n in range(1000)
    ]


def test_error_bodies_are_exactly_code_and_message(merchant):
    body = batch()
    answer = post(merchant, replaced(signed(merchant, body), x_signature="0" * 64), body)
    assert list(json.loads(answer.body)) == ["code", "message"]


def test_a_chunked_body_over_the_limit_is_413_in_the_catalogs_form(start_edge, new_merchant):
    """nginx finds out while it reads for the module: the answer is the module's."""
    config = CONFIG.replace("client_max_body_size 128m", "client_max_body_size 4k")
    edge = start_edge(config, workers=1)
    merchant = new_merchant(edge, "acme")
    body = sign.encode({"products": [{"platform_product_id": "p", "title": "x" * 20_000}]})
    headers = sign.catalog_headers(merchant.shop, merchant.secret, "PRODUCT_UPSERT", body, "k")
    for size in (100, 3000, 20_000):
        with edge.connect() as connection:
            connection.send(http1.head("POST", sign.CATALOG, [*headers, ("Transfer-Encoding", "chunked")]))
            connection.send(http1.chunked(body, size))
            answer = connection.read()
            assert answers.catalog_error(answer, 413), answer
            assert answer.header("Content-Length") == str(len(answer.body))
            assert answer.header("X-Result") == "too_large"


@pytest.mark.location_limits
def test_a_body_that_nginx_cannot_spool_is_500_in_the_endpoints_form(start_edge, new_merchant):
    """Only where the configuration wants a file of nginx's: client_body_in_file_only."""
    place = "client_body_temp_path @DIR@/gone; listen"
    edge = start_edge(CONFIG.replace("listen", place, 1).replace(
        "client_body_buffer_size 1k", "client_body_in_file_only clean"), workers=1)
    edge.expect_log("gone")
    merchant = new_merchant(edge, "acme")
    shutil.rmtree(edge.folder / "gone")
    body = sign.encode({"products": [{"platform_product_id": "p", "title": "x" * 20_000}]})
    headers = sign.catalog_headers(merchant.shop, merchant.secret, "PRODUCT_UPSERT", body, "k")
    answers.catalog_error(edge.request("POST", "/spooled/product-data", headers, body), 500)
    answers.catalog_success(edge.request("POST", sign.CATALOG, headers, body), 1)  # which needs none
    body = sign.encode(orders.order(extra="x" * 20_000))
    headers = sign.event_headers(merchant.shop, merchant.secret, "ORDER_CREATE", body)
    answer = edge.request("POST", "/spooled/event/ecomm", headers, body)
    assert (answer.status, answer.body, answer.header("Content-Length")) == (500, b"", "0")
