"""Markdown is read in a terminal, too: its lines wrap at 100 columns."""
import pathlib
import subprocess

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
