"""The remedies of `doctor`: each is performed as it is printed, and the finding is gone.

tests/remedies.txt lists the others, and where they are performed."""
import os
import pwd
import re
import shutil
import signal
import stat
import subprocess

import pytest
from harness import paths, queue_edit, remedies
from harness.lock_holder import READER, WRITER, LockHolder
from program import PROGRAM, sluice
from test_replay import Books

CREDIT = ("credit", "--account", "acme", "--creator", "ann", "--program", "spring", "--amount", "1.00 USD", "--reason", "late")
root_only = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files to another user")


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A store with orders in its ledger, and its backup. Tests work on copies."""
    folder = tmp_path_factory.mktemp("model")
    books = Books(folder)
    books.run("backup", folder / "backup")
    return folder


@pytest.fixture
def store(model, tmp_path):
    """A copy, of which no worker runs: that finding belongs to a test of its own."""
    copy = tmp_path / "store"
    subprocess.run(["cp", "-a", model / "store", copy], check=True)
    return copy


@pytest.fixture
def books(tmp_path):
    return Books(tmp_path)


def left(store):
    """Returns the findings, except that no worker runs."""
    return [row for row in remedies.findings(store) if row["check"] != "worker"]


# -- Keys ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key, check", [("master.key", "key"), ("command.key", "command key")])
@pytest.mark.parametrize("harm", ["mode", "owner", "link", "lost"])
def test_a_key_is_given_back_or_copied(model, store, key, check, harm):
    path = store / key
    if harm == "owner" and os.geteuid() != 0:
        pytest.skip("only root gives files to another user")
    {"mode": lambda: path.chmod(0o444), "owner": lambda: os.chown(path, pwd.getpwnam("games").pw_uid, -1),
     "link": lambda: (path.rename(store.parent / key), path.symlink_to(store.parent / key)), "lost": path.unlink}[harm]()
    which = slice(0, 1)  # the second way of a lost command key has a test of its own
    for _ in range(2 if harm == "link" else 1):
        ((finding),) = remedies.findings(store, check)
        assert finding["result"] == "problem" and "run doctor as" not in finding["remedy"]
        remedies.perform(finding["remedy"], store, which, BACKUP=model / "backup")
    assert left(store) == [] and stat.S_IMODE(path.lstat().st_mode) & 0o377 == 0


def test_a_command_key_is_made_anew(store):
    (store / "command.key").unlink()
    ((finding),) = remedies.findings(store, "command key")
    remedies.perform(finding["remedy"], store, slice(1, 2))
    assert left(store) == []


def test_a_key_of_another_store_is_replaced(model, store, tmp_path):
    other = tmp_path / "other"
    assert sluice("init", store=other).status == 0
    os.replace(other / "master.key", store / "master.key")
    ((finding),) = remedies.findings(store, "key")
    remedies.perform(finding["remedy"], store, BACKUP=model / "backup")
    assert left(store) == []


def test_an_interrupted_rotation_is_finished(store):
    """The file holds the key in force and the next one, a line each."""
    key = store / "master.key"
    text = key.read_text()
    key.chmod(0o600)
    key.write_text(text + "5a" * 32 + "\n")
    key.chmod(0o400)
    remedies.until_gone(store, "key")
    assert left(store) == [] and text not in key.read_text()


# -- Files and folders -----------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["queue/control", "queue/lanes/cells"])
@pytest.mark.parametrize("harm", ["lost", "cut", "other"])
def test_a_file_of_hints_is_made_anew(store, path, harm):
    file = store / path
    if (path, harm) == ("queue/lanes/cells", "other"):
        pytest.skip("cells have check bits of their own")
    mode = stat.S_IMODE(file.stat().st_mode)
    {"lost": file.unlink, "cut": lambda: os.truncate(file, 10), "other": lambda: file.write_bytes(b"x" * 4096)}[harm]()
    remedies.until_gone(store, "queue")
    assert left(store) == [] and stat.S_IMODE(file.stat().st_mode) == mode


@pytest.mark.parametrize("folder", ["archive", "queue/bulk", "queue/lanes"])
def test_a_folder_that_is_missing_is_made(store, folder):
    shutil.rmtree(store / folder)
    remedies.until_gone(store, "permissions")
    if folder == "queue/lanes":
        remedies.until_gone(store, "queue")
    assert left(store) == []


@pytest.mark.parametrize("folder", ["archive", "ledger", "queue/bulk", "queue/lanes"])
def test_what_is_no_file_is_moved_to_where_doctor_finds_it_no_more(store, folder):
    (store / folder / "odd").symlink_to("/etc/passwd")
    remedies.until_gone(store, "permissions")
    assert left(store) == [] and (store / "odd.refused").is_symlink()


@root_only
@pytest.mark.parametrize("path, mode", [
    ("", 0o755), ("format", 0o600), ("registry", 0o700), ("queue/lock.mdb", 0o600), ("queue/lanes", 0o755), ("ledger", 0o755)])
def test_modes_and_groups_are_given_back(tmp_path, path, mode):
    """Too few rights are as wrong as too many: nginx's workers are in the group."""
    store = tmp_path / "store"
    assert sluice("init", "--group", "www-data", store=store).status == 0
    assert sluice("account", "create", "acme", store=store).status == 0
    before = (store / path).stat()
    os.chown(store / path, -1, before.st_gid if path == "" else 0)
    (store / path).chmod(mode)
    remedies.until_gone(store, "permissions")
    after = (store / path).stat()
    assert after.st_mode == before.st_mode
    assert after.st_gid == before.st_gid or path == "ledger", "of the ledger the group has no rights"


def restore_as_told(remedy, model, store):
    """`move the store away and keep it, and make it again with sluice restore of its newest backup`"""
    assert "stop nginx and the worker, move the store away and keep it" in remedy and "`sluice restore`" in remedy
    remedies.shell("mv STORE STORE.kept && sluice restore BACKUP", store, STORE=store, BACKUP=model / "backup")


@pytest.mark.parametrize("harm", [
    lambda store: (store / "format").unlink(),
    lambda store: (store / "format").write_text("x\n"),
    lambda store: set_in_format(store, "uuid", "x" * 36),
    lambda store: (store / "queue" / "data.mdb").unlink(),
    lambda store: os.truncate(store / "queue" / "data.mdb", 8192),
    lambda store: shutil.rmtree(store / "registry"),
    lambda store: overwrite(store / "registry" / "data.mdb"),
    lambda store: overwrite(store / "queue" / "data.mdb"),
], ids=["no format", "format", "no id", "no queue", "queue cut", "no registry", "registry", "queue"])
def test_a_damaged_store_is_restored(model, store, harm):
    harm(store)
    found = left(store)
    assert found, "doctor ends with a finding, whatever signal the damage raises"
    restore_as_told(found[0]["remedy"], model, store)
    assert left(store) == []


def test_a_store_that_a_newer_release_changed_is_restored_from_before_the_upgrade(model, store):
    set_in_format(store, "min_writer", 99)
    ((finding),) = left(store)
    assert finding["remedy"].endswith("or restore the backup from before the upgrade")
    remedies.shell("mv STORE STORE.kept && sluice restore BACKUP", store, STORE=store, BACKUP=model / "backup")
    assert left(store) == []


def set_in_format(store, name, value):
    text = (store / "format").read_text()
    (store / "format").chmod(0o640)
    (store / "format").write_text(re.sub(rf"(?m)^{name} .*", f"{name} {value}", text))


def overwrite(path):
    """Bytes of another program over all pages but the first two, which begin an environment."""
    size = path.stat().st_size
    with open(path, "r+b") as file:
        file.seek(8192)
        file.write(b"\xa5" * (size - 8192))


@pytest.mark.parametrize("harm", [
    overwrite, lambda path: path.unlink(), lambda path: os.truncate(path, 8192),
    lambda path: path.write_bytes(b"")], ids=["damaged", "lost", "cut", "empty"])
def test_a_damaged_ledger_is_rebuilt_from_the_archive(store, harm):
    """A restore would lose what came after the backup."""
    before = sluice("report", "balances", "--account", "acme", "--format", "json", store=store)
    harm(store / "ledger" / "data.mdb")
    said = remedies.until_gone(store, "ledger")
    assert "ledger rebuild --from" in said[0][1]
    if remedies.findings(store, "permissions"):  # the shell made the file
        remedies.until_gone(store, "permissions")
    assert left(store) == []
    assert sluice("report", "balances", "--account", "acme", "--format", "json", store=store) == before


def test_a_segment_is_put_back_from_a_backup(store, tmp_path):
    """The worker applied on and archived nothing, and only its log said so."""
    sluice("backup", tmp_path / "backup", store=store)
    segment = max((store / "archive").glob("*.sla"))
    segment.write_bytes(b"")
    ((finding),) = remedies.findings(store, "archive")
    assert segment.name in finding["finding"] and "archives nothing" in finding["finding"]
    remedies.perform(finding["remedy"], store, BACKUP=tmp_path / "backup", SEGMENT=segment.name)
    assert left(store) == []


def test_a_store_is_made_where_none_is(tmp_path):
    store = tmp_path / "store"
    ((finding),) = remedies.findings(store, "store")
    remedies.perform(finding["remedy"], store, GROUP="www-data" if os.geteuid() == 0 else "$(id -gn)")
    assert left(store) == []


# -- What waits, and who works ------------------------------------------------------------------------


def test_dead_letters_are_discarded(books):
    with queue_edit.edited(books.store) as queue:
        queue.put(5, b"damaged")
        queue.set_next_seq(6)
    books.run("worker", "--until-empty")
    ((finding),) = remedies.findings(books.store, "dead")
    assert finding["finding"] == "1 input could not be applied"
    assert len(remedies.commands(finding["remedy"])) == 3
    remedies.perform(finding["remedy"], books.store, slice(0, 1))
    remedies.perform(finding["remedy"], books.store, slice(2, 3), SEQ=5, TEXT="damaged")
    assert remedies.findings(books.store, "dead") == []


def test_commands_without_a_seal_are_discarded(books):
    """A copy of a command, whose seal is for another number: the letter is gone, and with it both findings."""
    books.run("credit", "--account", "acme", "--creator", "ann", "--program", "spring", "--amount", "1.00 USD", "--reason", "x")
    with queue_edit.edited(books.store) as queue:
        queue.put(6, queue.get(5))
        queue.set_next_seq(7)
    books.run("worker", "--until-empty")
    ((finding),) = remedies.findings(books.store, "seal")
    remedies.perform(finding["remedy"], books.store, SEQ=6, TEXT="forged")
    assert remedies.findings(books.store, "seal") == [] and remedies.findings(books.store, "dead") == []


def test_a_lost_input_is_accepted(books):
    with queue_edit.edited(books.store) as queue:
        queue.set_next_seq(8)

    def named():
        return re.findall(r"sluice queue accept-gap \d+-\d+ --reason \w+", str(remedies.findings(books.store)))

    remedies.shell(named()[0], books.store)
    assert named() == []


def test_room_for_accounts_is_made(tmp_path):
    store = tmp_path / "small"
    assert sluice("init", "--max-accounts", 1, store=store).status == 0
    assert sluice("account", "create", "acme", store=store).status == 0
    ((finding),) = remedies.findings(store, "registry")
    remedies.perform(finding["remedy"], store, N=100)
    assert remedies.findings(store, "registry") == []


def test_nothing_waits_in_a_restored_store(books, tmp_path):
    """The control page of a restored store is new: it said that inputs of before wait."""
    books.run("backup", tmp_path / "backup")
    restored = tmp_path / "restored"
    assert sluice("restore", tmp_path / "backup", store=restored).status == 0
    assert sluice("queue", "stats", "--format", "json", store=restored).json()["depth"] == 0
    ((worker),) = remedies.findings(restored, "worker")
    assert worker["finding"] == "no worker runs; 0 inputs wait"


def test_the_worker_of_this_store_is_started(store):
    """`systemctl start sluice` starts the worker of another store."""
    ((finding),) = remedies.findings(store, "worker")
    assert remedies.commands(finding["remedy"]) == [finding["remedy"]] == [f"sluice --store {store} worker"]
    worker = subprocess.Popen([PROGRAM, *finding["remedy"].split()[1:]], stderr=subprocess.DEVNULL)
    try:
        paths.wait_until(lambda: not remedies.findings(store, "worker"), "the worker to be seen")
    finally:
        worker.terminate()
        worker.wait()


@pytest.mark.parametrize("harm", ["lost", "link"])
def test_the_lock_file_of_the_worker_is_made_again_by_the_next_one(store, tmp_path, harm):
    lock = store / "worker.lock"
    lock.unlink()
    if harm == "link":
        lock.symlink_to(tmp_path / "elsewhere")
        ((finding),) = remedies.findings(store, "worker")
        remedies.perform(finding["finding"], store)
    ((finding),) = remedies.findings(store, "worker")
    assert finding["finding"] == "no worker runs; 0 inputs wait"
    assert sluice("worker", "--until-empty", store=store).status == 0
    assert stat.S_ISREG(lock.lstat().st_mode) and stat.S_IMODE(lock.lstat().st_mode) == 0o600 and left(store) == []


def test_two_workers_never_run_even_if_the_lock_file_is_removed_or_replaced(store):
    lock = store / "worker.lock"
    with subprocess.Popen([PROGRAM, "--store", store, "worker"], stderr=subprocess.DEVNULL) as worker:
        paths.wait_until(lambda: not remedies.findings(store, "worker"), "the worker to be seen")
        for make in (lambda: None, lock.touch):
            lock.unlink(missing_ok=True)
            make()
            second = sluice("worker", "--until-empty", store=store)
            assert second.status == 1 and "there can be only one, stop that one first" in second.err, second
            assert remedies.findings(store, "worker") == [], "doctor sees that one runs"
        worker.terminate()
    assert sluice("worker", "--until-empty", store=store).status == 0
    assert left(store) == []


def test_what_a_worker_hangs_on_is_ended(store):
    """Another program holds the ledger's write lock."""
    holder = LockHolder(WRITER, store / "ledger")
    with subprocess.Popen([PROGRAM, "--store", store, "worker"], stderr=subprocess.DEVNULL) as worker:
        paths.wait_until(lambda: not remedies.findings(store, "worker"), "the worker to be seen")
        with subprocess.Popen([PROGRAM, "--store", store, *CREDIT], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as command:
            paths.wait_until(lambda: remedies.findings(store, "worker"), "its silence to be noticed")
            ((finding),) = remedies.findings(store, "worker")
            assert finding["remedy"] == "look for what hangs, such as the disk (dmesg)"
            holder.release()
            paths.wait_until(lambda: not remedies.findings(store, "worker"), "a sign of life")
            assert command.wait(30) == 0
        worker.terminate()


def test_a_stopped_worker_is_continued(store):
    worker = subprocess.Popen([PROGRAM, "--store", store, "worker"], stderr=subprocess.DEVNULL)
    try:
        paths.wait_until(lambda: not remedies.findings(store, "worker"), "the worker to be seen")
        worker.send_signal(signal.SIGSTOP)
        paths.wait_until(lambda: remedies.findings(store, "worker"), "its silence to be noticed")
        ((finding),) = remedies.findings(store, "worker")
        remedies.perform(finding["remedy"], store)
        paths.wait_until(lambda: not remedies.findings(store, "worker"), "a sign of life")
    finally:
        worker.send_signal(signal.SIGCONT)
        worker.terminate()
        worker.wait()


def test_a_process_that_keeps_old_pages_is_ended(store):
    holder = LockHolder(READER, store / "registry", 1)
    try:
        queue_edit.commit_often(store / "registry", 501)
        ((finding),) = remedies.findings(store, "readers")
        remedies.perform(finding["remedy"], store)
        holder.process.wait()
        assert [row for row in remedies.findings(store, "readers") if row["result"] == "problem"] == []
    finally:
        holder.process.kill()
        holder.process.communicate()


@pytest.mark.parametrize("slots, program", [(1, "damaged"), (4200, "full")])
def test_lock_files_work_again_when_the_holder_has_ended(store, slots, program):
    """`the first that starts again initializes it`; `end it, or restart nginx`"""
    holder = LockHolder(READER, store / "queue", slots)
    try:
        if program == "damaged":
            with open(store / "queue" / "lock.mdb", "r+b") as lock:
                lock.write(b"\xff" * 64)
        said = refused(store, "queue", "stats")
        assert "the first that starts again initializes it" in said if program == "damaged" else f"process {holder.pid} (" in said, said
    finally:
        holder.process.kill()
        holder.process.communicate()
    assert sluice("queue", "stats", store=store).status == 0
    assert left(store) == [] or [row["result"] for row in left(store)] == ["note"], left(store)


def test_an_older_queue_is_restored_with_its_ledger(books, tmp_path):
    """Numbers would be assigned twice, so the worker does not start."""
    older = tmp_path / "older"
    shutil.copytree(books.store / "queue", older)
    books.run("credit", "--account", "acme", "--creator", "ann", "--program", "spring", "--amount", "1.00 USD", "--reason", "x")
    books.run("backup", tmp_path / "backup")
    shutil.rmtree(books.store / "queue")
    older.rename(books.store / "queue")
    assert "Put the queue and the ledger back from the same backup" in books.run("worker", "--until-empty", status=1).err
    found = [row for row in remedies.findings(books.store) if "Backup and restore; the worker does not start" in row["remedy"]]
    assert found
    books.store.rename(tmp_path / "kept")
    books.run("restore", tmp_path / "backup")
    books.run("worker", "--until-empty")
    assert left(books.store) == []


# -- Who changed the registry --------------------------------------------------------------------------


@pytest.mark.parametrize("what", ["token", "user"])
def test_what_no_logged_change_made_is_ended(store, what):
    """A person with the rights of the store's owner wrote it past the program: the log has no line of it."""
    line = {"token": ("token", "create", "--account", "acme", "--scope", "write_orders"),
            "user": ("user", "add", "eve@example.org", "--account", "acme", "--role", "viewer")}[what]
    assert sluice(*line, store=store).status == 0
    queue_edit.remove_rows(store / "registry", b"change/")
    ((finding),) = remedies.findings(store, "changes")
    remedies.perform(finding["remedy"], store)
    assert left(store) == []


# -- Messages of commands ------------------------------------------------------------------------------


def refused(store, *line, env=None):
    run = sluice(*line, store=store, env=env)
    assert run.status == 1, (line, run)
    return run.err


def test_what_lies_in_the_way_of_a_new_store_is_moved(tmp_path):
    """It may be a store that lost its file `format`: removing it, as the message said, lost the books."""
    store = tmp_path / "store"
    (store / "ledger").mkdir(parents=True)
    remedies.perform(refused(store, "init"), store, slice(-1, None))
    assert sluice("init", store=store).status == 0 and (tmp_path / "store.old" / "ledger").is_dir()


def test_a_store_of_a_pre_release_is_moved_away(store):
    """`sluice init` does not take a folder that has a store."""
    text = (store / "format").read_text()
    (store / "format").write_text(re.sub(r"(?m)^(format|min_reader|min_writer) .*$", r"\1 2", text))
    assert "move it away, and create a new store with" in refused(store, "account", "list")
    assert sluice("init", store=store).status == 1
    store.rename(store.with_name("old"))
    assert sluice("init", store=store).status == 0


def test_an_account_beyond_the_limit_has_room_after_the_remedy(tmp_path):
    store = tmp_path / "small"
    assert sluice("init", "--max-accounts", 1, store=store).status == 0
    assert sluice("account", "create", "acme", store=store).status == 0
    remedies.perform(refused(store, "account", "create", "beta"), store, N=2)
    assert sluice("account", "create", "beta", store=store).status == 0


def test_a_key_that_others_could_read_is_replaced(store):
    key = store / "command.key"
    before = key.read_text()
    key.chmod(0o440)
    commands = remedies.perform(refused(store, "credit", "--account", "acme", "--creator", "ann", "--program", "spring",
                                        "--amount", "1.00 USD", "--reason", "x"), store)
    assert len(commands) == 2 and key.read_text().splitlines()[0] != before.strip() and left(store) == []


def test_a_key_that_was_kept_apart_is_put_back(store, tmp_path):
    backup, kept = tmp_path / "backup", tmp_path / "kept.key"
    assert sluice("backup", backup, store=store).status == 0
    (backup / "master.key").rename(kept)
    text = (backup / "backup").read_text()
    restored = tmp_path / "restored"
    run = sluice("restore", backup, store=restored)
    if run.status == 1:  # the list of the backup has the key
        (backup / "backup").write_text("".join(line for line in text.splitlines(True) if "master.key" not in line))
        run = sluice("restore", backup, store=restored)
    assert run.status == 0 and "put master.key into it before nginx starts" in run.out, run
    remedies.until_gone(restored, "key", BACKUP=os.fspath(make_backup_of(kept, tmp_path)))
    assert left(restored) == []


def make_backup_of(key, folder):
    (folder / "apart").mkdir()
    shutil.copy2(key, folder / "apart" / "master.key")
    return folder / "apart"


def test_hints_are_left_alone_while_the_worker_runs(store):
    worker = subprocess.Popen([PROGRAM, "--store", store, "worker"], stderr=subprocess.DEVNULL)
    try:
        paths.wait_until(lambda: not remedies.findings(store, "worker"), "the worker to be seen")
        (store / "queue" / "control").unlink()
        assert "stop it and nginx first" in refused(store, "doctor", "--mend", store / "queue" / "control")
    finally:
        worker.terminate()
        worker.wait()
    remedies.until_gone(store, "queue")
    assert left(store) == []


def test_a_file_is_made_utf_8(store, tmp_path):
    rows = tmp_path / "c.csv"
    rows.write_bytes("creator_id,program_id,code,payee,name\ncy,spring,CYAN,,Zo\u00eb\n".encode("cp1252"))
    said = refused(store, "creator", "import", rows, "--dry-run")
    remedies.perform(said, store, NEW_FILE=tmp_path / "new.csv")
    assert sluice("creator", "import", tmp_path / "new.csv", "--no-wait", store=store).status == 0


def test_a_program_file_is_made_utf_8(store, tmp_path):
    """It was refused with `Encountered invalid utf-8 sequence`."""
    file = tmp_path / "p.toml"
    file.write_bytes("[[program]]\nid = 'summer'\naccount = 'acme'\ndefault_rate = '5%' # für alle\n".encode("cp1252"))
    said = refused(store, "program", "apply", file)
    assert "p.toml:4: not UTF-8; the file looks like WINDOWS-1252" in said
    remedies.perform(said, store, NEW_FILE=tmp_path / "new.toml")
    assert sluice("program", "apply", tmp_path / "new.toml", store=store).status == 0


def test_a_list_of_orders_is_made_utf_8(store, tmp_path):
    rows = tmp_path / "orders.csv"
    rows.write_bytes("platform_order_id,total\n\u00fc1,1.00\n".encode("utf-16"))
    line = ("reconcile", "--shop", "shop-1")
    run = sluice(*line, rows, store=store)
    (command,) = remedies.commands(run.err)
    remedies.shell(f"{command} {rows} > {tmp_path}/new.csv", store)
    after = sluice(*line, tmp_path / "new.csv", store=store)
    assert "iconv" not in after.err and after.err != run.err


def test_a_secret_that_others_may_read_is_closed(store, tmp_path):
    token = tmp_path / "token"
    token.write_text("s" * 32)
    token.chmod(0o644)
    (tmp_path / "o.ndjson").write_text("{}\n")
    line = ("send", "events", tmp_path / "o.ndjson", "--url", "http://127.0.0.1:9", "--shop", "s", "--token-file", token)
    remedies.perform(refused(store, *line), store)
    assert "chmod" not in sluice(*line, store=store).err
