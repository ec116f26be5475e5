"""Plants each fault of mutants.py in a copy of the tree and runs the test that must turn red.

    tests/mutation/run.py [--list] [--jobs N] [WORD ...]      WORD: only mutants whose name has it

The copy lies in build/mutation/tree; its build is incremental, and of ccache's where that is there.
First every named test must pass on the sources as they are, else its red would mean nothing. A mutant
that does not compile is a mistake in the list, not a kill. Exit code 0: all were killed.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from mutation.mutants import MUTANTS  # noqa: E402

COPY = ROOT / "build" / "mutation" / "tree"
BUILD = COPY / "build" / "dev"
PYTEST_TARGETS = ["ngx_http_sluice_module", "sluice", "power_cut_writer", "power_cut_check"]
TEST_SECONDS_MAX = 120
GREEN_SECONDS_MAX = 600


def copy_tree():
    """Only what differs is written, so that the build stays incremental."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, check=True,
    ).stdout.split(b"\0")
    wanted = {name.decode() for name in listed if name and (ROOT / name.decode()).is_file()}
    for name in wanted:
        source, target = ROOT / name, COPY / name
        if target.exists() and target.read_bytes() == source.read_bytes():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)
    for path in COPY.rglob("*"):
        name = path.relative_to(COPY)
        if path.is_file() and name.parts[0] != "build" and str(name) not in wanted:
            path.unlink()


def configure():
    launcher = []
    if shutil.which("ccache"):
        launcher = [f"-DCMAKE_{language}_COMPILER_LAUNCHER=ccache" for language in ("C", "CXX")]
    subprocess.run(["cmake", "--preset", "dev", *launcher], cwd=COPY, check=True, stdout=subprocess.DEVNULL)


def targets_of(mutants):
    targets = set()
    for mutant in mutants:
        room = mutant.test.split(":")[0]
        targets |= set(PYTEST_TARGETS) if room.startswith("tests/") else {f"{room}_test"}
    return sorted(targets)


def build(targets, jobs):
    """None, or what the compiler said."""
    result = subprocess.run(
        ["cmake", "--build", BUILD, "-j", str(jobs), "--target", *targets],
        capture_output=True, text=True, check=False,
    )
    return None if result.returncode == 0 else result.stdout[-3000:] + result.stderr[-1000:]


def run_test(test, seconds_max):
    """'green', 'red' (also when it does not end) or 'nothing ran'."""
    if test.startswith("tests/"):
        # The test decides with what it sees at once; a long wait for what never comes is a waste.
        environment = {**os.environ, "SLUICE_BUILD": str(BUILD), "SLUICE_CRASH_SECONDS": "6",
                       "SLUICE_TEST_DEADLINE": "40"}
        command = ["/usr/bin/python3", "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", test]
        none_ran = re.compile(r"no tests ran|not found")
    else:
        room, names = test.split(":", 1)
        environment = os.environ
        # On PostgreSQL the same core runs, only slower: unless that is what is named.
        names += "" if "-" in names or "Postgres" in names else "-*Postgres*"
        command = [BUILD / "tests" / f"{room}_test", f"--gtest_filter={names}", "--gtest_fail_fast"]
        none_ran = re.compile(r"Running 0 tests")
    with subprocess.Popen(
        command, cwd=COPY, env=environment, text=True, errors="replace", start_new_session=True,
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


def plant(mutant):
    for file, old, new in mutant.places:
        text = (COPY / file).read_text()
        assert text.count(old) == 1, f"{mutant.name}: its text occurs {text.count(old)} times"
        (COPY / file).write_text(text.replace(old, new))


def time_green(tests):
    """The tests that are not green on the sources as they are, and how long each of the others may take:
    a machine that is slow just now must not kill a mutant."""
    broken, limits = [], {}
    for test in tests:
        began = time.monotonic()
        if run_test(test, GREEN_SECONDS_MAX) != "green":
            broken.append(test)
        limits[test] = TEST_SECONDS_MAX + 5 * (time.monotonic() - began)
    return broken, limits


def try_mutant(mutant, jobs, seconds_max):
    """'killed', 'SURVIVED' or 'BROKEN' (with the reason)."""
    try:
        plant(mutant)
        said = build(targets_of([mutant]), jobs)
        if said:
            return "BROKEN", "does not compile:\n" + said
        verdict = run_test(mutant.test, seconds_max)
        return {"red": "killed", "green": "SURVIVED"}.get(verdict, "BROKEN"), verdict
    finally:
        for file, _, _ in mutant.places:
            shutil.copy(ROOT / file, COPY / file)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("words", nargs="*")
    options = parser.parse_args()
    chosen = [m for m in MUTANTS if not options.words or any(word in m.name for word in options.words)]
    if options.list:
        for mutant in chosen:
            print(f"{mutant.name}: {mutant.file}: {mutant.test}")
        return 0
    copy_tree()
    configure()
    said = build(targets_of(chosen), options.jobs)
    if said:
        print(said)
        return 2
    broken, limits = time_green(sorted({m.test for m in chosen}))
    if broken:
        print("not green on the sources as they are:", *broken, sep="\n  ")
        return 2
    killed = 0
    for mutant in chosen:
        began = time.monotonic()
        verdict, why = try_mutant(mutant, options.jobs, limits[mutant.test])
        killed += verdict == "killed"
        print(f"{verdict:8} {time.monotonic() - began:5.1f} s  {mutant.name}  [{mutant.test}]", flush=True)
        if verdict == "BROKEN":
            print(why)
    print(f"mutants killed {killed}/{len(chosen)}")
    return 0 if killed == len(chosen) and chosen else 1


if __name__ == "__main__":
    sys.exit(main())
