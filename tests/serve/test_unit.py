"""The units of `sluice serve`: their filters of system calls, and their user and groups."""

import os
import pwd

import pytest
from harness import intruder, paths
from harness.serve import CreatorPages, Serve
from harness.unit_filter import allowed_calls, confine

UNITS = paths.ROOT / "conf" / "systemd"
PAGES = """base_url = "https://pages.acme.example"
[acme]
name = "Acme"
"""


def of_people(store, folder, program):
    serve = Serve(store, folder, program=program)
    return serve, (serve.read, serve.people)


def of_creators(store, folder, program):
    (folder / "creators.toml").write_text(PAGES)
    serve = CreatorPages(store, folder, folder / "creators.toml", program=program)
    return serve, (serve.read,)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes other users")
@pytest.mark.parametrize("unit, made", [("sluice-serve.service", of_people), ("sluice-creators.service", of_creators)])
def test_the_unit_starts_under_its_own_filter_and_groups(unit, made):
    folder = paths.make_folder()
    store = intruder.new_store(folder)
    owner, group = pwd.getpwnam(intruder.OWNER), pwd.getpwnam(intruder.INTRUDER).pw_gid
    calls = allowed_calls(UNITS / unit)

    def become():
        os.setgroups([group])
        os.setgid(owner.pw_gid)
        os.setuid(owner.pw_uid)
        confine(calls)

    try:
        os.chown(folder, owner.pw_uid, owner.pw_gid)
        serve, sockets = made(store, folder, paths.lend(paths.SLUICE, folder))
        serve.become = become
        with serve:
            for path in sockets:
                info = os.stat(path)
                assert (info.st_uid, info.st_gid, info.st_mode & 0o777) == (owner.pw_uid, group, 0o660)
    finally:
        paths.drop_folder(folder)
