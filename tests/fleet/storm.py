"""A storm: events through every edge while there is trouble, and what must hold afterwards."""

import json
import random
import shutil
import threading
import time
from collections import defaultdict
from fractions import Fraction

from fleet import history
from fleet.node import Node
from harness import http1, paths


def close_all(closings):
    """All of them, whatever one of them raises."""
    failures = []
    for close in closings:
        try:
            close()
        except Exception as failure:  # the others must be stopped nevertheless
            failures.append(failure)
    if failures:
        raise failures[0]


def wait_until_applied(nodes, deadline=120):
    for node in nodes:
        paths.wait_until(
            lambda node=node: node.worker.poll() is None and node.stats()["depth"] == 0,
            f"{node.name} to apply everything\n{node.worker_log()[-2000:]}", deadline,
        )


def create_registry(node):
    node.sluice.account("acme")
    for shop in history.SHOPS:
        node.sluice.shop(shop, "acme")
    return node.sluice.token("acme", "write_orders", "write_products")[1]


def copy_registry(source, node):
    key = node.edge.store / "master.key"
    key.unlink()
    shutil.copy(source.edge.store / "master.key", key)
    key.chmod(0o400)
    text = source.sluice("registry", "export", "-")
    node.sluice("registry", "import", "-", stdin=text)


def found(nodes):
    """Makes the ledger, and the registry of the first node that of all; starts them. The token's secret."""
    first = nodes[0]
    first.sluice("ledger", "migrate", *first.ledger)
    secret = create_registry(first)
    for node in nodes[1:]:
        copy_registry(first, node)
    for node in nodes:
        node.start()
    return secret


class Faults(threading.Thread):
    """Causes these kinds of trouble, one after the other, until it is stopped. Each kind is a method of a subclass,
    called with a node."""

    def __init__(self, fleet, seed, kinds):
        super().__init__()
        self.fleet, self.chance, self.kinds = fleet, random.Random(seed), kinds
        self.ended = threading.Event()
        self.done = defaultdict(int)
        self.failure = None

    def run(self):
        try:
            while not self.ended.wait(self.chance.random() * 0.2):
                rest = [kind for kind in self.kinds if not self.done[kind]]
                kind = self.chance.choice(rest or self.kinds)
                getattr(self, kind)(self.chance.choice(self.fleet.nodes))
                self.done[kind] += 1
        except Exception as failure:  # shown by the test
            self.failure = failure

    def enough(self):
        return self.failure or all(self.done[kind] for kind in self.kinds)

    def pause(self, longest):
        time.sleep(self.chance.random() * longest)


class Senders:
    """Every event through an edge drawn at random, again through any other until it is accepted."""

    PACE = 0.08  # seconds at most between two events of one sender

    def __init__(self, fleet, events, seed, faults):
        self.fleet, self.left, self.lock = fleet, list(events), threading.Lock()
        self.faults, self.held = faults, len(events) // 4
        self.threads = [
            threading.Thread(target=self._send, args=(random.Random(f"{seed}-{n}"),)) for n in range(4)
        ]
        self.retries, self.failure = 0, None

    def run(self):
        for thread in self.threads:
            thread.start()
        for thread in self.threads:
            thread.join()
        if self.failure:
            raise self.failure

    def _next(self):
        """The last quarter is held back until faults enough were injected."""
        with self.lock:
            if len(self.left) == self.held:
                paths.wait_until(self.faults.enough, f"faults: {dict(self.faults.done)}", 300)
            return self.left.pop() if self.left else None

    def _send(self, chance):
        try:
            while event := self._next():
                end = time.monotonic() + 300
                while not self._accepted(chance.choice(self.fleet.nodes), event):
                    self.retries += 1
                    assert time.monotonic() < end, f"no edge takes {event.body}"
                    time.sleep(0.02)
                time.sleep(chance.random() * self.PACE)
        except Exception as failure:  # raised again by run()
            self.failure = failure

    def _accepted(self, node, event):
        try:
            answer = node.post(event, self.fleet.secret)
        except (OSError, http1.Closed):
            return False
        assert answer.status in (200, 503), answer
        return answer.status == 200


# Invariants -----------------------------------------------------------------------------------------


def alone(secret_of, events):
    """One node with the embedded ledger, which gets the same."""
    node = Node("alone")
    try:
        secret = create_registry(node)
        node.start()
        node.post_products(secret)
        node.import_all()
        with node.edge.connect() as connection:
            for event in events:
                answer = node.edge.post_event(
                    event.shop, secret, event.topic, event.body, connection=connection
                )
                assert answer.status == 200, answer
        paths.wait_until(lambda: node.stats()["depth"] == 0, "the single node to apply everything", 120)
        return orders_of(node), journal_sums(node.report("journal"))
    finally:
        node.close()


def orders_of(node):
    """Orders by shop and id. What blocks one, an anomaly, depends on the order of arrival; so does,
    then, which of three states it shows."""
    found = {}
    for order in json.loads(node.report("orders")):
        order.pop("blocked_by")
        order.pop("node")
        order["status"] = order["status"].replace("blocked", "open").replace("pending", "open").replace("payable", "open")
        found[order["shop_id"], order["order_id"]] = order
    return found


def journal_sums(text):
    sums = defaultdict(Fraction)
    for row in json.loads(text):
        if row["amount"] is not None:  # a memo entry has none
            sums[row["shop_id"], row["order_id"], row["currency"]] += Fraction(row["amount"])
    return {key: value for key, value in sums.items() if value}


def check_each_node(fleet, events):
    """Counters, journal entries and anomalies, node by node."""
    sent = {(event.shop, event.order_id) for event in events}
    received = 0
    for node in fleet.nodes:
        stats = node.stats()
        assert stats["dead"] == 0
        inputs = sum(stats[name] for name in ("applied", "stale", "duplicate", "catalog", "commands"))
        assert inputs == stats["applied_seq"], f"{node.name}: each input is counted once: {stats}"
        received += stats["applied"] + stats["stale"] + stats["duplicate"]
    assert received >= len(events)
    applied = {node.uuid: node.stats()["applied_seq"] for node in fleet.nodes}
    rows = fleet.database.query("SELECT node, entry, event_seq, shop_id, order_id, amount FROM journal WHERE order_id <> ''")
    entries = defaultdict(list)
    for node, entry, seq, shop, order, amount in rows:
        entries[node].append(int(entry))
        assert 1 <= int(seq) <= applied[node] and (shop, order) in sent
        assert amount == "" or Fraction(amount) != 0  # a memo entry has none
    for node, numbers in entries.items():
        assert sorted(numbers) == list(range(1, len(numbers) + 1)), f"entries of node {node}"
    kinds = set()
    for node, seq, shop, order, kind, count in fleet.database.query(
        "SELECT node, event_seq, shop_id, order_id, kind, count FROM anomalies"
    ):
        assert 1 <= int(seq) <= applied[node] and int(count) >= 1
        assert (shop, order, kind) not in kinds, "an anomaly is recorded once per order and kind"
        kinds.add((shop, order, kind))


def weather(fleet, events, seed, faults):
    """Sends all events while there is trouble, then compares with what one node makes of them."""
    faults.start()
    senders = Senders(fleet, events, seed, faults)
    try:
        senders.run()
    finally:
        faults.ended.set()
        faults.join()
    if faults.failure:
        raise faults.failure
    wait_until_applied(fleet.nodes)
    orders, sums = alone(fleet.secret, sorted(events, key=lambda event: event.body))
    for node in fleet.nodes:
        found = orders_of(node)
        assert found.keys() == orders.keys(), f"seed {seed}: orders as {node.name} reports them"
        wrong = [(found[key], orders[key]) for key in orders if found[key] != orders[key]]
        assert not wrong, f"seed {seed}: {len(wrong)} orders as {node.name} reports them, first {wrong[0]}"
    assert journal_sums(fleet.nodes[0].report("journal")) == sums, f"seed {seed}: journal"
    check_each_node(fleet, events)
    print(f"seed {seed}: {len(events)} events, {senders.retries} retries, faults {dict(faults.done)}")
