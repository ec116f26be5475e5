"""The help of every subcommand, for the manual page and the check of the docs."""

import re
import subprocess
from dataclasses import dataclass, field


@dataclass
class Entry:
    """An option, a positional or a subcommand: `--store DIR`, `FILE`, `send`."""

    name: str
    text: str


@dataclass
class Command:
    words: tuple
    description: str
    usage: str
    positionals: list = field(default_factory=list)
    options: list = field(default_factory=list)
    subcommands: list = field(default_factory=list)

    @property
    def name(self):
        return " ".join(("sluice", *self.words))


def read_section(lines):
    """Rows of `  name   text`; a long text continues on the next lines."""
    entries = []
    for line in lines:
        head = re.match(r"  (\S.*?)(?:  +(.*))?$", line)
        if head and not line.startswith("   "):
            entries.append(Entry(head.group(1), head.group(2) or ""))
        elif line.strip() and entries:
            entries[-1].text = f"{entries[-1].text} {line.strip()}".strip()
    return entries


def sections(text):
    """Returns {"": lines before the first heading, "Options": lines, ...}."""
    found = {"": []}
    name = ""
    for line in text.splitlines():
        heading = re.fullmatch(r"([A-Z][\w ]*):", line)
        if heading:
            name = heading.group(1)
            found[name] = []
        else:
            found[name].append(line)
    return found


def parse(words, text):
    parts = sections(text)
    head = [line for line in parts[""] if line.strip()]
    usage = next(line.removeprefix("Usage: ") for line in head if line.startswith("Usage: "))
    description = " ".join(line for line in head if not line.startswith("Usage: "))
    return Command(
        words,
        description,
        usage,
        read_section(parts.get("Positionals", [])),
        read_section(parts.get("Options", [])),
        read_section(parts.get("Subcommands", [])),
    )


def read_command(program, words=()):
    result = subprocess.run(
        [str(program), *words, "--help"], capture_output=True, text=True, check=True
    )
    return parse(tuple(words), result.stdout)


def walk(program, words=()):
    """Yields the command and its subcommands, in the order of their help."""
    command = read_command(program, words)
    yield command
    for subcommand in command.subcommands:
        yield from walk(program, (*words, subcommand.name))
