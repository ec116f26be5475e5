"""LMDB of another version than the store's: its library, and what its files begin with."""

import pathlib
import struct
import subprocess

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
