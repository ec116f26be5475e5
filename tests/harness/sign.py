"""Signatures and request heads, written from the specification alone."""

import hashlib
import hmac
import json

EVENTS = "/event/ecomm"
CATALOG = "/product-data"


def encode(document):
    """Compact JSON, UTF-8; bytes pass unchanged."""
    if isinstance(document, bytes):
        return document
    if isinstance(document, str):
        return document.encode()
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()


def hmac_hex(secret, body):
    return hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def digest_hex(body):
    return hashlib.sha256(body).hexdigest()


def event_headers(shop, secret, topic, body, prefix="X-SVC-"):
    return [
        (f"{prefix}SHOP-ID", shop),
        (f"{prefix}TOPIC", topic),
        ("X-Signature", hmac_hex(secret, body)),
        ("Content-Type", "application/json"),
    ]


def catalog_headers(shop, secret, topic, body, key, prefix="X-SVC-"):
    return [
        ("Authorization", f"Bearer {secret}"),
        (f"{prefix}SHOP-ID", shop),
        (f"{prefix}TOPIC", topic),
        ("X-Signature", digest_hex(body)),
        ("Idempotency-Key", key),
        ("Content-Type", "application/json"),
    ]


def without(headers, *names):
    lowered = {name.lower() for name in names}
    return [(name, value) for name, value in headers if name.lower() not in lowered]


def replaced(headers, **values):
    """Headers with some values changed; `x_signature=...` names X-Signature."""
    wanted = {name.replace("_", "-").lower(): value for name, value in values.items()}
    known = {name.lower() for name, _ in headers}
    assert set(wanted) <= known, f"no such header: {set(wanted) - known}"
    return [(name, wanted.get(name.lower(), value)) for name, value in headers]
