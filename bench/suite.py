#!/usr/bin/env python3
"""All rows of docs/performance.md: run.py with one set of options after the other.

    bench/suite.py                     # every row, about 15 minutes
    bench/suite.py --rows main,half    # some of them
    bench/suite.py --update            # and puts the tables into docs/performance.md
    bench/suite.py --before BUILD      # adds another release to each row, from its release build

Prints, for each row, the command that gives it alone and its table in Markdown.
"""
import argparse
import datetime
import json
import os
import pathlib
import platform
import re
import shlex
import statistics
import subprocess
import tempfile

import plot
import run
import targets

ROOT = pathlib.Path(__file__).resolve().parent.parent
OURS, BARE = "Sluice", "Sluice,BareNginx"
ROWS = {
    "main": ("1.1 KB orders, 64 connections, 1 nginx worker",
             "--targets Sluice,BareNginx,BareNginxReadBody,Openresty,Go,FastifyPostgres"),
    "one": ("1 connection", f"--targets {BARE} --connections 1"),
    "many": ("512 connections", f"--targets {BARE} --connections 512"),
    "small": ("0.3 KB orders", f"--targets {BARE} --lines 1 --bare"),
    "large": ("8 KB orders", f"--targets {BARE} --pad 7000"),
    "large8": ("8 KB orders, 256 connections, 8 nginx workers",
               f"--targets {OURS} --pad 7000 --connections 256 --workers 8"),
    "workers": ("2 nginx workers", f"--targets {BARE} --workers 2"),
    "workers8": ("8 nginx workers", f"--targets {OURS} --workers 8"),
    "workers32": ("32 nginx workers", f"--targets {OURS} --workers 32"),
    "workers64": ("64 nginx workers", f"--targets {OURS} --workers 64"),
    "slow": ("every sync 2 ms slower, 64 connections", "--targets Sluice,Openresty,FastifyPostgres --slow-sync-ms 2"),
    "slow512": ("every sync 2 ms slower, 512 connections",
                "--targets Sluice,Openresty,FastifyPostgres --slow-sync-ms 2 --connections 512"),
    "slow8": ("every sync 2 ms slower, 128 connections, 8 nginx workers",
              f"--targets {OURS} --slow-sync-ms 2 --connections 128 --workers 8"),
    "slow32": ("every sync 2 ms slower, 128 connections, 32 nginx workers",
               f"--targets {OURS} --slow-sync-ms 2 --connections 128 --workers 32"),
    "slow64": ("every sync 2 ms slower, 128 connections, 64 nginx workers",
               f"--targets {OURS} --slow-sync-ms 2 --connections 128 --workers 64"),
    "applying": ("its worker applies at the same time", "--targets Sluice,SluiceWithWorker"),
    "h2load": ("the next two rows' load tool, without TLS", f"--targets {BARE} --protocol http1-h2load"),
    "tls": ("HTTP/1.1 with TLS", f"--targets {BARE} --protocol http1-tls"),
    "http2": ("HTTP/2 with TLS", f"--targets {BARE} --protocol http2-tls"),
    "batch100": ("catalog batches of 100 products, 0.13 MB", f"--targets {BARE},BareNginxReadBody --products 100"),
    "batch1000": ("catalog batches of 1000 products, 1.3 MB",
                  f"--targets {BARE},BareNginxReadBody --products 1000 --connections 8"),
    "shopify": ("Shopify's webhooks of 11 KB", "--targets Sluice,SluiceShopify11,SluicePadded11"),
    "shopify44": ("Shopify's webhooks of 44 KB", "--targets SluiceShopify44,SluicePadded44 --count 10000"),
    "half": ("half of what it takes", f"--targets {BARE} --rate 0.5x"),
    "twice": ("twice what it takes, 3500 connections", f"--targets {OURS} --rate 2x --connections 3500"),
}


def sustainable(found):
    rounds = found.get("main", {}).get("sluice") or run.compare(run.arguments().parse_args(
        ["--targets", OURS, "--rounds", "3", "--seconds", "3"]))["sluice"]
    return statistics.median(one["accepted_per_s"] for one in rounds)


def plain_commits(rounds, seconds, rate):
    """An LMDB commit with nothing around it, for batches as they come at half of the rate, and what an ideal server
    would make of those commits."""
    said = []
    for records in ("8", "16", "32"):
        took = []
        for _ in range(rounds):
            with tempfile.TemporaryDirectory(prefix="sluice-bench-") as folder:
                words = [str(ROOT / "build/release/bench/lmdb_commit"), folder, records, seconds, rate]
                took.append(json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout))
        middle = {(what, key): statistics.median(one[what][key] for one in took)
                  for what in ("commit", "ideal") for key in ("p50", "p99", "p999")}
        said.append(f"| {records} | " + " | ".join(f"{us:.0f}" for us in middle.values()) + " |")
    return (f"Plain LMDB commits in the same run (`build/release/bench/lmdb_commit FOLDER RECORDS {seconds} {rate}`), and\n"
            "the latency of a server at this rate that costs nothing but such commits, in µs:\n\n"
            "| records | commit p50 | p99 | p999 | ideal server p50 | p99 | p999 |\n|---|---|---|---|---|---|---|\n"
            + "\n".join(said) + "\n")


def served(rounds):
    middle = [statistics.median(one["served_us"][key] for one in rounds) / 1000 for key in ("p50", "p99", "p999", "max")]
    return ("From sending to the answer: p50 {:.0f} ms, p99 {:.0f} ms, p999 {:.0f} ms, at most {:.0f} ms. The rest of the time above "
            "is the wait for one of the load tool's connections.\n".format(*middle))


def ratio(rounds, base, what="accepted_per_s"):
    """Returns the median ratio of neighbouring rounds, so that a machine whose speed drifts favours neither. Infinite
    if the other target accepted no request."""
    return f"{statistics.median(divided(a[what], b[what]) for a, b in zip(rounds, base)):.2f}" if base else ""


def divided(a, b):
    return a / b if b else float("inf")


def markdown(results):
    base = results.get(targets.BareNginx.name, [])
    lines = ["| target | requests/s (least to most) | of `return 200` | p50 µs | p99 µs | p999 µs | CPU s/1000 | MiB | refused/s |",
             "|---|---|---|---|---|---|---|---|---|"]
    for name, rounds in results.items():
        rates = [one["accepted_per_s"] for one in rounds]
        p50, p99, p999 = (statistics.median(one["accepted_us"][key] for one in rounds) for key in ("p50", "p99", "p999"))
        refused = statistics.median(sum(count for status, count in one["statuses"].items() if status != "200") /
                                    one["seconds"] for one in rounds)
        lines.append(f"| {name} | {statistics.median(rates):.0f} ({min(rates):.0f} to {max(rates):.0f}) | {ratio(rounds, base)} | "
                     f"{p50:.0f} | {p99:.0f} | {p999:.0f} | "
                     f"{statistics.median(one['server_cpu_s_per_1000'] for one in rounds):.4f} | "
                     f"{statistics.median(one['peak_memory_bytes'] for one in rounds) / 2**20:.0f} | {refused:.0f} |")
    return "\n".join(lines + against_before(results) + against_orders(results))


def against_orders(results):
    """Returns a line for each pair of a platform's webhooks and orders in our own format."""
    pairs = ((targets.SluiceShopify11, targets.Sluice), (targets.SluiceShopify11, targets.SluicePadded11),
             (targets.SluiceShopify44, targets.SluicePadded44))
    return [f"\n{webhooks.name} to {orders.name}, medians of the rounds' ratios:\nrequests/s {ratio(ours, theirs)}, CPU of a "
            f"request {ratio(ours, theirs, 'server_cpu_s_per_1000')}, p99 {ratio_of_p99(ours, theirs)}."
            for webhooks, orders in pairs if (ours := results.get(webhooks.name)) and (theirs := results.get(orders.name))]


def against_before(results):
    """Returns a line for each target that was measured together with an earlier release."""
    pairs = ((targets.Sluice, targets.SluiceBefore), (targets.SluiceWithWorker, targets.SluiceBeforeWithWorker))
    return [f"\n{ours.name} to {theirs.name}, medians of the rounds' ratios:\norders/s {ratio(now, then)}, CPU of an order "
            f"{ratio(now, then, 'server_cpu_s_per_1000')}, p99 {ratio_of_p99(now, then)}."
            for ours, theirs in pairs if (now := results.get(ours.name)) and (then := results.get(theirs.name))]


def ratio_of_p99(now, then):
    return f"{statistics.median(divided(a['accepted_us']['p99'], b['accepted_us']['p99']) for a, b in zip(now, then)):.2f}"


def summary(found):
    """Returns one table of all rows with another release; rows that were not measured now come from the page."""
    lines = {title: line for line in shown("against").splitlines()
             if (title := line.split(" | ")[0].removeprefix("| ")) in {title for title, _ in ROWS.values()}}
    for row, results in found.items():
        then, now = results.get(targets.SluiceBefore.name), results.get(targets.Sluice.name)
        if then and now:
            ratios = [divided(a["accepted_per_s"], b["accepted_per_s"]) for a, b in zip(now, then)]
            middle = [statistics.median(one["accepted_per_s"] for one in rounds) for rounds in (then, now)]
            lines[ROWS[row][0]] = (f"| {ROWS[row][0]} | {middle[0]:.0f} | {middle[1]:.0f} | "
                                   f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f}) | "
                                   f"{ratio(now, then, 'server_cpu_s_per_1000')} | {ratio_of_p99(now, then)} |")
    head = ["| row | before, orders/s | now | ratio (least to most) | CPU of an order | p99 |", "|---|---|---|---|---|---|"]
    return "\n".join(head + [lines[title] for title, _ in ROWS.values() if title in lines]) + "\n"


def with_before(words):
    """The row's targets, and before each of ours what the other release has."""
    names = re.search(r"--targets (\S+)", words)[1]
    both = ",".join(f"{name.replace('Sluice', 'SluiceBefore', 1)},{name}" if name.startswith("Sluice") else name
                    for name in names.split(","))
    return words.replace(names, both, 1)


def section(row, words, results, when):
    title = ROWS[row][0]
    needs = "SLUICE_BEFORE=BUILD " * ("SluiceBefore" in words)
    return (f"### {title[0].upper()}{title[1:]}\n\n    {needs}bench/run.py {words}\n\n{markdown(results)}\n\n"
            f"{when}; load average of the machine before and after the row.\n")


PAGE, END = ROOT / "docs/performance.md", "<!-- end -->"


def begin_of(row):
    return f"<!-- row {row} -->\n"


def shown(row):
    """Returns the text between the row's two markers."""
    return PAGE.read_text().partition(begin_of(row))[2].partition(END)[0]


def update(row, text, chart):
    before, marker, rest = PAGE.read_text().partition(begin_of(row))
    if marker:
        PAGE.write_text(before + marker + text + END + rest.partition(END)[2])
    if row == "main":
        (ROOT / "docs/performance.svg").write_text(chart)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", default=",".join(ROWS))
    parser.add_argument("--rounds", default="3")
    parser.add_argument("--seconds", default="4")
    parser.add_argument("--out", default=str(ROOT / "build/bench"))
    parser.add_argument("--update", action="store_true", help="docs/performance.md")
    parser.add_argument("--before", help="release build of another release, to be measured in the same rounds")
    options = parser.parse_args()
    if options.before:
        os.environ["SLUICE_BEFORE"] = str(pathlib.Path(options.before).resolve())
    out = pathlib.Path(options.out)
    out.mkdir(parents=True, exist_ok=True)
    found = {}
    print(f"{datetime.date.today()}, {platform.release()}, {platform.processor() or platform.machine()}")
    for row in options.rows.split(","):
        title, words = ROWS[row]
        words = with_before(words) if options.before else words
        share = re.search(r"--rate ([\d.]+)x", words)
        if share:
            words = words.replace(share[0], f"--rate {float(share[1]) * sustainable(found):.0f}")
        words += f" --rounds {options.rounds} --seconds {options.seconds}" + " --count 40000" * ("--count" not in words)
        load_before = os.getloadavg()[0]
        found[row] = run.compare(run.arguments().parse_args(shlex.split(words)))
        when = f"{datetime.date.today()}, load {load_before:.1f} to {os.getloadavg()[0]:.1f}"
        text = section(row, words, found[row], when)
        if row == "twice":
            text += "\n" + served(found[row]["sluice"])
        if row == "half":
            text += "\n" + plain_commits(int(options.rounds), options.seconds, re.search(r"--rate (\d+)", words)[1])
        chart = plot.bars(f"Requests/s: {title}", {name: [one["accepted_per_s"] for one in rounds]
                                                   for name, rounds in found[row].items()})
        print("\n" + text, flush=True)
        (out / "suite.json").write_text(json.dumps(found, indent=1) + "\n")
        (out / f"{row}.svg").write_text(chart)
        if options.update:
            update(row, text, chart)
            if options.before:
                update("against", summary(found), chart)


if __name__ == "__main__":
    main()
