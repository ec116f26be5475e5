"""Holds a snapshot of the queue permanently: stalled_reader.py FOLDER MAP_BYTES. Prints `reading` when it does."""

import ctypes
import sys
import time

MDB_NOTLS, MDB_RDONLY = 0x200000, 0x20000


def main():
    folder, map_bytes = sys.argv[1], int(sys.argv[2])
    lmdb = ctypes.CDLL("liblmdb.so.0")
    env, txn = ctypes.c_void_p(), ctypes.c_void_p()

    def check(rc):
        if rc:
            sys.exit(f"lmdb: {rc}")

    check(lmdb.mdb_env_create(ctypes.byref(env)))
    check(lmdb.mdb_env_set_mapsize(env, ctypes.c_size_t(map_bytes)))
    check(lmdb.mdb_env_open(env, folder.encode(), MDB_NOTLS | MDB_RDONLY, 0o600))
    check(lmdb.mdb_txn_begin(env, None, MDB_RDONLY, ctypes.byref(txn)))
    print("reading", flush=True)
    time.sleep(3600)


main()
