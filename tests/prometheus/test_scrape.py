"""A real Prometheus scrapes a real nginx, with the shipped rules loaded."""

import json
import subprocess
import urllib.error
import urllib.parse
import urllib.request

import pytest

from harness import orders, paths
from harness.http_block import EVENTS, STATUS, http_block

CONFIG = http_block(EVENTS, STATUS)

SCRAPE = """
global: {{scrape_interval: 1s, evaluation_interval: 1s}}
rule_files: ["{rules}"]
scrape_configs:
  - job_name: sluice
    metrics_path: /sluice/metrics
    static_configs: [{{targets: ["127.0.0.1:{port}"]}}]
"""


@pytest.fixture
def prometheus(tmp_path):
    """A function: starts one that scrapes a port, gives the function that asks it."""
    running = []

    def start(port):
        (tmp_path / "prometheus.yml").write_text(
            SCRAPE.format(rules=paths.ROOT / "conf/prometheus/sluice.rules.yml", port=port)
        )
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


def test_prometheus_scrapes_nginx(start_edge, new_merchant, prometheus):
    edge = start_edge(CONFIG)
    merchant = new_merchant(edge, "acme")
    for _ in range(7):
        assert merchant.event("ORDER_CREATE", orders.order()).status == 200
    ask = prometheus(edge.port)

    def value(query):
        data = ask("query", query=query)
        return float(data["result"][0]["value"][1]) if data and data["result"] else None

    accepted = 'sluice_requests_total{endpoint="events",result="accepted"}'
    paths.wait_until(lambda: value(accepted) == 7, "the counter", deadline=60)
    paths.wait_until(lambda: value("sluice_queue_records") == 7, "the queue", deadline=60)
    assert value('up{job="sluice"}') == 1
    assert value("sluice_ready") == 1
    assert value("histogram_quantile(0.99, sluice_commit_duration_seconds_bucket)") > 0
    assert value("count(sluice_build_info)") == 1

    target = ask("targets")["activeTargets"][0]
    assert target["health"] == "up", target["lastError"]
    rules = ask("rules")["groups"][0]["rules"]
    assert len(rules) > 10
    bad = [rule for rule in rules if rule["health"] == "err"]
    assert not bad, bad

    # No worker runs here: the alert about it becomes pending.
    def pending():
        states = {rule["name"]: rule["state"] for rule in ask("rules")["groups"][0]["rules"]}
        return states["SluiceWorkerDown"] in ("pending", "firing")

    paths.wait_until(pending, "SluiceWorkerDown", deadline=60)
