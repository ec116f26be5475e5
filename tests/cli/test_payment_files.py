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


def test_an_export_of_a_run_passes_over_payouts_that_were_sent(run):
    first = export(run, "--currency", "EUR", out="first.csv")
    assert first.status == 0 and "payouts in USD are left: --currency USD" in first.out, first
    (euro,) = run.json("payout", "list", *ACME, "--currency", "EUR")
    done = export(run, "--key", "rest")
    assert done.status == 0 and "2 payouts, written to" in done.out and f"payout {euro['payout_id']} was sent" in done.out, done
    before = (run.folder / "may.csv").read_text()
    assert len(before.splitlines()) == 3
    again = export(run, "--key", "rest", out="again.csv")  # K1: though every payout is sent by now
    assert again.status == 0 and again.out.replace("again.csv", "may.csv") == done.out, again
    assert (run.folder / "again.csv").read_text() == before


def test_a_forgotten_creators_bank_files_are_named(run):
    """They prove the instruction to the bank, so they stay, with the name and the account."""
    assert export(run).status == 0
    files = {path.name: path.read_text() for path in (run.store / "exports").iterdir()}
    of_ben = {name for name, text in files.items() if "ben" in text}
    assert 0 < len(of_ben) < len(files)
    run.run("payout", "settle", run.payout_run, *ACME, *WHY)
    done = sluice("forget", *ACME, "--creator", "ben", *WHY, store=run.store)
    assert done.status == 0, done
    assert set(re.findall(r"^kept: .*/exports/(\S+), which has the creator's name", done.out, re.M)) == of_ben
    assert {path.name: path.read_text() for path in (run.store / "exports").iterdir()} == files


def test_a_key_of_an_export_does_not_cover_other_payouts(run):
    assert export(run, "--currency", "EUR", "--key", "k").status == 0
    refused = export(run, "--key", "k")
    assert refused.status == 1 and "key k was used for other payouts" in refused.err
    assert states(run) == [("EUR", "SENT"), ("USD", "APPROVED"), ("USD", "APPROVED")]


def test_an_export_that_was_interrupted_between_two_files_is_finished_with_its_key(run):
    """The first attempt wrote the file of one currency."""
    assert export(run, "--currency", "EUR", "--key", "may-EUR", out="lost.csv").status == 0
    done = export(run, "--key", "may")
    assert done.status == 0, done
    assert sorted(path.name for path in run.folder.glob("may*")) == ["may-EUR.csv", "may-USD.csv"]
    assert (run.folder / "may-EUR.csv").read_text() == (run.folder / "lost.csv").read_text()
    assert {state for _, state in states(run)} == {"SENT"}


def test_the_same_key_writes_the_same_files(run):
    export(run, "--key", "may")
    before = [(run.folder / f"may-{currency}.csv").read_text() for currency in ("EUR", "USD")]
    again = export(run, "--key", "may", out="again.csv")
    assert again.status == 0, again
    assert [(run.folder / f"again-{currency}.csv").read_text() for currency in ("EUR", "USD")] == before


def test_every_file_is_checked_before_the_first_is_sent(run):
    """pain.001 requires an IBAN, and ben has none, so ann is not paid either."""
    refused = export(run, "--debtor", run.file("debtor.csv", DEBTOR), form="pain.001")
    assert refused.status == 1 and "payee ref-ben has no iban, which pain.001 requires" in refused.err
    assert states(run) == [("EUR", "APPROVED"), ("USD", "APPROVED"), ("USD", "APPROVED")]
    assert list(run.folder.glob("may*")) == []
    one = export(run, "--currency", "EUR", "--debtor", run.file("debtor.csv", DEBTOR), form="pain.001", out="may.xml")
    assert one.status == 0 and "5.00" in (run.folder / "may.xml").read_text()
    assert states(run) == [("EUR", "SENT"), ("USD", "APPROVED"), ("USD", "APPROVED")]


def test_pain_of_two_currencies_is_two_files(run):
    payees = ("payee,name,iban,town,country\n" f"ref-ann,Änn,{IBAN},Köln,DE\n" "ref-ben,Ben,NO9386011117947,,\n")
    debtor = f"name,iban,street,building,postcode,town,country\nAcme,{IBAN},Straße,1,10115,Berlin,DE\n"
    done = export(run, "--debtor", run.file("debtor.csv", debtor), "--batch-booking", "no", form="pain.001", payees=payees,
                  out="may.xml")
    assert done.status == 0, done.err
    euros, dollars = ((run.folder / f"may-{currency}.xml").read_text() for currency in ("EUR", "USD"))
    assert ("<ChrgBr>SLEV</ChrgBr>" in euros, "<Cd>SEPA</Cd>" in euros) == (True, True)
    assert ("<ChrgBr>SHAR</ChrgBr>" in dollars, "SvcLvl" in dollars, 'Ccy="USD"' in dollars) == (True, False, True)
    for text in (euros, dollars):
        assert "<Nm>Ann</Nm>" in text and "<TwnNm>Koln</TwnNm>" in text and "<StrtNm>Strase</StrtNm>" in text
        assert "<BtchBookg>false</BtchBookg>" in text and text.isascii()
    assert sorted(re.findall("<PstlAdr>", dollars)) == ["<PstlAdr>"] * 2, "ben has no address"


@pytest.mark.parametrize("name, text", [("ЮРИЙ", "{payout}"), ("Ann", "Provision \U0001f600 {payout}")])
def test_a_character_that_banks_refuse_stops_the_export(run, name, text):
    refused = export(run, "--debtor", run.file("debtor.csv", DEBTOR), "--currency", "EUR", "--remittance", text, form="pain.001",
                     payees=f"payee,name,iban\nref-ann,{name},{IBAN}\n")
    assert refused.status == 1 and "which banks refuse" in refused.err and "(U+" in refused.err
    assert set(states(run)) == {("EUR", "APPROVED"), ("USD", "APPROVED")}


def test_wise_gets_references_that_it_passes_on_whole(run):
    """10 characters in USD, with the part first that differs."""
    payees = "payee,name,email\nref-ann,Ann,a@x.test\nref-ben,Ben,b@x.test\n"
    refused = export(run, "--columns", "wise", "--remittance", "Commission {month}", payees=payees)
    assert refused.status == 1 and "its reference has 18 characters, Wise passes on 10 in USD" in refused.err
    assert set(states(run)) == {("EUR", "APPROVED"), ("USD", "APPROVED")}
    assert export(run, "--columns", "wise", payees=payees).status == 0
    found = {name: [row["paymentReference"] for row in csv.DictReader((run.folder / f"may-{name}.csv").open())]
             for name in ("EUR", "USD")}
    ids = {row["payout_id"].split("-")[2] + row["payout_id"].split("-")[1] for row in run.json("payout", "list", *ACME, "--currency", "USD")}
    assert set(found["USD"]) == ids and len(ids) == 2
    assert len(found["EUR"][0]) == 25


def test_more_payments_than_the_reader_takes_are_more_files(tmp_path):
    """1,000 payments of Wise, of two currencies; nothing is sent if there is no name for the files."""
    with Edge(HTTP, workers=1) as edge:
        shop = Shop(edge.start(), tmp_path)
        names = [f"c{number:04}" for number in range(1001)]
        shop.run("creator", "import", shop.file("many.csv", "creator_id,program_id,payee\n" + "".join(
            f"{name},spring,ref-{name}\n" for name in names)))
        rows = [f"{name},spring,EUR,5.00\n" for name in names] + ["c0000,spring,USD,5.00\n"]
        shop.run("opening", "import", shop.file("old.csv", "creator_id,program_id,currency,amount\n" + "".join(rows)), *ACME,
                 "--at", "2024-01-01T00:00:00Z", *WHY)
        shop.payout_run = shop.json("payout", "close", *ACME, *until_now())["payouts"][0]["payout_run"]
        payees = "payee,name,email\n" + "".join(f"ref-{name},{name},{name}@x.test\n" for name in names)
        refused = export(shop, "--columns", "wise", "--currency", "EUR", payees=payees, out="/dev/stdout")
        assert refused.status == 1 and "need 2 files of at most 1000 payments" in refused.err
        assert {state for _, state in states(shop)} == {"APPROVED"}
        done = export(shop, "--columns", "wise", "--key", "may", payees=payees)
        assert done.status == 0, done.err
        found = {path.name: list(csv.DictReader(path.open())) for path in tmp_path.glob("may-*.csv")}
        assert {name: len(rows) for name, rows in found.items()} == {"may-EUR-1.csv": 1000, "may-EUR-2.csv": 1, "may-USD.csv": 1}
        assert len({row["recipientEmail"] for name in ("may-EUR-1.csv", "may-EUR-2.csv") for row in found[name]}) == 1001
        again = export(shop, "--columns", "wise", "--key", "may", payees=payees, out="again.csv")
        assert again.status == 0 and (tmp_path / "again-EUR-2.csv").read_text() == (tmp_path / "may-EUR-2.csv").read_text()


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
