"""sign and verify, against Python's own hmac and hashlib."""
import base64
import hashlib
import hmac
import json

import pytest
from program import sluice

SECRET = "signing-secret-0123456789"
BODY = b'{"platform_order_id": "\xc3\xa9"}\n'


@pytest.fixture
def files(tmp_path):
    body = tmp_path / "body"
    body.write_bytes(BODY)
    token = tmp_path / "token"
    token.write_text(SECRET + "\n")
    token.chmod(0o600)
    return body, token


def hmac_hex(body):
    return hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()


def test_sign_is_hmac_sha256_of_the_raw_bytes(files):
    body, token = files
    assert sluice("sign", body, "--token-file", token).out == hmac_hex(BODY) + "\n"
    assert sluice("sign", "--token-file", token, stdin=BODY.decode()).out == hmac_hex(BODY) + "\n"
    assert sluice("sign", body, "--catalog").out == hashlib.sha256(BODY).hexdigest() + "\n"


def test_verify_accepts_a_signature_of_sign(files):
    body, token = files
    assert sluice("verify", body, "--token-file", token, "--signature", hmac_hex(BODY)).status == 0
    digest = hashlib.sha256(BODY).hexdigest()
    assert sluice("verify", body, "--catalog", "--signature", digest.upper()).status == 0


@pytest.mark.parametrize(
    "signature, expected",
    [
        ("sha256=" + hmac_hex(BODY), "prefix"),
        (hmac_hex(BODY).upper(), "lower case"),
        (base64.b64encode(bytes.fromhex(hmac_hex(BODY))).decode(), "base64"),
        (hashlib.sha256(BODY).hexdigest(), "plain SHA-256"),
        (hmac_hex(BODY.rstrip()), "newline that was not signed"),
        (hmac_hex(b"other"), "another secret, or other bytes"),
        ("abc", "does not match"),
    ],
)
def test_verify_names_the_likely_mistake(files, signature, expected):
    body, token = files
    run = sluice("verify", body, "--token-file", token, f"--signature={signature}")
    assert run.status == 1
    assert expected in run.err and SECRET not in run.err
    assert len(run.err.splitlines()) == 1


ORDER = {"platform_order_id": "é/1", "amount": 1.5, "line_items": [{"sku": "<b>", "b": [], "a": {}}], "a": True,
         "note": "ÿ"}
COMPACT = json.dumps(ORDER, separators=(",", ":"), ensure_ascii=False).encode()
LAYOUTS = {
    "space behind each comma and colon": json.dumps(ORDER).encode(),
    "space behind each comma and colon (Python's json.dumps), plain UTF-8": json.dumps(ORDER, ensure_ascii=False).encode(),
    "keys sorted": json.dumps(ORDER, sort_keys=True, separators=(",", ":")).encode(),
    "indented by 2, plain UTF-8": json.dumps(ORDER, indent=2, ensure_ascii=False).encode(),
    "PHP's json_encode": json.dumps(ORDER, separators=(",", ":")).replace("/", "\\/").encode(),
    "without spaces, / as": COMPACT.replace(b"/", b"\\/"),
    "Go's json.Marshal": COMPACT.replace(b"<", b"\\u003c").replace(b">", b"\\u003e"),
    "as Latin-1": COMPACT.decode().encode("latin-1"),
    "as UTF-16": COMPACT.decode().encode("utf-16-le"),
    "with a byte order mark": b"\xef\xbb\xbf" + COMPACT,
}


@pytest.mark.parametrize("words", LAYOUTS)
def test_verify_finds_the_layout_that_was_signed(files, words):
    body, token = files
    body.write_bytes(COMPACT)
    run = sluice("verify", body, "--token-file", token, "--signature", hmac_hex(LAYOUTS[words]))
    assert run.status == 1 and "was signed " in run.err and words in run.err, run.err
    run = sluice("verify", body, "--catalog", "--signature", hashlib.sha256(LAYOUTS[words]).hexdigest())
    assert run.status == 1 and "was signed " in run.err and words in run.err, run.err


def test_verify_finds_the_layout_of_a_body_that_was_sent_with_spaces(files):
    body, token = files
    for sent in (json.dumps(ORDER), json.dumps(ORDER, indent=4), '[1.10, -0, 1e5, "\\u00e9\\/"]'):
        body.write_text(sent)
        signed = sent if sent[0] == "[" else COMPACT.decode()
        signed = '[1.10,-0,1e5,"é/"]' if sent[0] == "[" else signed
        run = sluice("verify", body, "--token-file", token, "--signature", hmac_hex(signed.encode()))
        assert run.status == 1 and "was signed without spaces, plain UTF-8" in run.err, run.err


def test_check_says_where_the_json_is_wrong(tmp_path):
    file = tmp_path / "o.ndjson"
    file.write_text('{"platform_order_id":"1","amount":10,00}\n')
    run = sluice("send", "events", file, "--check")
    assert run.status == 1
    assert f'{file}:1: INVALID_FORMAT: the body is not valid JSON, line 1, column 38: expected' in run.out
    assert 'after "1","amount":10, comes 00}' in run.out


@pytest.mark.parametrize("line", [["sign"], ["sign", "--catalog", "--token-file", "f"], ["verify", "--signature", "x"],
                                  ["verify", "--catalog"]])
def test_wrong_lines(line):
    assert sluice(*line).status == 2
