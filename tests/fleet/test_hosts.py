"""Several hosts in one URL, over TCP: silent ones, standbys, and a primary that moves.

Hosts are silent when packets are dropped: no answer, not even that there is nobody.
"""

import time

import pytest

from fleet import history, network
from fleet.node import Node
from harness import orders, paths, postgres
from harness.postgres_cluster import Cluster

NAMES = ["edge", "db1", "db2"]
DB1, DB2 = "10.99.0.11", "10.99.0.12"

pytestmark = [
    pytest.mark.skipif(bool(network.missing()), reason=str(network.missing())),
    pytest.mark.skipif(bool(postgres.missing()), reason=str(postgres.missing())),
]


class Pair:
    """A primary, its standby, and an edge with something in its queue."""

    def __init__(self):
        self.network = network.Network(NAMES)
        self.folder = paths.make_folder()
        self.db1 = Cluster(self.folder, "db1", self.network.inside("db1"), DB1,
                           postgres.QUICK).start()
        self.db2 = Cluster(self.folder, "db2", self.network.inside("db2"), DB2,
                           postgres.QUICK).follow(self.db1)
        self.db2.start()
        self.node = Node("edge", self.network.inside("edge"))
        self.node.sluice("ledger", "migrate", "--ledger", self.url(DB1))
        self.node.sluice.account("acme")
        for shop in history.SHOPS:
            self.node.sluice.shop(shop, "acme")
        self.secret = self.node.sluice.token("acme", "write_orders")[1]
        self.node.edge.start()
        self.sent = 0

    def url(self, *hosts, options=""):
        return f"postgres://sluice@{','.join(hosts or (DB1, DB2))}/postgres{options}"

    def standby(self):
        paths.wait_until(lambda: self.db1.query("SELECT state FROM pg_stat_replication")
                         == [["streaming"]], "the standby to stream")
        here = self.db1.query("SELECT pg_current_wal_lsn()")[0][0]
        paths.wait_until(lambda: self.db2.query(
            f"SELECT pg_last_wal_replay_lsn() >= '{here}'")[0][0] == "t", "the standby to follow")

    def send(self, count=5):
        for _ in range(count):
            document = orders.order(f"o-{self.sent}")
            event = history.Event("shop-1", f"o-{self.sent}", "ORDER_CREATE", document)
            assert self.node.post(event, self.secret).status == 200
            self.sent += 1

    def drain(self, url):
        self.node.sluice("worker", "--until-empty", "--ledger", url)

    def applied(self, database):
        return int(database.query("SELECT coalesce(sum(applied_seq), 0) FROM sluice_ledger.heads")[0][0])

    def turn_around(self):
        """db2 becomes the primary, db1 its standby."""
        self.standby()
        self.db1.stop()
        self.db2.promote()
        self.db1.start_over(self.db2)

    def close(self):
        for close in (self.node.close, self.db1.remove, self.db2.remove, self.network.close):
            close()
        paths.drop_folder(self.folder)


@pytest.fixture
def pair():
    made = Pair()
    yield made
    made.close()


def test_a_silent_host_does_not_keep_from_the_next(pair):
    pair.network.drop("db1")
    pair.db2.promote()
    pair.send()
    began = time.monotonic()
    pair.drain(pair.url())
    assert pair.applied(pair.db2) == pair.sent
    assert time.monotonic() - began < 30, "one host costs one connect_timeout (5 s)"


def test_every_host_has_the_time_that_the_url_gives(pair):
    """Two silent ones before the one that answers: together more than any limit of ours."""
    pair.network.drop("db1")
    pair.db2.promote()
    pair.send()
    silent = [DB1] * 4
    pair.drain(pair.url(*silent, DB2, options="?connect_timeout=3"))
    assert pair.applied(pair.db2) == pair.sent


def test_all_silent_hosts_are_named(pair):
    for name in ("db1", "db2"):
        pair.network.drop(name)
    pair.send()
    why = pair.node.sluice.refuses(
        "worker", "--until-empty", "--ledger", pair.url(options="?connect_timeout=1"))
    assert why.count("\n") == 1 and "no answer within 1 s" in why
    assert DB1 in why and DB2 in why


def test_a_writer_finds_the_primary_at_any_place_of_the_list(pair):
    """A host that came back as a standby is the first of the URL."""
    pair.turn_around()
    pair.send()
    pair.drain(pair.url())
    assert pair.applied(pair.db2) == pair.sent
    # An option for reports does not direct a worker to a standby.
    pair.send()
    pair.drain(pair.url(options="?target_session_attrs=prefer-standby"))
    assert pair.applied(pair.db2) == pair.sent


def test_a_standby_alone_is_refused_in_a_sentence(pair):
    pair.send()
    why = pair.node.sluice.refuses("worker", "--until-empty", "--ledger", pair.url(DB2))
    assert why.count("\n") == 1 and "standby" in why and DB2 in why
    assert pair.node.sluice.json("queue", "stats")["applied_seq"] == 0


def test_who_reads_may_ask_for_a_standby(pair):
    pair.send()
    pair.drain(pair.url())
    pair.standby()
    pair.db2.set("log_connections", "on")
    report = ("report", "orders", "--format", "json", "--ledger")
    node = pair.node.sluice
    seen = []
    for wanted in ("any", "standby", "prefer-standby", "primary"):
        assert len(node(*report, pair.url(options=f"?target_session_attrs={wanted}")).splitlines()) > 1
        seen.append((pair.db2.folder / "log").read_text().count("application_name=sluice"))
    assert seen[0] == 0 and seen[1] >= 1 and seen[2] > seen[1]
    assert "standby" in node.refuses(*report, pair.url(DB1, options="?target_session_attrs=standby"))
    node(*report, pair.url(DB1, options="?target_session_attrs=prefer-standby"))


def test_a_primary_that_goes_silent_under_a_running_worker(pair):
    pair.standby()
    pair.node.ledger = ["--ledger", pair.url()]
    pair.node.start_worker()
    pair.send()
    paths.wait_until(lambda: pair.applied(pair.db1) == pair.sent, "the first orders")
    pair.standby()
    pair.network.drop("db1")
    pair.db2.promote()
    pair.send()
    # 15 s until the silence is noticed (tcp_user_timeout), 5 s for the host that stays silent.
    paths.wait_until(lambda: pair.applied(pair.db2) == pair.sent, "db2 to take over", 60)
    pair.network.heal_drop("db1")


def test_what_the_server_refuses_is_said_at_once(pair):
    """Nothing of this passes by itself: one sentence, and nothing is taken from the queue."""
    rules = pair.db1.data / "pg_hba.conf"
    kept = rules.read_text()
    pair.db1.query("ALTER ROLE sluice PASSWORD 'right'")
    rules.write_text("local all all trust\nhost all all 0.0.0.0/0 scram-sha-256\n")
    pair.db1.query("SELECT pg_reload_conf()")
    pair.send()
    worker = ("worker", "--ledger")  # a service, which waits for what may pass
    node = pair.node.sluice
    node.environment["PGPASSWORD"] = "wrong"
    assert "password authentication failed" in one_line(node.refuses(*worker, pair.url(DB1)))
    node.environment["PGPASSWORD"] = ""
    assert "no password" in one_line(node.refuses(*worker, pair.url(DB1)))
    node.environment["PGPASSWORD"] = "right"
    assert "does not exist" in one_line(node.refuses(
        *worker, pair.url(DB1).replace("/postgres", "/elsewhere")))
    assert "invalid sslmode value" in one_line(node.refuses(*worker, pair.url(DB1, options="?sslmode=perhaps")))
    rules.write_text(kept)
    pair.db1.query("SELECT pg_reload_conf()")
    assert pair.applied(pair.db1) == 0


def one_line(text):
    assert text.count("\n") == 1, text
    return text
