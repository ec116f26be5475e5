"""Accounts see nothing of each other, whatever is asked, and a revoked caller sees nothing at all."""

import concurrent.futures
import datetime
import json
import threading
import time

import pytest
from harness import paths
from harness.serve import Serve, ask
from serve import scene
from serve.live import end_of, waiters

OTHERS = [("acme", "beta"), ("beta", "acme")]


def ids_of(served, account):
    """Values of every parameter that names something of the account."""
    reader = served.as_(account)
    shop, program = scene.ACCOUNTS[account]
    payout = reader.rows("payouts")[0]
    return {"shop": shop, "program": program, "payout": payout["payout_id"], "run": payout["payout_run"],
            "payout_run": payout["payout_run"], "id": reader.rows("approvals")[0]["id"], "link": reader.rows("links")[0]["link_id"]}


def node_of(served, account):
    """The one node that both accounts have."""
    return served.as_(account).rows("nodes")[0]["node"]


@pytest.mark.parametrize("account, other", OTHERS)
def test_every_id_of_another_account_is_not_found(served, account, other):
    """As an unknown id, byte for byte."""
    document = json.loads(ask(served.serve.read, "/v1/openapi.json").body)
    theirs, mine = ids_of(served, other), ids_of(served, account)
    tried = 0
    for path, operations in document["paths"].items():
        names = {parameter["name"]: parameter["required"] for parameter in operations["get"]["parameters"]}
        fixed = {"order": "o1", "creator": "ann", "q": "o1", "month": "2026-01", "until": "2026-01-01T00:00:00Z",
                 "from": "2025-01-01T00:00:00Z", "change": "1", "node": node_of(served, account), **mine}
        required = {name: fixed[name] for name, needed in names.items() if needed}
        if path == "/v1/run":
            required["run"] = mine["run"]
        for name, value in theirs.items():
            if name not in names or (path, name) == ("/v1/clicks", "link"):  # a click may name any link
                continue
            tried += 1
            asked = {**required, name: value}
            if name == "payout_run":
                asked.pop("run", None)
            answer = served.as_(account).get(path.removeprefix("/v1/"), **asked)
            nobodys = served.as_(account).get(path.removeprefix("/v1/"), **{**asked, name: "nobody-has-this"})
            assert (answer.status, answer.body) == (404, nobodys.body), (path, asked, answer)
    assert tried >= 17


@pytest.mark.parametrize("account, other", OTHERS)
def test_a_search_for_an_id_of_another_account_finds_nothing(served, account, other):
    theirs = [*ids_of(served, other).values(), f"{scene.ACCOUNTS[other][0]}-late", other,
              *(row["command_id"] for row in served.as_(other).rows("journal") if row["command_id"])]
    for text in theirs:
        assert served.as_(account).get("search", q=text).body == served.as_(account).get("search", q="nobodys").body


@pytest.mark.parametrize("account, other", OTHERS)
def test_no_answer_names_the_other_account(served, account, other):
    document = json.loads(ask(served.serve.read, "/v1/openapi.json").body)
    theirs = [other, *scene.ACCOUNTS[other], *(ids_of(served, other)[name] for name in ("payout", "link"))]
    mine = ids_of(served, account)
    for path, operations in document["paths"].items():
        names = {parameter["name"] for parameter in operations["get"]["parameters"]}
        fixed = {"order": "o1", "creator": "ann", "q": "o1", "month": scene.this_month()[:7],
                 "until": scene.this_month(), "from": "2025-01-01T00:00:00Z", "change": "1",
                 "node": node_of(served, account), **mine}
        needed = [parameter["name"] for parameter in operations["get"]["parameters"] if parameter["required"]]
        asked = {name: fixed[name] for name in needed}
        if path == "/v1/run":
            asked["run"] = mine["run"]
        answer = served.as_(account).get(path.removeprefix("/v1/"), **asked)
        assert answer.status in (200, 404), (path, answer)
        text = answer.body.decode()
        for name in theirs:
            assert f'"{name}"' not in text and f"{name}-late" not in text, (path, name, names)


def test_a_token_implies_its_account(served):
    reader = served.as_("acme")
    assert reader.get("orders", account="acme").body == reader.get("orders").body
    answer = reader.get("orders", account="beta")
    assert (answer.status, answer.body) == (404, reader.get("orders", account="nobodys").body)


def test_the_role_support_reads_creators_and_no_books(served):
    """Between viewer and manager: names, payees and their history, payouts, statements; no approval, month, feed or node."""
    served.sluice("user", "add", "help@acme.example", "--account", "acme", "--role", "support")
    support, manager = served.serve.user("help@acme.example"), served.as_("acme")
    assert [row["role"] for row in support.object("me")["accounts"]] == ["support"]
    month = scene.this_month()[:7]
    for path, parameters in (("payees", {"creator": "robert", "history": "true"}), ("payouts", {}), ("balances", {}), ("creators", {"sort": "-earned"})):
        assert support.rows(path, **parameters) == manager.rows(path, **parameters) != [], path
    for path, parameters in (("creator", {"creator": "ann"}), ("statement", {"creator": "ann", "month": month}),
                             ("order", {"shop": "shop-1", "order": "o1"})):
        assert support.object(path, **parameters) == manager.object(path, **parameters), path
    for path in ("approvals", "periods", "runs", "journal", "changes", "nodes", "payouts/ages", "trial-balance"):
        assert support.get(path).code == "scope", path
    assert support.object("today")["payable"] is None and support.object("program", program="spring")["policy"].get("approvers") is None
    payout = manager.rows("payouts")[0]
    assert [row["kind"] for row in support.rows("search", q=payout["payout_id"])] == ["payout"]
    assert support.rows("search", q=payout["payout_run"]) == []
    assert ["support"] == [row["role"] for row in served.sluice.json("user", "list") if row["user"] == "help@acme.example"]
    served.sluice("user", "remove", "help@acme.example", "--account", "acme")


def test_a_user_states_one_of_several_accounts(served):
    """Example 8: gina is a manager of acme and a viewer of beta."""
    served.sluice("user", "add", "Gina@Acme.example", "--account", "acme", "--role", "manager")
    served.sluice("user", "add", "gina@acme.example", "--account", "beta", "--role", "viewer")
    gina = served.serve.user("GINA@acme.EXAMPLE")
    assert gina.get("payouts", account="acme").status == 200
    assert gina.get("payouts", account="beta").code == "scope"
    answer = gina.get("payouts", account="gamma")
    assert (answer.status, answer.code) == (404, "not_found")
    answer = gina.get("orders")
    assert [error["parameter"] for error in answer.json()["errors"]] == ["account"]
    assert gina.rows("orders", account="beta") == served.as_("beta").rows("orders")
    me = gina.object("me")
    assert me["user"] == "gina@acme.example" and [row["role"] for row in me["accounts"]] == ["manager", "viewer"]
    served.sluice("user", "remove", "gina@acme.example", "--account", "beta")
    assert gina.get("orders").status == 200 and gina.get("orders", account="beta").status == 404
    served.sluice("user", "remove", "gina@acme.example", "--account", "acme")
    assert gina.get("orders").code == "no_account"


def test_requests_of_other_sites_are_refused(served):
    served.sluice("user", "add", "site@acme.example", "--account", "acme", "--role", "viewer")
    user = served.serve.user("site@acme.example")
    for value, status in (("same-origin", 200), ("none", 200), ("same-site", 403), ("cross-site", 403), ("", 403)):
        answer = user.get("orders", headers=[("Sec-Fetch-Site", value)])
        assert answer.status == status, (value, answer)
    assert served.as_("acme").get("orders", headers=[("Sec-Fetch-Site", "cross-site")]).status == 200


def test_users_are_rows_that_the_registry_carries(store):
    folder, sluice = store
    sluice("user", "add", "Gina", "--account", "acme", "--role", "viewer")
    sluice("user", "add", "gina", "--account", "beta", "--role", "manager")
    sluice("user", "add", "gone", "--account", "acme", "--role", "manager")
    sluice("user", "remove", "gone", "--account", "acme")
    rows = sluice.json("user", "list")
    assert [(row["user"], row["account_id"], row["role"]) for row in rows] == [
        ("gina", "acme", "viewer"), ("gina", "beta", "manager")]
    assert [row["account_id"] for row in sluice.json("user", "list", "--account", "beta")] == ["beta"]
    assert "already" in sluice.refuses("user", "add", "gina", "--account", "acme", "--role", "viewer")
    assert "no such user" in sluice.refuses("user", "remove", "gone", "--account", "acme")
    assert "no account" in sluice.refuses("user", "add", "x", "--account", "nobodys", "--role", "viewer")
    sluice.refuses("user", "add", "a\nb", "--account", "acme", "--role", "viewer", code=2)
    sluice.refuses("user", "add", "x" * 255, "--account", "acme", "--role", "viewer", code=2)
    other = type(sluice)(folder / "other")
    other("init")
    (folder / "other" / "master.key").write_bytes((folder / "store" / "master.key").read_bytes())
    exported = sluice("registry", "export", "-")
    said = other.json("registry", "import", folder / "r") if (folder / "r").write_text(exported) else None
    assert {"kind": "user", "id": "gina of acme", "change": "added as viewer"} in said
    assert other.json("user", "list") == rows
    sluice("user", "add", "gina", "--account", "acme", "--role", "manager")
    (folder / "r").write_text(sluice("registry", "export", "-"))
    assert [row["change"] for row in other.json("registry", "import", folder / "r")] == ["added as manager"]
    assert "follows" in other.refuses("user", "add", "x", "--account", "acme", "--role", "viewer")


def test_lg3_names_have_up_to_254_bytes_and_differ_by_more_than_ascii_case(store):
    _, sluice = store

    def add(name):
        return sluice.run("user", "add", name, "--account", "acme", "--role", "viewer").returncode

    assert [add(name) for name in ("x" * 254, "X" * 254, "\u00c4nn", "\u00e4NN", "\u00c4NN")] == [0, 1, 0, 0, 1]
    assert {row["user"] for row in sluice.json("user", "list")} == {"x" * 254, "\u00c4nn", "\u00e4nn"}


def revoked_while_asked(serve, reader, revoke):
    """Statuses before and after `revoke` while four clients ask; after it, none may be 200."""
    statuses, done, revoked = [], threading.Event(), threading.Event()

    def read_on():
        while not done.is_set():
            was_revoked = revoked.is_set()
            statuses.append((was_revoked, reader.get("orders").status))

    threads = [threading.Thread(target=read_on) for _ in range(4)]
    for thread in threads:
        thread.start()
    paths.wait_until(lambda: len(statuses) > 40, "answers")
    revoke()
    revoked.set()
    paths.wait_until(lambda: sum(after for after, _ in statuses) > 40, "answers after it")
    done.set()
    for thread in threads:
        thread.join()
    assert {status for after, status in statuses if not after} >= {200}
    return {status for after, status in statuses if after}


def test_a_revoked_token_gets_no_answer_from_then_on(store):
    folder, sluice = store
    token_id, secret = sluice.token("acme", "read_orders")
    with Serve(folder / "store", folder, "--rate-limit", "1000000/60") as serve:
        assert revoked_while_asked(serve, serve.token(secret),
                                   lambda: sluice("token", "revoke", token_id)) == {401}
        _, other = sluice.token("acme", "read_orders")
        assert revoked_while_asked(serve, serve.token(other),
                                   lambda: sluice("account", "suspend", "acme")) == {401}
        sluice("account", "resume", "acme")
        assert serve.token(other).get("me").status == 200


def test_a_removed_user_gets_no_answer_from_then_on(store):
    folder, sluice = store
    sluice("user", "add", "gina", "--account", "acme", "--role", "viewer")
    with Serve(folder / "store", folder, "--rate-limit", "1000000/60") as serve:
        assert revoked_while_asked(serve, serve.user("gina"),
                                   lambda: sluice("user", "remove", "gina", "--account", "acme")) == {403}


GINA = ("gina", "--account", "acme")
# Commands that take a right away, and the answer to the wait.
REVOKED = {
    "a token": (("token", "revoke", "ID"), 401, "unauthorized"),
    "a user": (("user", "remove", *GINA), 403, "no_account"),
    "a role": (("user", "add", *GINA, "--role", "viewer"), 403, "no_account"),
    "an account": (("account", "suspend", "acme"), 401, "unauthorized"),
}


@pytest.mark.parametrize("what", REVOKED)
def test_lg4_a_right_that_is_lost_during_a_wait_ends_it_soon_and_others_wait_on(live, what):
    """Well before the ten seconds after which every waiter is looked up again."""
    command, status, code = REVOKED[what]
    sluice, cursor = live.edge.sluice, end_of(live.reader)
    token, secret = sluice.token("acme", "read_ledger")
    sluice("user", "add", *GINA, "--role", "manager")
    loses = live.serve.token(secret) if what == "a token" else live.serve.user("gina")
    others = [] if what == "an account" else [live.reader]
    with concurrent.futures.ThreadPoolExecutor() as pool:
        waiting = pool.submit(loses.get, "changes", after=cursor, wait=30)
        staying = [pool.submit(other.get, "changes", after=cursor, wait=30) for other in others]
        paths.wait_until(lambda: waiters(live.serve) == 1 + len(staying), "the waits")
        sluice(*(token if word == "ID" else word for word in command))
        began = time.monotonic()
        answer = waiting.result()
        assert time.monotonic() - began < 5 and (answer.status, answer.code) == (status, code), answer
        paths.wait_until(lambda: waiters(live.serve) == len(staying), "the refused wait to be counted no more")
        if others:
            assert not staying[0].done()
            live.order("o1")
            assert [change["type"] for change in staying[0].result().json()["changes"]] == ["order.attributed"]


def test_lg4_a_change_after_a_right_was_lost_is_not_told(live):
    """Whether it wakes the wait or the look-up of its caller does."""
    token, secret = live.edge.sluice.token("acme", "read_ledger")
    answer = live.edge.post_event("shop-1", live.secret, "ORDER_CREATE", scene.order("o1", "SAVE"))
    assert answer.status == 200
    cursor = end_of(live.reader)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        waiting = pool.submit(live.serve.token(secret).get, "changes", after=cursor, wait=30)
        paths.wait_until(lambda: waiters(live.serve) == 1, "the wait")
        live.edge.sluice("token", "revoke", token)
        live.edge.sluice("worker", "--until-empty")
        answer = waiting.result()
    assert (answer.status, answer.code) == (401, "unauthorized")
    assert end_of(live.reader) != cursor


def test_lg4_a_token_that_expires_during_a_wait_ends_it(live):
    """No change of the registry tells it, so every waiter is looked up each ten seconds."""
    cursor = end_of(live.reader)
    expires = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=5)
    _, secret = live.edge.sluice.token("acme", "read_ledger", expires=expires.isoformat().replace("+00:00", "Z"))
    began = time.monotonic()
    answer = live.serve.token(secret).get("changes", after=cursor, wait=30)
    assert (answer.status, answer.code) == (401, "unauthorized"), answer
    assert 1 < time.monotonic() - began < 20
