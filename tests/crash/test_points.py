"""kill -9 at every named point between the first byte of a commit and the answer, and of the drain.

SLUICE_POINT_KILLS is the number of kills at each point (make torture: 30, over 1000 in all).
"""

import os
import random
import signal
import time

import pytest

from crash.site import SEED
from faults.shim import POINTS
from harness import paths

pytestmark = pytest.mark.crash
KILLS = int(os.environ.get("SLUICE_POINT_KILLS", "1"))


class Storm:
    def __init__(self, here):
        self.here, self.chance = here, random.Random(SEED)

    def kill_at(self, point):
        before = self.here.shim.kills(point)
        self.here.shim.arm_point(point, self.chance.randrange(1, 4))
        # The sluice worker trims only while no process appends.
        idle = point.startswith("W_TRIM")
        started = time.monotonic()
        while self.here.shim.kills(point) == before:
            assert time.monotonic() < started + paths.DEADLINE, f"never came to {point}"
            if idle:
                self.here.client.send_signal(signal.SIGSTOP)
                time.sleep(0.15)
                self.here.client.send_signal(signal.SIGCONT)
            time.sleep(0.002)
            self.keep_up()
        self.keep_up()
        self.here.count("nginx" if point.startswith("N_") else "sluice worker")

    def keep_up(self):
        """The master starts workers again, systemd the sluice worker: here it is us."""
        code = self.here.sluice_worker.poll()
        if code is not None:
            assert code == -signal.SIGKILL, f"the sluice worker ended by itself: {code}"
            self.here.start_sluice_worker()


def test_killed_at_every_point(site, fault_shim):
    here = site(threads=6, shim=fault_shim)
    here.edge.expect_log("exited on signal 9")
    here.start()
    storm = Storm(here)
    for _ in range(KILLS):
        for point in storm.chance.sample(POINTS, len(POINTS)):
            storm.kill_at(point)
    kills = {point: here.shim.kills(point) for point in POINTS}
    verdict = here.finish()
    for point, count in kills.items():
        print(f"  {point:18} {count} kills, passed {here.shim.passes(point)} times")
    print(f"kills {sum(kills.values())}")
    assert min(kills.values()) >= KILLS, "a point that is never hit proves nothing"
    assert verdict.good, str(verdict)
