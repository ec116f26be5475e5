"""A shop that sends while its ledger is served: orders go through nginx and are applied one at a time."""

import contextlib
import datetime
import os
import subprocess

from harness import paths
from harness.cli import Sluice
from harness.edge import Edge
from harness.http_block import CATALOG, CLICKS, EVENTS, http_block
from harness.serve import Serve, ask
from serve import scene

# No order of these is so old that it shows ORDERED_LONG_AGO.
YESTERDAY, THIS_MORNING = ((datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(hours=hours))
                           .strftime("%Y-%m-%dT%H:%M:%SZ") for hours in (30, 5))


def recent(name, updated_at=YESTERDAY, code="SAVE", **changes):
    return scene.order(name, code, platform_ordered_at=YESTERDAY, platform_updated_at=updated_at, **changes)


def pages(reader, after=None, **parameters):
    """Yields each page of the feed from a cursor to its end."""
    while True:
        page = reader.object("changes", **parameters, **({"after": after} if after else {}))
        yield page
        after = page["next"]
        if not page["more"]:
            return


def all_changes(reader, **parameters):
    return [change for page in pages(reader, **parameters) for change in page["changes"]]


def required_values(reader):
    """A value of acme's for each parameter that some path of the document requires."""
    payout, change = reader.rows("payouts")[0], all_changes(reader)[0]
    return {"shop": "shop-1", "order": "o1", "creator": "ann", "program": "spring", "link": "spring-mug", "q": "o",
            "run": payout["payout_run"], "payout": payout["payout_id"], "month": "2026-01", "from": "2024-01-01T00:00:00Z",
            "id": reader.rows("approvals")[0]["id"], "until": reader.rows("periods")[0]["until"],
            "node": change["node"], "change": str(change["last"])}


def end_of(reader):
    """The cursor behind the last change."""
    *_, page = pages(reader)
    return page["next"]


def waiters(serve):
    body = ask(serve.read, "/metrics").body.decode()
    return int(body.rsplit("sluice_feed_waiters ", 1)[1].split()[0])


class Live:
    """A server, and shop-1 of acme, whose orders with SAVE earn ann 10 %."""

    def __init__(self, edge, serve, reader, secret):
        self.edge, self.serve, self.reader, self.secret = edge, serve, reader, secret

    def order(self, name, **changes):
        self.send("ORDER_CREATE", recent(name, **changes))

    def send(self, topic, document):
        assert self.edge.post_event("shop-1", self.secret, topic, document).status == 200
        self.edge.sluice("worker", "--until-empty")

    def status(self, name):
        return self.reader.object("order", shop="shop-1", order=name)["answer"]["status"]


@contextlib.contextmanager
def served_shop(folder, clock=None, catalog=False, ledger=None, body="1m"):
    """@param ledger  URL of an empty database, or None for the embedded ledger.
    @param clock  A FakeTime of all its processes; None for the machine's clock.
    @param body  Longest body of an order event.
    @param catalog  Whether products may be sent too."""
    environment = clock.environment if clock else {}
    events = EVENTS.replace("sluice_ingest events;", f"sluice_ingest events; client_max_body_size {body};")
    locations = (events, CLICKS, CATALOG) if catalog else (events, CLICKS)
    with Edge(http_block(*locations, limit="off"), main=clock.nginx_lines if clock else "", environment=environment) as edge:
        edge.start()
        edge.sluice = Sluice(edge.store, environment)
        edge.sluice.account("acme")
        edge.sluice.shop("shop-1", "acme")
        _, secret = edge.sluice.token("acme", "write_orders")
        _, reading = edge.sluice.token("acme", "read_orders", "read_ledger")
        if ledger:
            edge.sluice("ledger", "migrate", "--ledger", ledger)
            edge.sluice("worker", "--until-empty", "--ledger", ledger)
        for name, content in (("programs.toml", scene.PROGRAMS), ("creators.csv", scene.CREATORS)):
            (folder / name).write_text(content.format(account="acme", shop="shop-1", program="spring"))
        edge.sluice.shop("shop-1-late", "acme")
        edge.sluice("program", "apply", folder / "programs.toml")
        edge.sluice("creator", "import", folder / "creators.csv")
        edge.sluice("worker", "--until-empty")
        own = paths.make_folder()
        try:
            with Serve(edge.store, own, "--rate-limit", "1000000/60", environment=environment) as serve:
                yield Live(edge, serve, serve.token(reading), secret)
        finally:
            paths.drop_folder(own)


@contextlib.contextmanager
def worker(store, environment=None):
    """The worker, for as long as the block lasts."""
    with subprocess.Popen([str(paths.SLUICE), "--store", str(store), "worker"], stderr=subprocess.DEVNULL,
                          env={**os.environ, **(environment or {})}) as process:
        try:
            yield
        finally:
            process.terminate()
            assert process.wait(timeout=paths.DEADLINE) == 0
