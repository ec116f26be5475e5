"""init, store set, and what a caller's closed streams must not do to a store."""
import os
import socket
import subprocess

import pytest
from program import PROGRAM, sluice


def test_init_makes_a_store_once(tmp_path):
    path = tmp_path / "store"
    run = sluice("--store", path, "init")
    assert (run.status, run.err) == (0, "")
    assert (path / "format").is_file() and (path / "master.key").is_file()
    assert (path / "master.key").stat().st_mode & 0o777 == 0o400
    run = sluice("init", "--store", path)
    assert run.status == 1
    assert len(run.err.splitlines()) == 1 and str(path) in run.err


def test_init_takes_the_number_of_accounts(tmp_path):
    assert sluice("init", "--max-accounts", 100, store=tmp_path / "store").status == 0
    assert "100" in (tmp_path / "store" / "format").read_text()


@pytest.mark.parametrize("line", [["init", "--max-accounts", "0"], ["init", "--max-accounts", "many"],
                                  ["store", "set"], ["store", "set", "--max-accounts", "-1"], ["store"]])
def test_wrong_lines(tmp_path, line):
    run = sluice(*line, store=tmp_path / "store")
    assert run.status == 2
    assert not (tmp_path / "store").exists()


def test_an_unknown_group_leaves_nothing_behind(tmp_path):
    run = sluice("init", "--group", "no-such-group", store=tmp_path / "store")
    assert run.status == 1 and "no-such-group" in run.err


def test_max_accounts_can_be_raised(store):
    assert sluice("store", "set", "--max-accounts", 70000, store=store).status == 0
    assert "70000" in (store / "format").read_text()
    run = sluice("store", "set", "--max-accounts", 10, store=store)
    assert run.status == 1 and len(run.err.splitlines()) == 1


def test_a_missing_store_is_named(tmp_path):
    run = sluice("store", "set", "--max-accounts", 70000, store=tmp_path / "none")
    assert run.status == 1 and str(tmp_path / "none") in run.err


CLOSED = ["/bin/sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh"]


def test_a_file_of_the_store_never_gets_the_number_of_a_closed_stream(store, tmp_path):
    """The worker logs its start and its end to standard error."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
        notify.bind(str(tmp_path / "notify"))
        notify.settimeout(30)
        worker = subprocess.Popen([*CLOSED, PROGRAM, "--store", store, "worker"],
                                  env={"PATH": os.environ["PATH"], "NOTIFY_SOCKET": str(tmp_path / "notify")})
        try:
            while "READY=1" not in notify.recv(4096).decode():
                pass
        finally:
            worker.terminate()
        assert worker.wait(30) == 0
    stats = sluice("queue", "stats", store=store)
    assert (stats.status, stats.err) == (0, "")


def test_output_to_a_closed_stream_is_an_error(store):
    listed = subprocess.run(["/bin/sh", "-c", 'exec "$@" >&-', "sh", PROGRAM, "--store", store, "account", "list"],
                            stderr=subprocess.PIPE, check=False)
    assert (listed.returncode, listed.stderr) == (1, b"sluice: the output could not be written completely\n")
