"""docs/security.md, Walls: a process that locks the queue keeps no command waiting for long, and no report at all.

Each lock is held on a running system: nginx has the store open, a worker applies what it accepts.
"""

import contextlib
import platform
import struct
import subprocess
import time

import pytest

from harness.merchant import CONFIG
from harness import orders, paths
from harness.cli import now
from harness.lock_holder import LOCK_BYTE, MUTEX_AT, READER, WRITER, LockHolder

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="the mutexes lie elsewhere")

READERS_MAX = 4096
LIMIT_S = 10  # kLockWaitMax
SOON_S = 8

# Commands that need the ledger and the registry alone.
REPORTS = [
    ["report", "orders"],
    ["report", "journal", "--account", "acme"],
    ["report", "balances", "--account", "acme"],
    ["explain", "o1", "--shop", "acme-shop"],
    ["approvals", "--account", "acme"],
    ["payout", "preview", "--account", "acme", "--until", now()],
    ["payout", "list", "--account", "acme"],
    ["dead", "list"],
]
ADJUST = ["adjust", "--shop", "acme-shop", "--order", "o1", "--amount", "1.00", "--reason", "r"]


@pytest.fixture
def scene(start_edge, new_merchant):
    """A running system that has applied one order."""
    edge = start_edge(CONFIG)
    merchant = new_merchant(edge, "acme")
    assert merchant.event("ORDER_CREATE", orders.order("o1")).status == 200
    with subprocess.Popen([str(paths.SLUICE), "worker"], env=edge.sluice.environment,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as worker:
        paths.wait_until(lambda: edge.sluice.stats()["applied_seq"] == 1, "the order to be applied")
        edge.worker = worker
        yield edge
        worker.terminate()


def forge(edge, mutex):
    """Writes the number of another process into a mutex of the lock file."""
    holder = LockHolder(READER, edge.store / "queue", 0)
    write_mutex(edge, mutex, holder.pid)
    return holder


def write_mutex(edge, mutex, word):
    with open(edge.store / "queue" / "lock.mdb", "r+b", buffering=0) as locks:
        locks.seek(MUTEX_AT[mutex])
        locks.write(struct.pack("<I", word))


HOLDS = {
    "lock of the file": lambda edge: LockHolder(LOCK_BYTE, edge.store / "queue" / "lock.mdb", 0, "posix"),
    "lock of an open file": lambda edge: LockHolder(LOCK_BYTE, edge.store / "queue" / "lock.mdb", 0, "ofd"),
    "writer lock": lambda edge: LockHolder(WRITER, edge.store / "queue"),
    "forged writer": lambda edge: forge(edge, "writer"),
    "forged readers": lambda edge: forge(edge, "readers"),
    "reader slots": lambda edge: LockHolder(READER, edge.store / "queue", READERS_MAX),
}


@contextlib.contextmanager
def held(edge, hold):
    """With the lock held; a lock of the file while nothing runs, because every process shares it otherwise."""
    if hold.startswith("lock of"):
        edge.stop()
        edge.worker.terminate()
        edge.worker.wait()
    holder = HOLDS[hold](edge)
    try:
        yield holder
    finally:
        for mutex in MUTEX_AT if hold.startswith("forged") else ():
            write_mutex(edge, mutex, 0)
        holder.release()


def timed(edge, *command):
    """The command's result, and its seconds."""
    began = time.monotonic()
    result = edge.sluice.run(*command, timeout=60)
    return result, time.monotonic() - began


@pytest.mark.parametrize("hold", HOLDS)
def test_a_report_waits_for_no_lock_of_the_queue(scene, hold):
    with held(scene, hold):
        for command in REPORTS:
            result, seconds = timed(scene, *command)
            assert result.returncode == 0, f"{command}: {result.stderr}"
            assert seconds < SOON_S, f"{command}: {seconds:.1f} s"


@pytest.mark.parametrize("hold", HOLDS)
def test_a_command_that_needs_the_queue_names_the_holder(scene, tmp_path, hold):
    reads_anyway = hold in ("writer lock", "forged writer")
    with held(scene, hold) as holder:
        name = f"process {holder.pid} ("
        for command in (ADJUST, ["queue", "stats"], ["backup", tmp_path / "b"]):
            result, seconds = timed(scene, *command)
            if reads_anyway and command[0] == "queue":
                assert result.returncode == 0, f"{command}: {result.stderr}"
            else:
                assert result.returncode == 1 and name in result.stderr, f"{command}: {result.stderr}"
            assert seconds < LIMIT_S + SOON_S, f"{command}: {seconds:.1f} s"


@pytest.mark.parametrize("hold", HOLDS)
def test_doctor_reports_the_rest(scene, hold):
    with held(scene, hold) as holder:
        result, seconds = timed(scene, "doctor")
        assert seconds < 3 * LIMIT_S, f"{seconds:.1f} s"
        assert "the chain of hashes holds" in result.stdout, result.stdout
        if hold not in ("writer lock", "forged writer"):
            assert f"process {holder.pid} (" in result.stdout, result.stdout
            assert "`sluice restore`" not in result.stdout, result.stdout
