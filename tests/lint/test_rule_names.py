"""A rule that sources, tests or pages name has one definition in docs/: a bold name at the beginning of a line or of a row
(`**K2, what ...`, `| **O6** |`), or a heading that ends in it (`### Payout runs (P1)`)."""
import collections
import json
import re

import voice
from test_prose import ROOT, texts

NAME = r"[A-Z]{1,2}\d{1,2}[a-z]?\b"
LIST = rf"{NAME}(?:(?:, | and | to ){NAME})*"
DEFINED = re.compile(rf"^(?:\| )?\*\*({NAME})(?:[,.]|\*\*)|^#+ .*\(({NAME})\)$", re.M)
# `(O2)`, `(rules P1, P2)`, `controls K4`, and the beginning of a comment: `/// J1: ...`.
NAMED = re.compile(
    rf"(?:\(|\b(?:[Rr]ules?:?|controls|reading) )({LIST})|^\s*(?://[/!]?<?|#|\"\"\")\s*({LIST})(?=[.,:\"]|$)|\b(K\d{{1,2}})\b"
)
# The sign of a comment by the suffix of a file. In pages and Python, every line counts.
COMMENTS = {".hpp": "//", ".cpp": "//", ".c": "//", ".h": "//", ".js": "//", ".sql": "--", ".py": "", ".md": ""}
# Two rules have this name; the one of controls.md is cited as `controls K1`.
TWICE = "K1"


def definitions(page, text):
    """The names that a page defines, as they are cited."""
    for bold, heading in DEFINED.findall(text):
        name = bold or heading
        yield f"controls {name}" if name == TWICE and page == "controls.md" else name


def named(line):
    """The rules that a line names."""
    found = {name for groups in NAMED.findall(line) for group in groups for name in re.findall(NAME, group)}
    return found | set(re.findall(rf"\bcontrols {TWICE}\b", line))


def citations():
    """(rule, its place, whether it is of the product)"""
    for name, text in texts():
        room = name.split("/")[0]
        suffix = next((suffix for suffix in COMMENTS if name.endswith(suffix)), None)
        if suffix is None or room not in {*voice.PRODUCT, "docs", "tests"} or name.startswith("tests/lint/"):
            continue
        for number, line in enumerate(text.splitlines(), 1):
            if COMMENTS[suffix] in line:
                for rule in named(line):
                    yield rule, f"{name}:{number}", room in voice.PRODUCT
    for path in (ROOT / "tests" / "examples").glob("**/*.json"):
        for rule in json.loads(path.read_text()).get("rules", []):
            yield rule, str(path.relative_to(ROOT)), True


def family(rule):
    return re.match(r"(?:controls )?([A-Z]+)", rule).group(1)


def defined():
    pages = (ROOT / "docs").glob("**/*.md")
    return collections.Counter(rule for page in pages for rule in definitions(page.name, page.read_text()))


def test_a_rule_has_one_definition():
    wrong = [f"{rule}: {count} definitions" for rule, count in defined().items() if count != 1]
    assert not wrong, "\n".join(wrong)


def test_a_rule_that_is_named_has_a_definition():
    rules = defined()
    families = {family(rule) for rule in rules}
    assert len(rules) > 50 and families >= {"K", "P", "L"}
    wrong = sorted(
        f"{place}: docs/ has no definition of the rule {rule}"
        for rule, place, is_product in citations()
        if rule not in rules and (is_product or family(rule) in families)
    )
    assert not wrong, "\n".join(wrong)


def test_a_named_rule_is_found():
    assert named("// Sums (rules P1 to P5, reading Z3) of (K4).") == {"P1", "P5", "Z3", "K4"}
    assert named("/// O1a: another currency, and K13.") == {"O1a", "K13"}
    assert named('    """P3, P4: what fails is payable again, once."""') == {"P3", "P4"}
    assert named("# controls K1, K2: the payee") == {"controls K1", "K1", "K2"}
    assert named("/// At T00, on A4, in UTF8.") == set()


def test_a_definition_is_found():
    page = "**K1, commands.** Each\n### Payout runs (P1)\n| **O6** | a row |\nas (P2) says, and **K3** too\n"
    assert list(definitions("commissions.md", page)) == ["K1", "P1", "O6"]
    assert list(definitions("controls.md", page)) == ["controls K1", "P1", "O6"]
