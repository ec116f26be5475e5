"""Lanes of real processes in trouble: a latch that all see, lanes that are full, lost, or left behind."""

import errno
import os
import random
import re
import signal
import subprocess

import pytest

from crash.site import SEED
from faults.scenario import Scenario
from faults.shim import DELAY, NGINX
from harness import paths
from harness.edge import children

pytestmark = pytest.mark.crash
PROBES = 40
FILE = re.compile(r"\.lane|store/queue")  # that a latch names


@pytest.fixture
def here(site, fault_shim):
    made = site(threads=4, shim=fault_shim, workers=4)
    made.edge.expect_log("sluice: |exited on signal 9")
    return made


def ready(edge):
    """As many different workers as accept: each probe is a connection of its own."""
    return [edge.request("GET", "/sluice/ready", [], length=False).status for _ in range(PROBES)]


def latch_it(here, scenario):
    """One write of one worker fails: usually a lane's, sometimes the store's in a later move."""
    here.sluice("queue", "move")
    paths.wait_until(lambda: here.sluice.stats()["in_lanes"] == 0, "the lanes to be empty")
    here.shim.arm(["META"], errno.EIO, 1, NGINX)
    paths.wait_until(lambda: scenario.order() == 503, "the write that fails")
    assert here.shim.injected == 1
    here.shim.disarm()


def test_a_latch_is_seen_by_every_worker_and_every_report(here):
    """L5: one EIO in one of four workers stops all four, over a reload, until a write test worked."""
    scenario = Scenario(here)
    here.edge.start()
    here.start_sluice_worker()
    assert scenario.accepted_within(10)
    latch_it(here, scenario)
    assert set(ready(here.edge)) == {503}
    assert [scenario.order() for _ in range(PROBES)] == [503] * PROBES
    assert [scenario.batch() for _ in range(4)] == [503] * 4, "direct appends, too"
    said = here.sluice.run("doctor").stdout
    assert "no request is accepted, because" in said and FILE.search(said), said
    status = here.edge.request("GET", "/sluice/status.json", [], length=False).body.decode()
    assert FILE.search(status), "status says why"
    here.edge.reload()
    assert set(ready(here.edge)) == {503} and scenario.order() == 503
    here.kill_worker(random.Random(SEED))
    paths.wait_until(lambda: len(here.edge.workers()) == 4, "the worker that was killed to come back")
    assert set(ready(here.edge)) == {503} and scenario.order() == 503
    assert "requests are accepted again" in here.sluice.run("queue", "unlatch").stdout
    assert scenario.accepted_within(10)
    paths.wait_until(lambda: set(ready(here.edge)) == {200}, "every worker to be ready")
    verdict = here.finish()
    assert verdict.good, str(verdict)


def test_a_latch_ends_with_a_new_master_and_the_worker_applies_meanwhile(here):
    scenario = Scenario(here)
    here.edge.start()
    assert scenario.accepted_within(10)
    here.edge.wait_until_open()
    here.sluice("queue", "move")
    latch_it(here, scenario)
    here.start_sluice_worker()
    paths.wait_until(lambda: here.sluice.stats()["applied_seq"] == here.sluice.stats()["last_seq"],
                     "what is durable in the queue to be applied")
    log = here.edge.folder / "sluice_worker.log"
    paths.wait_until(lambda: FILE.search(log.read_text()), "the worker's log to name the latch")
    here.edge.stop()
    here.edge.start()
    assert scenario.accepted_within(10)
    verdict = here.finish()
    assert verdict.good, str(verdict)


def test_full_lanes_wait_for_their_mover_and_lose_nothing(site, fault_shim):
    """L5: the queue's syncs take seconds, the lanes' do not: lanes run full, requests wait or get 503."""
    here = site(threads=16, shim=fault_shim, map_size="4m", workers=2)
    here.edge.expect_log("sluice: ")
    here.start(fresh=True)
    here.shim.arm(["SYNC"], DELAY, 1, NGINX, sticky=True, delay_ms=700)
    paths.wait_until(lambda: here.shim.injected >= 6, "some slow moves")
    here.shim.disarm()
    acked = here.acked()
    paths.wait_until(lambda: here.acked() > acked + 50, "it to serve on")
    verdict = here.finish()
    assert verdict.good, str(verdict)


def kill_all(edge):
    """Master and workers, so that nothing is left that could move a lane."""
    os.kill(edge.master, signal.SIGSTOP)
    workers = [pid for pid, _ in children(edge.master)]
    edge.process.kill()
    edge.process.wait()
    for pid in workers:
        os.kill(pid, signal.SIGKILL)
    paths.wait_until(lambda: not any(map(paths.alive, workers)), "workers to go")


@pytest.mark.parametrize("by", ["worker", "nginx", "command"])
def test_what_dead_workers_left_in_lanes_is_taken_up(here, by):
    """L4: the next process moves it: the sluice worker, a new nginx, a command that appends."""
    scenario = Scenario(here)
    here.edge.start()
    assert scenario.accepted_within(10)
    here.edge.wait_until_open()
    here.sluice("queue", "move")
    here.shim.arm(["SYNC"], DELAY, 1, NGINX, sticky=True, delay_ms=3000)  # no move gets through
    answers = [scenario.order() for _ in range(30)]
    assert answers == [200] * 30
    kill_all(here.edge)
    here.shim.disarm()
    waiting = here.sluice.stats()["in_lanes"]
    assert waiting > 0, "everything was moved: the test shows nothing"
    if by == "worker":
        here.start_sluice_worker()
    elif by == "nginx":
        here.edge.start()
    else:
        here.sluice("account", "create", "another")
        creators = here.edge.folder / "creators.csv"
        here.sluice("creator", "import", creators)
    paths.wait_until(lambda: here.sluice.stats()["in_lanes"] == 0, "the lanes to be empty")
    verdict = here.finish()
    assert verdict.good, str(verdict)


def test_a_running_sluice_worker_recovers_abandoned_lanes(here):
    """L4: also while it runs: a lane without owner is looked for every second."""
    scenario = Scenario(here)
    here.edge.start()
    here.start_sluice_worker()
    assert scenario.accepted_within(10)
    here.edge.wait_until_open()
    here.shim.arm(["SYNC"], DELAY, 1, NGINX, sticky=True, delay_ms=2000)  # below what an order waits at most
    assert [scenario.order() for _ in range(30)] == [200] * 30
    kill_all(here.edge)
    here.shim.disarm()
    paths.wait_until(lambda: here.sluice.stats()["depth"] == 0, "everything to be applied")
    verdict = here.finish()
    assert verdict.good, str(verdict)


def lanes_of(here):
    return sorted((here.edge.store / "queue" / "lanes").glob("*.lane"))


DAMAGE = {
    "is missing": lambda lane: lane.unlink(),
    "has another length than its head says": lambda lane: os.truncate(lane, lane.stat().st_size // 2),
    "is no lane": lambda lane: lane.write_bytes(b"\0" * lane.stat().st_size),
    "shorter than its head": lambda lane: os.truncate(lane, 100),
}


@pytest.mark.parametrize("said", DAMAGE)
def test_a_replaced_or_damaged_lane_is_refused_by_name(here, said):
    """L4, never a 200 that is not on disk: nginx answers 503, doctor and the log name file and remedy."""
    scenario = Scenario(here)
    here.edge.start()
    assert scenario.accepted_within(10)
    here.edge.stop()
    lane = lanes_of(here)[0]
    kept = lane.read_bytes()
    DAMAGE[said](lane)
    here.edge.start()
    assert [scenario.order() for _ in range(8)] == [503] * 8
    assert set(ready(here.edge)) == {503}
    paths.wait_until(lambda: str(lane) in here.edge.log() and said in here.edge.log(), "the log to name it")
    page = here.edge.request("GET", "/sluice/status.json", [], length=False).body.decode()
    assert "The error log names the file and what to do" in page and "put the right file back" in here.edge.log()
    doctor = here.sluice.run("doctor")
    assert doctor.returncode != 0 and str(lane) in doctor.stdout and said in doctor.stdout, doctor.stdout
    worker = subprocess.run([str(paths.SLUICE), "worker", "--until-empty"], text=True, capture_output=True,
                            env=here.sluice.environment, check=False, timeout=60)
    assert worker.returncode != 0 and str(lane) in worker.stderr, worker.stderr
    here.edge.stop()
    if lane.exists():
        lane.unlink()
    lane.write_bytes(kept)
    here.edge.start()
    assert scenario.accepted_within(10)
    verdict = here.finish()
    assert verdict.good, str(verdict)


def test_a_lane_that_vanishes_under_a_running_nginx_gives_no_more_200(here):
    scenario = Scenario(here)
    here.edge.start()
    assert scenario.accepted_within(10)
    kept = {lane: lane.read_bytes() for lane in lanes_of(here)}
    here.sluice("queue", "move")
    for lane in kept:
        lane.rename(lane.with_suffix(".away"))
    paths.wait_until(lambda: scenario.order() == 503, "nginx to notice")
    for lane in kept:
        lane.with_suffix(".away").rename(lane)
    here.edge.stop()
    here.edge.start()
    assert scenario.accepted_within(10)
    verdict = here.finish()
    assert verdict.good, str(verdict)
