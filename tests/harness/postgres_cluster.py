"""Real PostgreSQL clusters for tests: started, stopped, killed, with standbys that follow."""

import os
import pathlib
import pwd
import shutil
import signal
import subprocess

from harness import paths

PROGRAMS = pathlib.Path(os.environ.get("SLUICE_PG_BIN", "/usr/lib/postgresql/15/bin"))


def _as_postgres():
    """PostgreSQL refuses to run as root."""
    return {"user": "postgres", "group": "postgres", "extra_groups": []} if os.getuid() == 0 else {}


class Cluster:
    """One server with a data folder and a Unix socket of its own; durable as shipped."""

    def __init__(self, folder, name="primary", network=None):
        self.folder = pathlib.Path(folder) / name
        self.data = self.folder / "data"
        self.log = self.folder / "log"
        self.network = network  # (namespace, address) of a server that listens on TCP
        self.process = None
        self.folder.mkdir()
        if os.getuid() == 0:
            user = pwd.getpwnam("postgres")
            os.chown(self.folder, user.pw_uid, user.pw_gid)

    # Making --------------------------------------------------------------------------------------

    def program(self, name, *arguments):
        return subprocess.run([str(PROGRAMS / name), *map(str, arguments)], check=True, text=True,
                              capture_output=True, cwd="/", timeout=120, **_as_postgres())

    def create(self):
        self.program("initdb", "-D", self.data, "-A", "trust", "-U", "sluice", "-E", "UTF8",
                     "--no-locale", "--no-instructions", "--no-sync")
        with open(self.data / "pg_hba.conf", "a") as hba:
            hba.write("host all all 0.0.0.0/0 trust\n")
        return self

    def follow(self, primary):
        """A copy of a running primary that streams from it, under the name of its folder."""
        self.program("pg_basebackup", "-D", self.data, "-h", primary.folder, "-U", "sluice", "-R",
                     "-X", "stream", "-c", "fast")
        with open(self.data / "postgresql.auto.conf", "a") as conf:
            conf.write(f"primary_conninfo = 'host={primary.folder} user=sluice "
                       f"application_name={self.folder.name}'\n")
        return self

    # Running -------------------------------------------------------------------------------------

    def start(self, **settings):
        settings.setdefault("listen_addresses", "*" if self.network else "")
        words = [str(PROGRAMS / "postgres"), "-D", str(self.data), "-k", str(self.folder)]
        for name, value in settings.items():
            words += ["-c", f"{name}={value}"]
        if self.network:
            words = ["ip", "netns", "exec", self.network[0], "setpriv", "--reuid=postgres",
                     "--regid=postgres", "--clear-groups", "--", *words]
        with open(self.log, "a") as log:
            self.process = subprocess.Popen(words, stdout=log, stderr=log, cwd="/",
                                            **({} if self.network else _as_postgres()))
        paths.wait_until(self._answers, f"PostgreSQL to start (see {self.log})")
        return self

    def _answers(self):
        return subprocess.run([str(PROGRAMS / "pg_isready"), "-q", "-h", str(self.folder)],
                              check=False).returncode == 0

    def stop(self, number=signal.SIGINT):
        if self.process is not None:
            self.process.send_signal(number)
            self.process.wait(60)
            self.process = None

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
        self.program("pg_ctl", "promote", "-w", "-D", self.data)

    def remove(self):
        self.stop(signal.SIGQUIT)
        shutil.rmtree(self.folder, ignore_errors=True)

    # Using ---------------------------------------------------------------------------------------

    @property
    def url(self):
        if self.network:
            return f"postgres://sluice@{self.network[1]}/postgres"
        return f"postgres://sluice@/postgres?host={self.folder}"

    def sql(self, text):
        """The rows of a statement as lists of texts."""
        words = [str(PROGRAMS / "psql"), "-h", str(self.folder), "-U", "sluice", "-d", "postgres",
                 "-X", "-q", "-A", "-t", "-F", "\t", "-v", "ON_ERROR_STOP=1", "-c", text]
        result = subprocess.run(words, check=True, text=True, capture_output=True, timeout=60)
        return [line.split("\t") for line in result.stdout.splitlines()]

    def set(self, name, value):
        """Changes a setting of the running server."""
        with open(self.data / "postgresql.auto.conf", "a") as conf:
            conf.write(f"{name} = '{value}'\n")
        self.process.send_signal(signal.SIGHUP)
        paths.wait_until(lambda: self.sql(f"SHOW {name}") == [[value]] or
                         (value == "" and self.sql(f"SHOW {name}") in ([], [[""]])),
                         f"{name} to be {value!r}")

    def waiting_commits(self):
        """Sessions whose COMMIT waits for a standby."""
        return int(self.sql("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
                   [0][0])
