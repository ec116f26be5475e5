"""`sluice doctor` about the nginx in front of the store: which one it is, and who may read its status page."""

import os
import re
import shutil
import struct
import subprocess

import pytest

from harness import cli, paths
from harness.http_block import EVENTS

HEAD = "sluice_store @STORE@ map_size=1g thread_pool=sluice offload_pool=offload;\n"
SERVER = "server { listen 127.0.0.1:@PORT@; %s " + EVENTS + " %s }"


def findings(edge, check, *line):
    if "--nginx-conf" in line and "--nginx" not in line:
        line += ("--nginx", paths.NGINX)  # another machine's standard nginx is not the one under test
    run = edge.sluice.run("doctor", "--format", "json", *line)
    assert run.returncode in (0, 1), run.stderr
    import json

    return [(row["result"], row["finding"], row["remedy"]) for row in json.loads(run.stdout) if row["check"] == check]


def status_page(edge):
    return findings(edge, "status page", "--nginx-conf", str(edge.conf))


def test_the_configuration_of_a_running_nginx_is_found(start_edge):
    """It was started with -c: the default configuration knows nothing of sluice."""
    edge = start_edge(HEAD + SERVER % ("", ""))
    assert findings(edge, "nginx")[0][:2] == ("ok", "its configuration is right and names this store")
    edge.stop()
    assert findings(edge, "nginx")[0][0] != "ok"


def test_the_log_of_another_nginx_is_left_alone(start_edge):
    """`nginx -T` writes its errors to the log that the configuration names."""
    edge, other = start_edge(HEAD + SERVER % ("", "")), start_edge(HEAD + SERVER % ("", ""))
    other.wait_until_open()
    (other.store / "format").rename(other.store / "format.away")
    try:
        assert findings(edge, "nginx")[0][0] == "ok"
        assert findings(edge, "nginx", "--store", "/nowhere")[0][0] != "ok"
        assert "is not a store" not in other.log()
    finally:
        (other.store / "format.away").rename(other.store / "format")


def test_another_program_than_the_installed_nginx_is_asked(start_edge):
    edge = start_edge(HEAD + SERVER % ("", ""))
    program = edge.folder / "angie"
    program.write_text(f"#!/bin/sh\necho 'nginx: [emerg] unknown directive \"{edge.folder.name}\"' >&2\nexit 1\n")
    program.chmod(0o755)
    ((result, finding, _),) = findings(edge, "nginx", "--nginx", program)
    assert result == "problem" and edge.folder.name in finding
    ((result, finding, remedy),) = findings(edge, "nginx", "--nginx", "/nowhere/nginx")
    assert (result, finding) == ("note", "there is no program /nowhere/nginx") and "--nginx" in remedy
    assert findings(edge, "nginx", "--nginx", paths.NGINX, "--nginx-conf", str(edge.conf))[0][0] == "ok"


def test_a_signal_that_ends_nginx_is_named(start_edge):
    """A module for another TLS library does this: nginx says nothing itself."""
    edge = start_edge(HEAD + SERVER % ("", ""))
    program = edge.folder / "nginx-that-dies"
    program.write_text("#!/bin/sh\nkill -SEGV $$\n")
    program.chmod(0o755)
    ((result, finding, remedy),) = findings(edge, "nginx", "--nginx", program)
    assert result == "problem" and "signal 11 (Segmentation fault)" in finding and "load_module" in remedy


def test_a_module_that_ends_nginx_is_found_by_leaving_out_one_after_the_other(start_edge):
    edge = start_edge(HEAD + SERVER % ("", ""))
    program = edge.folder / "nginx-of-two-modules"
    program.write_text(f"#!/bin/sh\ngrep -q '^load_module .*/bad.so;' {edge.conf} && kill -SEGV $$\nexec {paths.NGINX} \"$@\"\n")
    program.chmod(0o755)
    lines = edge.conf.read_text().splitlines(True)
    lines.insert(0, "load_module /nowhere/bad.so;\n")

    def found(lines):
        edge.conf.write_text("".join(lines))
        ((result, finding, remedy),) = findings(edge, "nginx", "--nginx", program, "--nginx-conf", str(edge.conf))
        assert ("leave out one load_module after the other" in (remedy or "")) == ("signal 11" in finding), (finding, remedy)
        return result, "signal 11" in finding

    assert found(lines) == ("problem", True)
    modules = [line for line in lines if line.startswith("load_module")]
    without = {module: found([line for line in lines if line != module]) for module in reversed(modules)}
    assert [without[module] for module in modules] == [("ok", False), *[("problem", True)] * (len(modules) - 1)]


SHIPPED = "location /sluice/ { sluice_status; allow 127.0.0.1; allow ::1; deny all; }"


@pytest.mark.parametrize("server,extra,wanted", [
    ("", SHIPPED, ("note", "allows this machine")),
    ("", "location /sluice/ { sluice_status; }", ("note", "answers every address")),
    ("allow 127.0.0.1; deny all;", "location /sluice/ { sluice_status; }", ("note", "allows this machine")),
    ("", "location /sluice/ { sluice_status; allow 10.0.0.0/8; deny all; }", None),
    ("", "location /sluice/ { sluice_status; auth_basic x; auth_basic_user_file /dev/null; }", None),
    ("set_real_ip_from 127.0.0.1;", SHIPPED, None),
    ("", "location /sluice/ { sluice_status; set_real_ip_from 127.0.0.1; }", None),
    ("", "location / { location = /metrics { sluice_status; } allow 127.0.0.1; deny all; }",
     ("note", "allows this machine")),
    ("", "location = /ready { sluice_status; }", None),
    ("", "location = /status/health { sluice_status; }", None),
])
def test_a_proxy_here_could_read_the_status_page(start_edge, server, extra, wanted):
    edge = start_edge(HEAD + SERVER % (server, extra))
    found = status_page(edge)
    assert [(result, wanted[1] in finding) for result, finding, _ in found] == ([(wanted[0], True)] if wanted else [])


@pytest.mark.parametrize("target", ["http://127.0.0.1:@PORT@", "http://localhost:@PORT@/", "http://backend"])
def test_a_proxy_in_the_same_nginx_is_a_problem(start_edge, target):
    upstream = "upstream backend { server 127.0.0.1:@PORT@; }\n" if target.endswith("backend") else ""
    proxy = "server { listen 127.0.0.1:@PORT2@; location / { proxy_pass " + target + "; } }\n"
    edge = start_edge(HEAD + upstream + proxy + SERVER % ("", SHIPPED))
    assert edge.request("GET", "/sluice/health", []).status == 200
    ((result, finding, remedy),) = status_page(edge)
    assert result == "problem" and "forwards requests to" in finding and "set_real_ip_from" in remedy


def test_an_included_snippet_is_read_where_it_is_included(start_edge):
    snippet = paths.ROOT / "conf" / "nginx" / "sluice-server.conf"
    edge = start_edge(HEAD + "server { listen 127.0.0.1:@PORT@; include " + str(snippet) + "; }")
    assert [(result, "127.0.0.1" in finding) for result, finding, _ in status_page(edge)] == [("note", True)]


def test_a_user_without_rights_is_not_sent_to_init(start_edge):
    edge = start_edge(HEAD + SERVER % ("", ""))
    program = edge.folder / "sluice"
    shutil.copy(paths.SLUICE, program)
    os.chmod(edge.folder, 0o755)
    os.chmod(program, 0o755)
    os.chmod(edge.store, 0o700)
    run = subprocess.run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", str(program),
                          "--store", str(edge.store), "doctor"], capture_output=True, text=True, check=False)
    assert run.returncode == 1
    line = next(line for line in run.stdout.splitlines() if line.startswith("store"))
    assert "Permission denied" in line and "init" not in line and "run doctor as root" in line
    assert "sluice init" in cli.Sluice(edge.folder / "nowhere").run("doctor").stdout


# -- A module of another build -----------------------------------------------------------------------


def refused_module(edge, change):
    """Returns what doctor says once nginx loads a copy of the module that `change` altered."""
    copy = edge.folder / "altered.so"
    copy.write_bytes(change(paths.MODULE.read_bytes()))
    conf = edge.folder / "altered.conf"
    conf.write_text(edge.conf.read_text().replace(str(paths.MODULE), str(copy)))
    ((result, finding, remedy),) = findings(edge, "nginx", "--nginx-conf", str(conf))
    assert result == "problem" and str(copy) in finding, finding
    copy.write_bytes(paths.MODULE.read_bytes())  # as the remedies say: one that was built for this nginx
    assert [one for one in findings(edge, "nginx", "--nginx-conf", str(conf)) if one[0] == "problem"] == []
    return finding, remedy


@pytest.mark.parametrize("place, flag", [
    (34, "--with-compat (only nginx has it)"), (31, "--with-http_dav_module (only nginx has it)"),
    (29, "--with-http_realip_module (only nginx has it)"), (1, "NGX_MODULE_SIGNATURE_1 in nginx's ngx_module.h) (only the module has it)"),
])
def test_the_flag_in_which_nginx_and_module_differ_is_named(start_edge, place, flag):
    """The signature of nginx's src/core/ngx_module.h: three sizes, then a figure for each feature."""
    def flip(binary):
        ((signature, figures),) = set(re.findall(rb"(\d,\d,\d,([01]{30,}))\0", binary))
        assert len(figures) == 34
        other = bytearray(signature)
        other[6 + place - 1] ^= 1
        return binary.replace(signature, bytes(other))

    edge = start_edge(HEAD + SERVER % ("", ""))
    finding, remedy = refused_module(edge, flip)
    assert "is not binary compatible" in finding
    assert remedy.endswith("they differ in " + flag if place != 1 else flag), remedy


def test_the_version_that_a_module_was_built_for_is_named(start_edge):
    edge = start_edge(HEAD + SERVER % ("", ""))
    banner = subprocess.run([str(paths.NGINX), "-v"], capture_output=True, text=True, check=True).stderr
    major, minor, patch = map(int, re.search(r"/(\d+)\.(\d+)\.(\d+)", banner).groups())
    here = struct.pack("<Q", major * 1_000_000 + minor * 1_000 + patch)

    def age(binary):
        assert here in binary  # ngx_module_t.version
        return binary.replace(here, struct.pack("<Q", 1_028_003))

    finding, remedy = refused_module(edge, age)
    assert " instead of " in finding
    assert f"built for nginx 1.28.3, and this is nginx {major}.{minor}.{patch}" in remedy
