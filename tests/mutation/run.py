"""Plants each fault of mutants.py in a copy of the tree and runs the test that must turn red.

    tests/mutation/run.py [--list] [--lanes N] [WORD ...]      WORD: only mutants whose name has it

Each lane has a copy of the tree, build/mutation/tree-1 and so on, and plants one fault at a time with one
job: most of a mutant is one unit, one link and one test. Builds are incremental, and of ccache's where that
is there. First every named test must pass on the sources as they are, else its red would mean nothing. A
mutant that does not compile is a mistake in the list, not a kill. Exit code 0: all were killed.
"""

import argparse
import concurrent.futures
import os
import pathlib
import queue
import re
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from mutation.mutants import MUTANTS  # noqa: E402

PYTEST_TARGETS = ["ngx_http_sluice_module", "sluice", "power_cut_writer", "power_cut_check"]
TEST_SECONDS_MAX = 120
GREEN_SECONDS_MAX = 600
# A fault may leave a name unused.
WARNINGS = " ".join(f"-Wno-error=unused-{what}" for what in ("parameter", "variable", "but-set-variable", "function"))


def run_build(command):
    environment = {**os.environ, "CXXFLAGS": WARNINGS}  # read when the copy is configured
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    return None if result.returncode == 0 else result.stdout[-3000:] + result.stderr[-1000:]


class Lane:
    """A copy of the tree, with its build."""

    def __init__(self, number):
        self.tree = ROOT / "build" / "mutation" / f"tree-{number}"
        self.build_folder = self.tree / "build" / "dev"

    def copy_tree(self):
        """Only what differs is written, so that the build stays incremental."""
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT, capture_output=True, check=True,
        ).stdout.split(b"\0")
        wanted = {name.decode() for name in listed if name and (ROOT / name.decode()).is_file()}
        for name in wanted:
            source, target = ROOT / name, self.tree / name
            if target.exists() and target.read_bytes() == source.read_bytes():
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)
        for path in self.tree.rglob("*"):
            name = path.relative_to(self.tree)
            if path.is_file() and name.parts[0] != "build" and str(name) not in wanted:
                path.unlink()

    def prepare(self, targets):
        """Builds the sources as they are. None, or what the compiler said."""
        self.copy_tree()
        return run_build([self.tree / "scripts" / "build", "dev", *targets])

    def build(self, targets):
        """None, or what the compiler said."""
        return run_build(["cmake", "--build", self.build_folder, "-j", "1", "--target", *targets])

    def run_test(self, test, seconds_max):
        """'green', 'red' (also when it does not end) or 'nothing ran'."""
        if test.startswith("tests/"):
            # The test decides with what it sees at once; a long wait for what never comes is a waste.
            environment = {**os.environ, "SLUICE_BUILD": str(self.build_folder), "SLUICE_CRASH_SECONDS": "6",
                           "SLUICE_TEST_DEADLINE": "40"}
            command = ["/usr/bin/python3", "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", test]
            none_ran = re.compile(r"no tests ran|not found")
        else:
            room, names = test.split(":", 1)
            environment = os.environ
            # On PostgreSQL the same core runs, only slower: unless that is what is named.
            names += "" if "-" in names or "Postgres" in names else "-*Postgres*"
            command = [self.build_folder / "tests" / f"{room}_test", f"--gtest_filter={names}", "--gtest_fail_fast"]
            none_ran = re.compile(r"Running 0 tests")
        with subprocess.Popen(
            command, cwd=self.tree, env=environment, text=True, errors="replace", start_new_session=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        ) as process:
            try:
                said, _ = process.communicate(timeout=seconds_max)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, 9)
                return "red"
        if none_ran.search(said):
            return "nothing ran"
        return "green" if process.returncode == 0 else "red"

    def time_green(self, test):
        """Whether the test is green on the sources as they are, and how long it may take with a fault: a
        machine that is slow just now must not kill a mutant."""
        began = time.monotonic()
        is_green = self.run_test(test, GREEN_SECONDS_MAX) == "green"
        return is_green, TEST_SECONDS_MAX + 5 * (time.monotonic() - began)

    def plant(self, mutant):
        for file, old, new in mutant.places:
            text = (self.tree / file).read_text()
            assert text.count(old) == 1, f"{mutant.name}: its text occurs {text.count(old)} times"
            (self.tree / file).write_text(text.replace(old, new))

    def try_mutant(self, mutant, seconds_max):
        """'killed', 'SURVIVED' or 'BROKEN', with the reason; and its seconds."""
        began = time.monotonic()
        try:
            self.plant(mutant)
            said = self.build(targets_of([mutant]))
            if said:
                return "BROKEN", "does not compile:\n" + said, time.monotonic() - began
            verdict = self.run_test(mutant.test, seconds_max)
            return {"red": "killed", "green": "SURVIVED"}.get(verdict, "BROKEN"), verdict, time.monotonic() - began
        finally:
            for file, _, _ in mutant.places:
                shutil.copy(ROOT / file, self.tree / file)


def in_lanes(lanes, work, items):
    """Yields (item, work(lane, item)) as they end, each lane with one at a time."""
    free = queue.SimpleQueue()
    for lane in lanes:
        free.put(lane)

    def run(item):
        lane = free.get()
        try:
            return item, work(lane, item)
        finally:
            free.put(lane)

    with concurrent.futures.ThreadPoolExecutor(len(lanes)) as pool:
        for done in concurrent.futures.as_completed([pool.submit(run, item) for item in items]):
            yield done.result()


def targets_of(mutants):
    targets = set()
    for mutant in mutants:
        room = mutant.test.split(":")[0]
        targets |= set(PYTEST_TARGETS) if room.startswith("tests/") else {f"{room}_test"}
    return sorted(targets)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--lanes", type=int, default=os.cpu_count())
    parser.add_argument("words", nargs="*")
    options = parser.parse_args()
    chosen = [m for m in MUTANTS if not options.words or any(word in m.name for word in options.words)]
    if options.list:
        for mutant in chosen:
            print(f"{mutant.name}: {mutant.file}: {mutant.test}")
        return 0
    lanes = [Lane(number) for number in range(1, options.lanes + 1)]
    for lane in lanes:  # one after the other: ccache has the objects of the first for the others
        if said := lane.prepare(targets_of(chosen)):
            print(said)
            return 2
    green = dict(in_lanes(lanes, Lane.time_green, sorted({m.test for m in chosen})))
    broken = sorted(test for test, (is_green, _) in green.items() if not is_green)
    if broken:
        print("not green on the sources as they are:", *broken, sep="\n  ")
        return 2
    killed = 0
    results = in_lanes(lanes, lambda lane, mutant: lane.try_mutant(mutant, green[mutant.test][1]), chosen)
    for mutant, (verdict, why, seconds) in results:
        killed += verdict == "killed"
        print(f"{verdict:8} {seconds:5.1f} s  {mutant.name}  [{mutant.test}]", flush=True)
        if verdict == "BROKEN":
            print(why)
    print(f"mutants killed {killed}/{len(chosen)}")
    return 0 if killed == len(chosen) and chosen else 1


if __name__ == "__main__":
    sys.exit(main())
