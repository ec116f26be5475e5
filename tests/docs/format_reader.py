"""Reads a store's files from the tables of docs/record-format.md alone: nothing of sluice is used.

mdb_dump (lmdb-utils) prints the rows of an LMDB table, zstd unpacks. The checksums are computed here.
"""

import struct
import subprocess

SEGMENT_FORMAT = 2  # as the page says
CRC_TABLE = []
for _byte in range(256):
    for _ in range(8):
        _byte = _byte >> 1 ^ (0x82F63B78 if _byte & 1 else 0)
    CRC_TABLE.append(_byte)


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ CRC_TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def rows(environment, table):
    """[(key, value)] of a table of LMDB, in the order of the keys."""
    dump = subprocess.run(["mdb_dump", "-s", table, str(environment)], check=True, capture_output=True, text=True).stdout
    lines = [bytes.fromhex(line[1:]) for line in dump.split("HEADER=END\n")[1].splitlines() if line.startswith(" ")]
    return list(zip(lines[::2], lines[1::2]))


class Table:
    """A FlatBuffers table at `start`."""

    def __init__(self, data, start):
        self.data, self.start = data, start
        self.vtable = start - struct.unpack_from("<i", data, start)[0]
        self.fields = (struct.unpack_from("<H", data, self.vtable)[0] - 4) // 2

    def place(self, field):
        offset = struct.unpack_from("<H", self.data, self.vtable + 4 + 2 * field)[0] if field < self.fields else 0
        return self.start + offset if offset else None

    def number(self, field, form, default=0):
        at = self.place(field)
        return default if at is None else struct.unpack_from("<" + form, self.data, at)[0]

    def target(self, field):
        at = self.place(field)
        return None if at is None else at + struct.unpack_from("<I", self.data, at)[0]

    def text(self, field):
        at = self.target(field)
        if at is None:
            return ""
        return self.data[at + 4:at + 4 + struct.unpack_from("<I", self.data, at)[0]].decode()


def read_record(record):
    magic, form, flags, meta_bytes, body_bytes, crc = struct.unpack_from("<4sHHIII", record)
    assert (magic, form) == (b"SLR1", 1)
    whole = record[:20 + meta_bytes + body_bytes]
    assert crc == crc32c(whole[:16] + whole[20:])
    table = Table(whole[20:20 + meta_bytes], struct.unpack_from("<I", whole, 20)[0])
    found = {
        "topic": table.number(0, "B"), "account": table.number(1, "I"), "shop": table.number(2, "I"),
        "account_id": table.text(3), "shop_id": table.text(4), "received": table.number(5, "q"),
        "records": table.number(11, "I", 1), "bulk": bool(flags & 1), "body": whole[20 + meta_bytes:],
    }
    receipt = record[len(whole):]
    if receipt:
        magic, lane, offset, index, crc = struct.unpack("<4sIQII", receipt)
        assert magic == b"SLRC" and crc == crc32c(receipt[:20])
        found["receipt"] = (lane, offset, index)
    return found


def read_queue(environment):
    """{sequence number: record}"""
    return {struct.unpack(">Q", key)[0]: read_record(value) for key, value in rows(environment, "records")}


def read_lane(path):
    """(ring's bytes, [batch]) from the beginning of the ring, as it is before its first lap ends."""
    data = path.read_bytes()
    head = data[:4096]
    magic, form, _, crc, _, ring = struct.unpack_from("<4sHHIIQ", head)
    assert (magic, form) == (b"SLNH", 1) and crc == crc32c(head[:8] + bytes(4) + head[12:])
    batches, place = [], 4096
    while data[place:place + 4] == b"SLNB":
        _, form, _, crc, size, records, _, offset = struct.unpack_from("<4sHHIIIIQ", data, place)
        batch = data[place:place + size]
        assert form == 1 and crc == crc32c(batch[:8] + bytes(4) + batch[12:])
        found, at = [], 96
        for _ in range(records):
            length = struct.unpack_from("<I", batch, at)[0]
            found.append(read_record(batch[at + 4:at + 4 + length]))
            at += 4 + length
        assert not any(batch[at:])
        batches.append((offset, found))
        place += size
    return ring, batches


def read_segment(path):
    """(head, [(sequence number, record)]) of an archive segment."""
    data = path.read_bytes()
    magic, form, uuid_bytes, ordinal, first, created = struct.unpack_from("<4sHHQQQ", data)
    assert (magic, form) == (b"SLA1", SEGMENT_FORMAT) and struct.unpack_from("<I", data, 108)[0] == crc32c(data[:108])
    head = {"ordinal": ordinal, "first": first, "created": created, "queue": data[32:32 + uuid_bytes].decode()}
    inputs, place = [], 112
    while place < len(data):
        magic, count, _, last, plain, stored, crc = struct.unpack_from("<4sIQQIII", data, place)
        assert magic == b"SLB1" and struct.unpack_from("<I", data, place + 52)[0] == crc32c(data[place:place + 52])
        packed = data[place + 56:place + 56 + stored]
        assert crc == crc32c(packed)
        block = subprocess.run(["zstd", "-dc"], input=packed, check=True, capture_output=True).stdout
        assert len(block) == plain
        inputs += read_inputs(block, count)
        assert inputs[-1][0] == last
        place += 56 + stored
    return head, inputs


def read_inputs(block, count):
    found, at = [], 0
    for _ in range(count):
        seq, bulk, record_bytes, _, flags, _ = struct.unpack_from("<QQIBBH", block, at)
        at += 24 + (32 if flags & 1 else 0)
        found.append((seq, read_record(block[at:at + record_bytes])))
        at += record_bytes + bulk
    assert at == len(block)
    return found


class Fields:
    """The fields of a ledger's value, sealed with a CRC32C of key and fields."""

    def __init__(self, key, value):
        assert struct.unpack("<I", value[-4:])[0] == crc32c(key + value[:-4])
        self.data, self.at = value[:-4], 0

    def number(self):
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def text(self):
        size = self.number()
        self.at += size
        return self.data[self.at - size:self.at].decode()

    def decimal(self):
        """(unscaled number, digits after the point)"""
        first = self.data[self.at]
        self.at += 1
        signed = first >> 4 & 7
        if first & 0x80:
            signed |= self.number() << 3
        return -(signed >> 1) - 1 if signed & 1 else signed >> 1, first & 0xF


def read_shops(environment):
    found = {}
    for key, value in rows(environment, "shops"):
        fields = Fields(key, value)
        found[struct.unpack(">I", key)[0]] = (fields.number(), fields.text(), fields.text())
    return found


def read_balances(environment):
    """{(account, program, creator, currency, queue): (owed, in payout, paid)}"""
    found = {}
    for key, value in rows(environment, "balances"):
        program, creator = key[4:key.index(0, 4)], key[key.index(0, 4) + 1:]
        creator, rest = creator[:creator.index(0)], creator[creator.index(0) + 1:]
        fields = Fields(key, value)
        row = (struct.unpack(">I", key[:4])[0], program.decode(), creator.decode(), rest[:-4].decode(),
               struct.unpack(">I", rest[-4:])[0])
        found[row] = (fields.decimal(), fields.decimal(), fields.decimal())
    return found
