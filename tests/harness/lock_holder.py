"""Processes that hold a lock of a store, say so, and release it when their input ends."""
import subprocess
import sys

# Locks a byte of a file. Arguments: the file, the byte, `ofd` or `posix`.
LOCK_BYTE = """
import fcntl, os, struct, sys
fd = os.open(sys.argv[1], os.O_RDWR)
byte = int(sys.argv[2])
if sys.argv[3] == "ofd":
    fcntl.fcntl(fd, 37, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, byte, 1, 0))  # F_OFD_SETLK
else:
    fcntl.lockf(fd, fcntl.LOCK_EX, 1, byte)
print("locked", flush=True)
sys.stdin.read()
"""

# Begins LMDB's write transaction in a folder: no other process can write there.
WRITER = """
import ctypes, sys
lmdb = ctypes.CDLL("liblmdb.so.0")
env, txn = ctypes.c_void_p(), ctypes.c_void_p()
lmdb.mdb_env_create(ctypes.byref(env))
lmdb.mdb_env_set_mapsize(env, ctypes.c_size_t(64 << 30))
lmdb.mdb_env_set_maxdbs(env, 16)
assert lmdb.mdb_env_open(env, sys.argv[1].encode(), 0x200000, 0o600) == 0
assert lmdb.mdb_txn_begin(env, None, 0, ctypes.byref(txn)) == 0
print("locked", flush=True)
sys.stdin.read()
lmdb.mdb_txn_abort(txn)
lmdb.mdb_env_close(env)
"""

# Has LMDB's environment open; with a number, takes that many of its reader slots, or all that there are.
READER = """
import ctypes, sys
lmdb = ctypes.CDLL("liblmdb.so.0")
env = ctypes.c_void_p()
lmdb.mdb_env_create(ctypes.byref(env))
lmdb.mdb_env_set_maxdbs(env, 16)
assert lmdb.mdb_env_open(env, sys.argv[1].encode(), 0x200000 | 0x20000, 0o600) == 0  # MDB_NOTLS, MDB_RDONLY
txns = [ctypes.c_void_p() for _ in range(int(sys.argv[2]))]
for txn in txns:
    if lmdb.mdb_txn_begin(env, None, 0x20000, ctypes.byref(txn)) != 0:
        break
print("locked", flush=True)
sys.stdin.read()
"""

# Where LMDB's lock file holds the threads that have its mutexes.
MUTEX_AT = {"readers": 8, "writer": 64}


class LockHolder:
    """Another process that holds something of the store."""

    def __init__(self, *arguments):
        self.process = subprocess.Popen(
            [sys.executable, "-c", *map(str, arguments)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout.readline() == "locked\n"
        self.pid = self.process.pid

    def release(self):
        if self.process.poll() is None:
            self.process.communicate()
