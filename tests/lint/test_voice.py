"""One voice: comments, pages and names of tests have none of the patterns of voice.py."""
import pathlib

import voice


def test_no_pattern_is_found():
    wrong = [
        f"{area}, {name}: {len(lines)} hits:\n    " + "\n    ".join(lines)
        for (area, name), lines in sorted(voice.hits().items())
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
