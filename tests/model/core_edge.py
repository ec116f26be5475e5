"""The rules and reports behind a pipe: stands for nginx, queue and program in a History, at many
times the speed and with a clock of its own. tests/tools/ledger_driver.cpp is the other end.
"""

import json
import subprocess
from collections import namedtuple

from harness import paths
from model.values import instant, time_text

DRIVER = paths.BUILD / "tests" / "ledger_driver"
NODE = "11111111-2222-3333-4444-555555555555"
ACTORS = ("eve", "frank", "gina")
START = instant("2026-03-20T00:00:00Z")

# Place of a history: its account with its number in the ledger, its shops, its node, and the last
# entry of every node when it began.
Place = namedtuple("Place", "account shops registry node entries")
Sent = namedtuple("Sent", "seq received shop topic body outcome source", defaults=[None])
Taken = namedtuple("Taken", "seq received outcome command_id text")


def without_node(rows, node):
    """The model has no word for it: each row names the one node that there is."""
    assert all(row.pop("node") == node for row in rows)
    return rows


def without_nodes(reports, node):
    for kind in ("orders", "payouts", "anomalies"):
        without_node(reports[kind], node)


def planned_without_node(shown):
    """A payout that is not closed has been closed by no node."""
    if shown:
        without_node(shown["payouts"], None)
    return shown


class CoreEdge:
    """`ledger`: a folder for the embedded ledger, the URL of a PostgreSQL; None: one in memory."""

    IS_QUICK = True  # it says the outcome of an event at once
    PLATFORMS = (None, None, "shopify", "woocommerce")  # of shops
    OUTCOMES = {name: name for name in ("done", "nothing", "repeated", "pending", "refused")}

    def __init__(self, ledger=None):
        command = [str(DRIVER)] + ([str(ledger)] if ledger else [])
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.clock = START
        self.sent = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        assert self.process.wait(timeout=paths.DEADLINE) == 0
        self.process.stdout.close()

    def ask(self, **request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        lines = []
        while (line := self.process.stdout.readline()) != ".\n":
            assert line, f"ledger_driver ended at {request}"
            lines.append(line)
        return json.loads("".join(lines))

    def open(self, _):
        shops = {"shop-1": 1, "shop-2": 2}
        return Place("acme", list(shops), {"acme": (1, shops), "other": (2, {"shop-9": 9})}, NODE, {})

    # Time -------------------------------------------------------------------------------------------

    def now(self):
        return self.clock

    def tick(self):
        self.clock += 10**9 + 7

    def rest(self, nanoseconds):
        self.clock += nanoseconds

    def drain(self, _):
        """It applies as it takes."""

    # Inputs -----------------------------------------------------------------------------------------

    def actor(self, chance):
        return chance.choice(ACTORS)

    def event(self, shop, topic, body, lag, source=None):
        anon = json.loads(body).get("svc_anon_id") or ""
        more = {"source": source} if source else {}
        self.put(shop, topic, body, self.clock - lag, op="event", body=body.decode(), anon=anon, **more)

    def products(self, shop, topic, records):
        body = json.dumps({"products": records}, ensure_ascii=False)
        self.put(shop, topic, records, self.clock, op="event", body=body)

    def put(self, shop, topic, given, received, **request):
        answer = self.ask(at=time_text(received), shop=shop, topic=topic, **request)
        assert answer["outcome"] != "dead", (answer, given)
        source = request.get("source")
        self.sent.append(Sent(answer["seq"], received, shop, topic, given, answer["outcome"], source))
        self.tick()

    def taken(self):
        """Returns the requests sent since the last call."""
        sent, self.sent = self.sent, []
        return sent

    def command(self, step, actor, key, reason):
        shop = {"shop": step["shop"]} if "shop" in step else {}
        received = self.clock
        answer = self.ask(op="command", at=time_text(received), actor=actor, key=key, reason=reason, step=step, **shop)
        self.tick()
        return Taken(answer["seq"], received, answer["outcome"], answer["command_id"], answer["text"])

    # Looks ------------------------------------------------------------------------------------------

    def preview(self, step):
        """(what it prints, when); None: refused."""
        shown = self.ask(op="preview", at=time_text(self.clock), step=step)
        return None if "refused" in shown else planned_without_node(shown), self.clock

    def run(self, run):
        shown = self.ask(op="run", run=run)
        without_node(shown["payouts"], NODE)
        return shown

    def reports(self):
        """(name -> rows, when they were read)."""
        reports = self.ask(op="reports", now=time_text(self.clock))
        without_nodes(reports, NODE)
        return reports, self.clock

    def causes(self):
        """((shop, order, creator) -> why the order is, or is not, hers; when it was asked)."""
        rows = self.ask(op="causes", now=time_text(self.clock))
        return {tuple(key): cause for *key, cause in rows}, self.clock

    def approval_statement(self, name):
        """The text that an approver signs; None if it does not wait."""
        return self.ask(op="approval", id=name)["statement"]

    def statement(self, creator, month):
        return self.ask(op="statement", creator=creator, month=month)

    def is_rebuilt_equal(self):
        return self.ask(op="rebuild")["equal"]
