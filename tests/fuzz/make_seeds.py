"""Seeds for stored_row_fuzz and record_fuzz: the smallest rows of every table of a real store.

    make_seeds.py STORE        after a change of a stored format, with the demo's store for instance
"""

import pathlib
import subprocess
import sys

CORPUS = pathlib.Path(__file__).parent / "corpus"
# In the order of stored_row_fuzz.cpp; several tables may share a kind.
LEDGER = {
    "orders": 0, "events": 1, "journal": 2, "refunds": 3, "anomalies": 4, "balances": 5, "open": 6,
    "codes": 7, "memberships": 8, "touches": 9, "waiting": 10, "variants": 10, "programs": 11,
    "program_versions": 11, "catalog": 12, "shops": 13, "payouts": 14, "commands": 15, "dead": 16,
    "work": 17, "chains": 18, "heads": 19,
}
REGISTRY = {"accounts": 20, "shops": 21, "tokens": 22}
EACH = 2


def values(folder, table):
    dump = subprocess.run(["mdb_dump", "-s", table, folder], capture_output=True, text=True, check=False)
    lines = [line.strip() for line in dump.stdout.splitlines() if line.startswith(" ")]
    return sorted({bytes.fromhex(value) for value in lines[1::2]} - {b""}, key=len)


def main():
    store = pathlib.Path(sys.argv[1])
    target = CORPUS / "stored_row"
    target.mkdir(exist_ok=True)
    for room, tables in (("ledger", LEDGER), ("registry", REGISTRY)):
        for table, kind in tables.items():
            for number, value in enumerate(values(store / room, table)[:EACH]):
                (target / f"{room}_{table}_{number}").write_bytes(bytes([kind]) + value)
    for segment in sorted((store / "archive").iterdir())[:1]:
        data = segment.read_bytes()
        (target / "segment_head").write_bytes(bytes([23]) + data[:112])
        (target / "block").write_bytes(bytes([24]) + data[112:4096])


if __name__ == "__main__":
    main()
