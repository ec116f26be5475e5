"""The n-th call fails, for n = 1 to the end: what nginx, LMDB, bulk files, ledger and archive really call.

SLUICE_FAULT_STRIDE: every how many calls one fails (make torture: 1, all of them).
"""

import errno
import os
import random
import subprocess
import time

import pytest

from crash.site import SEED
from faults.scenario import Scenario
from faults.shim import DELAY, NGINX, SHORT, SLUICE
from harness import paths

pytestmark = pytest.mark.crash
STRIDE = int(os.environ.get("SLUICE_FAULT_STRIDE", "9"))
WRITES = ["WRITE", "META"]
TOUCHING = ["SYNC", "RENAME", "UNLINK", "TRUNCATE", "ATTRIBUTE", "SEEK"]
READING = ["READ", "OPEN", "MMAP"]
EVERY = WRITES + TOUCHING + READING
# name, what fails, how, whether it stays so
TROUBLE = [
    ("EIO", EVERY, errno.EIO, False),
    ("EIO for good", EVERY, errno.EIO, True),
    ("ENOSPC", [*WRITES, "SYNC", "OPEN", "TRUNCATE", "RENAME"], errno.ENOSPC, False),
    ("ENOSPC for good", [*WRITES, "SYNC", "OPEN", "TRUNCATE", "RENAME"], errno.ENOSPC, True),
    ("a short write or read", [*WRITES, "READ"], SHORT, False),
    ("EINTR", [*WRITES, "SYNC", "READ", "OPEN"], errno.EINTR, False),
    ("EMFILE", ["OPEN"], errno.EMFILE, False),
    ("ENOMEM", ["MMAP"], errno.ENOMEM, False),
    ("a delay", [*WRITES, "SYNC"], DELAY, False),
]
DELAY_MS = int(os.environ.get("SLUICE_FAULT_DELAY_MS", "300"))
LATCHING = {"EIO", "EIO for good", "a short write or read"}


def every_nth(one_run, calls=None):
    """Runs it with n = 1, 1 + stride... until no fault is met. How many were.

    `calls`: so many were made without faults, by what makes a few more in each run."""
    met, n = 0, random.Random(SEED).randrange(STRIDE) + 1
    while calls is None or n <= calls:
        if one_run(n):
            met += 1
        elif calls is None:
            break
        n += STRIDE
    return met


def latched(edge):
    answer = edge.request("GET", "/sluice/ready", [], length=False)
    return answer.status == 503 and answer.body.decode().strip() in ("in_doubt", "io_error")


@pytest.fixture
def here(site, fault_shim):
    made = site(threads=1, shim=fault_shim, workers=1)
    made.edge.expect_log("sluice: |\\[emerg\\] .*/store/|failed \\(|\\[crit\\] .* (pwrite|open|write)")
    return made


def starts(edge):
    """False if nginx refused its configuration, with a sentence: its master reads the store's files."""
    try:
        edge.start()
    except AssertionError:
        last = edge.log().strip().splitlines()[-1]
        if edge.process.poll() != 1 or "[emerg]" not in last or str(edge.store) not in last:
            raise
        return False
    return True


@pytest.mark.parametrize("name, calls, mode, sticky", TROUBLE, ids=[each[0] for each in TROUBLE])
def test_nginx(here, name, calls, mode, sticky):
    """No 200 for what failed, no crash; then it recovers, or is latched and says so until a restart."""
    scenario = Scenario(here)
    seen = {"latched": 0, "refused": 0}

    def one_run(n):
        here.shim.arm(calls, mode, n, NGINX, sticky, DELAY_MS)
        if not starts(here.edge):
            seen["refused"] += 1
            return here.shim.injected
        scenario.all()
        here.shim.disarm()
        # Counted when it is needed: work behind the answers meets the fault later than they do.
        recovered = scenario.accepted_within(10, unless=lambda: here.shim.injected and latched(here.edge))
        if not recovered and here.shim.injected and latched(here.edge):
            seen["latched"] += 1
            where = here.shim.first
            assert name in LATCHING, f"latched by {name} at {where}"
            assert scenario.order() == 503
        else:
            assert recovered, f"call {n} ({here.shim.first}): no recovery without a restart"
        here.edge.stop()
        return here.shim.injected

    met = every_nth(one_run)
    here.edge.start()
    assert scenario.accepted_within(10), "no recovery by a restart"
    verdict = here.finish()
    print(f"nginx, {name}: injected={met} {seen} stride {STRIDE}")
    assert met > 0, "no fault was injected"
    assert verdict.good, str(verdict)


@pytest.mark.parametrize("name, calls, mode, sticky", TROUBLE, ids=[each[0] for each in TROUBLE])
def test_sluice_worker(here, name, calls, mode, sticky):
    """It waits for better times, or ends with a sentence; then the next one applies everything once."""
    scenario = Scenario(here)
    here.edge.start()
    ended = {0: 0, 1: 0}

    def one_run(n):
        scenario.all()
        here.shim.arm(calls, mode, n, SLUICE, sticky, DELAY_MS)
        worker = subprocess.Popen(
            [str(paths.SLUICE), "worker", "--until-empty"], text=True, stderr=subprocess.PIPE,
            env={**here.sluice.environment, **here.environment},
        )
        if sticky and n:
            paths.wait_until(lambda: here.shim.injected or worker.poll() is not None, "the fault or the end")
            time.sleep(0.1)
            here.shim.disarm()  # the disk is mended
        _, said = worker.communicate(timeout=60)
        here.shim.disarm()
        assert worker.returncode in (0, 1), f"call {n}: {worker.returncode} {said}"
        assert worker.returncode == 0 or said.strip(), f"call {n}: no word on why it ended"
        ended[worker.returncode] += 1
        if latched(here.edge):
            assert name in LATCHING, f"latched by {name} at {here.shim.first}"
            here.sluice("queue", "unlatch")
        here.sluice.drain()
        return here.shim.injected

    one_run(0)
    made = here.shim.seen  # the archive grows, and with it the reads when it is opened
    met = every_nth(one_run, made)
    verdict = here.finish()
    print(f"sluice worker, {name}: injected={met} of {made} continued {ended[0]} exited {ended[1]} stride {STRIDE}")
    assert met > 0, "no fault was injected"
    assert verdict.good, str(verdict)
