"""The completions of conf/completion in the shells themselves, against the program's own help."""

import os
import pty
import re
import select
import subprocess
import sys
import time

import pytest

from harness import paths

sys.path.insert(0, str(paths.ROOT / "scripts"))
from cli_help import read_command  # noqa: E402

FOLDER = paths.ROOT / "conf" / "completion"
ENVIRONMENT = {**os.environ, "PATH": f"{paths.SLUICE.parent}:{os.environ['PATH']}", "TERM": "xterm", "HOME": "/nonexistent"}

COMMANDS = ["", "account", "payout", "ledger"]


def subcommands(name):
    return sorted(entry.name for entry in read_command(paths.SLUICE, name.split()).subcommands)


def options(*words):
    return {
        found
        for entry in read_command(paths.SLUICE, words).options
        for found in re.findall(r"--[a-z][a-z-]*", entry.name)
    }


def complete_bash(line):
    words = line.split(" ")
    script = (
        f'. "{FOLDER}/sluice.bash"; COMP_WORDS=({" ".join(repr(word) for word in words)}); '
        f'COMP_CWORD={len(words) - 1}; _sluice; printf "%s\\n" "${{COMPREPLY[@]}}"'
    )
    return run(["bash", "-c", script])


def complete_fish(line):
    return run(["fish", "--no-config", "-c", f'source "{FOLDER}/sluice.fish"; complete -C "{line}"'])


def run(words):
    result = subprocess.run(words, env=ENVIRONMENT, capture_output=True, text=True, timeout=60, check=True)
    return [line.split("\t")[0] for line in result.stdout.splitlines() if line]


def as_shown(output):
    """Without control sequences, and without characters that the terminal took back."""
    return re.sub(r".\x08", "", re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", output))


class Zsh:
    """An interactive zsh on a terminal, because its completion works in no other way."""

    def __init__(self, folder):
        (folder / "_sluice").write_text((FOLDER / "sluice.zsh").read_text())
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.execvpe("zsh", ["zsh", "-f", "-i"], ENVIRONMENT)
        self.type(f"PS1='@@'; fpath=({folder} $fpath); autoload -Uz compinit; compinit -u -d {folder}/dump; LISTMAX=1000; echo re''ady\n")
        self.read_until("ready")

    def type(self, text):
        os.write(self.terminal, text.encode())

    def read_until(self, text, seconds=30):
        seen, end = "", time.monotonic() + seconds
        while text not in (shown := as_shown(seen)):
            ready, _, _ = select.select([self.terminal], [], [], 0.2)
            if ready:
                seen += os.read(self.terminal, 65536).decode(errors="replace")
            assert time.monotonic() < end, f"zsh did not print {text!r}: {shown[-800:]!r}"
        return shown

    def close(self):
        os.close(self.terminal)
        os.waitpid(self.pid, 0)


@pytest.fixture
def zsh(tmp_path):
    shell = Zsh(tmp_path)
    yield shell
    shell.close()


@pytest.mark.parametrize("complete", [complete_bash, complete_fish])
@pytest.mark.parametrize("name", COMMANDS)
def test_subcommands_match_the_help(complete, name):
    line = f"sluice {name} " if name else "sluice "
    assert sorted(complete(line)) == subcommands(name)


@pytest.mark.parametrize("complete", [complete_bash, complete_fish])
def test_options_match_the_help(complete):
    assert set(complete("sluice payout close --")) >= options("payout", "close") - {"--help"}
    assert complete("sluice --store /x account cr") == ["create"]
    assert sorted(complete("sluice report orders --format ")) == ["csv", "json", "table"]


def test_zsh_completes_commands_and_an_option(zsh):
    zsh.type("sluice --store /x acc\tcr\t--rate\t")
    zsh.read_until("sluice --store /x account create --rate-limit ")


def test_zsh_lists_the_subcommands_of_the_help(zsh):
    zsh.type("sluice payout \t\t")
    seen = ""
    while not all(re.search(rf"^{word} ", seen, re.M) for word in subcommands("payout")):
        seen += zsh.read_until("\n", 10)
