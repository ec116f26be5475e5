"""docs/record-format.md is enough to read a store: format_reader.py knows nothing else."""

import json

import pytest

from docs import format_reader as reader
from harness import orders, sign
from docs.test_examples import CONFIG

PROGRAM = '[[program]]\nid = "spring"\naccount = "acme"\ndefault_rate = "10%"\nlate_days = 36500\n'
CODE = {"code": "mia10", "type": "DISCOUNT_CODE", "value_type": "PERCENTAGE", "value": "10"}


@pytest.fixture
def site(start_edge, new_merchant, tmp_path):
    edge = start_edge(CONFIG, workers=1)
    merchant = new_merchant(edge, "acme")
    (tmp_path / "program.toml").write_text(PROGRAM)
    (tmp_path / "creators.csv").write_text("creator_id,program_id,code\nmia,spring,mia10\n")
    edge.sluice("program", "apply", tmp_path / "program.toml")
    edge.sluice("creator", "import", tmp_path / "creators.csv")
    return edge, merchant


def send(merchant, count):
    documents = [orders.order(f"o-{number}", discounts=[CODE]) for number in range(count)]
    for document in documents:
        assert merchant.event("ORDER_CREATE", document).status == 200
    return [sign.encode(document) for document in documents]


def test_lane_queue_archive_and_ledger_are_read_from_the_tables_of_the_page(site):
    edge, merchant = site
    bodies = send(merchant, 5)
    (lane,) = sorted((edge.store / "queue" / "lanes").glob("*.lane"))
    ring, batches = reader.read_lane(lane)
    assert lane.stat().st_size == 4096 + ring
    in_lane = [record for _, batch in batches for record in batch]
    assert [record["body"] for record in in_lane] == bodies

    edge.sluice("queue", "move")
    queued = [record for _, record in sorted(reader.read_queue(edge.store / "queue").items()) if record["topic"] < 16]
    assert [record["body"] for record in queued] == bodies
    assert {record["shop_id"] for record in queued} == {merchant.shop}
    assert [record["receipt"][1:] for record in queued] == [
        (offset, index) for offset, batch in batches for index in range(len(batch))
    ]

    edge.sluice.drain()
    archived = []
    for number, segment in enumerate(sorted((edge.store / "archive").glob("*.sla")), 1):
        head, inputs = reader.read_segment(segment)
        assert head["ordinal"] == number
        archived += inputs
    assert [seq for seq, _ in archived] == list(range(1, len(archived) + 1))
    assert [record["topic"] for _, record in archived] == [32, 33] + [1] * 5
    assert [record["body"] for _, record in archived[2:]] == bodies
    assert "programs" in json.loads(archived[0][1]["body"])

    ledger = edge.store / "ledger"
    assert [names for _, names in shops(ledger)] == [(merchant.account, merchant.shop)]
    ((key, sums),) = reader.read_balances(ledger).items()
    (row,) = edge.sluice.report("balances")
    assert key[1:4] == (row["program_id"], row["creator_id"], row["currency"]) == ("spring", "mia", "USD")
    assert [as_text(value) for value in sums] == ["40.00", "0.00", "0.00"]
    assert row["total"] == "40.00"


def shops(ledger):
    return [(account, (account_id, shop_id)) for account, account_id, shop_id in reader.read_shops(ledger).values()]


def as_text(value):
    unscaled, digits = value
    return f"{unscaled / 10**digits:.2f}"


def test_an_altered_row_is_recognised(site):
    edge, merchant = site
    send(merchant, 1)
    edge.sluice.drain()
    ((key, value),) = reader.rows(edge.store / "ledger", "balances")
    with pytest.raises(AssertionError):
        reader.Fields(key, bytes([value[0] ^ 0x10]) + value[1:])
    with pytest.raises(AssertionError):
        reader.Fields(key + b"\0", value)
