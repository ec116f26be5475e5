"""A process with the rights of a broken nginx worker, and a store of the shape that a package makes."""

import os
import pwd
import signal
import struct
import subprocess

from harness import cli

INTRUDER = "www-data"  # the user of nginx's workers, in the group of the store
OWNER = "games"  # stands for the user `sluice`, which a build machine does not have


def new_store(folder):
    """A store of OWNER that nginx's workers share, in a folder that root owns."""
    store = folder / "store"
    group = pwd.getpwnam(INTRUDER).pw_gid
    cli.Sluice(store)("init", "--group", INTRUDER)
    owner = pwd.getpwnam(OWNER).pw_uid
    for path in [store, *store.rglob("*")]:
        mode = path.lstat().st_mode & 0o7777
        os.lchown(path, owner, group)
        os.chmod(path, mode)  # chown clears the set-group-id bit of a file
    return store


def run_as(user, action, timeout=30):
    """Calls `action` in a process of the user, with its group only. Returns the name of the exception that ended it,
    or None."""
    entry = pwd.getpwnam(user)
    read_end, write_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        name = ""
        try:
            os.close(read_end)
            signal.alarm(timeout)
            os.setgroups([])
            os.setgid(entry.pw_gid)
            os.setuid(entry.pw_uid)
            action()
        except BaseException as failure:  # pylint: disable=broad-except
            name = type(failure).__name__
        os.write(write_end, name.encode())
        os._exit(0)
    os.close(write_end)
    with os.fdopen(read_end, "rb") as end:
        name = end.read().decode()
    status = os.waitpid(pid, 0)[1]
    assert status == 0, f"the process of {user} ended with status {status}"
    return name or None


def append_records(queue, records):
    """Appends records to the queue with LMDB's own tool, as the intruder."""
    dump = subprocess.run(["mdb_dump", "-s", "records", queue], check=True, capture_output=True, text=True).stdout
    first = int(dump.split("HEADER=END\n")[1].splitlines()[-3].strip(), 16) + 1
    rows = [(struct.pack(">Q", first + at), record) for at, record in enumerate(records)]
    after = struct.pack(">Q", first + len(rows))
    for table, added in ((["-s", "records"], rows), ([], [(b"next_seq", after)])):
        lines = [f" {half.hex()}\n" for row in added for half in row]
        text = "VERSION=3\nformat=bytevalue\ntype=btree\nmapsize=1073741824\nHEADER=END\n" + "".join(lines) + "DATA=END\n"
        subprocess.run(["setpriv", "--reuid", INTRUDER, "--regid", INTRUDER, "--clear-groups", "mdb_load", *table, queue],
                       check=True, input=text, text=True)


def tries(*actions):
    """An action that performs all of them, whatever fails."""

    def action():
        for one in actions:
            try:
                one()
            except OSError:
                pass

    return action


def status_of(pid, field):
    """A line of /proc/PID/status, as a list of words."""
    with open(f"/proc/{pid}/status") as status:
        for line in status:
            if line.startswith(field + ":"):
                return line.split()[1:]
    raise AssertionError(f"no {field} in /proc/{pid}/status")
