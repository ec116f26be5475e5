"""A fleet on a cluster as it is deployed: Patroni, etcd, HAProxy, PgBouncer (harness.patroni).

Each edge has another way to the database: all hosts in the URL, HAProxy, PgBouncer. Storms take
minutes. A primary that is cut off with its clients: test_split_brain.py.
"""

import json
import os
import signal
import subprocess

import pytest

from fleet import clustered, history
from fleet.clustered import LEAKING, SESSION, STATEMENT, TRANSACTION, Fleet
from fleet.node import Node
from fleet.storm import Faults, copy_registry, wait_until_applied, weather
from harness import paths

pytestmark = [
    pytest.mark.crash,
    pytest.mark.skipif(bool(clustered.missing()), reason=str(clustered.missing())),
]


@pytest.fixture(scope="module")
def fleet():
    made = Fleet()
    yield made
    made.close()


def findings(node):
    done = node.sluice.run("doctor", "--format", "json")
    return {row["check"]: row for row in json.loads(done.stdout)}


def one_line(text):
    assert text.count("\n") == 1, text
    return text


def test_a_pooler_that_shares_sessions_is_refused_before_anything_is_taken(fleet):
    node = Node("apart", fleet.network.inside("edge1"))
    try:
        copy_registry(fleet.nodes[0], node)
        node.edge.start()
        (event,) = history.make(1, 1, 1)
        assert node.post(event, fleet.secret).status == 200
        for port, words in ((TRANSACTION, "pool_mode = transaction"), (STATEMENT, "each statement"),
                            (LEAKING, "hands sessions on")):
            url = fleet.database.url(port=port)
            for command in (("worker",), ("report", "orders"), ("ledger", "migrate")):
                why = one_line(node.sluice.refuses(*command, "--ledger", url))
                assert words in why and "server_reset_query" in why, (port, command)
        assert node.sluice.json("queue", "stats")["applied_seq"] == 0
        # The settings are unchanged: nothing of ours stays in a session that others receive.
        for port in (TRANSACTION, LEAKING):
            for _ in range(3):
                left = subprocess.run(
                    [*fleet.network.inside("edge1"), "psql", fleet.database.url(port=port), "-XAtc",
                     "SHOW enable_seqscan; SHOW statement_timeout; "
                     "SELECT current_setting('sluice.session', true)"],
                    capture_output=True, text=True, check=True).stdout.split("\n")
                assert left[:3] == ["on", "0", ""], (port, left)
        node.sluice("worker", "--until-empty", "--ledger", fleet.database.url(port=SESSION))
        assert node.sluice.json("queue", "stats")["applied_seq"] == 1
    finally:
        node.close()


def test_doctor_proves_that_the_writer_lock_blocks_and_a_standby_has_all(fleet):
    for node in fleet.nodes:
        found = findings(node)
        assert found["writer lock"]["result"] == "ok", found
        assert found["replication"]["result"] == "ok", found
        assert "synchronous" in found["replication"]["finding"]


def test_a_switchover_is_survived_on_each_way_in(fleet):
    events = history.make(2, 20, 3)
    fleet.post(events[: len(events) // 2])
    fleet.database.switch_over()
    fleet.post(events[len(events) // 2:])
    wait_until_applied(fleet.nodes)
    reports = {node.report("orders") for node in fleet.nodes}
    assert len(reports) == 1 and len(json.loads(reports.pop())) >= 20
    fleet.database.wait_whole()


# Storms --------------------------------------------------------------------------------------------


class ClusterFaults(Faults):
    """The events of a cluster; it is whole again before the next one."""

    def switch_over(self, _):
        self.fleet.database.switch_over()
        self.fleet.database.wait_whole()

    def kill_primary(self, _):
        primary = self.fleet.database.wait_primary()
        primary.kill()
        self.fleet.database.wait_primary(primary)
        primary.patroni.start()
        self.fleet.database.wait_whole()

    def lose_etcd(self, _):
        """No one may be primary then; workers wait."""
        etcd = self.fleet.database.etcd
        etcd.send(signal.SIGSTOP)
        paths.wait_until(lambda: self.fleet.database.primary() is None, "every member to step down", 60)
        self.pause(1.0)
        etcd.send(signal.SIGCONT)
        self.fleet.database.wait_whole()

    def isolate_primary(self, _):
        primary = self.fleet.database.wait_primary()
        self.fleet.database.isolate(primary)
        self.fleet.database.wait_primary(primary)
        self.fleet.database.rejoin(primary)
        self.fleet.database.wait_whole()

    def kill_worker(self, node):
        node.kill_worker()
        self.pause(0.2)
        node.start_worker()


@pytest.mark.long
@pytest.mark.parametrize("turn", range(int(os.environ.get("SLUICE_CLUSTER_ROUNDS", "2"))))
def test_cluster_storms(turn):
    seed = int(os.environ.get("SLUICE_SEED", "1")) * 1000 + turn
    made = Fleet()
    try:
        kinds = ["switch_over", "kill_primary", "lose_etcd", "isolate_primary", "kill_worker"]
        weather(made, history.make(seed, 200, 12), seed, ClusterFaults(made, seed, kinds))
    finally:
        made.close()
