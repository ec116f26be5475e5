"""Reads a store's files from the tables of docs/record-format.md alone: nothing of sluice is used. The tables of
the ledger are parsed from the page.

mdb_dump (lmdb-utils) prints the rows of an LMDB table, zstd unpacks. The checksums are computed here.
"""

import decimal
import hashlib
import re
import struct
import subprocess

SEGMENT_FORMAT = 3  # as the page says
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
    """[(key, value)] of a table of LMDB, or of the main table ("main"), in the order of the keys."""
    which = [] if table == "main" else ["-s", table]
    dump = subprocess.run(["mdb_dump", *which, str(environment)], check=True, capture_output=True, text=True).stdout
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
        return self.bytes(field).decode()

    def bytes(self, field):
        at = self.target(field)
        if at is None:
            return b""
        return self.data[at + 4:at + 4 + struct.unpack_from("<I", self.data, at)[0]]

    def instant(self, field):
        """(seconds, nanoseconds), or None."""
        at = self.place(field)
        return None if at is None else struct.unpack_from("<qI", self.data, at)


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


def read_registry(page, environment):
    """{table: {key: value}}. Rows are FlatBuffers with the fields that the page lists."""
    layout = {name: re.findall(r"`(\w+)` (\w+)", cell) for name, cell in re.findall(r"^\| `([A-Z]\w+)` \| (`.*) \|$", page, re.M)}

    def row(name, value):
        table = Table(value, struct.unpack_from("<I", value)[0])
        assert table.fields <= len(layout[name])
        return {field: getattr(table, form)(number) if form in ("text", "bytes", "instant")
                else table.number(number, {"u8": "B", "u32": "I", "u64": "Q"}[form])
                for number, (field, form) in enumerate(layout[name])}

    kinds = {"accounts": "Account", "shops": "Shop", "tokens": "Token"}
    plain = ("account_ids", "account_tokens", "bearers")
    found = {table: dict(rows(environment, table)) for table in plain}
    for table, kind in kinds.items():
        found[table] = {key.decode(): row(kind, value) for key, value in rows(environment, table)}
    found["main"], found["users"] = {}, {}
    for key, value in rows(environment, "main"):
        if key.startswith(b"user/"):
            found["users"][tuple(key[5:].decode().split("\0"))] = row("User", value)
        elif key.decode("latin1") not in (*plain, *kinds):  # LMDB's own rows name the other tables
            found["main"][key] = value
    return found


def read_published(path):
    """(pages, generation, most signing tokens of an account)"""
    data = path.read_bytes()
    pages, seal = data[:-32], data[-32:]
    magic, generation, size, tokens, crc = struct.unpack("<8sQQII", seal)
    assert magic == b"SLCREGC1" and size == len(pages) and crc == crc32c(pages + seal[:28])
    return pages, generation, tokens


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
        assert magic == b"SLB1" and struct.unpack_from("<I", data, place + 68)[0] == crc32c(data[place:place + 68])
        packed = data[place + 72:place + 72 + stored]
        assert crc == crc32c(packed)
        block = subprocess.run(["zstd", "-dc"], input=packed, check=True, capture_output=True).stdout
        assert len(block) == plain
        inputs += read_inputs(block, count)
        assert inputs[-1][0] == last
        place += 72 + stored
    return head, inputs


def read_inputs(block, count):
    found, at = [], 0
    for _ in range(count):
        seq, bulk, record_bytes, location, flags, reason = struct.unpack_from("<QQIBBH", block, at)
        at += 24 + (64 if flags & 1 else 0) + (8 if flags & 2 else 0)
        record = read_record(block[at + reason:at + reason + record_bytes])
        found.append((seq, record | {"location": location, "reason": block[at:at + reason].decode()}))
        at += reason + record_bytes + bulk
    assert at == len(block)
    return found


class Layout:
    """The page's tables of tables, rows and their columns: {name: [(column, form)]}."""

    def __init__(self, page):
        self.keys, self.rows = {}, {}
        for name, *cells in re.findall(r"^\| `?([a-z_ ]+)`? \|(.*?)\|(?:(.*)\|)?$", page, re.M):
            columns = [self.columns(cell) for cell in cells]
            if cells[1] and re.search(r"^ `\w+` (u32|u64|text|\d+ bytes)", cells[0]):
                self.keys[name] = columns[0]
                self.rows[name] = columns[1] or [("", cells[1].strip())] * bool(cells[1].strip())
            elif not cells[1] and columns[0]:
                self.rows[name] = columns[0]

    @staticmethod
    def columns(cell):
        return re.findall(r"`(\w+)` ((?:optional |list of )*[\w ]+?)(?:,|\s*$)", cell)


def read_key(layout, table, key):
    """({column: value}, whether a text of the key was cut)"""
    found, cut = {}, 0
    columns = layout.keys[table]
    for number, (name, form) in enumerate(columns):
        if form == "text":
            size = next((at for at, byte in enumerate(key) if byte < 2), len(key))
            if key[size:size + 1] == b"\x01":
                cut, size = cut + 1, size + 33
            found[name] = key[:size]
            key = key[size:]
            if number + 1 < len(columns):
                assert key[0] == 0
                key = key[1:]
            continue
        size = {"u8": 1, "u32": 4, "u64": 8, "instant": 12}.get(form) or int(form.split()[0])
        value, key = key[:size], key[size:]
        assert len(value) == size
        if form == "instant":
            found[name] = (int.from_bytes(value[:8], "big") - (1 << 63), int.from_bytes(value[8:], "big"))
        else:
            found[name] = int.from_bytes(value, "big") if form.startswith("u") else value
    assert not key, table
    return found, cut


class Fields:
    """The fields of a ledger's value, sealed with a CRC32C of key and fields."""

    def __init__(self, layout, key, value):
        assert struct.unpack("<I", value[-4:])[0] == crc32c(key + value[:-4])
        self.layout, self.data, self.at = layout, value[:-4], 0
        self.lines, self.rates, self.last_entry = [], [], 0

    def complete(self):
        return self.at == len(self.data)

    def bytes(self, count):
        self.at += count
        assert self.at <= len(self.data)
        return self.data[self.at - count:self.at]

    def number(self):
        value = shift = 0
        while True:
            (byte,) = self.bytes(1)
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def signed(self):
        return unfolded(self.number())

    def text(self):
        return self.bytes(self.number())

    def instant(self):
        """(seconds, nanoseconds)"""
        value = self.number()
        return unfolded(value >> 1), self.number() if value & 1 else 0

    def currency(self):
        first = self.bytes(1)
        return "" if first == b"\0" else (first + self.bytes(2)).decode()

    def decimal(self):
        (first,) = self.bytes(1)
        folded = first >> 4 & 7
        if first & 0x80:
            folded |= self.number() << 3
        return decimal.Decimal(unfolded(folded)).scaleb(-(first & 0xF))

    def place(self):
        place = self.number()
        return self.lines[place - 1] if place else self.text()

    def rate(self):
        back = self.number()
        if back:
            return self.rates[-back]
        self.rates.append(self.row("stated rate"))
        return self.rates[-1]

    def entry(self):
        self.last_entry += self.signed()
        return self.last_entry

    def value(self, form, row):
        if form.startswith("optional "):
            return self.value(form.removeprefix("optional "), row) if self.number() else None
        if form.startswith("list of "):
            return [self.value(form.removeprefix("list of "), row) for _ in range(self.number())]
        if form == "same":
            return row["recorded_at"] if self.number() else self.instant()
        if found := re.fullmatch(r"(\d+) (bytes|numbers)", form):
            count = int(found[1])
            return self.bytes(count) if found[2] == "bytes" else [self.number() for _ in range(count)]
        return self.row(form) if form in self.layout.rows else getattr(self, form)()

    def row(self, name):
        found = {}
        for column, form in self.layout.rows[name]:
            found[column] = self.value(form, found)
            if name == "order" and column == "lines":
                self.lines = [line["id"] for line in found["lines"]]
        return found


def unfolded(number):
    return -(number >> 1) - 1 if number & 1 else number >> 1


def read_ledger(page, environment):
    """{table: [(key, value)]} of every table of the ledger, as the page describes it."""
    layout = Layout(page)
    found = {}
    for table in layout.keys:
        found[table] = []
        for key, value in rows(environment, table):
            columns, cut = read_key(layout, table, key)
            shape = layout.rows[table]
            if not value:
                assert not shape and not cut, table
                found[table].append((columns, {}))
                continue
            fields = Fields(layout, key, value)
            for _ in range(cut):
                fields.text()
            whole = shape[0][0] == "" if shape else False
            row = fields.row(shape[0][1]) if whole else fields.row(table)
            assert fields.complete(), table
            found[table].append((columns, row))
    return found


def tables(environment):
    listed = subprocess.run(["mdb_stat", "-a", str(environment)], check=True, capture_output=True, text=True).stdout
    return re.findall(r"^Status of (\w+)$", listed, re.M)


class Canonical:
    """The canonical bytes of journal entries, by the page's list of their fields."""

    def __init__(self, page):
        section = page[page.index("Canonical bytes are"):page.index("A memo entry has input")]
        fields = re.findall(r"^\| ([a-z][a-z ,]*) \| ([a-z\d][a-z\d ,]*) \|.*\|$", section, re.M)
        self.fields = [pair for names, forms in fields for pair in zip(names.split(", "), forms.split(", "), strict=True)]
        self.magic = re.search(r"^\| magic \| 4 bytes \| `(\w+)` \|$", section, re.M)[1].encode()
        number = {"none": 0} | {name: int(at) for at, name in re.findall(
            r"(\d) (expense|owed|payout|paid)", re.search(r"^\| debit, credit account .*$", section, re.M)[0])}
        self.accounts = {}
        for reasons, debit, credit in re.findall(r"^\| (\d+ [A-Z].*) \| (\w+), (\w+) \|$", section, re.M):
            for reason in re.findall(r"\d+", reasons):
                self.accounts[int(reason)] = number[debit], number[credit]

    def hashed(self, before, node, first_entry, group):
        """The hash after the last entry of `group`."""
        for index, entry in enumerate(group["entries"]):
            before = hashlib.sha256(before + self.bytes(node, first_entry + index, group, entry)).digest()
        return before

    def bytes(self, node, number, group, entry):
        debit, credit = self.accounts.get(entry["reason"], (0, 0))
        amount = entry["amount"].as_tuple()
        unscaled = int("".join(map(str, amount.digits))) * (-1 if amount.sign else 1)
        memo = debit == 0
        values = {name.replace("_", " "): value for name, value in (group | entry).items()} | {
            "magic": self.magic, "entry": number, "node": node, "order": group["order_id"], "debit": debit,
            "credit account": credit, "scale": 0 if memo else -amount.exponent, "unscaled amount": 0 if memo else unscaled,
            "currency": "" if memo else entry["currency"]}
        return b"".join(self.field(form, values[name]) for name, form in self.fields)

    @staticmethod
    def field(form, value):
        if form == "4 bytes":
            return value
        if form == "text":
            value = value if isinstance(value, bytes) else value.encode()
            return struct.pack("<I", len(value)) + value
        if form == "instant":
            return struct.pack("<qI", *value)
        return value.to_bytes(int(form[1:]) // 8, "little", signed=form[0] == "i")
