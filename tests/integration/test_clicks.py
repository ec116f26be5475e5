"""Signed clicks through a real nginx: endpoint, scope, answers, stored records, commission."""

import datetime
import hashlib
import json

import pytest

from harness import paths, sign
from harness.orders import order
from model.rules import Shop

CONFIG = """
    sluice_store @STORE@ map_size=1g thread_pool=sluice offload_pool=offload;
    sluice_rate_limit off;
    log_format clicks '$status $sluice_result $sluice_reason $sluice_shop';

    server {
        listen 127.0.0.1:@PORT@ reuseport;
        access_log @DIR@/clicks.log clicks;
        add_header X-Seq $sluice_seq always;
        add_header X-Receipt $sluice_receipt always;
        location = /event/ecomm { sluice_ingest events; }
        location = /event/click { sluice_ingest clicks; client_max_body_size 1m; }
        location /sluice/ { sluice_status; }
    }
"""
CLICKS = "/event/click"


@pytest.fixture(scope="module")
def edge():
    from harness.edge import Edge

    with Edge(CONFIG) as running:
        yield running.start()


class World(Shop):
    """A program of 10 % net in which Ann and Bob are, and a token for clicks."""

    def __init__(self, edge):
        super().__init__(edge)
        _, self.click_secret = self.sluice.token(self.account, "write_clicks")
        self.apply_program()
        self.codes((self.ann, "", None), (self.bob, "", None))

    def clicked(self, device="d1", creator=None, at="2024-03-01T09:00:00Z", **more):
        return {"svc_anon_id": f"{self.account}-{device}", "program_id": self.program,
                "creator_id": creator or self.ann, "occurred_at": at, **more}

    def post(self, document, secret=None, topic="CLICK", target=CLICKS):
        return self.edge.post_event(self.shop, secret or self.click_secret, topic, document, target=target)

    def clicks(self, *arguments):
        self.sluice.drain()
        return self.sluice.json("report", "clicks", "--account", self.account, *arguments)

    def ordered(self, device="d1", **changes):
        return order(svc_anon_id=f"{self.account}-{device}", **changes)


@pytest.fixture
def world(edge):
    return World(edge)


def accepted(answer):
    assert (answer.status, answer.body) == (200, b"success"), answer
    return answer


def minutes_ago(minutes):
    then = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(minutes=minutes)
    return then.strftime("%Y-%m-%dT%H:%M:%SZ")


def details(answer):
    assert answer.status == 400, answer
    return [(detail["field"], detail["code"]) for detail in json.loads(answer.body)["details"]]


def test_a_click_and_then_an_order(world):
    accepted(world.post(world.clicked(link_id="anna-mug")))
    world.send(world.ordered())
    row = world.only_order()
    assert (row["creator_id"], row["attribution_types"]) == (world.ann, ["LANDED"])
    (day, sale) = world.clicks("--by", "day")[0], world.clicks("--by", "link")[0]
    assert (day["period"], day["clicks"], day["devices"]) == ("2024-03-01", 1, 1)
    assert (sale["link_id"], sale["clicks"], sale["orders"], sale["conversion"]) == ("anna-mug", 1, 1, "1")
    assert (sale["currency"], sale["earned"], sale["adjusted"]) == ("USD", "8.00", "0.00")


def test_an_order_and_then_a_click(world):
    world.send(world.ordered())
    accepted(world.post({"clicks": [world.clicked(), world.clicked("d2")]}))
    row = world.only_order()
    assert (row["creator_id"], row["attribution_types"]) == (world.ann, ["LANDED"])
    assert world.journal() == [("l1", "8.00", "ATTRIBUTION")]


def test_a_click_that_comes_again_changes_nothing(world):
    body = {"clicks": [world.clicked(), world.clicked("d1", world.bob, "2024-03-01T09:05:00Z")]}
    accepted(world.post(body))
    before = world.clicks("--by", "creator")
    accepted(world.post(body))
    assert world.clicks("--by", "creator") == before
    assert [row["clicks"] for row in before] == [1, 1]


def test_neither_the_device_nor_the_body_is_stored(world):
    device = f"{world.account}-a-very-private-device"
    accepted(world.post({"clicks": [{**world.clicked(), "svc_anon_id": device}]}))
    world.sluice.drain()
    digest = hashlib.sha256(device.encode()).hexdigest()
    assert [row["device_sha256"] for row in world.sluice.json("click", "list", "--account", world.account)] == [digest]
    for path in world.edge.store.rglob("*"):
        if path.is_file():
            assert device.encode() not in path.read_bytes(), path


def test_a_long_body_leaves_no_file_of_its_own(world):
    """It comes in pieces, which nginx writes to a file; the record has digests, and the file goes."""
    device = f"{world.account}-private"
    rows = [{**world.clicked(), "svc_anon_id": f"{device}-{n}", "more": "x" * 600} for n in range(1000)]
    accepted(world.post({"clicks": rows}))
    assert world.clicks("--by", "creator")[0]["devices"] == 1000
    for path in world.edge.store.rglob("*"):
        if path.is_file():
            assert device.encode() not in path.read_bytes(), path


@pytest.mark.parametrize("scope", ["write_orders", "write_clicks"])
def test_a_token_signs_only_by_its_scope(world, scope):
    answer = (world.post(world.clicked(), world.secret) if scope == "write_orders"
              else world.edge.post_event(world.shop, world.click_secret, "ORDER_UPDATE", order()))
    assert (answer.status, answer.body) == (401, b"")
    log = world.edge.folder / "clicks.log"
    paths.wait_until(lambda: "401 unauthorized token_scope" in log.read_text(), "the reason in the log")


def test_wrong_requests_are_refused(world):
    assert details(world.post(world.clicked(), topic="ORDER_CREATE")) == [("X-SVC-TOPIC", "INVALID_FORMAT")]
    assert details(world.edge.post_event(world.shop, world.secret, "CLICK", order())) == [("X-SVC-TOPIC", "INVALID_FORMAT")]
    without = world.clicked()
    del without["creator_id"]
    assert details(world.post({"clicks": [world.clicked(), without, world.clicked()]})) == [("clicks[1].creator_id", "REQUIRED")]
    assert details(world.post({"clicks": []})) == [("clicks", "INVALID_FORMAT")]
    assert details(world.post({"clicks": [7]})) == [("clicks[0]", "INVALID_FORMAT")]
    assert world.edge.request("GET", CLICKS, []).status == 405
    assert world.edge.request("POST", CLICKS, sign.event_headers("nobody", world.click_secret, "CLICK", b"{}"), b"{}").status == 401
    assert world.clicks() == []


def test_a_click_of_an_unknown_program_is_listed_and_counts_later(world):
    """While the program is unknown, the click counts for orders of the last 30 days."""
    later, sold_at = f"{world.account}-later", minutes_ago(5)
    world.send(world.ordered(platform_ordered_at=sold_at, platform_updated_at=sold_at))
    accepted(world.post({**world.clicked(at=minutes_ago(10)), "program_id": later}))
    assert [(row["program_id"], row["creator_id"], row["clicks"]) for row in world.clicks("--unmatched")] == [(later, world.ann, 1)]
    world.apply_program(program=later)
    world.codes((world.ann, "", later))
    assert world.clicks("--unmatched") == []
    assert world.only_order()["program_id"] == later


def test_send_clicks_checks_and_sends_a_file(world):
    token = world.file("clicks.token", world.click_secret)
    token.chmod(0o600)
    header = "svc_anon_id,program_id,creator_id,occurred_at,link_id\n"
    row = f"{{}},{world.program},{{}},2024-03-01T09:00:00Z,{{}}\n"
    bad = world.file("bad.csv", header + row.format("d1", world.ann, "a") + row.format("d2", "no one", "b/c"))
    said = world.sluice.run("send", "clicks", str(bad), "--check")
    assert said.returncode == 1
    assert "creator_id" in said.stdout and "link_id" in said.stdout
    good = world.file("good.csv", header + "".join(row.format(f"{world.account}-{n}", world.ann, "") for n in range(1500)))
    url = f"http://127.0.0.1:{world.edge.port}"
    said = world.sluice("send", "clicks", str(good), "--url", url, "--shop", world.shop, "--token-file", str(token))
    assert "1500 sent, 0 rejected" in said
    lines = world.file("good.ndjson", json.dumps(world.clicked("n1")) + "\n" + json.dumps({**world.clicked("n2"), "creator_id": ""}) + "\n")
    said = world.sluice.run("send", "clicks", str(lines), "--url", url, "--shop", world.shop, "--token-file", str(token))
    assert "1 sent, 1 rejected" in said.stdout
    assert world.clicks("--by", "creator")[0]["devices"] == 1501


def test_request_metrics_have_the_endpoint(world):
    accepted(world.post(world.clicked()))
    text = world.edge.request("GET", "/sluice/metrics", []).body.decode()
    assert 'sluice_requests_total{endpoint="clicks",result="accepted"}' in text
