"""Malformed heads and bodies over a real socket: only signed events are stored.

SLUICE_HTTP_FUZZ sets how many random ones are tried (1500 in CI), SLUICE_SEED which.
"""

import os
import random
import socket

import pytest

from harness import answers, http1, orders, paths, sign

CONFIG = """
    sluice_store @STORE@ map_size=1g thread_pool=sluice offload_pool=offload;
    sluice_rate_limit 100000000 1h;
    client_header_timeout 5s;
    client_body_timeout 5s;
    server {
        listen 127.0.0.1:@PORT@;
        location = /event/ecomm { sluice_ingest events; client_body_buffer_size 1k; }
        location = /product-data { sluice_ingest catalog; }
    }
"""
COUNT = int(os.environ.get("SLUICE_HTTP_FUZZ", "1500"))
SEED = os.environ.get("SLUICE_SEED", "123")


class Attack:
    """A signed order and an unsigned one, to be combined wrongly."""

    def __init__(self, edge, merchant):
        self.edge, self.merchant = edge, merchant
        self.signed = sign.encode(orders.order("signed"))
        self.evil = sign.encode(orders.order("evil"))
        self.headers = sign.event_headers(merchant.shop, merchant.secret, "ORDER_CREATE", self.signed)
        self.allowed = {self.signed}

    def head(self, *more, drop=(), headers=None):
        return http1.head("POST", sign.EVENTS, sign.without(headers or self.headers, *drop) + list(more))

    def unsigned(self):
        """A whole request for the other order, under the signature of the first."""
        return self.head(("Content-Length", str(len(self.evil)))) + self.evil

    def send(self, data, cut=None):
        """The statuses that came back; the connection is closed from our side first."""
        with socket.create_connection(("127.0.0.1", self.edge.port), timeout=paths.DEADLINE) as connection:
            got = b""
            try:
                if cut:
                    connection.sendall(data[:cut])
                connection.sendall(data[cut or 0 :])
                connection.shutdown(socket.SHUT_WR)
                while more := connection.recv(65536):
                    got += more
            except OSError:
                pass
        return [int(part[:3]) for part in got.split(b"HTTP/1.1 ")[1:]]

    def check(self):
        """Only what was signed is there, the workers are those of before, and the service serves."""
        stored = [record["body"].encode() for record in self.edge.sluice.queued()]
        assert {body for body in stored if body not in self.allowed} == set()
        assert self.edge.workers() == self.workers
        body = sign.encode(orders.order())
        self.allowed.add(body)
        answers.is_success(self.merchant.event("ORDER_CREATE", body))
        return len(stored)


@pytest.fixture(scope="module")
def attack():
    from harness.merchant import Merchant
    from harness.edge import Edge

    with Edge(CONFIG, level="error") as edge:
        edge.start()
        made = Attack(edge, Merchant(edge, "acme"))
        paths.wait_until(lambda: len(edge.workers()) == 2, "every worker")
        made.workers = edge.workers()
        yield made


def chunk(data, extension=b"", end=b"\r\n"):
    return b"%x%s%s%s\r\n" % (len(data), extension, end, data)


LAST = b"0\r\n\r\n"


def smuggling(a):
    """name -> (bytes, statuses that may come back: None for any without a 200)."""
    size = ("Content-Length", str(len(a.signed)))
    te = ("Transfer-Encoding", "chunked")
    whole = chunk(a.signed) + LAST
    evil = a.unsigned()
    return {
        "length and chunked": (a.head(size, te) + whole + evil, None),
        "length 0 and chunked": (a.head(("Content-Length", "0"), te) + whole + evil, None),
        "chunked and length, evil follows": (a.head(te, ("Content-Length", str(len(whole) + len(evil)))) + whole + evil, None),
        "two lengths": (a.head(size, ("Content-Length", "0")) + a.signed + evil, None),
        "two equal lengths": (a.head(size, size) + a.signed, None),
        "a list of lengths": (a.head(("Content-Length", f"{len(a.signed)}, {len(a.signed)}")) + a.signed, None),
        "a signed length": (a.head(("Content-Length", f"+{len(a.signed)}")) + a.signed, None),
        "a hexadecimal length": (a.head(("Content-Length", hex(len(a.signed)))) + a.signed, None),
        "a length with a blank": (a.head(("Content-Length", f"{len(a.signed)} 0")) + a.signed + evil, None),
        "a huge length": (a.head(("Content-Length", str(2**64 + len(a.signed)))) + a.signed, None),
        "two encodings": (a.head(te, te) + whole + evil, None),
        "chunked twice": (a.head(("Transfer-Encoding", "chunked, chunked")) + whole + evil, None),
        "identity": (a.head(("Transfer-Encoding", "identity"), size) + a.signed + evil, None),
        "xchunked": (a.head(("Transfer-Encoding", "xchunked"), size) + a.signed + evil, None),
        "chunked after a tab": (a.head(("Transfer-Encoding", "\tchunked")) + whole, [[200], [400], [501]]),
        "chunked in capitals": (a.head(("Transfer-Encoding", "CHUNKED")) + whole, [[200], [400], [501]]),
        "a blank before the colon": (a.head(("Content-Length ", str(len(a.signed)))) + a.signed + evil, None),
        "obs-fold": (a.head(size, ("X-Fold", "a\r\n b")) + a.signed, [[200], [400]]),
        "folded length": (a.head(("Content-Length", f"\r\n {len(a.signed)}")) + a.signed + evil, None),
        "folded signature": (a.head(("X-Signature", "\r\n " + dict(a.headers)["X-Signature"]), size, drop=("X-Signature",)) + a.signed, None),
        "a bare carriage return": (a.head(size, ("X-A", "b\rX-SVC-SHOP-ID: other")) + a.signed, [[200], [400]]),
        "bare line feeds": (a.head(size).replace(b"\r\n", b"\n") + a.signed, [[200], [400]]),
        "a zero in a header": (a.head(size, ("X-A", "a\0b")) + a.signed, [[400]]),
        "a zero in a name": (a.head(size, ("X-\0A", "a")) + a.signed, [[200], [400]]),
        "chunk extensions": (a.head(te) + chunk(a.signed, b";name=value;x=\"\\\"y\"") + LAST, [[200], [400]]),
        "a long chunk extension": (a.head(te) + chunk(a.signed, b";" + b"x" * 20000) + LAST, [[200], [400]]),
        "an extension with a line feed": (a.head(te) + chunk(a.signed, b";x\n", b"\n") + LAST + evil, None),
        "chunk sizes with zeros": (a.head(te) + b"0" * 30 + whole, [[200], [400]]),
        "an endless chunk size": (a.head(te) + b"f" * 40 + b"\r\n" + a.signed + LAST, [[400]]),
        "a negative chunk": (a.head(te) + b"-1\r\n" + a.signed + LAST, [[400]]),
        "a chunk size of 0x": (a.head(te) + b"0x%x\r\n%s\r\n" % (len(a.signed), a.signed) + LAST, None),
        "a chunk longer than it says": (a.head(te) + b"5\r\n" + a.signed + b"\r\n" + LAST, None),
        "no last chunk": (a.head(te) + chunk(a.signed), [[], [400], [408]]),
        "the signature in a trailer": (
            a.head(te, drop=("X-Signature",)) + chunk(a.signed) + b"0\r\nX-Signature: "
            + dict(a.headers)["X-Signature"].encode() + b"\r\n\r\n", [[401], [401, 400]]),
        "another shop in a trailer": (a.head(te) + chunk(a.signed) + b"0\r\nX-SVC-SHOP-ID: other\r\n\r\n", [[200], [400]]),
        "a trailer with a length": (a.head(te) + chunk(a.signed) + b"0\r\nContent-Length: 5\r\n\r\n" + evil, [[200, 401], [400], [200, 400]]),
        "what is left of a 401 is the next request": (
            a.head(("Content-Length", str(len(a.unsigned()))), drop=("X-Signature",)) + evil, [[401]]),
        "a body after a 405": (
            http1.head("GET", sign.EVENTS, a.headers + [("Content-Length", str(len(evil)))]) + evil, [[405]]),
        "pipelined, the second unsigned": (a.head(size) + a.signed + evil, [[200, 401]]),
        "a signed body, one byte more": (a.head(("Content-Length", str(len(a.signed) + 1))) + a.signed + b" ", [[401]]),
        "a signed body, one byte less": (a.head(("Content-Length", str(len(a.signed) - 1))) + a.signed, None),
        "the shop twice": (a.head(size, ("X-SVC-SHOP-ID", "other")) + a.signed, [[401]]),
        "the signature twice": (a.head(size, ("X-Signature", dict(a.headers)["X-Signature"])) + a.signed, [[401]]),
        "an underscore for a dash": (a.head(size, ("X_Signature", "0" * 64)) + a.signed, [[200]]),
        "upgrade to h2c": (a.head(size, ("Upgrade", "h2c"), ("HTTP2-Settings", "AAMAAABkAAQAAP__")) + a.signed + evil, [[200, 401]]),
        "an absolute target": (a.head(size).replace(b"/event", b"http://127.0.0.1/event", 1) + a.signed, [[200]]),
        "a path with dots": (a.head(size).replace(b"/event/ecomm", b"/x/../event/./ecomm", 1) + a.signed, [[200]]),
        "version 1.2": (a.head(size).replace(b"HTTP/1.1", b"HTTP/1.2", 1) + a.signed, [[200], [505]]),
        "version 2.0": (a.head(size).replace(b"HTTP/1.1", b"HTTP/2.0", 1) + a.signed, [[505]]),
        "no version, and a body": (b"POST /event/ecomm\r\n" + a.signed + evil, None),
    }


def test_the_smuggling_corpus(attack):
    for name, (data, allowed) in smuggling(attack).items():
        for cut in (None, len(data) // 3, len(data) - 3):
            statuses = attack.send(data, cut)
            if allowed is None:
                assert statuses.count(200) <= 1 and statuses != [200, 200], (name, statuses)
            else:
                assert statuses in allowed, (name, statuses)
    assert attack.check() > 10


PIECES = [
    b"\r\n", b"\n", b"\r", b"\0", b" ", b"\t", b":", b";", b",", b"0", b"0\r\n\r\n", b"\r\n\r\n",
    b"Content-Length: 0\r\n", b"Content-Length: 5\r\n", b"Transfer-Encoding: chunked\r\n", b"Expect: 100-continue\r\n",
    b"Connection: close\r\n", b"X-SVC-SHOP-ID: acme-shop\r\n", b"X-Signature: " + b"0" * 64 + b"\r\n",
    b"POST /event/ecomm HTTP/1.1\r\n", b"HTTP/1.0", b"\xff\xfe", b"%2e%2e/", b"x" * 9000,
]


def damaged(data, chance):
    """One to four small damages anywhere in it."""
    for _ in range(chance.randrange(1, 5)):
        at = chance.randrange(len(data) + 1)
        kind = chance.randrange(6)
        if kind == 0:
            data = data[:at] + chance.choice(PIECES) + data[at:]
        elif kind == 1:
            data = data[:at] + data[at + chance.randrange(1, 40) :]
        elif kind == 2 and data:
            at = min(at, len(data) - 1)
            data = data[:at] + bytes([data[at] ^ 1 << chance.randrange(8)]) + data[at + 1 :]
        elif kind == 3:
            lines = data.split(b"\r\n")
            chance.shuffle(lines)
            data = b"\r\n".join(lines)
        elif kind == 4:
            lines = data.split(b"\r\n")
            lines.insert(chance.randrange(len(lines) + 1), chance.choice(lines))
            data = b"\r\n".join(lines)
        else:
            data = data[:at]
    return data


def test_random_heads_and_bodies(attack):
    chance = random.Random(SEED)
    size = ("Content-Length", str(len(attack.signed)))
    catalog = sign.encode({"products": [{"platform_product_id": "p", "title": "T"}]})
    attack.allowed.add(catalog)
    batch = sign.catalog_headers(attack.merchant.shop, attack.merchant.secret, "PRODUCT_UPSERT", catalog, "key")
    whole = [
        attack.head(size) + attack.signed,
        attack.head(("Transfer-Encoding", "chunked")) + http1.chunked(attack.signed, 100),
        attack.head(size) + attack.signed + attack.unsigned(),
        http1.head("POST", sign.CATALOG, batch + [("Content-Length", str(len(catalog)))]) + catalog,
    ]
    accepted = refused = 0
    for _ in range(COUNT):
        data = damaged(chance.choice(whole), chance)
        statuses = attack.send(data, chance.choice([None, chance.randrange(len(data) + 1)]))
        accepted += 200 in statuses
        refused += any(status >= 400 for status in statuses)
        assert not any(status >= 500 and status not in (501, 505) for status in statuses), data
    stored = attack.check()
    print(f"\nseed {SEED}: {COUNT} requests, {accepted} with a 200, {refused} refused, {stored} stored, all of them signed")
    assert accepted > COUNT // 50 and refused > COUNT // 4
