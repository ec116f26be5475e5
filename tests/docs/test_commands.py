"""Pages name only commands and options that the program has, and the command line page has them all."""

import os
import re
import shlex
import subprocess
import sys

import pytest

from docs import facts
from harness import paths


def shell_commands(text):
    """(as written, words) of each `sluice ...` in code; a word is a list of variants (`a|b`)."""
    blocks = "".join(re.findall(r"^```\w*\n(.*?)^```", text, re.M | re.S))
    inline = re.findall(r"`(sluice [^`\n]+)`", text)
    for line in inline + re.findall(r"^(sluice [^\n#]+)", blocks, re.M):
        quoted = re.split(r" (?:&&|\||;) ", line)[0]  # what follows is another program
        words = []
        for word in quoted.split()[1:]:
            if not re.fullmatch(r"[a-z][a-z|-]*", word):
                break
            words.append(word.split("|"))
        yield quoted, words


def test_pages_name_only_commands_that_exist():
    known = {command.words for command in facts.commands()}
    wrong = []
    for page in facts.pages():
        for quoted, words in shell_commands(page.read_text()):
            while words and not any(tuple(w[0] for w in words) == k[: len(words)] for k in known):
                if len(words) == 1:
                    wrong.append(f"{page.name}: {quoted}")
                words = words[:-1]
    assert not wrong, "\n".join(wrong)


def test_pages_name_only_options_that_exist():
    options = {
        name
        for command in facts.commands()
        for option in command.options
        for name in re.findall(r"--[a-z][a-z-]*", option.name)
    }
    wrong = []
    for page in facts.pages():
        for quoted, _ in shell_commands(page.read_text()):
            wrong += [f"{page.name}: {quoted}: {name}" for name in re.findall(r"--[a-z][a-z-]*", quoted)
                      if name not in options]
    assert not wrong, "\n".join(wrong)


def lines_of_blocks(text):
    """Each `sluice ...` of a block of code, up to the next program; $(...) is a word."""
    blocks = "".join(re.findall(r"^```sh\n(.*?)^```", text, re.M | re.S)) + "".join(re.findall(r"^    (?=sluice )(.*\n)", text, re.M))
    for line in re.sub(r"\$\([^()]*\)", "WORD", blocks.replace("\\\n", " ")).splitlines():
        for part in re.split(r" (?:&&|\|\||\|) |; ", line.split(" #")[0]):
            if part.strip().startswith("sluice "):
                line = re.sub(r" \d?[<>].*", "", part.strip())
                yield line.removesuffix("'") if line.count("'") % 2 else line


@pytest.mark.parametrize("page", [page for page in facts.pages() if page.name != "command-line.md"], ids=lambda page: page.stem)
def test_each_command_of_a_block_is_complete(page, tmp_path):
    """`creator remove --at` without `--code` was a usage error. There is no store, so that nothing is done."""
    wrong = []
    for line in sorted(set(lines_of_blocks(page.read_text()))):
        run = subprocess.run([paths.SLUICE, "--store", tmp_path / "none" / "store", *shlex.split(line)[1:]], stdin=subprocess.DEVNULL,
                             capture_output=True, text=True, check=False, timeout=60, cwd=tmp_path)
        wrong += [f"{line}: {run.stderr.splitlines()[0]}"] if run.returncode == 2 else []
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("page", [page for page in facts.pages() if page.name != "command-line.md"], ids=lambda page: page.stem)
def test_each_example_within_a_sentence_is_complete(page, tmp_path):
    """An option with a value that is no placeholder (`--until 2026-12-01`) makes it an example."""
    inline = {text for text in re.findall(r"`(sluice [^`\n]+)`", page.read_text()) if re.search(r" --[a-z-]+ [^-A-Z]", text)}
    wrong = []
    for line in sorted(text for text in inline if not re.search(r"\.\.\.|[|]|\b[A-Z]+\b|--store", text)):
        run = subprocess.run([paths.SLUICE, *shlex.split(line)[1:]], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                             timeout=60, cwd=tmp_path, env={**os.environ, "SLUICE_STORE": str(tmp_path / "none" / "store")})
        wrong += [f"{line}: {run.stderr.splitlines()[0]}"] if run.returncode == 2 else []
    assert not wrong, "\n".join(wrong)


def test_the_command_line_page_is_current():
    result = subprocess.run(
        [sys.executable, str(paths.ROOT / "tests/docs/generate.py"),
         str(paths.BUILD / "tests" / "tables_dump"), str(paths.SLUICE), "--check"],
        capture_output=True, text=True, check=False,
    )
    assert result.returncode == 0, result.stdout + "run scripts/docs"
