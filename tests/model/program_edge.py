"""The real nginx, queue, ledger and command line in a History."""

import csv
import json
import os
import pwd
import time

from harness.cli import Failed, as_user
from model.core_edge import Place, Sent, Taken, planned_without_node, without_node, without_nodes
from model.values import instant

IMPORT = ["creator_id", "program_id", "code", "group", "valid_from", "valid_until", "name", "payee"]
OUTCOMES = {0: "done", 1: "refused", 3: "pending"}
REPORTS = ("orders", "journal", "balances", "payouts", "anomalies", "products")


class ProgramEdge:
    PLATFORMS = (None,)  # webhooks have tests of their own
    IS_QUICK = False  # the outcome of an event is seen when the queue was drained
    # By the status that the program ends with.
    OUTCOMES = {"done": "done", "nothing": "done", "repeated": "done", "pending": "pending", "refused": "refused"}

    def __init__(self, edge):
        self.edge, self.sluice = edge, edge.sluice
        self.connection = edge.connect()
        self.sent = []  # (shop, topic, body or records) not yet returned by taken()
        self.keys = 0
        self.shown = None  # what the last close printed
        self.user = pwd.getpwuid(os.getuid()).pw_name
        self.sluice.prefix = as_user(self.user)
        self.account = self.sluice.account("first")  # its memo entry names the node
        self.run_step({"programs": [], "policy": {}}, None, "first mark")

    # A history -------------------------------------------------------------------------------------

    def open(self, tag):
        self.account = self.sluice.account(f"{tag}-a")
        accounts = len(self.sluice.json("account", "list"))
        shops = {}
        for name in (f"{tag}-s1", f"{tag}-s2"):
            self.sluice.shop(name, self.account)
            shops[name] = len(self.sluice.json("shop", "list"))
        _, self.secret = self.sluice.token(self.account, "write_orders", "write_products")
        self.before = self.stats()
        self.last_seq = self.before["last_seq"]
        rows = self.sluice.json("report", "journal", "--all-accounts")
        registry = {self.account: (accounts, shops)}
        self.node = rows[0]["node"]
        return Place(self.account, list(shops), registry, self.node, {self.node: rows[-1]["entry"]})

    # Time ------------------------------------------------------------------------------------------

    def now(self):
        return time.time_ns()

    def rest(self, _):
        """Its clock is the machine's."""

    def drain(self, batch):
        self.sluice("worker", "--until-empty", "--batch", batch)

    # Inputs ----------------------------------------------------------------------------------------

    def actor(self, _):
        return self.user

    def event(self, shop, topic, body, _lag):
        answer = self.edge.post_event(shop, self.secret, topic, body, connection=self.connection)
        assert (answer.status, answer.body) == (200, b"success"), (answer, body)
        self.sent.append((shop, topic, body))

    def products(self, shop, topic, records):
        self.keys += 1
        answer = self.edge.post_catalog(
            shop, self.secret, topic, {"products": records}, f"{self.account}-{self.keys}", connection=self.connection
        )
        assert answer.status == 200, (answer, records)
        self.sent.append((shop, topic, records))

    def taken(self):
        if not self.sent:
            return []
        rows = [row for row in self.sluice.queued() if row["seq"] > self.last_seq]
        assert [(row["shop_id"], row["topic"]) for row in rows] == [sent[:2] for sent in self.sent]
        taken = [Sent(row["seq"], instant(row["received_at"]), *sent, None) for row, sent in zip(rows, self.sent)]
        self.last_seq, self.sent = rows[-1]["seq"], []
        return taken

    def command(self, step, actor, key, reason):
        assert actor == self.user
        before = time.time_ns()
        result = self.run_step(step, key, reason)
        after = time.time_ns()
        outcome, said = OUTCOMES[result.returncode], result.stdout + result.stderr
        if outcome == "refused" and self.stats()["last_seq"] == self.last_seq:
            return Taken(None, after, outcome, None, said)  # by the command line: it is no input
        self.last_seq += 1
        self.shown = json.loads(result.stdout) if "close" in step and outcome == "done" else None
        if self.shown:
            without_node(self.shown["payouts"], self.node)
        at = self.receipt(outcome) or before
        assert before - 10**9 <= at <= after + 10**9, (step, at)
        return Taken(self.last_seq, at, outcome, None, said)

    def receipt(self, outcome):
        """As its entries say, or the listing of what waits; None: it is shown nowhere."""
        if outcome == "pending":
            return max(instant(row["received_at"]) for row in self.sluice.json("approvals", "--account", self.account))
        for row in reversed(self.sluice.json("report", "journal", "--account", self.account)):
            if row["event_seq"] == self.last_seq:
                return instant(row["recorded_at"])
        return None

    def run_step(self, step, key, reason):
        words = words_of(self, step)
        if key:
            words += ["--key", key]
        result = self.sluice.run(*words, "--reason", reason)
        if result.returncode not in OUTCOMES:
            raise Failed(words, result)
        return result

    def file(self, name, text):
        path = self.edge.folder / name
        path.write_text(text)
        return path

    # Looks -----------------------------------------------------------------------------------------

    def preview(self, step):
        step = {"preview": step["close"]}
        result = self.sluice.run(*words_of(self, step), "--format", "json")
        assert result.returncode in (0, 1), result
        shown = json.loads(result.stdout) if result.returncode == 0 else None
        return planned_without_node(shown), time.time_ns()

    def run(self, _):
        return self.shown

    def stats(self):
        return self.sluice.stats()

    def reports(self):
        account = ("--account", self.account)
        reports = {kind: self.sluice.json("report", kind, *account) for kind in REPORTS}
        without_nodes(reports, self.node)
        now = time.time_ns()
        reports["approvals"] = self.sluice.json("approvals", *account)
        stats = self.stats()
        reports["stats"] = {name: stats[name] - self.before[name] for name in stats if name in self.before}
        found = json.loads(self.sluice.run("doctor", "--format", "json").stdout)
        problems = [row for row in found if row["result"] == "problem" and row["check"] != "worker"]
        reports["broken"] = str(problems) if problems else ""
        return reports, now

    def approval_statement(self, name):
        result = self.sluice.run("approvals", "show", name, "--account", self.account, "--statement")
        return result.stdout if result.returncode == 0 else None

    def statement(self, creator, month):
        return self.sluice.json("report", "statement", "--account", self.account, "--creator", creator, "--month", month)


# Steps as command lines ----------------------------------------------------------------------------


def words_of(edge, step):
    verb = next(verb for verb in WORDS if verb in step)
    return [str(word) for word in WORDS[verb](edge, step, step[verb])]


def order(step, value):
    return ["--shop", step["shop"], f"--order={value['order']}"]


def options(edge, value, *names):
    """--creator=C for the member `creator`, and so on. An empty value is a word of its own."""
    given = [(f"--{name.replace('_', '-')}", value[name]) for name in names if name in value]
    return [word for name, text in given for word in ([f"{name}={text}"] if text else [name, ""])]


def flags(value, *names):
    return [f"--{name.replace('_', '-')}" for name in names if value.get(name)]


def effective_from(step):
    return ["--effective-from", step["effective_from"]] if "effective_from" in step else []


def apply_words(edge, step, _):
    return ["program", "apply", edge.file("program.toml", toml(edge.account, step)), *effective_from(step)]


def import_words(edge, step, rows):
    names = dict(zip(IMPORT, ("creator", "program", "code", "group", "valid_from", "valid_until", "name", "payee")))
    cells = [[row.get(names[column], "") for column in IMPORT] for row in rows]
    return ["creator", "import", table(edge, "creators.csv", IMPORT, cells), *effective_from(step)]


def click_words(edge, step, rows):
    header = ["svc_anon_id", "creator_id", "program_id", "occurred_at"]
    return ["click", "import", table(edge, "clicks.csv", header, rows), *effective_from(step)]


def table(edge, name, header, rows):
    path = edge.edge.folder / name
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    return path


def remove_words(_edge, _step, row):
    words = ["creator", "remove", row[0], "--program", row[1]]
    return words + [word for name, value in zip(("--code", "--at"), row[2:]) for word in (name, value)]


def close_words(verb):
    def make(edge, _, value):
        many = [f"--{name}={one}" for name, key in (("program", "programs"), ("creator", "creators"), ("exclude", "exclude"))
                for one in value.get(key, [])]
        words = ["payout", verb, "--account", edge.account, "--until", value["until"], *many]
        words += flags(value, "ignore_minimum") + options(edge, value, "expect")
        return [*words, "--format", "json"] if verb == "close" else words
    return make


def hold_words(verb):
    def make(edge, step, value):
        of = [f"--{value['of']}"] if "of" in value else []
        if "order" in value:
            return [verb, *order(step, value), *of]
        return [verb, "--account", edge.account, *options(edge, value, "creator", "program"), *of]
    return make


def detach_words(edge, step, value):
    which = order(step, value) if "order" in value else ["--account", edge.account, "--cause", value["cause"]]
    return ["detach", *which, *flags(value, "retry")]


def credit_words(edge, step, value):
    which = order(step, value) if "order" in value else []
    return ["credit", "--account", edge.account, *which, *options(edge, value, "creator", "program", "amount", "sale_at")]


def opening_words(edge, _step, value):
    header = ["creator_id", "program_id", "currency", "amount"]
    cells = [[row["creator"], row["program"], *reversed(row["amount"].split())] for row in value["rows"]]
    return ["opening", "import", table(edge, "openings.csv", header, cells), "--account", edge.account, "--at", value["at"]]


def write_off_words(edge, _step, value):
    return ["write-off", "--account", edge.account, *options(edge, value, "creator", "program", "amount", "currency")]


def forget_words(edge, step, value):
    where = ["--account", edge.account] if "creator" in value else ["--shop", step["shop"]]
    return ["forget", *where, *options(edge, value, "creator", "order", "device", "customer", "email", "phone")]


def on_order(*words):
    return lambda edge, step, value: [
        *words, *order(step, value), *options(edge, value, "creator", "program", "kind", "version"), *flags(value, "replace")
    ]


def approve_words(edge, step, given):
    """K3: an approver names what they saw; an id that is unknown has nothing to see. K5: or they sign it."""
    if "signature" in step:
        return ["approve", given, "--account", edge.account, "--signature", edge.file("signature", step["signature"])]
    shown = edge.sluice.run("approvals", "show", given, "--account", edge.account, "--format", "json")
    expect = ["--expect", json.loads(shown.stdout)["digest"]] if shown.returncode == 0 else []
    return ["approve", given, "--account", edge.account, *expect]


def on_id(verb):
    return lambda edge, _, given: [verb, given, "--account", edge.account]


def moving(verb):
    return lambda edge, _, ids: ["payout", verb, *ids, "--account", edge.account]


WORDS = {
    "programs": apply_words,
    "creators": import_words,
    "clicks": click_words,
    "remove": remove_words,
    "set": lambda edge, _, v: [
        "creator", "set", v["creator"], "--account", edge.account, *options(edge, v, "name", "payee", "program", "group")],
    "rename": lambda edge, _, ids: ["creator", "rename", *ids, "--account", edge.account],
    "close": close_words("close"),
    "preview": close_words("preview"),
    **{verb: moving(verb) for verb in ("sent", "settle", "failed", "returned", "void", "repoint")},
    "approve": approve_words,
    **{verb: on_id(verb) for verb in ("withdraw", "reverse")},
    "hold": hold_words("hold"),
    "release": hold_words("release"),
    "reject": on_order("reject"),
    "attribute": on_order("attribute"),
    "detach": detach_words,
    "ack": on_order("anomaly", "ack"),
    "reset": on_order("order", "reset"),
    "adjust": lambda _, step, v: ["adjust", "--shop", step["shop"], f"--order={v[0]}", f"--amount={v[1]}"],
    "credit": credit_words,
    "opening": opening_words,
    "write_off": write_off_words,
    "period": lambda edge, _, v: [
        "period", "close", "--account", edge.account, "--until", v["until"], *flags(v, "allow_late")],
    "forget": forget_words,
}


def toml(account, step):
    out = []
    if step.get("policy") is not None:
        out += ["[[policy]]", *members({"account": account, **step["policy"]})]
    for program in step["programs"]:
        out += ["[[program]]", *members({"account": account, **{k: v for k, v in program.items() if k != "rules"}})]
        for rule in program["rules"]:
            out += ["[[program.rule]]", *members(rule)]
    return "\n".join(out) + "\n"


def members(row):
    times = ("starts_at", "ends_at", "from", "until")
    return [f"{name} = {value if name in times else literal(value)}" for name, value in row.items()]


def literal(value):
    if isinstance(value, list):
        return "[" + ", ".join(map(literal, value)) + "]"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{name} = {literal(v)}" for name, v in value.items()) + " }"
    return json.dumps(value)
