"""One nginx with the module, its folder and its store."""

import fcntl
import os
import pwd
import re
import signal
import socket
import struct
import subprocess
import time

from harness import cli, http1, paths, sign

MAIN = """\
@USER@
worker_processes @WORKERS@;
daemon @DAEMON@;
pid @DIR@/nginx.pid;
error_log @DIR@/error.log @LEVEL@;
load_module @MODULE@;
thread_pool sluice threads=1 max_queue=65536;
thread_pool offload threads=2 max_queue=64;
@MAIN@
events { worker_connections 2048; }
http {
    access_log off;
    client_body_temp_path @DIR@/body;
    proxy_temp_path @DIR@/proxy;
    fastcgi_temp_path @DIR@/fastcgi;
    uwsgi_temp_path @DIR@/uwsgi;
    scgi_temp_path @DIR@/scgi;
@HTTP@
}
"""

F_OFD_GETLK = 36

# "nginx: worker process"; other builds of nginx give their own name.
WORKER_TITLE = re.compile(r"\w+: worker process")

# Lines that no test may cause unless it says so.
BAD_LOG = re.compile(
    r"\[(alert|emerg|crit)\]|AddressSanitizer|LeakSanitizer|ThreadSanitizer|runtime error:"
    r"|open socket .* left|exited on signal"
)


class Edge:
    """Use as a context manager: it stops by pid, and then reads the log."""

    def __init__(
        self,
        http,
        main="",
        user="root",
        workers=2,
        daemon="off",
        level="info",
        store=None,
        environment=None,
        create=True,
    ):
        for built in (paths.MODULE, paths.SLUICE):
            assert built.exists(), f"not built: {built} (SLUICE_BUILD names the build folder)"
        self.folder = paths.make_folder()
        self.store = store or self.folder / "store"
        self.port = paths.free_port()
        self.port2 = paths.free_port()
        self.user = user
        self.expected_log = []
        self.master = None
        self.daemon = daemon
        self.environment = environment or {}
        self.values = {
            "USER": f"user {user};",
            "WORKERS": str(workers),
            "DAEMON": daemon,
            "LEVEL": level,
            "DIR": str(self.folder),
            "MODULE": str(paths.MODULE),
            "STORE": str(self.store),
            "PORT": str(self.port),
            "PORT2": str(self.port2),
        }
        self.sluice = cli.Sluice(self.store)
        if store is None and create:
            group = ["--group", pwd_group(user)] if user != "root" else []
            self.sluice("init", *group)
        self.configure(http, main)

    # Configuration ------------------------------------------------------------------------------

    @property
    def conf(self):
        return self.folder / "nginx.conf"

    @property
    def error_log(self):
        return self.folder / "error.log"

    def configure(self, http, main=""):
        http = os.environ.get("SLUICE_NGINX_HTTP", "") + http  # lines that a run adds to every http block
        text = MAIN.replace("@HTTP@", http).replace("@MAIN@", main)
        for name, value in self.values.items():
            text = text.replace(f"@{name}@", value)
        left = re.search(r"@[A-Z0-9]+@", text)
        assert not left, f"unknown placeholder {left.group()}"
        self.conf.write_text(text)

    def command(self, *arguments):
        # -e: as in Debian's build; others look for a log below their prefix first.
        return [
            paths.NGINX, "-p", str(self.folder), "-c", str(self.conf), "-e", "stderr", *arguments
        ]

    def nginx_environment(self):
        return {**os.environ, **paths.sanitizer_environment(), **self.environment}

    def test_configuration(self):
        """`nginx -t`: (exit code, what it said)."""
        result = subprocess.run(
            self.command("-t"), capture_output=True, text=True, env=self.nginx_environment()
        )
        return result.returncode, result.stderr + result.stdout

    # Life ---------------------------------------------------------------------------------------

    def start(self):
        (self.folder / "nginx.pid").unlink(missing_ok=True)  # of a master that was killed
        with open(self.folder / "stderr", "ab") as stderr:
            self.process = subprocess.Popen(
                self.command(), stderr=stderr, stdout=stderr, env=self.nginx_environment()
            )
        paths.wait_until(self._serving, "nginx to listen\n" + self.log())
        self.master = int((self.folder / "nginx.pid").read_text())
        return self

    def _serving(self):
        if self.daemon == "off" and self.process.poll() is not None:
            raise AssertionError(f"nginx exited {self.process.returncode}: {self.log()}")
        try:
            socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
        except OSError:
            return False
        pid = self.folder / "nginx.pid"
        return pid.exists() and pid.read_text().strip() != ""

    def wait_until_open(self, lanes=None):
        """Every serving worker has the store open, and its lane."""
        paths.wait_until(lambda: self._lanes_in_use() >= (lanes or int(self.values["WORKERS"])),
                         "the workers to open the store", 180)

    def _lanes_in_use(self):
        count = 0
        for lane in (self.store / "queue" / "lanes").glob("*.lane"):
            with open(lane, "r+b") as file:
                lock = fcntl.fcntl(file, F_OFD_GETLK, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0))
            count += struct.unpack("hhqqi4x", lock)[0] != fcntl.F_UNLCK
        return count

    def log(self):
        parts = []
        for name in ("stderr", "error.log"):
            path = self.folder / name
            parts.append(path.read_text(errors="replace") if path.exists() else "")
        return "".join(parts)

    def workers(self):
        """The pids of the master's children that serve (not those shutting down)."""
        return [
            pid for pid, title in children(self.master) if WORKER_TITLE.match(title)
            and "shutting down" not in title
        ]

    def start_new_binary(self):
        """Sends USR2 and waits for the new master, while the old one keeps serving. Returns the old pid."""
        old = self.master
        os.kill(old, signal.SIGUSR2)
        self.master = paths.wait_until(lambda: self._master_after(old), "the new master")
        return old

    def end_old_binary(self, old):
        os.kill(old, signal.SIGQUIT)
        paths.wait_until(lambda: not paths.alive(old), "the old master to go")

    def _master_after(self, old):
        try:
            text = (self.folder / "nginx.pid").read_text().strip()
        except FileNotFoundError:  # renamed just now
            return None
        return int(text) if text not in ("", str(old)) else None

    def send_signal(self, number):
        os.kill(self.master, number)

    def reload(self):
        """HUP, and wait until every worker of before is gone and new ones serve."""
        before = {pid for pid, _ in children(self.master)}
        self.send_signal(signal.SIGHUP)
        paths.wait_until(
            lambda: not before & {pid for pid, _ in children(self.master)}
            and len(self.workers()) == int(self.values["WORKERS"]),
            "reload to finish",
        )

    def stop(self, number=signal.SIGQUIT):
        if self.master is None:
            return
        self.send_signal(number)
        paths.wait_until(self._gone, "nginx to exit")
        if self.daemon == "off":
            assert self.process.returncode == 0, f"nginx exited {self.process.returncode}"
        self.master = None

    def _gone(self):
        if self.daemon == "off":
            return self.process.poll() is not None
        return not os.path.exists(f"/proc/{self.master}")

    def kill(self):
        """Whatever is left, by pid, after a test went wrong."""
        if self.master is None:
            return
        pids = [self.master, *[pid for pid, _ in children(self.master)]]
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        if self.daemon == "off":
            self.process.wait()
        self.master = None

    def expect_log(self, pattern):
        """The test causes lines like this on purpose."""
        self.expected_log.append(re.compile(pattern))

    def check_log(self):
        bad = [
            line
            for line in self.log().splitlines()
            if BAD_LOG.search(line) and not any(known.search(line) for known in self.expected_log)
        ]
        assert not bad, "error.log: " + "\n".join(bad[:20])

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        try:
            if kind is None:
                self.stop()
                self.check_log()
        finally:
            self.kill()
            if kind is None or not os.environ.get("SLUICE_KEEP"):
                paths.drop_folder(self.folder)
            else:
                print(f"kept: {self.folder}")

    # Requests -----------------------------------------------------------------------------------

    def connect(self, timeout=None):
        return http1.Connection(self.port, timeout)

    def request(self, method, target, headers, body=b"", length=True):
        with self.connect() as connection:
            return connection.request(method, target, headers, body, length)

    def post_event(self, shop, secret, topic, document, connection=None, target=sign.EVENTS):
        body = sign.encode(document)
        headers = sign.event_headers(shop, secret, topic, body)
        if connection is not None:
            return connection.request("POST", target, headers, body)
        return self.request("POST", target, headers, body)

    def post_catalog(
        self, shop, secret, topic, document, key, connection=None, target=sign.CATALOG
    ):
        body = sign.encode(document)
        headers = sign.catalog_headers(shop, secret, topic, body, key)
        if connection is not None:
            return connection.request("POST", target, headers, body)
        return self.request("POST", target, headers, body)

    def connect_to(self, pid, target, tries=400):
        """A kept-alive connection that the worker `pid` serves (the location adds X-Worker)."""
        for _ in range(tries):
            connection = self.connect()
            answer = connection.request("GET", target, [])
            if int(answer.header("X-Worker")) == pid:
                return connection
            connection.close()
        raise AssertionError(f"no connection reached worker {pid}")


def pwd_group(user):
    import grp

    return grp.getgrgid(pwd.getpwnam(user).pw_gid).gr_name


def children(parent):
    """(pid, command line) of the processes whose parent is `parent`."""
    found = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/stat") as stat:
                fields = stat.read().rsplit(")", 1)[1].split()
            if int(fields[1]) != parent or fields[0] == "Z":
                continue
            with open(f"/proc/{entry}/cmdline") as command:
                found.append((int(entry), command.read().replace("\0", " ").strip()))
        except (FileNotFoundError, ProcessLookupError):
            continue
    return found


def next_window(seconds, margin=2):
    """Wait for the start of a rate window if less than `margin` seconds of this one are left."""
    now = time.time()
    left = seconds - now % seconds
    if left < margin:
        time.sleep(left + 0.05)
