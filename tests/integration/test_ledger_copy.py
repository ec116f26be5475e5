"""sluice ledger copy: a folder into a database and back, and the worker that continues on the copy.

What it must be is always known: a rebuild of the archive, which never was copied. `ledger copy` onto it proves every
table equal, or refuses.
"""
import csv
import io
import json
import os
import random
import shutil
import signal
import subprocess

import pytest
from harness import orders, paths
from harness.cli import Sluice, now
from harness.cut_commit import ANSWER_LOST, NEVER_ARRIVED, CutCommit
from harness.edge import Edge
from harness.http_block import CATALOG, EVENTS, http_block
from harness.postgres import PROGRAMS, Server, missing
from harness.serve import Serve

pytestmark = pytest.mark.skipif(bool(missing()), reason=str(missing()))

HTTP = http_block(EVENTS, CATALOG, limit="off", map_size="256m")
PROGRAM = """
[[program]]
id = "spring"
account = "acme"
clearing_days = 1
default_rate = "{rate}"
default_tiers = [{{ from = "300.00 EUR", rate = "12%" }}]
late_days = 36500

[[program.rule]]
customer = "returning"
match = "brand"
value = "Alpha"
rate = "15%"
"""
CREATORS = "creator_id,program_id,code,group,name\nann,spring,SAVE,gold,Änn\nbob,spring,GIVE,,\n"
CLICKS = "svc_anon_id,creator_id,program_id,occurred_at\nphone-{turn},bob,spring,2024-03-0{turn}T00:00:00Z\n"
REPORTS = ("orders", "journal", "balances", "anomalies", "products", "payouts")
HOT = 45  # events of one order in a turn: after two, more than its row holds
WHY = ("--reason", "as agreed")


class Shop:
    """A store that gets orders and commands in turns, whatever ledger it uses."""

    def __init__(self, folder):
        self.folder, self.edge, self.turn = folder, Edge(HTTP).__enter__(), 0
        self.sluice = self.edge.sluice
        self.sluice.account("acme")
        self.sluice.shop("shop-1", "acme")
        _, self.secret = self.sluice.token("acme", "write_orders", "write_products")

    def file(self, name, text):
        path = self.folder / f"{self.turn}-{name}"
        path.write_text(text)
        return path

    def events(self):
        source = random.Random(self.turn)
        for number in range(60):
            day = source.randrange(1, 28)
            document = orders.order(
                f"o-{source.randrange(40)}", amount=f"{source.randrange(10, 500)}.50",
                platform_updated_at=f"2024-03-{day:02}T10:00:{number % 60:02}.{self.turn}{number:08}Z",
                platform_customer_id=f"c-{source.randrange(9)}", svc_anon_id=f"phone-{source.randrange(5)}",
                line_items=[orders.line(f"l{line}", sku=f"sku-{source.randrange(4)}",
                                        amount=f"{source.randrange(1, 90)}.90", tax="0.15")
                            for line in range(source.randrange(1, 4))],
                discounts=[{"code": source.choice(["SAVE", "GIVE", "LATER", "NOBODY"]), "type": "DISCOUNT_CODE",
                            "value_type": "PERCENTAGE", "value": "10"}])
            if source.random() < 0.4:
                document["refund_line_items"] = [
                    orders.refund(f"r-{self.turn}-{number}", "l0", amount="0.90", tax="0.01")]
            yield "ORDER_UPDATE", document
        for number in range(HOT):
            yield "ORDER_UPDATE", orders.order(
                "hot", platform_updated_at=f"2024-04-0{self.turn}T00:00:{number:02}Z", amount=f"{number}.00")

    def live(self):
        """Orders, products and every kind of command; all of it is applied behind it."""
        self.turn += 1
        turn, sluice = self.turn, self.sluice
        self.edge.start()
        sluice("program", "apply", self.file("p.toml", PROGRAM.format(rate=f"{9 + turn}%")))
        sluice("creator", "import", self.file("c.csv", CREATORS))
        products = [{"platform_product_id": f"sku-{turn}", "title": "One", "brand": "Alpha", "tags": ["ä"],
                     "variants": [{"variant_sku": f"v-{turn}"}]}]
        assert self.edge.post_catalog("shop-1", self.secret, "PRODUCT_UPSERT", {"products": products},
                                      f"k{turn}").status == 200
        with self.edge.connect() as connection:
            for topic, document in self.events():
                answer = self.edge.post_event("shop-1", self.secret, topic, document, connection)
                assert answer.status == 200, answer
        self.edge.stop()
        sluice("worker", "--until-empty")
        sluice("click", "import", self.file("t.csv", CLICKS.format(turn=turn)))
        sluice("creator", "import", self.file("late.csv", f"creator_id,program_id,code\ncid-{turn},spring,LATER-{turn}\n"))
        ids = [row["order_id"] for row in sluice.report("orders") if row["creator_id"]]
        of_shop = ("--shop", "shop-1", *WHY)
        sluice("adjust", "--order", ids[turn], "--amount", "1.25", *of_shop)
        sluice("hold", "--order", ids[turn + 3], *of_shop)
        sluice("detach", "--order", ids[turn + 6], *of_shop)
        sluice("credit", "--account", "acme", "--creator", "ann", "--program", "spring", "--amount", "5.00 EUR",
               "--key", f"credit-{turn}", *WHY)
        sluice("payout", "close", "--account", "acme", "--until", now())
        payouts = [row["payout_id"] for row in sluice.report("payouts") if row["state"] == "APPROVED"]
        sluice("payout", "sent", payouts[0], "--account", "acme", *WHY)
        sluice("payout", "failed" if turn % 2 else "settle", payouts[0], "--account", "acme", *WHY)
        sluice("period", "close", "--account", "acme", "--until", f"2024-0{turn}-01T00:00:00Z")

    def reports(self):
        said = {kind: self.sluice.report(kind) for kind in REPORTS}
        said["statement"] = self.sluice.json("report", "statement", "--account", "acme", "--creator", "ann",
                                             "--month", now()[:7])
        said["explain"] = [json.loads(self.sluice("explain", row["order_id"], "--shop", "shop-1", "--format", "json"))
                           for row in said["orders"][::7]]
        return said

    def rebuilt(self):
        """The ledger that the archive gives: it never was copied."""
        into = self.folder / f"rebuilt-{self.turn}"
        told = self.sluice("ledger", "rebuild", "--from", self.edge.store / "archive", "--into", into)
        return into, told

    def copy(self, *words):
        return self.sluice("ledger", "copy", *words)


@pytest.fixture(scope="module")
def server():
    with Server() as started:
        yield started


@pytest.fixture
def shop(tmp_path):
    made = Shop(tmp_path)
    yield made
    made.edge.__exit__(None, None, None)


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """The store of a shop after one turn, to be copied from."""
    made = Shop(tmp_path_factory.mktemp("filled"))
    made.live()
    keep = made.folder / "kept"
    shutil.copytree(made.edge.store, keep, symlinks=True)
    made.edge.__exit__(None, None, None)
    return keep


@pytest.fixture
def store(filled, tmp_path):
    shutil.copytree(filled, tmp_path / "store", symlinks=True)
    return Sluice(tmp_path / "store")


COUNT = 0


def new_database(server, sluice):
    global COUNT
    COUNT += 1
    url = server.create(f"copy{COUNT}")
    sluice("ledger", "migrate", "--ledger", url)
    return url


def rows_of(told):
    """Tables of `--format json`."""
    return {row["table"]: row for row in json.loads(told)}


def same(sluice, reference, place):
    """`place` has every row of `reference`, to the byte, and no other."""
    tables = rows_of(sluice("ledger", "copy", "--from", reference, "--to", place, "--format", "json"))
    assert all(row["equal"] and row["source_sha256"] == row["target_sha256"] for row in tables.values())
    return tables


def test_who_reads_for_long_follows_the_switch(shop, server, tmp_path):
    """The page showed the ledger that was left, and said that nothing waits; notifications held the lock of its fleet."""
    shop.live()
    url = new_database(server, shop.sluice)
    _, secret = shop.sluice.token("acme", "read_orders", "read_ledger")
    shop.sluice("notify", "add", "erp", "--account", "acme", "--url", "https://erp.example.invalid/")
    sender = subprocess.Popen([str(paths.SLUICE), "--store", str(shop.edge.store), "notify", "run"], stderr=subprocess.PIPE,
                              text=True)
    try:
        with Serve(shop.edge.store, tmp_path) as serve:
            reader = serve.token(secret)
            before = reader.rows("orders")
            shop.copy("--to", url, "--switch")
            shop.live()  # in PostgreSQL
            assert len(reader.rows("orders")) > len(before)
            assert {row["order_id"] for row in reader.rows("orders")} == \
                {row["order_id"] for row in shop.sluice.json("report", "orders")}
        _, said = sender.communicate(timeout=paths.DEADLINE)
        assert sender.returncode == 1 and "another ledger now: start again" in said
    finally:
        sender.kill()
        sender.wait()


def test_a_copy_there_and_back_continues_at_the_checkpoint(shop, server):
    shop.live()
    url = new_database(server, shop.sluice)
    told = shop.copy("--to", url, "--switch")
    assert "all tables are equal" in told and "audit of the copy found nothing" in told, told
    assert "use it from now on" in told and (shop.edge.store / "ledger.url").read_text().strip() == url
    own = shop.edge.store / "ledger"
    shop.live()  # in PostgreSQL
    reference, told = shop.rebuilt()
    assert "is in PostgreSQL" in told
    tables = same(shop.sluice, reference, url)
    for table in ("orders", "events", "journal", "balances", "chains", "catalog", "clicks", "waiting", "open", "codes",
                  "payouts", "payout_items", "payout_runs", "commands", "keys", "money_commands", "periods",
                  "tier_volumes", "customer_orders", "attributed_orders", "anomalies", "program_versions", "refunds"):
        assert tables[table]["target_rows"] > 0, f"nothing of {table} was proved"
    in_database = shop.reports()
    # The old folder is not the ledger any more, and not empty.
    refused = shop.sluice.refuses("ledger", "copy", "--to", own, "--switch")
    assert "holds another ledger already" in refused
    own.rename(own.with_name("ledger.before"))
    told = shop.copy("--to", own, "--switch")
    assert "all tables are equal" in told and not (shop.edge.store / "ledger.url").exists()
    assert shop.reports() == in_database
    shop.live()  # in the folder again
    reference, told = shop.rebuilt()
    assert "the ledgers are equal" in told
    same(shop.sluice, reference, own)
    third = new_database(server, shop.sluice)
    shop.sluice("ledger", "rebuild", "--from", shop.edge.store / "archive", "--ledger", third)
    same(shop.sluice, own, third)  # also what PostgreSQL made of it all by itself
    assert shop.sluice.run("doctor").stdout.count("the chain of hashes holds") == 1
    assert shop.sluice.stats()["depth"] == 0


def test_folder_to_folder_and_database_to_database(store, server, tmp_path):
    one, other = new_database(server, store), new_database(server, store)
    store("ledger", "copy", "--to", one)
    assert not (store.store / "ledger.url").exists(), "only --switch changes what the store uses"
    store("ledger", "copy", "--from", one, "--to", other)
    store("ledger", "copy", "--from", other, "--to", tmp_path / "back" / "")
    same(store, store.store / "ledger", tmp_path / "back")
    store("ledger", "copy", "--to", tmp_path / "empty" / ".." / "folder")
    (tmp_path / "empty").mkdir()
    store("ledger", "copy", "--from", tmp_path / "folder", "--to", tmp_path / "empty")
    same(store, tmp_path / "empty", other)
    texts = store("ledger", "copy", "--from", one, "--to", other, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(texts)))
    assert {row["equal"] for row in rows} == {"true"} and len(rows) > 35
    assert "was a copy of" in store("ledger", "copy", "--from", one, "--to", other)


def test_a_ledger_without_a_row_is_copied_too(tmp_path, server):
    sluice = Sluice(tmp_path / "new")
    sluice("init")
    url = new_database(server, sluice)
    assert "copied 0 rows" in sluice("ledger", "copy", "--to", url, "--switch")
    assert "copied 0 rows" in sluice("ledger", "copy", "--to", tmp_path / "new" / "ledger", "--switch")
    assert not (tmp_path / "new" / "ledger.url").exists()


# Refusals ---------------------------------------------------------------------------------------------


class Running:
    """A worker that runs during the test. Use as a context manager."""

    def __init__(self, sluice, log, *ledger):
        self.log = log
        with open(log, "w") as out:
            self.process = subprocess.Popen([str(paths.SLUICE), "worker", *ledger], env=sluice.environment, stderr=out)

    def __enter__(self):
        paths.wait_until(lambda: "applies" in self.log.read_text() or self.process.poll() is not None, "the worker")
        assert self.process.poll() is None, self.log.read_text()
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGCONT)
        self.process.terminate()
        self.process.wait(30)


def test_no_copy_while_a_worker_runs(store, server, tmp_path):
    url = new_database(server, store)
    with Running(store, tmp_path / "own.log"):
        assert "a worker is running on this store" in store.refuses("ledger", "copy", "--to", url)
    store("ledger", "copy", "--to", url)
    # From the store of another node, where only the database shows the running worker.
    other = Sluice(tmp_path / "other")
    other("init")
    copy = ("ledger", "copy", "--from", url, "--to", tmp_path / "there")
    with Running(store, tmp_path / "shared.log", "--ledger", url):
        assert "stop the workers of all nodes first" in other.refuses(*copy)
    assert not (tmp_path / "there").exists()
    other(*copy)
    # One that came and went while rows were copied.
    again = (*copy[:-1], tmp_path / "again")
    assert killed(other, "copying:3", *again[2:])
    store("creator", "rename", "bob", "rob", "--account", "acme")
    assert "copied" in other(*again)


def test_a_damaged_source_is_refused_before_anything_is_written(store, server, tmp_path):
    url = new_database(server, store)
    store("ledger", "copy", "--to", url)
    database = url.split("/")[3].split("?")[0]
    server.query("UPDATE sluice_ledger.balances SET owed = owed + 1 WHERE creator = 'ann'", database)
    told = store.refuses("ledger", "copy", "--from", url, "--to", tmp_path / "never")
    assert "is damaged: b: table balances" in told and "Nothing was copied" in told
    server.query("UPDATE sluice_ledger.balances SET owed = owed - 1 WHERE creator = 'ann'", database)
    server.query("DELETE FROM sluice_ledger.shops", database)  # its orders would be passed over
    assert "is damaged" in store.refuses("ledger", "copy", "--from", url, "--to", tmp_path / "never")
    data = store.store / "ledger" / "data.mdb"
    data.write_bytes(data.read_bytes().replace(b"o-1", b"o!1"))
    assert "damaged" in store.refuses("ledger", "copy", "--to", tmp_path / "never")
    assert not (tmp_path / "never").exists()


def test_what_a_target_must_not_be(store, server, tmp_path):
    url = new_database(server, store)
    assert "run `sluice ledger migrate" in store.refuses("ledger", "copy", "--to", server.create("bare"))
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter").write_text("mine")
    assert "is not empty, and is no ledger" in store.refuses("ledger", "copy", "--to", tmp_path / "full")
    assert "is not a folder" in store.refuses("ledger", "copy", "--to", tmp_path / "full" / "letter")
    assert "this store uses" in store.refuses("ledger", "copy", "--to", store.store / "ledger")
    assert "one ledger" in store.refuses("ledger", "copy", "--from", url, "--to", url)
    assert "--switch" in store.refuses("ledger", "copy", "--to", tmp_path / "aside", "--switch")
    store("ledger", "copy", "--to", url)
    other = Sluice(tmp_path / "other")
    other("init")
    assert "the queue of" in other.refuses("ledger", "copy", "--from", url, "--to", tmp_path / "other" / "ledger")
    before = (tmp_path / "other" / "ledger" / "data.mdb").read_bytes()
    assert (tmp_path / "other" / "ledger" / "data.mdb").read_bytes() == before
    # It continued since, so the target contains another state.
    store("creator", "rename", "bob", "rob", "--account", "acme")
    assert "holds another ledger already" in store.refuses("ledger", "copy", "--to", url)
    assert store.refuses("ledger", "copy", "--to", "postgres://%zz", code=2)


# Interrupted ------------------------------------------------------------------------------------------


def killed(store, point, *words):
    """True if it was killed there; false: it never came so far, and is done."""
    run = subprocess.run([str(paths.SLUICE), "ledger", "copy", "--batch", "40", *map(str, words)], check=False,
                         env={**store.environment, "SLUICE_CRASH_AT": point}, capture_output=True, timeout=120)
    assert run.returncode in (0, -signal.SIGKILL), run.stderr
    return run.returncode != 0


def refuse_unfinished(store, place):
    words = [("report", "orders"), ("worker", "--until-empty"), ("payout", "list", "--all-accounts"),
             ("dead", "list"), ("explain", "hot", "--shop", "shop-1")]
    if str(place).startswith("postgres"):
        for command in words:
            assert "holds an unfinished copy of" in store.refuses(*command, "--ledger", place), command
        assert "holds an unfinished copy of" in store.refuses("ledger", "migrate", "--ledger", place)
    else:
        aside = place.with_name("ledger.aside")
        own = store.store / "ledger"
        own.rename(aside)
        place.rename(own)
        try:
            for command in words:
                assert "is an unfinished copy of" in store.refuses(*command), command
            assert "is an unfinished copy of" in store.run("doctor").stdout
        finally:
            own.rename(place)
            aside.rename(own)
    assert "unfinished copy" in store.refuses("ledger", "copy", "--from", place, "--to", store.store / "elsewhere")


@pytest.mark.parametrize("kind", ["database", "folder"])
def test_killed_behind_each_write_it_is_refused_and_begun_again(store, server, tmp_path, kind):
    source = store.store / "ledger"
    if kind == "folder":
        source = new_database(server, store)
        store("ledger", "copy", "--to", source)
    place = new_database(server, store) if kind == "database" else tmp_path / "copied"
    words, writes, done = ("--from", source, "--to", place), 0, False
    while killed(store, f"copying:{writes + 1}", *words):
        assert not done, "nothing is written to a copy that is finished"
        writes += 1
        done = "unfinished copy" not in store.run("ledger", "copy", "--from", place, "--to", tmp_path / "on").stderr
        if not done and writes % 3 == 1:
            refuse_unfinished(store, place)
        shutil.rmtree(tmp_path / "on", ignore_errors=True)
    assert done and writes >= 10, "mark, rows and the end are writes of their own"
    print(f"killed behind {writes} writes")
    same(store, store.store / "ledger", place)


def test_killed_between_proof_and_end_and_before_the_switch(store, server):
    url = new_database(server, store)
    assert killed(store, "proved", "--to", url, "--switch")
    refuse_unfinished(store, url)
    assert killed(store, "switching", "--to", url, "--switch")
    assert not (store.store / "ledger.url").exists()
    assert "was a copy of" in store("ledger", "copy", "--to", url, "--switch")
    assert (store.store / "ledger.url").read_text().strip() == url


def test_a_copy_resolves_a_commit_of_unknown_outcome(store, server):
    """The mark shows that it is unfinished or a copy: never neither, never half of one."""
    whole = None
    for cut in (NEVER_ARRIVED, ANSWER_LOST):
        number = 0
        while number != whole:
            server.query("DROP SCHEMA IF EXISTS sluice_ledger CASCADE", "postgres")
            direct = server.url("postgres")
            store("ledger", "migrate", "--ledger", direct)
            with CutCommit(server) as way:
                way.cuts = [None] * number + [cut]
                run = store.run("ledger", "copy", "--to", way.url(), "--batch", "400")
                met = len(way.done) > number
            if not met:
                assert run.returncode == 0, run.stderr
                whole = number
                break
            if run.returncode != 0:
                assert run.stderr.startswith("sluice: "), run.stderr
                again = store("ledger", "copy", "--to", direct, "--batch", "400")
                assert "copied" in again or "was a copy of" in again
            same(store, store.store / "ledger", direct)
            number += 1
    assert whole >= 3, "mark, rows, end"


def test_the_database_goes_away_in_the_middle(store):
    with Server() as database:
        url = database.create()
        store("ledger", "migrate", "--ledger", url)
        copy = subprocess.Popen([str(paths.SLUICE), "ledger", "copy", "--to", url, "--batch", "1"],
                                env=store.environment, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        paths.wait_until(lambda: len(database.query("SELECT 1 FROM sluice_ledger.commands")) > 2, "some rows")
        database.stop(signal.SIGQUIT)
        _, told = copy.communicate(timeout=120)
        assert copy.returncode == 1 and told.strip()
        database.start()
        refuse_unfinished(store, url)
        store("ledger", "copy", "--to", url)
        same(store, store.store / "ledger", url)


def test_a_worker_that_was_connected_before_finds_the_mark(store, server, tmp_path):
    """It may not write between the rows of the copy, however long its session lives."""
    url = new_database(server, store)
    fresh = Sluice(tmp_path / "fresh")
    fresh("init")
    fresh.account("acme")
    fresh.shop("shop-1", "acme")
    program = write(tmp_path / "p.toml", '[[program]]\nid = "x"\naccount = "acme"\ndefault_rate = "1%"\n')
    with Running(fresh, tmp_path / "worker.log", "--ledger", url) as worker:
        worker.process.send_signal(signal.SIGSTOP)
        command = subprocess.Popen([str(paths.SLUICE), "program", "apply", str(program)], env=fresh.environment,
                                   stderr=subprocess.DEVNULL)
        paths.wait_until(lambda: fresh.stats()["last_seq"] == 1, "the command to be in the queue")
        assert killed(store, "copying:4", "--to", url)
        worker.process.send_signal(signal.SIGCONT)
        assert worker.process.wait(30) == 1
        assert "another ledger is being copied into this database" in worker.log.read_text()
        assert command.wait(30) == 1
    store("ledger", "copy", "--to", url)
    same(store, store.store / "ledger", url)


def test_two_copies_do_not_meet(store, server, tmp_path):
    url = new_database(server, store)
    session = subprocess.Popen(
        [str(PROGRAMS / "psql"), "-h", str(server.folder), "-U", "sluice", "-XAtq", "-d",
         url.split("/")[3].split("?")[0]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    session.stdin.write("SELECT pg_advisory_lock(1397511491, 3);\n\\echo held\n")
    session.stdin.flush()
    while session.stdout.readline().strip() != "held":
        pass
    assert "another copy to this database" in store.refuses("ledger", "copy", "--to", url)
    session.stdin.close()
    session.wait(30)
    (tmp_path / "there").mkdir()
    assert killed(store, "copying:1", "--to", tmp_path / "there")
    held = subprocess.Popen(["flock", str(tmp_path / "there"), "sleep", "60"])
    try:
        paths.wait_until(lambda: "another copy to" in store.run("ledger", "copy", "--to", tmp_path / "there").stderr
                         or held.poll() is not None, "the refusal")
        assert held.poll() is None
    finally:
        held.kill()
        held.wait()


def test_nodes_of_a_fleet_stay_in_postgresql(store, server, tmp_path):
    url = new_database(server, store)
    store("ledger", "copy", "--to", url)
    other = Sluice(tmp_path / "other")
    other("init")
    other.account("acme")
    other.shop("shop-1", "acme")
    program = tmp_path / "p.toml"
    program.write_text('[[program]]\nid = "x"\naccount = "acme"\ndefault_rate = "1%"\n')
    other("program", "apply", program, "--ledger", url)
    told = store.refuses("ledger", "copy", "--from", url, "--to", tmp_path / "alone")
    assert "2 nodes write this ledger" in told and "stays in PostgreSQL" in told
    assert not os.path.exists(tmp_path / "alone")
    moved = new_database(server, store)
    store("ledger", "copy", "--from", url, "--to", moved)
    assert other.json("program", "list", "--ledger", moved) == other.json("program", "list", "--ledger", url)
    other("creator", "import", write(tmp_path / "c.csv", "creator_id,program_id,code\nzoe,x,ZOE\n"), "--ledger", moved)


def write(path, text):
    path.write_text(text)
    return path
