"""Every command of a person whose COMMIT is in doubt: the first never arrives, of the second the answer is lost. The
command says what it did, and it was done once: every report equals that of the embedded ledger."""
import datetime
import itertools
import json
import re
import shutil

import pytest
from harness import orders, paths
from harness.bank_answers import camt054, details, entry
from harness.cli import Sluice, as_user, now
from harness.cut_commit import ANSWER_LOST, NEVER_ARRIVED, CutCommit
from harness.edge import Edge
from harness.http_block import EVENTS, http_block
from harness.postgres import missing
from harness.postgres_cluster import Cluster
from test_postgres import without_times

ACME = ("--account", "acme")
WHY = ("--reason", "as agreed")
PROGRAMS = """
[[policy]]
account = "acme"
approve_adjust_above = ["150.00 USD", "60.00 EUR"]

[[program]]
id = "spring"
account = "acme"
default_rate = "10%"
late_days = 36500
"""
FILES = {
    "payees": "payee,name,iban\nref-2,Ann,DE89370400440532013000\n",
    "programs": PROGRAMS,
    "creators": "creator_id,program_id,code,payee\nann,spring,SAVE,ref-1\nbob,spring,,\n",
    "openings": "creator_id,program_id,currency,amount\nann,spring,USD,20.00\nrobert,spring,USD,-3.50\n",
    "clicks": "svc_anon_id,creator_id,program_id,occurred_at\nd1,bob,spring,2024-03-01T00:00:00Z\n",
    "links": "link_id,program_id,creator_id,to,deep\na-cap,spring,ann,https://shop.example/cap,\n",
}
REPORTS = ("orders", "journal", "balances", "payouts", "anomalies")


def order(name):
    return ("--shop", "shop-1", "--order", name)


def command_of(sluice, reason):
    return next(row["command_id"] for row in sluice.report("journal") if row["reason"] == reason)


def payout(sluice, place):
    rows = sluice.json("payout", "list", *ACME)  # ids of one second are in no order
    return sorted(rows, key=lambda row: (row["closed_at"], row["payout_id"]))[place]["payout_id"]


def month():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-01T00:00:00Z")


def bank_returns(sluice, place):
    """The same as `payout returned`, from a file of the bank."""
    row = sluice.json("payout", "list", *ACME)[place]
    back = details(row["payout_id"], row["amount"], row["currency"], returned="AC04")
    file = sluice.store.parent / "answer.xml"
    file.write_text(camt054(entry(row["amount"], back, currency=row["currency"], credit=True)))
    return ("bank", "import", file, *ACME)


# The commands, one after the other; a function receives values that are known only then. `.name` is a file.
COMMANDS = [
    ("program", "apply", ".programs"),
    ("creator", "import", ".creators"),
    ("click", "import", ".clicks"),
    ("creator", "set", "ann", *ACME, "--name", "Ann"),
    ("creator", "rename", "bob", "robert", *ACME),
    ("hold", *order("o1"), *WHY),
    ("release", *order("o1"), *WHY),
    ("hold", *ACME, "--creator", "ann", *WHY),
    ("release", *ACME, "--creator", "ann", *WHY),
    ("attribute", *order("o2"), "--creator", "robert", "--program", "spring", "--replace", *WHY),
    ("detach", *order("o3"), *WHY),
    ("detach", *order("o3"), "--retry", *WHY),
    ("reject", *order("o4"), *WHY),
    ("release", *order("o4"), *WHY),
    ("adjust", *order("o1"), "--amount", "1.25", *WHY),
    lambda sluice: ("reverse", command_of(sluice, "MANUAL"), *ACME, *WHY),
    ("adjust", *order("o1"), "--amount", "160.00", *WHY),
    lambda sluice: ("withdraw", sluice.json("approvals", *ACME)[0]["id"], *ACME, *WHY),
    ("credit", *ACME, "--creator", "ann", "--program", "spring", "--amount", "12.00 USD", *WHY),
    lambda sluice: ("reverse", command_of(sluice, "CREDIT"), *ACME, *WHY),
    ("opening", "import", ".openings", *ACME, "--at", "2024-01-01T00:00:00Z", *WHY),
    lambda sluice: ("reverse", command_of(sluice, "OPENING")[:20], *ACME, *WHY),
    ("credit", *ACME, "--creator", "robert", "--program", "spring", "--amount", "-20.00 EUR", *WHY),
    ("write-off", *ACME, "--creator", "robert", "--program", "spring", "--amount", "5.00 EUR", *WHY),
    ("write-off", *ACME, "--creator", "robert", "--program", "spring", *WHY),
    ("anomaly", "ack", *order("o5"), "--kind", "LINES_EXCEED_AMOUNT", *WHY),
    ("order", "reset", *order("o5"), "--version", "2024-03-01T00:00:00Z", *WHY),
    lambda sluice: ("payout", "close", *ACME, "--until", now()),
    lambda sluice: ("payout", "sent", payout(sluice, 0), *ACME, *WHY),
    lambda sluice: ("payout", "settle", payout(sluice, 0), *ACME, *WHY),
    lambda sluice: bank_returns(sluice, 0),
    lambda sluice: ("payout", "void", payout(sluice, 1), *ACME, *WHY),
    ("creator", "remove", "ann", "--program", "spring", "--code", "SAVE"),
    lambda sluice: ("period", "close", *ACME, "--until", month()),
    ("forget", "--shop", "shop-1", "--order", "o1"),
]


OTHER = as_user("man")


def approval(sluice, name):
    return ("approve", name, *ACME, "--expect", sluice.json("approvals", "show", name, *ACME)["digest"])


# With the above every command that takes --key.
MORE = [
    ("adjust", *order("o1"), "--amount", "170.00", *WHY),
    lambda sluice: approval(sluice, sluice.json("approvals", *ACME)[0]["id"]),
    lambda sluice: ("payout", "close", *ACME, "--until", now()),
    ("creator", "set", "robert", *ACME, "--payee", "ref-2"),
    lambda sluice: ("payout", "repoint", payout(sluice, -1), *ACME, *WHY),
    lambda sluice: approval(sluice, payout(sluice, -1)),
    lambda sluice: ("payout", "export", payout(sluice, -1), *ACME, "--form", "csv", "--payees", ".payees", "--out", ".out"),
    lambda sluice: ("payout", "failed", payout(sluice, -1), *ACME, *WHY),
    lambda sluice: ("payout", "close", *ACME, "--until", now()),
    lambda sluice: ("payout", "settle", payout(sluice, -1), *ACME, *WHY),
    lambda sluice: ("payout", "returned", payout(sluice, -1), *ACME, *WHY),
    lambda sluice: ("detach", "--cause", command_of(sluice, "ATTRIBUTION"), *WHY),
    *(("forget", "--shop", "shop-1", *person) for person in (
        ("--customer", "customer-1"), ("--email", "jane@example.org"), ("--phone", "+1 555"), ("--device", "d1"))),
    ("forget", *ACME, "--creator", "robert"),
    ("link", "create", "a-mug", *ACME, "--program", "spring", "--creator", "ann", "--to", "https://shop.example/mug"),
    ("link", "import", ".links", *ACME),
    ("link", "set", "a-mug", *ACME, "--to", "https://shop.example/cup"),
    ("link", "stop", "a-mug", *ACME),
    ("link", "start", "a-mug", *ACME),
    ("link", "remove", "a-mug", *ACME),
]


@pytest.fixture(scope="module")
def folder():
    if missing():
        pytest.fail(missing())
    made = paths.make_folder()
    yield made
    paths.drop_folder(made)


@pytest.fixture(scope="module")
def filled(folder):
    """A store with five orders in its queue, copied for each ledger."""
    with Edge(http_block(EVENTS, limit="off")) as edge:
        edge.start()
        edge.sluice.account("acme")
        edge.sluice.shop("shop-1", "acme")
        _, secret = edge.sluice.token("acme", "write_orders")
        for number in range(1, 6):
            document = orders.order(
                f"o{number}", amount="100.00" if number != 5 else "10.00",
                line_items=[orders.line("l1", amount="100.00", tax="0.00")],
                discounts=[{"code": "SAVE", "type": "DISCOUNT_CODE", "value_type": "PERCENTAGE", "value": "5"}],
                platform_updated_at="2024-03-02T00:00:00Z")
            assert edge.post_event("shop-1", secret, "ORDER_CREATE", document).status == 200
        edge.stop()
        shutil.copytree(edge.store, folder / "filled", symlinks=True)
    for name, text in FILES.items():
        (folder / name).write_text(text)
    return folder / "filled"


def copy(filled, name):
    shutil.copytree(filled, filled.parent / name, symlinks=True)
    return Sluice(filled.parent / name)


def run_all(sluice, folder, ledger, before):
    """Returns the output and the exit status of each command; `before` is called ahead of it."""
    told = []
    for command in COMMANDS:
        line = command(sluice) if callable(command) else command
        line = [folder / word[1:] if str(word).startswith(".") else word for word in line]
        before()
        done = sluice.run(*line, *ledger)
        told.append((without_times(list(map(str, line[:2]))), done.returncode, said(done.stdout + done.stderr)))
    return told


def said(text):
    """A table's width is that of the times in it."""
    return " ".join(re.sub(r"\b20\d\d-[-0-9T:.]+Z", "<then>", without_times(text)).split())


def reports(sluice):
    return {kind: [said(json.dumps(row)) for row in without_times(sluice.report(kind))] for kind in REPORTS}


@pytest.mark.parametrize("step", [1, 6])
def test_each_command_is_done_once_when_its_commit_is_in_doubt(filled, folder, step):
    """The commit of one command in `step` is cut twice: before it arrives, and before its answer does."""
    own = copy(filled, f"own-{step}")
    expected = run_all(own, folder, (), lambda: None)
    for line, status, text in expected:
        assert status == (3 if "waits for" in text else 0), (line, status, text)
    cluster = Cluster(folder, "primary").start()
    try:
        with CutCommit(cluster) as way:
            sluice, numbers = copy(filled, f"cut-{step}"), itertools.count()
            sluice("ledger", "migrate", "--ledger", cluster.url())
            sluice("worker", "--until-empty", "--ledger", way.url())
            found = run_all(sluice, folder, ("--ledger", way.url()),
                            lambda: way.cuts.extend([NEVER_ARRIVED, ANSWER_LOST] if next(numbers) % step == 0 else []))
            assert found == expected
            assert way.done.count(ANSWER_LOST) == way.done.count(NEVER_ARRIVED) == -(-len(COMMANDS) // step) and not way.cuts
            assert reports(sluice) == reports(own)
            assert sluice.run("doctor").stdout.count("the chain of hashes holds") == 1
    finally:
        cluster.remove()


def test_a_key_means_the_same_command(filled, folder):
    """K1: repeated at once, and after all that came later, each command returns its first result and changes nothing."""
    sluice = copy(filled, "keys")
    by_other = Sluice(sluice.store)
    by_other.prefix = OTHER
    first, told = {}, set()
    for number, command in enumerate([*COMMANDS, *MORE]):
        line = command(sluice) if callable(command) else command
        told.add(" ".join(itertools.takewhile(lambda word: re.fullmatch("[a-z][a-z-]*", str(word)), line[:2])))
        line = [folder / word[1:] if str(word).startswith(".") else word for word in line]
        if line[0] != "bank":
            line += ["--key", f"key-{number}"]
        who = by_other if line[0] == "approve" else sluice
        done = who.run(*line)
        assert done.returncode == (3 if "waits for" in done.stderr else 0), (line, done)
        if line[0] != "bank":
            first[tuple(line)] = done
            again = who.run(*line)
            assert (again.returncode, again.stdout, again.stderr) == (done.returncode, done.stdout, done.stderr), line
    before = reports(sluice)
    for line, done in first.items():
        if line[:2] == ("payout", "export"):  # K2: its payout failed since
            assert "is not written again" in sluice.run(*line).stderr
        elif done.returncode == 0:
            again = (by_other if line[0] == "approve" else sluice).run(*line)
            rows = -1 if line[:2] == ("payout", "close") else 0  # a run is shown with the states that its payouts have now
            assert (again.returncode, again.stdout.splitlines()[rows:]) == (0, done.stdout.splitlines()[rows:]), (line, again)
    assert reports(sluice) == before
    page = (paths.ROOT / "docs" / "command-line.md").read_text()
    keyed = {usage[1] for usage in re.finditer(r"^    sluice ([a-z][a-z-]*(?: [a-z][a-z-]*)?) [^\n]*--key K", page, re.M)}
    rare = {"queue accept-gap", "dead discard"}  # they need a damaged queue, and a dead letter
    assert keyed and keyed <= told | rare, keyed - told
    for kind, line in (("email", ("--email", "other@example.org")), ("customer", ("--customer", "customer-1"))):
        other = sluice.run("forget", "--shop", "shop-1", *line, "--key", "key-4")
        assert other.returncode == 1 and "with other content" in other.stderr, kind
