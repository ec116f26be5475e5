"""The PostgreSQL ledger when its database stops, is killed in the middle of a COMMIT, fails over or
is cut off: nothing is lost or doubled, and every report equals the embedded ledger's.

The queue is filled through the real nginx, then copied: one copy is drained into the store's own
ledger, the other into PostgreSQL while that is in trouble.
"""
import fcntl
import json
import os
import random
import re
import shutil
import signal
import subprocess

import pytest
from harness import orders, paths
from harness.cli import Sluice, now
from harness.edge import Edge
from harness.postgres import missing
from harness.postgres_cluster import Cluster
from harness.http_block import CATALOG, EVENTS, http_block

HTTP = http_block(EVENTS, CATALOG, limit="off", map_size="256m")
PROGRAM_FILE = """
[[program]]
id = "spring"
account = "acme"
clearing_days = 1
default_rate = "10%"
late_days = 36500

[[program.rule]]
match = "brand"
value = "Alpha"
rate = "15%"
"""
REPORTS = ("orders", "journal", "balances", "anomalies", "products", "payouts")
INPUTS = 603  # two commands, one batch of products, 600 events
KNOWN = 8  # orders whose explanation is compared


def history(seed, count):
    """(topic, order) in the order of sending: orders of all kinds, their updates, refunds, ends."""
    source = random.Random(seed)
    for number in range(count):
        order_id = f"o-{source.randrange(max(1, count // 3))}"
        day = source.randrange(1, 28)
        document = orders.order(
            order_id,
            platform_updated_at=f"2024-03-{day:02}T10:00:{number % 60:02}.{number:09}Z",
            amount=f"{source.randrange(10, 500)}.50",
            line_items=[orders.line(f"l{line}", sku=f"sku-{source.randrange(4)}",
                                    amount=f"{source.randrange(1, 90)}.90", tax="0.15")
                        for line in range(source.randrange(1, 5))],
            discounts=[{"code": source.choice(["SAVE", "GIVE", "NOBODY"]), "type": "DISCOUNT_CODE",
                        "value_type": "PERCENTAGE", "value": "10"}],
        )
        if source.random() < 0.4:
            document["refund_line_items"] = [
                orders.refund(f"r-{source.randrange(count)}", "l0", amount="0.90", tax="0.01")]
        topic = source.choice(["ORDER_CREATE", "ORDER_UPDATE", "ORDER_UPDATE"])
        if source.random() < 0.1:
            topic = "ORDER_CANCEL"
            document["platform_cancelled_at"] = document["platform_updated_at"]
        yield topic, document


class Twins:
    """A filled store and what its own ledger makes of it."""

    def __init__(self, folder):
        self.folder = folder
        with Edge(HTTP) as edge:
            edge.start()
            sluice = edge.sluice
            sluice.account("acme")
            sluice.shop("shop-1", "acme")
            _, secret = sluice.token("acme", "write_orders", "write_products")
            self.queue_commands(edge.store)
            edge.post_catalog("shop-1", secret, "PRODUCT_UPSERT", {"products": [
                {"platform_product_id": "sku-1", "title": "One", "brand": "Alpha", "variants": []}]},
                "k1")
            with edge.connect() as connection:
                for topic, document in history(7, INPUTS - 3):
                    answer = edge.post_event("shop-1", secret, topic, document, connection)
                    assert answer.status == 200, answer
            edge.stop()
            shutil.copytree(edge.store, folder / "filled", symlinks=True)
        self.expected = self.own_ledger()

    def copy(self, name):
        shutil.rmtree(self.folder / name, ignore_errors=True)
        shutil.copytree(self.folder / "filled", self.folder / name, symlinks=True)
        return Sluice(self.folder / name)

    def queue_commands(self, store):
        """Commands that wait in the queue, as behind a worker that is busy: nothing applies them."""
        program = self.folder / "p.toml"
        program.write_text(PROGRAM_FILE)
        creators = self.folder / "c.csv"
        creators.write_text("creator_id,program_id,code\nann,spring,SAVE\nbob,spring,GIVE\n")
        with open(store / "worker.lock", "a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            for number, words in enumerate([("program", "apply", program),
                                            ("creator", "import", creators)], 1):
                command = subprocess.Popen([str(paths.SLUICE), "--store", str(store),
                                            *map(str, words)], stderr=subprocess.DEVNULL)
                paths.wait_until(lambda n=number: Sluice(store).stats()["last_seq"] == n,
                                 "the command to be in the queue")
                command.send_signal(signal.SIGINT)
                command.wait(30)

    def set_up(self, sluice, *ledger):
        """People's part when all events are applied."""
        late = self.folder / "late.csv"
        late.write_text("creator_id,program_id,code\ncid,spring,NOBODY\n")
        sluice("creator", "import", late, *ledger)
        sluice("payout", "close", "--account", "acme", "--until", now(), *ledger)
        sluice("adjust", "--order", "o-1", "--shop", "shop-1", "--amount", "1.25", "--reason", "gift",
               *ledger)

    def own_ledger(self):
        sluice = self.copy("own")
        self.set_up(sluice)
        return reports(sluice)


def reports(sluice):
    found = {kind: without_times(sluice.report(kind)) for kind in REPORTS}
    for number in range(KNOWN):
        if any(order["order_id"] == f"o-{number}" for order in found["orders"]):
            found[number] = without_times(
                sluice.json("explain", f"o-{number}", "--shop", "shop-1"))
    return found


def without_times(value):
    """Commands are given when the test runs: their times differ between the two. Ids of commands
    and payouts have the time in them; what follows it is of the queue and the number in it, which
    are the same in both."""
    if isinstance(value, list):
        return [without_times(item) for item in value]
    if isinstance(value, dict):
        changing = {"closed_at", "until", "applied_at", "at", "hash"}
        if value.get("status") == "in_payout":  # the answer of `explain`
            changing |= {"since"}
        if value.get("command_id"):
            changing |= {"recorded_at", "accounting_date"}
        return {key: without_times(item) for key, item in value.items() if key not in changing}
    if not isinstance(value, str):
        return value
    value = re.sub(r"\b([CP])\d{12}-(?=[0-9A-Z]{6}\b)", r"\1<then>-", value)
    return re.sub(r"(\) of|; posted at) 20[-0-9T:.]+Z", r"\1 then", value)


@pytest.fixture(scope="module")
def folder():
    if missing():
        pytest.fail(missing())
    made = paths.make_folder()
    yield made
    paths.drop_folder(made)


@pytest.fixture(scope="module")
def twins(folder):
    return Twins(folder)


@pytest.fixture
def cluster(folder):
    made = Cluster(folder, "primary").start()
    yield made
    made.remove()


class Worker:
    """`sluice worker --ledger`, in batches small enough that trouble comes between them."""

    def __init__(self, sluice, url, batch=25):
        self.sluice = sluice
        self.log = sluice.store.parent / f"{sluice.store.name}.log"
        with open(self.log, "w") as log:
            self.process = subprocess.Popen(
                [str(paths.SLUICE), "--store", str(sluice.store), "worker", "--ledger", url,
                 "--batch", str(batch)], stdout=log, stderr=log)

    def text(self):
        return self.log.read_text()

    def expect(self, words):
        paths.wait_until(lambda: words in self.text(), f"{words!r} in the worker's log", 60)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(30) == 0, self.text()


def applied(cluster):
    rows = cluster.query("SELECT applied_seq FROM sluice_ledger.heads")
    return int(rows[0][0]) if rows else 0


def migrated(twins, cluster, name):
    """A copy of the store, and a database that is ready for it."""
    sluice = twins.copy(name)
    sluice("ledger", "migrate", "--ledger", cluster.url())
    return sluice


def finish(sluice, twins, url):
    """Applies the rest of the queue and people's commands, and compares."""
    sluice("worker", "--until-empty", "--ledger", url)
    twins.set_up(sluice)  # no --ledger: the store remembers its ledger
    found = reports(sluice)
    for kind, expected in twins.expected.items():
        assert found[kind] == expected, kind
    assert sluice.run("doctor").stdout.count("the chain of hashes holds") == 1


def test_unmigrated_and_newer_databases_are_refused(cluster, twins):
    sluice = twins.copy("refused")
    refusal = sluice.refuses("worker", "--until-empty", "--ledger", cluster.url())
    assert "sluice ledger migrate" in refusal
    several = [subprocess.Popen([str(paths.SLUICE), "ledger", "migrate", "--ledger", cluster.url()])
               for _ in range(4)]
    assert [process.wait(60) for process in several] == [0, 0, 0, 0]
    cluster.query("INSERT INTO sluice_ledger.migrations (number, name) VALUES (9999, 'later')")
    assert "9999" in sluice.refuses("worker", "--until-empty", "--ledger", cluster.url())
    assert "9999" in sluice.refuses("ledger", "migrate", "--ledger", cluster.url())
    assert sluice.stats()["applied_seq"] == 0


def test_a_migration_that_a_person_cancels_is_not_begun_again(cluster, twins):
    """It waits for a lock that another session holds, and each batch would wait behind it."""
    sluice = twins.copy("cancelled")
    wait = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
    holder = subprocess.Popen([str(cluster.programs / "psql"), "-h", str(cluster.folder), "-U", "sluice", "-XAtq", "-d",
                               cluster.database, "-c", "SELECT pg_advisory_lock(1397511491, 2), pg_sleep(300)"])
    try:
        paths.wait_until(lambda: cluster.query("SELECT 1 FROM pg_locks WHERE locktype = 'advisory'"), "the lock")
        migrating = subprocess.Popen([str(paths.SLUICE), "ledger", "migrate", "--ledger", cluster.url()],
                                     stderr=subprocess.PIPE, text=True)
        paths.wait_until(lambda: cluster.query(wait) == [["1"]], "a migration that waits")
        cluster.query("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock'")
        said = migrating.communicate(timeout=60)[1]
        assert migrating.returncode == 1 and "(SQLSTATE 57014)" in said, said
    finally:
        holder.kill()
        holder.wait()
        cluster.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(300)%' AND pid <> pg_backend_pid()")
    sluice("ledger", "migrate", "--ledger", cluster.url())


def test_a_running_worker_stops_at_another_schema(cluster, twins):
    """N3: an administrator migrates while it runs; nothing more is applied, and nothing is lost."""
    sluice = migrated(twins, cluster, "fenced")
    worker = Worker(sluice, cluster.url())
    paths.wait_until(lambda: applied(cluster) > 50, "some batches")
    cluster.query("INSERT INTO sluice_ledger.migrations (number, name) VALUES (9999, 'later')")
    assert worker.process.wait(30) == 1
    stopped_at = applied(cluster)
    assert stopped_at < INPUTS and "9999" in worker.text().splitlines()[-1], worker.text()
    cluster.query("DELETE FROM sluice_ledger.migrations WHERE number = 9999")
    finish(sluice, twins, cluster.url())


def test_reports_equal_the_embedded_ledgers(cluster, twins):
    sluice = migrated(twins, cluster, "plain")
    finish(sluice, twins, cluster.url())
    assert cluster.query("SELECT sum(owed + in_payout + paid) FROM balances") == cluster.query(
        "SELECT sum(amount) FROM journal WHERE debit_account = 'expense'")
    viewed = cluster.query("SELECT order_id, amount, creator_id FROM orders ORDER BY shop_id COLLATE \"C\", order_id COLLATE \"C\"")
    assert [(o["order_id"], o["amount"], o["creator_id"] or "") for o in sluice.json("report", "orders")] == [
        tuple(row) for row in viewed]


def test_an_archive_rebuilds_a_database_that_was_lost(cluster, twins):
    """An empty one, then one that an old backup left behind; again does nothing."""
    sluice = twins.copy("archived")
    twins.set_up(sluice)
    own = reports(sluice)
    for database, place in (("lost", "--into"), ("behind", "--ledger")):
        url = cluster.create(database)
        sluice("ledger", "migrate", "--ledger", url)
        if database == "behind":
            half = twins.copy("half")
            half("worker", "--until-empty", "--ledger", url)
        assert "ledger rebuild" in sluice.refuses("worker", "--until-empty", "--ledger", url)
        rebuild = ("ledger", "rebuild", "--from", sluice.store / "archive", place, url)
        told = sluice(*rebuild)
        assert told.startswith(f"{INPUTS + 3 if database == 'lost' else 3} inputs replayed into"), told
        assert sluice(*rebuild).startswith("0 inputs")
        sluice("worker", "--until-empty", "--ledger", url)
        assert reports(sluice) == own
        assert sluice.run("doctor").stdout.count("the chain of hashes holds") == 1
        (sluice.store / "ledger.url").unlink()


def test_stopped_and_started_again(cluster, twins):
    sluice = migrated(twins, cluster, "stopped")
    worker = Worker(sluice, cluster.url())
    paths.wait_until(lambda: applied(cluster) > 100, "some batches")
    cluster.stop()
    worker.expect("retrying")
    assert worker.process.poll() is None
    cluster.start()
    paths.wait_until(lambda: applied(cluster) == INPUTS, "the rest", 60)
    worker.expect("applies again, after")
    assert worker.text().count("applies again") == 1
    worker.stop()
    finish(sluice, twins, cluster.url())


def test_a_worker_starts_before_its_database(cluster, twins):
    sluice = migrated(twins, cluster, "early")
    cluster.stop()
    worker = Worker(sluice, cluster.url())
    worker.expect("retrying")
    cluster.start()
    paths.wait_until(lambda: applied(cluster) == INPUTS, "all", 60)
    worker.stop()
    finish(sluice, twins, cluster.url())


def test_killed_in_the_middle_of_commit(cluster, twins):
    """The commit waits for a standby that is not there: it is on disk, and unacknowledged."""
    sluice = migrated(twins, cluster, "killed")
    worker = Worker(sluice, cluster.url())
    paths.wait_until(lambda: applied(cluster) > 50, "some batches")
    cluster.set("synchronous_standby_names", "nobody")
    paths.wait_until(cluster.waiting_commits, "a commit that waits")
    cluster.kill()
    worker.expect("retrying")
    (cluster.data / "postgresql.auto.conf").write_text("")
    cluster.start()
    worker.expect("were applied")  # the outcome was unknown; the checkpoint said so
    paths.wait_until(lambda: applied(cluster) == INPUTS, "the rest", 60)
    worker.stop()
    finish(sluice, twins, cluster.url())


def test_fails_over_to_a_synchronous_standby(cluster, folder, twins):
    sluice = migrated(twins, cluster, "failover")
    standby = Cluster(folder, "standby").follow(cluster).start()
    try:
        cluster.set("synchronous_standby_names", "standby")
        paths.wait_until(lambda: cluster.query("SELECT sync_state FROM pg_stat_replication")
                         == [["sync"]], "the standby to be synchronous")
        url = f"postgres://sluice@/postgres?host={cluster.folder},{standby.folder}"
        worker = Worker(sluice, url)
        paths.wait_until(lambda: applied(cluster) > 100, "some batches")
        cluster.kill()
        worker.expect("retrying")
        standby.promote()
        standby.set("synchronous_standby_names", "")
        paths.wait_until(lambda: applied(standby) == INPUTS, "the rest", 60)
        worker.stop()
        finish(sluice, twins, url)
    finally:
        standby.remove()
        cluster.start()


def test_a_failover_that_lost_acknowledged_commits_is_noticed(cluster, folder, twins):
    """Without synchronous replication: the standby that takes over lacks the last batches."""
    sluice = migrated(twins, cluster, "behind")
    standby = Cluster(folder, "lagging").follow(cluster).start()
    try:
        url = f"postgres://sluice@/postgres?host={cluster.folder},{standby.folder}"
        worker = Worker(sluice, url)
        paths.wait_until(lambda: applied(standby) > 50, "some batches")
        standby.stop()
        paths.wait_until(lambda: applied(cluster) > 300, "more of them")
        cluster.kill()
        worker.expect("retrying")
        standby.start()
        standby.promote()
        behind = applied(standby)
        assert worker.process.wait(30) == 1
        assert "acknowledged" in worker.text().splitlines()[-1], worker.text()
        assert applied(standby) == behind, "nothing is applied on top of a gap"
        # Started again: the queue still has it, or the worker says how to rebuild; never a gap.
        again = sluice.run("worker", "--until-empty", "--ledger", url)
        if again.returncode != 0:
            assert "ledger rebuild" in again.stderr and applied(standby) == behind
            sluice("ledger", "rebuild", "--from", sluice.store / "archive", "--ledger", url)
        finish(sluice, twins, url)
    finally:
        standby.remove()
        cluster.start()


@pytest.fixture
def network(folder):
    """A namespace with a server in it, and the cable to it."""
    name, cable = f"sluice-{os.getpid()}", f"slu{os.getpid() % 100000}"
    if os.getuid() != 0 or subprocess.run(["ip", "netns", "add", name], check=False,
                                          capture_output=True).returncode != 0:
        pytest.skip("no right to make network namespaces here (needs root and CAP_SYS_ADMIN)")
    try:
        for words in (f"link add {cable}a type veth peer name {cable}b netns {name}",
                      f"addr add 10.203.7.1/24 dev {cable}a", f"link set {cable}a up",
                      f"-n {name} addr add 10.203.7.2/24 dev {cable}b",
                      f"-n {name} link set {cable}b up", f"-n {name} link set lo up"):
            subprocess.run(["ip", *words.split()], check=True)
        server = Cluster(folder, "remote", ["ip", "netns", "exec", name], "10.203.7.2").start()
        yield server, f"{cable}a"
        server.remove()
    finally:
        subprocess.run(["ip", "netns", "del", name], check=False)


def test_cut_off_in_the_middle_of_commit(network, twins):
    server, cable = network
    url = server.url() + ("?tcp_user_timeout=2000&keepalives_idle=1&keepalives_interval=1"
                        "&keepalives_count=1&connect_timeout=2")
    sluice = twins.copy("cut")
    sluice("ledger", "migrate", "--ledger", url)
    worker = Worker(sluice, url)
    paths.wait_until(lambda: applied(server) > 50, "some batches")
    server.set("synchronous_standby_names", "nobody")
    paths.wait_until(server.waiting_commits, "a commit that waits")
    subprocess.run(["ip", "link", "set", cable, "down"], check=True)
    worker.expect("retrying")
    subprocess.run(["ip", "link", "set", cable, "up"], check=True)
    # The old session still waits with its locks; the new one also waits for a standby before it checks.
    worker.expect("no standby confirmed")
    assert server.waiting_commits() >= 1
    server.set("synchronous_standby_names", "")
    worker.expect("were applied")
    paths.wait_until(lambda: applied(server) == INPUTS, "the rest", 60)
    worker.stop()
    finish(sluice, twins, url)


def test_the_database_of_another_store_is_refused_before_anything_is_taken(cluster, twins, folder):
    """Its shops have other numbers: one's orders would be posted to another's."""
    theirs = migrated(twins, cluster, "theirs")
    theirs("worker", "--until-empty", "--ledger", cluster.url())
    before = cluster.query("SELECT node, applied_seq FROM sluice_ledger.heads")
    other = Sluice(folder / "other")
    other("init")
    other.account("acme")
    other.shop("shop-2", "acme")
    other.shop("shop-1", "acme")
    for words in (("worker", "--until-empty"),
                  ("payout", "close", "--account", "acme", "--until", now())):
        refusal = other.refuses(*words, "--ledger", cluster.url())
        assert "the ledger of another store" in refusal and "shop-1 of account acme has number 1" in refusal
        assert len(refusal.splitlines()) == 1
    assert other.stats()["applied_seq"] == 0 and not (other.store / "ledger.url").exists()
    assert cluster.query("SELECT node, applied_seq FROM sluice_ledger.heads") == before


def test_a_password_shows_nowhere(cluster, twins):
    sluice = twins.copy("secret")
    url = cluster.url().replace("sluice@", "sluice:geheim@")
    sluice("ledger", "migrate", "--ledger", url)
    worker = Worker(sluice, url)
    paths.wait_until(lambda: applied(cluster) == INPUTS, "all", 60)
    with open(f"/proc/{worker.process.pid}/cmdline") as line:
        assert "geheim" not in line.read()
    cluster.stop()
    worker.stop()
    cluster.start()
    assert "geheim" not in worker.text()
    assert "geheim" not in (sluice.store / "ledger.url").read_text()
    broken = url.replace("/postgres?", ":bad/postgres?")
    assert "geheim" not in sluice.refuses("report", "orders", "--ledger", broken)
    away = url.replace(str(cluster.folder), "/nonexistent")
    assert "geheim" not in sluice.refuses("report", "orders", "--ledger", away)


def test_what_the_database_refuses_goes_to_the_dead_letters(cluster, twins):
    """One order breaks a rule that an administrator added: it alone is set aside."""
    sluice = migrated(twins, cluster, "poison")
    cluster.query("ALTER TABLE sluice_ledger.orders ADD CHECK (order_id <> 'o-5')")
    sluice("worker", "--until-empty", "--ledger", cluster.url())
    dead = sluice.json("dead", "list")
    assert dead and all("23514" in letter["reason"] for letter in dead)
    documents = [document for _, document in history(7, INPUTS - 3)]
    assert len(dead) == sum(d["platform_order_id"] == "o-5" for d in documents)
    cluster.query("ALTER TABLE sluice_ledger.orders DROP CONSTRAINT orders_order_id_check")
    sluice("dead", "replay", "--all")
    assert json.loads(sluice("dead", "list", "--format", "json")) == []
