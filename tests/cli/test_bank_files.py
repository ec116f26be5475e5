"""Bank files as they come: postings told twice, batches, money that comes back, and every lawful spelling."""
import pytest
from harness.bank_answers import IBAN, camt053, camt054, details, entry, pain002, status
from test_bank import DEBTOR, once_paid, outcomes, paid, sent_message  # noqa: F401 (fixtures)
from test_ledger import ACME

OTHER_IBAN = "DE89370400440532013000"


def debtor(paid):
    return ("--debtor", paid.file("debtor.csv", DEBTOR))


def nameless(amount, reference="", more="", credit=False):
    """Details without an end-to-end id."""
    refs = f"<Refs><AcctSvcrRef>{reference}</AcctSvcrRef></Refs>" if reference else ""
    return (f'<TxDtls>\n{refs}<Amt Ccy="EUR">{amount}</Amt><CdtDbtInd>{"CRDT" if credit else "DBIT"}</CdtDbtInd>'
            f"{more}</TxDtls>\n")


def batch(paid, amount, number, reference="BB-1", inner="", more=""):
    """An entry that posts the message, with the details `inner`."""
    text = f"<Btch><MsgId>{sent_message(paid)}</MsgId><NbOfTxs>{number}</NbOfTxs>{more}</Btch>\n{inner}"
    return entry(amount, text, reference=reference)


def each(paid, prefix="T"):
    return [details(name, "8.00", reference=f"{prefix}-{i}") for i, name in enumerate((paid.ann, paid.ben, paid.cyd))]


# ---- One posting, told at two levels ------------------------------------------------------------

def levels(paid):
    return {
        "batch": camt053(batch(paid, "24.00", 3)),
        "details": camt054(batch(paid, "24.00", 3, inner="".join(each(paid)))),
        "singles": camt053(*(entry("8.00", one, reference="BB-1") for one in each(paid, "OTHER"))),
        "own": camt053(*(entry("8.00", details(name, "8.00"), reference=f"T-{i}")
                         for i, name in enumerate((paid.ann, paid.ben, paid.cyd)))),
    }


@pytest.mark.parametrize("order", [
    ("batch", "details"), ("details", "batch"), ("details", "own"), ("own", "details"), ("singles", "batch"),
    ("details", "singles"), ("details", "own", "batch", "singles"),
])
def test_a_posting_told_at_two_levels_is_one(paid, order):
    files = levels(paid)
    assert set(outcomes(paid.bank(files[order[0]])).values()) == {"SETTLED"}
    for again in order[1:]:
        assert outcomes(paid.bank(files[again])) == dict.fromkeys((paid.ann, paid.ben, paid.cyd), "KNOWN"), again
    other = files["details"].replace("BB-1", "BB-2").replace(">T-", ">U-")
    said = paid.bank(other, rows=False, exit_status=1)
    assert "is paid twice" in said and "BB-2 | U-0" in said, "another entry is another posting"


@pytest.mark.parametrize("order", [("batch", "details"), ("details", "batch"), ("details", "own")])
def test_a_posting_after_a_settling_status_is_one_at_both_levels(paid, order):
    """The posting's references are recorded with payouts that a pain.002 settled before (P7)."""
    files = levels(paid)
    paid.bank(pain002(*(status(name, "ACSC", "8.00") for name in (paid.ann, paid.ben, paid.cyd))))
    for level in order:
        assert set(outcomes(paid.bank(files[level])).values()) == {"KNOWN"}, level
    other = files["details"].replace("BB-1", "BB-2").replace(">T-", ">U-")
    assert "is paid twice" in paid.bank(other, rows=False, exit_status=1)


@pytest.mark.parametrize("form", ["lines", "one line"])
def test_an_entry_that_is_listed_twice_is_one_payment(paid, form):
    """A statement that is bundled twice, also in a file without line breaks."""
    text = camt053(*[entry("8.00", details(paid.ann, "8.00"), reference="BB-1")] * 2)
    rows = paid.bank(text if form == "lines" else text.replace("\n", ""))
    assert outcomes(rows) == {paid.ann: "SETTLED"}, "and nothing differs"
    assert paid.states()[paid.ann] == "PAID"


def test_a_word_for_no_reference_is_none(paid):
    """Two postings with NONREF are not one."""
    paid.bank(camt053(entry("8.00", details(paid.ann, "8.00"), reference="NONREF")))
    twice = camt053(*[entry("8.00", details(paid.ben, "8.00"), reference="NONREF")] * 2)
    assert "is paid twice in this file" in paid.bank(twice, rows=False, exit_status=1)


# ---- Batches ------------------------------------------------------------------------------------

def test_a_batch_is_posted_without_the_payment_that_was_rejected(paid):
    paid.bank(pain002(status(paid.ben, "RJCT", "8.00", reason="AC04")))
    said = paid.bank(camt053(batch(paid, "15.00", 2)), rows=False, exit_status=1)
    assert "has 3 payouts and the sum 24.00, without those that failed 2 and 16.00, the bank states 2 and 15.00" in said
    assert paid.states() == {paid.ann: "SENT", paid.ben: "FAILED", paid.cyd: "SENT"}
    for outcome in ("SETTLED", "KNOWN"):
        assert outcomes(paid.bank(camt053(batch(paid, "16.00", "002")))) == {paid.ann: outcome, paid.cyd: outcome}
    rows = paid.bank(camt053(batch(paid, "24.00", 3)), exit_status=1)
    assert rows[paid.ben]["outcome"] == "DIFFERS", "the bank pays what it rejected"


def test_details_that_repeat_the_batch_are_no_payment(paid):
    """In the group of the batch, in a group of their own, and with the message id in their references."""
    whole = nameless("24.00", reference="T-9")
    assert set(outcomes(paid.bank(camt053(batch(paid, "24.00", 3, inner=whole)), "--preview"))) == {paid.ann, paid.ben, paid.cyd}
    named = f"<TxDtls>\n<Refs><PmtInfId>{sent_message(paid)}</PmtInfId></Refs></TxDtls>\n"
    assert set(outcomes(paid.bank(camt053(entry("24.00", named)), "--preview")).values()) == {"WOULD_SETTLE"}
    total = '<TtlAmt Ccy="EUR">24.00</TtlAmt>'
    apart = batch(paid, "24.00", 3, inner=whole + "</NtryDtls><NtryDtls>" + "".join(each(paid)), more=total)
    rows = paid.bank(camt053(apart))
    assert outcomes(rows) == dict.fromkeys((paid.ann, paid.ben, paid.cyd), "SETTLED")


def test_two_batches_of_one_entry_have_sums_of_their_own(paid):
    own = batch(paid, "124.00", 3, more='<TtlAmt Ccy="EUR">24.00</TtlAmt>')
    salaries = '</NtryDtls>\n<NtryDtls><Btch><MsgId>SALARY</MsgId><TtlAmt Ccy="EUR">100.00</TtlAmt></Btch></NtryDtls>\n'
    rows = paid.bank(camt053(own.replace("</NtryDtls>\n", salaries)))
    assert outcomes(rows) == {**dict.fromkeys((paid.ann, paid.ben, paid.cyd), "SETTLED"), None: "UNMATCHED"}


# ---- Lines without an end-to-end id -------------------------------------------------------------

@pytest.mark.parametrize("back", [
    entry("8.00", nameless("8.00", more="<RtrInf><Rsn><Cd>AC04</Cd></Rsn></RtrInf>", credit=True), credit=True),
    entry("8.00", credit=True, more="<RvslInd>true</RvslInd>"),
    entry("8.00", credit=True).replace("ESCT", "RRTN"),
    entry("8.00", details("R-2026-7", "8.00", returned="AC04"), credit=True),
])
def test_money_that_comes_back_and_names_no_payout_needs_a_person(paid, back):
    text = camt053(entry("8.00", details(paid.ann, "8.00", reference="B-1")), back)
    said = paid.bank(text, rows=False, exit_status=1)
    line = text[:text.rindex("<Ntry>")].count("\n") + 1
    assert any(f"bank.xml:{line + more}: " in said for more in (0, 2)), said
    assert paid.states()[paid.ann] == "PAID", "the other line is recorded"


def test_payments_in_and_charges_that_come_back_need_nobody(paid):
    paid.bank(camt053(
        entry("8.00", details(paid.ann, "8.00")),
        entry("99.00", details("ORDER-7", "99.00").replace("DBIT", "CRDT"), credit=True),
        entry("99.00", credit=True),
        entry("1.20", credit=True, more="<RvslInd>true</RvslInd>").replace("ESCT", "CHRG"),
        entry("8.00", nameless("8.00", more="<RtrInf><Rsn><Cd>AC04</Cd></Rsn></RtrInf>")),
    ))


def remittance(text):
    return f"<RmtInf><Ustrd>{text}</Ustrd></RmtInf>"


@pytest.mark.parametrize("spelling", ["Commission 2026-02 {0}", "Commission 2026-02 {1}\n{2}/x", "{1}</Ustrd><Ustrd>{2}"])
def test_a_payout_id_in_the_text_matches(paid, spelling):
    text = spelling.format(paid.ann, paid.ann[:12], paid.ann[12:])
    lines = entry("8.00", nameless("8.00", more=remittance(text))), entry("8.00", details(paid.ben, "8.00"))
    rows = paid.bank(camt053(*lines))
    assert outcomes(rows) == {paid.ann: "SETTLED", paid.ben: "SETTLED"}
    assert rows[paid.ann]["note"] == "named in the text"


def test_a_payout_id_in_the_additional_text_of_an_entry_matches(paid):
    wise = entry("8.00").replace("</Ntry>", f"<AddtlNtryInf>Sent money to Ann with reference {paid.ann}</AddtlNtryInf></Ntry>")
    fee_line = wise.replace("8.00", "0.60").replace("ESCT", "CHRG").replace("Sent money to", "Charges for")
    assert outcomes(paid.bank(camt053(wise, fee_line))) == {paid.ann: "SETTLED", None: "UNMATCHED"}


def test_a_payout_id_in_the_text_is_never_guessed(paid):
    def refused(text, words, amount="8.00"):
        paid.refused(camt053(entry(amount, nameless(amount, more=remittance(text)))), words)

    refused(paid.ann, f"payout {paid.ann} is 8.00 EUR, the bank states 5.00 EUR", "5.00")
    refused(f"{paid.ann}, {paid.ben}", f"more than one payout: {paid.ann} and {paid.ben}", "16.00")
    refused(paid.ann[:-4] + "0099", f"account acme has no payout {paid.ann[:-4]}0099")
    both = camt053(*(entry("8.00", one, reference=f"B-{i}") for i, one in enumerate(
        (details(paid.ann, "8.00"), nameless("8.00", more=remittance(paid.ann))))))
    assert "is paid twice in this file" in paid.bank(both, rows=False, exit_status=1)


def test_an_answer_to_our_message_that_names_none_of_its_payouts_needs_a_person(paid):
    lost = "<TxInfAndSts><OrgnlInstrId>I1</OrgnlInstrId><TxSts>RJCT</TxSts></TxInfAndSts>"
    text = pain002(status(paid.ann, "ACSC", "8.00"), lost, message=sent_message(paid))
    rows = paid.bank(text, exit_status=1)
    assert outcomes(rows) == {paid.ann: "SETTLED", None: "UNMATCHED"}
    other = pain002(status(paid.ann, "ACSC", "8.00"), lost, message="SALARY-1")
    assert outcomes(paid.bank(other))[None] == "UNMATCHED"


# ---- Lawful files -------------------------------------------------------------------------------

def test_several_documents_in_a_file_are_all_read(paid):
    """One after the other, and in an envelope of another namespace."""
    first, second = camt054(entry("8.00", details(paid.ann, "8.00"))), pain002(status(paid.ben, "RJCT", "8.00"))
    assert outcomes(paid.bank(first + second, "--preview")) == {paid.ann: "WOULD_SETTLE", paid.ben: "WOULD_FAIL"}
    inner = "".join(text.split("?>\n", 1)[1] for text in (first, second))
    assert outcomes(paid.bank(f'<x:Files xmlns:x="urn:x"><AppHdr/>{inner}</x:Files>')) == {
        paid.ann: "SETTLED", paid.ben: "FAILED"}
    notes = {row["note"] for row in paid.json("report", "journal", *ACME) if row["reason"] in ("SETTLE", "FAILED")}
    assert notes == {"bank import camt.054 BANK-54-1", "bank import pain.002 BANK-2-1"}


def test_statements_of_other_accounts_are_skipped_and_counted(paid):
    own = camt053(entry("8.00", details(paid.ann, "8.00")))
    other = camt053(entry("8.00", details(paid.ben, "8.00")), entry("1.00"), iban=OTHER_IBAN)
    statement = other[other.index("<Stmt>"):other.index("</Stmt>") + len("</Stmt>\n")]
    text = own.replace("<Stmt>", statement + "<Stmt>")
    run = paid.run("bank", "import", paid.file("bank.xml", text), *ACME, *debtor(paid))
    assert "2 lines of other bank accounts skipped" in run.out
    assert paid.states() == {paid.ann: "PAID", paid.ben: "SENT", paid.cyd: "SENT"}


def test_a_quiet_day_is_in_order_with_the_debtors_account(paid):
    for text in (camt053(), camt053(entry("1.20", reference="F-1")), camt053(entry("9.00", details("SALARY-7", "9.00")))):
        paid.bank(text, *debtor(paid), rows=False)
        paid.refused(text, "account acme")
    paid.bank(camt053(iban=OTHER_IBAN), *debtor(paid), rows=False, exit_status=1)
    lost = camt053(entry("8.00", details(paid.ann[:-4] + "0099", "8.00")))
    assert "has no payout" in paid.bank(lost, *debtor(paid), rows=False, exit_status=1)


def test_a_rejection_of_our_message_needs_no_amount(paid):
    rows = paid.bank(pain002(status(paid.ann, "RJCT", reason="AC04"), message=sent_message(paid)))
    assert outcomes(rows) == {paid.ann: "FAILED"}
    paid.refused(pain002(status(paid.ben, "ACSC"), message=sent_message(paid)), "the bank states no amount")
    paid.refused(pain002(status(paid.ben, "RJCT"), message="SALARY-1"), "the bank states no amount")


@pytest.mark.parametrize("code, says", [
    ("RCVC", "match"), ("RVMC", "close match"), ("RVNM", "no match"), ("RVNA", "not possible"),
])
def test_the_verification_of_a_payee_is_shown(paid, code, says):
    rows = paid.bank(pain002(status(paid.ann, code, "8.00", text="Anne Example")))
    assert rows[paid.ann]["outcome"] == "PENDING"
    assert (rows[paid.ann]["note"], rows[paid.ann]["reason"]) == (f"payee verification: {says} ({code})", "Anne Example")


@pytest.mark.parametrize("encoding, stated", [
    ("utf-16", "UTF-16"), ("utf-16-le", "UTF-16"), ("utf-16-be", "UTF-16"), ("utf-8-sig", "UTF-8"), ("utf-8", "UTF-16"),
    ("latin-1", "iso-8859-1"), ("iso8859-15", "ISO-8859-15"), ("cp1252", "windows-1252"),
])
def test_encodings_that_banks_use_are_read(paid, encoding, stated):
    letters = "Müller" + (" 5 €" if encoding != "latin-1" else "")
    back = details(paid.ann, "8.00", returned="AC04").replace("account closed", letters)
    text = camt054(entry("8.00", back, credit=True)).replace("UTF-8", stated, 1)
    file = paid.folder / "bank.xml"
    file.write_bytes(text.encode(encoding))
    (row,) = paid.json("bank", "import", file, *ACME, "--preview")
    assert (row["outcome"], row["reason"]) == ("WOULD_FAIL", "AC04 " + letters)
    assert text.splitlines()[row["line"] - 1] == "<TxDtls>"


def test_another_encoding_is_named_with_the_command_that_changes_it(paid):
    text = camt053(entry("8.00", details(paid.ann, "8.00")))
    paid.refused(text.replace("UTF-8", "IBM500", 1), "bank.xml:1: the file is in IBM500", "`iconv -f IBM500 -t UTF-8`",
                 "nothing was recorded")
    file = paid.folder / "cut.xml"
    file.write_bytes(text.encode("utf-16")[:-1])
    assert "cut.xml:1: expected UTF-16LE" in paid.run("bank", "import", file, *ACME, status=1).err


@pytest.mark.parametrize("amount", ["+8", "8.", "008.0", "8.00000", "8.000000000000"])
def test_amounts_are_read_in_every_lawful_spelling(paid, amount):
    assert outcomes(paid.bank(camt053(entry(amount, details(paid.ann, amount))))) == {paid.ann: "SETTLED"}


@pytest.mark.parametrize("date, day", [
    ("<Dt>2026-02-04Z</Dt>", "2026-02-04T00:00:00Z"), ("<Dt>2026-02-04+01:00</Dt>", "2026-02-04T00:00:00Z"),
    ("<DtTm>2026-02-03T24:00:00</DtTm>", "2026-02-04T00:00:00Z"),
    ("<DtTm>2026-02-04T01:00:00.1234567890123+01:00</DtTm>", "2026-02-04T00:00:00.123456789Z"),
    ("<Dt>2026-02-04T10:00:00</Dt>", "2026-02-04T00:00:00Z"),
])
def test_dates_are_read_in_every_lawful_spelling(paid, date, day):
    text = camt053(entry("8.00", details(paid.ann, "8.00"))).replace("<Dt>2026-02-04</Dt></BookgDt>", f"{date}</BookgDt>")
    assert paid.bank(text)[paid.ann]["booking_date"] == day


@pytest.mark.parametrize("right, wrong, words", [
    (">8.00<", ">8.001<", "expected an amount in EUR, found 8.001"), (">8.00<", ">-8.00<", "found -8.00"),
    ('"EUR"', '"EURO"', "expected an ISO 4217 code in the attribute Ccy, found 'EURO'"),
    ("<Dt>2026-02-04</Dt></BookgDt>", "<Dt>2026-02-30</Dt></BookgDt>", "expected a booking date such as 2026-02-03, found 2026-02-30"),
])
def test_a_line_that_cannot_be_read_never_hides_the_others(paid, right, wrong, words):
    foreign = entry("8.00", details("SALARY-7", "8.00")).replace(right, wrong)
    rows = paid.bank(camt053(foreign, entry("8.00", details(paid.ann, "8.00"))))
    assert rows[paid.ann]["outcome"] == "SETTLED"
    assert (rows["SALARY-7"]["outcome"], words in rows["SALARY-7"]["note"]) == ("UNMATCHED", True)
    own = entry("8.00", details(paid.ben, "8.00")).replace(right, wrong)
    assert words in paid.bank(camt053(own), rows=False, exit_status=1), "a payout's line needs a person"
    assert paid.states()[paid.ben] == "SENT"


def test_the_instructed_amount_counts_if_the_account_has_another_currency(paid):
    instructed = '<AmtDtls><InstdAmt><Amt Ccy="EUR">{0}</Amt></InstdAmt></AmtDtls>'
    one = details(paid.ann, "8.80", currency="USD", amounts=instructed.format("8.00"))
    assert outcomes(paid.bank(camt053(entry("8.80", one, currency="USD")))) == {paid.ann: "SETTLED"}
    one = details(paid.ben, "8.80", currency="USD", amounts=instructed.format("7.00"))
    paid.refused(camt053(entry("8.80", one, currency="USD")), "the bank states 8.80 USD")
    assert IBAN in camt053()
