"""Reloads, upgrades and a kill under load, while connections are held: every plain request is answered.

SLUICE_STORM_WORKERS: so many nginx workers.
"""

import contextlib
import os
import signal
import time

import pytest

from harness import paths
from harness.threads import PlainProbe

pytestmark = pytest.mark.crash
WORKERS = int(os.environ.get("SLUICE_STORM_WORKERS", "8"))
STEPS = ("reload", "upgrade", "reload", "kill", "upgrade", "reload")
HELD = 8  # at each step


class Storm:
    def __init__(self, here, probe):
        self.here, self.edge, self.probe = here, here.edge, probe
        self.held, self.old = [], None

    def hold(self):
        """Requests that are not finished keep their workers when these are to end."""
        for _ in range(HELD):
            connection = self.edge.connect()
            connection.send(b"GET /which HTTP/1.1\r\nHost: x\r\n")
            self.held.append(connection)

    def reload(self):
        old = set(self.edge.workers())
        self.hold()
        self.edge.send_signal(signal.SIGHUP)
        paths.wait_until(lambda: len(set(self.edge.workers()) - old) == WORKERS, "the new workers", 60)

    def upgrade(self):
        if self.old is not None:  # nginx allows no upgrade while an older master runs
            self.release()
            paths.wait_until(lambda: not paths.alive(self.old), "the older master to go", 60)
        self.hold()
        self.old = self.edge.start_new_binary()
        paths.wait_until(lambda: len(self.edge.workers()) == WORKERS, "the new workers", 60)
        os.kill(self.old, signal.SIGQUIT)

    def kill(self):
        """Kills a worker that has no connection of the probe: the probe is answered while the worker is stopped."""
        for victim in self.edge.workers():
            with contextlib.suppress(ProcessLookupError):  # an older worker ends as its connections do
                os.kill(victim, signal.SIGSTOP)
                if self.is_answered(seconds=1):
                    os.kill(victim, signal.SIGKILL)
                    return
                os.kill(victim, signal.SIGCONT)
        raise AssertionError("the probe got no answer")

    def is_answered(self, seconds):
        wanted, end = self.probe.answers + 2, time.monotonic() + seconds
        while self.probe.answers < wanted and time.monotonic() < end:
            time.sleep(0.01)
        return self.probe.answers >= wanted

    def release(self):
        while self.held:
            self.held.pop().close()


def test_every_plain_request_is_answered(site):
    here = site(threads=4, workers=WORKERS, daemon="on", main="worker_rlimit_nofile 8192;")
    here.edge.expect_log("exited on signal 9")
    here.start(fresh=True)
    probe = PlainProbe(here.edge)
    probe.start()
    storm = Storm(here, probe)
    for step in STEPS:
        getattr(storm, step)()
        here.count(step)
        acked = here.acked()
        paths.wait_until(lambda wanted=acked + 5: here.acked() > wanted, f"orders to be taken after a {step}", 60)
    said = probe.end()
    storm.release()
    verdict = here.finish()
    print(f"{WORKERS} workers: {said}")
    assert said["failures"] == 0, probe.failures
    assert said["plain_answers"] > len(STEPS)
    assert verdict.unanswered <= 4, "only what the killed worker served"
    assert verdict.good, str(verdict)
