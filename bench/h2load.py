"""h2load as the load tool, for what sluice-load does not speak: TLS and HTTP/2. One request at a time on each connection."""
import os
import re
import subprocess

PROTOCOLS = {"http1-h2load": ("http", ["--h1"]), "http1-tls": ("https", ["--h1"]), "http2-tls": ("https", [])}


def first_request(file):
    """Headers and body of the first prepared request."""
    with file.open("rb") as requests:
        head, _, body = requests.read(int(requests.readline())).partition(b"\r\n\r\n")
    headers = [line.split(": ", 1) for line in head.decode().split("\r\n")[1:]]
    return [(name, value) for name, value in headers if name not in ("Host", "Content-Length")], body


def offer(options, requests, path, state):
    scheme, words = PROTOCOLS[options.protocol]
    headers, body = first_request(requests)
    (state / "h2load.body").write_bytes(body)
    log = state / "h2load.log"
    for name, value in headers:
        words = [*words, "-H", f"{name}: {value}"]
    port = options.port + (scheme == "https")
    before = os.times()
    subprocess.run(
        ["h2load", "-c", str(options.connections), "-m", "1", "-t", "1", "--duration", f"{options.seconds:.0f}",
         "--warm-up-time", f"{options.warmup:.0f}", "--log-file", str(log), "-d", str(state / "h2load.body"), *words,
         f"{scheme}://127.0.0.1:{port}{path}"], check=True, stdout=subprocess.DEVNULL)
    after = os.times()
    return figures(log, options, after.children_user + after.children_system - before.children_user - before.children_system)


def figures(log, options, cpu_seconds):
    """Its log has a line for each request: when it began, the status, how long it took; microseconds."""
    rows = [tuple(map(int, re.findall(r"-?\d+", line)[:3])) for line in log.read_text().splitlines()]
    accepted = sorted(took for _, status, took in rows if status == 200)
    assert accepted, "no request was answered 200"
    statuses = {}
    for _, status, _ in rows:
        statuses[str(status)] = statuses.get(str(status), 0) + 1
    at = lambda share: float(accepted[min(len(accepted) - 1, int(len(accepted) * share))])  # noqa: E731
    return {
        "seconds": options.seconds, "accepted_per_s": len(accepted) / options.seconds, "statuses": statuses,
        "accepted_us": {"p50": at(0.5), "p99": at(0.99), "p999": at(0.999), "max": float(accepted[-1])},
        "load_tool_cpu_share": cpu_seconds / (options.seconds + options.warmup),
    }
