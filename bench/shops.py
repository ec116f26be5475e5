#!/usr/bin/env python3
"""Compares a platform's webhook with an order in our own format: the translation, the stored bytes, the worker.

Rounds alternate. The requests of nginx are rows of suite.py (shopify, shopify44).

    bench/shops.py [--rounds 5] [--orders 100000] [--build build/release]

Prints a table in Markdown; each ratio is the median of the rounds' (least to most).
"""
import argparse
import datetime
import json
import os
import pathlib
import re
import statistics
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


def translation(build):
    """Size -> rows of `translate`, `parse` and `hmac_and_parse`, of one run. A translation begins with a parse of its own."""
    said = subprocess.run([str(build / "bench/shop_order_bench"), "--benchmark_format=json"], check=True,
                          capture_output=True, text=True).stdout
    found = {}
    for row in json.loads(said)["benchmarks"]:
        name, size = row["name"].split("/")
        found.setdefault(int(size), {})[name] = row
    return found


def applied(build, *options, orders, event="create"):
    with tempfile.TemporaryDirectory(prefix="sluice-bench-") as folder:
        words = [str(build / "bench/apply_rate"), *options, folder, str(orders)]
        said = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    return float(re.search(rf"{event} +(\d+)/s", said)[1])


def row(what, ratios):
    return f"| {what} | {statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f}) |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--orders", type=int, default=100_000)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    options = parser.parse_args()
    before, translations, rates = os.getloadavg()[0], [], []
    for _ in range(options.rounds):
        translations.append(translation(options.build))
        rates.append([applied(options.build, *words, orders=options.orders) for words in (["--shopify"], [])])
    lines = ["| Measure | Ratio |", "|---|---|"]
    for size in sorted(translations[0]):
        times = [{name: one[size][name]["cpu_time"] for name in ("translate", "parse", "hmac_and_parse")} for one in translations]
        micros = statistics.median(one["translate"] - one["parse"] for one in times) / 1000
        lines.append(row(f"translation of {size // 1000} KB, without its parse ({micros:.1f} us), to HMAC and parse",
                         [(one["translate"] - one["parse"]) / one["hmac_and_parse"] for one in times]))
        ours = translations[0][size]["translate"]
        lines.append(row(f"bytes stored of {ours['bytes']:.0f}", [ours["stored"] / ours["bytes"]]))
    lines.append(row("applied/s to orders in our own format", [ours / theirs for ours, theirs in rates]))
    print("\n".join(lines) + f"\n\n{datetime.date.today()}, load {before:.1f} to {os.getloadavg()[0]:.1f}.")


if __name__ == "__main__":
    main()
