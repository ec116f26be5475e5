"""Sends orders at a rate from one process; a line of figures a second on stdout. TERM ends it.

    sender.py PORT SHOP SECRET_FILE RATE ORDERS NUMBER        RATE 0: as fast as it goes
"""

import datetime
import itertools
import os
import pathlib
import signal
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from harness import http1, orders, sign  # noqa: E402

VERSIONS = 10
running = True


def stop(*_):
    global running
    running = False


def body_of(count, orders_count, number):
    """A version of one of so many orders; after VERSIONS of each, others follow, as in a shop.

    The ledger keeps what each event of an order was, so an order that went on for ever would grow, and
    with it what a batch of them takes in memory.
    """
    first = count // (orders_count * VERSIONS) * orders_count
    version = datetime.datetime(2024, 1, 1) + datetime.timedelta(seconds=count)
    cents = 1000 + count % 90000
    return sign.encode(
        orders.order(
            f"soak-{number}-{first + count % orders_count}",
            platform_updated_at=version.isoformat() + "Z",
            amount=f"{cents // 100}.{cents % 100:02}",
            extra="x" * (300_000 if count % 500 == 499 else 600),
            discounts=[{"code": "SOAK", "type": "DISCOUNT_CODE", "value_type": "PERCENTAGE", "value": "10"}],
        )
    )


def main():
    port, shop, secret_file, rate, orders_count, number = sys.argv[1:]
    signal.signal(signal.SIGTERM, stop)
    secret = pathlib.Path(secret_file).read_text()
    pause = 1 / float(rate) if float(rate) else 0
    connection, worst, waits, accepted, odd = None, 0.0, [], 0, 0
    second = due = time.monotonic()
    for count in itertools.count():
        if not running or os.getppid() == 1:
            break
        body = body_of(count, int(orders_count), number)
        headers = sign.event_headers(shop, secret, "ORDER_UPDATE", body)
        began = time.monotonic()
        try:
            connection = connection or http1.Connection(int(port), timeout=60)
            answer = connection.request("POST", sign.EVENTS, headers, body)
            accepted += answer.status == 200
            odd += answer.status != 200
        except OSError:
            connection = None  # a kept-alive connection of a worker that went
        waits.append(time.monotonic() - began)
        if time.monotonic() - second >= 1:
            waits.sort()
            worst = waits[int(len(waits) * 0.99)]
            print(accepted, odd, f"{worst * 1000:.1f}", flush=True)
            second, waits = time.monotonic(), []
        due = max(due + pause, time.monotonic() - 1)
        time.sleep(max(0, due - time.monotonic()))


if __name__ == "__main__":
    main()
