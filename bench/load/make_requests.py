#!/usr/bin/env python3
"""Prepares signed order requests for sluice-load: `LENGTH\\n` and the bytes, one after the other.

    make_requests.py --secret-file F --shop S --lines 5 --count 20000 > requests.bin
"""
import argparse
import hashlib
import hmac
import json
import random
import sys


def order(number, lines, pad, rng):
    items = []
    for line in range(lines):
        items.append({
            "line_item_id": f"{number}-{line}",
            "sku": f"SKU-{rng.randrange(10_000):05d}",
            "variant_sku": f"VSKU-{rng.randrange(10_000):05d}-{line}",
            "amount": f"{rng.randrange(100, 20_000) / 100:.2f}",
            "tax": f"{rng.randrange(0, 100) / 100:.2f}",
            "quantity": str(rng.randrange(1, 5)),
        })
    return {
        "platform_order_id": f"order-{number:012d}",
        "platform_customer_id": f"customer-{rng.randrange(1_000_000)}",
        "email": f"buyer{number}@example.com",
        "platform_ordered_at": "2026-11-01T10:00:00Z",
        "platform_updated_at": "2026-11-01T10:00:00Z",
        "amount": "500.00",
        "tax": "20.00",
        "shipping": "4.90",
        "currency_code": "USD",
        "discounts": [{"code": f"CREATOR{rng.randrange(500)}", "type": "DISCOUNT_CODE",
                       "value_type": "PERCENTAGE", "value": "10"}],
        "line_items": items,
        "svc_anon_id": f"anon-{rng.randrange(1 << 48):012x}",
        **({"note": "x" * pad} if pad else {}),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--secret-file", required=True)
    parser.add_argument("--shop", required=True)
    parser.add_argument("--path", default="/event/ecomm")
    parser.add_argument("--lines", type=int, default=5)
    parser.add_argument("--pad", type=int, default=0, help="bytes of an unknown field")
    parser.add_argument("--count", type=int, default=20000)
    parser.add_argument("--first", type=int, default=0, help="number of the first order")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()

    with open(options.secret_file, "rb") as file:
        secret = file.read().rstrip(b"\n")
    rng = random.Random(options.seed)
    out = sys.stdout.buffer
    for number in range(options.first, options.first + options.count):
        body = json.dumps(order(number, options.lines, options.pad, rng), separators=(",", ":")).encode()
        signature = hmac.new(secret, body, hashlib.sha256).hexdigest()
        request = (
            f"POST {options.path} HTTP/1.1\r\nHost: localhost\r\nX-SVC-SHOP-ID: {options.shop}\r\n"
            f"X-SVC-TOPIC: ORDER_CREATE\r\nX-Signature: {signature}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        ).encode() + body
        out.write(b"%d\n" % len(request) + request)


if __name__ == "__main__":
    main()
