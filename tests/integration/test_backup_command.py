"""`sluice backup` and `sluice restore`: complete, consistent while everything runs, never over something."""

import grp
import os
import pathlib
import shutil
import subprocess
import threading

import pytest

from harness import cli, orders, paths, sign
from harness.http_block import EVENTS, LARGE_CATALOG, STATUS, http_block

CONFIG = http_block(EVENTS, LARGE_CATALOG, STATUS, limit="off")


def restored(folder, *line):
    """Restores `folder` to a store of its own."""
    store = pathlib.Path(f"{folder}.store")
    made = cli.Sluice(store)
    made("restore", str(folder), *line)
    return made


def order_ids(sluice):
    return [order["order_id"] for order in sluice.report("orders")]


def sums(sluice):
    """Reports that are the same for every copy."""
    return sluice.report("journal"), sluice.report("orders")


class Sender(threading.Thread):
    """Sends orders, some of them in bulk files, until it is stopped. Remembers what got 200."""

    def __init__(self, merchant, name):
        super().__init__()
        self.merchant, self.prefix = merchant, name
        self.acknowledged = []
        self.stopped = threading.Event()

    def run(self):
        number = 0
        with self.merchant.edge.connect() as connection:
            while not self.stopped.is_set():
                number += 1
                order = orders.order(f"{self.prefix}-{number}", **({"note": "n" * 400_000} if number % 20 == 0 else {}))
                if self.merchant.event("ORDER_CREATE", order, connection=connection).status == 200:
                    self.acknowledged.append(f"{self.prefix}-{number}")

    def end(self):
        self.stopped.set()
        self.join()


@pytest.fixture
def worker():
    """A function that starts a worker on a store; ended by its pid."""
    running = []

    def start(store):
        running.append(subprocess.Popen([paths.SLUICE, "--store", store, "worker"], stderr=subprocess.DEVNULL))
        return running[-1]

    yield start
    for process in running:
        process.terminate()
        process.wait()


def test_a_backup_under_load_has_everything_that_was_acknowledged_before(start_edge, new_merchant, worker, tmp_path):
    edge = start_edge(CONFIG, workers=3)
    merchant = new_merchant(edge, "acme")
    worker(edge.store)
    senders = [Sender(merchant, f"s{number}") for number in range(4)]
    for sender in senders:
        sender.start()
    backups = []
    try:
        for number in range(4):
            paths.wait_until(lambda: all(len(sender.acknowledged) > 25 * (number + 1) for sender in senders), "orders")
            before = [order for sender in senders for order in sender.acknowledged]
            folder = tmp_path / f"b{number}"
            edge.sluice("backup", str(folder))
            backups.append((folder, before))
    finally:
        for sender in senders:
            sender.end()
    sent = {order for sender in senders for order in sender.acknowledged}
    for folder, before in backups:
        copy = restored(folder)
        copy.drain()
        found = order_ids(copy)
        assert len(found) == len(set(found)), "nothing double"
        assert set(before) <= set(found), "L6: everything that was acknowledged before the backup began"
        assert len(set(found) - sent) <= len(senders), "an order may be stored whose answer a sender did not await"
        assert copy.run("doctor").stdout.count("the chain of hashes holds") == 1
        # The archive of the copy is whole: the ledger can be made from it, and is the same.
        copy("ledger", "rebuild", "--from", str(copy.store / "archive"), "--into", str(folder) + ".ledger")


def test_a_restored_store_goes_on_where_the_backup_was(start_edge, new_merchant, worker, tmp_path):
    edge = start_edge(CONFIG)
    merchant = new_merchant(edge, "acme")
    for number in range(30):
        merchant.event("ORDER_CREATE", orders.order(f"applied-{number}"))
    edge.sluice.drain()
    for number in range(7):
        merchant.event("ORDER_CREATE", orders.order(f"waiting-{number}", note="n" * (400_000 if number == 3 else 1)))
    batch = {"products": [{"platform_product_id": "p", "title": "T"}]}
    assert merchant.catalog("PRODUCT_UPSERT", batch, "a key").status == 200
    edge.sluice("backup", str(tmp_path / "b"))
    merchant.event("ORDER_CREATE", orders.order("later"))
    edge.stop()
    shutil.move(edge.store, f"{edge.store}.broken")
    cli.Sluice(edge.store)("restore", str(tmp_path / "b"))
    edge.start()
    assert merchant.event("ORDER_CREATE", orders.order("afterwards")).status == 200
    other = {"products": [{"platform_product_id": "p", "title": "other"}]}
    assert merchant.catalog("PRODUCT_UPSERT", other, "a key").status == 400, "the key of before is known"
    edge.sluice.drain()
    assert set(order_ids(edge.sluice)) == {
        *(f"applied-{n}" for n in range(30)), *(f"waiting-{n}" for n in range(7)), "afterwards"}
    # The inputs of before and after are one sequence in the archive.
    edge.sluice("ledger", "rebuild", "--from", str(edge.store / "archive"), "--into", str(tmp_path / "again"))
    assert "missing" not in edge.sluice.run("doctor").stdout
    shutil.rmtree(f"{edge.store}.broken")


def test_a_damaged_end_of_the_archive_is_a_fault_and_a_block_being_written_is_none(start_edge, new_merchant, tmp_path):
    edge = start_edge(CONFIG)
    merchant = new_merchant(edge, "acme")
    for part in range(2):
        for number in range(5):
            merchant.event("ORDER_CREATE", orders.order(f"{part}-{number}"))
        edge.sluice.drain()
    (segment,) = (edge.store / "archive").glob("*.sla")
    whole = segment.read_bytes()
    segment.write_bytes(whole + b"a block that is being written")
    edge.sluice("backup", str(tmp_path / "torn"))
    assert (tmp_path / "torn" / "archive" / segment.name).read_bytes() == whole
    damaged = bytearray(whole)
    damaged[-1] ^= 1
    segment.write_bytes(damaged)
    last = edge.sluice.run("backup", str(tmp_path / "damaged"))
    assert last.returncode == 1 and f"{segment.name} is damaged behind input" in last.stderr, last
    assert "with the faults of the store that it copies" in last.stderr
    assert (tmp_path / "damaged" / "archive" / segment.name).read_bytes() == damaged, "as it is"
    segment.write_bytes(whole)


@pytest.mark.parametrize("harm", ["changed", "zeros", "cut"])
def test_a_damaged_order_of_batches_is_a_fault_that_the_worker_mends(start_edge, new_merchant, tmp_path, harm):
    edge = start_edge(CONFIG)
    merchant = new_merchant(edge, "acme")
    merchant.event("ORDER_CREATE", orders.order())
    edge.sluice.drain()
    (order,) = (edge.store / "archive").glob("order.*")
    whole = order.read_bytes()
    damaged = {"changed": bytes([whole[0] ^ 1]) + whole[1:], "zeros": bytes(len(whole)), "cut": whole[:-1]}[harm]
    order.write_bytes(damaged)
    said = edge.sluice.run("backup", str(tmp_path / "damaged"))
    assert said.returncode == 1 and f"archive: {order.name} is damaged at row 1" in said.stderr, said
    assert "docs/operations.md, A damaged archive" in said.stderr and "doctor" not in said.stderr
    assert (tmp_path / "damaged" / "archive" / order.name).read_bytes() == damaged, "as it is"
    restored = cli.Sluice(tmp_path / "restored")
    assert "is damaged at row 1" in restored.run("restore", str(tmp_path / "damaged")).stderr
    for sluice in (edge.sluice, restored):
        sluice.drain()
        sluice("backup", f"{sluice.store}.sound")


def test_nothing_is_written_over(start_edge, new_merchant, tmp_path):
    edge = start_edge(CONFIG)
    new_merchant(edge, "acme")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "precious").write_text("x")
    said = edge.sluice.run("backup", str(tmp_path / "full"))
    assert said.returncode == 1 and "is not an empty folder" in said.stderr
    assert os.listdir(tmp_path / "full") == ["precious"]
    (tmp_path / "file").write_text("x")
    assert edge.sluice.run("backup", str(tmp_path / "file")).returncode == 1
    assert (tmp_path / "file").read_text() == "x"
    edge.sluice("backup", str(tmp_path / "b"))
    said = edge.sluice.run("restore", str(tmp_path / "b"))  # over the store itself
    assert said.returncode == 1 and "is not an empty folder" in said.stderr
    assert "move the store away" in said.stderr and "remove it" not in said.stderr
    edge.sluice("account", "create", "still-there")
    made = cli.Sluice(tmp_path / "full")
    assert made.run("restore", str(tmp_path / "b")).returncode == 1
    assert os.listdir(tmp_path / "full") == ["precious"]


@pytest.mark.parametrize("damage", ["cut", "changed", "missing", "no list", "unfinished"])
def test_a_damaged_backup_is_refused_and_leaves_nothing(start_edge, new_merchant, tmp_path, damage):
    edge = start_edge(CONFIG)
    merchant = new_merchant(edge, "acme")
    merchant.event("ORDER_CREATE", orders.order("o", note="n" * 400_000))
    folder = tmp_path / "b"
    edge.sluice("backup", str(folder))
    (bulk,) = (folder / "queue" / "bulk").iterdir()
    listed = (folder / "backup").read_text()
    if damage == "cut":
        os.truncate(folder / "queue" / "data.mdb", 4096)
    elif damage == "changed":
        with bulk.open("r+b") as file:
            file.seek(1000)
            file.write(b"?")
    elif damage == "missing":
        bulk.unlink()
    elif damage == "no list":
        (folder / "backup").unlink()
    else:
        (folder / "backup").write_text(listed.removesuffix("end\n"))
    made = cli.Sluice(tmp_path / "store")
    said = made.run("restore", str(folder))
    assert said.returncode == 1 and str(folder) in said.stderr, said
    assert not (tmp_path / "store").exists()


def test_a_list_that_leads_outside_is_refused(start_edge, new_merchant, tmp_path):
    edge = start_edge(CONFIG)
    new_merchant(edge, "acme")
    folder = tmp_path / "b"
    edge.sluice("backup", str(folder))
    text = (folder / "backup").read_text()
    (folder / "backup").write_text(text.replace("end\n", "file 0 0 ../outside\nend\n"))
    assert cli.Sluice(tmp_path / "store").run("restore", str(folder)).returncode == 1
    assert sorted(os.listdir(tmp_path)) == ["b"]


def test_a_restored_store_has_the_owners_and_modes_of_init(start_edge, new_merchant, tmp_path):
    edge = start_edge(CONFIG, user="www-data")
    merchant = new_merchant(edge, "acme")
    merchant.event("ORDER_CREATE", orders.order("o", note="n" * 400_000))
    edge.sluice("backup", str(tmp_path / "b"))
    assert {oct(path.stat().st_mode & 0o777) for path in (tmp_path / "b").rglob("*") if path.is_file()} == {"0o600"}
    assert (tmp_path / "b").stat().st_mode & 0o777 == 0o700
    copy = restored(tmp_path / "b")

    def modes(store):
        return {
            str(path.relative_to(store)): (path.stat().st_uid, path.stat().st_gid, oct(path.stat().st_mode & 0o7777))
            for path in store.rglob("*") if "bulk/" not in str(path) and not path.name.endswith(".lane")
        }

    assert modes(copy.store) == modes(edge.store)
    (bulk,) = (copy.store / "queue" / "bulk").iterdir()
    assert oct(bulk.stat().st_mode & 0o777) == "0o660"
    assert grp.getgrgid(bulk.stat().st_gid).gr_name == "www-data"


def test_the_copy_equals_the_ledger(start_edge, new_merchant, tmp_path):
    edge = start_edge(CONFIG)
    merchant = new_merchant(edge, "acme")
    for number in range(40):
        merchant.event("ORDER_CREATE", orders.order(f"o{number}"))
    merchant.catalog("PRODUCT_UPSERT", {"products": [{"platform_product_id": "p", "title": "T"}]}, "k")
    edge.sluice.drain()
    edge.sluice("backup", str(tmp_path / "b"))
    copy = restored(tmp_path / "b")
    assert sums(copy) == sums(edge.sluice)
    assert copy.report("products") == edge.sluice.report("products")
    for sluice in (copy, edge.sluice):
        sluice.stats = {**sluice.json("queue", "stats"), "bytes": None}
    assert copy.stats == edge.sluice.stats

    # A fleet's archives are merged by the order of batches, which stands next to the segments.
    (order,) = (edge.store / "archive").glob("order.*")
    assert (copy.store / "archive" / order.name).read_bytes() == order.read_bytes() != b""
    assert copy("doctor", "--replay").endswith(" rows are equal\n")


def test_a_body_that_the_worker_removes_meanwhile_is_in_the_backup(start_edge, new_merchant, worker, tmp_path):
    """Bodies are opened with the snapshot; the worker unlinks them while the copy is written."""
    edge = start_edge(CONFIG)
    merchant = new_merchant(edge, "acme")
    for number in range(60):
        assert merchant.event("ORDER_CREATE", orders.order(f"o{number}", note="n" * 300_000)).status == 200
    worker(edge.store)
    edge.sluice("backup", str(tmp_path / "b"))
    copy = restored(tmp_path / "b")
    copy.drain()
    assert set(order_ids(copy)) == {f"o{number}" for number in range(60)}
    assert copy.run("dead", "list", "--format", "json").stdout.strip() == "[]"


def test_tokens_of_before_sign_at_the_restored_store(start_edge, new_merchant, tmp_path):
    edge = start_edge(CONFIG)
    merchant = new_merchant(edge, "acme")
    edge.sluice("key", "rotate")
    edge.sluice("backup", str(tmp_path / "b"))
    edge.stop()
    shutil.move(edge.store, f"{edge.store}.broken")
    cli.Sluice(edge.store)("restore", str(tmp_path / "b"))
    keys = [path / "command.key" for path in (edge.store, pathlib.Path(f"{edge.store}.broken"))]
    restored_keys, old_keys = (path.read_text().splitlines() for path in keys)
    assert restored_keys[1].split()[0] == old_keys[0], "the key of the backup is retired"
    edge.start()
    assert merchant.event("ORDER_CREATE", orders.order("o")).status == 200
    assert edge.request("POST", sign.EVENTS, [], b"").status == 401
    shutil.rmtree(f"{edge.store}.broken")


def test_a_store_that_root_restores_belongs_to_the_user_sluice(start_edge, new_merchant, tmp_path):
    """As on a machine with the package: /etc/passwd of a namespace of its own has that user."""
    edge = start_edge(CONFIG)
    merchant = new_merchant(edge, "acme")
    merchant.event("ORDER_CREATE", orders.order("o", note="n" * 400_000))
    edge.sluice.drain()
    backup, store = edge.folder / "b", edge.folder / "restored"
    edge.sluice("backup", str(backup))
    owner = 64_999
    for path in (backup, *backup.rglob("*")):
        os.chown(path, owner, owner)
    os.chmod(edge.folder, 0o755)
    words = []
    for name, line in (("passwd", "sluice:x:{0}:{0}::/:/bin/false\n"), ("group", "sluice:x:{0}:\n")):
        (tmp_path / name).write_text(pathlib.Path("/etc", name).read_text() + line.format(owner))
        words.append(f"mount --bind {tmp_path / name} /etc/{name}")
    words.append(f"exec {paths.SLUICE} --store {store} restore {backup}")
    subprocess.run(["unshare", "-m", "--propagation", "private", "bash", "-ec", "\n".join(words)], check=True)
    assert {path.stat().st_uid for path in (store, *store.rglob("*"))} == {owner}
    assert oct((store / "master.key").stat().st_mode & 0o7777) == "0o400"
