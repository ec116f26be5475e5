"""The shipped alert rules and dashboard: valid, tested on recorded states, about metrics that exist."""

import json
import re
import subprocess

import pytest
from harness import paths

RULES = paths.ROOT / "conf" / "prometheus" / "sluice.rules.yml"
DASHBOARD = paths.ROOT / "conf" / "grafana" / "sluice.json"
HERE = paths.ROOT / "tests" / "prometheus"
STATES = sorted(HERE.glob("*_test.yml"))
SUFFIXES = ("_bucket", "_sum", "_count")


def promtool(*arguments):
    return subprocess.run(
        ["promtool", *map(str, arguments)], capture_output=True, text=True, check=False, cwd=HERE
    )


def metrics_of_the_source():
    sources = [paths.ROOT / "core" / "status" / "prometheus.cpp", *(paths.ROOT / "serve" / "http").glob("*.cpp")]
    return {name for source in sources for name in re.findall(r'"(sluice_[a-z_]+)[" {]', source.read_text())}


def metrics_used(text):
    for name in re.findall(r"\bsluice_[a-z_]+\b", text):
        known = metrics_of_the_source()
        base = next((name.removesuffix(s) for s in SUFFIXES if name.endswith(s)), name)
        yield name, name in known or base in known


def test_the_rules_are_valid():
    result = promtool("check", "rules", RULES)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("states", STATES, ids=lambda path: path.stem)
def test_each_alert_fires_on_its_state_and_not_on_a_healthy_one(states):
    result = promtool("test", "rules", states.name)
    assert result.returncode == 0, result.stdout + result.stderr


def test_every_alert_is_tested_both_ways():
    alerts = re.findall(r"alert: (\w+)", RULES.read_text())
    tests = "".join(path.read_text() for path in STATES)
    assert len(alerts) > 10
    for alert in alerts:
        assert re.search(rf"alertname: {alert}\n\s+exp_alerts:\n\s+- exp_labels", tests), alert
        quiet = re.search(rf"alertname: {alert}, exp_alerts: \[\]", tests)
        assert quiet or alert == "SluiceDown", alert


def test_rules_and_dashboard_use_metrics_that_exist():
    expressions = [
        target["expr"]
        for panel in json.loads(DASHBOARD.read_text())["panels"]
        for target in panel["targets"]
    ]
    rules = "\n".join(
        line for line in RULES.read_text().splitlines() if "runbook" not in line
    )
    for text in [rules, *expressions]:
        missing = [name for name, known in metrics_used(text) if not known]
        assert not missing, missing
