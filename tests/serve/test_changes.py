"""The change feed: every change once, in the order of its chain, provable without trust in the server."""

import concurrent.futures
import datetime
import hashlib
import shutil
import socket

import pytest
from harness import orders, paths, sign
from harness import postgres as postgres_server
from harness.cli import now
from harness.postgres_cluster import Cluster
from harness.serve import Serve, UnixConnection
from model.books.journal import ACCOUNTS as LEDGER_ACCOUNTS
from model.books.journal import MEMOS, REASONS
from model.values import digits
from serve import scene
from serve.live import THIS_MORNING, all_changes, end_of, pages, recent, served_shop, waiters

ACCOUNTS = list(scene.ACCOUNTS)
NO_HASH = "00" * 32
# Files of the embedded ledger are replaced; tests/fleet does the like to a database.
EMBEDDED = pytest.mark.parametrize("ledger", ["lmdb"], indirect=True)


def number(value, width):
    return (value % (1 << 8 * width)).to_bytes(width, "little")


def text(value):
    return number(len((value or "").encode()), 4) + (value or "").encode()


def instant(value):
    whole, _, rest = value.rstrip("Z").partition(".")
    seconds = datetime.datetime.fromisoformat(whole + "+00:00").timestamp()
    return number(int(seconds), 8) + number(int(rest.ljust(9, "0")) if rest else 0, 4)


def canonical(change, row):
    """The bytes that docs/record-format.md describes, from one entry of a change."""
    def account(name):
        return number(LEDGER_ACCOUNTS[(name or "").split(":")[0]], 1)

    scale = digits(row["currency"]) if row["currency"] else 0
    unscaled = round(float(row["amount"]) * 10**scale) if row["currency"] else 0
    code = MEMOS[row["reason"]] if row["currency"] is None else REASONS[row["reason"]][0]
    return b"".join([
        b"SLJ2", number(row["entry"], 8), text(row["node"]), number(row["event_seq"], 8), text(row["command_id"]),
        number(change["account_number"], 4), number(change["shop_number"], 4), text(row["order_id"]),
        text(row["line_item_id"]), text(row["program_id"]), text(row["creator_id"]), text(row["currency"]),
        account(row["debit_account"]), account(row["credit_account"]), number(scale, 1), number(unscaled, 16),
        number(code, 1), text(row["payout_id"]), instant(row["recorded_at"]), instant(row["accounting_date"]),
        number(row["refers_to"] or 0, 8), text(row["note"]), text(row["actor"]),
    ])


def hash_of(change):
    chained = bytes.fromhex(change["previous_hash"])
    for row in change["entries"]:
        chained = hashlib.sha256(chained + canonical(change, row)).digest()
    return chained.hex()


def check_chain(changes):
    """Nothing was missed, added or altered. A change with a payee is masked, so only its links are checked."""
    ends = {}
    for change in changes:
        last, end = ends.get(change["node"], (0, NO_HASH))
        assert (change["first"], change["previous_hash"]) == (last + 1, end), change
        assert change["last"] == change["first"] + len(change["entries"]) - 1
        if change["type"] != "creator.payee_changed":
            assert hash_of(change) == change["hash"], change
        ends[change["node"]] = change["last"], change["hash"]
    return ends


@pytest.mark.parametrize("account", ACCOUNTS)
def test_fe4_a_consumer_proves_every_change(served, account):
    reader = served.as_(account)
    changes = all_changes(reader)
    ends = check_chain(changes)
    assert ends == {row["node"]: (row["entries"], row["hash"]) for row in reader.rows("nodes") if row["entries"]}
    rows = [row for change in changes for row in change["entries"]]
    assert rows == list(reversed(reader.rows("journal")))
    numbers = {(row["node"], row["entry"]): (change["first"], change["last"]) for change in changes for row in change["entries"]}
    reported = served.sluice.json("report", "journal", "--account", account)
    assert {(row["node"], row["entry"]): (row["first"], row["last"]) for row in reported} == numbers


@pytest.mark.parametrize("limit", [1, 2, 7, 1000])
def test_fe6_pages_of_any_size_have_the_same_changes(served, limit):
    reader = served.as_("acme")
    assert all_changes(reader, limit=limit) == all_changes(reader)


def test_fe1_the_end_is_a_cursor_like_any_other(served):
    reader = served.as_("acme")
    *_, last = pages(reader)
    again = reader.object("changes", after=last["next"])
    assert again == {"changes": [], "next": last["next"], "more": False}


def test_fe3_types_and_changes_of_an_order(served):
    changes = all_changes(served.as_("acme"))
    assert {
        "order.attributed", "order.detached", "order.rejected", "order.held", "commission.changed", "payout.taken",
        "payout.closed", "payout.sent", "payout.paid", "payout.repointed", "payout.void", "command.waiting",
        "command.approved", "creator.held", "creator.renamed", "creator.payee_changed", "period.closed",
        "policy.changed", "anomaly.recorded",
    } <= {change["type"] for change in changes}
    numbers = {}
    for change in changes:
        row = change["entries"][0]
        if change["order_change"] is not None:
            numbers.setdefault((row["shop_id"], row["order_id"]), []).append(change["order_change"])
        assert (change["order_change"] is not None) == change["type"].startswith(("order.", "anomaly.")) or \
            change["type"] == "commission.changed", change
    assert numbers
    for found in numbers.values():
        assert found == list(range(1, len(found) + 1))


def test_fe3_a_payee_is_masked(served):
    for change in all_changes(served.as_("acme")):
        if change["type"] == "creator.payee_changed":
            assert "••••" in change["entries"][0]["line_item_id"]


@pytest.mark.parametrize("parameters, name", [
    ({"wait": "31"}, "wait"), ({"wait": "x"}, "wait"), ({"limit": "0"}, "limit"), ({"from": scene.this_month()}, "#1"),
])
def test_q4_a_wrong_parameter_is_named(served, parameters, name):
    answer = served.as_("acme").get("changes", **parameters)
    assert (answer.status, answer.code) == (400, "parameter")
    assert [error["parameter"] for error in answer.json()["errors"]] == [name]


def test_q7_a_cursor_of_another_account_is_refused(served):
    cursor = served.as_("beta").object("changes")["next"]
    for wrong in (cursor, cursor[:-1], "x" * 3000):
        answer = served.as_("acme").get("changes", after=wrong)
        assert (answer.status, answer.code) == (400, "cursor_invalid")


def test_lg3_a_viewer_has_no_feed(served):
    answer = served.as_("acme", "viewer").get("changes")
    assert (answer.status, answer.code) == (403, "scope")


def test_examples_2_and_3_an_order_and_its_refund(live):
    cursor = end_of(live.reader)
    live.order("o1")
    refund = recent("o1", THIS_MORNING, refund_line_items=[orders.refund("r1", amount="25.00", tax="5.00")])
    assert live.edge.post_event("shop-1", live.secret, "ORDER_UPDATE", refund).status == 200
    live.edge.sluice("worker", "--until-empty")
    first, second = live.reader.object("changes", after=cursor)["changes"]
    assert (first["type"], first["order_change"]) == ("order.attributed", 1)
    assert [(row["reason"], row["amount"]) for row in first["entries"]] == [("ACCRUAL", "8.00"), ("ATTRIBUTED", None)]
    assert (second["type"], second["order_change"]) == ("commission.changed", 2)
    assert [(row["reason"], row["amount"]) for row in second["entries"]] == [("REFUND", "-2.00")]
    assert (second["first"], second["previous_hash"]) == (first["last"] + 1, first["hash"])


def test_fe1_a_wait_ends_with_the_change(live):
    cursor = end_of(live.reader)
    with concurrent.futures.ThreadPoolExecutor(max_workers=8) as pool:
        waiting = [pool.submit(live.reader.object, "changes", after=cursor, wait=30) for _ in range(8)]
        paths.wait_until(lambda: waiters(live.serve) == 8, "eight waits")
        ninth = live.reader.get("changes", after=cursor, wait=30)
        assert (ninth.status, ninth.code, ninth.header("Retry-After")) == (503, "busy", "1")
        assert ninth.header("Connection") == "close"  # so that it takes no place of other requests
        live.order("o1")
        for one in waiting:
            assert [change["type"] for change in one.result()["changes"]] == ["order.attributed"]
    paths.wait_until(lambda: waiters(live.serve) == 0, "no waits")


def test_fe1_a_wait_ends_with_its_client(live):
    """Eight clients that go away shut no account out."""
    cursor = end_of(live.reader)
    gone = [UnixConnection(live.reader.path) for _ in range(8)]
    for connection in gone:
        connection.request("GET", f"/v1/changes?after={cursor}&wait=30", headers=dict(live.reader.headers))
    paths.wait_until(lambda: waiters(live.serve) == 8, "eight waits")
    assert live.reader.get("changes", after=cursor, wait=30).code == "busy"
    for connection in gone[1:]:
        connection.close()
    gone[0].sock.shutdown(socket.SHUT_WR)
    paths.wait_until(lambda: waiters(live.serve) == 0, "the places of clients that are gone", deadline=5)
    assert live.reader.get("changes", after=cursor, wait=1).json()["changes"] == []
    assert live.serve.log().count(" 499 ") == 8


def test_fe1_a_wait_without_a_change_ends_in_time(live):
    cursor = end_of(live.reader)
    assert live.reader.object("changes", after=cursor, wait=1) == {"changes": [], "next": cursor, "more": False}


def test_z9_an_anomaly_that_begins_to_show_is_a_change(live):
    cursor = end_of(live.reader)
    live.order("o1")
    for _ in range(2):  # the second one shows nothing new
        cancelled = recent("o1", platform_cancelled_at=THIS_MORNING)
        assert live.edge.post_event("shop-1", live.secret, "ORDER_CANCEL", cancelled).status == 200
        live.edge.sluice("worker", "--until-empty")
    attributed, recorded = live.reader.object("changes", after=cursor)["changes"]
    assert (attributed["type"], recorded["type"]) == ("order.attributed", "anomaly.recorded")
    assert [row["line_item_id"] for row in recorded["entries"]] == ["CANCEL_NOT_LATER"]
    assert (attributed["order_change"], recorded["order_change"]) == (1, 2)


def test_z9_a_withdrawn_command_is_a_change(live):
    cursor = end_of(live.reader)
    mine = ("--account", "acme")
    live.edge.sluice.run("credit", *mine, "--creator", "ann", "--program", "spring", "--amount", "60.00 USD",
                         *scene.WHY)
    (pending,) = live.edge.sluice.json("approvals", *mine)
    live.edge.sluice("withdraw", pending["id"], *mine, *scene.WHY)
    waiting, withdrawn = live.reader.object("changes", after=cursor)["changes"]
    assert (waiting["type"], withdrawn["type"]) == ("command.waiting", "command.withdrawn")
    assert [(row["reason"], row["line_item_id"]) for row in withdrawn["entries"]] == [("WITHDRAWN", pending["id"])]


APPROVED_PAYOUTS = """
[[policy]]
account = "acme"
approve_payout_above = ["5.00 USD"]
"""


def test_fe3_the_types_of_other_commands(live, tmp_path):
    """Types that no change of the scene has."""
    sluice, mine, order = live.edge.sluice, ("--account", "acme"), ("--shop", "shop-1", "--order", "o1")

    def types(*command):
        cursor = end_of(live.reader)
        sluice(*command, *scene.WHY)
        return [change["type"] for change in live.reader.object("changes", after=cursor)["changes"]]

    def payouts():
        return {row["payout_id"] for row in sluice.json("payout", "list", *mine)}

    def close():
        before = payouts()
        sluice("credit", *mine, "--creator", "ann", "--program", "spring", "--amount", "12.00 USD", *scene.WHY)
        sluice("payout", "close", *mine, "--until", now())
        (made,) = payouts() - before
        return made

    live.order("o1")
    assert types("hold", *order) == ["order.held"]
    assert types("release", *order, "--hold") == ["order.released"]
    assert types("hold", *mine, "--creator", "ann") == ["creator.held"]
    assert types("release", *mine, "--creator", "ann") == ["creator.released"]
    cancelled = recent("o1", platform_cancelled_at=THIS_MORNING)
    assert live.edge.post_event("shop-1", live.secret, "ORDER_CANCEL", cancelled).status == 200
    sluice("worker", "--until-empty")
    assert types("anomaly", "ack", *order, "--kind", "CANCEL_NOT_LATER") == ["anomaly.acknowledged"]
    assert "order.reset" in types("order", "reset", *order, "--version", "2020-01-01T00:00:00Z")
    failed = close()
    sluice("payout", "sent", failed, *mine, *scene.WHY)
    assert types("payout", "failed", failed, *mine) == ["payout.failed"]
    returned = close()
    sluice("payout", "sent", returned, *mine, *scene.WHY)
    sluice("payout", "settle", returned, *mine, *scene.WHY)
    assert types("payout", "returned", returned, *mine) == ["payout.returned"]
    (tmp_path / "policy.toml").write_text(APPROVED_PAYOUTS)
    sluice.run("program", "apply", tmp_path / "policy.toml")
    scene.approve(sluice, mine, "program apply")
    cursor = end_of(live.reader)
    close()
    scene.approve(sluice, mine, sluice.json("approvals", *mine)[0]["command"])
    assert "payout.approved" in [change["type"] for change in live.reader.object("changes", after=cursor)["changes"]]


def test_u1_a_change_has_the_trace_of_its_event(live):
    trace, cursor = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", end_of(live.reader)
    for name, traces in (("traced", [trace]), ("twice", [trace, trace]), ("not", [])):
        body = sign.encode(recent(name))
        headers = [*sign.event_headers("shop-1", live.secret, "ORDER_CREATE", body), *(("traceparent", one) for one in traces)]
        assert live.edge.request("POST", sign.EVENTS, headers, body).status == 200
    live.edge.sluice("worker", "--until-empty")
    traced, *others = live.reader.object("changes", after=cursor)["changes"]
    assert (traced["trace"], [change["trace"] for change in others]) == (trace, [None, None])


def test_fe1_a_stop_ends_waits(live):
    cursor = end_of(live.reader)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        waiting = pool.submit(live.reader.get, "changes", after=cursor, wait=30)
        paths.wait_until(lambda: waiters(live.serve) == 1, "a wait")
        live.serve.stop()
        assert waiting.result().json()["changes"] == []


@EMBEDDED
def test_fe5_a_ledger_that_was_restored_older_and_diverged_is_410(live):
    live.order("o1")
    ledger = live.edge.store / "ledger"
    kept = live.edge.store.parent / "kept"
    shutil.copytree(ledger, kept)
    live.order("o2")
    cursor = end_of(live.reader)
    live.serve.stop()
    shutil.rmtree(ledger)
    shutil.copytree(kept, ledger)
    with live.serve:
        answer = live.reader.get("changes", after=cursor)
        assert (answer.status, answer.code) == (410, "cursor_diverged")
        check_chain(all_changes(live.reader))


@EMBEDDED
def test_fe5_a_rebuilt_ledger_keeps_cursors(live):
    live.order("o1")
    before, cursor = all_changes(live.reader), end_of(live.reader)
    live.serve.stop()
    live.edge.sluice("ledger", "rebuild", "--from", live.edge.store / "archive", "--into", live.edge.store / "new")
    shutil.rmtree(live.edge.store / "ledger")
    (live.edge.store / "new").rename(live.edge.store / "ledger")
    with live.serve:
        assert live.reader.object("changes", after=cursor)["changes"] == []
        assert all_changes(live.reader) == before


def test_fe6_a_chain_is_read_from_any_place(live):
    """More entries than a block of chain_groups, so that pages begin in several of them."""
    for count in range(200):
        assert live.edge.post_event("shop-1", live.secret, "ORDER_CREATE",
                                    scene.order(f"o{count}", "SAVE")).status == 200
    live.edge.sluice("worker", "--until-empty")
    found = list(pages(live.reader, limit=7))
    changes = [change for page in found for change in page["changes"]]
    check_chain(changes)
    assert len(found) > 20 and changes[-1]["last"] > 400
    for page, next_page in zip(found, found[1:]):
        assert live.reader.object("changes", after=page["next"], limit=7) == next_page


def test_fe5_a_standby_that_lags_is_asked_again_and_has_not_diverged(tmp_path):
    """It answered 410, so that the consumer began without its cursor."""
    servers = paths.make_folder()
    primary = Cluster(servers, "primary", settings=postgres_server.QUICK).start()
    standby = Cluster(servers, "standby", settings=postgres_server.QUICK)
    try:
        with served_shop(tmp_path, ledger=primary.url()) as live:
            live.order("o1")
            standby.follow(primary).start()
            standby.query("SELECT pg_wal_replay_pause()")
            live.order("o2")
            cursor, folder = end_of(live.reader), paths.make_folder()
            _, secret = live.edge.sluice.token("acme", "read_orders", "read_ledger")
            with Serve(live.edge.store, folder, "--ledger", standby.url()) as late:
                reader = late.token(secret)
                answer = reader.get("changes", after=cursor)
                assert (answer.status, answer.code) == (503, "ledger_unavailable") and answer.header("Retry-After")
                standby.query("SELECT pg_wal_replay_resume()")
                paths.wait_until(lambda: reader.get("changes", after=cursor).status == 200, "the standby to catch up")
                assert reader.object("changes", after=cursor)["changes"] == []
            paths.drop_folder(folder)
    finally:
        for server in (standby, primary):
            server.remove()
        paths.drop_folder(servers)
