"""`sluice worker --archive-size` and `--archive-days`: the archive is without its oldest segments."""
import contextlib
import subprocess
import time

from harness.fake_time import FakeTime
from program import PROGRAM, sluice
from test_replay import WHY, Books

TORN = bytes(420_000)


class Archived(Books):
    """Books of which each credit has a segment of its own."""

    def segments(self):
        return sorted(path.name for path in (self.store / "archive").glob("*.sla"))

    def credit(self, env=None):
        done = sluice("credit", "--account", "acme", "--creator", "ann", "--program", "spring", "--amount", "1.00 USD", *WHY,
                      store=self.store, env=env)
        assert done.status == 0, done

    def begin_segment(self):
        """The worker begins another segment behind one that ends in a torn block."""
        with (self.store / "archive" / self.segments()[-1]).open("ab") as newest:
            newest.write(TORN)
        self.credit()


def test_the_oldest_segments_beyond_the_size_are_removed(tmp_path):
    books = Archived(tmp_path)
    for _ in range(4):
        books.begin_segment()
    all_of_them = books.segments()
    assert len(all_of_them) == 5
    books.run("worker", "--until-empty", ledger=())
    books.run("worker", "--until-empty", "--archive-size", "2m", ledger=())
    assert books.segments() == all_of_them
    books.run("worker", "--until-empty", "--archive-size", "1m", ledger=())
    assert books.segments() == all_of_them[2:]
    books.credit()
    assert books.segments() == all_of_them[2:]
    refused = books.replay(status=1)
    assert "the archive begins with input 6 of queue" in refused.err and "sluice ledger snapshot" in refused.err


def test_an_audit_of_a_limited_archive_begins_with_the_snapshot(tmp_path):
    books = Archived(tmp_path)
    for _ in range(4):
        books.begin_segment()
    books.run("ledger", "snapshot", ledger=())
    books.credit()
    books.run("worker", "--until-empty", "--archive-size", "1m", ledger=())
    assert len(books.segments()) == 3
    books.credit()
    told = books.replay()
    assert "snapshot" in told.out + told.err and "rows are equal" in told.out, told


def test_a_segment_that_cannot_be_removed_stops_nothing(tmp_path):
    books = Archived(tmp_path)
    for _ in range(3):
        books.begin_segment()
    oldest = books.store / "archive" / books.segments()[0]
    damaged = bytearray(oldest.read_bytes())
    damaged[40] ^= 1  # in its head
    oldest.write_bytes(damaged)
    books.credit()
    done = books.run("worker", "--until-empty", "--archive-size", "1m", ledger=())
    assert "old segments of the archive cannot be removed: " in done.err and oldest.name in done.err
    assert oldest.exists()


def test_days_pass_while_the_worker_runs(tmp_path):
    books = Archived(tmp_path)
    clock = FakeTime()
    with contextlib.ExitStack() as stack:
        stack.callback(clock.folder.cleanup)
        clock.set("2031-03-03T10:00:00Z")
        command = [PROGRAM, "--store", books.store, "worker", "--archive-days", "2"]
        worker = stack.enter_context(
            subprocess.Popen(command, env=clock.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        stack.callback(worker.terminate)
        for day in range(4, 10):
            clock.set(f"2031-03-{day:02}T10:00:00Z")
            books.credit(clock.environment)
        end = time.monotonic() + 60
        while len(books.segments()) > 3 and time.monotonic() < end:
            time.sleep(0.05)
        # A segment of the day before the limit may hold inputs up to it.
        assert len(books.segments()) == 3, books.segments()
