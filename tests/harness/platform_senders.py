"""Shopify and WooCommerce as senders: what their own code puts on the wire, header by header."""

import base64
import hashlib
import hmac
import socket

from harness import http1, paths


def signature(secret, body):
    return base64.b64encode(hmac.new(secret.encode(), body, hashlib.sha256).digest()).decode()


def without(headers, names):
    return [(name, value) for name, value in headers if name not in names]


class Shopify:
    def __init__(self, edge, domain, secret, target="/hooks/shopify"):
        self.edge, self.domain, self.secret, self.target = edge, domain, secret, target
        self.deliveries = 0

    def headers(self, body, topic="orders/updated", triggered_at="2026-03-01T10:00:01.516267807Z"):
        self.deliveries += 1
        return [
            ("Content-Type", "application/json"),
            ("X-Shopify-Topic", topic),
            ("X-Shopify-Shop-Domain", self.domain),
            ("X-Shopify-Hmac-Sha256", signature(self.secret, body)),
            ("X-Shopify-Webhook-Id", f"545ebdd4-0000-4000-8000-{self.deliveries:012}"),
            ("X-Shopify-Event-Id", "98880550-7158-44d4-b7cd-2c97c8a091b5"),
            ("X-Shopify-Triggered-At", triggered_at),
            ("X-Shopify-API-Version", "2026-04"),
        ]

    def send(self, body, changed=(), leave_out=(), target=None, **details):
        """`changed`: headers in place of those of the same name."""
        body = body.encode() if isinstance(body, str) else body
        names = {name for name, _ in changed}
        headers = without(self.headers(body, **details), names | set(leave_out)) + list(changed)
        return self.edge.request("POST", target or self.target, headers, body)


class WooCommerce:
    """WordPress sends HTTP/1.0, and a form without signature when a webhook is activated."""

    def __init__(self, edge, source, secret, target="/hooks/woocommerce/"):
        self.edge, self.source, self.secret, self.target = edge, source, secret, target

    def post(self, headers, body, target=None):
        lines = [f"POST {target or self.target} HTTP/1.0", "Host: 127.0.0.1", "Connection: close"]
        lines += [f"{name}: {value}" for name, value in [*headers, ("Content-Length", str(len(body)))]]
        with socket.create_connection(("127.0.0.1", self.edge.port), timeout=paths.DEADLINE) as connection:
            connection.sendall(("\r\n".join(lines) + "\r\n\r\n").encode() + body)
            received = b""
            while piece := connection.recv(65536):
                received += piece
        head, _, content = received.partition(b"\r\n\r\n")
        status, *rest = head.decode().split("\r\n")
        return http1.Answer(int(status.split()[1]), [tuple(line.split(": ", 1)) for line in rest], content)

    def ping(self, body=b"webhook_id=7", headers=(), target=None):
        form = [("Content-Type", "application/x-www-form-urlencoded"), ("User-Agent", "WooCommerce/11.2 Hookshot")]
        return self.post([*form, *headers], body, target)

    def headers(self, body, topic="order.updated"):
        return [
            ("Content-Type", "application/json"),
            ("User-Agent", "WooCommerce/11.2 Hookshot (WordPress/6.8)"),
            ("X-WC-Webhook-Source", self.source),
            ("X-WC-Webhook-Topic", topic),
            ("X-WC-Webhook-Resource", "order"),
            ("X-WC-Webhook-Event", topic.partition(".")[2]),
            ("X-WC-Webhook-Signature", signature(self.secret, body)),
            ("X-WC-Webhook-ID", "7"),
            ("X-WC-Webhook-Delivery-ID", hashlib.md5(body).hexdigest()),
        ]

    def send(self, body, changed=(), leave_out=(), target=None, **details):
        body = body.encode() if isinstance(body, str) else body
        names = {name for name, _ in changed}
        headers = without(self.headers(body, **details), names | set(leave_out)) + list(changed)
        return self.post(headers, body, target)
