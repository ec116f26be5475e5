"""The unit of `sluice notify`: its filter of system calls, what it may read and write, and the addresses it denies."""

import inspect
import ipaddress
import os
import pwd
import re
import shlex
import subprocess

import pytest
from harness import intruder, paths, unit_filter
from harness.unit_filter import allowed_calls
from harness.webhooks import Receiver
from notify.conftest import Site

UNIT = paths.ROOT / "conf" / "systemd" / "sluice-notify.service"
# Runs a program under a filter of system calls: CALL,... PROGRAM ARGUMENT...; its user may not be able to read this folder.
CONFINED = inspect.getsource(unit_filter) + """
import os, sys
confine(sys.argv[1].split(","))
os.execv(sys.argv[2], sys.argv[2:])
"""
root = pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes other users and mounts")


def values(name):
    return [word for value in re.findall(rf"^{name}=(.*)$", UNIT.read_text(), re.MULTILINE) for word in shlex.split(value)]


def mounts(store):
    """A shell that makes the unit's mounts of the store in a mount namespace, then becomes its owner's program."""
    def inside(name):
        return [path.removeprefix("-").replace("/var/lib/sluice", str(store)) for path in values(name)]

    lines = ["set -e", "mount --make-rprivate /", f"mount --bind {store} {store}", f"mount -o remount,bind,ro {store}"]
    for path in inside("ReadWritePaths"):
        lines += [f"mount --bind {path} {path}", f"mount -o remount,bind,rw {path}"]
    for path in inside("InaccessiblePaths"):
        lines.append(f"if [ -d {path} ]; then mount -t tmpfs -o mode=0,ro none {path}; "
                     f"elif [ -e {path} ]; then mount --bind -o ro {closed(store)} {path}; fi")
    return "\n".join([*lines, 'exec setpriv --reuid "$1" --regid "$2" --clear-groups -- "${@:3}"'])


def closed(store):
    file = store.parent / "closed"
    file.touch(mode=0o000)
    return file


@root
def test_the_unit_delivers_under_its_mounts_and_its_filter():
    folder = paths.make_folder()
    try:
        site = Site(folder)
        site.sluice.store = intruder.new_store(folder)
        site.sluice.environment["SLUICE_STORE"] = str(site.sluice.store)
        site.set_up()
        owner = pwd.getpwnam(intruder.OWNER)
        calls = allowed_calls(UNIT)
        with Receiver(folder) as receiver:
            site.add("erp", receiver)
            site.credit()
            script = mounts(site.sluice.store)
            prefix = ["unshare", "--mount", "bash", "-c", script, "bash", str(owner.pw_uid), str(owner.pw_gid)]
            for name, allowed in (("master.key", False), ("command.key", False), ("notify.key", True), ("format", True),
                                  ("registry/data.mdb", False), ("queue/data.mdb", False), ("ledger/data.mdb", True)):
                read = subprocess.run([*prefix, "head", "-c1", site.sluice.store / name], capture_output=True)
                assert (read.returncode == 0) == allowed, (name, read.stderr)
            for name, allowed in (("notify/x", True), ("x", False), ("ledger/x", False)):
                made = subprocess.run([*prefix, "touch", site.sluice.store / name], capture_output=True)
                assert (made.returncode == 0) == allowed, (name, made.stderr)
            confined = ["/usr/bin/python3", "-c", CONFINED, ",".join(sorted(calls))]
            with site.run(receiver, prefix=[*prefix, *confined], program=paths.lend(paths.SLUICE, folder)):
                receiver.wait(1)
                site.wait_for("erp", delivered=1)
    finally:
        paths.drop_folder(folder)


def test_private_addresses_are_denied_but_for_the_resolver():
    denied = [ipaddress.ip_network(text) for text in values("IPAddressDeny")]
    allowed = [ipaddress.ip_network(text) for text in values("IPAddressAllow")]
    for text in ("127.0.0.1", "10.0.0.5", "172.16.9.9", "192.168.1.1", "169.254.169.254", "100.64.0.1", "224.0.0.1", "::1",
                 "fc00::1", "fe80::1", "ff02::1"):
        address = ipaddress.ip_address(text)
        assert any(address in network for network in denied if network.version == address.version), text
        assert not any(address in network for network in allowed if network.version == address.version), text
    assert not any(ipaddress.ip_address("93.184.216.34") in network for network in denied if network.version == 4)
    assert allowed == [ipaddress.ip_network("127.0.0.53"), ipaddress.ip_network("127.0.0.54")]


def test_systemd_accepts_the_unit():
    run = subprocess.run(["systemd-analyze", "verify", UNIT], capture_output=True, text=True)
    complaints = [line for line in run.stderr.splitlines() if "sluice-notify" in line
                  and "is not executable" not in line and "man sluice(1)" not in line]
    assert not complaints
