"""Contract of the body as JSON: grammar, encoding, depth, numbers, repeated names."""

import json

import pytest

from harness import answers, orders, sign

INVALID = "INVALID_FORMAT"
WHOLE = [(None, INVALID)]


@pytest.fixture
def connection(edge):
    with edge.connect() as made:
        yield made


@pytest.fixture
def send(merchant, connection):
    def post(body):
        return merchant.event("ORDER_CREATE", body, connection=connection)

    return post


def valid():
    return sign.encode(orders.order())


def plus(member):
    """A valid order with one more member, given as raw bytes `"name":value`."""
    return valid()[:-1] + b"," + member + b"}"


# Not JSON ---------------------------------------------------------------------------------------

NOT_JSON = {
    "word": b"nonsense",
    "cut": valid()[:-1],
    "cut in a string": valid()[:20],
    "two documents": valid() + valid(),
    "trailing comma": valid()[:-1] + b",}",
    "trailing word": valid() + b"x",
    "trailing NUL": valid() + b"\0",
    "leading NUL": b"\0" + valid(),
    "BOM": b"\xef\xbb\xbf" + valid(),
    "UTF-16": valid().decode().encode("utf-16"),
    "single quotes": valid().replace(b'"', b"'"),
    "comment": b"/* hello */" + valid(),
    "line comment": valid() + b"\n// x",
    "vertical tab": b"\v" + valid(),
    "no-break space": b"\xc2\xa0" + valid(),
    "unquoted name": plus(b"a:1"),
    "bad literal": plus(b'"a":tru'),
    "literal in capitals": plus(b'"a":True'),
    "None": plus(b'"a":None'),
    "undefined": plus(b'"a":undefined'),
    "NaN": plus(b'"a":NaN'),
    "Infinity": plus(b'"a":Infinity'),
    "minus Infinity": plus(b'"a":-Infinity'),
    "leading plus": plus(b'"a":+1'),
    "leading zero": plus(b'"a":01'),
    "minus leading zero": plus(b'"a":-01'),
    "leading point": plus(b'"a":.5'),
    "trailing point": plus(b'"a":1.'),
    "lone minus": plus(b'"a":-'),
    "empty exponent": plus(b'"a":1e'),
    "signed empty exponent": plus(b'"a":1e+'),
    "two points": plus(b'"a":1.2.3'),
    "hexadecimal": plus(b'"a":0x1F'),
    "too large": plus(b'"a":1e400'),
    "too large, negative": plus(b'"a":-1e400'),
    "too large, spelled out": plus(b'"a":' + b"9" * 400 + b".0"),
    "integer over 64 bit": plus(b'"a":18446744073709551616'),
    "integer under 64 bit": plus(b'"a":-9223372036854775809'),
    "integer of 400 digits": plus(b'"a":' + b"1" * 400),
    "no value": plus(b'"a":'),
    "no colon": plus(b'"a" 1'),
    "two colons": plus(b'"a"::1'),
    "no comma": plus(b'"a":1 "b":2'),
    "two commas": plus(b'"a":1,,"b":2'),
    "number as a name": plus(b'1:"a"'),
    "array: trailing comma": plus(b'"a":[1,]'),
    "array: leading comma": plus(b'"a":[,1]'),
    "array: not closed": plus(b'"a":[1'),
    "array: closed by brace": plus(b'"a":[1}'),
    "bad escape": plus(b'"a":"\\x41"'),
    "escape at the end": plus(b'"a":"\\"'),
    "short unicode escape": plus(b'"a":"\\u12"'),
    "bad unicode escape": plus(b'"a":"\\u12G4"'),
    "control character": plus(b'"a":"\x01"'),
    "newline in a string": plus(b'"a":"\n"'),
    "tab in a string": plus(b'"a":"\t"'),
    "NUL in a string": plus(b'"a":"\0"'),
    "lone high surrogate": plus(b'"a":"\\ud800"'),
    "lone low surrogate": plus(b'"a":"\\udc00"'),
    "reversed surrogates": plus(b'"a":"\\udc00\\ud800"'),
    "high surrogate, then text": plus(b'"a":"\\ud800x"'),
    "two high surrogates": plus(b'"a":"\\ud800\\ud800"'),
    "lone surrogate in a name": plus(b'"\\ud800":1'),
    "bad UTF-8": plus(b'"a":"\xff"'),
    "bad UTF-8 in a name": plus(b'"\xff":1'),
    "overlong UTF-8": plus(b'"a":"\xc0\xaf"'),
    "overlong NUL": plus(b'"a":"\xc0\x80"'),
    "surrogate in UTF-8": plus(b'"a":"\xed\xa0\x80"'),
    "UTF-8 over U+10FFFF": plus(b'"a":"\xf4\x90\x80\x80"'),
    "cut UTF-8": plus(b'"a":"\xe2\x82"'),
    "lone continuation": plus(b'"a":"\x80"'),
    "deep in an unknown field": plus(b'"a":{"b":[{"c":tru}]}'),
    "65 levels of arrays": plus(b'"a":' + b"[" * 64 + b"]" * 64),
    "65 levels of objects": plus(b'"a":' + b'{"a":' * 63 + b"{}" + b"}" * 63),
    "65 levels, innermost filled": plus(b'"a":' + b"[" * 64 + b"1" + b"]" * 64),
    "100000 levels": plus(b'"a":' + b"[" * 100000 + b"]" * 100000),
    "100000 open brackets": b"[" * 100000,
    "only white space": b" \n",
}


@pytest.mark.parametrize("name", NOT_JSON)
def test_unreadable_json_is_one_error_of_the_body(send, name):
    assert answers.event_errors(send(NOT_JSON[name])) == WHOLE


@pytest.mark.parametrize("body", [b"[]", b'"x"', b"1", b"true", b"[{}]"])
def test_body_that_is_no_object_is_one_error_of_the_body(send, body):
    assert answers.event_errors(send(body)) == WHOLE


@pytest.mark.parametrize("body", [b"", b"null"])
def test_empty_and_null_bodies_are_one_error_of_the_body(send, body):
    found = answers.event_errors(send(body))
    assert [field for field, _ in found] == [None]


# JSON that is odd but good ----------------------------------------------------------------------

GOOD = {
    "white space everywhere": b"\t\r\n " + valid().replace(b'":', b'" :\n').replace(b',"', b'\t,\r"') + b" \n",
    "largest unsigned": plus(b'"a":18446744073709551615'),
    "smallest signed": plus(b'"a":-9223372036854775808'),
    "minus zero": plus(b'"a":-0'),
    "minus zero point": plus(b'"a":-0.0e-0'),
    "exponents": plus(b'"a":[1e5,1E5,1e+5,1e-5,1.5e308,5e-324]'),
    "underflow": plus(b'"a":1e-400'),
    "many digits": plus(b'"a":0.' + b"1" * 1000),
    "64 levels of arrays": plus(b'"a":' + b"[" * 63 + b"]" * 63),
    "64 levels of objects": plus(b'"a":' + b'{"a":' * 62 + b"{}" + b"}" * 62),
    "64 levels, innermost filled": plus(b'"a":' + b"[" * 63 + b"1" + b"]" * 63),
    "all escapes": plus(b'"a":"\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\ud83d\\ude00"'),
    "escaped upper case": plus(b'"a":"\\uD83D\\uDE00\\u00E9"'),
    "U+FFFF and DEL": plus(b'"a":"\xef\xbf\xbf\x7f"'),
    "U+10FFFF": plus(b'"a":"\xf4\x8f\xbf\xbf"'),
    "BOM inside a string": plus(b'"a":"\xef\xbb\xbf"'),
    "empty name": plus(b'"":1'),
    "escaped name": valid().replace(b'"amount"', b'"\\u0061mount"', 1),
    "unknown name twice": plus(b'"a":1,"a":2'),
    "name of another level": plus(b'"sku":1,"sku":2'),
    "many members": plus(b",".join(b'"k%d":%d' % (n, n) for n in range(20000))),
    "wide array": plus(b'"a":[' + b",".join([b"{}"] * 100000) + b"]"),
    "long string": plus(b'"a":"' + b"x" * 500000 + b'"'),
    "long name": plus(b'"' + b"x" * 500000 + b'":1'),
}


@pytest.mark.parametrize("name", GOOD)
def test_odd_but_good_json_is_accepted(send, name):
    assert json.loads(GOOD[name])
    answers.is_success(send(GOOD[name]))


# U+0000 -----------------------------------------------------------------------------------------


def test_nul_in_a_named_string_is_invalid(send):
    for path in ("platform_order_id", "email", "line_items[0].sku", "svc_anon_id"):
        document = orders.with_value(orders.order(), path, "a\0b")
        assert answers.event_errors(send(document)) == [(path, INVALID)]


def test_nul_in_an_unknown_string_is_invalid(send):
    assert send(plus(b'"a":"\\u0000"')).status == 400
    assert send(plus(b'"a":{"b":["x\\u0000y"]}')).status == 400


def test_nul_in_a_name_is_invalid(send):
    assert send(plus(b'"a\\u0000":1')).status == 400


# Names that appear twice ------------------------------------------------------------------------

TOP = ["platform_order_id", "platform_customer_id", "email", "phone", "platform_ordered_at",
       "platform_updated_at", "platform_cancelled_at", "amount", "tax", "shipping", "currency_code",
       "discounts", "line_items", "refund_line_items", "svc_anon_id"]
NESTED = {
    "discounts[0]": ["code", "type", "value_type", "value"],
    "line_items[0]": ["line_item_id", "sku", "variant_sku", "amount", "tax", "quantity"],
    "refund_line_items[0]": ["refund_line_item_id", "line_item_id", "platform_refunded_at", "sku",
                             "variant_sku", "amount", "tax", "quantity"],
}


def full():
    return orders.order(
        platform_customer_id="c", email="e", phone="p", platform_cancelled_at="2024-03-01T10:00:00Z",
        discounts=[{"code": "c", "type": "DISCOUNT_CODE", "value_type": "PERCENTAGE", "value": "1"}],
        line_items=[orders.line(variant_sku="v")],
        refund_line_items=[orders.refund("r", variant_sku="v")],
        svc_anon_id="a",
    )


def doubled(document, path, name, escaped):
    """The document's text with member `name` of the object at `path` written twice."""
    mark = "@@MARK@@"
    target = document
    for step in [s for s in path.replace("]", "").replace("[", ".").split(".") if s]:
        target = target[int(step)] if step.isdigit() else target[step]
    again = json.dumps(target[name])
    target[mark] = 0
    spelled = "\\u%04x" % ord(name[0]) + name[1:] if escaped else name
    text = json.dumps(document)
    return text.replace(f'"{mark}": 0', f'"{spelled}": {again}').encode()


@pytest.mark.parametrize("escaped", [False, True], ids=["plain", "escaped"])
@pytest.mark.parametrize("name", TOP)
def test_named_field_twice_is_invalid(send, name, escaped):
    found = answers.event_errors(send(doubled(full(), "", name, escaped)))
    assert (name, INVALID) in found
    assert all(field.startswith((name, "refund_line_items")) for field, _ in found), found


@pytest.mark.parametrize("escaped", [False, True], ids=["plain", "escaped"])
@pytest.mark.parametrize("path,name", [(p, n) for p, names in NESTED.items() for n in names])
def test_named_field_twice_in_an_element_is_invalid(send, path, name, escaped):
    found = answers.event_errors(send(doubled(full(), path, name, escaped)))
    assert (f"{path}.{name}", INVALID) in found
    if name != "line_item_id":
        assert found == [(f"{path}.{name}", INVALID)]


def test_named_field_three_times_is_one_error(send):
    found = answers.event_errors(send(plus(b'"email":"a","email":"b","email":"c"')))
    assert found == [("email", INVALID)]


def test_field_twice_with_null_is_invalid(send):
    found = answers.event_errors(send(plus(b'"email":"a","email":null')))
    assert found == [("email", INVALID)]
    found = answers.event_errors(send(plus(b'"email":null,"email":"a"')))
    assert found == [("email", INVALID)]


def test_anonymous_id_follows_the_header_prefix(edge, merchant):
    """X-LC- reads lc_anon_id; svc_anon_id is then any unknown field, twice or not."""
    for member in (b'"svc_anon_id":5', b'"svc_anon_id":1,"svc_anon_id":2', b'"lc_anon_id":"a"', b'"lc_anon_id":null'):
        body = plus(member)
        headers = sign.event_headers(merchant.shop, merchant.secret, "ORDER_CREATE", body, "X-LC-")
        answers.is_success(edge.request("POST", "/lc" + sign.EVENTS, headers, body))
    for member in (b'"lc_anon_id":5', b'"lc_anon_id":"a","lc_anon_id":"b"'):
        body = plus(member)
        headers = sign.event_headers(merchant.shop, merchant.secret, "ORDER_CREATE", body, "X-LC-")
        answer = edge.request("POST", "/lc" + sign.EVENTS, headers, body)
        assert answers.event_errors(answer) == [("lc_anon_id", INVALID)]


def test_header_prefix_replaces_the_names(edge, merchant):
    body = valid()
    headers = sign.event_headers(merchant.shop, merchant.secret, "ORDER_CREATE", body)
    answers.is_unauthorized(edge.request("POST", "/lc" + sign.EVENTS, headers, body))
    headers = sign.event_headers(merchant.shop, merchant.secret, "NO", body, "X-LC-")
    answer = edge.request("POST", "/lc" + sign.EVENTS, headers, body)
    assert answers.event_errors(answer) == [("X-LC-TOPIC", INVALID)]
    answers.is_unauthorized(edge.request("POST", sign.EVENTS, headers, body))
