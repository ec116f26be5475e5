"""Files of payments: one for each currency, and payees files whose wrong lines are all listed."""
import csv
import re

import pytest
from harness.edge import Edge
from program import sluice
from test_ledger import ACME, HTTP, Shop, until_now

WHY = ("--reason", "as agreed")
IBAN = "DE89370400440532013000"
PAYEES = f"payee,name,iban\nref-ann,Ann,{IBAN}\nref-ben,Ben,\n"
DEBTOR = f"name,iban\nAcme,{IBAN}\n"


@pytest.fixture
def run(tmp_path):
    """A payout run with 8.00 USD each for ann and ben, and 5.00 EUR for ann."""
    with Edge(HTTP, workers=1) as edge:
        shop = Shop(edge.start(), tmp_path)
        shop.run("creator", "import", shop.file("b.csv", (
            "creator_id,program_id,code,payee\nann,spring,SAVE,ref-ann\nben,spring,BEN,ref-ben\n")))
        shop.send("o1")
        shop.send("o2", code="BEN")
        shop.drain()
        shop.run("creator", "set", "ann", *ACME, "--payee", "ref-ann")
        shop.run("credit", *ACME, "--creator", "ann", "--program", "spring", "--amount", "5.00 EUR", "--sale-at",
                 "2024-01-01T00:00:00Z", *WHY)
        shop.payout_run = shop.json("payout", "close", *ACME, *until_now())["payouts"][0]["payout_run"]
        yield shop


def export(run, *more, form="csv", payees=PAYEES, out="may.csv"):
    return sluice("payout", "export", run.payout_run, *ACME, "--form", form, "--payees", run.file("payees.csv", payees),
                  "--out", run.folder / out, *more, store=run.store)


def states(run):
    return sorted((row["currency"], row["state"]) for row in run.json("payout", "list", *ACME))


def test_a_run_in_two_currencies_is_one_file_each(run):
    done = export(run)
    assert done.status == 0, done
    assert [re.sub("message M[0-9A-Za-z-]+", "message", line.replace(str(run.folder), "")) for line in done.out.splitlines()] == [
        "message, 1 payout, written to /may-EUR.csv", "message, 2 payouts, written to /may-USD.csv"]
    found = {}
    for name in ("may-EUR.csv", "may-USD.csv"):
        rows = list(csv.DictReader((run.folder / name).open()))
        found[name] = [(row["creator_id"], row["currency"], row["amount"]) for row in rows]
        assert len({row["message_id"] for row in rows}) == 1
    assert found == {"may-EUR.csv": [("ann", "EUR", "5.00")], "may-USD.csv": [("ann", "USD", "8.00"), ("ben", "USD", "8.00")]}
    assert not (run.folder / "may.csv").exists()
    assert states(run) == [("EUR", "SENT"), ("USD", "SENT"), ("USD", "SENT")]


def test_two_currencies_need_two_files(run):
    refused = export(run, out="/dev/stdout")
    assert refused.status == 1 and "expected --currency" in refused.err
    assert set(states(run)) == {("EUR", "APPROVED"), ("USD", "APPROVED")}


def test_void_payouts_of_a_run_are_passed_over(run):
    euro, *dollars = (row["payout_id"] for row in run.json("payout", "list", *ACME))
    run.run("payout", "void", euro, *ACME, *WHY)
    done = export(run)
    assert done.status == 0 and "2 payouts, written to" in done.out, done
    assert [row["payout_id"] for row in csv.DictReader((run.folder / "may.csv").open())] == dollars
    assert states(run) == [("EUR", "VOID"), ("USD", "SENT"), ("USD", "SENT")]


def test_the_same_key_writes_the_same_files(run):
    export(run, "--key", "may")
    before = [(run.folder / f"may-{currency}.csv").read_text() for currency in ("EUR", "USD")]
    again = export(run, "--key", "may", out="again.csv")
    assert again.status == 0, again
    assert [(run.folder / f"again-{currency}.csv").read_text() for currency in ("EUR", "USD")] == before


def test_every_file_is_checked_before_the_first_is_sent(run):
    """pain.001 takes EUR only, and lists the others."""
    usd = sorted(row["payout_id"] for row in run.json("payout", "list", *ACME, "--currency", "USD"))
    refused = export(run, "--debtor", run.file("debtor.csv", DEBTOR), form="pain.001")
    assert refused.status == 1 and f"pain.001 takes EUR only; in USD: {', '.join(usd)}" in refused.err
    assert states(run) == [("EUR", "APPROVED"), ("USD", "APPROVED"), ("USD", "APPROVED")]
    assert list(run.folder.glob("may*")) == []
    one = export(run, "--currency", "EUR", "--debtor", run.file("debtor.csv", DEBTOR), form="pain.001", out="may.xml")
    assert one.status == 0 and "5.00" in (run.folder / "may.xml").read_text()
    assert states(run) == [("EUR", "SENT"), ("USD", "APPROVED"), ("USD", "APPROVED")]


def test_all_wrong_lines_of_a_payees_file_are_listed(run):
    wrong = (
        f"payee,name,iban\nref-ann,Ann,{IBAN}\nref-ben,Ben,DE00370400440532013000\n,Cyd,\nref-ann,Ann again,\nref-dan,,\n")
    said = export(run, payees=wrong)
    assert said.status == 1
    assert [line.split("payees.csv:")[1] for line in said.err.splitlines()] == [
        "3: iban: expected an IBAN with right check digits", "4: payee: expected a text that is not empty",
        "5: payee: expected each once, found ref-ann again", "6: name: expected 1 to 70 characters of UTF-8"]
    missing = export(run, payees=f"payee,iban\nref-ann,{IBAN}\n")
    assert missing.status == 1
    assert "payees.csv:1: expected a header line with the columns payee,name" in missing.err
    assert set(states(run)) == {("EUR", "APPROVED"), ("USD", "APPROVED")}
