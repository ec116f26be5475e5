#!/usr/bin/env python3
"""Measures the cost of large catalog batches for small order events of the same nginx worker.

Orders come at a fixed rate (open loop: latency counts from the instant an order was due), first alone, then while
clients post catalog batches of about 20 MB one after the other. Both in one run of one nginx, in alternating
rounds; prints both p99 and their ratio.
"""
import argparse
import hashlib
import http.client
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import threading

import run
import targets
from load.make_requests import product


class Stream(threading.Thread):
    """Posts the batch again and again, each time under a new key."""

    def __init__(self, port, body, secret, name):
        super().__init__(daemon=True)
        self.port, self.body, self.key, self.sent, self.wrong = port, body, name, 0, {}
        self.headers = {"Authorization": f"Bearer {secret}", "X-SVC-SHOP-ID": targets.SHOP,
                        "X-SVC-TOPIC": "PRODUCT_UPSERT", "X-Signature": hashlib.sha256(body).hexdigest(),
                        "Content-Type": "application/json"}
        self.stopping = threading.Event()

    def run(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        for number in range(1 << 30):
            if self.stopping.is_set():
                return
            connection.request("POST", "/product-data", self.body,
                               {**self.headers, "Idempotency-Key": f"{self.key}-{number}"})
            response = connection.getresponse()
            response.read()
            self.sent += response.status == 200
            if response.status != 200:
                self.wrong[response.status] = self.wrong.get(response.status, 0) + 1


def orders(options, requests):
    words = [str(options.load), "--port", str(options.port), "--requests", str(requests), "--connections", "64",
             "--rate", str(options.rate), "--seconds", str(options.seconds), "--warmup", "1"]
    result = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
    if set(result["statuses"]) - {"200"} or result["broken"]:
        raise RuntimeError(f"orders were refused: {result['statuses']}, {result['broken']} broken")
    return result["accepted_us"]


def measure(options, target, requests, body):
    secret = (target.state / "secret").read_text().strip()
    rounds = []
    for number in range(options.rounds):
        alone = orders(options, requests)
        streams = [Stream(options.port, body, secret, f"{number}-{at}") for at in range(options.streams)]
        for stream in streams:
            stream.start()
        beside = orders(options, requests)
        for stream in streams:
            stream.stopping.set()
        for stream in streams:
            stream.join()
        sent = sum(stream.sent for stream in streams)
        wrong = [stream.wrong for stream in streams if stream.wrong]
        rounds.append((alone, beside, sent))
        print(f"round {number + 1}: p99 alone {alone['p99']:.0f} us, beside {beside['p99']:.0f} us, "
              f"{sent} batches{f', refused: {wrong}' if wrong else ''}", file=sys.stderr)
    return rounds


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--rate", type=float, default=2000, help="orders/s")
    parser.add_argument("--streams", type=int, default=1, help="clients that post batches")
    parser.add_argument("--products", type=int, default=1000)
    parser.add_argument("--variants", type=int, default=35)
    parser.add_argument("--port", type=int, default=18094)
    parser.add_argument("--json", default="")
    options = parser.parse_args()
    options.lines, options.pad, options.count, options.bare = 5, 0, 20000, False
    options.slow_sync_ms, options.call_times = 0, False
    run.prepare(options)
    body = json.dumps({"products": [product(number, options.variants) for number in range(options.products)]},
                      separators=(",", ":")).encode()
    options.products = 0  # the prepared requests are orders
    with tempfile.TemporaryDirectory(prefix="sluice-bench-") as state:
        os.chmod(state, 0o755)
        options.state = state
        folder = pathlib.Path(state) / "sluice"
        folder.mkdir()
        target = targets.Sluice(folder, options.port)
        try:
            target.start()
            requests = run.request_maker(options)(target.path, folder / "secret")
            rounds = measure(options, target, requests, body)
        finally:
            target.stop()
    print(f"batches of {len(body) / 1e6:.1f} MB, {options.streams} at a time; {options.rate:.0f} orders/s")
    for key in ("p50", "p99", "p999"):
        alone, beside = (statistics.median(r[at][key] for r in rounds) for at in (0, 1))
        print(f"{key}: {alone:7.0f} us alone, {beside:7.0f} us beside the batches, ratio {beside / alone:.2f}")
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(rounds, indent=1) + "\n")


if __name__ == "__main__":
    main()
