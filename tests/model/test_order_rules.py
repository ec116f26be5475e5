"""Orders, cancellations and refunds: each rule with figures worked by hand.

Real nginx, real commands, real reports; one shop and account per test.
"""

import datetime

import pytest

from harness import sign
from harness.orders import line, refund
from model.rules import at, with_code


# O1, O2, O3 -------------------------------------------------------------------------------------


def test_O1_report_shows_the_order_as_sent(earning):
    earning.send(with_code(amount="0105.00", platform_ordered_at="2024-03-01T12:00:00.500+02:00"))
    row = earning.only_order()
    node = earning.postings()[0]["node"]
    assert row.pop("node", node) == node  # the model has no word for it
    assert row == {
        "order_id": "o", "shop_id": earning.shop, "account_id": earning.account, "creator_id": earning.ann,
        "program_id": earning.program, "attribution_types": ["AFFILIATE_CODE"], "commission_amount": "8.00",
        "amount": "0105.00", "tax": "20.00", "shipping": "5.00", "refund_amount": "0", "refund_tax": "0",
        "currency": "USD", "cancelled_at": None, "ordered_at": "2024-03-01T10:00:00.5Z",
        "last_updated_at": "2024-03-01T10:00:00Z", "accrued": "8.00", "commission_currency": "USD",
        "status": "payable", "blocked_by": [], "payouts": [],
    }


@pytest.mark.parametrize("topic", ["ORDER_CREATE", "ORDER_UPDATE", "ORDER_CANCEL"])
def test_O1_any_topic_creates_an_unknown_order(earning, topic):
    seq = earning.send(with_code(), topic)
    assert earning.only_order()["commission_amount"] == "8.00"
    assert earning.journal() == [("l1", "8.00", "ACCRUAL")]
    assert earning.anomalies() == {}
    assert earning.postings()[0]["event_seq"] == seq


def test_O1_version_of_a_create_without_updated_at_is_ordered_at(earning):
    document = with_code(platform_ordered_at=at(5))
    del document["platform_updated_at"]
    earning.send(document, "ORDER_CREATE")
    earning.send(with_code(amount="1", platform_ordered_at=at(5), platform_updated_at=at(4)))
    row = earning.only_order()
    assert (row["amount"], row["last_updated_at"]) == ("105.00", at(5))


def test_O1_stale_event_changes_nothing_but_refund_rows(earning):
    earning.send(with_code(platform_updated_at=at(10)))
    before = earning.sluice.stats()["stale"]
    earning.send(
        with_code(platform_updated_at=at(5), amount="1.00", line_items=[line(amount="1.00", tax="0")],
                  platform_cancelled_at=at(5), refund_line_items=[refund("r", amount="50.00")])
    )
    row = earning.only_order()
    assert (row["amount"], row["cancelled_at"], row["refund_amount"]) == ("105.00", None, "50.00")
    assert earning.journal() == [("l1", "8.00", "ACCRUAL"), ("l1", "-4.00", "REFUND")]
    assert earning.sluice.stats()["stale"] == before + 1


def test_O1_at_the_same_version_the_later_arrival_wins(earning):
    earning.send(with_code(line_items=[line(amount="100.00", tax="0")]))
    earning.send(with_code(line_items=[line(amount="50.00", tax="0")]))
    assert earning.journal() == [("l1", "10.00", "ACCRUAL"), ("l1", "-5.00", "UPDATE")]


def test_O1_versions_compare_to_the_nanosecond(earning):
    earning.send(with_code(amount="1", platform_updated_at="2024-03-01T12:00:00.000000002Z"))
    earning.send(with_code(amount="2", platform_updated_at="2024-03-01T12:00:00.000000001Z"))
    assert earning.only_order()["amount"] == "1"
    earning.send(with_code(amount="3", platform_updated_at="2024-03-01T14:00:00.000000003+02:00"))
    assert earning.only_order()["amount"] == "3"


def test_O1_line_that_is_gone_earns_nothing_and_comes_back_at_its_frozen_rate(earning):
    two = [line("l1"), line("l2", amount="50.00", tax="0")]
    earning.send(with_code(platform_updated_at=at(1), line_items=two))
    earning.apply_program(default_rate='"20%"')
    earning.send(with_code(platform_updated_at=at(2), line_items=two[:1]))
    earning.send(with_code(platform_updated_at=at(3), line_items=two))
    assert earning.journal() == [
        ("l1", "8.00", "ACCRUAL"), ("l2", "5.00", "ACCRUAL"), ("l2", "-5.00", "UPDATE"), ("l2", "5.00", "UPDATE"),
    ]


def test_O1_refund_rows_of_a_gone_line_stay(earning):
    two = [line("l1"), line("l2", amount="50.00", tax="0")]
    earning.send(with_code(platform_updated_at=at(1), line_items=two, refund_line_items=[refund("r", "l2", amount="25.000", tax="1")]))
    earning.send(with_code(platform_updated_at=at(2), line_items=two[:1]))
    row = earning.only_order()
    assert (row["refund_amount"], row["refund_tax"], row["commission_amount"]) == ("25.000", "1", "8.00")
    earning.send(with_code(platform_updated_at=at(3), line_items=two))
    assert earning.only_order()["commission_amount"] == "10.50"


def test_O1_changed_currency_reverses_and_posts_again(earning):
    earning.send(with_code(platform_updated_at=at(1)))
    earning.send(with_code(platform_updated_at=at(2), currency_code="JPY"))
    rows = [(r["currency"], r["amount"], r["reason"]) for r in earning.postings()]
    assert sorted(rows) == [("JPY", "8", "UPDATE"), ("USD", "-8.00", "UPDATE"), ("USD", "8.00", "ACCRUAL")]
    row = earning.only_order()
    assert (row["commission_amount"], row["currency"]) == ("8", "JPY")


def test_O2_duplicate_changes_nothing(earning):
    body = sign.encode(with_code(platform_updated_at=at(1)))
    earning.send(body)
    earning.send(with_code(platform_updated_at=at(2), amount="107"))
    before = earning.rows("journal"), earning.only_order()
    count = earning.sluice.stats()["duplicate"]
    earning.send(body)
    earning.send(body)
    assert (earning.rows("journal"), earning.only_order()) == before
    assert earning.sluice.stats()["duplicate"] == count + 2
    assert earning.anomalies() == {}


def test_O2_same_body_under_another_topic_is_no_duplicate(earning):
    body = sign.encode(with_code(platform_cancelled_at=at(9), platform_updated_at=at(1)))
    earning.sluice.drain()
    count = earning.sluice.stats()["duplicate"]
    earning.send(body, "ORDER_UPDATE")
    earning.send(body, "ORDER_CANCEL")
    assert earning.only_order()["cancelled_at"] == at(9)
    assert earning.sluice.stats()["duplicate"] == count
    assert earning.anomalies() == {}  # C1: that cancellation stands already


def test_O2_same_body_for_another_shop_is_another_order(earning):
    second = earning.sluice.shop(f"{earning.account}-second", earning.account)
    body = sign.encode(with_code())
    earning.send(body)
    earning.edge.post_event(second, earning.secret, "ORDER_UPDATE", body)
    earning.sluice.drain()
    assert len(earning.sluice.report("orders", "--shop", second)) == 1
    assert earning.only_order()["commission_amount"] == "8.00"


def ahead(**span):
    moment = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(**span)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def test_O3_version_in_the_future_is_applied_and_noted(earning):
    earning.send(with_code(platform_updated_at=ahead(hours=23)))
    assert earning.anomalies() == {}
    seq = earning.send(with_code(amount="109", platform_updated_at=ahead(hours=25)))
    assert earning.only_order()["amount"] == "109"
    assert earning.anomalies() == {"VERSION_IN_FUTURE": (seq, 1)}


# C1 ---------------------------------------------------------------------------------------------


def test_C1_cancelled_at_cancels_under_any_topic(earning):
    earning.send(with_code(platform_updated_at=at(1)))
    earning.send(with_code(platform_updated_at=at(2), platform_cancelled_at="2024-03-01T12:00:02.10Z"), "ORDER_UPDATE")
    row = earning.only_order()
    assert (row["cancelled_at"], row["commission_amount"]) == ("2024-03-01T12:00:02.1Z", "0.00")
    assert row["creator_id"] == earning.ann
    assert earning.journal() == [("l1", "8.00", "ACCRUAL"), ("l1", "-8.00", "CANCELLATION")]


def test_C1_topic_alone_never_cancels(earning):
    earning.send(with_code(platform_updated_at=at(1)))
    seq = earning.send(with_code(platform_updated_at=at(2), amount="109"), "ORDER_CANCEL")
    row = earning.only_order()
    assert (row["cancelled_at"], row["amount"], row["commission_amount"]) == (None, "109", "8.00")
    assert earning.anomalies() == {"CANCEL_WITHOUT_CANCELLED_AT": (seq, 1)}


def test_C1_cancel_at_the_same_version_does_not_cancel_but_the_rest_applies(earning):
    earning.send(with_code(platform_updated_at=at(1)))
    seq = earning.send(with_code(platform_updated_at=at(1), amount="109", platform_cancelled_at=at(1)), "ORDER_CANCEL")
    row = earning.only_order()
    assert (row["cancelled_at"], row["amount"], row["commission_amount"]) == (None, "109", "8.00")
    assert earning.anomalies() == {"CANCEL_NOT_LATER": (seq, 1)}


def test_C1_a_repeated_cancellation_is_no_anomaly(earning):
    cancelled = with_code(platform_updated_at=at(2), platform_cancelled_at=at(2))
    earning.send(with_code(platform_updated_at=at(1)))
    earning.send(cancelled)
    earning.send(cancelled, "ORDER_CANCEL")
    earning.send(dict(cancelled, phone="1"), "ORDER_CANCEL")
    assert earning.only_order()["cancelled_at"] is not None
    assert earning.anomalies() == {}


def test_C1_older_cancel_does_not_cancel(earning):
    earning.send(with_code(platform_updated_at=at(2)))
    seq = earning.send(with_code(platform_updated_at=at(1), platform_cancelled_at=at(1)), "ORDER_CANCEL")
    assert earning.only_order()["cancelled_at"] is None
    assert earning.anomalies() == {"CANCEL_NOT_LATER": (seq, 1)}


def test_C1_withdrawn_cancellation(earning):
    earning.send(with_code(platform_updated_at=at(1), platform_cancelled_at=at(1)), "ORDER_CANCEL")
    assert earning.only_order()["cancelled_at"] == at(1)
    assert earning.journal() == []
    seq = earning.send(with_code(platform_updated_at=at(2)))
    assert earning.only_order()["commission_amount"] == "8.00"
    assert earning.anomalies() == {"CANCELLATION_WITHDRAWN": (seq, 1)}
    assert earning.journal() == [("l1", "8.00", "CANCELLATION")]


def test_C1_event_of_a_cancelled_order_that_repeats_it_is_no_withdrawal(earning):
    earning.send(with_code(platform_updated_at=at(1), platform_cancelled_at=at(1)))
    earning.send(with_code(platform_updated_at=at(2), platform_cancelled_at=at(1), amount="103"))
    row = earning.only_order()
    assert (row["cancelled_at"], row["amount"]) == (at(1), "103")
    assert earning.anomalies() == {}


# R1, R2, R3 -------------------------------------------------------------------------------------


def test_R1_cumulative_statements_replace_each_other(earning):
    steps = [("25.00", "-2.00"), ("50.00", "-2.00"), ("0", "4.00"), ("0.0", None), ("100.00", "-8.00")]
    earning.send(with_code(platform_updated_at=at(0)))
    wanted = [("l1", "8.00", "ACCRUAL")]
    for number, (amount, delta) in enumerate(steps, 1):
        earning.send(with_code(platform_updated_at=at(number), refund_line_items=[refund("r", amount=amount, tax="0")]))
        wanted += [("l1", delta, "REFUND")] if delta else []
        assert earning.only_order()["refund_amount"] == amount
    assert earning.journal() == wanted
    assert earning.anomalies() == {}


def test_R1_row_that_is_not_mentioned_stays(earning):
    earning.send(with_code(platform_updated_at=at(1), refund_line_items=[refund("r", amount="50.00")]))
    earning.send(with_code(platform_updated_at=at(2)))
    earning.send(with_code(platform_updated_at=at(3), refund_line_items=[]))
    row = earning.only_order()
    assert (row["refund_amount"], row["commission_amount"]) == ("50.00", "4.00")


def test_R1_older_statement_does_not_replace_a_row(earning):
    earning.send(with_code(platform_updated_at=at(5), refund_line_items=[refund("r", amount="50.00")]))
    earning.send(with_code(platform_updated_at=at(4), refund_line_items=[refund("r", amount="10.00")]))
    assert earning.only_order()["refund_amount"] == "50.00"


def test_R1_stale_event_replaces_a_row_that_is_older_still(earning):
    earning.send(with_code(platform_updated_at=at(1), refund_line_items=[refund("r", amount="10.00")]))
    earning.send(with_code(platform_updated_at=at(9)))
    earning.send(with_code(platform_updated_at=at(5), refund_line_items=[refund("r", amount="50.00")]))
    earning.send(with_code(platform_updated_at=at(4), refund_line_items=[refund("r", amount="70.00")]))
    row = earning.only_order()
    assert (row["refund_amount"], row["commission_amount"]) == ("50.00", "4.00")


def test_R2_second_id_for_a_line_is_not_counted_twice(earning):
    earning.send(with_code(platform_updated_at=at(1), refund_line_items=[refund("r1", amount="50.00")]))
    seq = earning.send(with_code(platform_updated_at=at(2), refund_line_items=[refund("r2", amount="25.00")]))
    assert earning.only_order()["refund_amount"] == "25.00"
    earning.send(with_code(platform_updated_at=at(3), refund_line_items=[refund("r2", amount="30.00")]))
    assert earning.only_order()["refund_amount"] == "30.00"
    earning.send(with_code(platform_updated_at=at(4), refund_line_items=[refund("r1", amount="75.00")]))
    row = earning.only_order()
    assert (row["refund_amount"], row["commission_amount"]) == ("75.00", "2.00")
    assert earning.anomalies() == {"DUPLICATE_REFUND_ID": (seq, 1)}


def test_R2_older_second_id_does_not_stand(earning):
    earning.send(with_code(platform_updated_at=at(2), refund_line_items=[refund("r1", amount="50.00")]))
    seq = earning.send(with_code(platform_updated_at=at(1), refund_line_items=[refund("r2", amount="25.00")]))
    assert earning.only_order()["refund_amount"] == "50.00"
    assert earning.anomalies() == {"DUPLICATE_REFUND_ID": (seq, 1)}


def test_R2_id_belongs_to_the_first_order_that_used_it(earning):
    earning.send(with_code(refund_line_items=[refund("r", amount="50.00")]))
    other = {**with_code(refund_line_items=[refund("r", amount="50.00")]), "platform_order_id": "p"}
    seq = earning.send(other)
    rows = {row["order_id"]: row for row in earning.rows("orders")}
    assert (rows["o"]["commission_amount"], rows["p"]["commission_amount"]) == ("4.00", "8.00")
    assert rows["p"]["refund_amount"] == "0"
    assert earning.anomalies() == {"REFUND_ID_REUSED": (seq, 1)}


def test_R2_id_belongs_to_the_first_line_that_used_it(earning):
    two = [line("l1"), line("l2")]
    earning.send(with_code(platform_updated_at=at(1), amount="205", line_items=two, refund_line_items=[refund("r", "l1", amount="50.00")]))
    seq = earning.send(with_code(platform_updated_at=at(2), amount="205", line_items=two, refund_line_items=[refund("r", "l2", amount="80.00")]))
    row = earning.only_order()
    assert (row["refund_amount"], row["commission_amount"]) == ("50.00", "12.00")
    assert earning.anomalies() == {"REFUND_ID_REUSED": (seq, 1)}


def test_R2_ids_of_another_shop_are_other_ids(earning):
    second = earning.sluice.shop(f"{earning.account}-second", earning.account)
    document = with_code(refund_line_items=[refund("r", amount="50.00")])
    earning.send(document)
    earning.edge.post_event(second, earning.secret, "ORDER_UPDATE", document)
    earning.sluice.drain()
    (row,) = earning.sluice.report("orders", "--shop", second)
    assert row["commission_amount"] == "4.00"
    assert earning.sluice.report("anomalies", "--shop", second) == []


def test_R3_refund_over_the_line_counts_as_full(earning):
    seq = earning.send(with_code(refund_line_items=[refund("r", amount="100.01")]))
    row = earning.only_order()
    assert (row["commission_amount"], row["refund_amount"]) == ("0.00", "100.01")
    assert earning.anomalies()["REFUND_EXCEEDS_LINE"][0] == seq
    assert earning.journal() == []


def test_R3_refund_equal_in_value_is_full(earning):
    earning.send(with_code(refund_line_items=[refund("r", amount="100.000000")]))
    assert earning.only_order()["commission_amount"] == "0.00"
    assert earning.anomalies() == {}


def test_R3_line_of_amount_0(earning):
    earning.apply_program(default_rate='"1.50 USD"')
    lines = [line("l1", amount="0", tax="0", quantity="2")]
    earning.send(with_code(platform_updated_at=at(1), line_items=lines, refund_line_items=[refund("r", amount="0.00", tax="0")]))
    assert earning.only_order()["commission_amount"] == "3.00"
    assert list(earning.anomalies()) == ["COMMISSION_EXCEEDS_BASE"]
    seq = earning.send(with_code(platform_updated_at=at(2), line_items=lines, refund_line_items=[refund("r", amount="0.01")]))
    assert earning.only_order()["commission_amount"] == "0.00"
    assert earning.anomalies()["REFUND_EXCEEDS_LINE"][0] == seq


def test_R3_lowering_the_line_below_its_refund_shows_the_anomaly(earning):
    earning.send(with_code(platform_updated_at=at(1), refund_line_items=[refund("r", amount="60.00")]))
    seq = earning.send(with_code(platform_updated_at=at(2), line_items=[line(amount="50.00", tax="0")]))
    assert earning.only_order()["commission_amount"] == "0.00"
    assert earning.anomalies()["REFUND_EXCEEDS_LINE"][0] == seq


def test_refund_sums_have_the_largest_scale(earning):
    lines = [line("l1"), line("l2"), line("l3")]
    rows = [refund("r1", "l1", amount="1.5", tax="1"), refund("r2", "l2", amount="2.250", tax="0.5"), refund("r3", "l3", amount="0", tax="0.000")]
    earning.send(with_code(line_items=lines, refund_line_items=rows))
    row = earning.only_order()
    assert (row["refund_amount"], row["refund_tax"]) == ("3.750", "1.500")
