"""PostgreSQL servers that are killed, promoted, and followed by standbys."""

import os
import pathlib
import shutil
import signal

from harness import paths
from harness.postgres import Server


class Cluster(Server):
    """As durable as shipped, unless the settings say otherwise, in a folder of its own; the database
    is the one that is always there."""

    database = "postgres"

    def __init__(self, folder, name, inside=(), address="", settings=()):
        super().__init__(inside, address, "0.0.0.0/0" if address else "", settings=settings,
                         folder=pathlib.Path(folder) / name)

    def follow(self, primary):
        """A copy of a running primary that streams from it, under the name of its folder."""
        self._run("pg_basebackup", "-D", self.data, "-h", primary.folder, "-U", "sluice", "-R",
                  "-X", "stream", "-c", "fast", "--no-sync")
        with open(self.data / "postgresql.auto.conf", "a") as conf:
            conf.write(f"primary_conninfo = 'host={primary.folder} user=sluice "
                       f"application_name={self.folder.name}'\n")
        return self

    def start_over(self, primary):
        """Discards its data: it follows another server from now on."""
        shutil.rmtree(self.data)
        return self.follow(primary).start()

    def kill(self):
        """Every process of the server at once, as a power cut would."""
        pids = [self.process.pid, *self._children()]
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.process.wait(60)
        self.process = None
        paths.wait_until(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in pids),
                         "all processes of the server to be gone")
        (self.data / "postmaster.pid").unlink(missing_ok=True)

    def _children(self):
        children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return [int(pid) for pid in children.read_text().split()]

    def promote(self):
        self._run("pg_ctl", "promote", "-w", "-D", self.data)

    def set(self, name, value):
        """Changes a setting of the running server."""
        with open(self.data / "postgresql.auto.conf", "a") as conf:
            conf.write(f"{name} = '{value}'\n")
        self.process.send_signal(signal.SIGHUP)
        paths.wait_until(lambda: self.query(f"SHOW {name}") == [[value]] or
                         (value == "" and self.query(f"SHOW {name}") in ([], [[""]])),
                         f"{name} to be {value!r}")

    def waiting_commits(self):
        """Sessions whose COMMIT waits for a standby."""
        return int(self.query("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
                   [0][0])
