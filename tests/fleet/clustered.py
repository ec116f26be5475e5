"""Three edges on a cluster: each has another way to the database (harness.patroni)."""

from fleet import network
from fleet.node import Node
from fleet.storm import close_all, found, wait_until_applied
from harness import patroni, postgres

EDGES = ["edge1", "edge2", "edge3"]
MEMBERS = ["db1", "db2", "db3"]
HAPROXY, SESSION, TRANSACTION, STATEMENT, LEAKING = 5000, 6432, 6433, 6434, 6435


def missing():
    """Why there can be no cluster here; None if there can."""
    return network.missing() or postgres.missing() or patroni.missing()


class Fleet:
    def __init__(self, **cluster):
        self.network = network.Network([*EDGES, "dcs", "proxy", *MEMBERS])
        self.nodes, self.database = [], None
        try:
            self.database = patroni.Cluster(self.network, MEMBERS, **cluster)
            self.database.create()
            self.ways = [self.database.url(), self.database.url(port=HAPROXY), self.database.url(port=SESSION)]
            self.nodes = [Node(name, self.network.inside(name), way)
                          for name, way in zip(EDGES, self.ways)]
            self.secret = found(self.nodes)
            first = self.nodes[0]
            first.post_products(self.secret)
            first.import_all()
            wait_until_applied(self.nodes)
            self.database.wait_whole()
        except BaseException:
            self.close()
            raise

    def post(self, events):
        for number, event in enumerate(events):
            assert self.nodes[number % len(self.nodes)].post(event, self.secret).status == 200

    def close(self):
        close_all([*(node.close for node in self.nodes),
                   *([self.database.remove] if self.database else []), self.network.close])
