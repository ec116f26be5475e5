"""A coordinator and machines of Citus, on Unix sockets in folders of their own.

SLUICE_CITUS names the folder of PostgreSQL's programs that know Citus (scripts/test-citus builds it).
"""

import os
import pathlib

from harness.postgres_cluster import Cluster

# In the file: what a test changes later counts.
SETTINGS = """
shared_preload_libraries = 'citus'
max_connections = 200
max_prepared_transactions = 400
fsync = off
citus.shard_count = 8
citus.node_conninfo = 'sslmode=disable'
citus.recover_2pc_interval = 1s
citus.enable_statistics_collection = off
"""


def missing():
    """Why no cluster can run here; None if one can."""
    if not os.environ.get("SLUICE_CITUS"):
        return "CITUS_SOURCE=DIR make test-citus builds Citus and runs this"
    return None


class CitusServer(Cluster):
    programs = pathlib.Path(os.environ.get("SLUICE_CITUS", "/none"))

    def _initialize(self):
        super()._initialize()
        with open(self.data / "postgresql.conf", "a") as conf:
            conf.write(SETTINGS)


class CitusCluster:
    """In a folder that it makes. Every server has the database `postgres` with the extension; create() makes more."""

    def __init__(self, folder, machines=2):
        pathlib.Path(folder).mkdir()
        self.coordinator = CitusServer(folder, "coordinator")
        self.machines = [CitusServer(folder, f"machine{number}") for number in range(machines)]

    @property
    def all(self):
        return [self.coordinator, *self.machines]

    def start(self):
        for server in self.all:
            server.start()
        self._join("postgres")
        return self

    def create(self, database):
        for server in self.all:
            server.query(f"CREATE DATABASE {database}", "postgres")
        self._join(database)
        return self.coordinator.url(database)

    def _join(self, database):
        for server in self.all:
            server.query("CREATE EXTENSION citus", database)
        self.query(f"SELECT citus_set_coordinator_host('{self.coordinator.folder}')", database)
        for machine in self.machines:
            self.query(f"SELECT citus_add_node('{machine.folder}', 5432)", database)

    def url(self, database=None):
        return self.coordinator.url(database)

    def query(self, sql, database=None):
        return self.coordinator.query(sql, database)

    def remove(self):
        for server in self.all:
            server.remove()
