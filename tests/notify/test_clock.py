"""Retries over days, on a clock that the test sets."""

import datetime

import pytest
from harness import paths
from harness.cli import Sluice
from harness.fake_time import FakeTime
from harness.webhooks import Receiver

START = datetime.datetime(2031, 3, 3, 10, tzinfo=datetime.timezone.utc)


class Clock(FakeTime):
    def __init__(self):
        super().__init__()
        self.at = START
        self.move()

    def move(self, **span):
        self.at += datetime.timedelta(**span)
        self.set(self.at.isoformat().replace("+00:00", "Z"))


@pytest.fixture
def clock():
    made = Clock()
    yield made
    made.folder.cleanup()


@pytest.fixture
def clocked(site, clock):
    site.sluice = Sluice(site.sluice.store, clock.environment)
    return site


def test_retries_come_at_the_times_of_the_table_and_the_destination_is_disabled_after_three_days(clocked, clock):
    """Example 9: the receiver is down for four days; after resume all changes arrive, each order's in order."""
    with Receiver(clocked.folder, lambda request: 503) as receiver:
        clocked.add("erp", receiver)
        clocked.credit("1.00")
        with clocked.run(receiver, environment=clock.environment) as notify:
            for count, span in enumerate(({}, {"seconds": 6}, {"minutes": 6}, {"minutes": 36}, {"hours": 2.4}, {"hours": 6},
                                          {"hours": 12}, {"hours": 16.8}, {"hours": 24}), 1):
                clock.move(**span)
                receiver.wait(count)
                clocked.wait_for("erp", failed=count, state="failing")
                at = clocked.log("erp")[0]
                wait = datetime.datetime.fromisoformat(at["next_try"].replace("Z", "+00:00")) - \
                    datetime.datetime.fromisoformat(at["at"].replace("Z", "+00:00"))
                middle = [5, 300, 1800, 7200, 18000, 36000, 50400, 72000, 86400][count - 1]
                assert 0.8 * middle <= wait.total_seconds() <= 1.2 * middle
            clock.move(hours=28.8)
            shown = clocked.wait_for("erp", failed=10, state="disabled")
            assert shown["disabled_why"] == "no success for 3 days: answered 503"
            assert "destination erp is disabled" in notify.log()
            clocked.credit("2.00")
            clock.move(days=1)
            receiver.answer = lambda request: 200
            clocked.sluice("notify", "resume", "erp")
            clocked.wait_for("erp", state="active", lag=0, pending=0, delivered=2)
    amounts = [request.change["entries"][0]["amount"] for request in receiver.requests]
    assert amounts[:10] == ["1.00"] * 10 and sorted(amounts[10:]) == ["1.00", "2.00"]


def test_a_change_is_given_up_if_the_destination_took_others(clocked, clock):
    """And `replay --failed` sends it again."""
    def answer(request):
        return 500 if request.change["entries"][0]["amount"] == "1.00" else 200

    with Receiver(clocked.folder, answer) as receiver:
        clocked.add("erp", receiver)
        clocked.credit("1.00")
        with clocked.run(receiver, environment=clock.environment):
            clocked.wait_for("erp", failed=1)
            for count in range(2, 11):
                clocked.credit(f"{count}.00")
                clocked.wait_for("erp", delivered=count - 1)
                clock.move(hours=29)
                clocked.wait_for("erp", failed=count)
            shown = clocked.wait_for("erp", expired=1, lag=0, pending=0)
            assert (shown["state"], shown["failed"], shown["delivered"]) == ("failing", 10, 9)
            (failed,) = [row for row in clocked.log("erp") if row["outcome"] == "failed"]
            assert (failed["attempt"], failed["error"], failed["next_try"]) == (10, "answered 500", None)
            receiver.answer = lambda request: 200
            assert clocked.sluice("notify", "replay", "erp", "--failed").startswith("1 changes that failed and 0")
            clocked.wait_for("erp", delivered=10, state="active")
    assert receiver.requests[-1].id == receiver.requests[0].id
    assert "no change of this destination has failed" in clocked.sluice.refuses("notify", "replay", "erp", "--failed")


def test_the_old_secret_ends_after_a_day(clocked, clock):
    with Receiver(clocked.folder) as receiver:
        clocked.add("erp", receiver)
        clocked.sluice("notify", "rotate", "erp")
        with clocked.run(receiver, environment=clock.environment):
            clocked.credit("1.00")
            receiver.wait(1)
            clock.move(hours=24, minutes=1)
            clocked.credit("2.00")
            receiver.wait(2)
    first, second = receiver.requests
    assert (len(first.headers["webhook-signature"].split()), len(second.headers["webhook-signature"].split())) == (2, 1)


def test_ten_failures_over_a_minute_leave_one_probe_at_a_time(clocked, clock):
    with Receiver(clocked.folder, lambda request: 503) as receiver:
        clocked.add("erp", receiver)
        clocked.credit(*(f"{number}.00" for number in range(1, 7)))
        with clocked.run(receiver, environment=clock.environment):
            clocked.wait_for("erp", failed=6)
            clock.move(seconds=61)  # all are due again; the fourth of them opens the breaker
            paths.wait_until(lambda: clocked.show("erp")["failed"] >= 10, "ten failures")
            opened = clocked.show("erp")["failed"]
            assert opened <= 12
            receiver.answer = lambda request: 200
            clock.move(minutes=30)
            clocked.wait_for("erp", delivered=6, lag=0, pending=0)
