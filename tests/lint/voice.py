"""Patterns of a private dialect of English, and where they are counted.

    /usr/bin/python3 tests/lint/voice.py [AREA] [PATTERN]     prints the lines that match

An area is a top folder, or "pages": every Markdown file.
"""
import collections
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

PRODUCT = ("core", "os", "lmdb_store", "pg_store", "ngx_module", "program", "worker", "serve", "notify", "tool")
TESTS = ("tests", "bench")
SCRIPTS = ("cmake", "conf", "debian", "scripts")

CLAUSE = r"[Ww]h(at|o) (is|was|has|had|comes|came|lies|stands|follows|waits)\b"
# In C++ the patterns of prose follow `//`; in Python, shell and configuration `#` or a docstring's quotes.
C_COMMENT, HASH_COMMENT = r"//", r"#|\"\"\""
PROSE = {
    "nobody": r"\b([Nn]obody|[Ss]omebody|[Ww]hoever|[Tt]hose who)\b",
    "clause later": rf"[.,;:] {CLAUSE}",
    "metaphor": r"\b(let(s|ting)? go|ga?ve out|given out|go(es)? on|stands? (in|by|beside|behind)"
                r"|(is|are|was|were) told|believed)\b",
    "tail": r"(, too[.,:;]|\ball the same\b|\banew\b|\bin vain\b|\bbeside\b)",
}
C_ONLY = {
    "Of": r"//[/!]?<? *Of[ ]",
    "clause first": r"//[/!]?<? *(What|Who|Whose|Whom|Those|That)[ ]",
    "sentinel": r"//[/!]?<? *(.*[.;] )?(nullptr|Nothing|None|Empty|True|False|0):[ ]",
}
TEST_NAME = {
    "test name": r"(TEST(_[FP])?\(.*|def test_.*_)((What|Who|Whose|Those|Nobody|Somebody)[A-Z]"
                 r"|(what|who|whose|those|nobody|somebody)_)",
}
PYTHON_ONLY = {
    "Of": r"(# |\"\"\")Of[ ]",
    "clause first": r"(# |\"\"\")(What|Who|Whose|Whom|Those|That)[ ]",
}
NAMES = {
    "name": r"\b(obey|tell_(moved|of_[a-z]+)|let_[a-z]+_go|what_it_[a-z]+|warn_of_[a-z]+|whom_of"
            r"|[a-z_]*_strangers?|[a-z_]*booked[a-z_]*)\b",
}


def comment(sign):
    return {name: rf"({sign}).*{pattern}" for name, pattern in PROSE.items()}


def patterns(path):
    """(area, {name: pattern}) of a file; ("", {}) if none are counted there."""
    top, kind = path.parts[0], path.suffix
    if kind == ".md":
        return "pages", {**PROSE, "clause later": rf"([.,;:] |^|\| *){CLAUSE}"}
    if top in PRODUCT:
        return (top, {**C_ONLY, **comment(C_COMMENT), **NAMES}) if kind in (".cpp", ".hpp") else ("", {})
    if top in TESTS and kind in (".c", ".cpp", ".hpp"):
        return top, {**C_ONLY, **comment(C_COMMENT), **TEST_NAME, **NAMES}
    if top in TESTS and kind == ".py" and path.name not in ("voice.py", "test_voice.py"):
        return top, {**PYTHON_ONLY, **comment(HASH_COMMENT), **TEST_NAME, **NAMES}
    if top in SCRIPTS or path.name == "CMakeLists.txt":
        return (top if len(path.parts) > 1 else "cmake"), comment(HASH_COMMENT)
    return "", {}


def hits_in(path, text):
    """[(area, pattern's name, line number, line)] of one file."""
    area, wanted = patterns(path)
    compiled = [(name, re.compile(pattern)) for name, pattern in wanted.items() if re.search(pattern, text, re.M)]
    return [(area, name, number, line)
            for number, line in enumerate(text.splitlines(), 1)
            for name, pattern in compiled if pattern.search(line)]


def hits():
    """{(area, pattern's name): ["file:line: text"]} of the whole tree."""
    names = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    found = collections.defaultdict(list)
    for name in names:
        path = ROOT / name
        if path.is_file() and patterns(pathlib.Path(name))[1]:
            for area, pattern, number, line in hits_in(pathlib.Path(name), path.read_text()):
                found[area, pattern].append(f"{name}:{number}: {line.strip()}")
    return found


def main():
    for (area, name), lines in sorted(hits().items()):
        if sys.argv[1:2] in ([], [area]) and sys.argv[2:3] in ([], [name]):
            print(f"{area}, {name}: {len(lines)}", *lines, sep="\n    ")


if __name__ == "__main__":
    main()
