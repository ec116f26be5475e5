"""The preset edit: scripts/t finds a program for each file of unit tests, and the edited folder compiles file by file."""

import json
import subprocess

from harness import paths


def test_each_file_of_tests_is_a_program_and_the_edited_folder_is_apart(tmp_path):
    subprocess.run(["cmake", "--preset", "edit", "-B", tmp_path, "-DSLUICE_EDITED=core/rules"], cwd=paths.ROOT, check=True,
                   capture_output=True)
    known = subprocess.run(["cmake", "--build", tmp_path, "--target", "help"], check=True, capture_output=True,
                           text=True).stdout
    targets = {line.split(":")[0] for line in known.splitlines()}
    files = [path.relative_to(paths.ROOT / "tests" / "unit") for path in (paths.ROOT / "tests" / "unit").rglob("*_test.cpp")]
    assert len(files) > 100
    assert {str(file.with_suffix("")).replace("/", ".") for file in files} <= targets
    compiled = {unit["file"] for unit in json.loads((tmp_path / "compile_commands.json").read_text())}
    assert str(paths.ROOT / "core" / "rules" / "attribution.cpp") in compiled
    assert str(paths.ROOT / "core" / "journal" / "journal.cpp") not in compiled


def test_a_name_without_tests_is_answered_with_the_names_that_have_some():
    run = subprocess.run([paths.ROOT / "scripts" / "t", "attribut"], capture_output=True, text=True)
    assert run.returncode == 2 and "tests/unit/ledger/attribution_test.cpp" in run.stderr
