"""Every caller of a parse checks it before it uses the value.

A parse is a function that returns std::optional or Parsed and reads a text. The list of callers that use the value
without a check is empty, and stays so.
"""
import pathlib
import re
import subprocess

from layers import ROOMS

ROOT = pathlib.Path(__file__).resolve().parents[2]
# A missing check in a test fails that test.
OTHERS = {"bench", "tests"}
DECLARED = re.compile(r"(?:std::optional|Parsed)<[^;{}()]*>\s+(?:\w+::)*(\w+)\(([^;{}]*?)\)\s*(?:const)?\s*(?:noexcept)?\s*[;{]")
CONTAINERS = {"find", "finish", "remove"}  # names that containers have as well
SKIPPED_NUMBER = re.compile(r"\b(strtou?ll?|strtod|atoi|atoll?|stou?ll?|stoi)\s*\([^;]*?nullptr\s*,|\bato(i|l|ll|f)\s*\(|\bstd::sto\w+\(")


def sources():
    listed = subprocess.run(["git", "ls-files", "*.cpp", "*.hpp"], cwd=ROOT, check=True, capture_output=True, text=True)
    for name in listed.stdout.split():
        if name.split("/")[0] not in OTHERS:
            yield name, without_comments((ROOT / name).read_text())


def without_comments(text):
    return re.sub(r"//[^\n]*", lambda found: " " * len(found.group()), text)


def parses(texts):
    """Names of the functions that return an optional and have a text among their parameters, or that of a parse."""
    found = [match.groups() for text in texts for match in DECLARED.finditer(text)]
    of_text = {name for name, parameters in found if re.search(r"std::string(_view)?\b", parameters)}
    named = {name for name, _ in found if re.fullmatch(r"(parse|decode|read_hex|from_|split_)\w*|value_in|open_\w*cursor", name)}
    return (of_text | named) - CONTAINERS


def body_after(text, at):
    """The rest of the block in which `at` lies."""
    depth = 0
    for end in range(at, len(text)):
        depth += {"{": 1, "}": -1}.get(text[end], 0)
        if depth < 0:
            return text[at:end]
    return text[at:]


def line_of(text, at):
    return text.count("\n", 0, at) + 1


def unchecked(text, names):
    """(place, words) of each use of a parse's value without a check."""
    call = r"(?:\w+(?:::|\.|->))*(?:" + "|".join(sorted(names)) + r")\("
    for found in re.finditer(r"(?<![\w)\]>*&])\*\s*" + call + r"|(?<=[(,=?:])\s*\*" + call, text):
        yield found.start(), "the result of a call is used at once"
    for found in re.finditer(r"\b(?:auto|std::optional<[^;={}]*>|Parsed<[^;={}]*>)\s+(\w+)\s*(?:=|\()\s*" + call, text):
        name, rest = found.group(1), body_after(text, found.end())
        used = re.search(rf"(?<![\w)\]])\s\*{name}\b|[(,!=?:]\*{name}\b|\b{name}->|\*std::move\({name}\)", rest)
        if used is None:
            continue
        head = text[max(0, found.start() - 24):found.start()]
        before = rest[:used.start()]
        is_condition = re.search(r"(?:if|while) \(\s*(?:const )?$", head) is not None
        checks = rf"!{name}\b|\b{name}\s*(?:\?|&&|\|\||==|!=|\))|(?:&&|\|\||\(|return)\s*{name}\b(?!->|\()|\b{name}\.(?:has_value|ok|value_or)\b"
        if not is_condition and re.search(checks, before) is None:
            yield found.start(), f"`{name}` is used without a check"


def test_the_finder_finds():
    names = {"parse"}
    assert list(unchecked("waiting.add(currency, currency ? *Decimal::parse(text) : Decimal());", names))
    assert list(unchecked("{ const auto at = Timestamp::parse(text); return at->seconds; }", names))
    assert not list(unchecked("{ const auto at = Timestamp::parse(text); return at ? at->seconds : 0; }", names))
    assert not list(unchecked("{ if (const auto at = Timestamp::parse(text)) { use(*at); } }", names))


def test_every_parse_is_checked():
    texts = dict(sources())
    names = parses(texts.values())
    assert {"parse", "parse_signed", "parse_money", "split_key", "value_in", "schema_date", "span_seconds"} <= names
    assert {name.split("/")[0] for name in texts} == set(ROOMS)
    wrong = [f"{name}:{line_of(text, at)}: {words}" for name, text in texts.items() for at, words in unchecked(text, names)]
    assert not wrong, "\n".join(wrong)


def test_numbers_are_not_read_with_functions_that_report_no_error():
    """Files of the kernel have numbers where they are read, and an answer of libpq is libpq's."""
    exempt = ("lmdb_store/environment/lock_wait.cpp", "os/clock/clock.cpp", "pg_store/connection/connection.cpp",
              "worker/drain/worker_lock.cpp", "program/system/crash_point.cpp")
    wrong = [f"{name}:{line_of(text, found.start())}" for name, text in sources() if name not in exempt
             for found in SKIPPED_NUMBER.finditer(text)]
    assert not wrong, "\n".join(wrong)
