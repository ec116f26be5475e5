"""The filter of system calls of a systemd unit, loaded into a process as systemd does."""

import ctypes
import re
import subprocess


def allowed_calls(unit):
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
    for value in re.findall(r"^SystemCallFilter=(.*)$", unit.read_text(), re.MULTILINE):
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
