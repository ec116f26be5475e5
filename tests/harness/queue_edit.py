"""Edits a queue as another program with the rights of an nginx worker does, through LMDB's own library. No sluice may
have the queue open in this process; other processes may."""
import contextlib
import ctypes
import struct

LMDB = ctypes.CDLL("liblmdb.so.0")
MAP_BYTES = 1 << 30
MDB_NOSYNC = 0x10000
MDB_SET_RANGE = 17


class Val(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("data", ctypes.c_void_p)]

    @classmethod
    def of(cls, text):
        made = cls(len(text), ctypes.cast(ctypes.create_string_buffer(text, len(text)), ctypes.c_void_p))
        made.kept = text
        return made

    def bytes(self):
        return ctypes.string_at(self.data, self.size)


def check(code):
    assert code == 0, f"LMDB: {code}"


class Queue:
    def __init__(self, txn, main, records):
        self.txn, self.main, self.records = txn, main, records

    def get(self, seq):
        found = Val()
        check(LMDB.mdb_get(self.txn, self.records, ctypes.byref(Val.of(struct.pack(">Q", seq))), ctypes.byref(found)))
        return found.bytes()

    def put(self, seq, record):
        check(LMDB.mdb_put(self.txn, self.records, ctypes.byref(Val.of(struct.pack(">Q", seq))),
                           ctypes.byref(Val.of(record)), 0))

    def remove(self, seq):
        check(LMDB.mdb_del(self.txn, self.records, ctypes.byref(Val.of(struct.pack(">Q", seq))), None))

    def set_next_seq(self, seq):
        check(LMDB.mdb_put(self.txn, self.main, ctypes.byref(Val.of(b"next_seq")),
                           ctypes.byref(Val.of(struct.pack(">Q", seq))), 0))


@contextlib.contextmanager
def edited(store):
    """A transaction on the queue of the store."""
    env, txn, main, records = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_uint(), ctypes.c_uint()
    check(LMDB.mdb_env_create(ctypes.byref(env)))
    check(LMDB.mdb_env_set_maxdbs(env, 8))
    check(LMDB.mdb_env_set_mapsize(env, ctypes.c_size_t(MAP_BYTES)))
    check(LMDB.mdb_env_open(env, str(store / "queue").encode(), MDB_NOSYNC, 0o660))
    check(LMDB.mdb_txn_begin(env, None, 0, ctypes.byref(txn)))
    check(LMDB.mdb_dbi_open(txn, None, 0, ctypes.byref(main)))
    check(LMDB.mdb_dbi_open(txn, b"records", 0, ctypes.byref(records)))
    try:
        yield Queue(txn, main, records)
        check(LMDB.mdb_txn_commit(txn))
    finally:
        LMDB.mdb_env_close(env)


@contextlib.contextmanager
def _environment(folder):
    env = ctypes.c_void_p()
    check(LMDB.mdb_env_create(ctypes.byref(env)))
    check(LMDB.mdb_env_set_maxdbs(env, 32))
    check(LMDB.mdb_env_set_mapsize(env, ctypes.c_size_t(MAP_BYTES)))
    check(LMDB.mdb_env_open(env, str(folder).encode(), MDB_NOSYNC, 0o660))
    try:
        yield env
    finally:
        LMDB.mdb_env_close(env)


def remove_rows(folder, prefix, table=None, most=None):
    """Removes the rows of an environment's main table, or of another one, whose keys begin so.

    most: how many at most; None: all. Returns how many."""
    removed = 0
    txn, main, cursor = ctypes.c_void_p(), ctypes.c_uint(), ctypes.c_void_p()
    with _environment(folder) as env:
        check(LMDB.mdb_txn_begin(env, None, 0, ctypes.byref(txn)))
        check(LMDB.mdb_dbi_open(txn, table, 0, ctypes.byref(main)))
        check(LMDB.mdb_cursor_open(txn, main, ctypes.byref(cursor)))
        key, value = Val.of(prefix or b"\0"), Val()
        while removed != most and LMDB.mdb_cursor_get(cursor, ctypes.byref(key), ctypes.byref(value), MDB_SET_RANGE) == 0:
            if not key.bytes().startswith(prefix):
                break
            check(LMDB.mdb_cursor_del(cursor, 0))
            removed += 1
            key = Val.of(prefix or b"\0")
        LMDB.mdb_cursor_close(cursor)
        check(LMDB.mdb_txn_commit(txn))
    return removed


def put_row(folder, key, value):
    """Writes a row of an environment's main table."""
    txn, main = ctypes.c_void_p(), ctypes.c_uint()
    with _environment(folder) as env:
        check(LMDB.mdb_txn_begin(env, None, 0, ctypes.byref(txn)))
        check(LMDB.mdb_dbi_open(txn, None, 0, ctypes.byref(main)))
        check(LMDB.mdb_put(txn, main, ctypes.byref(Val.of(key)), ctypes.byref(Val.of(value)), 0))
        check(LMDB.mdb_txn_commit(txn))


def commit_often(folder, pairs):
    """Makes 2 * `pairs` transactions that leave everything as it was."""
    txn, main = ctypes.c_void_p(), ctypes.c_uint()
    key, value = Val.of(b"of a test"), Val.of(b"x")
    with _environment(folder) as env:
        for at in range(2 * pairs):
            check(LMDB.mdb_txn_begin(env, None, 0, ctypes.byref(txn)))
            check(LMDB.mdb_dbi_open(txn, None, 0, ctypes.byref(main)))
            if at % 2:
                check(LMDB.mdb_del(txn, main, ctypes.byref(key), None))
            else:
                check(LMDB.mdb_put(txn, main, ctypes.byref(key), ctypes.byref(value), 0))
            check(LMDB.mdb_txn_commit(txn))
