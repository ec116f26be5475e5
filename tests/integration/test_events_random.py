"""Random order payloads and mutilated bytes: the service and an independent reader must agree."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness import answers, orders
from model import order_event_model, strict_json

COMMON = {"deadline": None, "derandomize": True, "suppress_health_check": list(HealthCheck)}
TOPICS = st.sampled_from(["ORDER_CREATE", "ORDER_UPDATE", "ORDER_CANCEL"])
TEXTS = st.sampled_from(
    ["", "x", "l1", "l2", "r1", "1", "0", "1.5", "-1", "1e3", "USD", "usd", "é", "a\0", "x" * 1025,
     "2024-03-01T10:00:00Z", "2024-03-01", "2024-03-01T10:00:00.123+05:30", "DISCOUNT_CODE", "PERCENTAGE"]
)
ANYTHING = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-3, 3), st.floats(-1, 1), TEXTS),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(["sku", "amount", "line_item_id", "code", "zzz"]), inner, max_size=3),
    ),
    max_leaves=5,
)

FULL = orders.order(
    "o", platform_customer_id="c", email="e", phone="p", platform_cancelled_at="2024-03-03T10:00:00Z",
    discounts=[{"code": "S", "type": "DISCOUNT_CODE", "value_type": "PERCENTAGE", "value": "10.5"}],
    line_items=[orders.line(variant_sku="v")], refund_line_items=[orders.refund("r", variant_sku="v")],
    svc_anon_id="a",
)


def near(sample, name=None):
    if isinstance(sample, dict):
        required = {key: near(value, key) for key, value in sample.items()}
        right = st.fixed_dictionaries(required)
        fewer = st.fixed_dictionaries({}, optional=required)
        return st.one_of(right, right, right, right, right, right, fewer, ANYTHING)
    if isinstance(sample, list):
        right = st.lists(near(sample[0]), min_size=1, max_size=3)
        return st.one_of(right, right, right, right, right, right, right, st.just([]), ANYTHING)
    if name in ("line_item_id", "refund_line_item_id"):
        right = st.sampled_from(["l1", "l2", "l3"])
    else:
        right = st.just(sample)
    return st.one_of(*[right] * 25, TEXTS, ANYTHING)


@pytest.fixture(scope="module")
def connection(edge):
    with edge.connect() as made:
        yield made


def agree(merchant, connection, topic, body):
    """The service's verdict on the bytes is that of the model."""
    answer = merchant.event(topic, body, connection=connection)
    try:
        wanted, doubtful = order_event_model.errors_of(topic, strict_json.parse(body))
    except strict_json.Invalid:
        wanted, doubtful = [(None, order_event_model.INVALID)], []
    if not wanted and not doubtful:
        answers.is_success(answer)
        return
    if not wanted and answer.status == 200:
        return
    found = answers.event_errors(answer)
    assert len(found) == len(set(found)), found
    assert set(found) - set(doubtful) == set(wanted) - set(doubtful), body


@settings(max_examples=800, **COMMON)
@given(near(FULL), TOPICS)
def test_random_payloads(merchant, connection, document, topic):
    agree(merchant, connection, topic, json.dumps(document).encode())


@settings(max_examples=600, **COMMON)
@given(
    st.lists(
        st.tuples(
            st.integers(0, 10**9),
            st.sampled_from(
                [b"", b"0", b"1", b"-", b".", b"e", b'"', b"\\", b"{", b"}", b"[", b"]", b",", b":", b" ", b"\n", b"\0",
                 b"\xff", b"\xc3\xa9", b"\xed\xa0\x80", b"\\u0000", b"\\ud800", b"\\u0061", b"null", b"true", b"1e400",
                 b'"amount":"1",', b'"zzz":1,', b"99999999999999999999"]
            ),
            st.integers(0, 3),
        ),
        min_size=1, max_size=3,
    ),
    TOPICS,
)
def test_mutilated_bytes(merchant, connection, edits, topic):
    body = json.dumps(FULL).encode()
    for place, insert, cut in edits:
        place %= len(body)
        body = body[:place] + insert + body[place + cut :]
    if b'"\\u0000"' in body or b"\\u0000" in body:
        # U+0000 in an unknown place: refused, but where it is named is open.
        answer = merchant.event(topic, body, connection=connection)
        assert answer.status == 400
        return
    agree(merchant, connection, topic, body)


@settings(max_examples=300, **COMMON)
@given(st.text(st.sampled_from('{}[]":,0123456789.eE+-truefalsn \\u"ad'), max_size=40), st.integers(0, 3))
def test_random_json_values_of_an_unknown_field(merchant, connection, text, depth):
    value = "[" * depth + text + "]" * depth
    body = json.dumps(FULL).encode()[:-1] + b',"zzz":' + value.encode() + b"}"
    agree(merchant, connection, "ORDER_UPDATE", body)
