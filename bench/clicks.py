#!/usr/bin/env python3
"""Measures what links and clicks cost, for docs/performance.md#clicks. Each figure is a ratio within one run.

    bench/clicks.py FOLDER [--rows known,new] [--rounds 5] [--seconds 3] [--month 10000000] [--build build/release] [--update]

Rounds alternate, and the median of their ratios counts. FOLDER keeps the ledgers of `report`: one of --month clicks, which is
made once, and one of a hundredth of them. --before BUILD adds the apply rate of orders to that of another release build.
"""
import argparse
import copy
import datetime
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import run
import shops
import targets

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests")]
from harness import postgres  # noqa: E402
from harness.cli import Sluice  # noqa: E402

LINKS, LINKS_MAX = 1000, 100_000
REPORTS = 5  # of a round


class Figures:
    """The rows of the table. `row` is the name for --rows."""

    def __init__(self, rounds):
        self.rounds, self.rows = rounds, []

    def add(self, what, aim, ratios, more=""):
        spread = f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
        self.rows.append((what, aim, spread, more))
        print(*self.rows[-1], sep=" | ", flush=True)

    def compare(self, what, aim, ours, theirs, unit="{:.0f}/s"):
        """ours, theirs: functions that measure one figure."""
        pairs = [(theirs(), ours()) for _ in range(self.rounds)]
        said = " against ".join(unit.format(statistics.median(one)) for one in reversed(list(zip(*pairs))))
        self.add(what, aim, [ours / theirs for theirs, ours in pairs], said)
        return pairs

    def markdown(self):
        return "| | Aim | Measured (least to most) | |\n|---|---|---|---|\n" + "".join(
            f"| {' | '.join(row)} |\n" for row in self.rows)


class Load:
    """A target under load, afresh each time."""

    def __init__(self, options, kind, **changed):
        self.kind, self.options = kind, copy.copy(options)
        for name, value in {"links": getattr(kind, "links", LINKS), **changed}.items():
            setattr(self.options, name, value)
        self.options.state = tempfile.mkdtemp(prefix=f"{kind.__name__}-", dir=options.state)
        os.chmod(self.options.state, 0o755)
        self.requests = run.request_maker(self.options)
        self.dropped = []

    def measure(self):
        found = run.measure(self.kind, self.options, self.requests)
        results = found["figures"].get("results")
        if results and results["click"]:
            self.dropped.append(results["dropped"] / (results["click"] + results["dropped"]))
        assert set(found["statuses"]) == {str(self.kind.accepted)}, (self.kind.name, found["statuses"])
        return found

    def rate(self):
        return self.measure()["accepted_per_s"]

    def p99(self):
        return self.measure()["accepted_us"]["p99"]

    def say_dropped(self):
        if self.dropped:
            print(f"  {self.kind.name}: {100 * max(self.dropped):.2f} % of the clicks were dropped at most", flush=True)


def redirects(figures, options, is_new):
    ours, theirs = (Load(options, kind, new_devices=is_new) for kind in (targets.SluiceLinks, targets.BareLink))
    whose = "a new device each time" if is_new else "known devices"
    figures.compare(f"clicks/s, {whose}, 10,000 links, to nginx `return 302`", ">= 0.60" if is_new else ">= 0.65", ours.rate, theirs.rate)
    ours.say_dropped()


def known(figures, options):
    redirects(figures, options, False)


def new(figures, options):
    redirects(figures, options, True)


def many(figures, options):
    ours, theirs = Load(options, targets.SluiceLinks100k), Load(options, targets.SluiceLinks100)
    figures.compare("clicks/s, 100,000 links to 100", ">= 0.95", ours.rate, theirs.rate)


def slow(figures, options):
    ours, theirs = Load(options, targets.SluiceLinks, slow_sync_ms=4), Load(options, targets.SluiceLinks)
    figures.compare("clicks/s, each sync 4 ms slower, to as it is", ">= 0.97", ours.rate, theirs.rate)
    ours.say_dropped()


def device(figures, options):
    ours, theirs = Load(options, targets.SluiceDeviceId), Load(options, targets.BareDeviceId)
    figures.compare("device identification calls/s, to nginx `return 200` of their bytes", ">= 0.8", ours.rate, theirs.rate)


def changed(figures, options):
    """In an open loop: at full speed each stall of the machine would be the p99."""
    ours, theirs = (Load(options, kind, rate=5000, seconds=max(options.seconds, 4))
                    for kind in (targets.SluiceLinksChanging, targets.SluiceLinksStill))
    figures.compare("p99 of 5,000 clicks/s, a link changed every second, to never; µs", "<= 1.2", ours.p99, theirs.p99, "{:.0f}")


def post(figures, options):
    one = Load(options, targets.SluiceClicks)
    figures.compare("requests/s of one click each, to orders of 0.3 KB", ">= 0.95", one.rate,
                    Load(options, targets.Sluice, lines=1, bare=True).rate)


def batch(figures, options):
    """Few connections send batches: 64 of them would wait for the disk."""
    batches = Load(options, targets.SluiceClicks, clicks=1000, count=min(options.count, 200), connections=8)
    figures.compare("posted clicks/s in batches of 1000, to one each", ">= 20", lambda: 1000 * batches.rate(),
                    Load(options, targets.SluiceClicks).rate)


def beside(figures, options):
    ours, theirs = (Load(options, kind) for kind in (targets.SluiceBesideClicks, targets.SluiceOrdersAndLinks))
    pairs = figures.compare("orders/s while 5,000 clicks/s come, to none", ">= 0.9", ours.rate, theirs.rate)
    ours.say_dropped()
    half = 0.5 * statistics.median(theirs for theirs, _ in pairs)
    ours, theirs = (Load(options, kind, rate=half) for kind in (targets.SluiceBesideClicks, targets.SluiceOrdersAndLinks))
    figures.compare("p99 of half as many orders/s, the same; µs", "<= 1.2", ours.p99, theirs.p99, "{:.0f}")


def applied_postgres(options):
    """Orders and clicks that the worker applied in a second, in a database of its own."""
    with postgres.Server(settings=("max_connections=60",)) as server, tempfile.TemporaryDirectory(prefix="sluice-bench-") as folder:
        words = [str(options.build / "bench/pg_apply_rate"), "--clicks", folder, server.create(), str(options.apply)]
        said = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    return tuple(float(re.search(rf"{what} +(\d+) events/s", said)[1]) for what in ("applied", "clicks"))


def apply(figures, options):
    def rate(build, *words, **more):
        return lambda: shops.applied(build, *words, orders=2 * options.apply, **more)

    figures.compare("worker: clicks applied/s, to orders of 5 lines, embedded ledger", ">= 3",
                    rate(options.build, "--clicks", event="click"), rate(options.build))
    pairs = [applied_postgres(options) for _ in range(figures.rounds)]
    middle = [statistics.median(one) for one in zip(*pairs)]
    figures.add("the same, PostgreSQL", ">= 3", [clicks / orders for orders, clicks in pairs], f"{middle[1]:.0f}/s against {middle[0]:.0f}/s")
    if options.before:
        figures.compare("worker: orders applied/s, to the release before", ">= 0.97", rate(options.build), rate(options.before))


def month_of(folder, clicks, options):
    """A ledger of a month's clicks, and the month."""
    place = folder / f"month-{clicks}"
    sluice, whole = Sluice(place / "store", program=options.build / "worker/sluice"), place / "whole"
    if not whole.exists():
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        sluice("init")
        first = datetime.datetime.now(datetime.timezone.utc).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
        first = (first - datetime.timedelta(days=45)).replace(day=1)
        begun = time.monotonic()
        subprocess.run([options.build / "bench/click_ledger", sluice.store, str(clicks), str(LINKS), str(int(first.timestamp()))],
                       check=True)
        print(f"  {clicks} clicks stored in {time.monotonic() - begun:.0f} s", flush=True)
        whole.write_text(first.isoformat())
    first = datetime.datetime.fromisoformat(whole.read_text())
    end = (first + datetime.timedelta(days=32)).replace(day=1)
    return sluice, [moment.strftime("%Y-%m-%dT00:00:00Z") for moment in (first, end)]


def report(figures, options):
    def reported(sluice, month):
        def once():
            begun = time.perf_counter()
            rows = sluice("report", "clicks", "--account", "acme", "--from", month[0], "--to", month[1], "--by", "link")
            took = time.perf_counter() - begun
            assert rows.count("\n") >= LINKS, rows[:500]
            return took * 1000
        return lambda: statistics.median(once() for _ in range(REPORTS))

    small, large = (month_of(options.folder, clicks, options) for clicks in (options.month // 100, options.month))
    figures.compare(f"`report clicks --by link`, {LINKS:,} links: a month of {options.month:,} clicks, to {options.month // 100:,}; ms",
                    "<= 1.5", reported(*large), reported(*small), "{:.0f}")


def high_water(process):
    return int(re.search(r"VmHWM:\s+(\d+)", pathlib.Path(f"/proc/{process.pid}/status").read_text())[1]) / 1024


def published(sluice, links, url):
    """Seconds from a command that changes a link to its file, and the most memory of the worker in MB."""
    published = sluice.store / "links/published"
    words = ["--ledger", url] if url else []
    worker = subprocess.Popen([str(sluice.program), "--store", str(sluice.store), "worker", *words], stderr=subprocess.DEVNULL)
    try:
        times = []
        for number in range(3):
            begun = time.time()
            said = sluice("link", "set", "link-0", "--account", "bench", "--to", f"https://shop.example/{links}/{time.time_ns()}")
            assert "not published" not in said, said
            times.append(published.stat().st_mtime - begun)
            time.sleep(0.1 * number)  # so that the worker looks sooner or later after it
        return times, high_water(worker)
    finally:
        worker.terminate()
        worker.wait()


def publication(figures, options, kind, url_of):
    """A store of few links and one of many, on a ledger each."""
    stores = {}
    for links in (100, LINKS_MAX):
        place = pathlib.Path(tempfile.mkdtemp(prefix="publish-", dir=options.state))
        sluice, url = Sluice(place / "store", program=options.build / "worker/sluice"), url_of(links)
        sluice("init")
        if url:
            sluice("ledger", "migrate", "--ledger", url)
            sluice("worker", "--until-empty", "--ledger", url)
        sluice.account("bench")
        target = targets.SluiceLinks(place, 0)
        target.links = links
        target.fill(sluice)
        stores[links] = sluice, links, url
    times, growth = [], []
    for _ in range(figures.rounds):
        _, before = published(*stores[100])
        took, most = published(*stores[LINKS_MAX])
        times += took
        growth.append(most - before)
    figures.add(f"publication of 100,000 links, {kind}, from the command to the file; s", "<= 1", times)
    figures.add("memory that the worker needs more for it than for 100 links; MB", "<= 64", growth)


def publish(figures, options):
    publication(figures, options, "embedded ledger", lambda links: None)
    with postgres.Server(settings=("max_connections=60",)) as server:
        publication(figures, options, "PostgreSQL", lambda links: server.create(f"links{links}"))


ROWS = (known, new, many, slow, device, changed, post, batch, beside, apply, report, publish)


def update(figures, options, when):
    page = ROOT / "docs/performance.md"
    text = figures.markdown() + f"\n{when}\n"
    text, count = re.subn(r"(<!-- clicks -->\n).*?(<!-- /clicks -->)", lambda found: found[1] + text + found[2], page.read_text(),
                          flags=re.DOTALL)
    assert count == 1, "docs/performance.md has no place for the table"
    page.write_text(text)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--rows", default=",".join(row.__name__ for row in ROWS))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3, help="of each load")
    parser.add_argument("--count", type=int, default=100_000, help="distinct requests of a load")
    parser.add_argument("--apply", type=int, default=100_000, help="orders and clicks that PostgreSQL gets; the embedded ledger twice as many")
    parser.add_argument("--month", type=int, default=10_000_000, help="clicks of the large ledger")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--before", type=pathlib.Path)
    parser.add_argument("--update", action="store_true")
    return parser


def main():
    own = arguments().parse_args()
    postgres.paths.BUILD = own.build.resolve()
    os.environ["SLUICE_BUILD"] = str(postgres.paths.BUILD)
    options = run.arguments().parse_args(["--rounds", str(own.rounds), "--seconds", str(own.seconds), "--count", str(own.count),
                                          "--slow-sync-ms", "1"])
    run.prepare(options)  # with the library of slow syncs
    options.slow_sync_ms, options.load = 0, own.build / "bench/sluice-load"
    for name in ("folder", "build", "before", "apply", "month"):
        setattr(options, name, getattr(own, name))
    own.folder.mkdir(parents=True, exist_ok=True)
    figures, before = Figures(own.rounds), os.getloadavg()[0]
    names = own.rows.split(",")
    with tempfile.TemporaryDirectory(prefix="sluice-bench-", dir=os.environ.get("TMPDIR")) as state:
        os.chmod(state, 0o755)
        options.state = state
        for row in ROWS:
            if row.__name__ in names:
                begun = time.monotonic()
                row(figures, options)
                print(f"  {row.__name__}: {time.monotonic() - begun:.0f} s", flush=True)
    when = f"{datetime.date.today()}, load {before:.1f} to {os.getloadavg()[0]:.1f}."
    print("\n" + figures.markdown() + "\n" + when)
    (own.folder / "clicks.json").write_text(json.dumps(figures.rows, indent=1) + "\n")
    if own.update:
        update(figures, options, when)


if __name__ == "__main__":
    main()
