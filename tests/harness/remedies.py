"""Performs what a message or `sluice doctor` tells a person to do: its commands, as they are printed, by a shell."""

import json
import os
import re
import subprocess
import tempfile

from harness import paths

PROGRAMS = "sluice|systemctl|iconv|install|chmod|chown|kill|usermod|mv|find(?= /)|truncate|cat"
# In backquotes, or where a clause begins, up to the end of the clause.
COMMAND = re.compile(
    rf"`(?P<quoted>(?:{PROGRAMS}) [^`]+)`"
    rf"|(?:^|(?<=[:;(] )|(?<=\()|(?<=then )|(?<=or )|(?<=run )|(?<=with )|(?<=\"))(?P<plain>(?:{PROGRAMS}) [^;`\")]+?)"
    r"(?=; |\)|\"|, or |, then | if | names |, which |: docs/|$)")


def commands(text):
    """The commands of a text, in their order."""
    return [found["quoted"] or found["plain"] for found in COMMAND.finditer(text)]


def findings(store, check=None, program=paths.SLUICE, prefix=()):
    """Returns the findings of doctor that are not ok, except those about this machine."""
    run = subprocess.run([*prefix, program, "--store", store, "doctor", "--nginx", "/nowhere/nginx", "--format", "json"],
                         capture_output=True, text=True, check=False)
    assert run.stdout, run
    rows = [row for row in json.loads(run.stdout) if row["result"] != "ok"]
    about_here = {"clock", "nginx", "units", "disk"}
    return [row for row in rows if (row["check"] == check if check else row["check"] not in about_here)]


def shell(command, store, prefix=(), **words):
    """Runs a command by bash, where `sluice` is the program under test. Words in capitals are replaced."""
    for word, value in words.items():
        command = re.sub(rf"\b{word}\b", str(value), command)
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        os.symlink(paths.SLUICE, os.path.join(folder, "sluice"))
        environment = {**os.environ, "PATH": f"{folder}:/usr/sbin:/usr/bin:/sbin:/bin", "SLUICE_STORE": str(store)}
        done = subprocess.run([*prefix, "bash", "-euc", command], env=environment, capture_output=True, text=True, check=False,
                              timeout=60)
    assert done.returncode == 0, (command, done)
    return done.stdout


def perform(text, store, which=slice(None), prefix=(), **words):
    """Performs the commands of a text, or some of them. There has to be one."""
    chosen = commands(text)[which]
    assert chosen, f"no command: {text}"
    return [shell(command, store, prefix, **words) for command in chosen]


def until_gone(store, check, rounds=3, **words):
    """Does what doctor says about a check, again if another finding follows. Returns the texts of the findings."""
    said = []
    for _ in range(rounds):
        found = findings(store, check)
        if not found:
            assert said, f"doctor finds nothing about {check}"
            return said
        said.append((found[0]["finding"], found[0]["remedy"]))
        perform(found[0]["remedy"], store, **words)
    raise AssertionError(f"after {rounds} remedies: {findings(store, check)}\n{said}")
