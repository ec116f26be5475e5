"""A ledger is copied to a folder on a disk that fails at the n-th call: the copy ends with a sentence, and is begun
again. What is there in between is no ledger to any command."""

import errno
import json
import os
import random
import shutil
import subprocess

import pytest

from crash.site import SEED
from faults.shim import SHORT, SLUICE, Shim
from harness import paths
from harness.cli import Sluice

pytestmark = pytest.mark.crash
STRIDE = int(os.environ.get("SLUICE_FAULT_STRIDE", "9"))
CREDITS = 12
TROUBLE = {
    "EIO": (["WRITE", "META", "SYNC", "RENAME", "OPEN"], errno.EIO),
    "ENOSPC": (["WRITE", "META", "SYNC", "RENAME", "OPEN"], errno.ENOSPC),
    "short": (["WRITE", "META"], SHORT),
}


@pytest.fixture(scope="module")
def store():
    """Creates a ledger without nginx, because commands create rows as well."""
    folder = paths.make_folder()
    sluice = Sluice(folder / "store")
    sluice("init")
    sluice.account("acme")
    sluice.shop("shop-1", "acme")
    (folder / "p.toml").write_text('[[program]]\nid = "spring"\naccount = "acme"\ndefault_rate = "10%"\n')
    (folder / "c.csv").write_text("creator_id,program_id,code\nann,spring,ANN\n")
    sluice("program", "apply", folder / "p.toml")
    sluice("creator", "import", folder / "c.csv")
    for number in range(CREDITS):
        sluice("credit", "--account", "acme", "--creator", "ann", "--program", "spring", "--amount", f"{number + 1}.00 EUR",
               "--reason", "as agreed")
    yield sluice
    paths.drop_folder(folder)


@pytest.mark.parametrize("name", TROUBLE)
def test_a_disk_that_fails_at_any_call_leaves_no_half_of_a_ledger(store, fault_shim, name):
    disk = store.store.parent / f"disk-{name}"
    disk.mkdir()
    shim = Shim(fault_shim, disk)
    calls, mode = TROUBLE[name]
    command = [str(paths.SLUICE), "ledger", "copy", "--to", str(disk / "ledger"), "--batch", "4"]
    met = ended = 0
    number = random.Random(SEED).randrange(STRIDE) + 1
    while True:
        shutil.rmtree(disk / "ledger", ignore_errors=True)
        shim.arm(calls, mode, number, SLUICE)
        run = subprocess.run(command, env={**store.environment, **shim.environment(disk)}, capture_output=True, text=True,
                             timeout=60, check=False)
        injected = shim.injected
        shim.disarm()
        assert run.returncode in (0, 1), f"call {number} ({shim.first}): {run.returncode} {run.stderr}"
        if not injected:
            assert run.returncode == 0, run.stderr
            break
        met += 1
        if run.returncode != 0:
            ended += 1
            assert run.stderr.startswith("sluice: ") and len(run.stderr.strip().splitlines()) == 1, run.stderr
            again = store.run(*command[1:])
            assert again.returncode == 0, f"call {number} ({shim.first}): {again.stderr}"
        tables = json.loads(store("ledger", "copy", "--to", disk / "ledger", "--format", "json"))
        assert all(table["equal"] for table in tables), f"call {number}"
        number += STRIDE
    print(f"{name}: {met} faults met, {ended} copies ended by one, stride {STRIDE}")
    assert met >= 3 and ended >= 1
