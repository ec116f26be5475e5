#!/usr/bin/env python3
"""Measures the cost of reading as the ledger grows, for docs/performance.md#reading. Each figure is a ratio within one run.

    bench/reading.py FOLDER [--orders 1000000] [--build build/dev] [--update]

Makes ledgers of 1,000, 10,000 and --orders orders in FOLDER once, and keeps them. --update puts the table into
docs/performance.md. Client and server share the machine, so every time has both.
"""
import argparse
import base64
import pathlib
import re
import statistics
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests")]
from harness import paths  # noqa: E402
from harness.chromium import Browser  # noqa: E402
from harness.cli import Sluice  # noqa: E402
from harness.serve import Serve, UnixConnection, target_of  # noqa: E402
from serve.login_site import Site  # noqa: E402

CREATORS, SHOPS, CONNECTIONS = 1000, 100, 16
ROUNDS = 5
USER = "gina@acme.example"


def make(folder, orders, build):
    """A store with this many orders. Returns its Sluice and a token."""
    store = folder / str(orders) / "store"
    sluice = Sluice(store)
    if not (store.parent / "secret").exists():
        store.parent.mkdir(parents=True)
        sluice("init")
        sluice.account("acme")
        for shop in range(1, SHOPS + 1):
            sluice.shop(f"shop-{shop}", "acme")
        subprocess.run([build / "bench" / "reading_ledger", store, str(orders), str(CREATORS), str(SHOPS)], check=True)
        sluice("user", "add", USER, "--account", "acme", "--role", "manager")
        (store.parent / "secret").write_text(sluice.token("acme", "read_orders", "read_ledger")[1])
    return sluice, (store.parent / "secret").read_text()


class Client:
    """One connection that is kept."""

    def __init__(self, serve, secret):
        self.connection, self.secret = UnixConnection(serve.read), secret

    def get(self, resource, **parameters):
        """Seconds, and the answer."""
        begun = time.perf_counter()
        self.connection.request("GET", target_of(resource, parameters), headers={"Authorization": f"Bearer {self.secret}"})
        answer = self.connection.getresponse()
        body = answer.read()
        assert answer.status == 200, (resource, answer.status, body[:300])
        return time.perf_counter() - begun, body


def cursor(body):
    found = re.search(rb'"next":"([^"]*)"}$', body)
    return found[1].decode() if found else None


def percentile(times, part):
    return sorted(times)[min(len(times) - 1, int(len(times) * part))]


def together(serve, secret, resource, each=60, **parameters):
    """Seconds that the server took for each request, by its log, over CONNECTIONS connections at once. The clients' own time
    is left out, because they are threads of one interpreter."""
    begins = serve.log_file.stat().st_size

    def run():
        client = Client(serve, secret)
        for _ in range(each):
            client.get(resource, **parameters)

    threads = [threading.Thread(target=run) for _ in range(CONNECTIONS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with open(serve.log_file, "rb") as log:
        log.seek(begins)
        times = [int(one) / 1e6 for one in re.findall(rb" GET /v1/" + resource.encode() + rb" 200 (\d+) us", log.read())]
    assert len(times) == each * CONNECTIONS, (len(times), resource)
    return times


def alone(serve, secret, resource, each=15, **parameters):
    client = Client(serve, secret)
    return [client.get(resource, **parameters)[0] for _ in range(each)]


def rss(process):
    return int(re.search(r"RssAnon:\s+(\d+)", pathlib.Path(f"/proc/{process.pid}/status").read_text())[1]) / 1024


class Figures:
    def __init__(self):
        self.rows = []

    def ratio(self, what, target, measured, base, unit=1000):
        """measured, base: functions that return times. Rounds alternate, and the median of their ratios counts."""
        ratios, ours, others = [], [], []
        for _ in range(ROUNDS):
            base_time, own_time = base(), measured()
            ratios.append(own_time / base_time)
            ours.append(own_time)
            others.append(base_time)
        self.add(what, target, f"{statistics.median(ratios):.2f}",
                 f"{statistics.median(ours) * unit:.1f} against {statistics.median(others) * unit:.1f}")

    def add(self, what, target, value, more=""):
        self.rows.append((what, target, value, more))
        print(*self.rows[-1], sep=" | ", flush=True)


def lists(figures, small, large, last_page):
    def p99(server, **parameters):
        return lambda: percentile(together(*server, "orders", limit=100, **parameters), 0.99)

    figures.ratio("100 orders, 16 connections, p99: against 1,000 orders; ms", "<= 1.5, <= 10 ms", p99(large), p99(small))
    figures.ratio("its last page against the first, p99; ms", "<= 1.2", p99(large, after=last_page), p99(large))


def overview(figures, middle, large):
    for resource in ("today", "balances"):
        def median(server, resource=resource):
            return lambda: statistics.median(alone(*server, resource, each=3))
        figures.ratio(f"`/v1/{resource}` against 10,000 orders; ms", "<= 2, <= 50 ms", median(large), median(middle))


def searches(figures, large, order):
    def search():
        return statistics.median(alone(*large, "search", each=200, q=order["order"]))

    def direct():
        return statistics.median(alone(*large, "order", each=200, **order))

    figures.ratio("search of an order in 100 shops against `/v1/order`; ms", "<= 2", search, direct)


def walk(server, limit):
    """Seconds, pages, and the cursor of the last page."""
    client, after, pages, begun = Client(*server), {}, 0, time.perf_counter()
    while True:
        _, body = client.get("orders", limit=limit, **after)
        pages += 1
        following = cursor(body)
        if following is None:
            return time.perf_counter() - begun, pages, after.get("after")
        after = {"after": following}


def walks(figures, sluice, large, process):
    before = rss(process)
    took, pages, _ = walk(large, 1000)
    grown = rss(process) - before
    begun = time.perf_counter()
    with open("/dev/null", "wb") as sink:
        subprocess.run([str(paths.SLUICE), "report", "orders", "--account", "acme", "--format", "json"], check=True, stdout=sink,
                       env=sluice.environment)
    report = time.perf_counter() - begun
    figures.add(f"walk of every order, {pages} pages, against `report orders`; s", "<= 2", f"{took / report:.2f}",
                f"{took:.1f} against {report:.1f}")
    figures.add("memory that the server grew by meanwhile, MB", "<= 64", f"{grown:.0f}")


SHIFT = """new Promise((done) => { let sum = 0;
    new PerformanceObserver((list) => { for (const entry of list.getEntries()) sum += entry.value; })
        .observe({type: 'layout-shift', buffered: true});
    setTimeout(() => done(sum), 300); })"""


def pages(figures, folder, sluice):
    hashed = subprocess.run(["openssl", "passwd", "-apr1", "secret"], check=True, capture_output=True, text=True).stdout.strip()
    (folder / "htpasswd").write_text(f"{USER}:{hashed}\n")
    login = {"Authorization": "Basic " + base64.b64encode(f"{USER}:secret".encode()).decode()}
    profile = folder / "chromium"
    profile.mkdir(exist_ok=True)
    with Site(folder, sluice, "sluice-login-basic.conf", options=("--rate-limit", "1000000/60")) as site, Browser(profile) as browser:
        month = time.strftime("%Y-%m", time.gmtime())  # all postings are dated today; the page begins with last month
        for name, query, last in (("Today", "", ".charts svg"), ("Month", f"?view=month&month={month}", "table")):
            times, shifts = [], []
            for _ in range(ROUNDS):
                with browser.page(headers=login) as page:
                    page.goto(f"{site.url}ui/{query}")
                    page.wait(f"document.querySelector('main {last}') !== null")
                    times.append(page.run("performance.now()"))
                    shifts.append(page.run(SHIFT))
            figures.add(f"{name} in Chromium, to its last part; s", "<= 1.0", f"{statistics.median(times) / 1000:.2f}",
                        f"layout shift {max(shifts):g}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--orders", type=int, default=1_000_000)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "dev")
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    stores = {count: make(options.folder, count, options.build) for count in (1000, 10_000, options.orders)}
    figures = Figures()
    servers = {}
    try:
        for count, (sluice, secret) in stores.items():
            sockets = options.folder / str(count) / "sockets"
            sockets.mkdir(exist_ok=True)
            servers[count] = Serve(sluice.store, sockets, "--rate-limit", "100000000/60").__enter__()
        small, middle, large = ((servers[count], secret) for count, (_, secret) in stores.items())
        _, _, last_page = walk(large, 100)
        lists(figures, small, large, last_page)
        overview(figures, middle, large)
        body = Client(*large).get("orders", limit=1, after=last_page)[1].decode()
        order = {"shop": re.search(r'"shop_id":"([^"]*)"', body)[1], "order": re.search(r'"order_id":"([^"]*)"', body)[1]}
        searches(figures, large, order)
        walks(figures, stores[options.orders][0], large, servers[options.orders].process)
    finally:
        for server in servers.values():
            server.__exit__(None, None, None)
    pages(figures, options.folder / str(options.orders), stores[options.orders][0])
    if options.update:
        update(figures, options.orders)


def update(figures, orders):
    page = ROOT / "docs" / "performance.md"
    table = f"| {orders:,} orders of {CREATORS:,} creators | Target | Measured | |\n|---|---|---|---|\n" + "".join(
        f"| {what} | {target} | {value} | {more} |\n" for what, target, value, more in figures.rows)
    text, count = re.subn(r"(<!-- reading -->\n).*?(<!-- /reading -->)", lambda found: found[1] + table + found[2], page.read_text(),
                          flags=re.DOTALL)
    assert count == 1, "docs/performance.md has no place for the table"
    page.write_text(text)


if __name__ == "__main__":
    main()
