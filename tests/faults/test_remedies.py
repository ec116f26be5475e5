"""The remedies in messages about a disk that fails, performed once the disk works again."""

import errno
import subprocess

import pytest

from faults.scenario import Scenario
from faults.shim import DELAY, NGINX, SLUICE
from faults.test_lanes import kill_all, lanes_of
from harness import paths, remedies

pytestmark = pytest.mark.crash
AFTER_DAMAGE = "stop nginx and the worker for that, and start them again afterwards"
WRITING = ["WRITE", "META", "SYNC", "RENAME", "OPEN"]


@pytest.fixture
def here(site, fault_shim):
    made = site(threads=1, shim=fault_shim, workers=1)
    made.edge.expect_log("sluice: |failed \\(|exited on signal 9")
    return made


def fail_until(here, line, words, calls=WRITING, mode=errno.EIO):
    """Runs a command, whose n-th call fails, for n from 1 until it prints the words. Returns n and what it printed.

    @param line  Gives the words of the command for n.
    """
    for n in range(1, 400):
        here.shim.arm(calls, mode, n, SLUICE)
        run = subprocess.run([paths.SLUICE, *line(n)], env={**here.sluice.environment, **here.environment},
                             capture_output=True, text=True, check=False, timeout=60)
        met = here.shim.injected
        here.shim.disarm()
        if words in run.stderr:
            return n, run.stderr
        assert met, f"no call leads to these words: {words}"
        here.sluice.run("queue", "unlatch")
    raise AssertionError(words)


def test_a_command_in_doubt_is_looked_for_and_repeated_if_it_is_missing(here):
    def credit(n):
        return ("credit", "--account", "acme", "--creator", "crash-creator", "--program", "crash-program",
                "--amount", "1.00 USD", "--reason", f"call {n}")

    n, said = fail_until(here, credit, "look at `sluice queue peek` before running it again")
    (peek,) = remedies.commands(said)
    here.sluice("queue", "unlatch")
    waits = len(remedies.shell(peek, here.edge.store).splitlines()) > 1
    if not waits:
        here.sluice(*credit(n))
    here.sluice.drain()
    posted = [row for row in here.sluice.postings() if f"call {n}" in row.values()]
    assert len(posted) == 1, (waits, here.sluice.postings())


def test_a_change_of_the_registry_is_published_as_the_message_says(here):
    n, said = fail_until(here, lambda n: ("account", "create", f"account-{n}"),
                         'do not repeat it, run "sluice registry publish"')
    remedies.perform(said, here.edge.store)
    assert f"account-{n}" in [row["account_id"] for row in here.sluice.json("account", "list")]
    assert [row for row in remedies.findings(here.edge.store, "registry") if row["result"] == "problem"] == []


def test_a_worker_is_restarted_once_the_disk_works(here):
    scenario = Scenario(here)
    here.edge.start()

    def worker(_):
        scenario.order()
        return ("worker", "--until-empty")

    fail_until(here, worker, "check the disk, then restart this process", ["META", "SYNC"])
    here.sluice.run("queue", "unlatch")
    here.sluice.drain()
    verdict = here.finish()
    assert verdict.good, str(verdict)


def test_a_store_is_restored_if_a_lane_has_a_batch_of_another_format(here, tmp_path):
    """The backup is of a copy from before the damage, lanes included, so that nothing is lost."""
    scenario = Scenario(here)
    here.edge.start()
    assert scenario.accepted_within(10)
    here.edge.wait_until_open()
    here.sluice("queue", "move")
    here.shim.arm(["SYNC"], DELAY, 1, NGINX, sticky=True, delay_ms=3000)  # no move gets through
    assert [scenario.order() for _ in range(30)] == [200] * 30
    kill_all(here.edge)
    here.shim.disarm()
    subprocess.run(["cp", "-a", here.edge.store, tmp_path / "copy"], check=True)
    (lane,) = lanes_of(here)
    kept = lane.read_bytes()
    batches = [at for at in range(4096, len(kept), 4096) if kept[at:at + 4] == b"SLNB"]
    damaged = bytearray(kept)
    damaged[batches[-15] + 4] = 2  # docs/record-format.md, Lanes
    lane.write_bytes(damaged)
    here.edge.start()
    assert [scenario.order() for _ in range(4)] == [503] * 4
    said = "is invalid; nothing was changed. Stop nginx and the worker and restore the store from a backup"
    paths.wait_until(lambda: any(said in row["finding"] for row in remedies.findings(here.edge.store)), "doctor to say it")
    (latch,) = remedies.findings(here.edge.store, "latch")
    assert latch["finding"].endswith("from a backup") and latch["remedy"] == AFTER_DAMAGE
    paths.wait_until(lambda: f"from a backup; {AFTER_DAMAGE}" in here.edge.log(), "the log to say it")
    assert "check the disk" not in here.edge.log(), "a damaged lane has one remedy"
    here.edge.stop()
    subprocess.run([paths.SLUICE, "--store", tmp_path / "copy", "backup", tmp_path / "backup"], check=True)
    here.edge.store.rename(tmp_path / "broken")
    here.sluice("restore", tmp_path / "backup")
    here.edge.start()
    assert scenario.accepted_within(10)
    assert [row for row in remedies.findings(here.edge.store) if row["check"] != "worker"] == []
    verdict = here.finish()
    assert verdict.good, str(verdict)
