"""Commands that change several files, killed at calls that change one (kills.py)."""

import threading

import pytest

from crash import kills
from crash.kills import Kills, Scene, check_backup

pytestmark = pytest.mark.crash


@pytest.mark.parametrize("command", kills.COMMANDS, ids=kills.names)
def test_kills(command, tmp_path, fault_shim):
    command(Kills(fault_shim, tmp_path), Scene(tmp_path))


def test_backup_beside_key_rotations(tmp_path):
    """Whichever rotation comes between the copies of registry and key, the copied key opens the copied registry."""
    sluice = Scene(tmp_path).copy()
    stop = threading.Event()

    def rotate():
        while not stop.is_set():
            sluice("key", "rotate")

    rotating = threading.Thread(target=rotate)
    rotating.start()
    try:
        for _ in range(4):
            check_backup(sluice, tmp_path)
    finally:
        stop.set()
        rotating.join()
