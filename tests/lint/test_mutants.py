"""The list of planted faults fits the sources and the tests that it names."""

import pathlib
import re

from conftest import is_more, more
from faults.planted import PLANTED
from mutation.mutants import MUTANTS

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUGS = [bug for bugs in PLANTED.values() for bug, _ in bugs]


def test_each_fault_can_be_planted():
    for mutant in MUTANTS + BUGS:
        for file, old, new in mutant.places:
            found = (ROOT / file).read_text().count(old)
            assert found == 1 and old != new, f"{mutant.name}: {found} places in {file}"
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS) >= 30


def test_each_names_a_test_that_is_there():
    unit = {}
    for path in (ROOT / "tests" / "unit").glob("**/*_test.cpp"):
        unit.setdefault(path.relative_to(ROOT / "tests" / "unit").parts[0], []).append(path.read_text())
    for mutant in MUTANTS + BUGS:
        if mutant.test.startswith("tests/"):
            path, name = mutant.test.split("::")
            assert re.search(rf"^def {name.split('[')[0]}\(", (ROOT / path).read_text(), re.M), mutant.test
            continue
        room, filters = mutant.test.split(":", 1)
        for words in filters.split(":"):
            pattern = r",\s*".join(re.escape(word.strip("*/")) for word in words.split(".")) if "." in words else (
                re.escape(words.strip("*/")))
            assert any(re.search(pattern, text) for text in unit[room]), f"{mutant.name}: {words}"


def test_make_test_alone_kills_nearly_all():
    """At most one fault of twenty needs a test of make test-more."""
    elsewhere = [mutant.name for mutant in MUTANTS if is_more(mutant.test.removeprefix("tests/"))]
    assert len(elsewhere) <= len(MUTANTS) / 20, elsewhere


def test_the_list_of_make_test_more_names_tests():
    for name in more():
        path, _, test = name.partition("[")[0].partition("::")
        assert (ROOT / "tests" / path).exists(), name
        assert not test or re.search(rf"^def {test}\(", (ROOT / "tests" / path).read_text(), re.M), name


def test_a_value_of_a_parameter_is_of_make_test_more():
    file = "integration/test_guards.py"
    assert f"{file}[postgres]" in more()
    assert is_more(f"{file}::test_x[postgres]") and is_more(f"{file}::test_x[a b-postgres]")
    assert not is_more(f"{file}::test_x[lmdb]") and not is_more(f"{file}::test_x") and not is_more(f"{file}::test_x[postgresql]")
