"""Two nodes with one PostgreSQL ledger: one sends at a time, and the changes of an order come in order."""

import shutil
import time

import pytest
from harness import paths, postgres
from harness.cli import Sluice
from harness.edge import Edge
from harness.http_block import EVENTS, http_block
from harness.postgres import Server
from harness.webhooks import Notify, Receiver
from notify.conftest import WHY
from notify.test_orders import Shop, by_order

pytestmark = pytest.mark.skipif(bool(postgres.missing()), reason=str(postgres.missing()))


def second_node(first, folder):
    """A store with the registry of the first one."""
    sluice = Sluice(folder / "second")
    sluice("init")
    key = sluice.store / "master.key"
    key.unlink()
    shutil.copy(first.store / "master.key", key)
    key.chmod(0o400)
    sluice("registry", "import", "-", stdin=first("registry", "export", "-"))
    return sluice


class Fleet:
    def __init__(self, edge, folder, server):
        self.edge, self.folder, self.server = edge, folder, server
        url = server.create()
        self.first = edge.sluice
        self.first("ledger", "migrate", "--ledger", url)
        self.first("worker", "--until-empty", "--ledger", url)
        self.shop = Shop(edge, folder)
        self.second = second_node(self.first, folder)
        self.second("worker", "--until-empty", "--ledger", url)

    def adjust(self, order, amount):
        """A change of an order, written by the second node."""
        self.second("adjust", "--shop", "shop-1", "--order", order, "--amount", amount, *WHY)


@pytest.fixture
def fleet(tmp_path):
    server = Server().start()
    try:
        with Edge(http_block(EVENTS, limit="off")) as edge:
            edge.start()
            yield Fleet(edge, tmp_path, server)
    finally:
        server.remove()


def test_changes_of_an_order_from_two_nodes_come_in_order(fleet):
    shop = fleet.shop
    with Receiver(shop.folder) as receiver:
        shop.add("erp", receiver, "--types", "order.attributed,commission.changed")
        names = [f"o{number}" for number in range(8)]
        for name in names:
            shop.send(name)
        fleet.first.drain()
        for round_ in range(3):
            for name in names:
                fleet.adjust(name, f"0.{round_ + 1}0")
                shop.refund(name, 3 + round_, f"{round_ + 1}.00")
            fleet.first.drain()
        with shop.run(receiver):
            receiver.wait(56)
            shop.wait_for("erp", lag=0, pending=0)
    requests = by_order(receiver.requests)
    assert sorted(requests) == names
    for found in requests.values():
        assert [request.change["order_change"] for request in found] == list(range(1, 8))
        assert len({request.change["node"] for request in found}) == 2
    assert len({request.id for request in receiver.requests}) == len(receiver.requests) == 56


def test_one_node_sends_at_a_time_and_another_takes_over(fleet):
    shop = fleet.shop
    with Receiver(shop.folder) as receiver:
        shop.add("erp", receiver)
        other_folder = paths.make_folder()
        try:
            url = ("--account", "acme", "--url", receiver.url, "--allow-private", "127.0.0.0/8")
            fleet.second("notify", "add", "spare", *url)
            with shop.run(receiver) as notify:
                paths.wait_until(lambda: "this node sends" in notify.log(), "the lock")
                spare = Notify(fleet.second, other_folder, receiver)
                with spare:
                    paths.wait_until(lambda: "another node sends" in spare.log(), "the other node to wait")
                    shop.send("o1")
                    fleet.first.drain()
                    receiver.wait(1)
                    time.sleep(2)
                    assert len(receiver.requests) == 1
                    notify.kill()
                    paths.wait_until(lambda: "this node sends" in spare.log(), "the other node to take over")
                    receiver.wait(2)  # its own destination
                    shop.send("o2")
                    fleet.first.drain()
                    receiver.wait(3)
                    time.sleep(1)
                    assert len(receiver.requests) == 3 and shop.show("erp")["lag"] > 0
                with shop.run(receiver):  # the first node again: its destination continues at its cursor
                    receiver.wait(4)
                    shop.wait_for("erp", lag=0)
                assert sorted(receiver.ids().values()) == [2, 2]
        finally:
            paths.drop_folder(other_folder)


def test_a_database_that_stops_and_returns_delays_changes_only(fleet):
    shop = fleet.shop
    with Receiver(shop.folder) as receiver:
        shop.add("erp", receiver)
        with shop.run(receiver) as notify:
            shop.send("o1")
            fleet.first.drain()
            receiver.wait(1)
            fleet.server.stop()
            paths.wait_until(lambda: "cannot be read" in notify.log() or "does not answer" in notify.log(), "an outage")
            fleet.server.start()
            shop.send("o2")
            fleet.first.drain()
            receiver.wait(2)
            assert notify.process.poll() is None
    assert set(receiver.ids().values()) == {1}
