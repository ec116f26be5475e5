"""docs/security.md, Walls: what a process with the rights of an nginx worker cannot do.

The store is as a package installs it: it belongs to a user of its own, and nginx's workers are in its group. Root
works on it as a person would.
"""

import json
import os
import pathlib
import pwd
import random
import shutil
import signal
import struct
import subprocess
import sys
import time

import pytest

from docs import format_reader
from harness import cli, intruder, orders, paths
from harness.edge import Edge
from harness.serve import Serve, ask

CONFIG = """
    sluice_store @STORE@ map_size=1g thread_pool=sluice offload_pool=offload;
    sluice_rate_limit off;
    server {
        listen 127.0.0.1:@PORT@;
        location = /event/ecomm { sluice_ingest events; client_max_body_size 2m; }
        location = /product-data { sluice_ingest catalog; client_max_body_size 2m; }
    }
"""

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes other users")

# Commands that root runs on a store, and that change nothing in it.
LOOKS = [
    ["queue", "stats"],
    ["queue", "peek"],
    ["doctor"],
    ["shop", "list"],
    ["account", "list"],
    ["report", "orders"],
]


class Walled:
    """A store, the nginx in front of it, and root's commands."""

    def __init__(self):
        self.folder = paths.make_folder()
        self.store = intruder.new_store(self.folder)
        self.sluice = cli.Sluice(self.store)
        self.edge = None

    def serve(self, new_merchant, workers=1):
        self.edge = Edge(CONFIG, user=intruder.INTRUDER, store=self.store, workers=workers)
        self.edge.start()
        merchant = new_merchant(self.edge, "acme")
        assert merchant.event("ORDER_CREATE", orders.order()).status == 200
        return merchant

    def intrude(self, action):
        return intruder.run_as(intruder.INTRUDER, action)

    def look(self, *command, timeout=30):
        """A command of root. It may fail with a sentence; it neither hangs nor crashes."""
        result = self.sluice.run(*command, timeout=timeout)
        assert result.returncode >= 0, f"{command} ended by signal {-result.returncode}: {result.stderr}"
        assert result.returncode == 0 or result.stderr.strip(), f"{command} failed without a word"
        return result

    def close(self):
        if self.edge is not None:
            self.edge.kill()
            paths.drop_folder(self.edge.folder)
        paths.drop_folder(self.folder)


@pytest.fixture
def walled():
    made = Walled()
    yield made
    made.close()


# -- Attack 1: another file in the place of one of the store -------------------------------------------


def shared_files(store):
    return [path for part in ("queue", "registry") for path in sorted((store / part).rglob("*")) if path.is_file()]


def test_a_link_in_the_store_leads_no_command_of_root_to_another_file(walled, new_merchant):
    walled.serve(new_merchant)
    victim = walled.folder / "victim"
    victim.write_text("precious\n")
    absent = walled.folder / "absent"
    for path in shared_files(walled.store):
        for target in (victim, absent):
            away = path.with_name(path.name + ".away")
            walled.intrude(intruder.tries(
                lambda path=path, away=away: path.rename(away), lambda path=path, target=target: path.symlink_to(target)
            ))
            if path.is_symlink():
                assert os.stat(away).st_uid == pwd.getpwnam(intruder.INTRUDER).pw_uid, f"{path} was replaced"
            for command in LOOKS:
                said = walled.look(*command)
                assert str(victim) not in said.stdout + said.stderr, f"{command} names the target of {path}"
            assert victim.read_text() == "precious\n" and not absent.exists(), f"by way of {path}"
            assert victim.stat().st_uid == 0
            if away.exists():
                path.unlink(missing_ok=True)
                away.rename(path)


def test_neither_queue_nor_registry_can_be_rearranged(walled):
    def rearrange(path):
        def action():
            path.rename(path.with_name("gone"))

        return action

    store = walled.store
    for path in (store / "queue" / "lock.mdb", store / "queue" / "data.mdb", store / "queue" / "control",
                 store / "queue" / "lanes", store / "queue" / "bulk", store / "queue" / "lanes" / "cells",
                 store / "registry" / "lock.mdb", store / "registry" / "data.mdb", store / "queue", store / "format"):
        assert walled.intrude(rearrange(path)) == "PermissionError", path
        assert walled.intrude(path.unlink) in ("PermissionError", "IsADirectoryError"), path
    for folder in (store / "queue", store / "registry", store):
        assert walled.intrude((folder / "new").touch) == "PermissionError", folder
    for folder in (store / "queue" / "lanes", store / "queue" / "bulk"):
        assert walled.intrude((folder / "new").touch) is None, folder
        assert (folder / "new").stat().st_gid == folder.stat().st_gid


LOCK_ALL = """
import fcntl, os, pathlib, sys
held = []
for path in [pathlib.Path(sys.argv[1]), *pathlib.Path(sys.argv[1]).rglob("*")]:
    try:
        held.append(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
        fcntl.flock(held[-1], fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        pass
print(len(held), flush=True)
sys.stdin.read()
"""


def test_nginx_keeps_no_worker_out(walled):
    """It locks every file and folder of the store that it can open."""
    group = pwd.getpwnam(intruder.INTRUDER).pw_gid
    with subprocess.Popen([sys.executable, "-c", LOCK_ALL, walled.store], user=intruder.INTRUDER, group=group,
                          extra_groups=[], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert int(holder.stdout.readline()) > 5
        run = walled.look("worker", "--until-empty")
        assert run.returncode == 0, run.stderr
        holder.stdin.close()


def test_every_command_of_root_works_as_the_owner_of_the_store(walled):
    """Root without the right to pass over permissions cannot even enter the store, so a command that succeeds became
    its owner before it opened a file."""
    walled.sluice.account("acme")
    walled.sluice.prefix = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"]
    assert subprocess.run([*walled.sluice.prefix, "ls", walled.store], capture_output=True, check=False).returncode != 0
    for command in [*LOOKS, ["token", "list"], ["worker", "--until-empty"], ["shop", "create", "s", "--account", "acme"],
                    ["token", "create", "--account", "acme", "--scope", "write_orders"], ["key", "rotate"],
                    ["registry", "export", "-"], ["queue", "export", "-"], ["store", "set", "--max-accounts", "70000"]]:
        if command == ["doctor"]:  # it reports that no worker runs
            rows = json.loads(walled.look(*command, "--format", "json").stdout)
            assert not [row for row in rows if "Permission denied" in row["finding"] and row["check"] != "nginx"]
        else:
            walled.sluice(*command)


def test_a_process_of_root_keeps_no_right_of_root(walled):
    worker = subprocess.Popen(
        [paths.SLUICE, "worker"], env={**os.environ, "SLUICE_STORE": str(walled.store)}, stderr=subprocess.DEVNULL
    )
    try:
        entry = pwd.getpwnam(intruder.OWNER)
        paths.wait_until(lambda: intruder.status_of(worker.pid, "Uid")[0] == str(entry.pw_uid), "the worker's user")
        assert intruder.status_of(worker.pid, "Uid") == [str(entry.pw_uid)] * 4
        assert "0" not in intruder.status_of(worker.pid, "Gid") + intruder.status_of(worker.pid, "Groups")
        for kind in ("CapPrm", "CapEff", "CapInh", "CapAmb"):
            assert int(intruder.status_of(worker.pid, kind)[0], 16) == 0, kind
    finally:
        worker.terminate()
        worker.wait(30)


def test_files_that_root_names_are_used_with_the_rights_of_root(walled):
    """Inputs are read, and outputs written, in a folder that the store's owner cannot enter."""
    private = walled.folder / "private"
    private.mkdir(mode=0o700)
    sluice = walled.sluice
    sluice.account("acme")
    secret = private / "secret"
    sluice("token", "create", "--account", "acme", "--scope", "write_orders", "--secret-file", secret)
    assert secret.stat().st_mode & 0o777 == 0o600 and secret.stat().st_uid == 0
    kept = secret.read_text()
    assert "exists" in sluice.refuses("token", "create", "--account", "acme", "--scope", "write_orders",
                                      "--secret-file", secret)
    assert secret.read_text() == kept
    failed = private / "none"
    sluice.refuses("token", "create", "--account", "nobody", "--scope", "write_orders", "--secret-file", failed)
    given = private / "given"
    given.write_text("a secret of sixteen bytes\n")
    given.chmod(0o600)
    sluice("token", "create", "--account", "acme", "--scope", "write_orders", "--secret-from", given)
    exported = private / "registry.json"
    exported.write_text("old")
    sluice("registry", "export", exported)
    assert "sluice-registry" in exported.read_text() and exported.stat().st_uid == 0
    before = exported.read_bytes()
    sluice("key", "rotate")
    sluice("queue", "export", private / "queue.ndjson")
    assert (private / "queue.ndjson").read_bytes() == b""
    program = private / "program.toml"
    program.write_text('[[program]]\nid = "p"\naccount = "acme"\ndefault_rate = "10%"\n')
    sluice("program", "apply", program)
    assert "No such file" in sluice.refuses("program", "apply", private / "absent.toml")
    assert exported.read_bytes() == before
    sluice("export", private / "tables")
    tables = [private / "tables", *(private / "tables").iterdir()]
    assert {path.stat().st_uid for path in tables} == {0} and private / "tables" / "manifest.json" in tables
    assert "has files" in sluice.refuses("export", private / "tables")
    assert sorted(path.name for path in private.iterdir()) == [
        "given", "program.toml", "queue.ndjson", "registry.json", "secret", "tables"
    ]
    assert not [path for path in walled.store.rglob("*") if path.stat().st_uid == 0], "files of root in the store"


COMPLETE = 18  # files of an export


def files_in(folder):
    """The folder may go while it is listed."""
    try:
        return len(os.listdir(folder))
    except FileNotFoundError:
        return 0


def test_a_killed_export_of_root_leaves_no_file(walled):
    """The process that keeps root's rights removes what it created, whenever the other one is killed."""
    walled.sluice.account("acme")
    for number in range(20):
        folder = walled.folder / f"killed-{number}"
        process = subprocess.Popen([paths.SLUICE, "export", folder], env=walled.sluice.environment,
                                   stdout=subprocess.DEVNULL)
        while process.poll() is None and files_in(folder) <= number % 15:
            pass
        process.kill()
        process.wait()
        paths.wait_until(lambda: files_in(folder) in (0, COMPLETE), "every file to go, or none")


def test_the_actor_is_the_user_that_started_the_command(walled):
    program = walled.folder / "program.toml"
    program.write_text('[[program]]\nid = "p"\naccount = "acme"\ndefault_rate = "10%"\n')
    walled.sluice.account("acme")
    walled.sluice("program", "apply", program)
    with open("/proc/self/loginuid") as file:
        login = int(file.read())
    name = pwd.getpwuid(login).pw_name if login != 2**32 - 1 else "root (no login)"
    rows = [row for row in walled.sluice.report("journal") if row.get("actor")]
    assert all(row["actor"] == name for row in rows)


# -- Attack 2: memory that LMDB trusts -------------------------------------------------------------------

READERS_AT = 56
MUTEX_AT = {"readers": 8, "writer": 64}
KIND, LIST = 16, 24  # in glibc's mutex
ROBUST_SHARED = 0x90


@pytest.mark.parametrize("part", ["queue", "registry"])
@pytest.mark.parametrize(
    "damage",
    [
        pytest.param([(READERS_AT, struct.pack("<I", 0xFFFF_FFFF))], id="readers"),
        pytest.param([(READERS_AT, struct.pack("<I", 5000))], id="some readers more"),
        pytest.param([(at + KIND, struct.pack("<I", 0x20)) for at in MUTEX_AT.values()], id="kind of mutex"),
        pytest.param([(at + LIST, struct.pack("<QQ", 0x4141_4141, 0x4242_4242)) for at in MUTEX_AT.values()],
                     id="pointers of mutex"),
        pytest.param([(0, b"\xff" * 4096)], id="all"),
        pytest.param([(0, b"\0" * 4096)], id="zeros"),
    ],
)
def test_a_damaged_lock_file_crashes_no_command(walled, new_merchant, part, damage):
    walled.serve(new_merchant)
    lock = walled.store / part / "lock.mdb"

    def write():
        with open(lock, "r+b") as file:
            for at, bytes_there in damage:
                file.seek(at)
                file.write(bytes_there)

    refused = walled.intrude(write)
    assert refused in (None, "PermissionError")
    for command in [*LOOKS, ["account", "create", "other"], ["worker", "--until-empty", "--retry-timeout", "2"]]:
        said = walled.look(*command, timeout=60)
        assert said.returncode == 0 or command == ["doctor"] or "lock.mdb" in said.stderr, said.stderr


def test_nginx_writes_to_no_file_of_the_registry(walled, new_merchant):
    merchant = walled.serve(new_merchant)

    def opens_for_writing(path):
        return lambda: open(path, "r+b").close()

    for path in (walled.store / "registry").iterdir():
        assert walled.intrude(opens_for_writing(path)) == "PermissionError", path
    (worker,) = walled.edge.workers()
    with open(f"/proc/{worker}/maps") as maps:
        mapped = [line.split() for line in maps if str(walled.store / "registry") in line]
    assert mapped and all(fields[1] == "r--s" for fields in mapped), mapped
    walled.sluice("token", "revoke", merchant.token_id)
    assert merchant.event("ORDER_CREATE", orders.order()).status == 401


def test_nginx_writes_to_no_file_of_the_links(walled, new_merchant):
    """LK3. The worker alone publishes links: a broken process of nginx cannot change where a link leads."""
    walled.serve(new_merchant)
    program, creators = walled.folder / "program.toml", walled.folder / "creators.csv"
    program.write_text('[[program]]\nid = "spring"\naccount = "acme"\nstarts_at = 2024-01-01T00:00:00Z\n'
                       'default_rate = "10%"\n')
    creators.write_text("creator_id,program_id,code\nmaria,spring,\n")
    walled.sluice("program", "apply", program)
    walled.sluice("creator", "import", creators)
    walled.sluice("link", "create", "mug", "--account", "acme", "--program", "spring", "--creator", "maria",
                  "--to", "https://shop.example/")

    def opens_for_writing(path):
        return lambda: open(path, "r+b").close()

    folder = walled.store / "links"
    assert {path.name for path in folder.iterdir()} >= {"published", "generation"}
    for path in folder.iterdir():
        assert walled.intrude(opens_for_writing(path)) == "PermissionError", path
        assert walled.intrude(lambda path=path: path.unlink()) == "PermissionError", path
        assert walled.intrude(lambda path=path: path.rename(path.with_name("other"))) == "PermissionError", path
    assert walled.intrude(lambda: (folder / "forged").touch()) == "PermissionError"


def replace_copy(store, bytes_there):
    """Another file takes the place of the copy, as after a disk error or a person's mistake, and nginx looks at it."""
    copy, page = store / "registry" / "published", store / "registry" / "generation"
    other = copy.with_name("other")
    other.write_bytes(bytes_there)
    shutil.copystat(copy, other)
    os.chown(other, copy.stat().st_uid, copy.stat().st_gid)
    other.rename(copy)
    with open(page, "r+b") as file:
        (generation,) = struct.unpack("<Q", file.read(8))
        file.seek(0)
        file.write(struct.pack("<Q", generation + 1))


@pytest.mark.parametrize("damage", ["older", "cut", "damaged", "empty"])
def test_a_wrong_copy_of_the_registry_is_refused(walled, new_merchant, damage):
    merchant = walled.serve(new_merchant, workers=3)
    other = new_merchant(walled.edge, "other")
    copy = walled.store / "registry" / "published"
    older = copy.read_bytes()
    walled.sluice("token", "revoke", merchant.token_id)
    sound = copy.read_bytes()
    middle = sound.index(b"acme-shop")
    wrong = {
        "older": older,
        "cut": sound[: len(sound) // 2],
        "damaged": sound[:middle] + bytes([sound[middle] ^ 1]) + sound[middle + 1 :],
        "empty": b"",
    }[damage]
    replace_copy(walled.store, wrong)
    before = walled.edge.workers()
    for _ in range(12):
        assert merchant.event("ORDER_CREATE", orders.order()).status == 503
        assert other.event("ORDER_CREATE", orders.order()).status == 503
    assert walled.edge.workers() == before, "a worker ended"
    assert "registry publish" in walled.edge.log()
    walled.sluice("registry", "publish")
    for _ in range(12):
        assert merchant.event("ORDER_CREATE", orders.order()).status == 401
        assert other.event("ORDER_CREATE", orders.order()).status == 200


# -- Attack 3: records that the intruder appends -----------------------------------------------------------

PROGRAM = "[[program]]\nid = 'spring'\naccount = 'acme'\ndefault_rate = '10%'\n"


def changed(record, old, new):
    """The record with another body of the same length, the checksum of that, and no receipt of a lane."""
    assert record.count(old) == 1 and len(old) == len(new)
    end = 20 + sum(struct.unpack_from("<II", record, 8))
    record = record[:end].replace(old, new)
    return record[:16] + struct.pack("<I", format_reader.crc32c(record[:16] + record[20:])) + record[20:]


def test_a_command_that_the_intruder_appends_is_not_applied(walled, new_merchant):
    """Controls K5: no command without the seal of its queue, and no sealed command twice. An order needs no seal."""
    walled.serve(new_merchant)
    walled.edge.stop()
    policy = walled.folder / "program.toml"
    policy.write_text(PROGRAM)
    walled.sluice("program", "apply", policy)
    queue = walled.store / "queue"
    records = [record for _, record in format_reader.rows(queue, "records")]
    (command,) = [record for record in records if format_reader.read_record(record)["topic"] == 32]
    (order,) = [record for record in records if format_reader.read_record(record)["topic"] == 1]
    richer = changed(command, b'"10%"', b'"90%"')
    name = json.loads(format_reader.read_record(order)["body"])["platform_order_id"].encode()
    other = name[:-1] + (b"x" if name[-1:] != b"x" else b"y")
    other_order = changed(order, name, other)
    intruder.append_records(queue, [command, richer, other_order])
    walled.sluice("worker", "--until-empty")
    reasons = [letter["reason"] for letter in walled.sluice.json("dead", "list")]
    assert len(reasons) == 2 and all("COMMAND_NOT_SEALED" in reason for reason in reasons), reasons
    (program,) = walled.sluice.json("program", "list")
    assert program["default_rate"] == "10%" and program["version"] == 1
    assert {row["order_id"] for row in walled.sluice.json("report", "orders")} == {name.decode(), other.decode()}
    with Serve(walled.store, walled.folder) as served:  # it reads the ledger, and no word of nginx
        paths.wait_until(lambda: b"\nsluice_unsealed_commands 2\n" in ask(served.read, "/metrics").body, "the figure")


# -- Attack 4: a file that blocks who opens it -----------------------------------------------------------


def test_a_fifo_in_the_place_of_a_body_blocks_no_program(walled, new_merchant):
    merchant = walled.serve(new_merchant)
    large = orders.order(note="x" * 400_000)
    assert merchant.event("ORDER_CREATE", large).status == 200
    (body,) = (walled.store / "queue" / "bulk").glob("*.bulk")
    swap = intruder.tries(lambda: body.unlink(), lambda: os.mkfifo(body))
    assert walled.intrude(swap) is None and body.is_fifo()
    stray = walled.store / "queue" / "bulk" / ("0" * 32 + ".bulk")
    walled.intrude(lambda: (os.mkfifo(stray), os.utime(stray, (1, 1))))
    started = time.monotonic()
    walled.look("queue", "peek", timeout=20)
    assert str(body) in walled.look("doctor", timeout=20).stdout
    assert time.monotonic() - started < 20
    worker = subprocess.Popen(
        [paths.SLUICE, "worker"], env={**os.environ, "SLUICE_STORE": str(walled.store)}, stderr=subprocess.PIPE, text=True
    )
    try:
        paths.wait_until(lambda: walled.sluice.stats()["depth"] == 0, "the worker to pass the FIFO")
        worker.send_signal(signal.SIGTERM)
        said = worker.communicate(timeout=20)[1]
        assert worker.returncode == 0, said
    finally:
        worker.kill()
        worker.wait()
    (dead,) = walled.sluice.json("dead", "list")
    assert "FIFO" in dead["reason"] and str(body) in dead["reason"]


# -- Attack 5: files that shrink or change while they are mapped -----------------------------------------


def damage_file(chance, path):
    """One of the ways to damage a file; most of them leave something that looks right at first."""
    length = path.stat().st_size
    way = chance.randrange(4)
    if way == 0:
        os.truncate(path, chance.choice([0, 1, 4096, length // 2 // 4096 * 4096]))
        return
    with open(path, "r+b") as file:
        for _ in range(chance.choice([1, 8, 64])):
            file.seek(chance.randrange(max(1, min(length, 65536))))
            file.write(chance.randbytes(chance.choice([1, 8, 512])))
        if way == 1:
            file.truncate(length * 2)


def damage_round(walled, seed):
    chance = random.Random(seed)
    worker = subprocess.Popen(
        [paths.SLUICE, "worker"], env={**os.environ, "SLUICE_STORE": str(walled.store)}, stderr=subprocess.PIPE, text=True
    )
    try:
        time.sleep(chance.random() * 0.2)
        files = [path for path in shared_files(walled.store) if path.is_relative_to(walled.store / "queue")]
        victims = chance.sample(files, chance.randint(1, 3))
        walled.intrude(intruder.tries(*[lambda path=path: damage_file(chance, path) for path in victims]))
        for command in chance.sample(LOOKS, 2):
            walled.look(*command, timeout=60)
        worker.send_signal(signal.SIGTERM)
        try:
            said = worker.communicate(timeout=10)[1]
        except subprocess.TimeoutExpired:  # damage may look like a lock that is held: systemd's watchdog ends the wait
            waits_for = pathlib.Path(f"/proc/{worker.pid}/wchan").read_text()
            assert "futex" in waits_for, f"the worker hangs in {waits_for}"
            return
        if worker.returncode == -signal.SIGTERM:  # it came before the worker could catch it
            return
        assert worker.returncode >= 0, f"the worker ended by signal {-worker.returncode}: {said}"
        assert worker.returncode == 0 or said.strip(), "the worker failed without a word"
    finally:
        worker.kill()
        worker.wait()


def rounds_of_damage(walled, new_merchant, count):
    merchant = walled.serve(new_merchant)
    for size in (10, 400_000):
        assert merchant.event("ORDER_CREATE", orders.order(note="x" * size)).status == 200
    walled.edge.stop()
    walled.edge = None
    sound = walled.folder / "sound"
    subprocess.run(["cp", "-a", walled.store, sound], check=True)
    seed = int(os.environ.get("SLUICE_SEED", "27"))
    for number in range(count):
        shutil.rmtree(walled.store)
        subprocess.run(["cp", "-a", sound, walled.store], check=True)
        try:
            damage_round(walled, seed + number)
        except (AssertionError, subprocess.TimeoutExpired) as failure:
            raise AssertionError(f"SLUICE_SEED={seed + number}: {failure}") from failure


def test_damage_to_shared_files_ends_programs_with_a_sentence(walled, new_merchant):
    rounds_of_damage(walled, new_merchant, 15)


@pytest.mark.long
def test_damage_to_shared_files_for_long(walled, new_merchant):
    rounds_of_damage(walled, new_merchant, 300)
