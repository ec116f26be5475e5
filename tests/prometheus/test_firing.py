"""A real Prometheus with the shipped rules, as they are, and the recorded states of *_test.yml as its past:
every alert fires. The states end now; ALERTS_FOR_STATE says since when each alert was pending, as after a restart."""
import json
import re
import subprocess
import time
import urllib.error
import urllib.request

import pytest
import yaml
from harness import paths

RULES = paths.ROOT / "conf" / "prometheus" / "sluice.rules.yml"
STATES = sorted((paths.ROOT / "tests" / "prometheus").glob("*_test.yml"))
SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
LONGEST = 8 * 86400  # no alert waits longer
SEEN = 2 * 86400  # what the expressions look at


def seconds(text):
    return sum(int(number) * SECONDS[unit] for number, unit in re.findall(r"(\d+)([smhd])", str(text)))


def values_of(text):
    """promtool's notation: `a+bxn` are n + 1 values, `axn` n + 1 equal ones."""
    values = []
    for part in text.split():
        first, step, times = re.fullmatch(r"([\d.]+)(?:\+([\d.]+))?x(\d+)", part).groups()
        values += [float(first) + float(step or 0) * i for i in range(int(times) + 1)]
    return values


def labels_text(labels):
    return ",".join(f'{name}="{value}"' for name, value in sorted(labels.items()))


class Past:
    """Series of OpenMetrics; each recorded state is an instance of its own, and is over at `now`."""

    def __init__(self, now):
        self.now, self.lines, self.expected = now, [], []

    def add(self, number, test):
        fires = [case for case in test["alert_rule_test"] if case["exp_alerts"]]
        for case_number, case in enumerate(fires):
            edge, end = f"edge-{number}-{case_number}", seconds(case["eval_time"])
            for series in test["input_series"]:
                self.add_series(series, edge, seconds(test["interval"]), end)
            for alert in case["exp_alerts"]:
                labels = {"alertname": case["alertname"], **alert["exp_labels"], "instance": edge}
                self.expected.append(labels)
                self.lines += [f"ALERTS_FOR_STATE{{{labels_text(labels)}}} {self.now - LONGEST} {self.now - ago}" for ago in (60, 30)]

    def add_series(self, series, edge, interval, end):
        name = re.sub(r'instance="\w+"', f'instance="{edge}"', series["series"])
        assert edge in name, name
        shift = self.now - end if "timestamp_seconds" in name else 0
        for i, value in enumerate(values_of(series["values"])):
            if end - SEEN <= i * interval <= end:
                self.lines.append(f"{name} {value + shift} {self.now - end + i * interval}")

    def write(self, path):
        path.write_text("\n".join(self.lines) + "\n# EOF\n")


@pytest.fixture
def prometheus(tmp_path):
    """A function: starts one over a past, gives the function that asks it."""
    running = []

    def start(past):
        past.write(tmp_path / "past.om")
        made = subprocess.run(["promtool", "tsdb", "create-blocks-from", "openmetrics", tmp_path / "past.om", tmp_path / "data"],
                              capture_output=True, text=True, check=False)
        assert made.returncode == 0, made.stderr
        (tmp_path / "prometheus.yml").write_text(f"global: {{evaluation_interval: 1s}}\nrule_files: ['{RULES}']\n")
        port = paths.free_port()
        with open(tmp_path / "log", "w") as log:
            process = subprocess.Popen(
                ["prometheus", f"--config.file={tmp_path}/prometheus.yml", f"--storage.tsdb.path={tmp_path}/data",
                 "--rules.alert.for-grace-period=0s", f"--web.listen-address=127.0.0.1:{port}"], stdout=log, stderr=log)
        running.append(process)

        def ask(path):
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/{path}", timeout=10) as answer:
                    return json.load(answer)["data"]
            except (urllib.error.URLError, ConnectionError):
                assert process.poll() is None, (tmp_path / "log").read_text()
                return None

        return ask

    yield start
    for process in running:
        process.terminate()
        process.wait(timeout=60)


def test_every_alert_fires(prometheus):
    past = Past(int(time.time()))
    for number, test in enumerate(test for path in STATES for test in yaml.safe_load(path.read_text())["tests"]):
        past.add(number, test)
    alerts = set(re.findall(r"alert: (\w+)", RULES.read_text()))
    assert {labels["alertname"] for labels in past.expected} == alerts
    ask = prometheus(past)

    def missing():
        data = ask("alerts")
        firing = [alert["labels"] for alert in data["alerts"] if alert["state"] == "firing"] if data else []
        return [labels for labels in past.expected if labels not in firing]

    paths.wait_until(lambda: not missing(), "every alert to fire", deadline=60)
