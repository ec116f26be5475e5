"""Does the time of an answer tell an unknown shop from a known one? Welch's t, as dudect does it.

The short form that needs no clock is tests/unit/core/intake/timing_test.cpp. SLUICE_TIMING_PAIRS: 100000.
"""

import math
import os
import random
import socket
import time

import pytest

from harness import http1, orders, paths, sign

CONFIG = """
    sluice_store @STORE@ map_size=1g thread_pool=sluice offload_pool=offload;
    sluice_rate_limit off;
    include @LOGCONF@;
    server {
        access_log @LOG@;
        listen 127.0.0.1:@PORT@;
        keepalive_requests 10000000;
        location = /event/ecomm { sluice_ingest events; }
    }
""".replace("@LOGCONF@", str(paths.ROOT / "conf" / "nginx" / "sluice-log.conf"))
PAIRS = int(os.environ.get("SLUICE_TIMING_PAIRS", "100000"))
SEED = os.environ.get("SLUICE_SEED", "123")
LIMIT = 4.5


def welch_t(a, b):
    def moments(values):
        mean = math.fsum(values) / len(values)
        return mean, math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)

    (mean_a, var_a), (mean_b, var_b) = moments(a), moments(b)
    return (mean_a - mean_b) / math.sqrt(var_a / len(a) + var_b / len(b))


def cropped(a, b, share):
    """Both without what lies above a quantile of them together: the machine's own hiccups."""
    limit = sorted(a + b)[int(len(a + b) * share) - 1]
    return [value for value in a if value <= limit], [value for value in b if value <= limit]


def nanoseconds(connection, request):
    began = time.perf_counter_ns()
    connection.sendall(request)
    got = b""
    while b"\r\n\r\n" not in got:
        got += connection.recv(4096)
    took = time.perf_counter_ns() - began
    assert got.startswith(b"HTTP/1.1 401") and got.endswith(b"\r\n\r\n")
    return took


def collect(port, first, second, pairs):
    chance = random.Random(SEED)
    times = ([], [])
    with socket.create_connection(("127.0.0.1", port), timeout=paths.DEADLINE) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for which in range(200):
            nanoseconds(connection, (first, second)[which % 2])
        for _ in range(pairs):
            order = (0, 1) if chance.random() < 0.5 else (1, 0)
            for which in order:
                times[which].append(nanoseconds(connection, (first, second)[which]))
    return times


def worst_t(times):
    return max((abs(welch_t(*cropped(*times, share))), share) for share in (0.5, 0.8, 0.95))[0]


@pytest.fixture
def requests(start_edge, new_merchant):
    # The operator's diagnosis after each answer (the reason in the log) is part of what can be timed.
    edge = start_edge(CONFIG.replace("@LOG@", "@DIR@/access.log sluice"), workers=1)
    merchant = new_merchant(edge, "acme")
    body = sign.encode(orders.order())

    def request(shop, signature="0" * 64):
        headers = sign.event_headers(shop, merchant.secret, "ORDER_CREATE", body)
        headers = sign.replaced(headers, x_signature=signature)
        return http1.head("POST", sign.EVENTS, headers + [("Content-Length", str(len(body)))]) + body

    right = sign.hmac_hex(merchant.secret, body)
    last = right[:-1] + ("0" if right[-1] != "0" else "1")
    first = ("0" if right[0] != "0" else "1") + right[1:]
    yield edge, {
        "known": request("acme-shop"),
        "unknown": request("acme-shoq"),
        "wrong first digit": request("acme-shop", first),
        "wrong last digit": request("acme-shop", last),
    }


@pytest.mark.long
@pytest.mark.parametrize("pair", [("known", "unknown"), ("wrong first digit", "wrong last digit")], ids="-".join)
def test_time_reveals_nothing(requests, pair):
    edge, by_name = requests
    times = collect(edge.port, by_name[pair[0]], by_name[pair[1]], PAIRS)
    t = worst_t(times)
    print(f"\n{pair[0]} against {pair[1]}: {PAIRS} pairs, seed {SEED}, Welch's t {t:.2f}, "
          f"medians {sorted(times[0])[PAIRS // 2] / 1000:.1f} and {sorted(times[1])[PAIRS // 2] / 1000:.1f} us")
    assert t < LIMIT


@pytest.mark.long
def test_the_clock_would_see_a_difference(requests):
    """A body that is hashed and one that is not: the method must tell these apart."""
    edge, by_name = requests
    malformed = by_name["known"].replace(b"X-Signature: 0", b"X-Signature: x", 1)
    assert worst_t(collect(edge.port, by_name["known"], malformed, PAIRS // 5)) > LIMIT


def median(values):
    return sorted(values)[len(values) // 2]


@pytest.mark.parametrize("kilobytes,pairs", [(0.3, 1500), (60, 400), (900, 60)])
def test_a_failed_check_takes_as_long_whatever_the_number_of_tokens(start_edge, new_merchant, kilobytes, pairs):
    """Medians of interleaved pairs. With one HMAC for each token, eight tokens took twice as long as an unknown shop."""
    edge = start_edge(CONFIG.replace("@LOG@", "off").replace("sluice_ingest events;",
                      "sluice_ingest events; client_max_body_size 2m;"), workers=1)
    body = sign.encode(orders.order(extra="x" * int(kilobytes * 1000)))
    unknown = sign.event_headers("nowhere", "a secret of sixteen bytes", "ORDER_CREATE", body)

    def request(headers):
        return http1.head("POST", sign.EVENTS, headers + [("Content-Length", str(len(body)))]) + body

    for tokens in (1, 2, 8):
        merchant = new_merchant(edge, f"tokens-{tokens}")
        for _ in range(tokens - 1):
            edge.sluice.token(merchant.account, "write_orders")
    for tokens in (1, 2, 8):
        known = sign.event_headers(f"tokens-{tokens}-shop", "a secret of sixteen bytes", "ORDER_CREATE", body)
        ratios = []
        while len(ratios) < 5 and not (ratios and 0.85 < ratios[-1] < 1.15):  # noise ends; a difference stays
            times = collect(edge.port, request(known), request(unknown), pairs)
            ratios.append(median(times[0]) / median(times[1]))
        assert 0.85 < ratios[-1] < 1.15, f"{tokens} tokens, {kilobytes} KB: {ratios}"


def test_welch_t_of_known_samples():
    assert abs(welch_t([1, 2, 3, 4, 5], [2, 3, 4, 5, 6]) + 1.0) < 1e-9
    chance = random.Random(1)
    same = [[chance.gauss(0, 1) for _ in range(5000)] for _ in range(2)]
    assert abs(welch_t(*same)) < LIMIT < abs(welch_t(same[0], [value + 0.2 for value in same[1]]))
