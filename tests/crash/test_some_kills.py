"""Commands that change several files, killed at a few calls each (kills.py); test_command_kills.py kills at more."""

import fcntl
import os
import shutil

import pytest

from crash import kills
from crash.kills import Kills, Scene, works

pytestmark = pytest.mark.crash
# The others are like one of these, or change one environment of LMDB.
FEW = {kills.key_rotate: 2, kills.notify_add: 2, kills.payout_export: 2, kills.backup: 2, kills.init: 3,
       kills.restore: 4}


@pytest.fixture(name="scene", scope="module")
def scene_fixture(tmp_path_factory):
    return Scene(tmp_path_factory.mktemp("scene"))


@pytest.mark.parametrize("command", FEW, ids=kills.names)
def test_some_kills(command, scene, fault_shim):
    command(Kills(fault_shim, scene.folder, FEW[command]), scene)


def test_backup_of_a_store_with_a_foreign_key_says_so(scene, tmp_path):
    sluice = scene.copy()
    (sluice.store / "master.key").unlink()
    shutil.copy(scene.other_key, sluice.store / "master.key")
    said = sluice.refuses("backup", tmp_path / "b")
    assert "the master key is not the one of" in said and "the backup is complete" in said, said


def test_leftovers_are_removed_once_no_process_works_on_such_a_file(scene):
    """Only names that sluice gives; none next to a file that a person named."""
    sluice = scene.copy()
    exports = sluice.store / "exports"
    exports.mkdir(exist_ok=True)
    gone = [sluice.store / "command.key.new.12", sluice.store / "notify.key.new.1", sluice.store / "format.new.77",
            sluice.store / "ledger.url.new.9", exports / "M260131140509-7KQ4M9XW.new.5"]
    kept = [sluice.store / "report.csv.new.12", sluice.store / "format.new.", sluice.store / "format.new.1x",
            exports / "mine.new.5", sluice.store / "registry" / "r.ndjson.new.3"]
    for file in gone + kept:
        file.write_text("x")
    folder = sluice.store / "notify.new.31"
    folder.mkdir()
    (folder / "data.mdb").write_text("x")
    (sluice.store / "snapshots" / "unfinished").mkdir(parents=True)
    with open(sluice.store / "command.key", "rb") as busy:
        fcntl.flock(busy, fcntl.LOCK_SH)
        sluice("token", "list")
        assert all(file.exists() for file in [*gone, *kept, folder]), "the process with the lock may write one of them"
    sluice("token", "list")
    assert not any(file.exists() for file in [*gone, folder])
    assert all(file.exists() for file in kept)
    assert os.listdir(sluice.store / "snapshots") == []
    for file in kept:
        file.unlink()
    works(sluice)
