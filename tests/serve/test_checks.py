"""The order of the checks, bad input, and what every answer carries."""

import base64
import concurrent.futures
import datetime
import hashlib
import re
import socket
import threading
import time

import pytest
from harness import paths
from harness.cli import Sluice
from harness.fake_time import FakeTime
from harness.serve import Serve, ask
from serve.live import end_of, waiters

PAST = "2020-01-01T00:00:00Z"


@pytest.fixture
def acme(served):
    return served.as_("acme")


def errors(answer):
    assert answer.status == 400 and answer.code == "parameter", answer
    return {error["parameter"] for error in answer.json()["errors"]}


def test_each_wrong_parameter_is_named(acme):
    assert errors(acme.get("orders", limit=0)) == {"limit"}
    assert errors(acme.get("orders", limit=1001)) == {"limit"}
    assert errors(acme.get("orders", colour="red")) == {"#1"}
    assert errors(acme.get("orders", **{"from": "2024-02-01T00:00:00Z", "to": "2024-01-01T00:00:00Z"})) == {"from"}
    assert errors(acme.get("payouts", state="OPEN")) == {"state"}
    assert "expected one of CLOSED, APPROVED, " in acme.get("payouts", state="OPEN").json()["errors"][0]["message"]
    assert errors(acme.get("statement", creator="ann", month="2026-13")) == {"month"}
    assert errors(acme.get("balances", at=PAST)) == {"at"}
    assert errors(acme.get("order", order="o1")) == {"shop"}
    assert errors(acme.get("payouts", state="OPEN", limit="x", colour="")) == {"state", "limit", "#3"}
    answer = ask(acme.path, "/v1/orders?limit=5&limit=6", acme.headers)
    assert errors(answer) == {"limit"}
    for text in ("%FF", "a%00b", ""):
        assert errors(ask(acme.path, f"/v1/order?shop=shop-1&order={text}", acme.headers)) == {"order"}
    assert errors(acme.get("order", shop="shop-1", order="x" * 1025)) == {"order"}


def test_an_error_repeats_no_value(acme):
    for answer in (acme.get("orders", shop="<script>evil"), acme.get("orders", limit="evil"),
                   acme.get("order", shop="shop-1", order="evil"), acme.get("evil"),
                   acme.get("orders", after="evil"), acme.get("orders", evil="1"), acme.get("orders", limit="1", **{"e\nvil": ""})):
        assert answer.status in (400, 404) and b"evil" not in answer.body, answer
        assert answer.header("Content-Type") == "application/problem+json"
        assert {"type", "title", "status", "code"} <= set(answer.json())


def test_cursors_of_another_query_and_altered_ones_are_refused(acme):
    cursor = acme.get("orders", limit=1).json()["next"]
    assert acme.get("orders", limit=3, after=cursor).status == 200
    others = [("orders", {"after": cursor, "shop": "shop-1"}), ("anomalies", {"after": cursor}),
              ("orders", {"after": "A" * 3072})]
    others += [("orders", {"after": cursor[:place] + ("A" if cursor[place] != "A" else "B") + cursor[place + 1:]})
               for place in range(len(cursor))]
    for resource, parameters in others:
        answer = acme.get(resource, **parameters)
        assert (answer.status, answer.code) == (400, "cursor_invalid"), (parameters, answer)
    journal = acme.get("journal", limit=1).json()["next"]
    assert acme.get("journal", after=journal).status == 200
    assert acme.get("journal", after=journal, by="receipt").code == "cursor_invalid"


def forged(query, key):
    """A cursor as a client makes one, who knows the form but not the secret: without it, the digest is a hash."""
    digest = hashlib.sha256(f"{len(query)}:{query}".encode() + key).digest()[:8]
    return base64.urlsafe_b64encode(digest + key).rstrip(b"=").decode()


@pytest.mark.parametrize("key", [b"6:shop-12:o1", b"6:shop-11:\xff", b"6:shop-11:\x00"])
def test_a_forged_cursor_is_refused_and_the_server_stays_ready(served, acme, key):
    for account in (1, 2):
        answer = acme.get("orders", after=forged(f"orders?account={account}", key))
        assert (answer.status, answer.code) == (400, "cursor_invalid"), answer
    assert ask(served.serve.read, "/ready").status == 200


def test_a_cursor_survives_a_restart_and_serves_on_another_server(served, acme):
    whole = acme.rows("orders")
    cursor = acme.get("orders", limit=1).json()["next"]
    folder = paths.make_folder()
    try:
        with Serve(served.sluice.store, folder) as other:
            answer = other.token(served.secrets["acme-manager"]).get("orders", after=cursor)
            assert answer.status == 200 and answer.json()["items"] == whole[1:]
    finally:
        paths.drop_folder(folder)


def test_a_scope_comes_before_an_account_and_contradictions_are_named(served, acme):
    assert served.as_("acme", "viewer").get("payouts", account="beta").code == "scope"
    assert acme.get("payouts", account="beta").code == "not_found"
    assert errors(acme.get("run", run="a", payout_run="b")) == {"payout_run"}
    assert errors(acme.get("payouts", run="a", payout_run="b")) == {"payout_run"}
    run = acme.rows("runs")[0]["payout_run"]
    assert acme.get("run", run=run, payout_run=run).status == 200


def test_paths_methods_and_heads(served, acme):
    assert (acme.get("nothing").status, acme.get("nothing").code) == (404, "no_such_path")
    page = ask(acme.path, "/ui", [])
    assert (page.status, page.header("Location")) == (308, "/ui/") and ask(acme.path, "/ui/", []).status == 200
    assert ask(acme.path, "/v1/orders/", acme.headers).status == 404
    for method in ("POST", "PUT", "DELETE", "OPTIONS"):
        answer = ask(acme.path, "/v1/orders", acme.headers, method)
        assert (answer.status, answer.code, answer.header("Allow")) == (405, "method_not_allowed", "GET, HEAD")
    assert ask(acme.path, "/v1/nothing", [], "POST").code == "no_such_path"
    head = ask(acme.path, "/v1/orders", acme.headers, "HEAD")
    whole = acme.get("orders")
    assert head.status == 200 and head.body == b"" and head.header("ETag") == whole.header("ETag")
    assert int(head.header("Content-Length")) == len(whole.body)


def raw(path, text):
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(paths.DEADLINE)
        connection.connect(str(path))
        connection.sendall(text)
        answer = b""
        while part := connection.recv(65536):
            answer += part
        return answer.decode()


@pytest.mark.parametrize("text, status, code", [
    (b"GET /v1/me HTTP/1.1\r\nHost: a\r\nX: " + b"x" * 17000 + b"\r\n\r\n", 431, "head_too_large"),
    (b"GET /v1/me?" + b"x" * 9000 + b" HTTP/1.1\r\nHost: a\r\n\r\n", 414, "uri_too_long"),
    (b"GET /v1/me HTTP/2.0\r\nHost: a\r\n\r\n", 400, "bad_request"),
    (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400, "bad_request"),
    (b"GET /v1/me HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nab", 400, "bad_request"),
    (b"POST /v1/me HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400, "bad_request"),
    (b"GET /v1/me?a=%zz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", 400, "bad_request"),
    (b"GET http://a/v1/me HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", 400, "bad_request"),
    (b"nonsense\r\n\r\n", 400, "bad_request"),
])
def test_requests_that_cannot_be_read_are_answered_and_the_connection_closed(served, text, status, code):
    answer = raw(served.serve.read, text)
    assert answer.startswith(f"HTTP/1.1 {status} ") and f'"code":"{code}"' in answer, answer


def test_callers_without_a_valid_credential_are_all_alike(served):
    token = served.secrets["acme-viewer"]
    told = set()
    for headers in ([], [("Authorization", "Bearer nothing")], [("Authorization", token)],
                    [("Authorization", f"Basic {token}")], [("X-Sluice-User", "gina")],
                    [("Authorization", f"Bearer {token}"), ("Authorization", f"Bearer {token}")]):
        answer = ask(served.serve.read, "/v1/me", headers)
        assert (answer.status, answer.header("WWW-Authenticate")) == (401, "Bearer"), (headers, answer)
        told.add(answer.body)
    for headers in ([], [("Authorization", f"Bearer {token}")], [("X-Sluice-User", "")],
                    [("X-Sluice-User", "a"), ("X-Sluice-User", "b")], [("X-Sluice-User", "x" * 255)]):
        answer = ask(served.serve.people, "/v1/me", headers)
        assert (answer.status, answer.header("WWW-Authenticate")) == (401, None), (headers, answer)
        told.add(answer.body)
    assert len(told) == 1


def test_revoked_expired_and_suspended_callers_are_refused_as_an_unknown_one(store):
    """Q4: an answer does not say which of these a token is."""
    folder, sluice = store
    revoked, secret = sluice.token("acme", "read_orders")
    _, expired = sluice.token("acme", "read_orders", expires=PAST)
    _, suspended = sluice.token("beta", "read_orders")
    sluice("token", "revoke", revoked)
    sluice("account", "suspend", "beta")
    with Serve(folder / "store", folder) as serve:
        answers = [serve.token(one).get("orders") for one in (secret, expired, suspended, "unknown")]
    assert {(answer.status, answer.code, answer.header("WWW-Authenticate")) for answer in answers} == {
        (401, "unauthorized", "Bearer")}
    assert len({answer.body for answer in answers}) == 1


def test_scopes_are_checked_before_parameters(served):
    answer = served.as_("acme", "sender").get("orders")
    assert (answer.status, answer.code) == (403, "scope")
    assert answer.header("WWW-Authenticate") == 'Bearer error="insufficient_scope", scope="read_orders"'  # RFC 6750
    assert served.as_("acme", "sender").get("me").status == 200
    viewer = served.as_("acme", "viewer")
    answer = viewer.get("payouts", colour="red")
    assert (answer.status, answer.code) == (403, "scope") and "read_ledger" in answer.json()["detail"]
    assert viewer.get("orders", colour="red").status == 400
    unknown = served.serve.user("nobody@acme.example").get("orders", colour="red")
    assert (unknown.status, unknown.code) == (403, "no_account") and "nobody@acme" not in unknown.body.decode()


PRIVATE = {"payee", "payee_since", "actor", "note", "acknowledged_by", "approvers"}


def members(value):
    if isinstance(value, dict):
        for name, inner in value.items():
            yield name, inner
            yield from members(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from members(inner)


def test_a_viewer_sees_no_payee_actor_note_or_reason(served):
    viewer, manager = served.as_("acme", "viewer"), served.as_("acme")
    answers = [(reader.rows("holds"), reader.rows("creators"), reader.rows("anomalies"),
                {**reader.object("creator", creator="ann"), "payouts": None}, reader.object("program", program="spring"),
                [{"note": row["reason"]} for row in reader.rows("holds")],
                [{"note": hold["reason"]} for hold in reader.object("creator", creator="cy")["holds"]],
                [reader.object("order", shop="shop-1", order=name) for name in ("o1", "held", "rejected")])
               for reader in (viewer, manager)]
    seen, all_of_it = ([pair for pair in members(list(answer)) if pair[0] in PRIVATE] for answer in answers)
    assert {value for _, value in seen} == {None} and len(seen) == len(all_of_it)
    assert {name for name, value in all_of_it if value is not None} >= {"payee", "payee_since", "actor", "note", "approvers"}
    kinds = [[entry["reason"] for entry in reader.object("order", shop="shop-1", order="o1")["journal"]] for reader in (viewer, manager)]
    assert kinds[0] == kinds[1] and "ATTRIBUTION" in kinds[0], "the kind of a posting is no reason that a person wrote"
    payees = {value for name, value in all_of_it if name == "payee" and value}
    assert payees == {"••••3000", "••••7466", "••••"}
    text = viewer.get("holds", format="json").body + manager.get("creators", format="csv").body
    assert b"as agreed" not in viewer.get("holds").body and b"DE89" not in text


def test_answers_carry_their_snapshot_window_and_tag(acme):
    answer = acme.get("orders")
    assert re.fullmatch(r"\d+:\d+", answer.header("X-Sluice-Snapshot"))
    assert answer.header("Cache-Control") == "private, no-cache"
    assert answer.header("Vary") == "Authorization, Cookie"
    assert answer.header("X-Content-Type-Options") == "nosniff"
    assert answer.header("X-RateLimit-Limit") == "1000000"
    assert int(answer.header("X-RateLimit-Reset")) > time.time() - 1
    assert answer.header("ETag") == f'"{hashlib.sha256(answer.body).hexdigest()[:32]}"'
    again = acme.get("orders", headers=[("If-None-Match", answer.header("ETag"))])
    assert again.status == 304 and again.body == b"" and again.header("ETag") == answer.header("ETag")
    assert acme.get("orders", headers=[("If-None-Match", '"other"')]).status == 200


def test_own_paths_need_no_token(served):
    for path, text in (("/health", "ok"), ("/ready", "ok"), ("/metrics", "sluice_read_requests_total"),
                       ("/v1/openapi.json", '"openapi": "3.1.0"')):
        answer = ask(served.serve.read, path)
        assert answer.status == 200 and text in answer.body.decode(), answer


def test_the_log_has_no_parameter_and_no_secret(served, acme):
    acme.get("order", shop="shop-1", order="o 5 & <img onerror=1>")
    log = served.serve.log()
    assert "acme GET /v1/order 200" in log and "onerror" not in log
    assert not any(secret in log for secret in served.secrets.values())


def test_pages_of_random_size_visit_each_row_once(served, acme):
    whole = acme.rows("orders", limit=1000)
    for limit in (1, 2, 3, 5):
        assert acme.rows("orders", limit=limit) == whole
    items = acme.get("orders", limit=2)
    link = re.fullmatch(r'<(.*)>; rel="next"', items.header("Link")).group(1)
    assert ask(acme.path, link, acme.headers).json()["items"] == whole[2:4]


@pytest.mark.parametrize("resource, parameters", [
    ("creators", {}), ("payees", {}), ("payees", {"history": "true"}), ("payees", {"creator": "robert"}), ("holds", {}),
    ("approvals", {}), ("periods", {}), ("programs", {}), ("program/versions", {"program": "spring"}), ("balances", {}), ("nodes", {}),
    ("trial-balance", {"from": "2024-01-01T00:00:00Z", "until": "2024-06-01T00:00:00Z"}), ("anomalies", {}), ("products", {}),
])
def test_pages_of_one_row_are_the_whole_list(acme, resource, parameters):
    assert acme.rows(resource, limit=1, **parameters) == acme.rows(resource, limit=1000, **parameters)


def test_a_row_that_goes_between_two_pages_takes_no_other_with_it(served, acme):
    """The key of a row is what names it, never its place, which changes with the rows before it."""
    mine = ("--account", "acme", "--creator")
    served.sluice("hold", *mine, "robert", "--reason", "x")
    try:
        first = acme.get("holds", limit=1).json()
        assert [row["creator_id"] for row in first["items"]] == ["cy"]
        served.sluice("release", *mine, "cy", "--reason", "x")
        second = acme.get("holds", limit=1, after=first["next"]).json()
        assert [row["creator_id"] for row in second["items"]] == ["robert"]
    finally:
        served.sluice("hold", *mine, "cy", "--reason", "as agreed")
        served.sluice("release", *mine, "robert", "--reason", "x")


def test_addresses_of_other_machines_are_refused(store):
    _, sluice = store
    for option, address in (("--listen", "0.0.0.0:8080"), ("--listen", "192.0.2.1:80"), ("--listen", "localhost:80"),
                            ("--listen", "unix:relative"), ("--people", "127.0.0.1:8080"), ("--threads", "0"),
                            ("--rate-limit", "0/60")):
        assert "expected" in sluice.refuses("serve", option, address, code=2)


def test_a_window_is_the_callers_own(store):
    folder, sluice = store
    first, second = (sluice.token("acme", "read_orders")[1] for _ in range(2))
    with Serve(folder / "store", folder, "--rate-limit", "3/3600") as serve:
        answers = [serve.token(first).get("me") for _ in range(4)]
        assert [answer.status for answer in answers] == [200, 200, 200, 429]
        assert [answer.header("X-RateLimit-Remaining") for answer in answers] == ["2", "1", "0", "0"]
        assert answers[3].code == "rate_limited" and 1 <= int(answers[3].header("Retry-After")) <= 3600
        assert serve.token(second).get("me").status == 200


def test_q5_a_wait_counts_once(live):
    """It reads the ledger at its start and at its end."""
    cursor = end_of(live.reader)
    _, secret = live.edge.sluice.token("acme", "read_ledger")
    folder = paths.make_folder()
    try:
        with Serve(live.edge.store, folder, "--rate-limit", "9/3600") as serve:
            reader = serve.token(secret)
            assert reader.get("me").header("X-RateLimit-Remaining") == "8"
            with concurrent.futures.ThreadPoolExecutor() as pool:
                waiting = pool.submit(reader.get, "changes", after=cursor, wait=30)
                paths.wait_until(lambda: waiters(serve) == 1, "the wait")
                live.order("o1")
                assert len(waiting.result().json()["changes"]) == 1
            assert waiting.result().header("X-RateLimit-Remaining") == "7"
            assert reader.get("me").header("X-RateLimit-Remaining") == "6"
    finally:
        paths.drop_folder(folder)


def test_a_second_server_does_not_take_the_socket(store):
    folder, sluice = store
    with Serve(folder / "store", folder) as serve:
        assert "another server" in sluice.refuses("serve", "--listen", f"unix:{serve.read}")
        assert serve.process.poll() is None and ask(serve.read, "/health").status == 200
    (folder / "file").write_text("x")
    assert "no socket" in sluice.refuses("serve", "--listen", f"unix:{folder}/file")


@pytest.mark.parametrize("address, host", [("127.0.0.1", "127.0.0.1"), ("[::1]", "::1")])
def test_tcp_on_loopback_takes_tokens_only(store, address, host):
    folder, sluice = store
    secret = sluice.token("acme", "read_orders")[1]
    sluice("user", "add", "gina", "--account", "acme", "--role", "viewer")
    port = paths.free_port()
    with Serve(folder / "store", folder, "--listen", f"{address}:{port}"):
        for header, status in ((f"Authorization: Bearer {secret}", 200), ("X-Sluice-User: gina", 401)):
            with socket.create_connection((host, port)) as connection:
                connection.sendall(f"GET /v1/me HTTP/1.1\r\nHost: a\r\n{header}\r\nConnection: close\r\n\r\n".encode())
                assert connection.makefile("rb").readline().split()[1] == str(status).encode()


def test_a_stop_answers_the_requests_under_way(store):
    folder, sluice = store
    secret = sluice.token("acme", "read_orders", "read_ledger")[1]
    answers = []
    with Serve(folder / "store", folder) as serve:
        reader = serve.token(secret)

        def read_on():
            while True:
                try:
                    answers.append(reader.get("orders").status)
                except OSError:
                    return

        threads = [threading.Thread(target=read_on) for _ in range(4)]
        for thread in threads:
            thread.start()
        paths.wait_until(lambda: len(answers) > 20, "answers")
        serve.stop()
        for thread in threads:
            thread.join()
    assert set(answers) == {200}


def test_a_cursor_outlives_tokens_that_are_older_than_its_callers(served):
    """As after an import of another registry's tokens."""
    reader = served.as_("acme")
    cursor = reader.get("orders", limit=1).json()["next"]
    clock = FakeTime()
    clock.set("2001-01-01T00:00:00Z")
    try:
        Sluice(served.sluice.store, clock.environment).token("acme", "read_orders")
    finally:
        clock.folder.cleanup()
    folder = paths.make_folder()
    try:
        with Serve(served.sluice.store, folder, "--rate-limit", "1000000/60") as other:
            for serve in (served.serve, other):
                assert serve.token(served.secrets["acme-manager"]).get("orders", limit=1, after=cursor).status == 200
    finally:
        paths.drop_folder(folder)


def test_q8_a_body_without_news_keeps_its_etag(acme):
    def tags():
        return time.time() // 60, [acme.get(path).header("ETag") for path in ("shops", "today")]

    while True:
        first = tags()
        time.sleep(1.1)
        second = tags()
        if first[0] == second[0]:  # events are known to the minute
            assert first == second
            return


def test_an_unknown_payout_run_is_404(acme):
    for resource in ("run", "payouts"):
        assert acme.get(resource, run="P200101000000-AAAAAA").status == 404
    assert acme.get("payouts", payout_run="P200101000000-AAAAAA").code == "not_found"


@pytest.mark.parametrize("name", ["from", "until"])
def test_a_trial_balance_of_part_of_a_day_is_refused(acme, name):
    days = {"from": "2026-01-01T00:00:00Z", "until": "2026-02-01T00:00:00Z"}
    assert acme.get("trial-balance", **days).status == 200
    for at in ("2026-01-15T00:00:01Z", "2026-01-15T12:00:00+01:00", "2026-01-15T00:00:00.5Z"):
        answer = acme.get("trial-balance", **{**days, name: at})
        assert errors(answer) == {name} and "first instant of a UTC day" in answer.json()["errors"][0]["message"]
    assert acme.get("trial-balance", **{**days, name: "2026-01-15T01:00:00+01:00"}).status == 200


def test_the_log_has_no_e_mail_address(served):
    served.serve.user("gina.long@acme.example").get("me")
    paths.wait_until(lambda: "u:g***@acme.example" in served.serve.log(), "the line of the request")
    assert "gina.long" not in served.serve.log()


@pytest.mark.parametrize("minutes, behind", [(1, False), (6, True)])
def test_a_worker_that_was_stopped_is_behind_after_five_minutes(live, minutes, behind):
    """It counts no inputs, so some may wait."""
    live.order("o1")
    clock, folder = FakeTime(), paths.make_folder()
    at = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(minutes=minutes)
    clock.set(at.strftime("%Y-%m-%dT%H:%M:%SZ"))
    secret = live.edge.sluice.token("acme", "read_ledger", "read_orders")[1]
    try:
        with Serve(live.edge.store, folder, environment=clock.environment) as serve:
            (node,) = serve.token(secret).rows("nodes")
            assert (node["worker_state"], node["behind"]) == ("stopped", behind)
            waiting = [line["kind"] for line in serve.token(secret).object("today")["waiting"]]
            assert ("nodes_behind" in waiting) == behind
    finally:
        paths.drop_folder(folder)
        clock.folder.cleanup()


def test_a_suspended_accounts_destinations_are_named(store):
    folder, sluice = store
    sluice("notify", "add", "erp", "--account", "acme", "--url", "https://erp.acme.example/")
    sluice("notify", "add", "other", "--account", "beta", "--url", "https://erp.acme.example/")
    said = sluice("account", "suspend", "acme")
    assert "sluice notify pause erp" in said and "other" not in said
    sluice("notify", "pause", "erp")
    assert "notify pause" not in sluice("account", "suspend", "acme")
