"""Commands that change several files, killed at a few calls each (kills.py); test_command_kills.py kills at more."""

import shutil

import pytest

from crash import kills
from crash.kills import Kills, Scene

pytestmark = pytest.mark.crash
# The others are like one of these, or change one environment of LMDB.
FEW = {kills.key_rotate: 2, kills.restore: 4}


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
