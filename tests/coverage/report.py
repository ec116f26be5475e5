"""The coverage that clang counted, by room, and the branches that no test takes, each of which needs its reason.

    tests/coverage/report.py EXPORT.json [--list]      --list: as docs/coverage.md wants them

EXPORT.json is llvm-cov's. A branch is one side of a condition as it is written (each operand of && and
|| is one), in whatever instantiation; what the compiler adds is none (the default that a switch over
an enumeration has not, a defaulted comparison). Assertions are not counted: they hold, or the process
ends. Fails if a branch is neither taken nor listed, if a listed line is no longer in its file, or
below 95 % of a room's branches. A line is known by its file and its text, which outlives edits
elsewhere in the file.
"""

import argparse
import collections
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LISTED = ROOT / "docs" / "coverage.md"
ROOMS = ("core", "os", "lmdb_store")
BRANCHES_MIN = 0.95
NOT_WRITTEN = re.compile(r"switch \(.*\) \{$|operator(==|<=>)\(.*\).* = default;$|SLUICE_ASSERT")


def branches_of(entry):
    """{place: [taken when true, taken when false]}, over all instantiations."""
    found = collections.defaultdict(lambda: [0, 0])
    for line, column, end_line, end_column, when_true, when_false, *_ in entry["branches"]:
        sides = found[line, column, end_line, end_column]
        sides[0] += when_true
        sides[1] += when_false
    return found


class Coverage:
    """Counts of each room, and (file, line number, text, sides never taken) of each branch with a missing side."""

    def __init__(self, export):
        self.counts = {room: {"lines": [0, 0], "branches": [0, 0]} for room in ROOMS}
        self.missing = []
        for entry in json.loads(export.read_text())["data"][0]["files"]:
            name = str(pathlib.Path(entry["filename"]).resolve().relative_to(ROOT))
            if name.split("/")[0] in self.counts:
                self._add(name, entry)

    def _add(self, name, entry):
        room = self.counts[name.split("/")[0]]
        lines = entry["summary"]["lines"]
        room["lines"][0] += lines["covered"]
        room["lines"][1] += lines["count"]
        text = (ROOT / name).read_text().splitlines()
        never = collections.defaultdict(list)
        for (line, *_), sides in branches_of(entry).items():
            if NOT_WRITTEN.search(text[line - 1]):
                continue
            room["branches"][0] += sum(count > 0 for count in sides)
            room["branches"][1] += 2
            never[line] += [word for word, count in zip(("true", "false"), sides) if count == 0]
        self.missing += [(name, line, text[line - 1].strip(), words) for line, words in sorted(never.items()) if words]


def listed():
    """How often (file, text) is listed."""
    text = LISTED.read_text() if LISTED.exists() else ""
    return collections.Counter(re.findall(r"^    ([\w/]+\.[ch]pp): (.+)$", text, re.MULTILINE))


def stale():
    """Returns listed lines that their files do not have."""
    found = []
    for name, text in sorted(listed()):
        path = ROOT / name
        if not path.exists() or text not in [line.strip() for line in path.read_text().splitlines()]:
            found.append(f"docs/coverage.md: no such line in {name}: {text}")
    return found


def unlisted(missing):
    """Returns branches that are missing but not listed, listed lines that do not exist, and listed ones that are taken."""
    left = listed()
    found = []
    for name, line, text, words in missing:
        if left[name, text] > 0:
            left[name, text] -= 1
        else:
            found.append(f"{name}:{line}: never {', '.join(words)}, and not in docs/coverage.md: {text}")
    found += stale()
    taken = sorted(place for place, count in left.items() if count > 0)
    return found, taken


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("export", type=pathlib.Path)
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    coverage = Coverage(options.export)
    if options.list:
        print("".join(f"    {name}: {text}\n" for name, _, text, _ in coverage.missing), end="")
        return 0
    found, taken = unlisted(coverage.missing)
    print("".join(line + "\n" for line in found), end="")
    print("".join(f"taken this time, though listed: {name}: {text}\n" for name, text in taken), end="")
    failed = bool(found)
    for room, count in coverage.counts.items():
        taken, total = count["branches"]
        figures = "; ".join(f"{what} {a} of {b}, {100 * a / max(b, 1):.1f} %" for what, (a, b) in count.items())
        print(f"{room}: {figures}")
        failed |= total == 0 or taken < BRANCHES_MIN * total
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
