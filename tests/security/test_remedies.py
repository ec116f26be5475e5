"""No file of nginx's chooses what a terminal of root shows, or what a remedy runs."""

import json
import os
import pathlib
import re
import shlex
import subprocess
import tempfile

import pytest

from harness import cli, intruder, paths, remedies

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes other users")
NASTY = ["$(touch pwned).lane", "`touch pwned`.lane", "a'b\"c;touch pwned;.lane", "-rf.lane", "\x1b[2Jred\nsluice: all is well.lane"]


@pytest.fixture(name="store")
def store_fixture():
    folder = paths.make_folder()
    yield intruder.new_store(folder)
    paths.drop_folder(folder)


def findings(store, check="permissions"):
    run = cli.Sluice(store).run("doctor", "--format", "json")
    return [row for row in json.loads(run.stdout) if row["check"] == check and row["result"] != "ok"]


def run_remedy(remedy, folder):
    """Runs the command of a remedy as a person does who pastes it into bash."""
    command = remedy.split("; ", 1)[1] if remedy.startswith("find out") else remedy
    words = command.replace("sluice ", shlex.quote(str(paths.SLUICE)) + " ", 1)
    return subprocess.run(["bash", "-c", words], cwd=folder, capture_output=True, text=True, check=False)


def has_no_control(text):
    return not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", text)


@pytest.mark.parametrize("name", NASTY)
def test_a_remedy_for_a_mode_runs_nothing_of_the_name(store, tmp_path, name):
    path = store / "queue" / "lanes" / name
    intruder.run_as(intruder.INTRUDER, lambda: os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o666)))
    path.chmod(0o666)
    (row,) = findings(store)
    done = run_remedy(row["remedy"], tmp_path)
    assert done.returncode == 0 and path.stat().st_mode & 0o7777 == 0o660, (row, done)
    assert not list(tmp_path.iterdir()) and has_no_control(done.stdout), done
    assert not findings(store)


@pytest.mark.parametrize("name", NASTY)
def test_a_remedy_for_a_link_runs_nothing_of_the_name(store, tmp_path, name):
    path = store / "queue" / "lanes" / name
    intruder.run_as(intruder.INTRUDER, lambda: os.symlink("/etc/passwd", path))
    (row,) = findings(store)
    done = run_remedy(row["remedy"], tmp_path)
    assert done.returncode == 0 and not path.is_symlink() and not list(tmp_path.iterdir()), (row, done)
    assert (store / (name + ".refused")).is_symlink()
    assert not findings(store), "what was moved away is not found again"


def test_mending_a_name_that_alternates_changes_no_other_file(store, tmp_path):
    """The intruder swaps a file and a link to root's file for as long as root mends."""
    victim = tmp_path / "victim"
    victim.write_text("root's")
    victim.chmod(0o600)
    tmp_path.chmod(0o755)
    lanes = store / "queue" / "lanes"

    def swap():
        path, link = lanes / "9.lane", lanes / "link"
        for _ in range(4000):
            intruder.tries(lambda: os.close(os.open(path, os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW, 0o666)),
                           lambda: os.chmod(path, 0o666), lambda: os.symlink(victim, link),
                           lambda: os.rename(link, path), path.unlink)()

    pid = os.fork()
    if pid == 0:
        intruder.run_as(intruder.INTRUDER, swap)
        os._exit(0)
    mended = 0
    while os.waitpid(pid, os.WNOHANG) == (0, 0):
        done = cli.Sluice(store).run("doctor", "--mend", lanes / "9.lane")
        mended += "has mode 0660" in done.stdout
        assert "victim" not in done.stdout + done.stderr, done
    print(f"mended {mended} times")
    assert victim.stat().st_mode & 0o7777 == 0o600 and victim.stat().st_uid == 0


def test_mend_gives_back_owner_and_mode(store):
    path = store / "ledger" / "data.mdb"
    owner = path.stat().st_uid
    os.chown(path, 0, 0)
    path.chmod(0o644)
    assert {row["remedy"] for row in findings(store)} == {f"sluice --store {store} doctor --mend {path}"}
    done = cli.Sluice(store)("doctor", "--mend", path)
    assert done == f"{path} has mode 0600 and belongs to {intruder.OWNER}\n"
    assert path.stat().st_uid == owner and path.stat().st_mode & 0o7777 == 0o600
    assert not findings(store)


def test_other_names_of_a_file_are_found_and_removed(store):
    """`find /` would take long, so it begins at the folder here."""
    control = store / "queue" / "control"
    others = [store / "queue" / "lanes" / "also", store.parent / "further"]
    for other in others:
        os.link(control, other)
    said = cli.Sluice(store).refuses("doctor", "--mend", control)
    (command,) = remedies.commands(said)
    found = remedies.shell(command.replace("find / ", f"find {store.parent} "), store).splitlines()
    assert sorted(found) == sorted(map(str, [control, *others]))
    for name in found:
        if name != str(control):
            os.unlink(name)
    cli.Sluice(store)("doctor", "--mend", control)
    assert not findings(store)


def test_a_link_is_moved_away_as_a_message_says(store):
    key, kept = store / "master.key", store.parent / "kept"
    key.rename(kept)
    key.symlink_to(kept)
    said = cli.Sluice(store).refuses("token", "create", "--account", "acme", "--scope", "write_orders")
    remedies.perform(said, store)
    assert not os.path.lexists(key) and (store / "master.key.refused").is_symlink()
    kept.rename(key)  # "and restore the file from a backup"
    cli.Sluice(store)("account", "create", "acme")
    cli.Sluice(store)("token", "create", "--account", "acme", "--scope", "write_orders")


@pytest.mark.parametrize("folder", ["queue/lanes", "queue/bulk"])
def test_what_a_message_moves_out_of_a_folder_of_lanes_is_not_found_again(store, folder):
    odd = store / folder / "7.lane"
    intruder.run_as(intruder.INTRUDER, lambda: os.symlink("/etc/passwd", odd))
    said = cli.Sluice(store).run("queue", "stats").stderr or findings(store)[0]["remedy"]
    remedies.perform(said, store)
    assert not os.path.lexists(odd) and not findings(store)


def test_a_file_of_another_owner_is_given_back_as_a_message_says(store):
    data = store / "queue" / "data.mdb"
    os.chown(data, 0, -1)
    data.chmod(0o666)
    said = cli.Sluice(store).refuses("queue", "stats")
    remedies.perform(said, store)
    assert cli.Sluice(store).run("queue", "stats").returncode == 0


def test_a_key_of_root_is_given_to_the_owner_of_the_store(store):
    """Root works as the owner of the store, who may not read it."""
    sluice, key = cli.Sluice(store), store / "master.key"
    sluice("account", "create", "acme")
    line = ("token", "create", "--account", "acme", "--scope", "write_orders")
    os.chown(key, 0, 0)
    remedies.perform(sluice.refuses(*line), store)
    sluice(*line)
    assert not findings(store, "key")


def test_a_store_in_a_folder_of_root_is_given_to_root(store):
    store.parent.chmod(0o700)
    said = cli.Sluice(store).refuses("account", "list")
    remedies.perform(said, store)
    cli.Sluice(store)("account", "list")
    assert not findings(store)


def test_doctor_of_a_stranger_is_run_again_by_root(store):
    """One without rights learns who has them, and that user has no finding of rights left."""
    program = paths.lend(paths.SLUICE, store.parent)
    as_nobody = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
    found = remedies.findings(store, program=program, prefix=as_nobody)
    assert found and all("run doctor as root or as the store's owner" in row["remedy"] for row in found), found
    as_member = ("setpriv", f"--reuid={intruder.INTRUDER}", f"--regid={intruder.INTRUDER}", "--clear-groups")
    found = [row for row in remedies.findings(store, program=program, prefix=as_member) if row["check"] != "worker"]
    assert found and all("run doctor as root or as the store's owner" in row["remedy"] for row in found), found
    assert [row for row in remedies.findings(store) if row["check"] != "worker"] == []


@pytest.mark.parametrize("path", ["format", "master.key", "command.key", "ledger", "registry/data.mdb"])
def test_root_is_not_sent_to_root(store, path):
    """Root works as the owner of the store, who may not read a file of root."""
    os.chown(store / path, 0, 0)
    (store / path).chmod(0o700 if (store / path).is_dir() else 0o600)
    for _ in range(3):
        found = [row for row in remedies.findings(store) if row["check"] != "worker"]
        if not found:
            break
        assert not any("run doctor as" in row["remedy"] for row in found), found
        remedies.perform(next(row["remedy"] for row in found if "--mend" in row["remedy"]), store, slice(0, 1))
    assert [row for row in remedies.findings(store) if row["check"] != "worker"] == []
    assert (store / path).stat().st_uid != 0


@pytest.mark.parametrize("path", ["/etc/passwd", "{store}/../elsewhere", "{store}/queue/unknown", "{store}/queue/lanes/a/b"])
def test_mend_refuses_a_path_outside_the_store(store, path):
    assert "is no file of the store" in cli.Sluice(store).refuses("doctor", "--mend", path.format(store=store))


def test_mend_refuses_a_file_with_another_name(store):
    os.link(store / "queue" / "control", store / "queue" / "lanes" / "also.lane")
    assert "hard links" in cli.Sluice(store).refuses("doctor", "--mend", store / "queue" / "lanes" / "also.lane")


def test_a_fifo_that_its_maker_alone_may_open_is_called_a_fifo(store):
    sluice = cli.Sluice(store)
    body = store / "queue" / "control"
    body.unlink()
    os.mkfifo(body, 0o600)
    run = sluice.run("queue", "stats")
    assert run.returncode == 1 and "is a FIFO" in run.stderr and "Permission denied" not in run.stderr, run
    assert f"mv -T {body} {store / 'control.refused'}" in run.stderr


def test_a_name_in_the_store_reaches_no_terminal_as_it_is(store):
    """nginx's workers create files among the lanes; tests/unit/lmdb_store/store has the text of a latch."""
    lane = os.fsencode(store / "queue" / "lanes") + b"/\x1b[31mred\xc2\x9b2J\xff.lane"
    os.close(os.open(lane, os.O_CREAT | os.O_RDWR, 0o666))
    os.chmod(lane, 0o666)
    for line in (["doctor"], ["queue", "stats"], ["queue", "peek"], ["worker", "--until-empty"], ["queue", "unlatch"]):
        run = subprocess.run([paths.SLUICE, "--store", store, *line], capture_output=True, check=False)
        assert not re.search(rb"[\x00-\x08\x0b-\x1f\x7f-\xff]", run.stdout + run.stderr), (line, run)


def test_a_replay_of_root_works_with_a_private_temporary_folder(store):
    """pam_namespace and systemd give root a TMPDIR that the owner of the store cannot enter."""
    private = pathlib.Path(tempfile.mkdtemp())
    private.chmod(0o700)
    sluice = cli.Sluice(store, {"TMPDIR": str(private)})
    sluice("account", "create", "acme")
    sluice("worker", "--until-empty")
    run = sluice.run("doctor", "--replay")
    assert run.returncode == 0, run
    assert not list(private.iterdir())
    private.rmdir()
