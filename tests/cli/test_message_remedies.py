"""The remedies in messages of commands and of the worker, performed as the messages say.

tests/remedies.txt lists the others, and where they are performed."""
import grp
import os
import re
import shutil
import signal
import subprocess

import pytest
from harness import paths, queue_edit, remedies
from harness.cli import now
from harness.fake_time import FakeTime
from program import PROGRAM, sluice
from test_ledger import shop  # noqa: F401
from test_remedies import left
from test_replay import WHY, Books

CREDIT = ("credit", "--account", "acme", "--creator", "ann", "--program", "spring", "--amount", "1.00 USD", *WHY)


@pytest.fixture
def books(tmp_path):
    return Books(tmp_path)


# -- Backups and copies ----------------------------------------------------------------------------------


@pytest.mark.parametrize("file, said", [("backup", "that `sluice backup` writes last"), ("registry/data.mdb", "use another backup")])
def test_another_backup_is_restored(books, tmp_path, file, said):
    books.run("backup", tmp_path / "broken")
    path = tmp_path / "broken" / file
    path.unlink() if file == "backup" else path.write_bytes(path.read_bytes() + b"\n")
    restored = tmp_path / "restored"
    refused = sluice("restore", tmp_path / "broken", store=restored)
    assert refused.status == 1 and said in refused.err, refused
    books.run("backup", tmp_path / "another")
    assert sluice("restore", tmp_path / "another", store=restored).status == 0
    assert left(restored) == []


def test_a_backup_of_a_queue_with_a_gap_is_taken_once_the_loss_is_accepted(books, tmp_path):
    books.run(*CREDIT)
    with queue_edit.edited(books.store) as queue:
        copy = queue.get(5)
        queue.remove(5)
        queue.put(7, copy)
        queue.set_next_seq(8)
    said = books.run("backup", tmp_path / "backup", status=1).err
    assert "the queue has no input from 6 on, which the ledger lacks: see `sluice doctor`" in said
    (finding,) = [row["finding"] for row in remedies.findings(books.store, "ledger")]
    (accept,) = [command for command in remedies.commands(finding) if "accept-gap" in command]
    remedies.shell(accept, books.store)
    books.run("worker", "--until-empty")
    books.run("backup", tmp_path / "backup")


def damaged_archive(books, tmp_path):
    """The backup `earlier` is whole. Behind a damaged end the worker begins another segment."""
    books.run("worker", "--until-empty")
    books.run("backup", tmp_path / "earlier")
    (segment,) = (books.store / "archive").glob("*.sla")
    kept = segment.read_bytes()
    segment.write_bytes(kept[:-10] + bytes(10))
    books.run(*CREDIT)
    books.run("worker", "--until-empty")
    said = books.run("backup", tmp_path / "faulty", status=1).err
    assert "the archive is incomplete: " in said and "with the faults of the store that it copies" in said, said
    return segment


def test_a_damaged_segment_of_the_archive_is_put_back_from_an_earlier_backup(books, tmp_path):
    """docs/operations.md, A damaged archive."""
    segment = damaged_archive(books, tmp_path)
    assert "the archive is incomplete: " in books.run("doctor", "--replay", status=1).err
    segment.write_bytes((tmp_path / "earlier" / "archive" / segment.name).read_bytes())
    books.run("doctor", "--replay")
    books.run("backup", tmp_path / "backup")


def test_an_archive_without_a_whole_copy_begins_again_behind_a_snapshot(books, tmp_path):
    """docs/operations.md, A damaged archive."""
    damaged_archive(books, tmp_path)
    books.run("ledger", "snapshot")
    (tmp_path / "kept").mkdir()
    for file in (books.store / "archive").iterdir():
        file.rename(tmp_path / "kept" / file.name)
    books.run(*CREDIT)
    books.run("worker", "--until-empty")
    assert "compared from the snapshot" in books.run("doctor", "--replay").err
    books.run("backup", tmp_path / "backup")


@pytest.mark.parametrize("harm", ["empty", "other"])
def test_a_backup_has_no_fault_once_doctors_remedy_for_the_key_is_performed(books, tmp_path, harm):
    books.run("backup", tmp_path / "earlier")
    key = books.store / "master.key"
    key.chmod(0o600)
    key.write_text("0" * 64 + "\n" if harm == "other" else "")
    key.chmod(0o400)
    assert "with the faults of the store that it copies; `sluice doctor` names remedies" in books.run(
        "backup", tmp_path / "faulty", status=1).err
    remedies.until_gone(books.store, "key", BACKUP=tmp_path / "earlier")
    assert left(books.store) == []
    books.run("backup", tmp_path / "backup")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files to another group")
@pytest.mark.parametrize("file", ["queue/control", "registry/published", "links/published"])
def test_a_store_gets_its_group_once_doctor_has_removed_a_link_in_place_of_a_file(books, file):
    books.run("worker", "--until-empty")
    link = books.store / file
    link.unlink()
    link.symlink_to("/etc/passwd")
    said = books.run("store", "set", "--group", "games", status=1).err
    assert f'"{link}" is not what sluice made there: `sluice doctor` names the remedy' in said
    remedies.until_gone(books.store, "permissions")
    for finding in left(books.store):
        remedies.until_gone(books.store, finding["check"])
    books.run("store", "set", "--group", "games")
    assert left(books.store) == [] and books.store.stat().st_gid == grp.getgrnam("games").gr_gid


def test_a_copy_in_the_way_of_another_is_moved_away(books, tmp_path):
    aside = tmp_path / "aside"
    books.run("ledger", "copy", "--to", aside)
    books.run(*CREDIT)
    assert "holds another ledger already: name another place, or move it away" in books.run(
        "ledger", "copy", "--to", aside, status=1).err
    aside.rename(tmp_path / "moved")
    books.run("ledger", "copy", "--to", aside)


@pytest.mark.parametrize("table", [b"balances", b"chain_groups", b"creator_journal", b"open", b"monthly"])
def test_a_damaged_ledger_is_copied_once_doctors_remedy_is_performed(books, tmp_path, table):
    """A row is lost that others account for."""
    assert queue_edit.remove_rows(books.store / "ledger", b"", table, most=1) == 1
    said = books.run("ledger", "copy", "--to", tmp_path / "copy", status=1).err
    assert "is damaged: " in said and "Nothing was copied; `sluice doctor` says more" in said
    rebuild, replace = remedies.commands(remedies.findings(books.store, "journal")[0]["remedy"])
    remedies.shell(f"{rebuild} 2>&1 | grep 'ledgers differ, first in table'", books.store)
    remedies.shell(replace, books.store)
    assert left(books.store) == []
    books.run("ledger", "copy", "--to", tmp_path / "copy")


# -- Stores of other releases ----------------------------------------------------------------------------


def test_a_registry_of_a_pre_release_gets_a_new_store(books):
    queue_edit.put_row(books.store / "registry", b"format", b"\1\0\0\0")
    said = books.run("account", "list", status=1).err
    assert 'which only a pre-release of sluice read: create a new store with "sluice init"' in said
    books.store.rename(books.store.with_name("old"))
    remedies.perform(said, books.store)
    books.run("account", "list")


# -- Who works, on which store ---------------------------------------------------------------------------


def test_a_report_is_whole_once_the_worker_runs(shop):  # noqa: F811
    shop.send("o1")
    with open(shop.store / "queue" / "control", "r+b") as page:
        page.seek(24)  # ControlWords::heartbeat_ms
        page.write(bytes(8))
    said = shop.run("report", "orders").err
    assert "no worker has run yet: inputs that arrived later are not in this (`sluice doctor`)" in said
    ((finding),) = remedies.findings(shop.store, "worker")
    assert finding["remedy"] == f"sluice --store {shop.store} worker"
    remedies.shell(finding["remedy"] + " --until-empty", shop.store)
    assert shop.run("report", "orders").err == ""


def test_a_worker_is_started_again_on_the_store_that_is_meant(books, tmp_path):
    log = tmp_path / "log"
    with open(log, "w") as file:
        worker = subprocess.Popen([PROGRAM, "--store", books.store, "worker"], stderr=file)
    try:
        paths.wait_until(lambda: not remedies.findings(books.store, "worker"), "the worker to be seen")
        (tmp_path / "other").mkdir()
        other = Books(tmp_path / "other")
        books.store.rename(tmp_path / "meant")
        shutil.move(other.store, books.store)
        assert worker.wait(timeout=paths.DEADLINE) == 1
    finally:
        worker.kill()
        worker.wait()
    assert "start the worker again on the store that is meant" in log.read_text()
    books.store.rename(tmp_path / "wrong")
    (tmp_path / "meant").rename(books.store)
    books.run(*CREDIT)
    assert left(books.store) == []


def test_a_command_is_repeated_after_doctor_if_another_input_has_its_number(books):
    """Its record is replaced by a copy of an earlier one before the worker reads it."""
    books.run(*CREDIT)
    with queue_edit.edited(books.store) as queue:
        copy = queue.get(5)
    worker = subprocess.Popen([PROGRAM, "--store", books.store, "worker"], stderr=subprocess.DEVNULL)
    try:
        paths.wait_until(lambda: not remedies.findings(books.store, "worker"), "the worker to be seen")
        worker.send_signal(signal.SIGSTOP)
        command = subprocess.Popen([PROGRAM, "--store", books.store, *CREDIT], text=True, stderr=subprocess.PIPE)
        paths.wait_until(lambda: books.run("queue", "stats", "--format", "json").json()["last_seq"] == 6, "the command")
        with queue_edit.edited(books.store) as queue:
            queue.put(6, copy)
        worker.send_signal(signal.SIGCONT)
        _, said = command.communicate(timeout=paths.DEADLINE)
    finally:
        worker.send_signal(signal.SIGCONT)
        worker.terminate()
        worker.wait()
    assert command.returncode == 1 and "another input under its number 6" in said, said
    assert "Run `sluice doctor` before you repeat the command" in said
    ((finding),) = remedies.findings(books.store, "seal")
    remedies.perform(finding["remedy"], books.store, SEQ=6, TEXT="copied")
    books.run(*CREDIT)
    assert left(books.store) == []


def test_an_order_that_waits_is_explained_once_a_worker_runs(shop):  # noqa: F811
    """`sluice queue stats`, which it named, shows no worker."""
    shop.send("o1")
    said = shop.run("explain", "--shop", "shop-1", "o1", status=1).err
    (command,) = remedies.commands(said)
    assert command == "sluice doctor"
    ((finding),) = remedies.findings(shop.store, "worker")
    assert finding["finding"].startswith("no worker runs; 1 input")
    remedies.shell(finding["remedy"] + " --until-empty", shop.store)
    shop.run("explain", "--shop", "shop-1", "o1")


@pytest.mark.parametrize("number, said", [
    (signal.SIGSEGV, "memory that other processes write to is damaged, or sluice has a defect: stop nginx and the worker"),
    (signal.SIGABRT, "a check of its own state failed")])
def test_a_worker_that_ended_itself_is_looked_after_by_doctor(books, tmp_path, number, said):
    log = tmp_path / "log"
    with open(log, "w") as file:
        worker = subprocess.Popen([PROGRAM, "--store", books.store, "worker"], stderr=file)
    paths.wait_until(lambda: not remedies.findings(books.store, "worker"), "the worker to be seen")
    worker.send_signal(number)
    assert worker.wait(timeout=paths.DEADLINE) == 1 and said in log.read_text()
    assert '"sluice doctor"' in log.read_text() and left(books.store) == []
    books.run(*CREDIT)


# -- Libraries -------------------------------------------------------------------------------------------


@pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts")
@pytest.mark.parametrize("harm", ["missing", "old"])
def test_a_library_is_installed_by_the_package_that_a_message_names(store, tmp_path, harm):
    """In a mount namespace another file, or none, is in the place of the library; the machine has the package."""
    library = subprocess.run("/sbin/ldconfig -p | sed -n 's|.*libpq.so.5 .*=> ||p'", shell=True, check=True,
                             capture_output=True, text=True).stdout.split()[0]
    other = tmp_path / "other.so"
    other.write_bytes(b"")
    if harm == "old":
        subprocess.run(["cc", "-shared", "-o", other, "-x", "c", "/dev/null"], check=True)
    script = 'mount --make-rprivate / && mount --bind "$0" "$1" && shift && exec "$@"'
    line = [PROGRAM, "--store", store, "ledger", "migrate", "--ledger", "postgres://nobody@127.0.0.1:1/none"]
    run = subprocess.run(["unshare", "-m", "bash", "-euc", script, other, os.path.realpath(library), *line],
                         capture_output=True, text=True, check=False)
    assert {"missing": ": install it (", "old": ": install a newer one ("}[harm] in run.stderr, run
    package = re.search(r"Debian: apt-get install ([\w.-]+)\)", run.stderr)[1]
    owner = subprocess.run(["dpkg", "-S", os.path.realpath(library)], capture_output=True, text=True, check=False).stdout
    assert not owner or owner.startswith(f"{package}:"), (package, owner)
    assert "install" not in subprocess.run(line, capture_output=True, text=True, check=False).stderr


# -- The clock -------------------------------------------------------------------------------------------


def test_a_clock_that_is_behind_is_set(books):
    """Each process reads this clock, and not the machine's."""
    clock = FakeTime()
    try:
        clock.set("2024-03-01T10:00:00Z")

        def found():
            run = sluice("doctor", "--format", "json", store=books.store, env={**clock.environment, "NO_FAKE_STAT": "1"})
            return [row for row in run.json() if row["check"] == "clock" and row["result"] == "problem"]

        ((finding),) = found()
        assert finding["finding"] == "the clock is behind the store's last change"
        assert finding["remedy"].startswith("set the clock; ")
        clock.file.write_text("+0")
        assert found() == []
    finally:
        clock.folder.cleanup()
