"""A store of LMDB 1.0, or its library: every command refuses it by name, and takes nothing for damaged."""

import sys

import pytest
from program import ROOT, sluice

sys.path.insert(0, str(ROOT / "tests"))
from harness import lmdb  # noqa: E402

FOREIGN = {"1.0": lmdb.page_of_10(), "1.0 in development": lmdb.page_of_10(999), "0.9 in development": lmdb.page_of_09(999)}


def is_refused_by_name(text, name):
    assert name in text and "needs LMDB 0.9" in text and "nothing is damaged" in text, text
    assert "backup" not in text and "another process damaged" not in text, text


@pytest.fixture(name="filled")
def filled_fixture(store):
    assert sluice("account", "create", "acme", store=store).status == 0
    assert sluice("worker", "--until-empty", store=store).status == 0
    return store


@pytest.mark.parametrize("page", FOREIGN.values(), ids=FOREIGN)
@pytest.mark.parametrize("part, line", [
    ("registry", ["account", "list"]), ("queue", ["queue", "stats"]), ("queue", ["worker", "--until-empty"]),
    ("ledger", ["report", "balances", "--account", "acme"]), ("ledger", ["worker", "--until-empty"]), ("queue", ["backup", "to"]),
])
def test_a_file_of_another_lmdb_is_refused_by_name(filled, tmp_path, part, line, page):
    path = filled / part / "data.mdb"
    lmdb.overwrite(path, page)
    foreign = path.read_bytes()
    line = [tmp_path / "copy" if word == "to" else word for word in line]
    run = sluice(*line, store=filled)
    assert run.status == 1
    is_refused_by_name(run.err, "of another LMDB" if page == FOREIGN["0.9 in development"] else "of LMDB 1.0")
    assert str(path) in run.err and path.read_bytes() == foreign
    found = sluice("doctor", "--format", "json", store=filled)
    rows = [row for row in found.json() if row["result"] == "problem"]
    assert found.status == 1 and [row["check"] for row in rows if row["check"] != "nginx"] == ["lmdb"], rows
    is_refused_by_name(rows[0]["finding"], str(path))


@pytest.mark.parametrize("version, is_known", [("1.0.0", False), ("0.9.90", False), ("0.9.70", False), ("0.9.35", True)])
def test_a_library_of_another_version_is_refused_by_name(filled, tmp_path, version, is_known):
    environment = lmdb.library_of(tmp_path, version)
    for line in (["account", "list"], ["queue", "stats"], ["report", "balances", "--account", "acme"], ["worker", "--until-empty"]):
        run = sluice(*line, store=filled, env=environment)
        assert (run.status == 0) == is_known, run
        assert is_known or is_refused_by_name(run.err, "LMDB " + version) is None
    made = sluice("init", store=tmp_path / "new", env=environment)
    assert (made.status == 0) == is_known, made
    row, = [row for row in sluice("doctor", "--format", "json", store=filled, env=environment).json() if row["check"] == "lmdb"]
    assert row["result"] == ("ok" if is_known else "problem") and version in row["finding"], row


def test_a_damaged_file_is_still_called_damaged(filled):
    lmdb.overwrite(filled / "queue" / "data.mdb", b"x" * 4096)
    run = sluice("queue", "stats", store=filled)
    assert run.status == 1 and "restore it from a backup" in run.err, run
