"""The worked examples in the independent model: those of double entry, and the 80 of the time before."""

import json

import pytest

from harness import paths
from model.books.audit import audit
from model.books.example import Example

FOLDER = paths.ROOT / "tests" / "examples"
FILES = sorted(FOLDER.glob("*.json")) + sorted(FOLDER.glob("books/*.json"))
# What files of the time before show beside what they say: kinds that came with double entry.
GAINED = {
    "03-net-below-zero": [["TAX_EXCEEDS_AMOUNT", "o1", 1, 1]],
    "36-refund-on-line-of-zero": [["COMMISSION_EXCEEDS_BASE", "o1", 1, 2]],
}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_example(path):
    wanted = json.loads(path.read_text())
    if path.stem in GAINED:
        wanted["expect"]["anomalies"] = wanted["expect"].get("anomalies", []) + GAINED[path.stem]
    example = Example(wanted)
    example.run()
    assert audit(example.ledger) == []
    rebuilt = example.ledger.rebuilt()
    assert rebuilt.journal.hashes == example.ledger.journal.hashes
    assert rebuilt.payouts == example.ledger.payouts


def test_all_examples_are_there():
    assert len(list(FOLDER.glob("*.json"))) == 80
    numbers = {path.stem[:2] for path in FOLDER.glob("books/*.json")}
    assert numbers == {f"{number:02}" for number in range(1, 35)}
