"""Reload, quit, stop and binary upgrade over and over, under load, while commits are slow.

A request that nginx began to serve is answered, or it is not stored; a 503 with Retry-After is an
answer, of a worker whose store is not open yet, and what got it is not stored. Only a fast stop and
worker_shutdown_timeout may cut one off that is. SLUICE_TURNOVER_SECONDS: of each storm.
"""

import os
import random
import signal
import time

import pytest

from crash.site import SEED
from harness import paths
from harness.edge import children

pytestmark = pytest.mark.crash
SECONDS = float(os.environ.get("SLUICE_TURNOVER_SECONDS", "3"))


def storm(here, act, pause):
    """`act(chance)` every `pause` seconds, until time is up and it was done thrice."""
    here.slow_commits(300)
    here.start(fresh=True)
    files = open_files(here)
    chance = random.Random(SEED)
    end, done = time.monotonic() + SECONDS, 0
    while time.monotonic() < end or done < 3:
        time.sleep(pause)
        act(chance)
        done += 1
    paths.wait_until(
        lambda: len(children(here.edge.master)) == 2 == len(here.edge.workers()), "old workers to go"
    )
    acked = here.acked()
    paths.wait_until(lambda: here.acked() > acked + 5, "it to serve on")
    delays = here.shim.injected
    # A mover keeps a lane's file open for some seconds after it was empty.
    paths.wait_until(lambda: open_files(here) <= files + 20, "files of before to be closed")
    verdict = here.finish()
    print(f"delays {delays} rounds {done} in doubt and stored {verdict.kept}")
    assert delays > 0
    assert verdict.good, str(verdict)
    return verdict


def open_files(here):
    """Counts the descriptors of all workers, including connections of the load."""
    return sum(len(os.listdir(f"/proc/{pid}/fd")) for pid in here.edge.workers())


def test_reload_storm(site, fault_shim):
    """No request in flight goes without its answer, no worker stays behind, no alert."""
    here = site(threads=8, shim=fault_shim)
    verdict = storm(here, here.reload, 0.2)
    assert verdict.unanswered == 0, f"requests without an answer: {verdict}"
    assert verdict.kept == 0, "stored, and answered by 503"


def test_quit_storm(site, fault_shim):
    """A connection that nginx has not accepted may be refused, but none of its data is stored."""
    here = site(threads=8, shim=fault_shim)

    def quit_and_start(_):
        here.edge.stop(signal.SIGQUIT)
        here.edge.start()
        here.count("quit")

    verdict = storm(here, quit_and_start, 0.4)
    assert verdict.kept == 0, "stored, and not answered"


def test_stop_storm(site, fault_shim):
    here = site(threads=8, shim=fault_shim)
    here.edge.expect_log("exited on signal 9")  # nginx's master gives a slow sync one second

    def stop_and_start(chance):
        here.edge.stop(chance.choice([signal.SIGTERM, signal.SIGINT]))
        here.edge.start()
        here.count("stop")

    storm(here, stop_and_start, 0.4)


def test_binary_upgrade_storm(site, fault_shim):
    """Old and new master serve side by side, on one store; then the old one quits."""
    kept = "env LD_PRELOAD; env SLUICE_FAULT_PAGE; env SLUICE_FAULT_DIR;"  # for the next binary
    here = site(threads=8, shim=fault_shim, daemon="on", main=kept)

    def upgrade(_):
        old = here.edge.start_new_binary()
        paths.wait_until(lambda: len(here.edge.workers()) == 2, "the new workers")
        here.edge.end_old_binary(old)
        here.count("upgrade")

    verdict = storm(here, upgrade, 0.3)
    assert verdict.unanswered == 0, f"requests without an answer: {verdict}"
    assert verdict.kept == 0, "stored, and answered by 503"


def test_shutdown_timeout_storm(site, fault_shim):
    """nginx closes requests whose commit is in progress: no process crashes, and no socket is left open."""
    here = site(threads=8, shim=fault_shim, main="worker_shutdown_timeout 100ms;")
    storm(here, here.reload, 0.2)
