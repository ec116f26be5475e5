#!/usr/bin/env python3
"""Prepares signed requests for sluice-load: `LENGTH\\n` and the bytes, one after the other.

    make_requests.py --secret-file F --shop S --lines 5 --count 20000 > requests.bin       orders
    make_requests.py --secret-file F --shop S --products 1000 --count 20 > requests.bin    batches of products
    make_requests.py --secret-file F --shop S --webhooks ORDERS > requests.bin             Shopify's, a body on each line
    make_requests.py --secret-file F --shop S --clicks 1000 --count 20 > requests.bin      batches of clicks
    make_requests.py --path /l/ --links 1000 --device --count 20000 > requests.bin         visitors of links
"""
import argparse
import base64
import datetime
import hashlib
import hmac
import json
import random
import sys


OPTIONAL = ("platform_customer_id", "email", "platform_updated_at", "discounts", "variant_sku")


def bare(fields):
    return {name: value for name, value in fields.items() if name not in OPTIONAL}


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


def product(number, variants):
    code = f"{number:05d}"
    return {
        "platform_product_id": f"prod-{code}", "parent_id": f"prod-{code}", "position": 0,
        "title": f"Organic cotton T-shirt {code}", "handle": f"organic-cotton-t-shirt-{code}",
        "brand": "Example & Söhne", "active": True, "in_stock": True,
        "product_url": f"https://shop.example.com/products/t-shirt-{code}",
        "image_src": f"https://cdn.example.com/images/t-shirt-{code}.jpg", "language": "de", "country": "DE",
        "list_price": 29.95, "sale_price": 24.95, "currency_code": "EUR", "availability": "in stock",
        "allowed_regions": ["DE", "FR", "AT"], "collections": ["summer", "basics"], "tags": ["cotton", "organic"],
        "variants": [{
            "variant_sku": f"TSHIRT-{code}-{at}", "parent_id": f"prod-{code}", "position": at,
            "title": "Organic cotton T-shirt / Blue / M", "price": 24.95, "list_price": 29.95, "currency_code": "EUR",
            "product_url": f"https://shop.example.com/products/t-shirt-{code}?variant={at}",
            "image_src": f"https://cdn.example.com/images/t-shirt-{code}-{at}.jpg", "availability": "in stock",
            "option1_name": "Color", "option1_value": "Blue", "option2_name": "Size", "option2_value": "M",
            "prices": [{"list_price": 29.95, "sale_price": 24.95, "currency_code": "EUR", "allowed_region": "DE"}],
            "selected_options": [{"name": "Color", "value": "Blue"}],
        } for at in range(variants)],
    }


def order_request(number, options, secret, rng):
    fields = order(number, options.lines, options.pad, rng)
    if options.bare:
        fields = bare(fields) | {"line_items": [bare(item) for item in fields["line_items"]]}
    body = json.dumps(fields, separators=(",", ":")).encode()
    lacking = options.bytes - len(body) - len(',"note":""')
    if lacking > 0:
        body = body[:-1] + b',"note":"' + b"x" * lacking + b'"}'
    signature = hmac.new(secret, body, hashlib.sha256).hexdigest()
    return [("X-SVC-TOPIC", "ORDER_CREATE"), ("X-Signature", signature)], body


def batch_request(number, options, secret):
    """The load tool gives each request that it sends a key of its own."""
    products = [product(number * options.products + at, 1) for at in range(options.products)]
    body = json.dumps({"products": products}, separators=(",", ":"), ensure_ascii=False).encode()
    return [("Authorization", "Bearer " + secret.decode()), ("X-SVC-TOPIC", "PRODUCT_UPSERT"),
            ("X-Signature", hashlib.sha256(body).hexdigest()), ("Idempotency-Key", "0" * 16)], body


def webhook_request(number, body, secret):
    delivery = f"545ebdd4-0000-4000-8000-{number:012}"
    return [("X-Shopify-Hmac-Sha256", base64.b64encode(hmac.new(secret, body, hashlib.sha256).digest()).decode()),
            ("X-Shopify-Topic", "orders/updated"), ("X-Shopify-Shop-Domain", "bench.myshopify.com"),
            ("X-Shopify-API-Version", "2026-04"), ("X-Shopify-Webhook-Id", delivery), ("X-Shopify-Event-Id", delivery),
            ("X-Shopify-Triggered-At", "2026-11-01T10:00:01.516267807Z")], body


def device(rng):
    return base64.urlsafe_b64encode(rng.randbytes(16)).rstrip(b"=").decode()


def clicks_request(options, secret, rng):
    """One click, or a batch of them."""
    now = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    clicks = [{"svc_anon_id": device(rng), "program_id": "spring", "creator_id": f"creator-{number % 40}", "occurred_at": now,
               "link_id": f"link-{number}"} for number in (rng.randrange(1000) for _ in range(options.clicks))]
    body = json.dumps(clicks[0] if options.clicks == 1 else {"clicks": clicks}, separators=(",", ":")).encode()
    return [("X-SVC-TOPIC", "CLICK"), ("X-Signature", hmac.new(secret, body, hashlib.sha256).hexdigest())], body


def visit(options, rng):
    """A browser's request for a link, or of a page for the id of its device."""
    target = f"{options.path}link-{rng.randrange(options.links)}" if options.path.endswith("/") else options.path
    cookie = f"Cookie: theme=dark; svc_anon_id={device(rng)}\r\n" if options.device else ""
    return (f"GET {target} HTTP/1.1\r\nHost: localhost\r\nUser-Agent: Mozilla/5.0 (X11; Linux x86_64) Chrome/126.0\r\n"
            f"Accept: text/html\r\nSec-Fetch-Dest: document\r\nSec-Fetch-Mode: navigate\r\n{cookie}\r\n").encode()


def prepared(options, secret, rng):
    """Headers and body of each request."""
    if options.clicks:
        for _ in range(options.count):
            yield clicks_request(options, secret, rng)
        return
    if options.webhooks:
        with open(options.webhooks, "rb") as bodies:
            for number, body in enumerate(bodies):
                yield webhook_request(number, body.rstrip(b"\n"), secret)
        return
    for number in range(options.first, options.first + options.count):
        yield batch_request(number, options, secret) if options.products else order_request(number, options, secret, rng)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--secret-file")
    parser.add_argument("--shop")
    parser.add_argument("--path", default="/event/ecomm")
    parser.add_argument("--lines", type=int, default=5)
    parser.add_argument("--pad", type=int, default=0, help="bytes of an unknown field")
    parser.add_argument("--bare", action="store_true", help="orders without optional fields")
    parser.add_argument("--products", type=int, default=0, help="of a batch; 0: orders")
    parser.add_argument("--webhooks", help="a file of Shopify's orders")
    parser.add_argument("--clicks", type=int, default=0, help="of a request; 0: none")
    parser.add_argument("--links", type=int, default=0, help="visits of so many links")
    parser.add_argument("--device", action="store_true", help="a visitor has a cookie")
    parser.add_argument("--bytes", type=int, default=0, help="pads each order to so many bytes")
    parser.add_argument("--count", type=int, default=20000)
    parser.add_argument("--first", type=int, default=0, help="number of the first order")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()

    rng = random.Random(options.seed)
    out = sys.stdout.buffer
    if options.links:
        for _ in range(options.count):
            request = visit(options, rng)
            out.write(b"%d\n" % len(request) + request)
        return
    with open(options.secret_file, "rb") as file:
        secret = file.read().rstrip(b"\n")
    for headers, body in prepared(options, secret, rng):
        headers += [("Host", "localhost"), ("X-SVC-SHOP-ID", options.shop), ("Content-Type", "application/json"),
                    ("Content-Length", len(body))]
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers)
        request = f"POST {options.path} HTTP/1.1\r\n{lines}\r\n".encode() + body
        out.write(b"%d\n" % len(request) + request)


if __name__ == "__main__":
    main()
