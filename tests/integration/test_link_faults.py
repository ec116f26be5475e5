"""Links in trouble: each visitor is sent on, no order waits for clicks, and the figures balance (DU1 to DU4)."""

import errno
import os
import signal
import struct

import pytest

from crash.conftest import fault_shim
from faults.shim import NGINX, Shim
from faults.test_full import fill, small_disk
from harness import cli, paths, postgres
from harness.orders import order, unique
from harness.visitors import Visitors
from test_links import CONFIG, World, figures, rows_in_the_log, settled, went_to

__all__ = ["fault_shim", "small_disk"]
RING = 4096  # of a process: sluice_click_buffer of CONFIG


@pytest.fixture
def start(start_edge):
    """A function that starts an nginx and gives its World. `changes` are made in CONFIG."""

    def begin(*changes, **options):
        text = CONFIG
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        if "store" in options:
            cli.Sluice(options["store"])("init")
        return World(start_edge(text, **options))

    return begin


class Balance:
    """`click` = rows in the log + lost + rings + what a kill took."""

    def __init__(self, world):
        self.world, self.before = world, None
        self.before = self._read()

    def _read(self):
        settled(self.world.edge)
        rows = rows_in_the_log(self.world)
        results, lost, _ = figures(self.world.edge)
        return {"rows": rows, "lost": lost, **results}

    def since(self):
        """The rise of each figure, and `missing`: the clicks that no other figure has."""
        rose = {name: value - self.before[name] for name, value in self._read().items()}
        rose["missing"] = rose["click"] - rose["rows"] - rose["lost"]
        return rose


def send(world, document=None):
    """The status of an order."""
    answer = world.edge.post_event(world.shop, world.secret, "ORDER_CREATE", document or order(unique("storm")))
    assert answer.status != 503 or answer.header("Retry-After")
    return answer.status


def visit(world, link):
    """A visitor arrives with a device. Returns the result that nginx counted."""
    before = figures(world.edge)[0]
    _, device = went_to(world.get(f"/l/{link}"))
    assert device is not None
    after = figures(world.edge)[0]
    (result,) = [name for name in after if after[name] != before[name]]
    assert after[result] == before[result] + 1
    return result


# Floods and reloads ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reloads, rate", [(4, 2000), (40, 5000)], ids=["short", "long"])
def test_a_reload_storm_under_visitors_loses_no_click_and_no_order(start, reloads, rate):
    world = start(workers=2)
    link = world.link("storm")
    balance = Balance(world)
    with Visitors(world.edge, link, rate) as visitors:
        for _ in range(reloads):
            before = visitors.answers
            paths.wait_until(lambda before=before: visitors.answers > before + 200, "visits between two reloads")
            world.edge.reload()
            assert send(world) == 200
    rose = balance.since()
    print(f"{visitors.statuses} visits, {reloads} reloads: {rose}")
    assert set(visitors.statuses) == {302}
    assert rose["click"] + rose["dropped"] >= visitors.answers
    assert (rose["missing"], rose["lost"]) == (0, 0)
    assert len(world.rows("orders")) == reloads


@pytest.mark.parametrize("mebibytes, rate", [(4, 5000), (32, 5000)], ids=["short", "long"])
def test_clicks_that_fill_half_of_a_queue_leave_the_rest_to_orders(start, mebibytes, rate):
    """DU4: nothing drains the queue. Beyond half clicks are dropped, and no order gets 503."""
    world = start(("map_size=1g", f"map_size={mebibytes}m"), workers=2)
    link = world.link("fills")
    balance, orders = Balance(world), 0
    with Visitors(world.edge, link, rate) as visitors:
        while orders < 100 or figures(world.edge)[0]["dropped"] == balance.before["dropped"]:
            if orders < 100 or orders * 1000 < visitors.answers:  # they have room in the other half
                assert send(world) == 200
                orders += 1
    paths.wait_until(lambda: visit(world, link) == "dropped", "a process to drop clicks")  # each has a sample of its own
    assert send(world) == 200
    world.sluice.drain()  # clicks in a ring wait until the queue is below half
    rose = balance.since()
    print(f"{visitors.statuses} visits, {orders} orders: {rose}")
    assert set(visitors.statuses) == {302}
    assert (rose["missing"], rose["lost"]) == (0, 0)


def test_killed_processes_take_no_more_than_their_rings(start):
    """DU3: the missing clicks were in the rings of killed processes; none is doubled, and no order that got 200 is lost."""
    world = start(workers=2)
    world.edge.expect_log("exited on signal 9")
    link = world.link("killed")
    balance, stored, kills = Balance(world), 0, 4
    with Visitors(world.edge, link, 1000) as visitors:
        for _ in range(kills):
            paths.wait_until(lambda: figures(world.edge)[2] > 0, "a ring with clicks")
            pid = world.edge.workers()[0]
            os.kill(pid, signal.SIGKILL)
            paths.wait_until(lambda pid=pid: len(set(world.edge.workers()) - {pid}) == 2, "a new process")
            stored += send(world) == 200
    rose = balance.since()
    print(f"{visitors.statuses} visits: {rose}")
    assert set(visitors.statuses) == {302} and stored == kills
    assert 0 <= rose["missing"] <= kills * RING and rose["lost"] == 0
    assert len(world.rows("orders")) == stored


# Queue and disk ----------------------------------------------------------------------------------------------------


def test_a_queue_at_its_mark_stops_no_visitor(start):
    world = start(("map_size=1g", "map_size=4m"), workers=1)
    link = world.link("full")
    balance = Balance(world)
    assert visit(world, link) == "click"
    while send(world, order(unique("full"), note="x" * 50_000)) == 200:
        pass
    assert [visit(world, link) for _ in range(5)] == ["dropped"] * 5
    world.sluice.drain()
    paths.wait_until(lambda: send(world) == 200, "an order to be taken again")
    paths.wait_until(lambda: visit(world, link) == "click", "clicks to count again")
    rose = balance.since()
    assert (rose["missing"], rose["lost"]) == (0, 0)


def test_a_full_disk_stops_no_visitor(small_disk, start):
    world = start(store=small_disk / "store", workers=1)
    world.edge.expect_log(r"No space left|sluice: |\[crit\]")
    link = world.link("disk")
    balance = Balance(world)
    assert visit(world, link) == "click"
    settled(world.edge)
    filler = fill(small_disk)
    paths.wait_until(lambda: send(world, order(unique("disk"), note="x" * 20_000)) == 503, "the disk to be full")
    for _ in range(20):
        visit(world, link)  # click, and then lost, or dropped
    filler.unlink()
    paths.wait_until(lambda: send(world) == 200, "an order to be taken again")
    paths.wait_until(lambda: visit(world, link) == "click", "clicks to count again")
    assert balance.since()["missing"] == 0


def test_a_write_that_fails_loses_its_clicks_once_and_stops_no_visitor(start, fault_shim, tmp_path):
    """DU4, L5: the clicks under way are lost; then the latch drops clicks until a write test worked."""
    shim, folder = Shim(fault_shim, tmp_path), paths.make_folder()
    world = start(store=folder / "store", environment=shim.environment(folder / "store"), workers=1)
    try:
        world.edge.expect_log("sluice: ")
        link = world.link("eio")
        assert visit(world, link) == "click"
        balance = Balance(world)
        shim.arm(["META"], errno.EIO, 1, NGINX)
        results = [visit(world, link)]
        paths.wait_until(lambda: shim.injected, "the write that fails")
        shim.disarm()
        settled(world.edge)
        assert send(world) == 503
        results += [visit(world, link) for _ in range(5)]
        assert results == ["click"] + ["dropped"] * 5
        assert "requests are accepted again" in world.sluice.run("queue", "unlatch").stdout
        paths.wait_until(lambda: send(world) == 200, "orders to be taken again")
        paths.wait_until(lambda: visit(world, link) == "click", "clicks to count again")
        rose = balance.since()
        assert (rose["missing"], rose["lost"]) == (0, 1), rose
    finally:
        world.edge.stop()
        paths.drop_folder(folder)


# Links and ledger --------------------------------------------------------------------------------------------------


def test_links_are_served_on_without_their_file_and_published_again(start):
    world = start(workers=1)
    link = world.link("gone")
    folder = world.edge.store / "links"
    balance = Balance(world)
    (folder / "published").unlink()
    with open(folder / "generation", "r+b") as page:  # so that nginx looks for a new file
        (generation,) = struct.unpack("<Q", page.read(8))
        page.seek(0)
        page.write(struct.pack("<Q", generation + 1))
    for _ in range(20):
        assert visit(world, link) == "click"
    assert send(world) == 200
    world.edge.reload()
    answer = world.get(f"/l/{link}")
    assert answer.status == 503 and answer.header("Retry-After") and not answer.has("Set-Cookie")
    assert world.get(f"/home/{link}").header("Location") == "https://shop.example/home"
    world.sluice.drain()
    paths.wait_until(lambda: world.get(f"/l/{link}").status == 302, "the worker to publish them again")
    assert balance.since()["missing"] == 0


@pytest.mark.skipif(postgres.missing() is not None, reason=str(postgres.missing()))
def test_a_ledger_that_is_away_stops_no_visitor_and_no_click(start_edge):
    with postgres.Server() as server:
        edge, url = start_edge(CONFIG, workers=1), server.create()
        edge.sluice("ledger", "migrate", "--ledger", url)
        edge.sluice("worker", "--until-empty", "--ledger", url)
        world = World(edge)
        link = world.link("away")
        balance = Balance(world)
        server.stop()
        assert [visit(world, link) for _ in range(3)] == ["click"] * 3
        assert send(world) == 200
        edge.reload()
        assert visit(world, link) == "click"
        server.start()
        rose = balance.since()
        assert (rose["click"], rose["rows"], rose["missing"]) == (4, 4, 0)


# Signed clicks -----------------------------------------------------------------------------------------------------


def test_signed_clicks_get_503_beyond_half_a_queue_and_orders_do_not(start):
    """DU1, DU4: the sender learns of it, and sends again."""
    world = start(("map_size=1g", "map_size=8m"),
                  ("location /l/ {", "location = /event/click { sluice_ingest clicks; } location /l/ {"), workers=1)
    _, secret = world.sluice.token(world.account, "write_clicks")

    def post():
        click = {"svc_anon_id": "a-device-of-a-server", "program_id": world.program, "creator_id": world.ann,
                 "occurred_at": cli.now()}
        return world.edge.post_event(world.shop, secret, "CLICK", click, target="/event/click")

    assert post().status == 200
    answer = None
    for _ in range(200):
        assert send(world, order(unique("half"), note="x" * 50_000)) == 200
        answer = post()
        if answer.status != 200:
            break
    assert answer.status == 503 and answer.header("Retry-After")
    assert send(world) == 200
    assert "orders and products get 503" not in world.edge.log()
    world.sluice.drain()
    paths.wait_until(lambda: send(world) == 200 and post().status == 200, "clicks to be taken again")
