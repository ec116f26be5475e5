"""A site: nginx, a sluice worker and a load client, each of which may be killed at any time."""

import os
import signal
import subprocess
import sys
import time

from crash import oracle
from faults.shim import JITTER, NGINX, Shim
from harness import paths
from harness.edge import Edge, children

CONFIG = """
    sluice_store @STORE@ map_size=@MAP@ thread_pool=sluice offload_pool=offload;
    sluice_rate_limit off;

    server {
        listen 127.0.0.1:@PORT@;
        client_max_body_size 1m;
        location = /event/ecomm { sluice_ingest events; }
        location = /product-data { sluice_ingest catalog; }
        location /sluice/ { sluice_status; }
        location = /which { return 204; }
    }
"""
PROGRAM = """
[[program]]
id = "crash-program"
account = "acme"
window_days = 30
base = "net"
precedence = ["AFFILIATE_CODE"]
clearing_days = 0
default_rate = "10%"
late_days = 36500
"""
SEED = os.environ.get("SLUICE_SEED", "123")


class Site:
    """`shim` (faults.shim.build()) is under nginx and the sluice worker if it is given."""

    def __init__(self, threads, shim=None, main="", map_size="4g", store=None, **edge_options):
        self.edge = Edge(CONFIG.replace("@MAP@", map_size), main, store=store, **edge_options)
        self.sluice = self.edge.sluice
        if store:
            self.sluice("init")
        self.sluice.account("acme")
        self.shop = self.sluice.shop("crash-shop", "acme")
        _, secret = self.sluice.token("acme", "write_orders", "write_products")
        self.secret = self.edge.folder / "secret"
        self.secret.write_text(secret)
        self._set_up_program()
        self.journal = self.edge.folder / "journal"
        self.journal.touch()
        self.threads = threads
        self.sluice_worker = self.client = None
        self.injected = {}
        self.shim = shim and Shim(shim, self.edge.folder)
        self.environment = self.shim.environment(self.edge.store) if shim else {}
        self.edge.environment = self.environment

    def _set_up_program(self):
        program = self.edge.folder / "program.toml"
        program.write_text(PROGRAM)
        self.sluice("program", "apply", program)
        creators = self.edge.folder / "creators.csv"
        creators.write_text("creator_id,program_id,code\ncrash-creator,crash-program,CRASH\n")
        self.sluice("creator", "import", creators)

    def start(self, fresh=False):
        self.edge.start()
        self.start_sluice_worker()
        self.start_client(fresh)
        paths.wait_until(lambda: self.acked() > 8, "some load")

    def start_client(self, fresh=False):
        client = os.path.join(os.path.dirname(__file__), "load_client.py")
        self.client = subprocess.Popen(
            [sys.executable, client, str(self.edge.port), self.shop, str(self.secret),
             str(self.journal), SEED, str(self.threads)],
            env={**os.environ, "LOAD_FRESH": "1" if fresh else "0"},
        )

    def start_sluice_worker(self):
        environment = {**self.sluice.environment, **self.environment}
        with open(self.edge.folder / "sluice_worker.log", "ab") as log:
            self.sluice_worker = subprocess.Popen(
                [str(paths.SLUICE), "worker"], env=environment, stdout=log, stderr=log
            )

    def acked(self):
        return self.journal.read_bytes().count(b"A ")

    def count(self, what):
        self.injected[what] = self.injected.get(what, 0) + 1

    def slow_commits(self, milliseconds):
        """Every write and sync that makes data durable takes up to as long."""
        self.shim.arm(["SYNC", "META"], JITTER, roles=NGINX, sticky=True, delay_ms=milliseconds)

    # Faults -------------------------------------------------------------------------------------

    def kill_worker(self, chance):
        workers = [pid for pid, title in children(self.edge.master) if "worker process" in title]
        if workers:
            os.kill(chance.choice(workers), signal.SIGKILL)
            self.count("worker")

    def kill_sluice_worker(self, chance):
        self.sluice_worker.kill()
        self.sluice_worker.wait()
        self.count("sluice worker")
        time.sleep(chance.random() * 0.2)
        self.start_sluice_worker()

    def kill_master(self, chance):
        """The orphaned workers keep serving until they are killed as well."""
        os.kill(self.edge.master, signal.SIGSTOP)  # else it may start a worker that the list does not have
        workers = [pid for pid, _ in children(self.edge.master)]
        self.edge.process.kill()
        self.edge.process.wait()
        time.sleep(chance.random() * 0.3)
        for pid in workers:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        paths.wait_until(lambda: not any(map(paths.alive, workers)), "workers to go")
        self.count("master")
        # A killed worker's threads may hold its sockets a little longer; nginx tries again for 2.5 s.
        self.edge.expect_log(r"\[emerg\].* bind\(\) to .* failed \(98: Address already in use\)")
        self.edge.start()

    def reload(self, _):
        self.edge.send_signal(signal.SIGHUP)
        self.count("reload")

    # The end ------------------------------------------------------------------------------------

    def finish(self):
        if self.shim:
            self.shim.disarm_point()
        if self.edge.master is None or not paths.alive(self.edge.master):
            self.edge.start()
        if self.client:
            self.client.terminate()
            assert self.client.wait(timeout=60) == 0
        if self.sluice_worker:
            self.sluice_worker.terminate()
            # it may have started just now, or was killed at a point
            assert self.sluice_worker.wait(timeout=60) in (0, -signal.SIGTERM, -signal.SIGKILL)
        if self.shim:
            self.shim.disarm()
        self.sluice.drain()
        verdict = oracle.judge(self.journal, SEED, self.sluice, self.shop)
        stats = self.sluice.stats()
        assert stats["depth"] == 0, stats
        print(f"\nseed {SEED} injected {self.injected}\n{verdict}")
        self.sweep(verdict)
        return verdict

    def sweep(self, verdict):
        """A body whose record was never written is an orphan: at most one for a request that got no
        answer. The files of records that were applied went with them. Once they are old, they go."""
        bulk = self.edge.store / "queue" / "bulk"
        orphans = list(bulk.iterdir())
        print(f"orphaned bulk files {len(orphans)}")
        assert len(orphans) <= verdict.indoubt
        for path in orphans:
            os.utime(path, (0, 0))
        self.sluice.drain()
        assert not list(bulk.iterdir()), "orphaned bulk files were not swept"

    def clean(self):
        for process in (self.client, self.sluice_worker):
            if process is not None and process.poll() is None:
                process.kill()
                process.wait()
