"""Sends orders and batches as a process of its own, and journals what it knows, fsynced.

Before a request: `S kind id`. After it: `A kind id` (200), `N kind id` (refused for good) or
`U kind id` (503 with Retry-After: not now) or `I kind id` (no answer, or another 5xx: in doubt). A
batch is repeated with its Idempotency-Key until it is acknowledged, an order is never repeated. TERM
ends it between two requests.

With LOAD_FRESH=1 each request has a connection of its own, so that no request can meet a
kept-alive connection that a quitting worker is just closing.

    load_client.py PORT SHOP SECRET_FILE JOURNAL SEED THREADS
"""

import os
import pathlib
import random
import signal
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from harness import http1, sign  # noqa: E402

STOP = threading.Event()
FRESH = os.environ.get("LOAD_FRESH") == "1"


def order(order_id, seed):
    """An order whose every figure follows from its id."""
    chance = random.Random(f"{seed}/{order_id}")
    cents = [chance.randrange(100, 100000) for _ in range(chance.randrange(1, 6))]
    lines = [
        {
            "line_item_id": f"l{number}",
            "sku": f"sku-{chance.randrange(50)}",
            "amount": f"{value // 100}.{value % 100:02}",
            "tax": "0",
            "quantity": "1",
        }
        for number, value in enumerate(cents)
    ]
    total = sum(cents)
    document = {
        "platform_order_id": order_id,
        "platform_ordered_at": "2024-03-01T10:00:00Z",
        "platform_updated_at": "2024-03-01T10:00:00Z",
        "amount": f"{total // 100}.{total % 100:02}",
        "tax": "0.00",
        "shipping": "0.00",
        "currency_code": "USD",
        "line_items": lines,
        "discounts": [
            {"code": "CRASH", "type": "DISCOUNT_CODE", "value_type": "PERCENTAGE", "value": "0"}
        ],
    }
    if chance.random() < 0.05:
        document["padding"] = "x" * chance.choice([20000, 300000])
    return document


def batch(key):
    return {"products": [{"platform_product_id": key, "title": f"title of {key}"}]}


class Journal:
    def __init__(self, path):
        self.file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        self.lock = threading.Lock()

    def note(self, word, kind, name):
        with self.lock:
            os.write(self.file, f"{word} {kind} {name}\n".encode())
            os.fdatasync(self.file)


class NotNow(int):
    """A status that promises a later success."""


class Sender(threading.Thread):
    def __init__(self, number, port, shop, secret, journal, seed):
        super().__init__()
        self.number, self.port, self.shop, self.secret = number, port, shop, secret
        self.journal, self.seed = journal, seed
        self.chance = random.Random(f"{seed}/{number}")
        self.connection = None

    def run(self):
        count = 0
        while self.connect():
            count += 1
            name = f"{self.seed}-{self.number}-{count}"
            if self.chance.random() < 0.1:
                self.send_batch(name)
            else:
                self.send_order(name)

    def connect(self):
        """Waits before the request is journaled, so that an unsent request is not in doubt. Returns false if the client
        must stop."""
        while not STOP.is_set():
            try:
                self.connection = self.connection or http1.Connection(self.port, timeout=20)
                return True
            except OSError:
                time.sleep(0.005)
        return False

    def ask(self, target, headers, body):
        """200, another status (NotNow for 503 with Retry-After), or None without an answer."""
        try:
            if self.connection is None:
                self.connection = http1.Connection(self.port, timeout=20)
            answer = self.connection.request("POST", target, headers, body)
            if FRESH or (answer.header("Connection") or "").lower() == "close":
                self.drop()
            return NotNow(503) if answer.status == 503 and answer.has("Retry-After") else answer.status
        except (OSError, ValueError, AssertionError) as error:
            if FRESH:
                print(f"{time.time():.3f} no answer: {error!r}", file=sys.stderr)
            self.drop()
            time.sleep(0.005)
            return None

    def drop(self):
        if self.connection is not None:
            self.connection.close()
            self.connection = None

    def send_order(self, name):
        body = sign.encode(order(name, self.seed))
        headers = sign.event_headers(self.shop, self.secret, "ORDER_CREATE", body)
        self.journal.note("S", "order", name)
        status = self.ask(sign.EVENTS, headers, body)
        self.journal.note(word_for(status), "order", name)
        return status

    def send_batch(self, name, again=True):
        body = sign.encode(batch(name))
        headers = sign.catalog_headers(self.shop, self.secret, "PRODUCT_UPSERT", body, f"key-{name}")
        self.journal.note("S", "batch", name)
        status = self.ask(sign.CATALOG, headers, body)
        while again and status in (503, None) and not STOP.is_set():
            status = self.ask(sign.CATALOG, headers, body)
        self.journal.note(word_for(status), "batch", name)
        return status


def word_for(status):
    if status == 200:
        return "A"
    if isinstance(status, NotNow):
        return "U"
    return "I" if status in (None, 500, 503) else "N"


def main():
    port, shop, secret_file, journal, seed, threads = sys.argv[1:]
    signal.signal(signal.SIGTERM, lambda *_: STOP.set())
    secret = pathlib.Path(secret_file).read_text()
    shared = Journal(journal)
    senders = [
        Sender(number, int(port), shop, secret, shared, seed) for number in range(int(threads))
    ]
    for sender in senders:
        sender.start()
    for sender in senders:
        sender.join()


if __name__ == "__main__":
    main()
