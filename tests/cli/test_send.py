"""`sluice send`: signs, keeps orders in order, resumes, honours the server's words."""
import json
import os
import signal
import subprocess
import time

import pytest
from endpoint import Endpoint
from program import PROGRAM, sluice

SECRET = "send-test-secret-0123456789"


def order(number, version=1, **more):
    return {
        "platform_order_id": f"o{number}", "platform_ordered_at": "2025-01-01T00:00:00Z",
        "platform_updated_at": f"2025-01-01T00:00:{version:02}Z", "amount": "10.00", "tax": "1.00",
        "shipping": "0", "currency_code": "USD",
        "line_items": [{"line_item_id": "l1", "sku": "s", "amount": "10.00", "tax": "1.00", "quantity": "1"}],
        **more,
    }


@pytest.fixture
def token(tmp_path):
    path = tmp_path / "token"
    path.write_text(SECRET + "\n")
    path.chmod(0o600)
    return path


def ndjson(path, records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def send(kind, file, endpoint, token, *more, **how):
    return sluice("send", kind, file, "--url", endpoint.url, "--shop", "shop-1", "--token-file", token, *more, **how)


def test_events_are_signed_and_sent_byte_for_byte(tmp_path, token):
    file = tmp_path / "orders.ndjson"
    lines = ['{"platform_order_id" : "é\\u00e9",  "x":1.10 }', json.dumps(order(2))]
    file.write_bytes(("\n".join([lines[0], "", lines[1] + "\r"]) + "\n").encode())
    with Endpoint(SECRET) as endpoint:
        run = send("events", file, endpoint, token)
    assert (run.status, run.err) == (0, "")
    assert run.out == "2 sent, 0 rejected\n"
    assert sorted(r["body"] for r in endpoint.requests) == sorted(line.encode() for line in lines)
    head = endpoint.requests[0]["headers"]
    assert head["X-SVC-SHOP-ID"] == "shop-1"
    assert head["X-SVC-TOPIC"] == "ORDER_CREATE"
    assert head["Content-Type"] == "application/json"
    assert not list(tmp_path.glob("*.sluice-send"))


def test_topic_comes_from_the_payload_unless_it_is_given(tmp_path, token):
    cancelled = order(1, platform_cancelled_at="2025-01-02T00:00:00Z")
    file = ndjson(tmp_path / "o.ndjson", [cancelled, order(2), order(3, platform_cancelled_at=None)])
    with Endpoint(SECRET) as endpoint:
        assert send("events", file, endpoint, token).status == 0
        topics = {json.loads(r["body"])["platform_order_id"]: r["headers"]["X-SVC-TOPIC"] for r in endpoint.requests}
        assert topics == {"o1": "ORDER_CANCEL", "o2": "ORDER_CREATE", "o3": "ORDER_CREATE"}
        endpoint.requests.clear()
        assert send("events", file, endpoint, token, "--topic", "ORDER_UPDATE").status == 0
        assert {r["headers"]["X-SVC-TOPIC"] for r in endpoint.requests} == {"ORDER_UPDATE"}


def test_events_of_one_order_never_overtake_each_other(tmp_path, token):
    events = [order(i % 7, version) for version in range(1, 30) for i in range(7)]
    file = ndjson(tmp_path / "o.ndjson", events)
    # Some requests fail once, whichever they are: their successors must still wait for them.
    script = [None, (503, {}, ""), None, (500, {}, ""), None, None, (503, {}, "")]
    with Endpoint(SECRET, script) as endpoint:
        run = send("events", file, endpoint, token)
    assert run.status == 0, run.err
    assert endpoint.overlaps == []
    for number in range(7):
        versions = [json.loads(r["body"])["platform_updated_at"] for r in endpoint.accepted()
                    if json.loads(r["body"])["platform_order_id"] == f"o{number}"]
        assert versions == sorted(versions) and len(versions) == 29


def test_only_200_with_the_body_success_counts(tmp_path, token):
    file = ndjson(tmp_path / "o.ndjson", [order(1)])
    with Endpoint(SECRET, answer=lambda *_: (200, {}, "<html>welcome</html>")) as endpoint:
        run = send("events", file, endpoint, token)
    assert run.status == 1
    assert "200 without `success`" in run.err
    assert len(run.err.splitlines()) == 1


def test_rejected_events_are_named_by_line_and_the_rest_is_sent(tmp_path, token):
    file = ndjson(tmp_path / "o.ndjson", [order(1), {"platform_order_id": "bad"}, order(3)])
    details = {"error": "Invalid request data", "details": [{"field": "amount", "code": "REQUIRED", "message": "m"}]}

    def answer(_path, _headers, body):
        return (400, {}, json.dumps(details)) if b'"bad"' in body else None

    with Endpoint(SECRET, answer=answer) as endpoint:
        run = send("events", file, endpoint, token)
    assert run.status == 1
    assert f"{file}:2: amount: REQUIRED: m\n" in run.out
    assert run.err == "sluice: 1 records were rejected\n"
    assert len(endpoint.accepted()) == 2


def test_rejected_records_are_summed_up_and_all_of_them_are_in_the_file(tmp_path, token):
    file = ndjson(tmp_path / "o.ndjson", [order(i) for i in range(200)])
    rejects = tmp_path / "rejects"
    details = {"details": [{"field": "line_items[0].sku", "code": "REQUIRED", "message": "m"}]}
    with Endpoint(SECRET, answer=lambda *_: (400, {}, json.dumps(details))) as endpoint:
        run = send("events", file, endpoint, token, "--rejects", rejects)
    assert run.status == 1
    lines = run.out.splitlines()
    assert len(lines) == 6 and lines[3] == "... and 197 more: line_items[].sku: REQUIRED: m", lines
    assert all(line.endswith(": line_items[0].sku: REQUIRED: m") for line in lines[:3])
    assert lines[4:] == [f"all of them: {rejects}", "0 sent, 200 rejected"]
    written = rejects.read_text().splitlines()
    assert sorted(written) == sorted(f"{file}:{i}: line_items[0].sku: REQUIRED: m" for i in range(1, 201))
    ndjson(file, [{**order(1), "tax": 1}] * 5)
    run = sluice("send", "events", file, "--check", "--rejects", rejects)
    assert run.status == 1 and "... and 2 more: tax: INVALID_FORMAT" in run.out
    assert len(rejects.read_text().splitlines()) == 5


def test_without_a_terminal_a_long_wait_is_reported_at_once(tmp_path, token):
    file = ndjson(tmp_path / "o.ndjson", [order(1)])
    with Endpoint(SECRET, [(429, {"Retry-After": "3"}, "")]) as endpoint:
        run = send("events", file, endpoint, token)
    assert run.status == 0
    assert run.err == "  0%  0 sent  0 rejected  (rate limited, waits 3 s)\n"


class Window:
    """An account's limit, as the server keeps it: fixed windows, counted once per request."""

    def __init__(self, limit, seconds):
        self.limit, self.seconds, self.used = limit, seconds, {}

    def __call__(self, *_):
        now = int(time.time())
        reset = now - now % self.seconds + self.seconds
        used = self.used[reset] = self.used.get(reset, 0) + 1
        headers = {"X-RateLimit-Limit": str(self.limit), "X-RateLimit-Remaining": str(max(self.limit - used, 0)),
                   "X-RateLimit-Reset": str(reset)}
        if used > self.limit:
            return 429, {**headers, "Retry-After": str(reset - now)}, ""
        return 200, headers, "success"


def test_half_of_the_limit_is_left_to_live_traffic_by_default(tmp_path, token):
    file = ndjson(tmp_path / "o.ndjson", [order(i) for i in range(50)])
    half, all_of_it = Window(40, 3), Window(40, 3)
    with Endpoint(SECRET, answer=half) as endpoint:
        run = send("events", file, endpoint, token)
    assert (run.status, run.out) == (0, "50 sent, 0 rejected\n")
    assert max(half.used.values()) <= 20, half.used
    assert run.err.count("takes 20 of 40 requests a window") == 1, run.err
    with Endpoint(SECRET, answer=all_of_it) as endpoint:
        run = send("events", file, endpoint, token, "--share", "100")
    assert run.status == 0 and "a window" not in run.err
    assert max(all_of_it.used.values()) > 40, all_of_it.used


def test_retry_after_is_honoured(tmp_path, token):
    file = ndjson(tmp_path / "o.ndjson", [order(1)])
    with Endpoint(SECRET, [(429, {"Retry-After": "1"}, ""), (503, {"Retry-After": "1"}, "")]) as endpoint:
        began = time.monotonic()
        run = send("events", file, endpoint, token)
        took = time.monotonic() - began
    assert run.status == 0
    assert [r["status"] for r in endpoint.requests] == [429, 503, 200]
    assert took >= 2


def test_a_wrong_secret_ends_the_run_at_once(tmp_path, token):
    file = ndjson(tmp_path / "o.ndjson", [order(i) for i in range(500)])
    with Endpoint("another-secret-0123456789") as endpoint:
        run = send("events", file, endpoint, token)
    assert run.status == 1
    assert "401" in run.err and SECRET not in run.err + run.out
    assert len(endpoint.requests) < 100


def test_an_interrupted_run_resumes_at_the_same_place(tmp_path, token):
    file = ndjson(tmp_path / "o.ndjson", [order(i) for i in range(300)])
    with Endpoint(SECRET) as endpoint:
        arguments = ["send", "events", file, "--url", endpoint.url, "--shop", "shop-1", "--token-file", token]
        running = subprocess.Popen([PROGRAM, *map(str, arguments), "--rate", "100"], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, text=True, env={"PATH": os.environ["PATH"]})
        while len(endpoint.accepted()) < 20:
            time.sleep(0.005)
        running.send_signal(signal.SIGINT)
        _, err = running.communicate(timeout=60)
        assert running.returncode == 1
        assert "interrupted; run the same command again to go on" in err
        before = len(endpoint.accepted())
        assert before < 300
        run = sluice(*arguments)
        assert run.status == 0
        assert run.out == f"{300 - before} sent, 0 rejected, {before} settled by an earlier run\n"
        assert len(endpoint.accepted()) == 300
        assert len({r["body"] for r in endpoint.accepted()}) == 300
    assert not list(tmp_path.glob("*.sluice-send"))


def test_a_killed_run_loses_nothing(tmp_path, token):
    file = ndjson(tmp_path / "o.ndjson", [order(i) for i in range(200)])
    with Endpoint(SECRET) as endpoint:
        arguments = ["send", "events", file, "--url", endpoint.url, "--shop", "shop-1", "--token-file", token]
        running = subprocess.Popen([PROGRAM, *map(str, arguments), "--rate", "100"], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, env={"PATH": os.environ["PATH"]})
        while len(endpoint.accepted()) < 20:
            time.sleep(0.005)
        running.kill()
        running.wait()
        assert sluice(*arguments).status == 0
        assert len({r["body"] for r in endpoint.accepted()}) == 200


def test_a_replaced_file_is_refused(tmp_path, token):
    file = ndjson(tmp_path / "o.ndjson", [order(1), order(2)])

    def refuse_second(_path, _headers, body):
        return (404, {}, "") if b'"o2"' in body else None

    with Endpoint(SECRET, answer=refuse_second) as endpoint:
        assert send("events", file, endpoint, token).status == 1
        ndjson(file, [order(9), order(2)])
        run = send("events", file, endpoint, token)
    assert run.status == 1
    assert "have changed since" in run.err


def test_rate_is_not_exceeded(tmp_path, token):
    file = ndjson(tmp_path / "o.ndjson", [order(i) for i in range(40)])
    with Endpoint(SECRET) as endpoint:
        began = time.monotonic()
        assert send("events", file, endpoint, token, "--rate", "50").status == 0
        assert time.monotonic() - began >= 0.7


def test_check_sends_nothing_and_names_every_mistake(tmp_path):
    file = ndjson(tmp_path / "o.ndjson", [order(1), {**order(2), "amount": "1,00"}, order(3)])
    run = sluice("send", "events", file, "--check")
    assert run.status == 1
    assert f"{file}:2: amount: INVALID_FORMAT: " in run.out
    assert run.err == "sluice: 1 of 3 records would be rejected\n"
    ndjson(file, [order(1)])
    run = sluice("send", "events", file, "--check")
    assert (run.status, run.out) == (0, "1 records are valid\n")


def product(number, **more):
    return {"platform_product_id": f"p{number}", "title": f"T{number}", **more}


def test_products_travel_in_batches_with_a_key_each(tmp_path, token):
    file = ndjson(tmp_path / "p.ndjson", [product(i, list_price=1.10) for i in range(2500)])
    with Endpoint(SECRET) as endpoint:
        run = send("products", file, endpoint, token)
    assert (run.status, run.out) == (0, "2500 sent, 0 rejected\n")
    sizes = sorted(len(json.loads(r["body"])["products"]) for r in endpoint.requests)
    assert sizes == [500, 1000, 1000]
    assert len({r["headers"]["Idempotency-Key"] for r in endpoint.requests}) == 3
    assert {r["headers"]["X-SVC-TOPIC"] for r in endpoint.requests} == {"PRODUCT_UPSERT"}


def test_a_batch_keeps_its_key_over_retries_and_resume(tmp_path, token):
    file = ndjson(tmp_path / "p.ndjson", [product(i) for i in range(10)])
    with Endpoint(SECRET, [(503, {}, ""), (404, {}, '{"code":404,"message":"gone"}')]) as endpoint:
        run = send("products", file, endpoint, token)
        assert run.status == 1 and "404 (gone)" in run.err
        assert send("products", file, endpoint, token).status == 0
    assert [r["status"] for r in endpoint.requests] == [503, 404, 200]
    assert len({r["headers"]["Idempotency-Key"] for r in endpoint.requests}) == 1
    assert len({r["body"] for r in endpoint.requests}) == 1


def test_the_same_file_sent_again_is_a_new_request(tmp_path, token):
    file = ndjson(tmp_path / "p.ndjson", [product(1)])
    with Endpoint(SECRET) as endpoint:
        assert send("products", file, endpoint, token).status == 0
        assert send("products", file, endpoint, token).status == 0
    assert len({r["headers"]["Idempotency-Key"] for r in endpoint.requests}) == 2


def test_rejected_products_are_named_by_line_and_the_batch_is_sent_without_them(tmp_path, token):
    file = ndjson(tmp_path / "p.ndjson", [product(1), product(2, title=""), product(3), product(4, title="")])

    def answer(_path, _headers, body):
        records = json.loads(body)["products"]
        errors = [{"index": i, "field": f"products[{i}].title", "code": "INVALID_FORMAT", "message": "empty"}
                  for i, record in enumerate(records) if not record["title"]]
        return (422, {}, json.dumps({"code": 422, "message": "x", "recordErrors": errors})) if errors else None

    with Endpoint(SECRET, answer=answer) as endpoint:
        run = send("products", file, endpoint, token)
    assert run.status == 1
    assert f"{file}:2: title: INVALID_FORMAT: empty\n" in run.out
    assert f"{file}:4: title: INVALID_FORMAT: empty\n" in run.out
    assert "2 sent, 2 rejected" in run.out
    assert [p["platform_product_id"] for p in json.loads(endpoint.accepted()[0]["body"])["products"]] == ["p1", "p3"]


def test_a_batch_that_is_too_large_is_halved(tmp_path, token):
    file = ndjson(tmp_path / "p.ndjson", [product(i) for i in range(10)])

    def answer(_path, _headers, body):
        return (413, {}, "") if len(json.loads(body)["products"]) > 3 else None

    with Endpoint(SECRET, answer=answer) as endpoint:
        run = send("products", file, endpoint, token)
    assert (run.status, run.out) == (0, "10 sent, 0 rejected\n")
    ids = [p["platform_product_id"] for r in endpoint.accepted() for p in json.loads(r["body"])["products"]]
    assert ids == [f"p{i}" for i in range(10)]


def test_a_record_that_is_no_object_never_spoils_its_batch(tmp_path, token):
    file = tmp_path / "p.ndjson"
    file.write_text(json.dumps(product(1)) + "\n[1]\n{broken\n" + json.dumps(product(2)) + "\n")
    with Endpoint(SECRET) as endpoint:
        run = send("products", file, endpoint, token)
    assert run.status == 1
    assert f"{file}:2: expected a JSON object" in run.out and f"{file}:3: not JSON" in run.out
    assert len(json.loads(endpoint.requests[0]["body"])["products"]) == 2


def test_products_from_csv(tmp_path, token):
    file = tmp_path / "p.csv"
    file.write_bytes(b'\xef\xbb\xbfplatform_product_id,title,list_price,tags\r\np1,"A, ""b""\r\nc",1.10,x;y\r\np2,B,,\r\n')
    with Endpoint(SECRET) as endpoint:
        assert send("products", file, endpoint, token).status == 0
    assert json.loads(endpoint.requests[0]["body"]) == {"products": [
        {"platform_product_id": "p1", "title": 'A, "b"\r\nc', "list_price": 1.10, "tags": ["x", "y"]},
        {"platform_product_id": "p2", "title": "B"},
    ]}
    assert b'"list_price":1.10' in endpoint.requests[0]["body"]
    file.write_text('platform_product_id,list_price,title\n"p\n1",1,A\np2,2,\np3,3\n')
    run = sluice("send", "products", file, "--check")
    assert f"{file}:4: row 3, column 3: title: REQUIRED" in run.out
    assert f"{file}:5: row 4: expected 3 fields, found 2" in run.out
    file.write_text("platform_product_id,colour\np1,red\n")
    run = sluice("send", "products", file, "--check")
    assert run.status == 1 and f"{file}:1: no product record has a field 'colour'" in run.err


def test_a_misspelt_field_is_warned_of_and_strict_refuses_its_record(tmp_path, token):
    file = ndjson(tmp_path / "p.ndjson", [product(1), product(2, colections=["sale"], colour="red"), product(3)])
    warning = f"{file}:2: colections: no such field is known; did you mean collections?\n"
    with Endpoint(SECRET) as endpoint:
        run = send("products", file, endpoint, token)
        assert (run.status, run.out, run.err) == (0, "3 sent, 0 rejected\n", warning)
        run = send("products", file, endpoint, token, "--strict")
    assert run.status == 1 and run.out == warning + "2 sent, 1 rejected\n"
    assert [p["platform_product_id"] for p in json.loads(endpoint.accepted()[1]["body"])["products"]] == ["p1", "p3"]
    run = sluice("send", "products", file, "--check")
    assert (run.status, run.out, run.err) == (0, "3 records are valid\n", warning)
    run = sluice("send", "products", file, "--check", "--strict")
    assert run.status == 1 and run.out == warning and "1 of 3 records would be rejected" in run.err
    file = tmp_path / "p.csv"
    file.write_text("platform_product_id,titel\np1,A\n")
    run = sluice("send", "products", file, "--check")
    assert run.status == 1 and "has a field 'titel'; did you mean title?" in run.err


def test_a_token_file_that_others_can_read_is_refused(tmp_path, token):
    token.chmod(0o644)
    file = ndjson(tmp_path / "o.ndjson", [order(1)])
    run = sluice("send", "events", file, "--url", "http://127.0.0.1:9", "--shop", "s", "--token-file", token)
    assert run.status == 1
    assert "chmod 600" in run.err and SECRET not in run.err


def test_a_server_that_is_not_there_gets_one_line(tmp_path, token):
    file = ndjson(tmp_path / "o.ndjson", [order(1)])
    run = sluice("send", "events", file, "--url", "http://127.0.0.1:9", "--shop", "s", "--token-file", token)
    assert run.status == 1
    assert len(run.err.splitlines()) == 1 and "connect" in run.err


def test_two_runs_cannot_send_one_file_at_once(tmp_path, token):
    import fcntl
    file = ndjson(tmp_path / "o.ndjson", [order(1)])
    with open(file) as held, Endpoint(SECRET) as endpoint:
        fcntl.flock(held, fcntl.LOCK_EX)
        run = send("events", file, endpoint, token)
    assert run.status == 1 and "another run" in run.err
