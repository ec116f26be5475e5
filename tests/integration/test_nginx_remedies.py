"""The remedies of `nginx -t` for a store that the workers cannot use, performed by a shell."""

import json
import os
import re
import shutil
import signal
import stat
import subprocess

import pytest

from harness import paths, remedies
from harness.cli import Sluice
from harness.edge import Edge, pwd_group
from harness.http_block import EVENTS

USER = "www-data"
HTTP = "sluice_store @STORE@ thread_pool=sluice offload_pool=offload;\nserver { listen 127.0.0.1:@PORT@; " + EVENTS + " }"

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="nginx gives its workers another user")


@pytest.fixture
def edge():
    with Edge(HTTP, user=USER, create=False) as made:
        made.expect_log(r"\[emerg\]")
        yield made


def told(edge):
    """Returns the line of nginx that says what it refuses."""
    code, said = edge.test_configuration()
    assert code != 0, said
    return next(line for line in said.splitlines() if "[emerg]" in line)


def is_well(edge):
    code, said = edge.test_configuration()
    return code == 0, said


def perform(edge, rounds=4):
    """Does what nginx says, and what doctor says if nginx asks for it. Returns what nginx said."""
    said = []
    while len(said) < rounds and not is_well(edge)[0]:
        said.append(told(edge))
        (command,) = remedies.commands(said[-1])
        if not command.endswith(" doctor"):
            remedies.shell(command, edge.store)
        for finding in remedies.findings(edge.store) if command.endswith(" doctor") else []:
            if finding["check"] != "worker":
                remedies.perform(finding["remedy"], edge.store)
    assert is_well(edge)[0], (said, is_well(edge)[1])
    return said


def test_a_store_is_made_that_nginx_opens(edge):
    """It was made without the group, and the next message did not say how to give it one."""
    (said,) = perform(edge)
    assert f"init --group {pwd_group(USER)}" in said
    edge.start()
    edge.wait_until_open()


def test_a_store_without_a_group_gets_one(edge):
    edge.sluice("init")
    edge.sluice("account", "create", "acme")
    (said,) = perform(edge)
    assert f"store set --group {pwd_group(USER)}" in said
    assert [row for row in remedies.findings(edge.store) if row["check"] != "worker"] == []
    fresh = edge.folder / "fresh"
    edge.sluice("--store", fresh, "init", "--group", pwd_group(USER))
    edge.sluice("--store", fresh, "account", "create", "acme")
    for path in sorted(fresh.rglob("*")):
        there = edge.store / path.relative_to(fresh)
        same = path.relative_to(fresh).parts[0] in ("archive", "ledger", "master.key", "command.key", "worker.lock")
        assert path.stat().st_mode == there.stat().st_mode, path
        assert same or path.stat().st_gid == there.stat().st_gid or path.parent.name == "registry", path
    edge.start()
    edge.wait_until_open()


@pytest.mark.parametrize("path, mode", [
    ("queue", 0o700), ("queue/data.mdb", 0o640), ("registry/published", 0o600)])
def test_a_mode_without_rights_of_the_group_is_mended(edge, path, mode):
    """The user was in the group already, and was to be added to it."""
    edge.sluice("init", "--group", pwd_group(USER))
    (edge.store / path).chmod(mode)
    (said,) = perform(edge)
    assert str(edge.store / path) in said


@pytest.mark.parametrize("path", ["queue/control", "registry/published", "registry/generation"])
def test_a_file_that_is_missing_is_made_again(edge, path):
    """A new store was to be made, which `sluice init` refuses to do over this one."""
    edge.sluice("init", "--group", pwd_group(USER))
    edge.sluice("account", "create", "acme")
    (edge.store / path).unlink()
    (said,) = perform(edge)
    assert "init" not in said


def test_a_folder_above_the_store_is_opened(edge):
    above = edge.folder / "above"
    above.mkdir(mode=0o700)
    edge.store = edge.sluice.store = above / "store"
    edge.sluice("--store", edge.store, "init", "--group", pwd_group(USER))
    edge.values["STORE"] = str(edge.store)
    edge.configure(HTTP)
    (said,) = perform(edge)
    assert f"chmod o+x {above}" in said and stat.S_IMODE(above.stat().st_mode) == 0o701


def test_the_user_is_added_to_the_group_of_the_store(edge, tmp_path):
    """usermod changes /etc, so it has one of its own."""
    edge.sluice("init", "--group", "games")
    said = told(edge)
    (command,) = remedies.commands(said)
    assert command == f"usermod -aG games {USER}"
    etc = tmp_path / "etc"
    subprocess.run(["cp", "-a", "/etc", etc], check=True)
    script = f'mount --make-rprivate / && mount --bind {etc} /etc && {command} && exec "$@"'
    done = subprocess.run(["unshare", "-m", "bash", "-euc", script, "bash", *edge.command("-t")],
                          env=edge.nginx_environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "test is successful" in done.stderr, done
    assert not is_well(edge)[0], "the machine's own /etc is as before"


@pytest.mark.parametrize("harm", ["mode", "link"])
def test_a_key_that_nginx_refuses_is_mended(edge, harm):
    edge.sluice("init", "--group", pwd_group(USER))
    key = edge.store / "master.key"
    if harm == "mode":
        key.chmod(0o440)
    else:
        key.rename(edge.folder / "key")
        key.symlink_to(edge.folder / "key")
    said = told(edge)
    remedies.perform(said, edge.store)
    if harm == "link":
        assert not key.is_symlink()
        shutil.copy2(edge.folder / "key", key)  # "restore the file from a backup"
    assert is_well(edge)[0], is_well(edge)[1]


def test_a_file_system_is_mounted_writable(edge):
    disk = edge.folder / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=755", "sluice-test", disk], check=True)
    try:
        edge.store = edge.sluice.store = disk / "store"
        edge.sluice("--store", edge.store, "init", "--group", pwd_group(USER))
        edge.values["STORE"] = str(edge.store)
        edge.configure(HTTP)
        subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
        assert "is on a read-only file system: mount it writable" in told(edge)
        subprocess.run(["mount", "-o", "remount,rw", disk], check=True)
        edge.start()
        edge.wait_until_open()
        edge.stop()
    finally:
        subprocess.run(["umount", disk], check=True)


def test_an_nginx_of_one_process_is_stopped_and_started(edge):
    edge.sluice("init", "--group", pwd_group(USER))
    edge.configure(HTTP, "master_process off;")
    edge.start()
    edge.send_signal(signal.SIGHUP)
    paths.wait_until(lambda: "which is for debugging: stop and start nginx" in edge.log(), "the refusal")
    edge.stop()
    edge.start()
    assert edge.process.poll() is None


def of_nginx(edge, conf):
    run = edge.sluice.run("doctor", "--nginx", paths.NGINX, "--nginx-conf", conf, "--format", "json")
    return [row for row in json.loads(run.stdout) if row["check"] == "nginx"]


def test_a_configuration_is_corrected(edge):
    """`nginx -t` says where: file, line and what it expects."""
    edge.sluice("init", "--group", pwd_group(USER))
    edge.configure(HTTP.replace("sluice_ingest", "sluice_ingests", 1))
    ((finding),) = of_nginx(edge, edge.conf)
    assert finding["remedy"] == "correct the configuration; `nginx -t` says where"
    said = told(edge)
    file, line = re.search(r"in (\S+):(\d+)$", said).groups()
    lines = open(file).read().splitlines(True)
    lines[int(line) - 1] = lines[int(line) - 1].replace("sluice_ingests", "sluice_ingest")
    open(file, "w").writelines(lines)
    ((finding),) = of_nginx(edge, edge.conf)
    assert finding["result"] == "ok"


def test_nginx_and_doctor_name_one_store(edge):
    edge.sluice("init", "--group", pwd_group(USER))
    other = Sluice(edge.folder / "other")
    other("init", "--group", pwd_group(USER))
    edge.sluice = other
    ((finding),) = of_nginx(edge, edge.conf)
    assert finding["remedy"] == "name the same store in nginx.conf and to sluice"
    edge.conf.write_text(edge.conf.read_text().replace(str(edge.store), str(other.store)))
    ((finding),) = of_nginx(edge, edge.conf)
    assert finding["result"] == "ok"


def change_zone(master):
    """Gives the shared zone of a running nginx the layout of another version."""
    with open(f"/proc/{master}/maps") as maps, open(f"/proc/{master}/mem", "r+b", buffering=0) as memory:
        for begin, end in (line.split(" ")[0].split("-") for line in maps if " rw-s " in line):
            memory.seek(int(begin, 16))
            at = memory.read(int(end, 16) - int(begin, 16)).find(b"!Slzone1")  # ngx_module/shared/zone.cpp
            if at >= 0:
                memory.seek(int(begin, 16) + at + 8)
                memory.write(b"\xff")
                return
    raise AssertionError("no zone")


def test_a_zone_of_another_version_of_the_module_needs_a_restart():
    with Edge(HTTP) as edge:
        edge.expect_log(r"\[emerg\]")
        edge.start()
        change_zone(edge.master)
        edge.send_signal(signal.SIGHUP)
        paths.wait_until(lambda: "restart nginx instead of reloading it" in edge.log(), "nginx to refuse the zone")
        edge.stop()
        edge.start()
        edge.reload()
        assert edge.log().count("restart nginx instead of reloading it") == 1


LIMITED = """limit_req_zone $binary_remote_addr zone=mine:1m rate=1r/m;
sluice_store @STORE@ thread_pool=sluice offload_pool=offload;
server { listen 127.0.0.1:@PORT@; location /sluice/ { sluice_status; } """ + EVENTS.replace("sluice_ingest events;", "sluice_ingest events; @MINE@") + " }"


def test_the_limit_of_another_module_is_found_in_the_log_and_removed():
    with Edge(LIMITED.replace("@MINE@", "limit_req zone=mine burst=5 nodelay;")) as edge:
        edge.start()

        def problems():
            page = json.loads(edge.request("GET", "/sluice/status.json", []).body)
            return [one["code"] for one in page["problems"]]

        def is_said():
            edge.request("POST", "/event/ecomm", [("Content-Type", "application/json")], b"{}")
            return "limited_before" in problems()

        paths.wait_until(is_said, "the status page to say it", 60)
        edge.stop()
        assert 'by zone "mine"' in edge.log()
        edge.configure(LIMITED.replace("@MINE@", ""))
        edge.start()
        assert "limited_before" not in problems()
