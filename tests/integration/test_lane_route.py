"""Orders that bypass the lanes, because many bytes wait at once: senders see no difference."""

import json

import pytest

from harness.merchant import CONFIG
from crash.conftest import fault_shim
from faults.shim import DELAY, NGINX, Shim
from harness import cli, http1, orders, paths, sign
from harness.sign import EVENTS

__all__ = ["fault_shim"]
CONNECTIONS = 120
ROUNDS = 4
PADDING = "x" * 8000  # 48 such orders are what a process lets wait for its lane


@pytest.fixture(name="slow_edge")
def slow_edge_fixture(start_edge, fault_shim, tmp_path):
    """(nginx with one worker, the shim of its calls on the store)"""
    shim = Shim(fault_shim, tmp_path)
    folder = paths.make_folder()
    cli.Sluice(folder / "store")("init")
    edge = start_edge(CONFIG, store=folder / "store", environment=shim.environment(folder / "store"), workers=1)
    yield edge, shim
    edge.stop()  # or it says that its store was removed
    paths.drop_folder(folder)


def send(connection, merchant, number):
    body = sign.encode(orders.order(number, ignored=PADDING))
    headers = sign.event_headers(merchant.shop, merchant.secret, "ORDER_CREATE", body)
    connection.send(http1.head("POST", EVENTS, [*headers, ("Content-Length", str(len(body)))]) + body)


def test_both_ways_keep_the_order_of_events(slow_edge, new_merchant):
    """L3: an event sent after another's 200 has the higher number, through the lane or past it."""
    edge, shim = slow_edge
    merchant = new_merchant(edge, "acme")
    connections = [edge.connect() for _ in range(CONNECTIONS)]
    shim.arm(["SYNC", "META"], DELAY, roles=NGINX, sticky=True, delay_ms=40)
    ways = set()
    for number in range(ROUNDS):
        waiting = connections if number % 2 == 0 else connections[:8]
        for place, connection in enumerate(waiting):
            send(connection, merchant, f"{place}-{number}")
        for connection in waiting:
            answer = connection.read()
            assert answer.status == 200, answer
            ways.add(answer.header("X-Seq") is None)
            assert answer.header("X-Receipt"), "either way has one"
    shim.disarm()
    for connection in connections:
        connection.close()
    assert ways == {False, True}, "some through the lane, and some not"
    edge.sluice("queue", "move")
    records = edge.sluice.json("queue", "peek", "--limit", 10_000)
    stored = [json.loads(record["body"])["platform_order_id"] for record in records]
    sent = [f"{place}-{number}" for number in range(ROUNDS) for place in range(CONNECTIONS if number % 2 == 0 else 8)]
    assert sorted(stored) == sorted(sent), "each once"
    assert [name.split("-")[1] for name in stored] == sorted(name.split("-")[1] for name in stored)
