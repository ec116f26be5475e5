"""Contract of the order event payload: every field, every form of wrong."""

import pytest

from harness import answers, orders
from harness.orders import DROP, line, order, refund, with_value

REQUIRED = "REQUIRED"
INVALID = "INVALID_FORMAT"

# A payload in which every field that the contract names is present.
FULL = order(
    "full",
    platform_customer_id="c-1",
    email="someone@example.org",
    phone="+49 30 1",
    platform_cancelled_at="2024-03-03T10:00:00Z",
    discounts=[
        {"code": "SAVE", "type": "DISCOUNT_CODE", "value_type": "PERCENTAGE", "value": "10.5"},
        {"code": "LESS", "type": "DISCOUNT_CODE", "value_type": "FIXED_AMOUNT", "value": "3"},
    ],
    line_items=[line("l1", variant_sku="v-1"), line("l2")],
    refund_line_items=[refund("r1", "l1", variant_sku="v-1"), refund("r2", "l2")],
    svc_anon_id="anon-1",
)

STRINGS = {  # path -> required
    "platform_order_id": True,
    "platform_customer_id": False,
    "email": False,
    "phone": False,
    "svc_anon_id": False,
    "line_items[0].line_item_id": True,
    "line_items[1].sku": True,
    "line_items[0].variant_sku": False,
    "refund_line_items[0].refund_line_item_id": True,
    "refund_line_items[0].line_item_id": True,
    "refund_line_items[1].sku": True,
    "refund_line_items[0].variant_sku": False,
    "discounts[0].code": True,
}
IDS = [path for path in STRINGS if path not in ("platform_customer_id", "email", "phone", "svc_anon_id", "discounts[0].code")]
TIMESTAMPS = {
    "platform_ordered_at": True,
    "platform_updated_at": True,
    "platform_cancelled_at": False,
    "refund_line_items[0].platform_refunded_at": True,
}
DECIMALS = [
    "amount",
    "tax",
    "shipping",
    "discounts[0].value",
    "line_items[0].amount",
    "line_items[1].tax",
    "refund_line_items[0].amount",
    "refund_line_items[1].tax",
]
QUANTITIES = ["line_items[0].quantity", "refund_line_items[0].quantity"]
ENUMS = {
    "discounts[0].type": ("DISCOUNT_CODE",),
    "discounts[1].value_type": ("FIXED_AMOUNT", "PERCENTAGE"),
}
REQUIRED_PATHS = (
    [path for path, required in STRINGS.items() if required]
    + [path for path, required in TIMESTAMPS.items() if required]
    + DECIMALS
    + QUANTITIES
    + list(ENUMS)
    + ["currency_code", "line_items"]
)
OPTIONAL_PATHS = (
    [path for path, required in STRINGS.items() if not required]
    + [path for path, required in TIMESTAMPS.items() if not required]
    + ["discounts", "refund_line_items"]
)


def base():
    return with_value(FULL, "platform_order_id", orders.unique())


def with_everywhere(paths, value):
    document = base()
    for path in paths:
        document = with_value(document, path, value)
    return document


def is_refused_everywhere(merchant, connection, paths, value):
    found = answers.event_errors(send(merchant, connection, with_everywhere(paths, value)))
    assert sorted(found) == sorted((path, INVALID) for path in paths)


def send(merchant, connection, document, topic="ORDER_UPDATE"):
    return merchant.event(topic, document, connection=connection)


@pytest.fixture
def connection(edge):
    with edge.connect() as made:
        yield made


def test_full_payload_is_accepted(merchant, connection):
    answers.is_success(send(merchant, connection, base()))


def test_minimal_payload_is_accepted(merchant, connection):
    document = base()
    for path in OPTIONAL_PATHS:
        if "." not in path:
            del document[path]
    answers.is_success(send(merchant, connection, document))


# Missing, null ----------------------------------------------------------------------------------


def expected_beside(path):
    """Missing the id of a line also makes its refund point at nothing."""
    if path == "line_items[0].line_item_id":
        return {("refund_line_items[0].line_item_id", INVALID)}
    if path == "line_items":
        return {(f"refund_line_items[{n}].line_item_id", INVALID) for n in (0, 1)}
    return set()


@pytest.mark.parametrize("how", ["missing", "null"])
@pytest.mark.parametrize("path", REQUIRED_PATHS)
def test_required_field_missing_or_null_is_REQUIRED(merchant, connection, path, how):
    document = with_value(base(), path, DROP if how == "missing" else None)
    found = answers.event_errors(send(merchant, connection, document))
    assert (path, REQUIRED) in found
    assert set(found) - {(path, REQUIRED)} <= expected_beside(path)


@pytest.mark.parametrize("how", ["missing", "null"])
@pytest.mark.parametrize("path", OPTIONAL_PATHS)
def test_optional_field_missing_or_null_is_absent(merchant, connection, path, how):
    document = with_value(base(), path, DROP if how == "missing" else None)
    answers.is_success(send(merchant, connection, document))


@pytest.mark.parametrize("topic", ["ORDER_UPDATE", "ORDER_CANCEL"])
@pytest.mark.parametrize("how", ["missing", "null"])
def test_updated_at_is_required_on_update_and_cancel(merchant, connection, topic, how):
    document = with_value(base(), "platform_updated_at", DROP if how == "missing" else None)
    found = answers.event_errors(send(merchant, connection, document, topic))
    assert found == [("platform_updated_at", REQUIRED)]


@pytest.mark.parametrize("how", ["missing", "null"])
def test_updated_at_is_optional_on_create(merchant, connection, how):
    document = with_value(base(), "platform_updated_at", DROP if how == "missing" else None)
    answers.is_success(send(merchant, connection, document, "ORDER_CREATE"))


def test_bad_updated_at_on_create_is_refused_all_the_same(merchant, connection):
    document = with_value(base(), "platform_updated_at", "yesterday")
    found = answers.event_errors(send(merchant, connection, document, "ORDER_CREATE"))
    assert found == [("platform_updated_at", INVALID)]


def test_cancelled_at_is_not_required_on_cancel(merchant, connection):
    document = with_value(base(), "platform_cancelled_at", DROP)
    answers.is_success(send(merchant, connection, document, "ORDER_CANCEL"))


# Wrong types ------------------------------------------------------------------------------------

NOT_STRINGS = [0, 1, 1.5, True, False, {}, [], ["a"], {"a": "b"}]


@pytest.mark.parametrize("value", NOT_STRINGS, ids=repr)
def test_every_string_field_refuses_other_types(merchant, connection, value):
    for path in [*STRINGS, *TIMESTAMPS, *DECIMALS, *QUANTITIES, *ENUMS, "currency_code"]:
        document = with_value(base(), path, value)
        found = answers.event_errors(send(merchant, connection, document))
        assert (path, INVALID) in found, path
        assert set(found) - {(path, INVALID)} <= expected_beside(path), path


@pytest.mark.parametrize("value", [0, 1.5, True, "x", "", {}, {"0": {}}], ids=repr)
@pytest.mark.parametrize("path", ["line_items", "refund_line_items", "discounts"])
def test_list_fields_refuse_other_types(merchant, connection, path, value):
    found = answers.event_errors(send(merchant, connection, with_value(base(), path, value)))
    assert (path, INVALID) in found
    assert set(found) - {(path, INVALID)} <= expected_beside(path)


@pytest.mark.parametrize("value", [None, 0, "x", [], True], ids=repr)
@pytest.mark.parametrize("path", ["line_items", "refund_line_items", "discounts"])
def test_element_that_is_not_an_object_is_one_error_at_its_index(merchant, connection, path, value):
    document = base()
    document[path].append(value)
    found = answers.event_errors(send(merchant, connection, document))
    assert [field for field, _ in found] == [f"{path}[2]"]
    if value is not None:
        assert found == [(f"{path}[2]", INVALID)]


def test_line_items_must_not_be_empty(merchant, connection):
    document = base()
    document["line_items"] = []
    del document["refund_line_items"]
    assert answers.event_errors(send(merchant, connection, document)) == [("line_items", INVALID)]


@pytest.mark.parametrize("path", ["refund_line_items", "discounts"])
def test_empty_optional_lists_are_accepted(merchant, connection, path):
    answers.is_success(send(merchant, connection, with_value(base(), path, [])))


# Ids --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", IDS + ["discounts[0].code"])
def test_empty_id_is_invalid(merchant, connection, path):
    found = answers.event_errors(send(merchant, connection, with_value(base(), path, "")))
    assert (path, INVALID) in found
    assert set(found) - {(path, INVALID)} <= expected_beside(path)


@pytest.mark.parametrize("size", [1, 2, 399, 400, 401, 511, 512, 1023, 1024])
def test_ids_up_to_1024_bytes_are_accepted(merchant, connection, size):
    for path in IDS:
        value = ("x" * size) if size > 1 else "z"
        document = with_value(base(), path, value)
        if path == "line_items[0].line_item_id":
            document["refund_line_items"][0]["line_item_id"] = value
        if path == "refund_line_items[0].line_item_id":
            document["line_items"][0]["line_item_id"] = value
        answers.is_success(send(merchant, connection, document))


@pytest.mark.parametrize("value", ["x" * 1025, "é" * 513, "😀" * 257, "x" * 4000])
def test_ids_over_1024_bytes_are_invalid(merchant, connection, value):
    for path in IDS:
        found = answers.event_errors(send(merchant, connection, with_value(base(), path, value)))
        assert (path, INVALID) in found, path
        assert set(found) - {(path, INVALID)} <= expected_beside(path), path


@pytest.mark.parametrize("value", ["é" * 512, "😀" * 256, " ", "a b", "\n", "\x7f", '"', "\\", "/", "%00", "\u2028"])
def test_ids_are_any_text(merchant, connection, value):
    document = base()
    document["platform_order_id"] = value + orders.unique() if len(value) < 9 else value
    document["line_items"][1]["line_item_id"] = value
    document["refund_line_items"][1]["line_item_id"] = value
    answers.is_success(send(merchant, connection, document))


# Decimals ---------------------------------------------------------------------------------------

GOOD_DECIMALS = ["0", "0.0", "0.000000", "1", "01", "000000000000001", "007.50", "10.123456",
                 "999999999999999", "999999999999999.999999", "0.000001"]
BAD_DECIMALS = ["", " ", " 1", "1 ", "1.", ".5", ".", "-1", "+1", "-0", "1e3", "1E3", "1e-3", "1,5",
                "1,000", "1_000", "1'000", "0x10", "NaN", "Infinity", "inf", "1.2.3", "1.1234567",
                "1000000000000000", "0000000000000001", "１", "٣", "1\u00a0000", "$1", "1 USD", "1.0\n", "1.0000000", "--1", "1.-5", "1.+5"]


@pytest.mark.parametrize("value", GOOD_DECIMALS)
def test_decimal_is_accepted(merchant, connection, value):
    answers.is_success(send(merchant, connection, with_everywhere(DECIMALS, value)))


@pytest.mark.parametrize("value", BAD_DECIMALS)
def test_decimal_is_invalid(merchant, connection, value):
    is_refused_everywhere(merchant, connection, DECIMALS, value)


# Quantities -------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", ["1", "01", "000000001", "10", "999999999"])
def test_quantity_is_accepted(merchant, connection, value):
    answers.is_success(send(merchant, connection, with_everywhere(QUANTITIES, value)))


@pytest.mark.parametrize(
    "value", ["", " ", "1.0", "1.", "-1", "+1", "1e2", "one", "1000000000", "0000000001", "1 ", " 1", "0x1", "１", "1,0"]
)
def test_quantity_is_invalid(merchant, connection, value):
    is_refused_everywhere(merchant, connection, QUANTITIES, value)


@pytest.mark.parametrize("value", ["0", "00", "000000000"])
def test_quantity_of_0_is_for_refunds_only(merchant, connection, value):
    document = with_value(base(), "refund_line_items[0].quantity", value)
    answers.is_success(send(merchant, connection, document))
    document = with_value(base(), "line_items[0].quantity", value)
    found = answers.event_errors(send(merchant, connection, document))
    assert found == [("line_items[0].quantity", INVALID)]


# Timestamps -------------------------------------------------------------------------------------

GOOD_TIMES = [
    "2024-03-01T10:00:00Z", "2024-03-01T10:00:00", "2024-03-01t10:00:00z", "2024-03-01T10:00:00z",
    "2024-03-01T10:00:00.1Z", "2024-03-01T10:00:00.123456789Z", "2024-03-01T10:00:00.123456789",
    "2024-03-01T10:00:00+00:00", "2024-03-01T10:00:00-00:00", "2024-03-01T10:00:00+14:00",
    "2024-03-01T10:00:00-12:30", "2024-03-01T10:00:00.5+05:45", "2024-02-29T00:00:00Z",
    "2000-02-29T23:59:59Z", "1970-01-01T00:00:00Z", "1969-12-31T23:59:59Z", "1900-01-01T00:00:00Z",
    "2016-12-31T23:59:60Z", "2016-12-31T23:59:60", "2017-01-01T00:59:60+01:00",
    "2016-12-31T18:59:60-05:00", "2016-12-31T23:59:60.5Z", "2024-12-31T23:59:59.999999999Z",
    "2024-03-01T10:00:00+23:59",
]
BAD_TIMES = [
    "", " ", "yesterday", "2024-03-01", "2024-03-01T10:00", "2024-03-01T10:00Z", "2024-03-01T10Z",
    "2024-03-01 10:00:00Z", "2024-03-01_10:00:00Z", "2024-03-01T10:00:00+0200",
    "2024-03-01T10:00:00+02", "2024-03-01T10:00:00+2:00", "2024-03-01T10:00:00 Z",
    "2024-03-01T10:00:00 +02:00", "2024-03-01T24:00:00Z", "2024-03-01T25:00:00Z",
    "2024-03-01T10:60:00Z", "2024-03-01T10:00:61Z", "2024-03-01T10:00:60Z", "2024-03-01T22:59:60Z",
    "2016-12-31T23:59:60+01:00", "2024-02-30T10:00:00Z", "2023-02-29T10:00:00Z",
    "1900-02-29T10:00:00Z", "2024-04-31T10:00:00Z", "2024-13-01T10:00:00Z", "2024-00-01T10:00:00Z",
    "2024-01-00T10:00:00Z", "2024-01-32T10:00:00Z", "2024-3-01T10:00:00Z", "24-03-01T10:00:00Z",
    "2024-03-01T10:00:00.Z", "2024-03-01T10:00:00.1234567890Z", "2024-03-01T10:00:00,5Z",
    "2024-03-01T1:00:00Z", "20240301T100000Z", "1709287200", " 2024-03-01T10:00:00Z",
    "2024-03-01T10:00:00Z ", "2024-03-01T10:00:00ZZ", "2024-03-01T10:00:00+24:00",
    "2024-03-01T10:00:00+02:60", "2024-W09-5T10:00:00Z", "2024-061T10:00:00Z", "+2024-03-01T10:00:00Z",
    "-2024-03-01T10:00:00Z", "12024-03-01T10:00:00Z", "2024-03-01T10:00:00UTC", "2024-03-01T10:00:00.5.5Z",
    "2024-03-01T10:00:00+02:00Z", "２024-03-01T10:00:00Z", "2024-03-01T-1:00:00Z", "2024-03-01T10:00:00\n",
]


@pytest.mark.parametrize("value", GOOD_TIMES)
def test_timestamp_is_accepted(merchant, connection, value):
    answers.is_success(send(merchant, connection, with_everywhere(TIMESTAMPS, value)))


@pytest.mark.parametrize("value", BAD_TIMES)
def test_timestamp_is_invalid(merchant, connection, value):
    is_refused_everywhere(merchant, connection, TIMESTAMPS, value)


# Codes and enumerations -------------------------------------------------------------------------


@pytest.mark.parametrize("code", ["USD", "EUR", "JPY", "KWD", "CLF", "XXX", "HRK", "XCG", "ZWG", "XAD"])
def test_currency_is_accepted(merchant, connection, code):
    answers.is_success(send(merchant, connection, with_value(base(), "currency_code", code)))


@pytest.mark.parametrize("code", ["", "usd", "Usd", "US", "USDD", "ZZZ", "840", " USD", "USD ", "€", "U\u0000D"])
def test_currency_is_invalid(merchant, connection, code):
    found = answers.event_errors(send(merchant, connection, with_value(base(), "currency_code", code)))
    assert found == [("currency_code", INVALID)]


@pytest.mark.parametrize("path", ENUMS)
def test_enumeration(merchant, connection, path):
    for value in ENUMS[path]:
        answers.is_success(send(merchant, connection, with_value(base(), path, value)))
    for value in ("", "x", ENUMS[path][0].lower(), ENUMS[path][0] + " "):
        found = answers.event_errors(send(merchant, connection, with_value(base(), path, value)))
        assert found == [(path, INVALID)], value


# Relations --------------------------------------------------------------------------------------


def test_line_item_id_is_unique_in_the_order(merchant, connection):
    document = base()
    del document["refund_line_items"]
    document["line_items"] = [line("a"), line("b"), line("a")]
    found = answers.event_errors(send(merchant, connection, document))
    assert found == [("line_items[2].line_item_id", INVALID)]


def test_refund_must_name_a_line_of_the_same_payload(merchant, connection):
    document = with_value(base(), "refund_line_items[1].line_item_id", "l3")
    found = answers.event_errors(send(merchant, connection, document))
    assert found == [("refund_line_items[1].line_item_id", INVALID)]


def test_refund_id_appears_once_only(merchant, connection):
    document = with_value(base(), "refund_line_items[1].refund_line_item_id", "r1")
    found = answers.event_errors(send(merchant, connection, document))
    assert found == [("refund_line_items[1].refund_line_item_id", INVALID)]


def test_line_is_refunded_once_only_in_a_payload(merchant, connection):
    document = with_value(base(), "refund_line_items[1].line_item_id", "l1")
    found = answers.event_errors(send(merchant, connection, document))
    assert found == [("refund_line_items[1].line_item_id", INVALID)]


def test_ids_that_differ_in_case_or_normalisation_are_different(merchant, connection):
    document = base()
    document["line_items"] = [line("a"), line("A"), line("\u00e9"), line("e\u0301")]
    document["refund_line_items"] = [refund("r", "a"), refund("R", "A")]
    answers.is_success(send(merchant, connection, document))


def test_escaped_and_plain_spelling_of_an_id_are_the_same(merchant):
    body = sign_twice(orders.unique())
    found = answers.event_errors(merchant.event("ORDER_UPDATE", body))
    assert found == [("line_items[1].line_item_id", INVALID)]


def sign_twice(order_id):
    from harness import sign

    body = sign.encode(order(order_id, line_items=[line("a"), line("b")]))
    return body.replace(b'"b"', b'"\\u0061"')


# The whole list ---------------------------------------------------------------------------------


def test_every_bad_field_is_listed(merchant, connection):
    document = base()
    bad = {"amount": "x", "platform_ordered_at": "x", "line_items[0].quantity": "0",
           "line_items[1].tax": 1, "refund_line_items[1].amount": "-1", "discounts[0].type": "X",
           "email": 5, "currency_code": "usd"}
    for path, value in bad.items():
        document = with_value(document, path, value)
    document = with_value(document, "tax", DROP)
    found = answers.event_errors(send(merchant, connection, document))
    assert sorted(found) == sorted([(path, INVALID) for path in bad] + [("tax", REQUIRED)])


def test_no_field_at_all(merchant, connection):
    found = answers.event_errors(send(merchant, connection, {}, "ORDER_CREATE"))
    wanted = ["platform_order_id", "platform_ordered_at", "amount", "tax", "shipping", "currency_code", "line_items"]
    assert sorted(found) == sorted((path, REQUIRED) for path in wanted)
    found = answers.event_errors(send(merchant, connection, {}, "ORDER_CANCEL"))
    assert sorted(found) == sorted((path, REQUIRED) for path in wanted + ["platform_updated_at"])


@pytest.mark.parametrize("count,listed", [(99, 99), (100, 100), (101, 100), (3000, 100)])
def test_the_first_100_errors_are_listed(merchant, connection, count, listed):
    document = base()
    document["line_items"] = [line(f"l{n}", amount="bad") for n in range(1, count + 1)]
    del document["refund_line_items"]
    found = answers.event_errors(send(merchant, connection, document))
    assert found == [(f"line_items[{n}].amount", INVALID) for n in range(listed)]


def test_unknown_fields_are_accepted_at_every_level(merchant, connection):
    document = base()
    document["later"] = {"a": [1, 2.5, None, True, {"b": "c"}]}
    document["line_items"][0]["later"] = [None]
    document["refund_line_items"][0]["later"] = -1e300
    document["discounts"][0]["later"] = ""
    answers.is_success(send(merchant, connection, document))


def test_many_lines_are_accepted(merchant, connection):
    document = base()
    document["line_items"] = [line(f"l{n}") for n in range(1, 3001)]
    document["refund_line_items"] = [refund(f"r{n}", f"l{n}") for n in range(1, 3001)]
    answers.is_success(send(merchant, connection, document))
