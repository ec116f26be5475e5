"""Seeds for stored_row_fuzz and record_fuzz: the smallest rows of every table of a real store.

    make_seeds.py STORE        after a change of a stored format, with the demo's store for instance
"""

import pathlib
import re
import subprocess
import sys

CORPUS = pathlib.Path(__file__).parent / "corpus"
# In the order of stored_row_fuzz.cpp: tables with shapes of their own, then the described ones.
LEDGER = {
    "orders": 0, "events": 1, "journal": 2, "balances": 3, "catalog": 4, "variants": 5, "chains": 6, "heads": 7,
}
REGISTRY = {"accounts": 8, "shops": 9, "tokens": 10}
SEGMENT_HEAD, BLOCK, DESCRIBED = 11, 12, 14
SEAL_BYTES = 4  # The fuzzer seals what it tries.
LEDGER_ROOM = pathlib.Path(__file__).parents[2] / "core" / "ledger"


def described_tables():
    """Names of the described tables, in the order of DescribedRows."""
    text = "".join((LEDGER_ROOM / name).read_text() for name in ("tables.cpp", "list_rows.cpp"))
    names = dict(re.findall(r"describe\(Description& table, (\w+)& row\) \{\s+table.named\(\"(\w+)\"", text))
    rows = re.findall(r"struct (\w+)[,>]", (LEDGER_ROOM / "table.hpp").read_text())
    return [names[row] for row in rows]


EACH = 2


def values(folder, table):
    dump = subprocess.run(["mdb_dump", "-s", table, folder], capture_output=True, text=True, check=False)
    lines = [line.strip() for line in dump.stdout.splitlines() if line.startswith(" ")]
    return sorted({bytes.fromhex(value) for value in lines[1::2]} - {b""}, key=len)


def main():
    store = pathlib.Path(sys.argv[1])
    target = CORPUS / "stored_row"
    target.mkdir(exist_ok=True)
    ledger = LEDGER | {table: DESCRIBED + i for i, table in enumerate(described_tables())}
    for room, tables, seal in (("ledger", ledger, SEAL_BYTES), ("registry", REGISTRY, 0)):
        for table, kind in tables.items():
            for number, value in enumerate(values(store / room, table)[:EACH]):
                (target / f"{room}_{table}_{number}").write_bytes(bytes([kind]) + value[: len(value) - seal])
    for segment in sorted((store / "archive").iterdir())[:1]:
        data = segment.read_bytes()
        (target / "segment_head").write_bytes(bytes([SEGMENT_HEAD]) + data[:112])
        (target / "block").write_bytes(bytes([BLOCK]) + data[112:4096])


if __name__ == "__main__":
    main()
