"""What clang counted, by room, and the branches that no test takes. Fails below 95 % of a room's branches.

    tests/coverage/report.py EXPORT.json

EXPORT.json is llvm-cov's. A branch is one side of a condition as it is written (each operand of && and
|| is one), in whatever instantiation; what the compiler makes by itself is none. Assertions are not
listed: they hold, or the process ends.
"""

import argparse
import collections
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
ROOMS = ("core", "lmdb_store")
BRANCHES_MIN = 0.95


def branches_of(entry):
    """{place: [taken when true, taken when false]}, over all instantiations."""
    found = collections.defaultdict(lambda: [0, 0])
    for line, column, end_line, end_column, when_true, when_false, *_ in entry["branches"]:
        sides = found[line, column, end_line, end_column]
        sides[0] += when_true
        sides[1] += when_false
    return found


def read(path):
    """({room: {"lines": (taken, all), "branches": ...}}, {file: {line: sides never taken}})"""
    counts = {room: {"lines": [0, 0], "branches": [0, 0]} for room in ROOMS}
    missing = collections.defaultdict(lambda: collections.defaultdict(list))
    for entry in json.loads(path.read_text())["data"][0]["files"]:
        name = str(pathlib.Path(entry["filename"]).resolve().relative_to(ROOT))
        room = counts.get(name.split("/")[0])
        if room is None:
            continue
        lines = entry["summary"]["lines"]
        room["lines"][0] += lines["covered"]
        room["lines"][1] += lines["count"]
        for (line, *_), sides in branches_of(entry).items():
            room["branches"][0] += sum(count > 0 for count in sides)
            room["branches"][1] += 2
            never = [word for word, count in zip(("true", "false"), sides) if count == 0]
            if never:
                missing[name][line] += never
    return counts, missing


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("export", type=pathlib.Path)
    counts, missing = read(parser.parse_args().export)
    for name, lines in sorted(missing.items()):
        text = (ROOT / name).read_text().splitlines()
        for number, never in sorted(lines.items()):
            source = text[number - 1].strip()
            if "SLUICE_ASSERT" not in source:
                print(f"{name}:{number}: never {', '.join(never)}: {source}")
    failed = False
    for room, count in counts.items():
        taken, total = count["branches"]
        figures = "; ".join(f"{what} {a} of {b}, {100 * a / max(b, 1):.1f} %" for what, (a, b) in count.items())
        print(f"{room}: {figures}")
        failed |= total == 0 or taken < BRANCHES_MIN * total
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
