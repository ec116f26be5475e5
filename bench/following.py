#!/usr/bin/env python3
"""Measures waits of /v1/changes and notifications, for docs/performance.md#following.

    bench/following.py FOLDER [--build build/dev] [--update]

Makes a store of 113 accounts in FOLDER once, and keeps it. --update puts the table into docs/performance.md.
"""
import argparse
import http.client
import json
import os
import pathlib
import re
import selectors
import socket
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests")]
from harness import paths  # noqa: E402
from harness.cli import Sluice  # noqa: E402
from harness.serve import Serve, ask, target_of  # noqa: E402
from harness.webhooks import LOOPBACK, Notify, Receiver  # noqa: E402

WAITS, OF_ONE, ORDERS = 900, 8, 2000
CHANGES, IDLE_SECONDS, ROUNDS = 60, 60, 5


def make(folder, build):
    """The store, and a token of each account; the first account has orders."""
    sluice, known = Sluice(folder / "store"), folder / "tokens.json"
    if not known.exists():
        sluice("init")
        sluice.account("acme")
        sluice.shop("shop-1", "acme")
        subprocess.run([build / "bench" / "reading_ledger", sluice.store, str(ORDERS), "10", "1"], check=True)
        names = ["acme", *(f"account-{number}" for number in range(1, -(-WAITS // OF_ONE)))]
        for name in names[1:]:
            sluice.account(name)
        known.write_text(json.dumps([sluice.token(name, "read_ledger")[1] for name in names]))
    return sluice, json.loads(known.read_text())


class Wait:
    """A consumer that asks again after each answer, on one connection."""

    def __init__(self, path, token, after):
        self.token, self.after, self.answered = token, after, None
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(str(path))

    def ask(self):
        query = {"limit": 1000, "after": self.after, "wait": 30}
        self.socket.sendall(f"GET {target_of('changes', query)} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {self.token}\r\n\r\n"
                            .encode())

    def take(self):
        """Reads an answer whole. Returns whether it has changes."""
        answer = http.client.HTTPResponse(self.socket)
        answer.begin()
        body = answer.read()
        self.answered = time.time_ns()
        assert answer.status == 200, body
        page = json.loads(body)
        self.after = page["next"]
        return bool(page["changes"])


class Waits:
    def __init__(self, serve, tokens):
        self.serve, self.selector, self.all = serve, selectors.DefaultSelector(), []
        cursors = {token: self.end_of(token) for token in tokens}
        for number in range(WAITS):
            token = tokens[number // OF_ONE]
            wait = Wait(serve.read, token, cursors[token])
            self.all.append(wait)
            self.selector.register(wait.socket, selectors.EVENT_READ, wait)
            wait.ask()
        paths.wait_until(lambda: self.waiting() == WAITS, "all waits")

    def end_of(self, token):
        page, after = {"more": True}, {}
        while page["more"]:
            page = self.serve.token(token).object("changes", limit=1000, **after)
            after = {"after": page["next"]}
        return page["next"]

    def waiting(self):
        text = ask(self.serve.read, "/metrics").body.decode()
        return int(re.search(r"^sluice_feed_waiters (\d+)", text, re.M)[1])

    def run(self, seconds, wanted=None):
        """Asks again after each answer, until `wanted` answers with changes have come. Returns the waits that had them."""
        told, end = [], time.monotonic() + seconds
        while time.monotonic() < end and len(told) != wanted:
            for key, _ in self.selector.select(0.05):
                if key.data.take():
                    told.append((key.data, key.data.answered))
                key.data.ask()
        return told


def cpu_seconds(process):
    return sum(int(task.read_text().split()[0]) for task in pathlib.Path(f"/proc/{process.pid}/task").glob("*/schedstat")) / 1e9


def anonymous_kb(process):
    return int(re.search(r"RssAnon:\s+(\d+)", pathlib.Path(f"/proc/{process.pid}/status").read_text())[1])


def measure_waits(folder, sluice, tokens):
    sockets = folder / "sockets"
    sockets.mkdir(exist_ok=True)
    with Serve(sluice.store, sockets, "--rate-limit", "100000000/60") as serve:
        before = anonymous_kb(serve.process)
        waits = Waits(serve, tokens)
        yield f"memory of each of {WAITS} waits, KB", "<= 64", f"{(anonymous_kb(serve.process) - before) / WAITS:.0f}", ""
        begun, used = time.monotonic(), cpu_seconds(serve.process)
        waits.run(IDLE_SECONDS)
        used, took = cpu_seconds(serve.process) - used, time.monotonic() - begun
        yield "processor time of these waits without a change, of one core", "<= 1 %", f"{100 * used / took:.2f} %", "each asks again after 30 s"
        yield "connections that waits leave for others", "", str(others(serve)), "each answered `/health` meanwhile"
        data, times = sluice.store / "ledger" / "data.mdb", []
        for number in range(CHANGES):
            sluice("credit", "--account", "acme", "--creator", "creator-1", "--program", "spring", "--amount", "1.00 EUR", "--reason", "x")
            committed = data.stat().st_mtime_ns
            told = waits.run(30, OF_ONE)
            assert len(told) == OF_ONE
            times += [(at - committed) / 1e6 for _, at in told]
        times.sort()
        yield "from a commit to the answers of the account's 8 waits, p99, ms", "<= 150", f"{times[int(len(times) * 0.99)]:.0f}", \
            f"median {statistics.median(times):.0f}, of {len(times)} answers"


def others(serve):
    """Returns the number of connections that the server answers while all waits last."""
    opened = []
    try:
        while len(opened) < 1000:
            one = socket.socket(socket.AF_UNIX)
            one.settimeout(1)
            opened.append(one)
            one.connect(str(serve.read))
            one.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
            if not one.recv(4096):
                break
    except OSError:
        pass
    finally:
        for one in opened:
            one.close()
    return len(opened) - 1


def deliver(folder, sluice, with_dead):
    """Seconds in which a destination took every change."""
    with socket.create_server(("127.0.0.1", 0)) as silent, Receiver(folder, tls=False) as receiver:
        urls = {"good": receiver.url, **({"dead": f"http://127.0.0.1:{silent.getsockname()[1]}/"} if with_dead else {})}
        for name, url in urls.items():
            sluice("notify", "add", name, "--account", "acme", "--url", url, "--allow-private", LOOPBACK, "--from", "start",
                   "--types", "order.attributed")
        begun = time.perf_counter()
        with Notify(sluice, folder, receiver):
            paths.wait_until(lambda: len(receiver.requests) >= ORDERS * 4 // 5, "every change", 300)
            took = time.perf_counter() - begun
        for name in urls:
            sluice("notify", "remove", name)
    return took


def measure_notify(folder, sluice):
    ratios, alone, beside = [], [], []
    for _ in range(ROUNDS):
        alone.append(deliver(folder, sluice, False))
        beside.append(deliver(folder, sluice, True))
        ratios.append(alone[-1] / beside[-1])
    each = ORDERS * 4 // 5
    yield "notifications/s with the second destination, against one alone", ">= 0.95", f"{statistics.median(ratios):.2f}", \
        f"{each / statistics.median(beside):.0f} against {each / statistics.median(alone):.0f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "dev")
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    sluice, tokens = make(options.folder, options.build)
    rows = []
    for measured in (measure_waits(options.folder, sluice, tokens), measure_notify(options.folder, sluice)):
        for row in measured:
            rows.append(row)
            print(*row, sep=" | ", flush=True)
    print("load", *os.getloadavg())
    if options.update:
        page = ROOT / "docs" / "performance.md"
        table = "| | Target | Measured | |\n|---|---|---|---|\n" + "".join(f"| {' | '.join(row)} |\n" for row in rows)
        text, count = re.subn(r"(<!-- following -->\n).*?(<!-- /following -->)", lambda found: found[1] + table + found[2],
                              page.read_text(), flags=re.DOTALL)
        assert count == 1, "docs/performance.md has no place for the table"
        page.write_text(text)


if __name__ == "__main__":
    main()
