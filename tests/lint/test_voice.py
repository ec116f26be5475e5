"""One voice: comments, pages and names of tests keep the patterns of voice.py at or below their ceilings."""
import pathlib

import voice

# {area: {pattern: hits}}; a pattern that is not listed is refused. A count may only fall, and this table with it.
CEILINGS = {
    "core": {"name": 17},
    "lmdb_store": {"name": 1},
    "pg_store": {"Of": 11, "clause first": 29, "clause later": 6, "metaphor": 11, "name": 4, "nobody": 6,
                 "sentinel": 12, "tail": 2},
    "pages": {"clause later": 2, "nobody": 3, "tail": 1},
    "tests": {"name": 6},
}


def test_no_count_rises():
    wrong = [
        f"{area}, {name}: {len(lines)} hits, at most {ceiling}:\n    " + "\n    ".join(lines)
        for (area, name), lines in sorted(voice.hits().items())
        if len(lines) > (ceiling := CEILINGS.get(area, {}).get(name, 0))
    ]
    assert not wrong, "\n".join(wrong)


def test_the_ceilings_fall_with_the_counts():
    hits = voice.hits()
    wrong = [
        f"{area}, {name}: {len(hits[area, name])} hits, lower the ceiling of {ceiling}"
        for area, ceilings in CEILINGS.items()
        for name, ceiling in ceilings.items()
        if len(hits[area, name]) < ceiling
    ]
    assert not wrong, "\n".join(wrong)


def found(name, text):
    return [pattern for _, pattern, _, _ in voice.hits_in(pathlib.Path(name), text)]


def test_each_pattern_is_found():
    assert found("core/a.hpp", "/// Of an order.") == ["Of"]
    assert found("core/a.hpp", "int x;  ///< What came last.") == ["clause first"]
    assert found("core/a.hpp", "/// Returns a row. Nothing: there is none.") == ["sentinel"]
    assert found("core/a.hpp", "// It waits for nobody.") == ["nobody"]
    assert found("core/a.hpp", "// It reads on: what follows is new.") == ["clause later"]
    assert found("core/a.hpp", "// The row is believed, too.") == ["metaphor", "tail"]
    assert found("core/a.hpp", "void tell_moved();") == ["name"]
    assert found("tests/unit/a_test.cpp", "TEST(Suite, WhatIsThere) {") == ["test name"]
    assert found("tests/cli/test_a.py", "def test_a_row_that_nobody_reads():  # goes on") == ["metaphor", "test name"]
    assert found("tests/a.py", '"""Of a test."""') == ["Of"]
    assert found("tests/a.py", "x = 1  # What is left") == ["clause first"]
    assert found("scripts/build", "# goes on") == ["metaphor"]
    assert found("docs/a.md", "| what is there | beside it |") == ["clause later", "tail"]


def test_plain_words_are_no_hits():
    assert found("core/a.hpp", "/// Returns the offset. Office hours, whatsoever.\nint nobody = 0;") == []
    assert found("docs/a.md", "It knows what is there.") == []
    assert found("tests/unit/a_test.cpp", "TEST(Suite, AWhatsoever) {") == []
