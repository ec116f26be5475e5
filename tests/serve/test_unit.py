"""The unit of `sluice serve`: its filter of system calls, and its user and groups."""

import os
import pwd

import pytest
from harness import intruder, paths
from harness.serve import Serve
from harness.unit_filter import allowed_calls, confine

UNIT = paths.ROOT / "conf" / "systemd" / "sluice-serve.service"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes other users")
def test_the_unit_starts_under_its_own_filter_and_groups():
    folder = paths.make_folder()
    store = intruder.new_store(folder)
    owner, group = pwd.getpwnam(intruder.OWNER), pwd.getpwnam(intruder.INTRUDER).pw_gid
    calls = allowed_calls(UNIT)

    def become():
        os.setgroups([group])
        os.setgid(owner.pw_gid)
        os.setuid(owner.pw_uid)
        confine(calls)

    try:
        os.chown(folder, owner.pw_uid, owner.pw_gid)
        serve = Serve(store, folder, program=paths.lend(paths.SLUICE, folder))
        serve.become = become
        with serve:
            for path in (serve.read, serve.people):
                info = os.stat(path)
                assert (info.st_uid, info.st_gid, info.st_mode & 0o777) == (owner.pw_uid, group, 0o660)
    finally:
        paths.drop_folder(folder)
