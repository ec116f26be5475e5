"""docs/security.md, Secrets: they are in no log, core dump, configuration dump, argument or answer."""

import os
import resource
import signal
import subprocess

import pytest

from harness import orders, paths, sign
from harness.edge import children

CONFIG = """
    sluice_store @STORE@ map_size=1g thread_pool=sluice offload_pool=offload;
    include @LOGCONF@;
    proxy_cache_path @DIR@/cache keys_zone=cache:1m;
    server {
        access_log @DIR@/access.log sluice;
        listen 127.0.0.1:@PORT@;
        location = /event/ecomm { sluice_ingest events; client_max_body_size 2m; }
        location = /product-data { sluice_ingest catalog; }
        location /status { sluice_status; }
    }
""".replace("@LOGCONF@", str(paths.ROOT / "conf" / "nginx" / "sluice-log.conf"))

PERSONAL = ["planted-mail@example.org", "planted-phone", "planted-anon-id", "planted-title"]


def processes(edge):
    """The master and everything below it, cache manager included."""
    return [edge.master, *[pid for pid, _ in children(edge.master)]]


def dumps_core(folder):
    """Does this system write a core file into the working directory of who may have one?"""
    child = subprocess.Popen(
        ["sleep", "60"], cwd=folder,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY,) * 2),
    )
    child.send_signal(signal.SIGSEGV)
    child.wait()
    found = list(folder.glob("core*"))
    for path in found:
        path.unlink()
    return bool(found)


@pytest.fixture
def dump_folder(tmp_path):
    tmp_path.chmod(0o777)
    if not dumps_core(tmp_path):
        pytest.skip("this system writes no core files into the working directory")
    return tmp_path


def test_no_core_dump_of_a_worker(start_edge, new_merchant, dump_folder):
    edge = start_edge(CONFIG, main=f"worker_rlimit_core 1g; working_directory {dump_folder};", workers=1)
    edge.expect_log("exited on signal 11")
    merchant = new_merchant(edge, "acme")
    assert merchant.event("ORDER_CREATE", orders.order()).status == 200
    for pid, _ in children(edge.master):
        os.kill(pid, signal.SIGSEGV)
        paths.wait_until(lambda: pid not in dict(children(edge.master)), "the process to end")
    paths.wait_until(lambda: len(edge.workers()) == 1, "a new worker")
    assert edge.log().count("exited on signal 11") >= 2 and "core dumped" not in edge.log()
    assert list(dump_folder.glob("core*")) == []


def test_no_core_dump_of_the_master(start_edge, dump_folder, monkeypatch):
    monkeypatch.chdir(dump_folder)
    before = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY,) * 2)
    try:
        edge = start_edge(CONFIG, workers=1)
    finally:
        resource.setrlimit(resource.RLIMIT_CORE, before)
    below = processes(edge)[1:]
    os.kill(edge.master, signal.SIGSEGV)
    edge.process.wait()
    for pid in below:
        os.kill(pid, signal.SIGKILL)
    edge.master = None
    assert list(dump_folder.glob("core*")) == []


def test_processes_of_the_same_user_cannot_read_a_workers_memory(start_edge):
    """The files of a process that may not be dumped belong to root, whatever user it runs as."""
    edge = start_edge(CONFIG, user="www-data")
    paths.wait_until(
        lambda: any("cache manager" in title for _, title in children(edge.master)), "the cache manager"
    )
    below = processes(edge)[1:]
    # nginx allows dumps after it has changed the user; the module forbids them a moment later, in each process.
    paths.wait_until(lambda: all(os.stat(f"/proc/{pid}/mem").st_uid == 0 for pid in below), "the module in each process")
    for pid in below:
        reader = subprocess.run(
            ["setpriv", "--reuid", "www-data", "--regid", "www-data", "--clear-groups", "cat", f"/proc/{pid}/maps"],
            capture_output=True, check=False,
        )
        assert reader.returncode != 0 and not reader.stdout


def test_nothing_that_is_written_or_shown_has_a_secret(start_edge, new_merchant):
    edge = start_edge(CONFIG, level="info")
    merchant = new_merchant(edge, "acme")
    with open(edge.folder / "sluice_worker.log", "wb") as log:
        sluice_worker = subprocess.Popen(
            [str(paths.SLUICE), "worker"], env=edge.sluice.environment, stdout=log, stderr=log
        )
    order = orders.order(email=PERSONAL[0], phone=PERSONAL[1], svc_anon_id=PERSONAL[2])
    body = sign.encode(order)
    headers = sign.event_headers(merchant.shop, merchant.secret, "ORDER_CREATE", body)
    signature = sign.hmac_hex(merchant.secret, body)
    answers = [
        merchant.event("ORDER_CREATE", order),
        merchant.event("ORDER_CREATE", {**order, "amount": PERSONAL[1], "tax": merchant.secret}),
        edge.request("POST", sign.EVENTS, sign.replaced(headers, x_signature="sha256=" + signature), body),
        edge.request("POST", sign.EVENTS, sign.replaced(headers, x_svc_shop_id=merchant.secret), body),
        merchant.catalog("PRODUCT_UPSERT", {"products": [{"platform_product_id": "p", "title": PERSONAL[3]}]}, "k"),
        merchant.catalog("PRODUCT_UPSERT", {"products": [{"title": PERSONAL[3]}]}, "k2"),
        edge.post_catalog(merchant.shop, merchant.secret[:-1], "PRODUCT_UPSERT", b"{}", "k3"),
        *[edge.request("GET", f"/status{page}", []) for page in ("/", "/status.json", "/metrics", "/ready")],
    ]
    assert [answer.status for answer in answers] == [200, 400, 401, 401, 200, 422, 403] + [200] * 4
    paths.wait_until(lambda: edge.sluice.stats()["depth"] == 0, "the worker to apply all")

    shown = {f"answer {number}": repr(answer) for number, answer in enumerate(answers)}
    for pid in [*processes(edge), sluice_worker.pid]:
        for name in ("cmdline", "environ"):
            with open(f"/proc/{pid}/{name}", "rb") as file:
                shown[f"{name} of {pid}"] = file.read().decode(errors="replace")
    sluice_worker.terminate()
    assert sluice_worker.wait(timeout=paths.DEADLINE) == 0
    dump = subprocess.run(edge.command("-T"), capture_output=True, text=True, check=True)
    shown["nginx -T"] = dump.stdout + dump.stderr
    for name in ("access.log", "error.log", "stderr", "sluice_worker.log"):
        shown[name] = (edge.folder / name).read_text()
    shown["doctor"] = edge.sluice.run("doctor").stdout
    key = (edge.store / "master.key").read_text().strip()
    assert len(key) == 64 and "sluice_store" in shown["nginx -T"] and shown["sluice_worker.log"]
    for name, text in shown.items():
        for secret in (merchant.secret, merchant.secret[:-1], key, signature, *PERSONAL):
            assert secret not in text, f"{name} has {secret}"


@pytest.mark.parametrize("mode", [0o440, 0o404, 0o640, 0o604, 0o660])
def test_a_master_key_that_others_may_read_is_refused(start_edge, mode):
    edge = start_edge(CONFIG)
    edge.sluice.account("acme")
    key = edge.store / "master.key"
    key.chmod(mode)
    code, said = edge.test_configuration()
    assert code != 0 and str(key) in said
    said = edge.sluice.refuses("token", "create", "--account", "acme", "--scope", "write_orders")
    assert str(key) in said
    said = edge.sluice.refuses("key", "rotate")
    assert str(key) in said
    key.chmod(0o400)
    assert edge.test_configuration()[0] == 0


def test_a_token_file_that_others_may_read_is_refused(start_edge, tmp_path):
    edge = start_edge(CONFIG)
    secret, body = tmp_path / "secret", tmp_path / "orders.ndjson"
    secret.write_text("a secret of sixteen bytes\n")
    body.write_bytes(sign.encode(orders.order()) + b"\n")
    commands = [
        ["sign", body, "--token-file", secret],
        ["verify", body, "--token-file", secret, "--signature", "0" * 64],
        ["send", "events", body, "--url", f"http://127.0.0.1:{edge.port}", "--shop", "s", "--token-file", secret],
    ]
    for mode in (0o644, 0o640, 0o604):
        secret.chmod(mode)
        for command in commands:
            assert str(secret) in edge.sluice.refuses(*command)
    secret.chmod(0o600)
    edge.sluice(*commands[0])
