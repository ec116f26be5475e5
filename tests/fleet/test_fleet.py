"""Three edges, one PostgreSQL: the ledger of a fleet is that of one node, whatever happens to the nodes.

The events of each order come through edges drawn at random, while workers, nginx and whole nodes are
killed and cut off from the database. SLUICE_SEED sets the schedule of a long run, SLUICE_FLEET_ROUNDS
how many there are.
"""

import os
import signal

import pytest

from fleet import history, network
from fleet.node import Node
from fleet.storm import Faults, close_all, found, wait_until_applied, weather
from harness import postgres

NAMES = ["edge1", "edge2", "edge3"]

pytestmark = [
    pytest.mark.crash,
    pytest.mark.skipif(bool(network.missing()), reason=str(network.missing())),
    pytest.mark.skipif(bool(postgres.missing()), reason=str(postgres.missing())),
]


class Fleet:
    def __init__(self):
        self.network = network.Network(NAMES)
        self.database = postgres.Server(
            inside=self.network.inside("hub"), address=network.BRIDGE_ADDRESS, network=network.SUBNET
        ).start()
        url = self.database.create()
        self.nodes = [Node(name, self.network.inside(name), url) for name in NAMES]
        self.secret = found(self.nodes)

    def close(self):
        close_all([*(node.close for node in self.nodes), self.database.remove, self.network.close])


class NodeFaults(Faults):
    """Kills and cuts off nodes."""

    def kill_worker(self, node):
        node.kill_worker()
        self.pause(0.2)
        node.start_worker()

    def kill_nginx_worker(self, node):
        node.kill_nginx_worker(self.chance)

    def kill_node(self, node):
        node.kill_everything()
        self.pause(0.3)
        node.start()

    def cut_off(self, node):
        self.fleet.network.cut(node.name)
        self.pause(1.0)
        self.fleet.network.heal(node.name)

    def kill_while_cut_off(self, node):
        """The last request of the worker may have been performed or not, and the worker gets no answer."""
        self.fleet.network.cut(node.name)
        self.pause(0.1)
        node.kill_worker()
        self.fleet.network.heal(node.name)
        node.start_worker()

    def crash_database(self, _):
        self.fleet.database.stop(signal.SIGQUIT)
        self.pause(0.5)
        self.fleet.database.start()


def storm(seed, orders_count, events_max, kinds):
    events = history.make(seed, orders_count, events_max)
    fleet = Fleet()
    try:
        fleet.nodes[0].post_products(fleet.secret)
        fleet.nodes[0].import_all()
        wait_until_applied(fleet.nodes)
        weather(fleet, events, seed, NodeFaults(fleet, seed, kinds))
    finally:
        fleet.close()


def test_the_ledger_of_a_fleet_is_that_of_one_node():
    storm(8, 60, 6, ["kill_worker", "kill_nginx_worker", "kill_node", "cut_off", "kill_while_cut_off"])


@pytest.mark.long
@pytest.mark.parametrize("turn", range(int(os.environ.get("SLUICE_FLEET_ROUNDS", "5"))))
def test_storms(turn):
    seed = int(os.environ.get("SLUICE_SEED", "1")) * 1000 + turn
    storm(seed, 400, 12, ["kill_worker", "kill_nginx_worker", "kill_node", "cut_off",
                          "kill_while_cut_off", "crash_database"])
