"""The unit of `sluice serve`: its filter of system calls, and its user and groups."""

import ctypes
import os
import pwd
import re
import subprocess

import pytest
from harness import intruder, paths
from harness.serve import Serve

UNIT = paths.ROOT / "conf" / "systemd" / "sluice-serve.service"


def allowed_calls():
    """Names of the system calls that the unit's filter allows, as systemd resolves its sets."""
    known = {}
    for line in subprocess.run(["systemd-analyze", "syscall-filter"], check=True, capture_output=True, text=True).stdout.splitlines():
        if line.startswith("@"):
            current = known.setdefault(line.strip(), [])
        elif (name := line.strip()) and not name.startswith("#"):
            current.append(name)

    def resolve(words):
        for word in words:
            if word.startswith("@"):
                yield from resolve(known[word])
            else:
                yield word

    allowed = set(resolve(["@default"]))
    for value in re.findall(r"^SystemCallFilter=(.*)$", UNIT.read_text(), re.MULTILINE):
        calls = set(resolve(value.removeprefix("~").split()))
        allowed = allowed - calls if value.startswith("~") else allowed | calls
    return allowed


def confine(calls):
    """Loads a seccomp filter into this process: other calls get EPERM, as the unit's SystemCallErrorNumber says."""
    library = ctypes.CDLL("libseccomp.so.2", use_errno=True)
    library.seccomp_init.restype = ctypes.c_void_p
    permit, refuse = 0x7FFF0000, 0x00050000 | 1
    context = ctypes.c_void_p(library.seccomp_init(refuse))
    for name in calls:
        number = library.seccomp_syscall_resolve_name(name.encode())
        if number >= 0:
            assert library.seccomp_rule_add(context, permit, number, 0) == 0, name
    assert library.seccomp_load(context) == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes other users")
def test_the_unit_starts_under_its_own_filter_and_groups():
    folder = paths.make_folder()
    store = intruder.new_store(folder)
    owner, group = pwd.getpwnam(intruder.OWNER), pwd.getpwnam(intruder.INTRUDER).pw_gid
    calls = allowed_calls()

    def become():
        os.setgroups([group])
        os.setgid(owner.pw_gid)
        os.setuid(owner.pw_uid)
        confine(calls)

    try:
        os.chown(folder, owner.pw_uid, owner.pw_gid)
        serve = Serve(store, folder)
        serve.become = become
        with serve:
            for path in (serve.read, serve.people):
                info = os.stat(path)
                assert (info.st_uid, info.st_gid, info.st_mode & 0o777) == (owner.pw_uid, group, 0o660)
    finally:
        paths.drop_folder(folder)
