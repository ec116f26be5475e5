"""No file of nginx's chooses what a terminal of root shows, or what a remedy runs."""

import json
import os
import pathlib
import re
import shlex
import subprocess
import tempfile

import pytest

from harness import cli, intruder, paths

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
    assert (path.parent / (name + ".refused")).is_symlink()


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
    assert f"mv -T {body} {body}.refused" in run.stderr


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
