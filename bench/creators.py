#!/usr/bin/env python3
"""Measures what a creator's page costs, for docs/performance.md#creators-pages. Each figure is a ratio within one run.

    SLUICE_BUILD=build/release bench/creators.py FOLDER [--orders 1000000] [--update]

Makes a ledger of --orders orders of eight creators in FOLDER once, and keeps it: a tenth of the orders is each one's, and a
fifth is nobody's. Client and server share the machine, so every time has both.
"""
import argparse
import contextlib
import itertools
import multiprocessing
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

import clicks
import reading
import run
import targets
from reading import ROOT, Client, Figures, alone, percentile

sys.path[:0] = [str(ROOT / "tests")]
from harness import paths  # noqa: E402
from harness.chromium import Browser  # noqa: E402
from harness.cli import Sluice  # noqa: E402
from harness.edge import Edge  # noqa: E402
from harness.serve import CreatorPages, Serve, UnixConnection, target_of  # noqa: E402

CREATORS, SHOPS = 8, 100
READS = 500  # a second
ROUNDS, FINDS = 5, 25  # a creator has 30 finds in a day
CONFIG = 'base_url = "https://pages.example"\n[acme]\nname = "Acme Creators"\nshops = { shop-1 = "Mug Shop" }\n'


def make(folder, orders):
    store = folder / f"creators-{orders}" / "store"
    sluice = Sluice(store)
    if not (store.parent / "secret").exists():
        store.parent.mkdir(parents=True)
        sluice("init")
        sluice.account("acme")
        for shop in range(1, SHOPS + 1):
            sluice.shop(f"shop-{shop}", "acme")
        subprocess.run([paths.BUILD / "bench" / "reading_ledger", store, str(orders), str(CREATORS), str(SHOPS)], check=True)
        (store.parent / "pages").write_text(sluice.token("acme", "creator_pages")[1])
        (store.parent / "secret").write_text(sluice.token("acme", "read_orders", "read_ledger")[1])
        (store.parent / "creators.toml").write_text(CONFIG)
    return sluice


class Page:
    """One connection of a creator's page, with a token."""

    def __init__(self, pages, token):
        self.connection, self.token = UnixConnection(pages.read), token

    def get(self, resource, **parameters):
        begun = time.perf_counter()
        target = "/c/acme/v1/" + target_of(resource, parameters).removeprefix("/v1/")
        self.connection.request("GET", target, headers={"Authorization": f"Bearer {self.token}"})
        answer = self.connection.getresponse()
        body = answer.read()
        assert answer.status == 200, (resource, answer.status, body[:300])
        return time.perf_counter() - begun, body


def token_of(api, secret, creator):
    return re.search(rb'"token":"([^"]*)"', Client(api, secret).get("creator-link", creator=creator, minutes=60)[1])[1].decode()


def compare(figures, api, pages, secret, link_secret):
    creators = [f"creator-{number}" for number in range(CREATORS)]
    tokens = {creator: token_of(api, link_secret, creator) for creator in creators}
    first = Page(pages, tokens[creators[1]])

    def home():
        return statistics.median(first.get("home")[0] for _ in range(5))

    def staffs():
        return statistics.median(alone(api, secret, "creator", each=5, creator=creators[1]))

    figures.ratio("`home` of a tenth of the orders against staff's `creator`; ms", "<= 1.2", home, staffs)

    # An order of hers, so that both read one.
    body = first.get("orders")[1].decode()
    order = {"shop": re.search(r'"shop":"([^"]*)"', body)[1], "order": re.search(r'"order":"([^"]*)"', body)[1]}

    def own(page):
        return statistics.median(page.get("order", **order)[0] for _ in range(100))

    figures.ratio("a request with a page token against one with an API token; ms", "<= 1.11",
                  lambda: own(first), lambda: statistics.median(alone(api, secret, "order", each=100, **order)))

    def first_uses():
        fresh = [token_of(api, link_secret, creators[1]) for _ in range(20)]
        return statistics.median(Page(pages, token).get("order", **order)[0] for token in fresh)

    def first_connections():
        return statistics.median(Client(api, secret).get("order", **order)[0] for _ in range(20))

    figures.ratio("the first request with a page token, on a new connection; ms", "<= 1.67", first_uses, first_connections)
    askers = iter(creators)  # one for each round

    def find():
        page = Page(pages, tokens[next(askers)])
        return statistics.median(page.get("find", shop=order["shop"], number="none")[0] for _ in range(FINDS))

    figures.ratio("`find` of an unknown number against staff's search; ms", "<= 1.5", find,
                  lambda: statistics.median(alone(api, secret, "search", each=FINDS, q="none-such")))
    day = re.search(r'"day":"([^"]*)"', body)[1]
    last = Page(pages, tokens[creators[-1]])
    times = [last.get("find", shop=order["shop"], day=day, total="1.11")[0] for _ in range(FINDS)]
    figures.add("`find` by day and total among 500 orders; ms", "<= 50", f"{statistics.median(times) * 1000:.1f}")


def read_at_a_rate(pages, tokens, stop):
    """READS homes a second, by creators in turn."""
    readers = itertools.cycle([Page(pages, token) for token in tokens])
    due = time.perf_counter()
    while not stop.is_set():
        next(readers).get("home")
        due += 1 / READS
        time.sleep(max(0, due - time.perf_counter()))


def beside_creators(figures, api, pages, secret, link_secret):
    tokens = [token_of(api, link_secret, f"creator-{number}") for number in range(CREATORS)]

    @contextlib.contextmanager
    def reads():
        stop = multiprocessing.Event()
        reader = multiprocessing.Process(target=read_at_a_rate, args=(pages, tokens, stop))
        reader.start()
        try:
            time.sleep(0.3)
            yield
        finally:
            stop.set()
            reader.join()
            assert reader.exitcode == 0, "a creator was refused"

    def beside(measured):
        def measure():
            with reads():
                return measured()
        return measure

    def today():
        return percentile(alone(api, secret, "today", each=300), 0.99)

    figures.ratio(f"p99 of staff's Today while creators read {READS} homes/s; ms", "<= 1.2", beside(today), today)
    with receiving() as rate:
        figures.ratio(f"orders/s that nginx takes while creators read {READS} homes/s", ">= 0.95", beside(rate), rate, unit=1)


@contextlib.contextmanager
def receiving():
    """Measures orders/s at an nginx of its own, as bench/run.py does."""
    options = run.arguments().parse_args(["--seconds", "2", "--count", "40000"])
    run.prepare(options)
    options.load = paths.BUILD / "bench/sluice-load"
    with tempfile.TemporaryDirectory(prefix="sluice-bench-") as state:
        os.chmod(state, 0o755)
        options.state = state
        yield clicks.Load(options, targets.Sluice).rate


SHIFT = reading.SHIFT


def in_chromium(figures, folder, sluice, pages, api, link_secret):
    """Home in a browser on a processor that is four times as slow."""
    shipped = (ROOT / "conf" / "nginx" / "sluice-creators.conf").read_text().replace("/run/sluice/creators.sock", str(pages.read))
    limits = (ROOT / "conf" / "nginx" / "sluice-creators-http.conf").read_text().replace("rate=10r/s", "rate=1000r/s")
    http = f"{limits} server {{ listen 127.0.0.1:@PORT@; {shipped} }}"
    profile = folder / "chromium"
    profile.mkdir(exist_ok=True)
    with Edge(http, store=sluice.store, create=False) as edge, Browser(profile) as browser:
        edge.start()
        times, shifts = [], []
        for _ in range(ROUNDS):
            token = token_of(api, link_secret, "creator-1")
            with browser.page(width=390) as page:
                page.call("Emulation.setCPUThrottlingRate", rate=4)
                page.goto(f"http://127.0.0.1:{edge.port}/c/acme/#{token}")
                page.wait("document.querySelector('main .answer') !== null")
                times.append(page.run("performance.now()"))
                shifts.append(page.run(SHIFT))
        figures.add("Home in Chromium, processor slowed four times; s", "<= 1.5", f"{statistics.median(times) / 1000:.2f}",
                    f"layout shift {max(shifts):g}")


def update(figures, orders):
    page = ROOT / "docs" / "performance.md"
    table = f"| {orders:,} orders of {CREATORS} creators | Target | Measured | |\n|---|---|---|---|\n" + "".join(
        f"| {what} | {target} | {value} | {more} |\n" for what, target, value, more in figures.rows)
    text, count = re.subn(r"(<!-- creators -->\n).*?(<!-- /creators -->)", lambda found: found[1] + table + found[2], page.read_text(),
                          flags=re.DOTALL)
    assert count == 1, "docs/performance.md has no place for the table"
    page.write_text(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--orders", type=int, default=1_000_000)
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    sluice = make(options.folder, options.orders)
    folder = sluice.store.parent
    secret, link_secret = ((folder / name).read_text() for name in ("secret", "pages"))
    sockets = folder / "sockets"
    sockets.mkdir(exist_ok=True)
    figures, config = Figures(), folder / "creators.toml"
    limit = ("--rate-limit", "100000000/60")
    with CreatorPages(sluice.store, sockets, config, *limit) as pages, \
            Serve(sluice.store, sockets, "--creators-config", config, *limit) as api:
        compare(figures, api, pages, secret, link_secret)
        beside_creators(figures, api, pages, secret, link_secret)
        in_chromium(figures, folder, sluice, pages, api, link_secret)
    if options.update:
        update(figures, options.orders)


if __name__ == "__main__":
    main()
