"""Attacks of an insider on the controls (controls K1, rules K2 to K4, K6, K7, K12): each was done on a running system, on
both ledgers, and none may work. The real commands, by several people."""
import concurrent.futures
import json
import os
import pty
import subprocess

import pytest
from harness import orders, paths
from harness.cli import Sluice, now
from harness.edge import Edge
from harness.http_block import EVENTS, http_block
from harness.office import ACME, EVE, FRANK, GINA, PAYEES, POLICY, PROGRAM, WHY, database, filled, office, open_office  # noqa: F401


# K3: an approver sees what they approve ------------------------------------------------------------------------------


def test_k3_one_file_changes_guarded_settings_of_one_account(office):
    """A file that named another account first was approved by the people of that account."""
    guarded = "approve_adjust_above = ['50.00 USD']\n"
    office.allow(guarded)
    both = f"[[policy]]\naccount = 'other'\n{guarded}\n[[policy]]\naccount = 'acme'\n{guarded}"
    done = office.apply(both)
    assert done.returncode == 1 and "more than one account (acme, other)" in done.stderr, done
    assert office.eve.json("program", "show", "spring")["policy"]["approvers"] == [FRANK, GINA]


def test_k3_one_file_changes_guarded_payees_of_one_account(office):
    office.allow("approve_payee_change = true\n")
    assert office.apply(PROGRAM.format(rate="10%").replace("spring", "summer").replace("acme", "other")).returncode == 0
    both = office.file("both.csv", "creator_id,program_id,payee\ncleo,summer,ref-cleo\nann,spring,ref-eve\n")
    done = office.eve.run("creator", "import", both, *WHY)
    assert done.returncode == 1 and "more than one account (acme, other)" in done.stderr, done
    assert office.pending() == [] and office.eve.json("creator", "show", "ann", *ACME)["payee"] == "ref-ann"


def test_k3_approval_needs_the_digest(office):
    office.allow("approve_adjust_above = ['5.00 USD']\n")
    asked = office.eve.run("adjust", "--shop", "shop-1", "--order", "o1", "--amount", "9.00", *WHY)
    assert asked.returncode == 3, asked
    (name,) = office.pending()
    assert "approvals show" in office.gina.refuses("approve", name, *ACME)
    shown = office.gina.json("approvals", "show", name, *ACME)
    assert (shown["id"], shown["command"], shown["actor"], shown["reason"]) == (name, "adjust", EVE, "as agreed")
    assert shown["fields"] == {"order": "o1", "amount": "9.00", "shop": "shop-1"}
    assert [(r["creator_id"], r["before"], r["after"]) for r in shown["effect"]["creators"]] == [("ann", "8.00", "17.00")]
    assert "changed" in office.gina.refuses("approve", name, *ACME, "--expect", "0" * 64)
    assert office.memos("MANUAL") == []
    office.gina("approve", name, *ACME, "--expect", shown["digest"])
    assert [row["amount"] for row in office.memos("MANUAL")] == ["9.00"]
    assert office.is_sound()


def test_k3_an_approver_sees_differences_of_a_policy(office):
    office.allow("approve_adjust_above = ['5.00 USD']\n")
    assert office.apply(POLICY + "approve_adjust_above = ['500.00 USD']\n").returncode == 3
    (name,) = office.pending()
    shown = office.gina.json("approvals", "show", name, *ACME)
    assert {"field": "policy.approve_adjust_above", "before": "5.00 USD", "after": "500.00 USD"} in shown["differences"]
    office.eve("withdraw", name, *ACME, *WHY)
    assert office.apply(POLICY + "approve_adjust_above = []\napprove_run_above = []\n").returncode == 3
    (name,) = office.pending()
    shown = office.gina.json("approvals", "show", name, *ACME)
    assert shown["differences"] == [  # an empty list is not absent: every amount needs an approval
        {"field": "policy.approve_adjust_above", "before": "5.00 USD", "after": "[]"},
        {"field": "policy.approve_run_above", "before": None, "after": "[]"}]
    assert "approve_run_above not set -> []" in office.gina.approve(name)


def test_k3_a_run_reports_pending_and_unguarded_payouts(office):
    office.allow("approve_payout_above = ['9.00 USD']\n")
    office.eve("credit", *ACME, "--creator", "ann", "--program", "spring", "--amount", "5.00 USD", "--sale-at",
               "2024-01-01T00:00:00Z", *WHY)
    run = office.close()[0]["payout_run"]
    shown = office.gina.json("approvals", "show", run, *ACME)
    assert shown["effect"]["totals"] == [{"currency": "USD", "amount": "13.00", "payouts": 1, "items": 2}]
    assert [(row["creator_id"], row["amount"]) for row in shown["effect"]["creators"]] == [("ann", "13.00")]
    said = office.gina("approve", run, *ACME, "--expect", shown["digest"])
    assert "1 payout approved (13.00 USD); 1 needed no approval (8.00 USD)" in said


def test_p3_a_payout_that_ended_does_not_stop_its_run(office):
    """The way of docs/month.md: one payout is void before the approval, one is sent before the export."""
    office.allow("approve_payout_above = ['5.00 USD']\n")
    ann, bob = office.close()
    run = ann["payout_run"]
    office.eve("payout", "void", ann["payout_id"], *ACME, *WHY)
    said = office.gina.approve(run)
    assert "1 payout approved (8.00 USD)" in said and f"{ann['payout_id']} is passed over: it is VOID" in said
    said = office.eve(*office.export(run))
    assert "1 payout, written to" in said and f"{ann['payout_id']} is passed over: it is VOID" in said
    assert office.paid_to() == ["ref-bob"]
    left = office.eve.refuses(*office.export(run))
    assert "no payout is left to export" in left and "--again" in left, left
    assert "name it with --again" in office.eve.refuses(*office.export(bob["payout_id"]))
    office.eve("payout", "settle", run, *ACME, *WHY)
    for step in (("approve", run, *ACME), ("payout", "sent", run, *ACME, *WHY), ("payout", "void", run, *ACME, *WHY)):
        assert "is passed over: it is" in office.eve(*step)
    assert office.is_sound()


def test_k3_an_approver_is_shown_the_whole_run(office):
    office.allow("approve_payout_above = ['5.00 USD']\n")
    ann, bob = office.close()
    office.eve("payout", "void", ann["payout_id"], *ACME, *WHY)
    shown = office.gina.json("approvals", "show", ann["payout_run"], *ACME)
    assert (shown["state"], shown["actor"]) == ("PENDING", EVE)
    assert [(r["payout_id"], r["state"], r["amount"]) for r in shown["effect"]["payouts"]] == [
        (ann["payout_id"], "VOID", "8.00"), (bob["payout_id"], "CLOSED", "8.00")]
    assert [(r["state"], r["payouts"], r["amount"]) for r in shown["effect"]["states"]] == [
        ("CLOSED", 1, "8.00"), ("VOID", 1, "8.00")]
    office.gina.approve(ann["payout_run"])
    after = office.gina.json("approvals", "show", ann["payout_run"], *ACME)
    assert (after["state"], after["actor"], after["fields"]) == ("APPROVED", EVE, shown["fields"])
    assert [row["state"] for row in after["effect"]["payouts"]] == ["VOID", "APPROVED"]


def test_k3_a_terminal_shows_and_asks(office):
    office.allow("approve_payout_above = ['5.00 USD']\n")
    (payout, _) = office.close()
    for answer, state in (("no", "CLOSED"), ("yes", "APPROVED")):
        master, slave = pty.openpty()
        process = subprocess.Popen(
            [*office.gina.prefix, paths.SLUICE, "approve", payout["payout_id"], *ACME], env=office.gina.environment,
            stdin=slave, stdout=slave, stderr=slave, close_fds=True)
        os.close(slave)
        os.write(master, answer.encode() + b"\n")
        said = b""
        try:
            while chunk := os.read(master, 4096):
                said += chunk
        except OSError:  # the terminal is closed
            pass
        process.wait(60)
        os.close(master)
        assert payout["payout_id"].encode() in said and b"ref-ann" in said, said
        assert office.eve.json("payout", "list", *ACME)[0]["state"] == state, said


def test_k3_a_waiting_command_that_was_edited_is_damaged(office):
    """99.00 became 9,999.00 in the table, was approved as 99.00, and `doctor` said ok."""
    if not office.database:
        pytest.skip("SQL edits the rows of PostgreSQL")
    office.allow("approve_adjust_above = ['5.00 USD']\n")
    for what in ("body = replace(body, '99.00', '9999.00')", f"actor = '{FRANK}'", "amount = 1.00"):
        before = set(office.pending())
        office.eve.run("adjust", "--shop", "shop-1", "--order", "o1", "--amount", "99.00", *WHY)
        (name,) = set(office.pending()) - before
        digest = office.gina.digest(name)
        office.sql(f"UPDATE sluice_ledger.pending_approvals SET {what} WHERE command_id = '{name}'")
        assert "changed" in office.gina.refuses("approve", name, *ACME, "--expect", digest)
        assert "damaged" in office.gina.refuses("approve", name, *ACME, "--expect", office.gina.digest(name))
        assert name in json.dumps(office.eve.run("doctor").stdout)
        office.eve("withdraw", name, *ACME, *WHY)
    assert office.memos("MANUAL") == []


@pytest.mark.parametrize("what", ["payout_state = 2", "amount = 9999.00"])
def test_k2_a_payout_that_was_edited_is_not_exported(office, what):
    """The bank file has what the journal proves: the amount of the postings, and an approval."""
    if not office.database:
        pytest.skip("SQL edits the rows of PostgreSQL")
    office.allow("approve_payout_above = ['5.00 USD']\n")
    payout = office.close("--creator", "ann")[0]["payout_id"]
    if "amount" in what:
        office.gina.approve(payout)
    office.sql(f"UPDATE sluice_ledger.payouts SET {what} WHERE payout_id = '{payout}'")
    assert "damaged" in office.eve.refuses(*office.export(payout))
    assert not office.out.exists()


# controls K1, K2: the approved payee is paid ---------------------------------------------------------------------------


def test_k2_a_payee_that_changes_after_the_approval_is_not_paid(office):
    office.allow("approve_payout_above = ['5.00 USD']\n")
    payout = office.close("--creator", "ann")[0]["payout_id"]
    office.gina.approve(payout)
    office.eve("creator", "set", "ann", *ACME, "--payee", "ref-eve", *WHY)
    (memo,) = office.memos("PAYEE_CHANGED")
    assert "ref-ann" in memo["line_item_id"] and "ref-eve" in memo["line_item_id"]
    assert (memo["actor"], memo["note"], memo["creator_id"]) == (EVE, "as agreed", "ann")
    refused = office.eve.refuses(*office.export(payout))
    assert all(word in refused for word in (payout, "ref-ann", "ref-eve", "repoint")), refused
    assert not office.out.exists()
    office.eve("payout", "repoint", payout, *ACME, *WHY)
    assert office.eve.json("payout", "list", *ACME)[0]["state"] == "CLOSED"
    assert "CLOSED" in office.eve.refuses(*office.export(payout))
    assert len(office.memos("REPOINTED")) == 1
    office.gina.approve(payout)
    office.eve(*office.export(payout))
    assert office.paid_to() == ["ref-eve"]
    assert "SENT" in office.eve.refuses("payout", "repoint", payout, *ACME, *WHY)
    assert office.is_sound()


def test_k2_a_message_is_not_written_again_after_a_payout_of_it_ended(office):
    """The same file held both: the one that had failed and was paid again elsewhere."""
    run = office.close()[0]["payout_run"]
    message = office.eve(*office.export(run)).split()[1].rstrip(",")
    failed = office.eve.json("payout", "list", *ACME)[0]["payout_id"]
    office.eve("payout", "failed", failed, *ACME, *WHY)
    office.out.unlink()
    assert failed in office.eve.refuses(*office.export("--again", message))
    assert not office.out.exists()


def test_k2_a_message_is_written_again_as_it_was(office):
    """The same message id came with another IBAN."""
    run = office.close()[0]["payout_run"]
    message = office.eve(*office.export(run)).split()[1].rstrip(",")
    first = office.out.read_bytes()
    kept = office.store / "exports" / message
    assert kept.read_bytes() == first and kept.stat().st_mode & 0o777 == 0o600
    office.payees.write_text(PAYEES.replace("DE89370400440532013000", "FR1420041010050500013M02606"))
    office.eve(*office.export("--again", message))
    assert office.out.read_bytes() == first
    Sluice(office.store)("backup", office.folder / "backup")
    restored = Sluice(office.folder / "restored")
    restored("restore", office.folder / "backup")
    office.out.unlink()
    restored(*office.export("--again", message))
    assert office.out.read_bytes() == first
    copy = restored.store / "exports"
    assert (copy.stat().st_mode & 0o777, (copy / message).stat().st_mode & 0o777) == (0o700, 0o600)
    kept.write_bytes(first.replace(b"DE89", b"FR14"))
    assert "SHA-256" in office.eve.refuses(*office.export("--again", message))
    kept.unlink()
    assert message in office.eve.refuses(*office.export("--again", message))
    assert all(message in memo["line_item_id"] for memo in office.memos("SENT"))


def test_k2_an_export_that_another_one_overtook_keeps_no_bytes(office):
    """If two run at once, one sends; `exports` had the bank accounts of both."""
    run = office.close()[0]["payout_run"]
    with concurrent.futures.ThreadPoolExecutor() as pool:
        both = list(pool.map(lambda person: person.run(*office.export(run)), (office.eve, office.gina)))
    assert sorted(done.returncode for done in both) == [0, 1], both
    (message,) = {row["message"] for row in office.eve.json("payout", "list", *ACME)}
    assert [path.name for path in (office.store / "exports").iterdir()] == [message]


def test_k2_a_creator_with_open_payouts_is_not_forgotten(office):
    payout = office.close("--creator", "ann")[0]["payout_id"]
    assert payout in office.eve.refuses("forget", *ACME, "--creator", "ann")
    assert office.eve.json("creator", "show", "ann", *ACME)["payee"] == "ref-ann"
    office.eve("payout", "void", payout, *ACME, *WHY)
    office.eve("forget", *ACME, "--creator", "ann")


def test_k1_payees_have_a_history(office):
    assert office.eve.json("creator", "show", "ann", *ACME)["payee_since"]
    office.eve("creator", "set", "ann", *ACME, "--payee", "ref-eve", *WHY)
    office.eve("creator", "import", office.file("again.csv", "creator_id,program_id,payee\nann,spring,ref-ann\n"), *WHY)
    history = office.eve.json("report", "payees", *ACME, "--history")
    assert [(row["creator_id"], row["old_payee"], row["new_payee"], row["actor"], row["reason"]) for row in history] == [
        ("ann", "ref-ann", "ref-eve", EVE, "as agreed"), ("ann", "ref-eve", "ref-ann", EVE, "as agreed")]
    assert [memo["command_id"] for memo in office.memos("PAYEE_CHANGED")] == [row["command_id"] for row in history]
    rows = {row["creator_id"]: row for row in office.eve.json("report", "payees", *ACME)}
    assert rows["ann"]["payee_since"] == history[-1]["changed_at"] and rows["bob"]["payee"] == "ref-bob"
    listed = {row["creator_id"]: row for row in office.eve.json("creator", "list")}
    assert listed["ann"]["payee_since"] == history[-1]["changed_at"]


def test_k1_a_change_of_a_payee_waits(office):
    office.allow("approve_payee_change = true\n")
    changed = office.file("eve.csv", "creator_id,program_id,payee\nbob,spring,ref-eve\n")
    new = office.file("new.csv", "creator_id,program_id,payee\ncleo,spring,ref-cleo\n")
    for line in (("creator", "set", "ann", *ACME, "--payee", "ref-eve", *WHY), ("creator", "import", changed, *WHY)):
        assert office.eve.run(*line).returncode == 3
    assert office.eve.run("creator", "import", new).returncode == 0, "the payee that a creator comes with is no change"
    found = [office.gina.json("approvals", "show", name, *ACME) for name in office.pending()]
    for shown, creator in zip(sorted(found, key=lambda shown: shown["command"], reverse=True), ("ann", "bob"), strict=True):
        assert {"field": f"creator {creator}.payee", "before": f"ref-{creator}", "after": "ref-eve"} in shown["differences"]
    name, shown = next((shown["id"], shown) for shown in found if shown["command"] == "creator import")
    assert "requested" in office.eve.refuses("approve", name, *ACME, "--expect", shown["digest"])
    office.gina.approve(name)
    assert office.eve.json("creator", "show", "bob", *ACME)["payee"] == "ref-eve"
    assert office.eve.json("creator", "show", "ann", *ACME)["payee"] == "ref-ann"
    (row,) = office.eve.json("report", "payees", *ACME, "--history")
    assert (row["actor"], row["approved_by"]) == (EVE, GINA)
    assert office.is_sound()


def test_k1_a_row_that_stays_out_asks_nobody(office):
    """The creator was removed: the row changes no payee, so it needs no approval."""
    office.allow("approve_payee_change = true\n")
    office.eve("creator", "remove", "ann", "--program", "spring", *WHY)
    again = office.file("again.csv", "creator_id,program_id,code,payee\nann,spring,SAVE,ref-eve\n")
    done = office.eve.run("creator", "import", again, *WHY)
    assert done.returncode == 0 and "stays" in done.stdout, done
    assert office.pending() == [] and office.eve.json("creator", "show", "ann", *ACME)["payee"] == "ref-ann"


def test_k1_a_young_payee_is_not_paid(office):
    office.allow("payee_cooling_days = 7\n")
    office.eve("creator", "set", "ann", *ACME, "--payee", "ref-eve", *WHY)
    run = office.eve.json("payout", "close", *ACME, "--until", now())
    assert [row["creator_id"] for row in run["payouts"]] == ["bob"]
    assert [(row["creator_id"], row["skip_reason"]) for row in run["skipped"]] == [("ann", "PAYEE_CHANGED")]


# K4: limits count together -------------------------------------------------------------------------------------------


def adjust(office, amount, order="o1"):
    return office.eve.run("adjust", "--shop", "shop-1", "--order", order, f"--amount={amount}", *WHY)


def test_k4_adjustments_count_together(office):
    """Ten of 49 under a limit of 50."""
    office.allow("approve_adjust_above = ['50.00 USD']\n")
    assert [adjust(office, "49.00").returncode for _ in range(3)] == [0, 3, 3]
    assert adjust(office, "1.00").returncode == 0, "50.00 is not above 50.00"
    assert adjust(office, "-0.01").returncode == 3, "up or down"
    assert adjust(office, "49.00", "o2").returncode == 0, "bob is another creator"
    credit = office.eve.run("credit", *ACME, "--creator", "ann", "--program", "spring", "--amount", "1.00 USD", *WHY)
    assert credit.returncode == 3
    office.gina.approve(next(row["id"] for row in office.eve.json("approvals", *ACME) if row["amount"] == "49.00"))
    assert adjust(office, "0.01").returncode == 3, "what gina approved counts no more, what eve did still does"
    assert [row["amount"] for row in office.memos("MANUAL")] == ["49.00", "1.00", "49.00", "49.00"]


def openings(office, rows):
    return office.eve.run("opening", "import", office.file("o.csv", "creator_id,program_id,currency,amount\n" + rows), *ACME,
                          "--at", "2024-01-01T00:00:00Z", *WHY)


def test_k4_opening_balances_count_as_adjustments(office):
    """The rows of a file count together; a file that waits posts nothing until another actor approves it."""
    office.allow("approve_adjust_above = ['50.00 USD']\n")
    office.apply(PROGRAM.format(rate="10%").replace("spring", "summer"))
    office.eve("creator", "import", office.file("s.csv", "creator_id,program_id\nann,summer\n"))
    assert openings(office, "ann,spring,USD,30.00\nann,summer,USD,21.00\n").returncode == 3
    assert office.memos("OPENING") == []
    (waits,) = office.pending()
    shown = office.eve.json("approvals", "show", waits, *ACME)
    assert shown["command"] == "opening import" and "2 opening balances imported" in shown["effect"]["result"]
    assert shown["effect"]["totals"] == [{"currency": "USD", "amount": "51.00", "balances": 2}]
    assert [(row["program_id"], row["amount"]) for row in shown["effect"]["creators"]] == [
        ("spring", "30.00"), ("summer", "21.00")]
    office.gina.approve(waits)
    assert [(row["amount"], row["actor"], row["command_id"]) for row in office.memos("OPENING")] == [
        ("30.00", EVE, f"{waits}-0001"), ("21.00", EVE, f"{waits}-0002")]
    assert adjust(office, "50.00").returncode == 0, "what gina approved does not count"
    assert openings(office, "bob,spring,USD,49.00\n").returncode == 0
    assert adjust(office, "1.01", "o2").returncode == 3, "bob's 49.00 counts"
    assert office.eve.run("reverse", waits, *ACME, *WHY).returncode == 3, "all of it again"
    (reversal,) = (row for row in office.eve.json("approvals", *ACME) if row["command"] == "reverse")
    assert (reversal["amount"], reversal["currency"]) == ("-51.00", "USD")
    shown = office.gina.json("approvals", "show", reversal["id"], *ACME)
    assert shown["effect"]["totals"] == [{"currency": "USD", "amount": "-51.00", "balances": 2}]
    assert [(row["program_id"], row["amount"]) for row in shown["fields"]["rows"]] == [
        ("spring", "-30.00 USD"), ("summer", "-21.00 USD")]
    statement = office.gina.run("approvals", "show", reversal["id"], *ACME, "--statement").stdout
    assert "total: -51.00 USD" in statement, "K5: what is signed has the amount"
    assert office.is_sound()


def test_k5_a_reason_cannot_look_like_a_signature(office):
    """A reason that ends as the proof of a signature would make the approval look forged for ever."""
    office.allow("approve_adjust_above = ['50.00 USD']\n")
    assert adjust(office, "50.01").returncode == 3
    (waits,) = office.pending()
    fake = ("--reason", "looked at it, signed " + "0" * 64)
    said = office.gina.run("approve", waits, *ACME, "--expect", office.gina.digest(waits), *fake)
    assert said.returncode == 1 and "choose other words" in said.stderr
    office.gina.approve(waits)
    assert office.gina.run("report", "approvals", *ACME, "--verify").returncode == 0


def test_k12_a_balance_edited_in_sql_is_not_paid(office):
    """The row says 1,000 times the amount that the journal posted."""
    if office.database is None:
        pytest.skip("PostgreSQL alone has rows that SQL edits; the unit tests edit those of LMDB")
    assert openings(office, "ann,spring,EUR,8.00\n").returncode == 0
    office.sql("update sluice_ledger.money_commands set accrued = 8000.00")
    office.sql("update sluice_ledger.open set amount = 8000.00 where currency = 'EUR'")
    office.eve.run("payout", "close", *ACME, "--until", now())
    assert [row for row in office.eve.json("payout", "list", *ACME) if row["currency"] == "EUR"] == []
    assert not office.is_sound()


def test_k4_write_offs_count_as_adjustments(office):
    office.allow("approve_adjust_above = ['50.00 USD']\n")
    assert adjust(office, "-50.00").returncode == 0
    off = ("write-off", *ACME, "--creator", "ann", "--program", "spring", "--amount", "42.00 USD", *WHY)
    assert office.eve.run(*off).returncode == 3
    (waits,) = office.pending()
    assert office.memos("WRITE_OFF") == []
    office.gina.approve(waits)
    assert [(row["amount"], row["actor"]) for row in office.memos("WRITE_OFF")] == [("42.00", EVE)]
    again = office.eve.run(*off)
    assert again.returncode == 1 and "only a balance below 0" in again.stderr
    assert office.is_sound()


def test_k4_closes_count_together(office):
    """Ten closes at ten --until."""
    office.allow("approve_payout_above = ['10.00 USD']\n")
    for amount in ("8.00", "2.00", "0.01"):
        if amount != "8.00":
            office.eve("credit", *ACME, "--creator", "ann", "--program", "spring", "--amount", f"{amount} USD",
                       "--sale-at", "2024-01-01T00:00:00Z", *WHY)
        preview = office.eve.json("payout", "preview", *ACME, "--until", now(), "--creator", "ann")["payouts"]
        (payout,) = office.close("--creator", "ann")
        assert (payout["amount"], payout["state"]) == (amount, "CLOSED" if amount == "0.01" else "APPROVED")
        assert preview[0]["state"] == payout["state"]
    first = office.eve.json("payout", "list", *ACME)[0]
    office.eve("payout", "void", first["payout_id"], payout["payout_id"], *ACME, *WHY)
    assert [row["state"] for row in office.close("--creator", "ann")] == ["CLOSED"], "8.01 and 2.00"


def test_k4_a_run_has_a_limit_of_its_own(office):
    office.allow("approve_run_above = ['10.00 USD']\n")
    assert [row["state"] for row in office.close()] == ["CLOSED", "CLOSED"]


def test_k4_rates_that_rise_wait(office):
    office.allow("approve_rates = true\n")
    assert office.apply(PROGRAM.format(rate="90%")).returncode == 3
    assert office.apply(PROGRAM.format(rate="5%")).returncode == 0
    assert office.apply(PROGRAM.format(rate="5%") + "clearing_days = 3\n").returncode == 0
    assert office.apply(PROGRAM.format(rate="5%")).returncode == 3, "paid sooner"
    assert office.apply(PROGRAM.format(rate="1%").replace("spring", "autumn")).returncode == 3, "a new program"
    assert office.eve.json("program", "show", "spring")["default_rate"] == "5%"
    shown = [office.gina.json("approvals", "show", name, *ACME) for name in office.pending()]
    raised = {"field": "program spring.default_rate", "before": "5%", "after": "90%"}
    office.gina.approve(next(each["id"] for each in shown if raised in each["differences"]))
    assert office.eve.json("program", "show", "spring")["default_rate"] == "90%"


def test_k4_attributions_by_hand_count_together(office):
    office.allow("approve_attribution_above = ['10.00 USD']\n")
    give = ("attribute", "--shop", "shop-1", "--creator", "bob", "--program", "spring", *WHY)
    assert office.eve.run(*give, "--order", "o3").returncode == 0
    assert office.eve.run(*give, "--order", "o1", "--replace").returncode == 3
    assert office.eve.run("detach", "--shop", "shop-1", "--order", "o2", *WHY).returncode == 3
    owners = {row["order_id"]: row["creator_id"] for row in office.eve.json("report", "orders")}
    assert owners == {"o1": "ann", "o2": "bob", "o3": "bob"}
    office.gina.approve(next(row["id"] for row in office.eve.json("approvals", *ACME) if row["command"] == "attribute"))
    assert office.eve.json("report", "orders")[0]["creator_id"] == "bob"
    assert office.is_sound()


def test_k4_a_period_close_waits(office):
    office.allow("approve_period_close = true\n")
    month = now()[:7] + "-01T00:00:00Z"
    assert office.eve.run("period", "close", *ACME, "--until", month).returncode == 3
    assert office.eve.json("period", "list", *ACME) == []
    office.gina.approve(office.pending()[0])
    assert [row["until"] for row in office.eve.json("period", "list", *ACME)] == [month]


def test_k4_a_policy_that_loosens_a_limit_waits(office):
    for setting in ("approve_run_above = ['1.00 USD']", "approve_rates = true"):
        assert office.apply(POLICY + setting + "\n", by=office.eve).returncode in (0, 3)
    assert office.apply(POLICY).returncode == 3


# K6, K7: acknowledgements, and closes that run forward ------------------------------------------------------------------


def test_k6_an_order_that_grows_after_it_was_acknowledged_is_not_paid(office):
    """21,000 was acknowledged, 2,000,000 was paid."""
    office.allow("amount_limit = ['1000.00 USD']\n")
    _, secret = Sluice(office.store).token("acme", "write_orders")
    order = ("--shop", "shop-1", "--order", "big")

    def receive(amount, day):
        code = {"code": "GIVE", "type": "DISCOUNT_CODE", "value_type": "PERCENTAGE", "value": "5"}
        document = orders.order(
            "big", amount=amount, line_items=[orders.line("l1", amount=amount, tax="0.00")], discounts=[code],
            platform_updated_at=f"2024-05-0{day}T00:00:00Z")
        with Edge(http_block(EVENTS, limit="off", map_size="64m"), store=office.store) as edge:
            edge.start()
            assert edge.post_event("shop-1", secret, "ORDER_UPDATE", document).status == 200
        office.eve("worker", "--until-empty")
        return next(row for row in office.eve.json("report", "anomalies") if row["kind"] == "AMOUNT_ABOVE_LIMIT")

    assert receive("21000.00", 1)["blocks"]
    office.eve("anomaly", "ack", *order, "--kind", "AMOUNT_ABOVE_LIMIT", *WHY)
    grown = receive("2000000.00", 2)
    assert (grown["blocks"], grown["value"], grown["acknowledged_value"]) == (True, "2000000.00 USD", "21000.00 USD")
    run = office.eve.json("payout", "close", *ACME, "--until", now())
    assert [(row["creator_id"], row["amount"]) for row in run["payouts"]] == [("ann", "8.00"), ("bob", "8.00")]
    assert office.is_sound()


def test_k7_a_close_does_not_run_back(office):
    before = now()
    (payout,) = office.close("--creator", "ann")
    for verb in ("preview", "close"):
        refused = office.eve.refuses("payout", verb, *ACME, "--until", before)
        assert payout["payout_run"] in refused and refused.count("\n") == 1, refused
    assert len(office.eve.json("payout", "list", *ACME)) == 1
