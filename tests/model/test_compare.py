"""The comparison of a history with the model can fail: of every column of every listing one value is
changed, and it must see that.
"""

import json

import pytest

from model import compare
from model.core_edge import CoreEdge
from model.history import History

SEED, STEPS = 49, 300
# Columns of a report that the model's rows lack.
FREE = {("anomalies", "message")}


@pytest.fixture(scope="module")
def history():
    with CoreEdge() as edge:
        played = History(SEED, edge)
        for _ in range(STEPS):
            played.step()
        compare.check(played)
        yield played


def changed(value):
    """Another value of the same kind; of an amount the last digit is another."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value + 1
    if isinstance(value, list):
        return [*value, "MORE"]
    if value and value[-1:].isdigit():
        return value[:-1] + str((int(value[-1]) + 1) % 10)
    return (value or "") + "x"


def plants(reports):
    """(listing, row, column): one row for each column, one that has a value if there is one."""
    for kind, rows in sorted(reports.items()):
        if isinstance(rows, list) and rows and isinstance(rows[0], dict):
            for column in sorted({name for row in rows for name in row}):
                numbers = [n for n, row in enumerate(rows) if row.get(column) not in (None, "", [])]
                yield kind, (numbers or [0])[len(numbers) // 2], column


def misses(history, monkeypatch, reports, now):
    """Whether check() sees nothing wrong in these reports."""
    monkeypatch.setattr(history.edge, "reports", lambda: (json.loads(json.dumps(reports)), now))
    seen = history.seen_journal
    try:
        compare.check(history)
    except AssertionError:
        return False
    finally:
        history.seen_journal = seen
    return True


def test_a_changed_value_is_seen(history, monkeypatch):
    reports, now = history.edge.reports()
    missed = []
    for kind, number, column in plants(reports):
        planted = json.loads(json.dumps(reports))
        planted[kind][number][column] = changed(planted[kind][number].get(column))
        if (kind, column) not in FREE and misses(history, monkeypatch, planted, now):
            missed.append((kind, column))
    assert missed == []


@pytest.mark.parametrize("kind", ["orders", "journal", "balances", "payouts", "items", "anomalies", "products", "codes"])
def test_a_row_too_few_or_too_many_is_seen(history, monkeypatch, kind):
    reports, now = history.edge.reports()
    assert len(reports[kind]) > 1
    for rows in (reports[kind][:-1], reports[kind][1:], [*reports[kind], reports[kind][-1]]):
        assert not misses(history, monkeypatch, {**reports, kind: rows}, now)


@pytest.mark.parametrize("name", ["applied", "stale", "duplicate", "catalog", "commands", "dead"])
def test_a_wrong_counter_is_seen(history, monkeypatch, name):
    reports, now = history.edge.reports()
    stats = {**reports["stats"], name: reports["stats"][name] + 1}
    assert not misses(history, monkeypatch, {**reports, "stats": stats}, now)


def test_a_finding_of_the_auditor_is_seen(history, monkeypatch):
    reports, now = history.edge.reports()
    assert not misses(history, monkeypatch, {**reports, "broken": "b: a balance"}, now)


@pytest.mark.parametrize("column", ["opening", "earned", "adjusted", "paid_out", "closing"])
def test_a_wrong_statement_is_seen(history, monkeypatch, column):
    reports, now = history.edge.reports()
    asked = history.edge.statement

    def planted(creator, month):
        shown = asked(creator, month)
        for row in shown["sums"]:
            row[column] = changed(row[column])
        return shown

    monkeypatch.setattr(history.edge, "statement", planted)
    assert any(not misses(history, monkeypatch, reports, now) for _ in range(20))


@pytest.mark.parametrize("what", ["payouts", "skipped", "digest"])
def test_a_wrong_preview_is_seen(history, what):
    history.take_in()
    step = {"close": {"until": compare.time_text(history.edge.now()), "ignore_minimum": True}}
    shown, now = history.edge.preview(step)
    history.compare_preview(json.loads(json.dumps(shown)), step, now)
    if what == "digest":
        shown["digest"] = changed(shown["digest"])
    else:
        assert shown[what]
        shown[what][0]["amount"] = changed(shown[what][0]["amount"])
    with pytest.raises(AssertionError):
        history.compare_preview(shown, step, now)
