"""Sizes and leftovers: a file is one idea that can be printed and read."""
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
LINES_MAX = {".hpp": 250, ".cpp": 500, ".c": 500}
TEST_LINES_MAX = 600


def tracked():
    names = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.split("\n")
    return [ROOT / name for name in names if name and (ROOT / name).is_file()]


def test_files_fit():
    wrong = []
    for path in tracked():
        limit = LINES_MAX.get(path.suffix)
        inside = path.relative_to(ROOT).parts
        if inside[0] in ("tests", "bench"):
            limit = TEST_LINES_MAX if path.suffix in (".cpp", ".hpp", ".py") else None
        if limit is None:
            continue
        lines = len(path.read_text().splitlines())
        if lines > limit:
            wrong.append(f"{path.relative_to(ROOT)}: {lines} lines, at most {limit}")
    assert not wrong, "\n".join(wrong)


def test_nothing_is_left_to_do():
    word = re.compile(r"\b(TO" r"DO|FIX" r"ME|HA" r"CK)\b")
    wrong = []
    for path in tracked():
        if path.suffix in {".json", ".png", ".svg", ".txt"} or "corpus" in path.parts:
            continue
        try:
            text = path.read_text()
        except UnicodeDecodeError:
            continue
        for number, line in enumerate(text.splitlines(), 1):
            if word.search(line):
                wrong.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()}")
    assert not wrong, "\n".join(wrong)


def test_commit_subjects():
    """`Area: what changed.`, at most 72 columns."""
    log = subprocess.run(
        ["git", "log", "-n", "200", "--no-merges", "--format=%h %s"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    ).stdout.splitlines()
    shape = re.compile(r"^[A-Z][A-Za-z0-9_ ,/-]*: .*\.$")
    wrong = [line for line in log if len(line.split(" ", 1)[1]) > 72 or not shape.match(line.split(" ", 1)[1])]
    assert not wrong, "\n".join(wrong)
