"""The ledger on Citus: a coordinator and two machines, the tables spread over them by account.

`CITUS_SOURCE=DIR make test-citus` builds Citus and runs this; nothing here is part of `make test`. Tests of
the other folders run here, too: they get this cluster in place of their server.
"""

import os
import signal
import subprocess

import pytest

from fleet import history
from fleet.node import Node
from fleet.storm import Faults, close_all, found, wait_until_applied, weather
from harness import paths
from harness.citus import CitusCluster, missing
from integration import test_ledger_copy, test_postgres
from integration.test_ledger_copy import (  # noqa: F401  (pytest runs and uses them)
    filled, shop, store, test_folder_to_folder_and_database_to_database,
    test_a_copy_there_and_back_continues_at_the_checkpoint,
)
from integration.test_postgres import (  # noqa: F401
    folder, test_a_running_worker_stops_at_another_schema, test_an_archive_rebuilds_a_database_that_was_lost,
    test_reports_equal_the_embedded_ledgers, twins,
)

INPUTS = test_postgres.INPUTS

pytestmark = [pytest.mark.crash, pytest.mark.skipif(bool(missing()), reason=str(missing()))]


def distribute(url):
    done = subprocess.run([str(paths.SLUICE), "ledger", "migrate", "--distribute", "--ledger", url],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


class Spread(CitusCluster):
    """Databases come with the ledger's tables spread."""

    def create(self, database):
        url = super().create(database)
        distribute(url)
        return url


@pytest.fixture(scope="module")
def server(folder):
    made = Spread(folder / "copies")
    made.start()
    yield made
    made.remove()


@pytest.fixture
def cluster(folder, request):
    made = Spread(folder / request.node.name[:24]).start()
    distribute(made.url())
    yield made
    made.remove()


def applied(cluster):
    return test_postgres.applied(cluster)


def begun(twins, cluster, name):
    """A worker that has applied some batches."""
    sluice = twins.copy(name)
    worker = test_postgres.Worker(sluice, cluster.url())
    paths.wait_until(lambda: applied(cluster) > 50, f"some batches\n{worker.text()}", 60)
    return sluice, worker


def finished(twins, cluster, sluice, worker):
    paths.wait_until(lambda: applied(cluster) == INPUTS, f"the rest\n{worker.text()}", 120)
    worker.stop()
    test_postgres.finish(sluice, twins, cluster.url())


def prepared(cluster):
    """Transactions that a machine holds between the two phases of a commit."""
    return sum(int(machine.query("SELECT count(*) FROM pg_prepared_xacts")[0][0]) for machine in cluster.machines)


# ---- Setting up -----------------------------------------------------------------------------------


def test_migrate_names_distribute_which_may_be_repeated(folder, twins):
    cluster = CitusCluster(folder / "setup").start()
    sluice = twins.copy("setup-store")
    try:
        migrate = ("ledger", "migrate", "--ledger", cluster.url())
        assert "--distribute distributes it over the Citus nodes" in sluice(*migrate)
        # Rows that are there go along.
        sluice("worker", "--until-empty", "--ledger", cluster.url())
        said = str(sluice(*migrate, "--distribute"))
        [[by_rows, whole]] = cluster.query("SELECT count(*) FILTER (WHERE citus_table_type = 'distributed'), count(*) "
                                           "FILTER (WHERE citus_table_type = 'reference') FROM citus_tables")
        assert f"{by_rows} tables by rows, {whole} whole on each" in said and int(by_rows) > int(whole) > 0
        assert "all were spread before" in sluice(*migrate, "--distribute")
        assert "--distribute" not in sluice(*migrate)
        assert cluster.query("SELECT count(DISTINCT nodename) FROM citus_shards WHERE table_name = "
                             "'sluice_ledger.orders'::regclass") == [["2"]]
        assert applied(cluster) == INPUTS
        test_postgres.finish(sluice, twins, cluster.url())
    finally:
        cluster.remove()


def test_a_worker_that_was_connected_before_stops(folder, twins):
    cluster = CitusCluster(folder / "connected").start()
    try:
        twins.copy("connected-store")("ledger", "migrate", "--ledger", cluster.url())
        sluice, worker = begun(twins, cluster, "connected-store")
        distribute(cluster.url())
        # Its next statement is refused, or finds the rows of the coordinator alone, which are none.
        assert worker.process.wait(30) == 1, worker.text()
        assert "0A000" in worker.text() or "distributed over Citus meanwhile" in worker.text(), worker.text()
        test_postgres.finish(sluice, twins, cluster.url())
    finally:
        cluster.remove()


def test_distribute_refuses_a_server_without_citus(folder, twins):
    cluster = CitusCluster(folder / "bare")
    try:
        cluster.coordinator.start()
        refused = twins.copy("bare-store").refuses("ledger", "migrate", "--distribute", "--ledger", cluster.url())
        assert "has no Citus" in refused
        cluster.query("CREATE EXTENSION citus")
        cluster.query("SELECT citus_remove_node(nodename, nodeport) FROM pg_dist_node")
        refused = twins.copy("bare-store").refuses("ledger", "migrate", "--distribute", "--ledger", cluster.url())
        assert "citus_set_coordinator_host" in refused
    finally:
        cluster.remove()


# ---- The suite of the ledger ----------------------------------------------------------------------


def test_the_suite_of_the_ledger(cluster):
    """Runs every rule on this cluster; the skipped tests create databases of their own."""
    done = subprocess.run(
        [str(paths.BUILD / "tests" / "ledger_test"), "--gtest_filter=*Postgres*:-*/PostgresSpread*"],
        env={**os.environ, "SLUICE_TEST_LEDGER": cluster.url()}, capture_output=True, text=True, check=False,
        timeout=3600)
    assert done.returncode == 0, done.stdout[-5000:]
    skipped = {line.split()[3].split(".")[0] for line in done.stdout.splitlines() if line.startswith("[  SKIPPED ]")
               and "listed below" not in line}
    assert skipped <= {"PostgresDamage", "PostgresEarlierFormat", "PostgresSpread", "PostgresDistribute",
                       "Both/PostgresAccounts"}, skipped
    print(done.stdout[done.stdout.rfind("[==========]"):].split("\n\n")[0])


# ---- Trouble --------------------------------------------------------------------------------------


def test_doctor_proves_that_the_gate_blocks_and_the_figures_agree(cluster, twins):
    sluice, worker = begun(twins, cluster, "doctor")
    while applied(cluster) < INPUTS:  # also in the middle: what it reads is of one moment
        told = sluice.run("doctor")
        assert "PROBLEM" not in told.stdout.upper(), told.stdout
    assert "writer lock" in sluice.run("doctor").stdout
    finished(twins, cluster, sluice, worker)


def test_a_machine_that_is_killed_under_a_running_worker(cluster, twins):
    """Nothing is applied without it, and nothing is lost."""
    sluice, worker = begun(twins, cluster, "machine")
    cluster.machines[1].kill()
    worker.expect("retrying")
    stopped_at = applied(cluster)
    assert stopped_at < INPUTS and worker.process.poll() is None
    cluster.machines[1].start()
    finished(twins, cluster, sluice, worker)


def test_the_coordinator_is_killed_between_the_two_phases_of_a_commit(cluster, twins):
    """Its commit is on disk, and the machines have not received it: no batch is applied until they have."""
    cluster.coordinator.set("citus.recover_2pc_interval", "-1")
    sluice, worker = begun(twins, cluster, "phases")
    cluster.coordinator.set("synchronous_standby_names", "nobody")
    paths.wait_until(lambda: cluster.query("SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND "
                                           "application_name = 'sluice writer'"), "a batch's commit that waits")
    assert prepared(cluster) == 2
    cluster.coordinator.kill()
    worker.expect("retrying")
    (cluster.coordinator.data / "postgresql.auto.conf").write_text("citus.recover_2pc_interval = -1\n")
    cluster.coordinator.start()
    worker.expect("has not finished a transaction that was committed")
    stopped_at = applied(cluster)
    assert prepared(cluster) >= 2 and stopped_at < INPUTS
    assert "has not finished" in sluice.refuses("report", "orders", "--ledger", cluster.url())
    assert int(cluster.query("SELECT recover_prepared_transactions()")[0][0]) >= 2
    worker.expect("were applied")
    finished(twins, cluster, sluice, worker)


def test_an_earlier_session_waits_for_an_unfinished_commit_of_a_machine(cluster, twins):
    """As another node's command leaves it when a machine fails between the two phases."""
    sluice, worker = begun(twins, cluster, "before")
    machine = cluster.machines[1]
    shard = cluster.query("SELECT shardid FROM pg_dist_shard WHERE logicalrelid = 'sluice_ledger.heads'::regclass")[0][0]
    machine.query(f"SET citus.enable_manual_changes_to_shards = on; SET lock_timeout = '20s'; BEGIN; "
                  f"UPDATE sluice_ledger.heads_{shard} SET applied_seq = applied_seq; "
                  "PREPARE TRANSACTION 'by_hand'")
    # Not the checkpoint at the end of a batch, which has more columns.
    paths.wait_until(lambda: machine.query(
        "SELECT 1 FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE NOT granted AND query LIKE "
        "'%SET applied_seq = %' AND query NOT LIKE '%last_received_s%'"), "the next batch to wait behind the gate")
    stopped_at = applied(cluster)
    assert stopped_at < INPUTS and worker.process.poll() is None
    machine.query("ROLLBACK PREPARED 'by_hand'")
    finished(twins, cluster, sluice, worker)


class CitusFleet:
    """Three edges on one cluster."""

    def __init__(self, cluster):
        self.database = cluster
        self.nodes = [Node(f"edge{number}", ledger=cluster.url()) for number in (1, 2, 3)]
        self.secret = found(self.nodes)

    def close(self):
        close_all([node.close for node in self.nodes])


class CitusFaults(Faults):
    def kill_worker(self, node):
        node.kill_worker()
        self.pause(0.2)
        node.start_worker()

    def _crash(self, server):
        server.stop(signal.SIGQUIT)
        self.pause(0.5)
        server.start()

    def crash_machine(self, _):
        self._crash(self.chance.choice(self.fleet.database.machines))

    def crash_coordinator(self, _):
        self._crash(self.fleet.database.coordinator)


def test_three_edges_write_at_once_while_machines_crash(cluster):
    seed = int(os.environ.get("SLUICE_SEED", "8"))
    fleet = CitusFleet(cluster)
    try:
        fleet.nodes[0].post_products(fleet.secret)
        fleet.nodes[0].import_all()
        wait_until_applied(fleet.nodes)
        weather(fleet, history.make(seed, 60, 6), seed,
                CitusFaults(fleet, seed, ["kill_worker", "crash_machine", "crash_coordinator"]))
    finally:
        fleet.close()
