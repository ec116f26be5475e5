"""A real Prometheus scrapes a real nginx and a real `sluice serve`, as docs/operations.md configures it."""

import json
import re
import subprocess
import urllib.error
import urllib.parse
import urllib.request

import pytest

from harness import orders, paths
from harness.http_block import http_block
from harness.serve import Serve

RULES = paths.ROOT / "conf" / "prometheus" / "sluice.rules.yml"
SERVER = (paths.ROOT / "conf" / "nginx" / "sluice-server.conf").read_text()


def documented(port):
    """The configuration that the page shows, for this server, every second."""
    page = (paths.ROOT / "docs" / "operations.md").read_text()
    (shown,) = re.findall(r"```yaml\n# prometheus.yml\n(.*?)```", page, re.S)
    assert shown.count("127.0.0.1:8080") == 2 and "/usr/share/sluice/prometheus/sluice.rules.yml" in shown
    shown = shown.replace("127.0.0.1:8080", f"127.0.0.1:{port}").replace("/usr/share/sluice/prometheus/sluice.rules.yml", str(RULES))
    return "global: {scrape_interval: 1s, evaluation_interval: 1s}\n" + shown


@pytest.fixture
def prometheus(tmp_path):
    """A function: starts one that scrapes a port, gives the function that asks it."""
    running = []

    def start(port):
        (tmp_path / "prometheus.yml").write_text(documented(port))
        own = paths.free_port()
        log = open(tmp_path / "log", "w")
        process = subprocess.Popen(
            ["prometheus", f"--config.file={tmp_path}/prometheus.yml",
             f"--storage.tsdb.path={tmp_path}/data", f"--web.listen-address=127.0.0.1:{own}"],
            stdout=log, stderr=log,
        )
        running.append((process, log))

        def ask(path, **query):
            url = f"http://127.0.0.1:{own}/api/v1/{path}?{urllib.parse.urlencode(query)}"
            try:
                with urllib.request.urlopen(url, timeout=5) as answer:
                    return json.load(answer)["data"]
            except (urllib.error.URLError, ConnectionError):
                assert process.poll() is None, (tmp_path / "log").read_text()
                return None

        return ask

    yield start
    for process, log in running:
        process.terminate()
        process.wait(timeout=60)
        log.close()


def test_prometheus_scrapes_nginx_and_serve(start_edge, new_merchant, prometheus):
    """6 of 27 alerts could never fire, because nothing scraped `sluice serve`."""
    folder = paths.make_folder()
    http = http_block("include /dev/null;").replace("include /dev/null;", SERVER.replace("/run/sluice/read.sock", f"{folder}/read.sock"))
    edge = start_edge(http)
    merchant = new_merchant(edge, "acme")
    with Serve(edge.store, folder):
        for _ in range(7):
            assert merchant.event("ORDER_CREATE", orders.order()).status == 200
        assert edge.request("POST", "/event/ecomm", [], b"").status == 401
        edge.sluice.drain()
        edge.sluice("notify", "add", "erp", "--account", "acme", "--url", "https://127.0.0.1:1/", "--allow-private", "127.0.0.0/8")
        ask = prometheus(edge.port)

        def value(query):
            data = ask("query", query=query)
            return float(data["result"][0]["value"][1]) if data and data["result"] else None

        accepted = 'sluice_requests_total{endpoint="events",result="accepted"}'
        paths.wait_until(lambda: value(accepted) == 7, "the counter", deadline=60)
        paths.wait_until(lambda: value("sluice_read_connections"), "the figures of serve", deadline=60)
        assert value('up{job="sluice"}') == value('up{job="sluice-serve"}') == 1
        assert value("sluice_ready") == 1
        assert value("histogram_quantile(0.99, sluice_commit_duration_seconds_bucket)") > 0
        assert value("count(sluice_build_info)") == 1
        assert value("count(count by (instance) ({job=~'sluice.*'}))") == 1, "the dashboard filters by instance"
        assert value('sluice_notify_lag_changes{destination="erp"}') is not None

        for target in ask("targets")["activeTargets"]:
            assert target["health"] == "up", target["lastError"]
        rules = ask("rules")["groups"][0]["rules"]
        assert len(rules) > 10
        bad = [rule for rule in rules if rule["health"] == "err"]
        assert not bad, bad
    edge.expect_log(r"\[crit\].*/read.sock failed \(2: No such file or directory\).*GET /sluice/serve/metrics")
    paths.wait_until(lambda: value('up{job="sluice-serve"}') == 0, "the loss of serve", deadline=60)
    assert value('up{job="sluice"}') == 1
    paths.drop_folder(folder)
