"""The bytes of an archive, unpacked (docs/record-format.md)."""

import ctypes
import struct

ZSTD = ctypes.CDLL("libzstd.so.1")
ZSTD.ZSTD_decompress.restype = ctypes.c_size_t
SEGMENT_HEAD, BLOCK_HEAD = 112, 72


def archived(store):
    """Every byte of the archive."""
    found = b""
    for path in sorted((store / "archive").iterdir()):
        data, at = path.read_bytes(), SEGMENT_HEAD
        while at + BLOCK_HEAD <= len(data):
            assert data[at:at + 4] == b"SLB1"
            raw, stored = struct.unpack_from("<II", data, at + 24)
            packed, unpacked = data[at + BLOCK_HEAD:at + BLOCK_HEAD + stored], ctypes.create_string_buffer(raw)
            assert ZSTD.ZSTD_decompress(unpacked, ctypes.c_size_t(raw), packed, ctypes.c_size_t(stored)) == raw
            found += unpacked.raw
            at += BLOCK_HEAD + stored
    return found
