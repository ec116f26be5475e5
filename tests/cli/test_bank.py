"""The bank's answer: pain.002, camt.053 and camt.054 settle, fail and return payouts, and never guess."""
import copy
import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest
from harness.bank_answers import camt053, camt054, details, document, entry, fee, pain002, status
from harness.edge import Edge
from program import PROGRAM
from test_ledger import ACME, HTTP, Shop, until_now

PAYEES = (
    "payee,name,iban,bic\nref-1,Ann & Co,DE89370400440532013000,COBADEFFXXX\nref-2,Ben,NO9386011117947,\n"
    "ref-3,Cyd,GB82WEST12345698765432,\n"
)
DEBTOR = "name,iban\nAcme,GB82WEST12345698765432\n"
SCHEMAS = os.environ.get("SLUICE_ISO_SCHEMAS")


class Paid(Shop):
    """Three payouts of 8.00 EUR, sent to the bank: ann's, ben's and cyd's."""

    def __init__(self, edge, folder):
        super().__init__(edge, folder)
        self.run("creator", "import", self.file(
            "more.csv", "creator_id,program_id,code,payee\nann,spring,SAVE,ref-1\nben,spring,BEN,ref-2\ncyd,spring,CYD,ref-3\n"))
        for order, code in (("o1", "SAVE"), ("o2", "BEN"), ("o3", "CYD")):
            self.send(order, code=code, currency_code="EUR")
        self.drain()
        payouts = self.json("payout", "close", *ACME, *until_now())["payouts"]
        self.ann, self.ben, self.cyd = (payout["payout_id"] for payout in payouts)
        self.out = folder / "out.xml"
        self.run("payout", "export", payouts[0]["payout_run"], *ACME, "--form", "pain.001", "--out", self.out, "--payees",
                 self.file("payees.csv", PAYEES), "--debtor", self.file("debtor.csv", DEBTOR))

    def bank(self, text, *more, rows=True, exit_status=0):
        """Imports; returns the rows by end-to-end id, or the sentence of an error."""
        file = self.file("bank.xml", text)
        line = ("bank", "import", file, *ACME, *more)
        if not rows:
            return self.run(*line, status=exit_status).err
        run = self.run(*line, "--format", "json", status=exit_status)
        return {row["end_to_end_id"]: row for row in run.json()}

    def states(self):
        return {row["payout_id"]: row["state"] for row in self.json("payout", "list", *ACME)}

    def refused(self, text, *words):
        """Imports what must change nothing; one sentence has the words."""
        before = self.json("report", "journal", *ACME)
        said = self.bank(text, rows=False, exit_status=1)
        for word in words:
            assert word in said, said
        assert self.json("report", "journal", *ACME) == before


@pytest.fixture(scope="session")
def once_paid(tmp_path_factory):
    """Made once: it takes a second, and no test needs its nginx."""
    folder = tmp_path_factory.mktemp("paid")
    with Edge(HTTP, workers=1) as edge:
        made = Paid(edge.start(), folder)
        edge.stop()
        shutil.copytree(edge.store, folder / "store")
    return made


@pytest.fixture
def paid(once_paid, tmp_path):
    shutil.copytree(once_paid.folder, tmp_path, dirs_exist_ok=True)
    copied = copy.copy(once_paid)
    copied.edge, copied.folder, copied.store, copied.out = None, tmp_path, tmp_path / "store", tmp_path / "out.xml"
    return copied


def outcomes(rows):
    return {name: row["outcome"] for name, row in rows.items()}


def test_the_instruction_has_the_payouts_ids_as_end_to_end_ids(paid):
    assert re.findall(r"<EndToEndId>(.*?)</EndToEndId>", paid.out.read_text()) == [paid.ann, paid.ben, paid.cyd]


def test_a_statement_settles_and_returns(paid):
    text = camt053(
        entry("16.00", details(paid.ann, "8.00", reference="B-1"), details(paid.ben, "8.00", reference="B-2")),
        entry("8.00", details(paid.ben, "8.00", reference="R-2", returned="AC04"), credit=True),
        entry("1.20", reference="F-1"),
    )
    would = paid.bank(text, "--preview")
    assert would[paid.ann]["outcome"] == "WOULD_SETTLE"
    assert set(paid.states().values()) == {"SENT"}
    rows = paid.bank(text)
    assert rows[paid.ann]["outcome"] == "SETTLED" and rows[paid.ann]["creator_id"] == "ann"
    assert rows[paid.ben]["outcome"] == "RETURNED"
    assert (rows[None]["outcome"], rows[None]["amount"], rows[None]["note"]) == ("UNMATCHED", "1.20", "no end-to-end id")
    assert paid.states() == {paid.ann: "PAID", paid.ben: "RETURNED", paid.cyd: "SENT"}
    ann, ben = (row for row in paid.json("payout", "list", *ACME) if row["state"] != "SENT")
    assert (ann["bank_ref"], ann["paid_at"]) == ("B-1", "2026-02-04T00:00:00Z")
    assert ben["bank_ref"] == "R-2"
    notes = {row["note"] for row in paid.json("report", "journal", *ACME) if row["reason"] in ("SETTLE", "RETURNED")}
    assert notes == {"bank import camt.053 BANK-53-1 posting B-1", "bank import camt.053 BANK-53-1 posting B-2",
                     "bank import camt.053 BANK-53-1 AC04 account closed"}
    balances = {row["creator_id"]: (row["paid"], row["in_payout"]) for row in paid.json("report", "balances", *ACME)}
    assert balances == {"ann": ("8.00", "0.00"), "ben": ("0.00", "0.00"), "cyd": ("0.00", "8.00")}


def test_a_second_return_needs_a_person(paid):
    """Another reference is another credit; the same one is a repetition."""
    paid.bank(camt053(entry("8.00", details(paid.ben, "8.00", reference="B-2"))))
    assert paid.bank(camt053(entry("8.00", details(paid.ben, "8.00", reference="R-2", returned="AC04"), credit=True)))[
        paid.ben]["outcome"] == "RETURNED"
    assert paid.bank(camt053(entry("8.00", details(paid.ben, "8.00", reference="R-2", returned="AC04"), credit=True)))[
        paid.ben]["outcome"] == "KNOWN"
    again = paid.bank(camt053(entry("8.00", details(paid.ben, "8.00", reference="R-3", returned="AC04"), credit=True)), exit_status=1)
    assert again[paid.ben]["outcome"] == "DIFFERS" and "came back twice, with the references R-2 and R-3" in again[paid.ben]["note"]


def test_of_two_imports_at_once_one_records(paid):
    """Both read the payouts before either moves them; the other one printed SETTLED, though the worker had answered nothing."""
    text = camt053(entry("16.00", details(paid.ann, "8.00", reference="B-1"), details(paid.ben, "8.00", reference="B-2")))
    file = paid.file("once.xml", text)
    line = [str(PROGRAM), "bank", "import", str(file), *ACME, "--format", "json"]
    runs = [subprocess.Popen(line, env={**os.environ, "SLUICE_STORE": str(paid.store)}, stdout=subprocess.PIPE) for _ in range(4)]
    found = [row["outcome"] for run in runs for row in json.loads(run.communicate(timeout=120)[0])]
    assert sorted(found) == ["KNOWN"] * 6 + ["SETTLED"] * 2
    assert {run.returncode for run in runs} == {0}


def test_the_same_file_twice_changes_nothing(paid):
    """Also if the file has the return before the payment, and if another file reports the same again."""
    back = entry("8.00", details(paid.ben, "8.00", reference="R-2", returned="AC04"), credit=True)
    out = [entry("8.00", details(name, "8.00", reference=f"B-{name[-1]}")) for name in (paid.ann, paid.ben)]
    first = paid.bank(camt053(back, *out))
    assert outcomes(first) == {paid.ann: "SETTLED", paid.ben: "SETTLED"}  # the last row of ben's
    assert paid.states()[paid.ben] == "RETURNED"
    journal = paid.json("report", "journal", *ACME)
    for text in (camt053(back, *out), camt054(*out, back), pain002(status(paid.ann, "ACSC", "8.00"))):
        assert set(outcomes(paid.bank(text)).values()) == {"KNOWN"}
    assert paid.json("report", "journal", *ACME) == journal


def test_a_status_report_fails_and_settles(paid):
    text = pain002(
        status(paid.ann, "ACSC", "8.00"),
        status(paid.ben, "RJCT", "8.00", reason="AC01", text="Incorrect account & number"),
        status(paid.cyd, "PDNG", "8.00"),
    )
    rows = paid.bank(text)
    assert outcomes(rows) == {paid.ann: "SETTLED", paid.ben: "FAILED", paid.cyd: "PENDING"}
    assert rows[paid.ben]["reason"] == "AC01 Incorrect account & number"
    assert paid.states() == {paid.ann: "PAID", paid.ben: "FAILED", paid.cyd: "SENT"}
    assert "PENDING" in paid.run("bank", "import", paid.file("again.xml", text), *ACME, "--preview").out
    (again,) = paid.json("payout", "preview", *ACME, *until_now())["payouts"]
    assert (again["creator_id"], again["amount"]) == ("ben", "8.00"), "a failed payout is payable again"


def test_a_return_of_a_payment_that_was_never_settled_here(paid):
    rows = paid.bank(camt054(entry("8.00", details(paid.ann, "8.00", returned="MD07"), credit=True)))
    assert outcomes(rows) == {paid.ann: "FAILED"}
    assert paid.states()[paid.ann] == "FAILED"


def test_fees_are_shown_and_not_posted(paid):
    rows = paid.bank(camt053(
        entry("8.50", details(paid.ann, "8.50", fees=fee("0.50"))),
        entry("8.00", details(paid.ben, "8.00", fees=fee("0.30"))),
    ))
    assert outcomes(rows) == {paid.ann: "SETTLED", paid.ben: "SETTLED"}
    assert (rows[paid.ann]["fees"], rows[paid.ben]["fees"]) == ("0.50 EUR", "0.30 EUR")
    assert {row["paid"] for row in paid.json("report", "balances", *ACME) if row["creator_id"] != "cyd"} == {"8.00"}


def test_lines_that_differ_are_listed_and_the_others_are_recorded(paid):
    text = camt053(
        entry("8.00", details(paid.ann, "8.00")),
        entry("5.00", details(paid.ben, "5.00")),
        entry("100.00", details("SALARY-7", "100.00")),
    )
    rows = paid.bank(text, exit_status=1)
    assert outcomes(rows) == {paid.ann: "SETTLED", paid.ben: "DIFFERS", "SALARY-7": "UNMATCHED"}
    assert rows[paid.ben]["note"] == f"payout {paid.ben} is 8.00 EUR, the bank states 5.00 EUR"
    lines = text.splitlines()
    assert lines[rows[paid.ben]["line"] - 1] == "<TxDtls>"
    assert paid.ben in lines[rows[paid.ben]["line"]]
    assert paid.states() == {paid.ann: "PAID", paid.ben: "SENT", paid.cyd: "SENT"}


def test_what_cannot_be_is_not_recorded(paid):
    one = details(paid.ann, "8.00", reference="B-1")
    paid.refused(camt053(entry("8.00", one, credit=True).replace("DBIT", "CRDT")), "bank.xml:", "a credit that is no return")
    paid.refused(camt053(entry("5.00", details(paid.ann, "5.00"))), "is 8.00 EUR, the bank states 5.00 EUR; not recorded")
    paid.refused(camt053(entry("8.00", details(paid.ann, "8.00", currency="USD"), currency="USD")), "states 8.00 USD")
    paid.refused(camt053(entry("8.00", details(paid.ann[:-4] + "0099", "8.00"))), "account acme has no payout")
    paid.refused(camt053(entry("8.00", details("SALARY-7", "8.00"))), "account acme has no payout SALARY-7")
    paid.refused(pain002(status(paid.ann, "RJCT")), "the bank states no amount")
    paid.run("payout", "settle", paid.ann, *ACME, "--reason", "by hand")
    paid.refused(pain002(status(paid.ann, "RJCT", "8.00")), f"payout {paid.ann} is PAID, so the bank's report does not fit")
    twice = entry("16.00", details(paid.ben, "8.00", reference="B-1"), details(paid.ben, "8.00", reference="B-2"))
    said = paid.bank(camt053(twice), rows=False, exit_status=1)
    assert "paid twice in this file, with the references B-1 and B-2" in said


def test_an_exchanged_amount_matches_by_the_instructed_one(paid):
    exchange = (
        '<AmtDtls><InstdAmt><Amt Ccy="EUR">8.00</Amt><CcyXchg><SrcCcy>EUR</SrcCcy><XchgRate>1.1</XchgRate></CcyXchg>'
        "</InstdAmt></AmtDtls>"
    )
    rows = paid.bank(camt053(entry("8.80", details(paid.ann, "8.80", currency="USD", amounts=exchange), currency="USD")))
    assert (rows[paid.ann]["outcome"], rows[paid.ann]["currency"]) == ("SETTLED", "USD")


def test_files_that_are_refused_as_a_whole(paid):
    good = camt053(entry("8.00", details(paid.ann, "8.00")))
    lines = good.count("\n")
    doctype = '<!DOCTYPE Document [<!ENTITY x SYSTEM "file:///etc/passwd">]>\n'
    for text, words in (
        (good.replace("<Document ", doctype + "<Document ", 1), ("bank.xml:2: a document type",)),
        (good.replace("ST-1", "&x;"), ("bank.xml:5: an entity",)),
        (good[: good.rindex("</Stmt>")], (f"bank.xml:{lines - 3}: expected a whole XML file",)),
        (good[: len(good) // 2], ("expected a whole XML file",)),
        ("", ("bank.xml:1: expected a whole XML file",)),
        ("payout_id,amount\n", ("expected a whole XML file",)),
        (good.replace("BkToCstmrStmt", "BkToCstmrAcctRpt"), ("bank.xml:2: expected an ISO 20022 file", "found camt.052", "camt.053")),
        (good.replace("BkToCstmrStmt", "CstmrCdtTrfInitn"), ("bank.xml:2: expected an ISO 20022 file", "found pain.001")),
        ("<feed/>", ("bank.xml:1: expected an ISO 20022 file", "found the element feed")),
        ("PK\3\4" + good, ("bank.xml:1: the file is a ZIP archive",)),
        ("%PDF-1.7\n", ("bank.xml:1: the file is a PDF",)),
        ("\n<!doctype HTML>\n<html>", ("bank.xml:1: the file is a web page",)),
        ("<HTML></HTML>", ("bank.xml:1: the file is a web page",)),
        (":20:ST-1\n:25:DE89\n", ("bank.xml:1: the file is MT940",)),
        ("{1:F01}{4:\n:20:ST-1\n", ("bank.xml:1: the file is MT940",)),
    ):
        paid.refused(text, *words, "nothing was recorded")


def test_a_file_of_another_account(paid):
    paid.run("account", "create", "beta")
    file = paid.file("bank.xml", camt053(entry("8.00", details(paid.ann, "8.00"))))
    said = paid.run("bank", "import", file, "--account", "beta", status=1).err
    assert f"payout {paid.ann} belongs to another account than beta; not recorded" in said
    other = paid.file("other.xml", camt053(entry("8.00", details(paid.ann, "8.00")), iban="DE89370400440532013000"))
    debtor = ("--debtor", paid.file("debtor.csv", DEBTOR))
    said = paid.run("bank", "import", other, *ACME, *debtor, status=1).err
    assert "other.xml:5: expected an account of" in said and "found DE89370400440532013000" in said
    assert set(paid.states().values()) == {"SENT"}
    paid.run("bank", "import", file, *ACME, *debtor)
    assert paid.states()[paid.ann] == "PAID"


def test_prefixes_and_an_entry_without_details(paid):
    text = camt053(entry("8.00", details(paid.ann, "8.00"))).replace("<", "<b:").replace("<b:/", "</b:")
    text = text.replace("<b:?xml", "<?xml").replace("xmlns=", "xmlns:b=")
    assert outcomes(paid.bank(text)) == {paid.ann: "SETTLED"}


@pytest.mark.skipif(not SCHEMAS, reason="SLUICE_ISO_SCHEMAS names no folder of the ISO schemas")
def test_files_keep_to_the_iso_schemas(paid):
    """The schemas are not in the tree: docs/building.md says where they come from."""
    answers = {
        "pain.001.001.09": paid.out.read_text(),
        "pain.002.001.10": pain002(status(paid.ann, "ACSC", "8.00"), status(paid.ben, "RJCT", "8.00", reason="AC01", text="x")),
        "camt.053.001.08": camt053(entry("8.00", details(paid.ann, "8.00", fees=fee("0.50"), reference="B-1")), entry("1.00")),
        "camt.054.001.08": camt054(entry("8.00", details(paid.ben, "8.00", returned="AC04"), credit=True)),
    }
    for form, text in answers.items():
        schema = pathlib.Path(SCHEMAS) / f"{form}.xsd"
        file = paid.file(f"{form}.xml", text)
        done = subprocess.run(["xmllint", "--noout", "--nonet", "--schema", schema, file], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


def grouped(message, status, transactions="", total="", part="", inner="", reason="AM04"):
    """A pain.002 with one status of the whole message, or with `part` of one payment information."""
    whole = f"<OrgnlGrpInfAndSts><OrgnlMsgId>{message}</OrgnlMsgId><OrgnlMsgNmId>pain.001.001.09</OrgnlMsgNmId>"
    numbers = (f"<OrgnlNbOfTxs>{transactions}</OrgnlNbOfTxs>" if transactions else "") + (
        f"<OrgnlCtrlSum>{total}</OrgnlCtrlSum>" if total else "")
    why = f"<StsRsnInf><Rsn><Cd>{reason}</Cd></Rsn><AddtlInf>Insufficient funds</AddtlInf></StsRsnInf>"
    if not part:
        body = whole + numbers + f"<GrpSts>{status}</GrpSts>{why}</OrgnlGrpInfAndSts>\n"
        body += f"<OrgnlPmtInfAndSts><OrgnlPmtInfId>{message}</OrgnlPmtInfId>{inner}</OrgnlPmtInfAndSts>\n" if inner else ""
    else:
        body = whole + f"</OrgnlGrpInfAndSts>\n<OrgnlPmtInfAndSts><OrgnlPmtInfId>{part}</OrgnlPmtInfId>{numbers}"
        body += f"<PmtInfSts>{status}</PmtInfSts>{why}{inner}</OrgnlPmtInfAndSts>\n"
    return document("pain.002.001.10", "CstmrPmtStsRpt", body, "BANK-2-1")


def sent_message(paid):
    return re.search("<MsgId>(.*?)</MsgId>", paid.out.read_text())[1]


@pytest.mark.parametrize("part", [False, True])
def test_a_rejected_message_fails_each_of_its_payouts(paid, part):
    message = sent_message(paid)
    text = grouped(message, "RJCT", "3", "24.00", part=message if part else "")
    assert set(outcomes(paid.bank(text, "--preview")).values()) == {"WOULD_FAIL"}
    rows = paid.bank(text, "--debtor", paid.file("debtor.csv", DEBTOR))
    assert outcomes(rows) == {paid.ann: "FAILED", paid.ben: "FAILED", paid.cyd: "FAILED"}
    assert rows[paid.ann]["reason"] == "AM04 Insufficient funds"
    assert set(paid.states().values()) == {"FAILED"}
    journal = paid.json("report", "journal", *ACME)
    assert set(outcomes(paid.bank(text)).values()) == {"KNOWN"}
    assert paid.json("report", "journal", *ACME) == journal


def test_a_rejected_message_is_never_guessed(paid):
    message = sent_message(paid)
    paid.refused(grouped("M260101000000-0BADC0DE", "RJCT"), "account acme has sent no message M260101000000-0BADC0DE")
    paid.refused(grouped(message, "RJCT", "4"), "has 3 payouts and the sum 24.00, the bank states 4 and no sum")
    paid.refused(grouped(message, "RJCT", "3", "24.01"), "the bank states 3 and 24.01")
    paid.refused(grouped(message, "RJCT", part="PART-7"), "with the payment information PART-7")
    paid.refused(grouped(message, ""), "the file states no status")
    assert set(outcomes(paid.bank(grouped(message, "ACCP"))).values()) == {"PENDING"}
    assert set(paid.states().values()) == {"SENT"}


def test_a_rejected_message_leaves_the_transactions_that_it_lists(paid):
    """One transaction is settled, one states no status of its own, one is not listed."""
    message = sent_message(paid)
    own = status(paid.ben, "", "8.00").replace("<TxSts></TxSts>", "")
    rows = paid.bank(grouped(message, "RJCT", part=message, inner=status(paid.ann, "ACSC", "8.00") + own))
    assert outcomes(rows) == {paid.ann: "SETTLED", paid.ben: "FAILED", paid.cyd: "FAILED"}


@pytest.mark.parametrize("level", ["message", "part", "transaction"])
def test_a_message_that_is_rejected_as_a_repetition_fails_nothing(paid, level):
    """The bank has the first one, and may have executed it: a payout that failed would be paid again (P4, P7)."""
    message = sent_message(paid)
    if level == "transaction":
        text = pain002(*(status(payout, "RJCT", "8.00", reason="DU03") for payout in (paid.ann, paid.ben, paid.cyd)), message=message)
    else:
        own = status(paid.ben, "", "8.00").replace("<TxSts></TxSts>", "")
        part = message if level == "part" else ""
        text = grouped(message, "RJCT", "3", "24.00", part=part, inner=own if part else "", reason="DU01")
    said = paid.bank(text, rows=False, exit_status=1)
    assert "rejected as a repetition of what the bank has" in said
    assert set(paid.states().values()) == {"SENT"}
    paid.bank(camt053(*(entry("8.00", details(payout, "8.00")) for payout in (paid.ann, paid.ben, paid.cyd))))
    assert set(outcomes(paid.bank(text)).values()) == {"KNOWN"}
    assert set(paid.states().values()) == {"PAID"}


def test_a_second_payment_is_seen_however_often_it_is_reported(paid):
    """In one file, in the same file again, and in the file of another day."""
    twice = camt053(entry("16.00", details(paid.ann, "8.00", reference="B-1"), details(paid.ann, "8.00", reference="B-2")))
    for _ in range(2):
        said = paid.bank(twice, rows=False, exit_status=1)
        assert f"payout {paid.ann} is paid twice in this file, with the references B-1 and B-2" in said
    assert outcomes(paid.bank(camt054(entry("8.00", details(paid.ann, "8.00", reference="B-1"))))) == {paid.ann: "KNOWN"}
    said = paid.bank(camt053(entry("8.00", details(paid.ann, "8.00", reference="B-2"))), rows=False, exit_status=1)
    assert "is paid twice, with the references B-1 and B-2" in said
    nameless = camt053(entry("16.00", details(paid.ben, "8.00"), details(paid.ben, "8.00")))
    assert "with the references (none) and (none)" in paid.bank(nameless, rows=False, exit_status=1)
    paid.bank(pain002(status(paid.cyd, "ACSC", "8.00")))
    for _ in range(2):
        assert outcomes(paid.bank(camt053(entry("8.00", details(paid.cyd, "8.00", reference="B-9"))))) == {
            paid.cyd: "KNOWN"}, "a status report names no posting"
    said = paid.bank(camt053(entry("8.00", details(paid.cyd, "8.00", reference="B-10"))), rows=False, exit_status=1)
    assert "is paid twice, with the references B-9 and B-10" in said, "P7"


def one(payout, **more):
    return camt053(entry("8.00", details(payout, "8.00", **more), credit="returned" in more))


def test_a_payment_that_a_person_settled_has_one_posting(paid):
    """P7: the first posting's reference is recorded, so that another one is a second payment."""
    paid.run("payout", "settle", paid.ann, *ACME, "--reason", "by hand")
    assert outcomes(paid.bank(one(paid.ann, reference="B-1"), "--preview")) == {paid.ann: "KNOWN"}
    for _ in range(2):
        assert outcomes(paid.bank(one(paid.ann, reference="B-1"))) == {paid.ann: "KNOWN"}
    (row,) = (row for row in paid.json("payout", "list", *ACME) if row["payout_id"] == paid.ann)
    assert row["bank_ref"] == "B-1"
    assert "the references B-1 and B-2" in paid.bank(one(paid.ann, reference="B-2"), rows=False, exit_status=1)


def test_a_debit_after_a_return_is_a_second_payment(paid):
    assert outcomes(paid.bank(one(paid.ann, reference="B-5"))) == {paid.ann: "SETTLED"}
    assert outcomes(paid.bank(one(paid.ann, reference="R-6", returned="AC04"))) == {paid.ann: "RETURNED"}
    assert outcomes(paid.bank(one(paid.ann, reference="B-5"))) == {paid.ann: "KNOWN"}
    assert "the references B-5 and B-7" in paid.bank(one(paid.ann, reference="B-7"), rows=False, exit_status=1)
    assert outcomes(paid.bank(one(paid.ben))) == {paid.ben: "SETTLED"}
    assert outcomes(paid.bank(one(paid.ben, returned="AC04"))) == {paid.ben: "RETURNED"}
    assert "is paid twice" in paid.bank(one(paid.ben), rows=False, exit_status=1), "without a reference it may be another one"


def test_a_posting_without_a_reference_on_another_day_is_a_second_payment(paid):
    """P7: the bank that names no posting still dates it."""
    def dated(payout, date, **more):
        return one(payout, **more).replace("2026-02-04", date)

    assert outcomes(paid.bank(dated(paid.ann, "2026-02-04"))) == {paid.ann: "SETTLED"}
    for date in ("2026-02-03", "2026-02-05"):
        assert outcomes(paid.bank(dated(paid.ann, date))) == {paid.ann: "KNOWN"}
    for more in ({}, {"reference": "D-9"}):
        assert "is paid twice" in paid.bank(dated(paid.ann, "2026-02-09", **more), rows=False, exit_status=1)
    assert outcomes(paid.bank(dated(paid.ben, "2026-02-04", reference="Q-1"))) == {paid.ben: "SETTLED"}
    assert "is paid twice" in paid.bank(dated(paid.ben, "2026-02-09"), rows=False, exit_status=1)


def test_numbers_of_entries_are_no_references(paid):
    """Each statement of a file counts its entries from 1."""
    numbered = one(paid.ann).replace("<Ntry>", "<Ntry><NtryRef>1</NtryRef>")
    statement = numbered[numbered.index("<Stmt>"):numbered.index("</Stmt>") + len("</Stmt>\n")]
    said = paid.bank(numbered.replace(statement, statement + statement), rows=False, exit_status=1)
    assert f"payout {paid.ann} is paid twice in this file" in said


def test_a_file_about_no_payout_is_an_error(paid):
    for text in (camt053(), camt053(entry("12.00", credit=True)), camt053(entry("16.00", reference="R-1"))):
        paid.refused(text, "bank.xml: no line is about a payout of account acme")


@pytest.mark.parametrize("ids", ["<MsgId>{0}</MsgId>", "<PmtInfId>{0}</PmtInfId>", "<MsgId>{0}</MsgId><PmtInfId>{0}</PmtInfId>"])
def test_a_posting_of_a_whole_message_settles_its_payouts(paid, ids):
    def text(amount, of, more=""):
        batch = f"<Btch>{ids.format(of)}{more}</Btch>\n"
        return camt053(entry(amount, batch, reference="B-1"), entry("1.20", reference="F-1"))

    message = sent_message(paid)
    paid.refused(text("24.01", message), "has 3 payouts and the sum 24.00, the bank states no number and 24.01")
    paid.refused(text("24.00", message, "<NbOfTxs>4</NbOfTxs>"), "the bank states 4 and 24.00")
    paid.refused(text("24.00", "M260101000000-0BADC0DE"), "no line is about a payout")
    for outcome in ("SETTLED", "KNOWN"):
        rows = paid.bank(text("24.00", message, "<NbOfTxs>3</NbOfTxs>"))
        assert outcomes(rows) == {**dict.fromkeys((paid.ann, paid.ben, paid.cyd), outcome), None: "UNMATCHED"}


def test_a_status_of_a_message_is_not_guessed_for_a_payment_that_has_another_id(paid):
    """The bank lists the rejected payment under an id of its own."""
    rejected = "<TxInfAndSts><OrgnlInstrId>I1</OrgnlInstrId><TxSts>RJCT</TxSts></TxInfAndSts>"
    message = sent_message(paid)
    said = f"the bank states one status for message {message}, and lists a transaction that names none of its payouts"
    paid.refused(grouped(message, "ACSC", part=message, inner=rejected), said)
    assert set(paid.states().values()) == {"SENT"}


def test_a_comment_does_not_cut_an_amount(paid):
    said = paid.bank(camt053(entry("800.00", details(paid.ann, "8<!-- -->00.00"))), rows=False, exit_status=1)
    assert "is 8.00 EUR, the bank states 800.00 EUR" in said
    assert outcomes(paid.bank(camt053(entry("8.00", details(paid.ann, "8.<![CDATA[00]]>"))))) == {paid.ann: "SETTLED"}


def test_charges_that_the_amount_does_not_contain_are_not_taken_off(paid):
    other = fee("2.00").replace("</CdtDbtInd>", "</CdtDbtInd><ChrgInclInd>{0}</ChrgInclInd>")
    for charges, outcome in ((other.format("false"), "DIFFERS"), (fee("2.00").replace("DBIT", "CRDT"), "DIFFERS"),
                             (other.format("true"), "WOULD_SETTLE")):
        rows = paid.bank(camt053(entry("10.00", details(paid.ann, "10.00", fees=charges))), "--preview",
                         exit_status=1 if outcome == "DIFFERS" else 0)
        assert (rows[paid.ann]["outcome"], rows[paid.ann]["fees"]) == (outcome, "2.00 EUR")


def test_a_file_without_an_account_to_compare_is_refused(paid):
    debtor = ("--debtor", paid.file("debtor.csv", DEBTOR))
    good = camt053(entry("8.00", details(paid.ann, "8.00")))
    iban = "<IBAN>GB82WEST12345698765432</IBAN>"
    for text, words in (
        (good.replace(iban, "<Othr><Id>12345678</Id></Othr>"), "found account 12345678, which is no IBAN"),
        (good.replace(f"<Acct><Id>{iban}</Id></Acct>", ""), "found no account"),
        (pain002(status(paid.ann, "ACSC", "8.00")).replace(f"<DbtrAcct><Id>{iban}</Id></DbtrAcct>", ""),
         "or a message of account acme, found no account and message C260201080000-7KQ4M9"),
    ):
        said = paid.bank(text, *debtor, rows=False, exit_status=1)
        assert words in said and "nothing was recorded" in said
    assert set(paid.states().values()) == {"SENT"}
