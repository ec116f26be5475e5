"""A PostgreSQL cluster as it is deployed: Patroni and etcd, HAProxy and PgBouncer in front.

Each server has a network namespace of its own (fleet.network), and so have etcd and the proxies. All
of it is Debian's; what is started here is stopped here, by its process id.
"""

import json
import os
import pathlib
import shutil
import signal
import subprocess

from harness import paths
from harness.postgres import AS_POSTGRES, PROGRAMS

TOOLS = {"etcd": "etcd-server", "patroni": "patroni", "haproxy": "haproxy", "pgbouncer": "pgbouncer"}
# Patroni's leader key: who cannot renew it for so long is primary no more.
TTL = 8


def missing():
    """Why no cluster can run here; None if one can."""
    lacking = [package for tool, package in TOOLS.items() if not shutil.which(tool, path=PATH)]
    if lacking:
        return f"no {', '.join(lacking)}: scripts/install-deps more installs them"
    return None


PATH = os.environ.get("PATH", "") + ":/usr/sbin"

PATRONI = """\
scope: fleet
name: {name}
restapi: {{listen: "{address}:8008", connect_address: "{address}:8008"}}
etcd3: {{hosts: "{dcs}:2379"}}
bootstrap:
  dcs:
    ttl: {ttl}
    loop_wait: 1
    retry_timeout: 3
    maximum_lag_on_failover: 1048576
    synchronous_mode: {synchronous}
    synchronous_mode_strict: {synchronous}
    postgresql:
      use_pg_rewind: true
      parameters: {{max_connections: 80, wal_keep_size: 256MB}}
  initdb: [{{encoding: UTF8}}, {{locale: C}}, no-sync]
postgresql:
  listen: "{address}:5432"
  connect_address: "{address}:5432"
  bin_dir: {programs}
  data_dir: {folder}/data
  pgpass: {folder}/pgpass
  use_unix_socket: true
  parameters: {{unix_socket_directories: "{folder}", fsync: "off", log_min_messages: warning}}
  pg_hba: [local all all trust, host all all 0.0.0.0/0 trust, host replication all 0.0.0.0/0 trust]
  authentication:
    superuser: {{username: postgres}}
    replication: {{username: replicator}}
    rewind: {{username: postgres}}
watchdog: {{mode: "off"}}
"""

HAPROXY = """\
global
    maxconn 500
defaults
    mode tcp
    timeout connect 3s
    timeout client 1h
    timeout server 1h
    timeout check 1s
listen primary
    bind *:5000
    option httpchk OPTIONS /primary
    http-check expect status 200
    default-server inter {every} fall {fall} rise 1 on-marked-down shutdown-sessions
{servers}
"""

PGBOUNCER = """\
[databases]
* = host=127.0.0.1 port=5000 user=postgres
[pgbouncer]
listen_addr = *
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = {mode}
default_pool_size = 20
server_login_retry = 1
server_reset_query = {reset}
ignore_startup_parameters = extra_float_digits
"""


class Program:
    """One process with a log, in a namespace."""

    def __init__(self, folder, name, inside, command, environment=None):
        self.name, self.inside, self.command = name, inside, [str(word) for word in command]
        self.log = pathlib.Path(folder) / f"{name}.log"
        self.environment = environment
        self.process = None

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", *self.inside, *self.command], stdout=log, stderr=log, cwd="/",
                env={**os.environ, "PATH": PATH, **(self.environment or {})},
            )
        return self

    def send(self, number):
        self.process.send_signal(number)

    def stop(self, number=signal.SIGTERM):
        if self.process is None:
            return
        self.send(signal.SIGCONT)
        self.send(number)
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process = None


class Member:
    """One PostgreSQL and the Patroni that runs it."""

    def __init__(self, cluster, name):
        self.cluster, self.name = cluster, name
        self.address = cluster.network.address(name)
        self.inside = cluster.network.inside(name)
        self.folder = cluster.folder / name
        self.folder.mkdir()
        self.conf = self.folder / "patroni.yml"
        self.conf.write_text(PATRONI.format(
            name=name, address=self.address, dcs=cluster.network.address("dcs"), ttl=TTL,
            programs=PROGRAMS, folder=self.folder, synchronous=str(cluster.synchronous).lower()))
        if AS_POSTGRES:
            for path in (self.folder, self.conf):
                shutil.chown(path, "postgres", "postgres")
        self.patroni = Program(cluster.folder, f"patroni-{name}", self.inside,
                               [*AS_POSTGRES, "/usr/bin/python3", "/usr/bin/patroni", self.conf])

    def rest(self, path="/patroni", post=None):
        """(status, body) of Patroni's REST API; (0, "") if it does not answer."""
        command = [*self.cluster.network.inside("hub"), "curl", "-s", "-m", "15", "-w", "\n%{http_code}",
                   f"http://{self.address}:8008{path}"]
        if post is not None:
            command += ["-X", "POST", "-d", json.dumps(post)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        body, _, code = done.stdout.rpartition("\n")
        return int(code or 0), body

    def is_primary(self):
        return self.rest("/primary")[0] == 200

    def postmaster(self):
        return int((self.folder / "data" / "postmaster.pid").read_text().split()[0])

    def query(self, sql, database):
        """On this server, past its network."""
        done = subprocess.run(
            [str(PROGRAMS / "psql"), "-h", str(self.folder), "-U", "postgres", "-d", database, "-XAtq",
             "-F", "\x1f", "-v", "ON_ERROR_STOP=1", "-c", sql],
            capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == 0, f"{self.name}: {done.stderr}"
        return [line.split("\x1f") for line in done.stdout.splitlines()]

    def kill(self):
        """Server and Patroni at once, as when the machine stops."""
        pid = self.postmaster()
        children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        self.patroni.send(signal.SIGKILL)
        for victim in (pid, *map(int, children)):
            try:
                os.kill(victim, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.patroni.process.wait()
        self.patroni.process = None
        paths.wait_until(lambda: not paths.alive(pid), f"{self.name} to be gone")

    def remove(self):
        pid = None
        try:
            pid = self.postmaster()
        except (OSError, IndexError, ValueError):
            pass
        self.patroni.stop(signal.SIGKILL)
        if pid is not None and paths.alive(pid):
            os.kill(pid, signal.SIGQUIT)
            paths.wait_until(lambda: not paths.alive(pid), f"{self.name} to end")


class Cluster:
    """@param network  With the namespaces `dcs`, `proxy` and those of the members.
    @param check_every, check_fall  How late HAProxy sees that a primary is one no more."""

    database = "sluice"

    def __init__(self, network, members, synchronous=True, check_every="500ms", check_fall=2):
        self.network, self.synchronous = network, synchronous
        self.check_every, self.check_fall = check_every, check_fall
        self.folder = paths.make_folder()
        self.members = []
        dcs = network.address("dcs")
        self.etcd = Program(self.folder, "etcd", network.inside("dcs"), [
            "etcd", "--name", "dcs", "--data-dir", self.folder / "etcd", "--unsafe-no-fsync",
            "--listen-client-urls", f"http://{dcs}:2379", "--advertise-client-urls", f"http://{dcs}:2379",
            "--listen-peer-urls", f"http://{dcs}:2380", "--initial-advertise-peer-urls", f"http://{dcs}:2380",
            "--initial-cluster", f"dcs=http://{dcs}:2380"])
        self.proxies = []
        try:
            self.etcd.start()
            self.members = [Member(self, name) for name in members]
            self.members[0].patroni.start()
            self._start_proxies()
            paths.wait_until(self.primary, "the first primary\n" + str(self.folder), 60)
            for member in self.members[1:]:
                member.patroni.start()
            paths.wait_until(self.is_whole, f"all members to stream: {self.folder}", 90)
        except BaseException:
            self.remove()
            raise

    def _start_proxies(self):
        inside = self.network.inside("proxy")
        conf = self.folder / "haproxy.cfg"
        conf.write_text(HAPROXY.format(every=self.check_every, fall=self.check_fall, servers="\n".join(
            f"    server {member.name} {member.address}:5432 check port 8008" for member in self.members)))
        self.proxies = [Program(self.folder, "haproxy", inside, ["haproxy", "-db", "-f", conf]).start()]
        for name, port, mode, reset in (
                ("session", 6432, "session", "DISCARD ALL"), ("transaction", 6433, "transaction", ""),
                ("statement", 6434, "statement", ""), ("leaking", 6435, "session", "")):
            conf = self.folder / f"pgbouncer-{name}.ini"
            conf.write_text(PGBOUNCER.format(port=port, mode=mode, reset=reset))
            conf.chmod(0o644)
            self.proxies.append(Program(self.folder, f"pgbouncer-{name}", inside,
                                        [*AS_POSTGRES, "pgbouncer", conf]).start())

    def primary(self):
        """The member that is primary by its own word; None."""
        return next((member for member in self.members if member.is_primary()), None)

    def is_whole(self):
        primary = self.primary()
        if primary is None:
            return False
        try:
            rows = primary.query("SELECT state FROM pg_stat_replication", "postgres")
        except AssertionError:  # it is stepping down
            return False
        code, words = primary.rest("/cluster")
        roles = [member["role"] for member in json.loads(words)["members"]] if code == 200 else []
        in_sync = not self.synchronous or "sync_standby" in roles
        return rows == [["streaming"]] * (len(self.members) - 1) and in_sync

    def wait_whole(self):
        paths.wait_until(self.is_whole, f"the cluster to be whole: {self.folder}", 120)

    def wait_primary(self, other_than=None):
        def found():
            primary = self.primary()
            return primary if primary is not None and primary is not other_than else None
        return paths.wait_until(found, f"a primary: {self.folder}", 90)

    def query(self, sql, database=None):
        return self.wait_primary().query(sql, database or self.database)

    def url(self, *members, port=None, options=""):
        """Returns the URL of these members, of all, or (with a port) of a proxy."""
        if port:
            return f"postgres://postgres@{self.network.address('proxy')}:{port}/{self.database}{options}"
        hosts = ",".join(member.address for member in members or self.members)
        return f"postgres://postgres@{hosts}/{self.database}{options}"

    def create(self):
        self.query(f"CREATE DATABASE {self.database} ENCODING UTF8 TEMPLATE template0", "postgres")

    # Trouble --------------------------------------------------------------------------------------

    def switch_over(self):
        leader = self.primary()
        code, words = leader.rest("/switchover", {"leader": leader.name})
        assert code in (200, 202), words
        return leader, self.wait_primary(leader)

    def isolate(self, member, also=("proxy",)):
        """From etcd, the other members and the proxies; clients still reach it."""
        for name in ("dcs", *also, *(m.name for m in self.members if m is not member)):
            self.network.drop_between(member.name, name)

    def rejoin(self, member):
        self.network.heal_drop(member.name)

    def remove(self):
        for proxy in self.proxies:
            proxy.stop(signal.SIGKILL)
        for member in self.members:
            member.remove()
        self.etcd.stop(signal.SIGKILL)
        paths.drop_folder(self.folder)
