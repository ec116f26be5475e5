"""LMDB of another version than the store's: its library, and what its files begin with; and rows that no program of sluice makes."""

import pathlib
import struct
import subprocess
import sys

MAGIC = 0xBEEFC0DE
META_PAGE = 8

LIBRARY = """
char* mdb_version(int* major, int* minor, int* patch) {
    if (major) *major = %d;
    if (minor) *minor = %d;
    if (patch) *patch = %d;
    return "LMDB of a test";
}
"""


def library_of(folder, version):
    """The environment in which a program has that LMDB. Every other function is that of 0.9."""
    library = pathlib.Path(folder) / f"lmdb-{version}.so"
    source = library.with_suffix(".c")
    source.write_text(LIBRARY % tuple(map(int, version.split("."))))
    subprocess.run(["cc", "-shared", "-fPIC", source, "-o", library], check=True)
    return {"LD_PRELOAD": str(library)}


def page_of_10(version=2):
    """A meta page of LMDB 1.0: page number, transaction, flags; then the meta."""
    return struct.pack("<QQHHI", 0, 0, 0, META_PAGE, 0) + struct.pack("<II", MAGIC, version)


def page_of_09(version):
    """One of 0.9 with another version of the data: page number, flags; then the meta."""
    return struct.pack("<QHHI", 0, 0, META_PAGE, 0) + struct.pack("<II", MAGIC, version)


def overwrite(path, page):
    """Puts the page in place of both meta pages. Returns what was there."""
    before = path.read_bytes()
    with open(path, "r+b") as data:
        for at in (0, 4096):
            data.seek(at)
            data.write(page.ljust(4096, b"\0"))
    return before


# Arguments: folder, table, two texts of equal length, and whether the copies are removed again.
COPY_ROWS = """
import ctypes, sys
folder, table, old, new, undo = (word.encode() for word in sys.argv[1:])
class Value(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("data", ctypes.c_void_p)]
    def bytes(self):
        return ctypes.string_at(self.data, self.size)
def value(text):
    return Value(len(text), ctypes.cast(ctypes.create_string_buffer(text, len(text)), ctypes.c_void_p))
lmdb = ctypes.CDLL("liblmdb.so.0")
env, txn, dbi, cursor = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_uint(), ctypes.c_void_p()
lmdb.mdb_env_create(ctypes.byref(env))
lmdb.mdb_env_set_mapsize(env, ctypes.c_size_t(1 << 40))
lmdb.mdb_env_set_maxdbs(env, 128)
assert lmdb.mdb_env_open(env, folder, 0, 0o600) == 0
assert lmdb.mdb_txn_begin(env, None, 0, ctypes.byref(txn)) == 0
assert lmdb.mdb_dbi_open(txn, table, 0, ctypes.byref(dbi)) == 0
assert lmdb.mdb_cursor_open(txn, dbi, ctypes.byref(cursor)) == 0
rows, key, data = [], Value(), Value()
while lmdb.mdb_cursor_get(cursor, ctypes.byref(key), ctypes.byref(data), 8) == 0:  # MDB_NEXT
    rows.append((key.bytes(), data.bytes()))
lmdb.mdb_cursor_close(cursor)
copies = [(key.replace(old, new), data) for key, data in rows if old in key]
assert copies
for name, data in copies:
    one = value(name)
    done = lmdb.mdb_del(txn, dbi, ctypes.byref(one), None) if undo == b"1" else lmdb.mdb_put(txn, dbi, ctypes.byref(one), ctypes.byref(value(data)), 0)
    assert done == 0
assert lmdb.mdb_txn_commit(txn) == 0
lmdb.mdb_env_close(env)
"""


def copy_rows(folder, table, old, new, undo=False):
    """Copies the rows whose key has the bytes `old` to keys that have `new` there."""
    subprocess.run([sys.executable, "-c", COPY_ROWS, folder, table, old, new, str(int(undo))], check=True)
