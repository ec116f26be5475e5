"""One edge of a fleet: nginx, store and worker in a network namespace of their own."""

import os
import signal
import socket
import subprocess

from fleet import history
from harness import cli, http1, paths, sign
from harness.edge import Edge, children

# Clients come through a Unix socket: it works whatever happens to the node's network.
CONFIG = """
    sluice_store @STORE@ map_size=1g thread_pool=sluice offload_pool=offload;
    sluice_rate_limit off;
    server {
        listen unix:@DIR@/edge.sock;
        client_max_body_size 1m;
        add_header X-Receipt $sluice_receipt;
        location = /event/ecomm { sluice_ingest events; }
        location = /product-data { sluice_ingest catalog; }
    }
"""


class NodeEdge(Edge):
    """nginx in a namespace."""

    def __init__(self, inside, clock):
        self.inside = inside
        environment = clock.environment if clock else {}
        super().__init__(CONFIG, main=clock.nginx_lines if clock else "", environment=environment)
        self.expect_log("exited on signal 9")

    @property
    def socket_path(self):
        return str(self.folder / "edge.sock")

    def command(self, *arguments):
        return [*self.inside, *super().command(*arguments)]

    def _serving(self):
        if self.process.poll() is not None:
            raise AssertionError(f"nginx exited {self.process.returncode}: {self.log()}")
        try:
            with socket.socket(socket.AF_UNIX) as probe:
                probe.connect(self.socket_path)
        except OSError:
            return False
        pid = self.folder / "nginx.pid"
        return pid.exists() and pid.read_text().strip() != ""

    def connect(self, timeout=None):
        return http1.Connection(self.socket_path, timeout)

    def kill_all(self):
        """As when the machine stops: master and workers at once."""
        os.kill(self.master, signal.SIGSTOP)  # else it may start a worker that the list lacks
        pids = [pid for pid, _ in children(self.master)]
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        self.process.kill()
        self.process.wait()
        paths.wait_until(lambda: not any(paths.alive(pid) for pid in pids), "nginx workers to be gone")
        self.master = None
        os.unlink(self.socket_path)


class Node:
    """@param inside  Words that enter its namespace; none for the single node outside the fleet.
    @param ledger  URL of the shared ledger; None for one of its own.
    @param clock  A FakeTime of all its processes; None for the machine's clock."""

    def __init__(self, name, inside=(), ledger=None, clock=None):
        self.name, self.inside = name, list(inside)
        self.edge = NodeEdge(self.inside, clock)
        self.sluice = cli.Sluice(self.edge.store, clock.environment if clock else None)
        self.sluice.prefix = self.inside
        self.ledger = ["--ledger", ledger] if ledger else []
        self.worker = None
        self.kills = self.cuts = 0

    @property
    def uuid(self):
        """Returns the UUID of its queue, by which the ledger names the node."""
        dump = subprocess.run(
            ["mdb_dump", "-p", str(self.edge.store / "queue")], capture_output=True, text=True, check=True
        ).stdout.splitlines()
        return dump[dump.index(" uuid") + 1].strip()

    # Life -----------------------------------------------------------------------------------------

    def start(self):
        self.edge.start()
        self.start_worker()

    def start_worker(self):
        with open(self.edge.folder / "worker.log", "ab") as log:
            self.worker = subprocess.Popen(
                [*self.inside, str(paths.SLUICE), "worker", *self.ledger],
                env=self.sluice.environment, stdout=log, stderr=log,
            )

    def worker_log(self):
        return (self.edge.folder / "worker.log").read_text(errors="replace")

    def kill_worker(self):
        self.worker.kill()
        self.worker.wait()
        self.kills += 1

    def kill_nginx_worker(self, chance):
        os.kill(chance.choice(self.edge.workers()), signal.SIGKILL)
        self.kills += 1

    def kill_everything(self):
        self.kill_worker()
        self.edge.kill_all()

    def close(self):
        try:
            if self.worker is not None:
                self.worker.terminate()
                self.worker.wait(timeout=paths.DEADLINE)
            self.edge.stop()
            self.edge.check_log()
        finally:
            if self.worker is not None:
                self.worker.kill()
                self.worker.wait()
            self.edge.kill()
            paths.drop_folder(self.edge.folder)

    # Requests and reports -------------------------------------------------------------------------

    def post(self, event, secret):
        headers = sign.event_headers(event.shop, secret, event.topic, event.body)
        with self.edge.connect(timeout=20) as connection:
            return connection.request("POST", sign.EVENTS, headers, event.body)

    def post_products(self, secret):
        for shop in history.SHOPS:
            answer = self.edge.post_catalog(
                shop, secret, "PRODUCT_UPSERT", {"products": history.PRODUCTS}, "catalog"
            )
            assert answer.status == 200, answer

    def import_all(self):
        """Programs, creators and clicks: through this node's queue."""
        for words, name, text in (
            (("program", "apply"), "programs.toml", history.PROGRAMS),
            (("creator", "import"), "creators.csv", history.CREATORS),
            (("click", "import"), "clicks.csv", history.CLICKS),
        ):
            file = self.edge.folder / name
            file.write_text(text)
            self.sluice(*words, file, *self.ledger)

    def report(self, kind):
        scope = ["--all-accounts"] if kind in cli.MONEY_REPORTS else []
        return self.sluice("report", kind, "--format", "json", *scope, *self.ledger)

    def stats(self):
        return self.sluice.json("queue", "stats", *self.ledger)
