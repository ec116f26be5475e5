"""`sluice_status`: what it shows is true, also while the store is broken, and it never waits."""

import json
import re
import shutil
import subprocess

import pytest

from harness import answers, orders, paths, sign

CONFIG = """
    sluice_store @STORE@ map_size=1g thread_pool=sluice offload_pool=offload;
    sluice_rate_limit 1000 3600s;

    server {
        listen 127.0.0.1:@PORT@;
        location = /event/ecomm { sluice_ingest events; client_max_body_size 1m; }
        location = /product-data { sluice_ingest catalog; client_max_body_size 128m; }
        location /sluice/ { sluice_status; }
        location /bare { sluice_status; }
        location = /metrics { sluice_status; }
        location = /exact { sluice_status; }
        location ~ ^/re/ { sluice_status; }
    }
"""


@pytest.fixture
def edge(start_edge):
    return start_edge(CONFIG)


def get(edge, target, method="GET"):
    return edge.request(method, target, [], length=False)


def status(edge):
    answer = get(edge, "/sluice/status.json")
    assert answer.status == 200
    assert answer.header("Content-Type") == "application/json"
    return json.loads(answer.body)


def metrics(edge):
    """{`name{labels}`: value}"""
    answer = get(edge, "/sluice/metrics")
    assert answer.status == 200
    found = {}
    for line in answer.body.decode().splitlines():
        if not line.startswith("#"):
            name, value = line.rsplit(" ", 1)
            found[name] = float(value)
    return found


def wait_for(edge, condition, what):
    """Figures of the queue are a second old at most; accounts too."""
    return paths.wait_until(lambda: condition(status(edge)), what)


def test_the_page_needs_nothing_from_elsewhere_and_says_so(edge):
    answer = get(edge, "/sluice/")
    page = answer.body.decode()
    assert answer.status == 200
    assert answer.header("Content-Type") == "text/html; charset=utf-8"
    policy = answer.header("Content-Security-Policy")
    assert "default-src 'none'" in policy and "unsafe" not in policy
    assert not re.search(r"(?:src|href)=\"(?:https?:)?//", page)
    assert "@import" not in page and "url(" not in page
    assert answer.header("X-Content-Type-Options") == "nosniff"
    assert answer.header("Cache-Control") == "no-store"


@pytest.mark.parametrize(
    ("target", "kind"),
    [
        ("/sluice/", "text/html"),
        ("/bare", "text/html"),
        ("/bare/", "text/html"),
        ("/bare/status.json", "application/json"),
        ("/metrics", "text/plain"),
        ("/exact", "text/html"),
        ("/re/ready", "text/plain"),
    ],
)
def test_what_a_location_shows(edge, target, kind):
    answer = get(edge, target)
    assert answer.status == 200
    assert answer.header("Content-Type").startswith(kind)


@pytest.mark.parametrize("target", ["/sluice/other", "/sluice/metrics/x", "/baremetrics"])
def test_anything_else_is_not_found(edge, target):
    assert get(edge, target).status == 404


def test_only_reading(edge):
    answer = edge.request("POST", "/sluice/metrics", [], b"x")
    assert answer.status == 405
    assert answer.header("Allow") == "GET, HEAD"


def test_health_and_ready(edge):
    assert get(edge, "/sluice/health").body == b"ok\n"
    ready = get(edge, "/sluice/ready")
    assert (ready.status, ready.body) == (200, b"ready\n")


def test_the_registry_is_shown_as_nginx_reads_it(edge, new_merchant):
    names = ("accounts", "shops", "tokens")

    def has(count):
        figures = metrics(edge)  # without these until its process has opened the store
        return {figures.get(f"sluice_registry_{name}") for name in names} == {count} and figures

    before = paths.wait_until(lambda: has(0), "an empty registry")
    new_merchant(edge, "acme")
    after = paths.wait_until(lambda: has(1), "one of each")
    assert after["sluice_registry_generation"] > before["sluice_registry_generation"]
    assert after["sluice_registry_bytes"] > 0 and after["sluice_registry_accounts_limit"] >= 1
    report = wait_for(edge, lambda r: r["registry"] and r, "a process with the store")
    assert {name: report["registry"][name] for name in names} == dict.fromkeys(names, 1)


def test_every_request_is_counted_once_under_its_result(edge, new_merchant):
    merchant = new_merchant(edge, "acme")
    for _ in range(3):
        assert merchant.event("ORDER_CREATE", orders.order()).status == 200
    bad = orders.order()
    del bad["amount"]
    assert merchant.event("ORDER_CREATE", bad).status == 400
    edge.request("POST", sign.EVENTS, sign.event_headers("nobody", "x" * 16, "ORDER_CREATE", b"{}"), b"{}")
    assert edge.request("GET", sign.EVENTS, [], length=False).status == 405
    products = {"products": [{"platform_product_id": f"p{i}", "title": "t"} for i in range(7)]}
    for _ in range(2):
        assert merchant.catalog("PRODUCT_UPSERT", products, "key").status == 200

    report = status(edge)
    results = {name: n for name, n in report["events"]["results"].items() if n}
    assert results == {"accepted": 3, "bad_request": 1, "unauthorized": 1, "method_not_allowed": 1}
    assert report["events"]["requests"] == 6
    assert report["events"]["records"] == 3
    assert report["events"]["reasons"] == {"fields": 1, "shop_unknown": 1, "method": 1}
    results = {name: n for name, n in report["catalog"]["results"].items() if n}
    assert results == {"accepted": 1, "replayed": 1}
    assert report["catalog"]["records"] == 7
    assert report["events"]["request_seconds"]["count"] == 6
    assert report["commit_requests"]["sum"] == 5
    assert report["commit_seconds"]["count"] == report["commit_requests"]["count"] <= 5


def test_metrics_and_json_agree(edge, new_merchant):
    merchant = new_merchant(edge, "acme")
    for _ in range(5):
        merchant.event("ORDER_CREATE", orders.order())
    report = wait_for(edge, lambda r: r["queue"] and r["queue"]["depth"] == 5 and r, "the sample")
    # Another worker process may answer, whose sample is older.
    found = paths.wait_until(
        lambda: (found := metrics(edge)).get("sluice_queue_records") == 5 and found, "the other's sample"
    )
    for endpoint in ("events", "catalog"):
        for result, count in report[endpoint]["results"].items():
            assert found[f'sluice_requests_total{{endpoint="{endpoint}",result="{result}"}}'] == count
    assert found["sluice_queue_last_sequence"] == report["queue"]["last_seq"] == 5
    assert found["sluice_ready"] == 1
    assert found["sluice_commit_duration_seconds_count"] == report["commit_seconds"]["count"]


def test_prometheus_finds_nothing_to_object(edge, new_merchant):
    new_merchant(edge, "acme").event("ORDER_CREATE", orders.order())
    wait_for(edge, lambda r: r["queue"] and r["accounts"], "the sample")
    text = get(edge, "/sluice/metrics").body
    result = subprocess.run(
        ["promtool", "check", "metrics"], input=text, capture_output=True, check=False
    )
    assert result.returncode == 0, result.stdout.decode() + result.stderr.decode()


def test_the_use_of_the_rate_limit_by_account(edge, new_merchant):
    acme, other = new_merchant(edge, "acme"), new_merchant(edge, "globex")
    edge.sluice("account", "set", "globex", "--rate-limit", "2/3600")
    for _ in range(4):
        acme.event("ORDER_CREATE", orders.order())
        other.event("ORDER_CREATE", orders.order())
    report = wait_for(
        edge, lambda r: sum(use["used"] for use in r["accounts"]) >= 8 and r, "the accounts"
    )
    by_name = {use["account"]: use for use in report["accounts"]}
    assert (by_name["acme"]["used"], by_name["acme"]["limit"]) == (4, 1000)
    assert (by_name["acme"]["accepted"], by_name["acme"]["limited"]) == (4, 0)
    assert by_name["globex"]["limit"] == 2
    assert (by_name["globex"]["accepted"], by_name["globex"]["limited"]) == (2, 2)
    found = metrics(edge)
    assert found['sluice_account_limited_total{account="globex"}'] == 2


def test_worker_and_ledger(edge, new_merchant):
    merchant = new_merchant(edge, "acme")
    body = orders.order()
    merchant.event("ORDER_CREATE", body)
    merchant.event("ORDER_CREATE", body)
    report = status(edge)
    assert report["worker"]["state"] == "unknown"
    assert "worker_stopped" in [problem["code"] for problem in report["problems"]]
    edge.sluice.drain()
    report = wait_for(edge, lambda r: r["queue"] and r["queue"]["applied_seq"] == 2 and r, "the worker")
    assert report["worker"]["state"] == "stopped"
    assert (report["worker"]["applied"], report["worker"]["duplicate"]) == (1, 1)
    assert report["ledger"]["orders"] == 1
    assert report["queue"]["depth"] == 0
    assert metrics(edge)['sluice_worker_inputs_total{class="duplicate"}'] == 1


def test_a_reload_keeps_the_counters(edge, new_merchant):
    merchant = new_merchant(edge, "acme")
    merchant.event("ORDER_CREATE", orders.order())
    before = status(edge)
    edge.reload()
    merchant.event("ORDER_CREATE", orders.order())
    after = status(edge)
    assert after["events"]["results"]["accepted"] == before["events"]["results"]["accepted"] + 1
    assert after["server"]["counters_since"] == before["server"]["counters_since"]


def test_history_begins_with_the_first_point_and_continues(edge, new_merchant):
    wait_for(edge, lambda r: r["history"], "the first point")
    new_merchant(edge, "acme").event("ORDER_CREATE", orders.order())
    report = wait_for(edge, lambda r: len(r["history"]) >= 2 and r, "two points")
    assert sum(point["accepted_events"] for point in report["history"]) == 1
    assert all(point["seconds"] == 0 or 4 < point["seconds"] < 30 for point in report["history"])


def test_a_broken_store_is_shown_and_said(edge, new_merchant):
    merchant = new_merchant(edge, "acme")
    merchant.event("ORDER_CREATE", orders.order())
    edge.expect_log("removed or replaced|missing|does not exist|is not")
    shutil.move(edge.store, edge.store.with_name("gone"))
    paths.wait_until(
        lambda: all(get(edge, "/sluice/ready").status == 503 for _ in range(20)), "every worker to say no"
    )
    answer = get(edge, "/sluice/ready")
    assert answer.body == b"store_unavailable\n"
    # The registry is missed at once, and the queue by the check of each second.
    report = wait_for(edge, lambda r: r["queue"] is None and r["worker"] is None and r["ledger"] is None and r, "no queue")
    assert report["ready"] is False
    assert report["problems"][0]["code"] == "not_ready"
    assert report["events"]["results"]["accepted"] == 1
    assert metrics(edge)["sluice_ready"] == 0
    assert get(edge, "/sluice/").status == 200
    assert get(edge, "/sluice/health").status == 200


def test_what_other_modules_refuse_is_counted(start_edge, new_merchant):
    """limit_req's 503 never reaches the handler: without this count no page would show it."""
    limited = CONFIG.replace("sluice_ingest events;", "sluice_ingest events; limit_req zone=address;").replace(
        "sluice_ingest catalog;", "sluice_ingest catalog; deny all;")
    edge = start_edge("limit_req_zone $binary_remote_addr zone=address:1m rate=1r/m;\n" + limited)
    merchant = new_merchant(edge, "acme")
    paths.wait_until(lambda: status(edge)["history"], "the first point")
    got = [merchant.event("ORDER_CREATE", orders.order()) for _ in range(4)]
    assert [answer.status for answer in got] == [200, 503, 503, 503]
    assert all(answer.body == b"" and answer.header("Retry-After") == "1" for answer in got[1:])
    batch = {"products": [{"platform_product_id": "p", "title": "t"}]}
    answers.catalog_error(merchant.catalog("PRODUCT_UPSERT", batch, "k"), 403)
    assert edge.request("POST", sign.EVENTS + "/other", [], b"{}").status == 404  # no location of ours
    found = metrics(edge)
    assert found['sluice_refusals_total{endpoint="events",reason="limited_before"}'] == 3
    assert found['sluice_refusals_total{endpoint="events",reason="refused_before"}'] == 0
    assert found['sluice_refusals_total{endpoint="catalog",reason="refused_before"}'] == 1
    assert status(edge)["events"]["reasons"] == {"limited_before": 3}
    assert found['sluice_requests_total{endpoint="events",result="accepted"}'] == 1
    assert found['sluice_requests_total{endpoint="events",result="unavailable"}'] == 3
    assert found['sluice_requests_total{endpoint="catalog",result="forbidden"}'] == 1
    assert status(edge)["events"]["requests"] == 4
    wait_for(edge, lambda report: any(p["code"] == "limited_before" and " 3 requests " in p["message"]
                                      for p in report["problems"]), "the problem")
