"""Prose: lines of Markdown wrap at 100 columns, for terminals and diffs; words are those of the glossary."""
import pathlib
import re
import subprocess

import voice

ROOT = pathlib.Path(__file__).resolve().parents[2]
COLUMNS_MAX = 100


def pages():
    names = subprocess.run(
        ["git", "ls-files", "*.md"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.split()
    return [ROOT / name for name in names if (ROOT / name).is_file()]


def prose(text):
    """Numbered lines that can be wrapped: no tables, no code, no address that stands alone."""
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
            continue
        code = fenced or line.startswith("    ") and not line.lstrip().startswith(("* ", "- "))
        if not code and not line.startswith("|") and " " in line.strip():
            yield number, line


def test_markdown_lines_wrap():
    wrong = [
        f"{path.relative_to(ROOT)}:{number}: {len(line)} columns, at most {COLUMNS_MAX}"
        for path in pages()
        for number, line in prose(path.read_text())
        if len(line) > COLUMNS_MAX
    ]
    assert not wrong, "\n".join(wrong)


def test_a_long_line_is_found():
    long = "word " * 30
    page = f"short\n\n{long}\n```\n{long}\n```\n| {long} |\n    {long}\n"
    assert [number for number, line in prose(page) if len(line) > COLUMNS_MAX] == [3]


WORDS = ROOT / "tests" / "lint" / "words.txt"
# The lists themselves, and the page that explains them.
ABOUT_WORDS = {"tests/lint/words.txt", "tests/lint/voice.py", "tests/lint/test_voice.py", "docs/glossary.md"}
# Data that tests feed in, pictures, and what others wrote.
NO_PROSE = {".json", ".svg", ".png", ".txt", ".xz", ".ndjson", ".csv", ".dict"}


def refused():
    """[(pattern, what to write instead)]"""
    for line in WORDS.read_text().splitlines():
        if line and not line.startswith("#"):
            word, instead = line.split(" | ")
            yield re.compile(rf"(?<![\w-]){word}(?![\w-])", re.I), instead


def texts():
    names = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.split("\n")
    for name in names:
        path = ROOT / name
        if not name or not path.is_file() or name in ABOUT_WORDS or path.suffix in NO_PROSE:
            continue
        if "corpus" not in path.parts and name != "LICENSE":
            yield name, path.read_text()


def test_one_word_for_one_thing():
    """docs/glossary.md: comments, pages and messages use its words, and name who does what."""
    words = list(refused())
    wrong = [
        f"{name}:{number}: '{found.group()}': {instead}"
        for name, text in texts()
        for word, instead in words
        if word.search(text)  # the whole file first, which is much faster
        for number, line in enumerate(text.splitlines(), 1)
        if (found := word.search(line))
    ]
    assert not wrong, "\n".join(wrong)


def test_a_refused_word_is_found():
    line = "// Who" "ever reads this waits."
    assert any(word.search(line) for word, _ in refused())
    assert not any(word.search("all_wait = false; AnyBodyIsSafe") for word, _ in refused())


LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)")


def anchors(path):
    """The anchors that GitHub and others derive from a page's headings."""
    for line in path.read_text().splitlines():
        if re.match(r"#{1,6} ", line):
            title = re.sub(r"[`*]|\[([^]]*)\]\([^)]*\)", r"\1", line.lstrip("#").strip()).lower()
            yield re.sub(r"[^\w\- ]", "", title).replace(" ", "-")


def test_links_lead_somewhere():
    wrong = []
    for page in pages():
        for name, anchor in LINK.findall(re.sub(r"```.*?```", "", page.read_text(), flags=re.S)):
            if "://" in name:
                continue
            target = (page.parent / name).resolve() if name else page
            if not target.exists():
                wrong.append(f"{page.relative_to(ROOT)}: {name} is not there")
            elif anchor and target.suffix == ".md" and anchor not in set(anchors(target)):
                wrong.append(f"{page.relative_to(ROOT)}: {name}#{anchor}: no such heading")
    assert not wrong, "\n".join(wrong)


SOURCE = re.compile(r"[\w./-]*\w\.(?:cpp|hpp|fbs)\b")
# Written by the build, another library's, or the end of a name.
MADE = {"build_id.hpp", "code_tables.hpp", "status_page.hpp", "migration_table.hpp", "OUT.hpp", "sluice.fbs", "sluice.store.fbs",
        "sluice_check.cpp", "cpp_int.hpp", "version.hpp", "nlohmann/json.hpp"}


def test_sources_that_are_named_exist():
    """A comment or page that names a file after it was moved sends its reader nowhere."""
    names = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.split()
    known = {name.split("/", skipped)[-1] for name in names for skipped in range(name.count("/") + 1)}
    wrong = [
        f"{name}:{number}: {found}"
        for name, text in texts()
        for number, line in enumerate(text.splitlines(), 1)
        if "#include" not in line and "." in line
        for found in SOURCE.findall(line)
        if not found.startswith("_") and not {found, found.rsplit("/", 1)[-1]} & MADE
        and found.lstrip("./") not in known
    ]
    assert not wrong, "\n".join(wrong)
