"""Files that the worker and the synchronisation of a registry write under the filters of their units (conf/systemd)."""

import os
import pwd
import shutil
import subprocess

import pytest
from harness import cli, intruder, paths
from harness.unit_filter import allowed_calls, confine

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes other users")
UNITS = paths.ROOT / "conf" / "systemd"


@pytest.fixture
def site():
    folder = paths.make_folder()
    store = intruder.new_store(folder)
    yield folder, store
    paths.drop_folder(folder)


def start_in(unit, folder, *line):
    """Starts a command as the unit does: as the store's owner and group, under its filter of system calls."""
    owner, group, calls = pwd.getpwnam(intruder.OWNER), pwd.getpwnam(intruder.INTRUDER).pw_gid, allowed_calls(UNITS / unit)

    def become():
        os.setgroups([])
        os.setgid(group)
        os.setuid(owner.pw_uid)
        confine(calls)

    return subprocess.Popen([paths.lend(paths.SLUICE, folder), *line], preexec_fn=become, stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize("folder_of_links", ["there", "of a store from before links"])
def test_the_worker_publishes_links(site, folder_of_links):
    """fchown, which the filter refuses, ended each publication: no visitor of a link came further than 503."""
    folder, store = site
    if folder_of_links != "there":
        shutil.rmtree(store / "links")
    worker = start_in("sluice.service", folder, "--store", store, "worker")
    try:
        paths.wait_until((store / "links" / "published").exists, "the publication")
    finally:
        worker.terminate()
        _, said = worker.communicate(timeout=paths.DEADLINE)
    assert worker.returncode == 0 and "cannot be written" not in said, said
    for name in ("links", "links/published", "links/generation"):
        info = (store / name).stat()
        assert (info.st_uid, info.st_gid) == (store.stat().st_uid, store.stat().st_gid), name
        assert info.st_mode & 0o777 == (0o750 if name == "links" else 0o640), name


def test_a_registry_that_is_synchronised_is_published(site):
    folder, store = site
    sluice = cli.Sluice(store)
    sluice("account", "create", "acme")
    published = store / "registry" / "published"
    before = published.stat().st_ino
    run = start_in("sluice-registry-sync.service", folder, "--store", store, "registry", "publish")
    _, said = run.communicate(timeout=paths.DEADLINE)
    assert run.returncode == 0, said
    assert published.stat().st_ino != before
