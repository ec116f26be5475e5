"""When a shop is silent (X4), through nginx, worker, command, API, page and metrics, on a clock that the test sets."""

import datetime

import pytest
from harness import paths
from harness.fake_time import FakeTime
from harness.serve import ask
from serve import scene
from serve.live import served_shop

FIRST = datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc)
# Minutes of a day with events: every 5 to 20 minutes in the hours that count at 10:05, and a night of 8 h from 23:05.
MORNING = [(7, 5), (8, 52), *((hour, minute) for hour in (9, 10, 11) for minute in (5, 15, 20, 40, 52)), (12, 5)]
DAY = [*MORNING, (23, 5)]


class Shops:
    def __init__(self, live, clock):
        self.live, self.clock, self.sluice, self.count = live, clock, live.edge.sluice, 0

    def at(self, day, hour, minute):
        self.clock.set((FIRST + datetime.timedelta(days=day, hours=hour, minutes=minute)).isoformat())

    def event(self, connection, day, hour, minute):
        """Each is the same order, so that all but the first are duplicates, which are signs of life too."""
        self.at(day, hour, minute)
        document = scene.order("o1", None, platform_ordered_at="2026-01-01T00:00:00Z", platform_updated_at="2026-01-01T00:00:00Z")
        answer = self.live.edge.post_event("shop-1", self.live.secret, "ORDER_CREATE", document, connection=connection)
        assert answer.status == 200, answer

    def events(self, day, times):
        with self.live.edge.connect() as connection:
            for hour, minute in times:
                self.event(connection, day, hour, minute)
        self.sluice("worker", "--until-empty")

    def check(self):
        """Exit status of `--check`, the row of shop-1, and what was said about it."""
        done = self.sluice.run("shop", "silence", "--check", "--account", "acme")
        row, = (one for one in self.sluice.json("shop", "silence", "--account", "acme") if one["shop_id"] == "shop-1")
        return done.returncode, row["state"], row["limit"], row["sentence"], done.stderr

    def served(self):
        """The verdict of the API, and the number of silent shops on Today."""
        row, = (one for one in self.live.reader.rows("shops") if one["shop_id"] == "shop-1")
        waiting = {line["kind"]: line["count"] for line in self.live.reader.object("today")["waiting"]}
        return row["silence"]["state"], row["silence"]["limit"], waiting.get("silent_shops", 0)


@pytest.fixture
def shops(tmp_path, ledger):
    clock = FakeTime()
    clock.set("2025-12-31T12:00:00Z")
    try:
        with served_shop(tmp_path, clock, ledger=ledger) as live:
            yield Shops(live, clock)
    finally:
        clock.folder.cleanup()


def test_example_10_a_shop_is_learned_then_silent_by_day_and_quiet_by_night(shops):
    for day in range(14):
        shops.events(day, DAY)
        if day == 2:
            shops.at(3, 6, 0)
            assert shops.check() == (0, "learning", None, "shop-1: heard 6 h 55 min ago; too few events to say what is usual.", "")
            assert shops.served() == ("learning", None, 0)
    shops.events(14, [one for one in MORNING if one <= (10, 5)])

    shops.at(14, 10, 44)
    assert shops.check() == (0, "heard", 2400, "shop-1: heard 39 min ago; at this time 20 min is usual.", "")
    assert shops.served() == ("heard", 2400, 0)
    shops.at(14, 10, 50)
    status, state, limit, sentence, said = shops.check()
    assert (status, state, limit) == (1, "silent", 2400)
    assert sentence == "shop-1: nothing for 45 min; at this time 20 min is usual."
    assert "1 of 2 shops is silent" in said
    assert shops.served() == ("silent", 2400, 1)

    shops.events(14, [(10, 50)])
    assert shops.check()[:2] == (0, "heard")
    shops.events(14, [one for one in DAY if one > (10, 50)])
    shops.at(15, 6, 0)
    assert shops.check() == (0, "heard", 57600, "shop-1: heard 6 h 55 min ago; at this time 8 h is usual.", "")
    assert shops.served() == ("heard", 57600, 0)
    shops.at(15, 15, 6)
    assert shops.check()[:3] == (1, "silent", 57600)

    def metrics():
        return ask(shops.live.serve.read, "/metrics").body.decode()

    shops.live.serve.stop()  # it looks once a minute, and at its start
    shops.live.serve.__enter__()
    paths.wait_until(lambda: 'sluice_shop_silence_limit_seconds{account="acme",shop="shop-1"} 57600\n' in metrics(), "the limit")
    shops.sluice("shop", "suspend", "shop-1")
    assert [row["shop_id"] for row in shops.sluice.json("shop", "silence", "--check")] == ["shop-1-late"], "it may send nothing"


def test_a_shop_without_an_event_is_learned_and_its_account_may_be_named(shops):
    row, = shops.sluice.json("shop", "silence", "--check", "--account", "acme")[:1]
    assert (row["shop_id"], row["state"], row["last_event_at"], row["sentence"]) == (
        "shop-1", "learning", None, "shop-1: no event yet.")
    shops.sluice.account("beta")
    assert shops.sluice.json("shop", "silence", "--check", "--account", "beta") == []
