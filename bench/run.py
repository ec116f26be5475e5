#!/usr/bin/env python3
"""Load benchmark: sluice and its peers in alternating rounds on loopback, one table, one JSON file.

Every target is started fresh for every measurement. Ratios are taken within a round, so that a machine
whose speed drifts favours none of them.
"""
import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import h2load
import plot
import targets

ROOT = pathlib.Path(__file__).resolve().parent.parent
TICK = os.sysconf("SC_CLK_TCK")
BATCHED_PRODUCTS = 20_000  # of all prepared batches together


def descendants(pids):
    parents = {}
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            parents.setdefault(int(fields[1]), []).append(int(entry.name))
    found, todo = set(), list(pids)
    while todo:
        pid = todo.pop()
        if pid not in found:
            found.add(pid)
            todo += parents.get(pid, [])
    return found


def cpu_and_memory(pids):
    """CPU seconds (of the processes and what they reaped) and summed peak memory in bytes."""
    ticks = memory = 0
    for pid in descendants(pids):
        try:
            fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
            ticks += sum(int(field) for field in fields[11:15])
            for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
                if line.startswith("VmHWM"):
                    memory += int(line.split()[1]) * 1024
        except OSError:
            continue
    return ticks / TICK, memory


def offer(options, requests, path, state, accepted=200):
    """Sends the requests; what sluice-load says of it. HTTP/2 and TLS are h2load's."""
    if options.protocol != "http1":
        return h2load.offer(options, requests, path, state)
    words = [str(options.load), "--port", str(options.port), "--requests", str(requests), "--connections",
             str(options.connections), "--seconds", str(options.seconds), "--warmup", str(options.warmup)]
    if options.rate:
        words += ["--rate", str(options.rate)]
    if accepted != 200:
        words += ["--accept", str(accepted)]
    return json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)


def measure(kind, options, requests_for):
    state = pathlib.Path(tempfile.mkdtemp(prefix="sluice-bench-", dir=options.state))
    environment, counter = {}, None
    if options.slow_sync_ms:
        counter = state / "delays"
        environment = {"LD_PRELOAD": str(options.shim), "SLOW_SYNC_COUNT": str(counter),
                       "SLOW_SYNC_US": str(int(options.slow_sync_ms * 1000))}
    if options.call_times:
        environment = {"LD_PRELOAD": str(options.recorder), "CALL_TIMES": str(state)}
    target = kind(state, options.port, options.workers, environment)
    try:
        target.start()
        path = "/product-data" if options.products and target.path == "/event/ecomm" else target.path
        requests = requests_for(path, target.body_bytes, state / "secret")
        cpu_before, _ = cpu_and_memory(target.pids())
        started = time.monotonic()
        result = offer(options, requests, path, state, target.accepted)
        cpu_after, memory = cpu_and_memory(target.pids())
        wall = time.monotonic() - started
        answered = max(1, result["accepted_per_s"] * options.seconds)
        share = options.seconds / wall
        result["server_cpu_s_per_1000"] = (cpu_after - cpu_before) * share / answered * 1000
        result["peak_memory_bytes"] = memory
        result["figures"] = target.figures()
        if counter:
            result["delays"] = int.from_bytes(counter.read_bytes()[:8], "little")
        return result
    finally:
        target.stop()
        if options.call_times:
            print_call_times(state)
        shutil.rmtree(state, ignore_errors=True)


def print_call_times(folder):
    """Returns the call times of the nginx workers, without the first third of their calls."""
    for file in folder.glob("*.calls"):
        calls = [line.split() for line in file.read_text().splitlines()]
        by_kind = {}
        for kind, nanoseconds, size in calls[len(calls) // 3:]:
            by_kind.setdefault(kind, []).append((int(nanoseconds) / 1000, int(size)))
        print(f"process {file.stem}: call, how many, median us, mean us, p99 us, most us, mean bytes")
        for kind, found in sorted(by_kind.items()):
            times = sorted(time for time, _ in found)
            print(f"  {kind:8} {len(found):8} {statistics.median(times):8.1f} {statistics.mean(times):8.1f} "
                  f"{times[len(times) * 99 // 100]:8.1f} {times[-1]:8.1f} {statistics.mean(size for _, size in found):10.0f}")


def request_maker(options):
    cache = {}

    def webhooks(body_bytes):
        out = pathlib.Path(options.state) / "webhooks"
        with out.open("wb") as file:
            subprocess.run([str(ROOT / "build/release/bench/shopify_orders"), str(options.count), str(options.lines),
                            str(body_bytes)], check=True, stdout=file)
        return out

    def of_path(path, body_bytes):
        """Options of make_requests.py for a target's path."""
        if path in ("/l/", "/id"):
            return ["--links", str(options.links), *["--device"] * (not options.new_devices)]
        if path == "/event/click":
            return ["--clicks", str(options.clicks)]
        return ["--webhooks", str(webhooks(body_bytes))] if path == "/hooks/shopify" else []

    def make(path, body_bytes, secret):
        kind = path, body_bytes
        if kind not in cache:
            out = pathlib.Path(options.state) / f"requests{len(cache)}"
            with out.open("wb") as file:
                count = options.count if not options.products else max(1, BATCHED_PRODUCTS // options.products)
                subprocess.run([sys.executable, str(ROOT / "bench/load/make_requests.py"), "--secret-file",
                                str(secret), "--shop", targets.SHOP, "--path", path, "--lines", str(options.lines),
                                "--pad", str(options.pad), "--products", str(options.products), "--count", str(count),
                                "--bytes", str(body_bytes), *["--bare"] * options.bare,
                                *of_path(path, body_bytes)],
                               check=True, stdout=file)
            cache[kind] = out
        return cache[kind]

    return make


def table(results, reference):
    print(f"{'target':36} {'requests/s':>11} {'spread':>13} {'ratio':>6} {'p50 us':>8} {'p99 us':>8} "
          f"{'p999 us':>8} {'CPU s/1000':>10} {'MiB':>6}")
    base = [round_["accepted_per_s"] for round_ in results.get(reference, [])]
    for name, rounds in results.items():
        rates = [round_["accepted_per_s"] for round_ in rounds]
        ratios = [rate / other for rate, other in zip(rates, base)] or [float("nan")]
        latency = {key: statistics.median(r["accepted_us"][key] for r in rounds) for key in ("p50", "p99", "p999")}
        print(f"{name:36} {statistics.median(rates):11.0f} {min(rates):6.0f}-{max(rates):6.0f} "
              f"{statistics.median(ratios):6.2f} {latency['p50']:8.0f} {latency['p99']:8.0f} {latency['p999']:8.0f} "
              f"{statistics.median(r['server_cpu_s_per_1000'] for r in rounds):10.4f} "
              f"{statistics.median(r['peak_memory_bytes'] for r in rounds) / 2**20:6.0f}")


def prepare(options):
    options.load = ROOT / "build/release/bench/sluice-load"
    options.shim = ROOT / "build/peers/slow_sync.so"
    options.recorder = ROOT / "build/peers/call_times.so"
    options.shim.parent.mkdir(parents=True, exist_ok=True)
    for library in [options.shim] * bool(options.slow_sync_ms) + [options.recorder] * options.call_times:
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", str(library), str(ROOT / "bench" / f"{library.stem}.c")],
                       check=True)


def compare(options):
    """Alternating rounds of all targets. Target's name -> what was measured in each round."""
    prepare(options)
    kinds = {kind.__name__: kind for kind in targets.ALL}
    results = {}
    with tempfile.TemporaryDirectory(prefix="sluice-bench-") as state:
        os.chmod(state, 0o755)
        options.state = state
        maker = request_maker(options)
        for round_number in range(options.rounds):
            for name in options.targets.split(","):
                kind = kinds[name]
                try:
                    outcome = measure(kind, options, maker)
                except (OSError, RuntimeError, subprocess.CalledProcessError) as error:
                    print(f"{kind.name}: left out: {error} (needs {', '.join(kind.needs) or 'nothing more'})",
                          file=sys.stderr)
                    continue
                results.setdefault(kind.name, []).append(outcome)
                print(f"round {round_number + 1}: {kind.name}: {outcome['accepted_per_s']:.0f}/s", file=sys.stderr)
    return results


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--targets", default="Sluice,BareNginx,Openresty,Go,FastifyPostgres",
                        help=f"of {', '.join(kind.__name__ for kind in targets.ALL)}")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--warmup", type=float, default=1)
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--workers", type=int, default=1, help="nginx workers")
    parser.add_argument("--lines", type=int, default=5, help="line items of an order")
    parser.add_argument("--pad", type=int, default=0, help="bytes of padding in an order")
    parser.add_argument("--bare", action="store_true", help="orders without optional fields")
    parser.add_argument("--products", type=int, default=0, help="batches of so many products instead of orders")
    parser.add_argument("--links", type=int, default=10_000, help="that are visited")
    parser.add_argument("--new-devices", action="store_true", help="visitors without a cookie")
    parser.add_argument("--clicks", type=int, default=1, help="of a signed request")
    parser.add_argument("--protocol", choices=["http1", *h2load.PROTOCOLS], default="http1",
                        help="others are offered by h2load, which sends one and the same order; closed loop")
    parser.add_argument("--count", type=int, default=100000, help="distinct signed requests")
    parser.add_argument("--rate", type=float, default=0, help="offered requests/s (open loop)")
    parser.add_argument("--slow-sync-ms", type=float, default=0)
    parser.add_argument("--call-times", action="store_true",
                        help="how long the system calls of a dynamically linked target take; not with --slow-sync-ms")
    parser.add_argument("--port", type=int, default=18090)
    parser.add_argument("--json", default="")
    parser.add_argument("--svg", default="", help="requests/s as a bar chart")
    return parser


def main():
    options = arguments().parse_args()
    results = compare(options)
    table(results, targets.BareNginx.name)
    if options.slow_sync_ms:
        for name, rounds in results.items():
            per_request = [r["delays"] / max(1, r["accepted_per_s"] * (options.seconds + options.warmup)) for r in rounds]
            print(f"{name}: {statistics.median(per_request):.3f} delayed syncs a request")
    busiest = max((r["load_tool_cpu_share"] for rounds in results.values() for r in rounds), default=0)
    print(f"load tool: at most {busiest:.2f} of one core")
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(results, indent=1) + "\n")
    if options.svg:
        pathlib.Path(options.svg).write_text(plot.bars(
            "Requests/s, answered 200", {name: [r["accepted_per_s"] for r in rounds] for name, rounds in results.items()}))


if __name__ == "__main__":
    main()
