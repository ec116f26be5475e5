"""One voice: comments, pages and names of tests keep the patterns of voice.py at or below their ceilings."""
import pathlib

import voice

# {area: {pattern: hits}}; a pattern that is not listed is refused. A count may only fall.
CEILINGS = {
    "core": {"Of": 76, "clause first": 127, "clause later": 28, "metaphor": 35, "name": 47, "nobody": 24,
             "sentinel": 100, "tail": 19},
    "os": {"Of": 1, "clause first": 3, "clause later": 1},
    "lmdb_store": {"Of": 40, "clause first": 46, "clause later": 9, "metaphor": 18, "name": 9, "nobody": 14,
                   "sentinel": 33, "tail": 21},
    "pg_store": {"Of": 13, "clause first": 34, "clause later": 6, "metaphor": 11, "name": 4, "nobody": 6,
                 "sentinel": 13, "tail": 2},
    "ngx_module": {"Of": 8, "clause first": 33, "clause later": 4, "metaphor": 13, "name": 14, "nobody": 10,
                   "sentinel": 30, "tail": 6},
    "worker": {"Of": 41, "clause first": 49, "clause later": 11, "metaphor": 36, "name": 11, "nobody": 14,
               "sentinel": 30, "tail": 21},
    "pages": {"clause later": 12, "metaphor": 3, "nobody": 4, "tail": 4},
    "tests": {"name": 9},
}


def test_no_count_rises():
    wrong = [
        f"{area}, {name}: {len(lines)} hits, at most {ceiling}:\n    " + "\n    ".join(lines)
        for (area, name), lines in sorted(voice.hits().items())
        if len(lines) > (ceiling := CEILINGS.get(area, {}).get(name, 0))
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
