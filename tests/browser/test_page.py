"""The status page in a real browser, against a real nginx under load.

No pixels are compared: the screenshot is for people (SLUICE_SCREENSHOT names where to keep it), the
numbers in the page must be those of status.json.
"""

import html.parser
import json
import os
import shutil
import subprocess
import threading

import pytest

from harness import orders, paths
from harness.chromium import CHROMIUM

CONFIG = """
    sluice_store @STORE@ map_size=1g thread_pool=sluice offload_pool=offload;
    sluice_rate_limit 100000 3600s;
    server {
        listen 127.0.0.1:@PORT@;
        location = /event/ecomm { sluice_ingest events; client_max_body_size 1m; }
        location = /product-data { sluice_ingest catalog; client_max_body_size 128m; }
        location /sluice/ { sluice_status; }
    }
"""


class Page(html.parser.HTMLParser):
    """Elements with data-path, and the text of elements with an id."""

    def __init__(self, text):
        super().__init__()
        self.values, self.body, self.charts, self.texts = {}, {}, 0, {}
        self.open = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if "data-path" in attributes:
            self.values[attributes["data-path"]] = attributes.get("data-value")
        if tag == "body":
            self.body = attributes
        if tag == "path" and "series" in attributes.get("class", ""):
            self.charts += 1
        if tag not in ("meta", "link", "br", "path", "line"):
            self.open.append(attributes.get("id"))

    def handle_endtag(self, tag):
        if self.open and tag not in ("meta", "link", "br", "path", "line"):
            self.open.pop()

    def handle_data(self, text):
        for name in self.open:
            if name:
                self.texts[name] = self.texts.get(name, "") + text


def browse(profile, url, *extra):
    command = [
        CHROMIUM, "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
        "--no-first-run", "--hide-scrollbars", f"--user-data-dir={profile}", "--enable-logging=stderr",
        "--v=0", "--virtual-time-budget=6000", "--window-size=1200,1700", *extra, url,
    ]
    return subprocess.run(command, capture_output=True, text=True, timeout=180, check=True)


def look_up(report, path):
    for key in path.split("."):
        report = report[key]
    return report


@pytest.fixture
def busy_edge(start_edge, new_merchant):
    edge = start_edge(CONFIG)
    merchant = new_merchant(edge, "acme")

    def send(stop, sent):
        with edge.connect() as connection:
            while not stop.is_set():
                merchant.event("ORDER_CREATE", orders.order(), connection=connection)
                sent.append(1)

    stop, sent = threading.Event(), []
    threads = [threading.Thread(target=send, args=(stop, sent)) for _ in range(2)]
    for thread in threads:
        thread.start()
    yield edge, merchant, stop, sent, threads
    stop.set()
    for thread in threads:
        thread.join()


def test_the_page_shows_the_figures_of_status_json(busy_edge, tmp_path):
    edge, merchant, stop, sent, threads = busy_edge
    url = f"http://127.0.0.1:{edge.port}/sluice/"
    paths.wait_until(lambda: len(sent) > 50, "some load")
    shot = tmp_path / "page.png"
    result = browse(tmp_path / "profile", url, f"--screenshot={shot}")
    assert shot.stat().st_size > 20_000
    assert "Refused to" not in result.stderr and "Uncaught" not in result.stderr, result.stderr
    if os.environ.get("SLUICE_SCREENSHOT"):
        shutil.copy(shot, os.environ["SLUICE_SCREENSHOT"])

    merchant.event("ORDER_CREATE", {"platform_order_id": "x"})
    stop.set()
    for thread in threads:
        thread.join()
    report = seen_by_every_worker(edge, lambda report: settled(report, len(sent)))

    page = Page(browse(tmp_path / "profile", url, "--dump-dom").stdout)
    assert page.body["data-time"] >= report["time"]
    for path in ("events.requests", "events.results.accepted", "events.results.bad_request",
                 "events.reasons.fields", "queue.depth", "commit_requests.sum", "catalog.requests",
                 "worker.attribution_left"):
        assert page.values[path] == str(look_up(report, path)), path
    for path, value in page.values.items():
        assert value == str(look_up(report, path)), path
    assert page.texts["ready"] == "ready"
    assert page.charts == 7
    assert "as of" in page.texts["since"]
    assert "acme" in page.texts["accounts"]


def settled(report, sent):
    complete = report["queue"] and report["queue"]["depth"] == sent and report["accounts"]
    return complete and report["events"]["results"]["accepted"] == sent


def seen_by_every_worker(edge, good):
    """Waits until each nginx worker has a good report, because each samples the store by itself, once a second, and the
    browser may reach any of them. Returns the last report.

    The last report, once each worker has given one that is good."""
    reports = {}

    def all_good():
        report = json.loads(edge.request("GET", "/sluice/status.json", [], length=False).body)
        reports[report["server"]["pid"]] = report
        return report if all(pid in reports and good(reports[pid]) for pid in edge.workers()) else None

    return paths.wait_until(all_good, "every worker to see it")


def test_the_page_says_when_the_store_is_broken(start_edge, tmp_path):
    edge = start_edge(CONFIG)
    edge.expect_log("removed or replaced|missing|does not exist|is not|No such file")
    shutil.move(edge.store, edge.store.with_name("gone"))
    seen_by_every_worker(edge, lambda report: not report["ready"])
    assert edge.request("GET", "/sluice/ready", [], length=False).status == 503
    page = Page(browse(tmp_path / "profile", f"http://127.0.0.1:{edge.port}/sluice/", "--dump-dom").stdout)
    assert page.texts["ready"] == "not ready: store unavailable"
    assert "Critical" in page.texts["problems"]
    assert "not known" in page.texts["room"]
