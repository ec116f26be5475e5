"""Every caller of a parse checks it before it uses the value.

A parse is a function that returns std::optional or Parsed and reads a text. The list of callers that use the value
without a check is empty, and stays so.
"""
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("core", "lmdb_store", "pg_store", "os", "program", "worker", "serve", "notify", "tool", "ngx_module")
PARSE = r"(?:\w+::)*(?:parse\w*|decode\w*|value_in|span_seconds|from_base64url|open_cursor|open_feed_cursor|split_key)"
DECLARED = re.compile(r"(?:std::optional|Parsed)<[^;{}()]*>\s+(?:\w+::)*(\w+)\([^;{}]*\)\s*(?:const)?\s*(?:noexcept)?\s*[;{]")
SKIPPED_NUMBER = re.compile(r"\b(strtou?ll?|strtod|atoi|atoll?|stou?ll?|stoi)\s*\([^;]*?nullptr\s*,|\bato(i|l|ll|f)\s*\(|\bstd::sto\w+\(")


def sources():
    names = subprocess.run(["git", "ls-files", *FOLDERS], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
    for name in names:
        if name.endswith((".cpp", ".hpp")):
            yield name, without_comments((ROOT / name).read_text())


def without_comments(text):
    return re.sub(r"//[^\n]*", lambda found: " " * len(found.group()), text)


def parses(texts):
    """Names of the functions that read a text and return an optional."""
    names = {found.group(1) for text in texts for found in DECLARED.finditer(text)}
    return {name for name in names if re.fullmatch(r"parse\w*|decode\w*|read_hex\w*|value_in|\w+_from_text|from_\w+|split_\w+|open_\w*cursor", name)}


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
    assert {"parse", "parse_signed", "parse_money", "split_key", "value_in"} <= names
    wrong = [f"{name}:{line_of(text, at)}: {words}" for name, text in texts.items() for at, words in unchecked(text, names)]
    assert not wrong, "\n".join(wrong)


def test_numbers_are_not_read_with_functions_that_report_no_error():
    """Files of the kernel have numbers where they are read, and an answer of libpq is libpq's."""
    exempt = ("lmdb_store/environment/lock_wait.cpp", "os/clock/clock.cpp", "pg_store/connection/connection.cpp",
              "worker/drain/worker_lock.cpp", "program/system/crash_point.cpp")
    wrong = [f"{name}:{line_of(text, found.start())}" for name, text in sources() if name not in exempt
             for found in SKIPPED_NUMBER.finditer(text)]
    assert not wrong, "\n".join(wrong)
