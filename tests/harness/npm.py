"""Programs from npm, as tests pin them."""

import fcntl
import shutil
import subprocess

import pytest

from harness import paths


def install(files, name, *command):
    """The folder of the programs that files/package-lock.json pins, installed by `npm COMMAND` once for each lock."""
    if shutil.which("npm") is None:
        pytest.fail("npm is missing: run scripts/install-deps more")
    folder = paths.BUILD / name
    # Two test processes can install at the same time.
    with open(paths.BUILD / f"{name}.lock", "w") as lock_file:
        fcntl.flock(lock_file, fcntl.LOCK_EX)
        lock = (files / "package-lock.json").read_text()
        installed = folder / "installed.json"
        if not installed.exists() or installed.read_text() != lock:
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(files, folder)
            subprocess.run(["npm", *command, "--ignore-scripts", "--no-audit", "--no-fund"], cwd=folder, check=True,
                           capture_output=True, timeout=600)
            installed.write_text(lock)
    return folder
