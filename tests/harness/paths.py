"""Where the build put things, and where tests may write (a real disk, never tmpfs)."""

import fcntl
import functools
import os
import pathlib
import random
import shutil
import socket
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("SLUICE_BUILD", ROOT / "build" / "dev"))
if not BUILD.is_absolute():
    BUILD = ROOT / BUILD
MODULE = BUILD / "ngx_module" / "ngx_http_sluice_module.so"
SLUICE = BUILD / "worker" / "sluice"
NGINX = os.environ.get("SLUICE_NGINX", "/usr/sbin/nginx")
DEADLINE = float(os.environ.get("SLUICE_TEST_DEADLINE", "30"))


class Timeout(AssertionError):
    """A condition did not come true before its deadline."""


def wait_until(condition, what, deadline=None):
    """The first true result of `condition()`, or Timeout naming `what`."""
    end = time.monotonic() + (deadline or DEADLINE)
    pause = 0.001
    while True:
        result = condition()
        if result:
            return result
        if time.monotonic() > end:
            raise Timeout(f"this did not happen in time: {what}")
        time.sleep(pause)
        pause = min(pause * 1.5, 0.05)


def alive(pid):
    """Runs, and is no zombie that waits for its parent."""
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


_ports = []  # open lock files: a port belongs to this process until it ends


def free_port():
    """A port below those of outgoing connections, so that it stays free while a test restarts its server."""
    ephemeral = int(pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    while True:
        port = random.SystemRandom().randrange(min(10_000, ephemeral // 2), ephemeral)
        lock = open(pathlib.Path(tempfile.gettempdir()) / f"sluice-test-port-{port}", "w")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            with socket.socket() as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind(("127.0.0.1", port))
        except OSError:
            lock.close()
            continue
        _ports.append(lock)
        return port


def make_folder():
    """A folder that workers of another user can pass through."""
    folder = pathlib.Path(
        tempfile.mkdtemp(prefix="sluice-test-", dir=os.environ.get("SLUICE_TEST_DIR", "/var/tmp"))
    )
    folder.chmod(0o755)
    return folder


def drop_folder(folder):
    shutil.rmtree(folder, ignore_errors=True)


def run_folder():
    """A folder that the processes of this test run share; the first of them removes it (tests/conftest.py)."""
    run = os.getppid() if "PYTEST_XDIST_WORKER" in os.environ else os.getpid()
    began = pathlib.Path(f"/proc/{run}/stat").read_text().rsplit(")", 1)[1].split()[19]
    return pathlib.Path(os.environ.get("SLUICE_TEST_DIR", "/var/tmp")) / f"sluice-test-run-{run}-{began}"


def made_once(name, make):
    """The folder that make(folder) filled in the first process of the run that asked. It stays as it is: tests copy it."""
    run_folder().mkdir(mode=0o755, exist_ok=True)
    made = run_folder() / name
    with open(made.with_suffix(".lock"), "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            unfinished = made.with_suffix(".new")
            shutil.rmtree(unfinished, ignore_errors=True)
            unfinished.mkdir()
            make(unfinished)
            unfinished.rename(made)
    return made


def copy_folder(source, target):
    """With owners, modes and holes, into the target if that exists."""
    subprocess.run(["cp", "-a", f"{source}/.", target], check=True)


def lend(path, folder):
    """A copy in the folder that every user can read and run. A clone may lie where only root enters, as below /root."""
    copy = folder / path.name
    (shutil.copytree if path.is_dir() else shutil.copy)(path, copy)
    subprocess.run(["chmod", "-R", "a+rX", copy], check=True)
    return copy


@functools.cache
def _needed(binary, library):
    listing = subprocess.run(
        ["readelf", "-d", str(binary)], capture_output=True, text=True, check=False
    ).stdout
    return any("NEEDED" in line and library in line for line in listing.splitlines())


def sanitizer_environment():
    """Returns the environment in which stock nginx loads a sanitized module; empty for a plain build."""
    if not MODULE.exists():
        return {}
    if _needed(MODULE, "libtsan"):  # of an nginx that was built with it too (scripts/sanitized-nginx)
        return {"TSAN_OPTIONS": f"suppressions={ROOT / 'tests' / 'faults' / 'tsan.supp'}"}
    if not _needed(MODULE, "libasan"):
        return {}
    libraries = []
    for name in ("libasan.so", "libubsan.so"):
        found = subprocess.run(["gcc", f"-print-file-name={name}"], capture_output=True, text=True)
        libraries.append(os.path.realpath(found.stdout.strip()))
    return {
        "LD_PRELOAD": " ".join(libraries),
        # nginx leaves its pools to exit(); a leak check would report every one of them.
        "ASAN_OPTIONS": "detect_leaks=0:abort_on_error=1",
        "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
    }
