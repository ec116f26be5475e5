"""The order of an order's changes, and the numbers of requests, with real order events."""

import datetime
import time

import pytest
from harness import orders
from harness.edge import Edge
from harness.http_block import EVENTS, http_block
from harness.webhooks import Receiver
from notify.conftest import Site
from serve import scene


def yesterday(minutes=0):
    """An order of this age shows no anomaly, which would be a change of its own."""
    at = datetime.datetime.now(datetime.timezone.utc).replace(second=0) - datetime.timedelta(days=1, minutes=-minutes)
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")


class Shop(Site):
    """A site whose shop sends orders through nginx."""

    def __init__(self, edge, folder):
        super().__init__(folder)
        self.edge, self.sluice = edge, edge.sluice
        self.set_up()
        self.sluice.shop("shop-1", "acme")
        _, self.secret = self.sluice.token("acme", "write_orders")

    def send(self, name, topic="ORDER_CREATE", **changes):
        dated = {"platform_ordered_at": yesterday(), "platform_updated_at": yesterday(), **changes}
        assert self.edge.post_event("shop-1", self.secret, topic, scene.order(name, "SAVE", **dated)).status == 200

    def refund(self, name, day, amount):
        self.send(name, "ORDER_UPDATE", platform_updated_at=yesterday(60 * day),
                  refund_line_items=[orders.refund(f"{name}-r", amount=amount, tax="0.00")])


@pytest.fixture
def shop(tmp_path):
    with Edge(http_block(EVENTS, limit="off")) as edge:
        edge.start()
        yield Shop(edge, tmp_path)


def by_order(requests):
    found = {}
    for request in requests:
        found.setdefault(request.change["entries"][0]["order_id"], []).append(request)
    return found


def test_changes_of_an_order_come_in_order_while_others_overtake(shop):
    """The first change of order a fails once, so its later ones wait, and those of order b do not."""
    failures = []

    def answer(request):
        change = request.change
        if change["entries"][0]["order_id"] == "a" and change["order_change"] == 1 and not failures:
            failures.append(request)
            return 503
        return 200

    with Receiver(shop.folder, answer) as receiver:
        shop.add("erp", receiver, "--types", "order.attributed,commission.changed")
        for name in ("a", "b"):
            shop.send(name)
        shop.sluice.drain()
        for day in (3, 4, 5):
            for name in ("a", "b"):
                shop.refund(name, day, f"{day}.00")
        shop.sluice.drain()
        with shop.run(receiver):
            receiver.wait(9)
            shop.wait_for("erp", lag=0, pending=0)
    requests = by_order(receiver.requests)
    assert [request.change["order_change"] for request in requests["a"]] == [1, 1, 2, 3, 4]
    assert [request.change["order_change"] for request in requests["b"]] == [1, 2, 3, 4]
    assert requests["b"][-1].at < requests["a"][1].at


def test_at_most_eight_requests_are_under_way_for_a_destination(shop):
    def slow(request):
        time.sleep(0.3)
        return 200

    with Receiver(shop.folder, slow) as receiver:
        shop.add("erp", receiver, "--types", "order.attributed")
        for number in range(30):
            shop.send(f"o{number}")
        shop.sluice.drain()
        with shop.run(receiver):
            receiver.wait(30)
            shop.wait_for("erp", lag=0, pending=0)
    assert receiver.most_under_way == 8
    assert set(receiver.ids().values()) == {1}


def test_a_large_change_has_its_first_entries_and_their_number(shop):
    lines = [orders.line(f"line-{number}", amount="10.00", tax="0.00") for number in range(300)]
    with Receiver(shop.folder) as receiver:
        shop.add("erp", receiver, "--types", "order.attributed")
        document = {**orders.order("large", line_items=lines), "discounts": scene.discount("SAVE")}
        assert shop.edge.post_event("shop-1", shop.secret, "ORDER_CREATE", document).status == 200
        shop.sluice.drain()
        with shop.run(receiver):
            (request,) = receiver.wait(1)
    change = request.change
    assert len(request.body) <= 65536 < len(request.body) + 1000
    assert change["entries_total"] == change["last"] - change["first"] + 1 > len(change["entries"]) > 50


def test_thousands_of_changes_arrive_once_each(shop):
    with Receiver(shop.folder) as receiver:
        shop.add("erp", receiver)
        for number in range(1000):
            shop.send(f"o{number}")
        shop.sluice.drain()
        with shop.run(receiver):
            receiver.wait(1000)
            shop.wait_for("erp", lag=0, pending=0, delivered=1000, failed=0)
    assert set(receiver.ids().values()) == {1}
