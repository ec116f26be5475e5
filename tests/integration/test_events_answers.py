"""Contract of the events endpoint: statuses, their order, exact bodies and headers."""

import base64
import hashlib
import hmac
import time

import pytest

from harness import answers, orders, sign
from harness.sign import EVENTS, replaced, without

TOPICS = ("ORDER_CREATE", "ORDER_UPDATE", "ORDER_CANCEL")


def signed(merchant, body, topic="ORDER_CREATE"):
    return sign.event_headers(merchant.shop, merchant.secret, topic, body)


def post(merchant, headers, body, target=EVENTS):
    return merchant.edge.request("POST", target, headers, body)


# 200 --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("topic", TOPICS)
def test_valid_event_is_answered_with_success_as_text(merchant, topic):
    answers.is_success(merchant.event(topic, orders.order()))


def test_accepted_event_is_in_the_queue_byte_for_byte(merchant):
    body = b' {"extra" : "\\u00e9\xc3\xa9", ' + sign.encode(orders.order())[1:] + b"\n"
    answer = merchant.event("ORDER_CREATE", body)
    answers.is_success(answer)
    seq = merchant.edge.sluice.seq_of(answer)
    (stored,) = merchant.edge.sluice.json("queue", "peek", "--from", seq, "--limit", 1)
    assert stored["seq"] == seq
    assert stored["topic"] == "ORDER_CREATE"
    assert stored["shop_id"] == merchant.shop
    assert stored["bytes"] == len(body)
    assert stored["body"].encode() == body


def test_sequence_numbers_grow_by_one_per_accepted_event(merchant):
    sluice = merchant.edge.sluice
    numbers = [sluice.seq_of(merchant.event("ORDER_CREATE", orders.order())) for _ in "12345"]
    assert numbers == list(range(numbers[0], numbers[0] + 5))


@pytest.mark.parametrize(
    "value",
    [
        "application/json",
        "application/json; charset=utf-8",
        "application/json;charset=UTF-8",
        "Application/JSON",
        "APPLICATION/JSON ; charset=utf-8",
        "application/json; charset=latin1",
        'application/json; profile="a;b"',
    ],
)
def test_content_type_parameters_and_case_do_not_matter(merchant, value):
    body = sign.encode(orders.order())
    answers.is_success(post(merchant, replaced(signed(merchant, body), content_type=value), body))


def test_header_names_match_in_any_case(merchant):
    body = sign.encode(orders.order())
    headers = [(name.lower(), value) for name, value in signed(merchant, body)]
    answers.is_success(post(merchant, headers, body))
    headers = [(name.upper(), value) for name, value in signed(merchant, body)]
    answers.is_success(post(merchant, headers, body))


@pytest.mark.parametrize("blanks", [" ", "\t", " \t "], ids=["blank", "tab", "both"])
@pytest.mark.parametrize("name", ["X-SVC-SHOP-ID", "X-SVC-TOPIC", "X-Signature", "Content-Type"])
def test_blanks_around_a_header_are_no_part_of_it(merchant, name, blanks):
    body = sign.encode(orders.order())
    for spell in (lambda value: blanks + value, lambda value: value + blanks):
        headers = [(key, spell(value) if key == name else value) for key, value in signed(merchant, body)]
        answers.is_success(post(merchant, headers, body))


@pytest.mark.parametrize(
    "extra",
    [
        ("Authorization", "Bearer nonsense"),
        ("Authorization", ""),
        ("Idempotency-Key", "k" * 300),
        ("Idempotency-Key", ""),
        ("Content-Encoding", "identity"),
    ],
)
def test_headers_of_the_other_endpoint_are_ignored(merchant, extra):
    body = sign.encode(orders.order())
    answers.is_success(post(merchant, signed(merchant, body) + [extra], body))


def test_query_string_does_not_matter(merchant):
    body = sign.encode(orders.order())
    answers.is_success(post(merchant, signed(merchant, body), body, EVENTS + "?a=b"))


def test_rate_headers_count_down(merchant):
    first = merchant.event("ORDER_CREATE", orders.order())
    second = merchant.event("ORDER_CREATE", orders.order())
    assert first.header("X-RateLimit-Limit") == second.header("X-RateLimit-Limit") == "100000000"
    if first.header("X-RateLimit-Reset") == second.header("X-RateLimit-Reset"):
        assert (
            int(first.header("X-RateLimit-Remaining"))
            == int(second.header("X-RateLimit-Remaining")) + 1
        )
    reset = int(second.header("X-RateLimit-Reset"))
    assert reset % 60 == 0 and 0 <= reset - time.time() + 1 <= 61


# 405 --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD", "FOO"])
def test_other_methods_get_405_with_allow_and_no_body(merchant, method):
    body = b"" if method in ("GET", "HEAD") else sign.encode(orders.order())
    answer = merchant.edge.request(method, EVENTS, signed(merchant, body), body)
    assert answer.status == 405
    assert answer.header("Allow") == "POST"
    assert answer.body == b""
    answers.has_no_rate_headers(answer)


def test_405_comes_before_401(edge):
    answer = edge.request("PUT", EVENTS, [], b"nonsense")
    assert answer.status == 405 and answer.body == b""


# 401 --------------------------------------------------------------------------------------------


def wrong_signatures(secret, body):
    right = sign.hmac_hex(secret, body)
    raw = hmac.new(secret.encode(), body, hashlib.sha256).digest()
    other = sign.hmac_hex("another-secret-of-16+", body)
    return {
        "of another secret": other,
        "upper case": right.upper(),
        "one upper-case digit": right[:-1] + right[-1].upper() if right[-1].isalpha() else "A" * 64,
        "with prefix": "sha256=" + right,
        "base64": base64.b64encode(raw).decode(),
        "unkeyed": hashlib.sha256(body).hexdigest(),
        "of the body with a newline": sign.hmac_hex(secret, body + b"\n"),
        "one digit short": right[:-1],
        "one digit long": right + "0",
        "last digit differs": right[:-1] + ("0" if right[-1] != "0" else "1"),
        "first digit differs": ("0" if right[0] != "0" else "1") + right[1:],
        "not hexadecimal": "g" * 64,
        "empty": "",
        "in quotes": f'"{right}"',
        "with a comma": f"{right},{right}",
        "very long": "a" * 4000,
        "sha1 length": right[:40],
        "blank inside": right[:32] + " " + right[32:],
    }


@pytest.mark.parametrize("name", wrong_signatures("x", b""))
def test_wrong_signature_is_401(merchant, name):
    body = sign.encode(orders.order(extra="a"))
    value = wrong_signatures(merchant.secret, body)[name]
    if value == sign.hmac_hex(merchant.secret, body):
        pytest.skip("the digest has no letter")
    headers = replaced(signed(merchant, body), x_signature=value)
    answers.is_unauthorized(post(merchant, headers, body))


@pytest.mark.parametrize("name", ["X-SVC-SHOP-ID", "X-Signature"])
def test_missing_shop_or_signature_is_401(merchant, name):
    body = sign.encode(orders.order())
    answers.is_unauthorized(post(merchant, without(signed(merchant, body), name), body))


@pytest.mark.parametrize("name", ["X-SVC-SHOP-ID", "X-Signature"])
def test_shop_or_signature_sent_twice_is_401_even_when_equal(merchant, name):
    body = sign.encode(orders.order())
    headers = signed(merchant, body)
    again = [header for header in headers if header[0] == name]
    answers.is_unauthorized(post(merchant, headers + again, body))


@pytest.mark.parametrize("name", ["X-SVC-SHOP-ID", "X-Signature"])
def test_second_shop_or_signature_that_is_wrong_is_401(merchant, name):
    body = sign.encode(orders.order())
    for headers in (
        signed(merchant, body) + [(name, "zzz")],
        [(name, "zzz")] + signed(merchant, body),
        signed(merchant, body) + [(name, "")],
    ):
        answers.is_unauthorized(post(merchant, headers, body))


@pytest.mark.parametrize(
    "shop", ["nowhere", "", "a" * 128, "a" * 129, "a" * 5000, "acme-shop ", "ACME-SHOP", "é", "a b"]
)
def test_unknown_or_malformed_shop_is_401(merchant, shop):
    if shop.strip() == merchant.shop:
        shop = merchant.shop + "/x"
    body = sign.encode(orders.order())
    answers.is_unauthorized(
        post(merchant, replaced(signed(merchant, body), x_svc_shop_id=shop), body)
    )


def test_all_401_answers_are_alike(merchant):
    body = sign.encode(orders.order())
    good = signed(merchant, body)
    cases = [
        replaced(good, x_svc_shop_id="nowhere"),
        replaced(good, x_signature="0" * 64),
        without(good, "X-Signature"),
        without(good, "X-SVC-SHOP-ID"),
        replaced(good, x_signature="short"),
        [],
    ]
    seen = set()
    for headers in cases:
        answer = post(merchant, headers, body)
        answers.is_unauthorized(answer)
        seen.add(
            tuple(
                (name, value)
                for name, value in answer.headers
                if name not in ("Date", "X-Worker")
            )
        )
    assert len(seen) == 1, seen


def test_token_of_another_account_is_401(edge, merchant, new_merchant):
    other = new_merchant(edge, "other-account")
    body = sign.encode(orders.order())
    headers = sign.event_headers(merchant.shop, other.secret, "ORDER_CREATE", body)
    answers.is_unauthorized(post(merchant, headers, body))


@pytest.mark.parametrize("scopes", [["write_products"], ["read_orders"], ["write_products", "read_orders"]])
def test_token_without_write_orders_is_401(edge, scopes):
    account = edge.sluice.account(orders.unique("scope-account"))
    shop = edge.sluice.shop(orders.unique("scope-shop"), account)
    _, secret = edge.sluice.token(account, *scopes)
    answers.is_unauthorized(edge.post_event(shop, secret, "ORDER_CREATE", orders.order()))


def test_shop_of_an_account_without_tokens_is_401(edge):
    account = edge.sluice.account(orders.unique("bare-account"))
    shop = edge.sluice.shop(orders.unique("bare-shop"), account)
    answers.is_unauthorized(edge.post_event(shop, "", "ORDER_CREATE", orders.order()))
    answers.is_unauthorized(edge.post_event(shop, "0123456789abcdef", "ORDER_CREATE", orders.order()))


@pytest.mark.parametrize(
    "change",
    [
        {"content_type": "text/plain"},
        {"x_svc_topic": "NONSENSE"},
    ],
)
def test_401_comes_before_400(merchant, change):
    body = b"not json"
    headers = replaced(signed(merchant, body), x_signature="0" * 64, **change)
    answers.is_unauthorized(post(merchant, headers, body))


def test_signature_covers_every_byte_of_the_body(merchant):
    body = sign.encode(orders.order())
    headers = signed(merchant, body)
    for changed in (body[:-1] + b" ", body.replace(b"105.00", b"205.00"), b" " + body[1:]):
        assert len(changed) == len(body)
        answers.is_unauthorized(post(merchant, headers, changed))
    answers.is_unauthorized(post(merchant, headers, body + b" "))
    answers.is_unauthorized(post(merchant, headers, b""))


# 400 for headers --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "topic",
    ["order_create", "ORDER_DELETE", "PRODUCT_UPSERT", "PRODUCT_DELETE", "ORDER_CREATE2", "x" * 500,
     "ORDER_CREATE,ORDER_UPDATE", "ORDER CREATE", "é"],
)
def test_unknown_topic_is_400(merchant, topic):
    answer = merchant.event(topic, orders.order())
    assert answers.event_errors(answer) == [("X-SVC-TOPIC", "INVALID_FORMAT")]


def test_missing_topic_is_400_required(merchant):
    body = sign.encode(orders.order())
    answer = post(merchant, without(signed(merchant, body), "X-SVC-TOPIC"), body)
    assert answers.event_errors(answer) == [("X-SVC-TOPIC", "REQUIRED")]


def test_empty_topic_counts_as_missing(merchant):
    assert answers.event_errors(merchant.event("", orders.order())) == [("X-SVC-TOPIC", "REQUIRED")]


def test_topic_sent_twice_is_400(merchant):
    body = sign.encode(orders.order())
    answer = post(merchant, signed(merchant, body) + [("X-SVC-TOPIC", "ORDER_CREATE")], body)
    assert answers.event_errors(answer) == [("X-SVC-TOPIC", "INVALID_FORMAT")]


@pytest.mark.parametrize(
    "value",
    ["text/plain", "application/x-www-form-urlencoded", "application/json2", "application/jsonx; a=b",
     "application", "json", "application/ json", "text/json", "application/json,text/plain"],
)
def test_wrong_content_type_is_400(merchant, value):
    body = sign.encode(orders.order())
    answer = post(merchant, replaced(signed(merchant, body), content_type=value), body)
    assert answers.event_errors(answer) == [("Content-Type", "INVALID_FORMAT")]


def test_missing_content_type_is_400_required(merchant):
    body = sign.encode(orders.order())
    answer = post(merchant, without(signed(merchant, body), "Content-Type"), body)
    assert answers.event_errors(answer) == [("Content-Type", "REQUIRED")]


def test_empty_content_type_counts_as_missing(merchant):
    body = sign.encode(orders.order())
    answer = post(merchant, replaced(signed(merchant, body), content_type=""), body)
    assert answers.event_errors(answer) == [("Content-Type", "REQUIRED")]


def test_content_type_sent_twice_is_400(merchant):
    body = sign.encode(orders.order())
    answer = post(merchant, signed(merchant, body) + [("Content-Type", "application/json")], body)
    assert answers.event_errors(answer) == [("Content-Type", "INVALID_FORMAT")]


@pytest.mark.parametrize("value", ["gzip", "deflate", "br", "gzip, identity", "x"])
def test_content_encoding_other_than_identity_is_400(merchant, value):
    body = sign.encode(orders.order())
    answer = post(merchant, signed(merchant, body) + [("Content-Encoding", value)], body)
    assert answers.event_errors(answer) == [("Content-Encoding", "INVALID_FORMAT")]


def test_all_header_errors_are_listed_and_the_body_is_not_examined(merchant):
    body = b"not json at all"
    headers = replaced(signed(merchant, body), content_type="text/plain", x_svc_topic="NO")
    found = answers.event_errors(post(merchant, headers, body))
    assert sorted(found) == [("Content-Type", "INVALID_FORMAT"), ("X-SVC-TOPIC", "INVALID_FORMAT")]


def test_400_costs_a_request_of_the_rate_window(merchant):
    first = merchant.event("ORDER_CREATE", b"nonsense")
    second = merchant.event("ORDER_CREATE", b"nonsense")
    if first.header("X-RateLimit-Reset") == second.header("X-RateLimit-Reset"):
        assert (
            int(first.header("X-RateLimit-Remaining"))
            == int(second.header("X-RateLimit-Remaining")) + 1
        )


def test_nothing_that_was_refused_is_in_the_queue(merchant):
    before = merchant.edge.sluice.accepted()
    merchant.event("ORDER_CREATE", b"nonsense")
    merchant.event("NOPE", orders.order())
    body = sign.encode(orders.order())
    post(merchant, replaced(signed(merchant, body), x_signature="0" * 64), body)
    assert merchant.edge.sluice.accepted() == before


# 413 --------------------------------------------------------------------------------------------


def test_body_over_client_max_body_size_is_nginx_own_413(merchant):
    body = b" " * (1024 * 1024 + 1)
    answer = post(merchant, signed(merchant, body), body)
    assert answer.status == 413
    assert b"413" in answer.body


def test_body_of_exactly_client_max_body_size_is_accepted(merchant):
    body = sign.encode(orders.order())
    body += b" " * (1024 * 1024 - len(body))
    answers.is_success(merchant.event("ORDER_CREATE", body))
