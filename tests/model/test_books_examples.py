"""The worked examples in the independent model: those of double entry, and the 80 of the time before."""

import json
import re

import pytest

from harness import paths
from model.books.audit import audit
from model.books.example import Example

FOLDER = paths.ROOT / "tests" / "examples"
FILES = sorted(FOLDER.glob("*.json")) + sorted(FOLDER.glob("books/*.json"))
# Anomalies that older files show in addition to those they list: kinds introduced with double entry.
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
    assert len(list(FOLDER.glob("*.json"))) == 87
    numbers = {int(re.match("[0-9]+", path.stem).group()) for path in FOLDER.glob("books/*.json")}
    assert numbers == set(range(1, 121))


def test_every_rule_has_an_example():
    shown = {rule for path in FILES for rule in json.loads(path.read_text())["rules"]}
    assert shown == set("A1 A2 A3 A4 C1 D1 F1 F2 H1 H2 H3 J1 J3 J4 K1 K6 K7 K8 K11 M1 M2 M3 M4 O1 O1a O2 O3 O4 O5 O7 P1 P2 P3 P4 P5 "
                        "R1 R2 R3 S1 S2 S3 S4".split())
