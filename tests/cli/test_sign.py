"""sign and verify, against Python's own hmac and hashlib."""
import base64
import hashlib
import hmac

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


def test_verify_accepts_what_sign_makes(files):
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


@pytest.mark.parametrize("line", [["sign"], ["sign", "--catalog", "--token-file", "f"], ["verify", "--signature", "x"],
                                  ["verify", "--catalog"]])
def test_wrong_lines(line):
    assert sluice(*line).status == 2
