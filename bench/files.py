#!/usr/bin/env python3
"""Measures commands that read or write a file of every order, for docs/performance.md#files-of-every-order.

    bench/files.py FOLDER [--orders 1000000] [--build build/dev] [--update]

Makes a ledger of one shop in FOLDER once, and keeps it. Each ratio is the median of rounds that alternate. --update puts the
table into docs/performance.md.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests")]
from harness import paths  # noqa: E402
from harness.cli import Sluice  # noqa: E402

CREATORS, ROUNDS = 1000, 3


def make(folder, orders, build):
    sluice = Sluice(folder / str(orders) / "store")
    if not (folder / str(orders) / "made").exists():
        sluice.store.parent.mkdir(parents=True)
        sluice("init")
        sluice.account("acme")
        sluice.shop("shop-1", "acme")
        subprocess.run([build / "bench" / "reading_ledger", sluice.store, str(orders), str(CREATORS), "1"], check=True)
        (folder / str(orders) / "made").touch()
    return sluice


class Run:
    """One command: seconds, and the most memory in MB that it took."""

    def __init__(self, sluice, *line, out="/dev/null"):
        begun = time.perf_counter()
        with open(out, "wb") as sink:
            process = subprocess.Popen([paths.SLUICE, *map(str, line)], stdout=sink, env=sluice.environment)
            _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0, line
        self.seconds, self.megabytes = time.perf_counter() - begun, used.ru_maxrss / 1024


def median(runs, what):
    return statistics.median(getattr(run, what) for run in runs)


def measure(folder, sluice, orders):
    listed = folder / "orders.csv"
    report = ("report", "orders", "--format", "csv")
    Run(sluice, *report, out=listed)
    exports = {"export": (), "export, CSV": ("--format", "csv"), "export, Zstandard": ("--zstd",)}
    runs = {name: [] for name in ("report", "reconcile", *exports)}
    sizes = {}
    for _ in range(ROUNDS):
        runs["report"].append(Run(sluice, *report))
        runs["reconcile"].append(Run(sluice, "reconcile", listed, "--shop", "shop-1", "--check", "--no-wait"))
        for name, options in exports.items():
            target = folder / "export"
            runs[name].append(Run(sluice, "export", target, *options))
            manifest = json.loads((target / "manifest.json").read_text())
            sizes[name] = (sum(table["rows"] for table in manifest["tables"]), sum(file["bytes"] for file in manifest["files"]))
            assert {table["name"]: table["rows"] for table in manifest["tables"]}["orders"] == orders
            shutil.rmtree(target)
    base = median(runs["report"], "seconds")
    yield "`report orders`", base, median(runs["report"], "megabytes"), ""
    took = median(runs["reconcile"], "seconds")
    yield "`reconcile` of the same orders", took, median(runs["reconcile"], "megabytes"), f"{took / base:.2f} of `report orders` (target <= 2)"
    for name, (rows, size) in sizes.items():
        yield f"`{name.split(',')[0]}`{name[6:]}", median(runs[name], "seconds"), median(runs[name], "megabytes"), f"{rows:,} rows, {size / 1e6:,.0f} MB"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--orders", type=int, default=1_000_000)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "dev")
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    sluice = make(options.folder, options.orders, options.build)
    table = f"| {options.orders:,} orders of one shop | s | most MB | |\n|---|---|---|---|\n" + "".join(
        f"| {what} | {seconds:.1f} | {megabytes:.0f} | {more} |\n"
        for what, seconds, megabytes, more in measure(options.folder, sluice, options.orders))
    print(table)
    if options.update:
        page = ROOT / "docs" / "performance.md"
        text, count = re.subn(r"(<!-- files -->\n).*?(<!-- /files -->)", lambda found: found[1] + table + found[2],
                              page.read_text(), flags=re.DOTALL)
        assert count == 1, "docs/performance.md has no place for the table"
        page.write_text(text)


if __name__ == "__main__":
    main()
