"""A PostgreSQL of the test's own: it starts it, stops it, and leaves nothing behind."""

import fcntl
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile

from harness import paths

# The oldest release that is installed: 15 on Debian 12, 17 on Debian 13.
PROGRAMS = min(pathlib.Path("/usr/lib/postgresql").glob("[0-9]*/bin"), default=pathlib.Path("/usr/lib/postgresql/15/bin"))
QUICK = ("fsync=off", "max_connections=60")
# PostgreSQL refuses to run as root.
AS_POSTGRES = (
    ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] if os.geteuid() == 0 else []
)


def missing():
    """Why no server can run here; None if one can."""
    if not (PROGRAMS / "postgres").exists():
        return f"no {PROGRAMS}/postgres: scripts/install-deps test installs it"
    return None


class Server:
    """Use as a context manager, or start() and remove().

    @param inside    Words in front of every command: those that enter a network namespace.
    @param address   To listen on beside the Unix socket, with `network` (CIDR) let in.
    @param settings  name=value of the server; without QUICK it is as durable as shipped.
    @param folder    A new one below /tmp by default.
    """

    database = "sluice"
    programs = PROGRAMS

    def __init__(self, inside=(), address="", network="", settings=QUICK, folder=None):
        self.folder = pathlib.Path(folder or tempfile.mkdtemp(prefix="sluice-pg-", dir="/tmp"))
        self.folder.mkdir(exist_ok=True)
        if AS_POSTGRES:
            shutil.chown(self.folder, "postgres", "postgres")
        self.inside, self.address, self.network = list(inside), address, network
        self.settings = settings
        self.process = None
        self.data = self.folder / "data"

    def _initialize(self):
        """A copy of one new database for all servers: initdb takes a second of processor."""
        made = paths.BUILD / f"postgres-{self.programs.parent.name}"
        with open(made.with_suffix(".lock"), "w", encoding="ascii") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not made.exists():
                self._run(
                    "initdb", "-D", self.data, "-A", "trust", "-U", "sluice", "-E", "UTF8", "--no-locale",
                    "--no-sync", "--no-instructions",
                )
                unfinished = made.with_suffix(".new")
                shutil.rmtree(unfinished, ignore_errors=True)
                paths.copy_folder(self.data, unfinished)
                unfinished.rename(made)
            else:
                paths.copy_folder(made, self.data)
        if self.network:
            with open(self.data / "pg_hba.conf", "a") as rules:
                rules.write(f"host all all {self.network} trust\n")

    def _run(self, program, *arguments):
        done = subprocess.run(
            [*self.inside, *AS_POSTGRES, str(self.programs / program), *map(str, arguments)],
            capture_output=True, text=True, check=False, cwd="/", timeout=120,
        )
        assert done.returncode == 0, f"{program}: {done.stdout}{done.stderr}"
        return done.stdout

    def start(self):
        if not self.data.exists():
            self._initialize()
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen(
                [*self.inside, *AS_POSTGRES, str(self.programs / "postgres"), "-D", str(self.data),
                 "-k", str(self.folder), "-h", self.address,
                 *[word for setting in self.settings for word in ("-c", setting)]],
                stdout=log, stderr=log, cwd="/",
            )
        paths.wait_until(self._answers, "PostgreSQL to start: " + str(self.folder / "log"))
        return self

    def _answers(self):
        """Whether the server's own file says so: pg_isready would be a process for each question."""
        assert self.process.poll() is None, (self.folder / "log").read_text()[-2000:]
        try:
            pid, *_, status = (self.data / "postmaster.pid").read_text().splitlines()
        except (FileNotFoundError, ValueError):
            return False
        return status.strip() in ("ready", "standby") and paths.alive(pid)  # a server that was killed left its file

    def stop(self, number=signal.SIGINT):
        """SIGINT: fast; SIGQUIT: at once, as after a crash."""
        if self.process is not None:
            self.process.send_signal(number)
            self.process.wait(timeout=paths.DEADLINE)
            self.process = None

    def url(self, database=None):
        database = database or self.database
        if self.address:
            return f"postgres://sluice@{self.address}/{database}"
        return f"postgres://sluice@/{database}?host={self.folder}"

    def create(self, database=None):
        database = database or self.database
        self.query(f"CREATE DATABASE {database}", database="postgres")
        return self.url(database)

    def query(self, sql, database=None):
        """Rows as lists of texts."""
        done = subprocess.run(
            [str(self.programs / "psql"), "-h", str(self.folder), "-U", "sluice", "-d", database or self.database, "-XAtq",
             "-F", "\x1f", "-v", "ON_ERROR_STOP=1", "-c", sql],
            capture_output=True, text=True, check=False, timeout=60,
        )
        assert done.returncode == 0, done.stderr
        return [line.split("\x1f") for line in done.stdout.splitlines()]

    def __enter__(self):
        return self.start()

    def remove(self):
        try:
            self.stop(signal.SIGQUIT)
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)

    def __exit__(self, *_):
        self.remove()
