"""Payouts, approvals, holds and months on the command line (rules P1 to P6, H1 to H3, K1, S2, S3, A3, A4)."""
import csv
import datetime
import json
import xml.etree.ElementTree

import pytest
from harness import orders
from harness.cli import now
from harness.edge import Edge
from program import sluice
from test_ledger import ACME, HTTP, Shop, postings, until_now

WHY = ("--reason", "as agreed")


@pytest.fixture
def shop(tmp_path):
    with Edge(HTTP, workers=1) as edge:
        yield Shop(edge.start(), tmp_path)


@pytest.fixture
def sold(shop):
    """Two orders of ann's, 8.00 each."""
    shop.send("o1")
    shop.send("o2", platform_ordered_at="2024-05-01T00:00:00Z", platform_updated_at="2024-05-01T00:00:00Z")
    shop.drain()
    return shop


def close(shop, *more):
    return shop.json("payout", "close", *ACME, *until_now(), *more)["payouts"]


def apply(shop, text, status=0):
    return shop.run("program", "apply", shop.file("policy.toml", text), status=status)


def test_the_life_of_a_payout(sold):
    """P3, P4: what fails is payable again, once."""
    (first,) = close(sold)
    name = first["payout_id"]
    items = sold.json("payout", "show", name, *ACME)
    assert [(i["order_id"], i["line_item_id"], i["kind"], i["amount"]) for i in items] == [
        ("o1", "l1", "COMMISSION", "8.00"), ("o2", "l1", "COMMISSION", "8.00")]
    refused = sold.run("payout", "failed", name, *ACME, *WHY, status=1)
    assert f"payout {name} is APPROVED: failed is not possible" in refused.err
    sold.run("payout", "sent", name, *ACME, *WHY)
    assert "was sent by" in sold.run("payout", "sent", name, *ACME, *WHY).out
    sold.run("payout", "failed", first["payout_run"], *ACME, *WHY, "--bank-ref", "R-7")
    (row,) = sold.json("payout", "list", *ACME, "--state", "FAILED")
    assert (row["state"], row["bank_ref"]) == ("FAILED", "R-7")
    (second,) = close(sold)
    assert second["amount"] == "16.00" and second["payout_id"] != name
    sold.run("payout", "settle", second["payout_id"], *ACME, *WHY, "--paid-at", "2024-12-31T10:00:00Z")
    (balance,) = sold.json("report", "balances", *ACME)
    assert (balance["payable"], balance["in_payout"], balance["paid"]) == ("0.00", "0.00", "16.00")
    assert "has no payout P1" in sold.run("payout", "show", "P1", *ACME, status=1).err


def test_who_is_left_out_and_why(sold):
    preview = sold.json("payout", "preview", *ACME, *until_now(), "--exclude", "ann")
    assert preview["payouts"] == []
    assert preview["skipped"] == [{"creator_id": "ann", "currency": "USD", "amount": "16.00", "skip_reason": "EXCLUDED"}]
    apply(sold, "[[policy]]\naccount = 'acme'\nmin_payout = ['25.00 USD']\n")
    assert sold.json("payout", "preview", *ACME, *until_now())["skipped"][0]["skip_reason"] == "BELOW_MINIMUM"
    assert len(close(sold, "--ignore-minimum")) == 1


def test_an_order_that_two_programs_pay_is_one(sold):
    """P2: its items are two, one of each program."""
    close(sold)
    apply(sold, "[[program]]\nid = 'summer'\naccount = 'acme'\ndefault_rate = '25%'\nlate_days = 36500\n")
    sold.run("creator", "import", sold.file("s.csv", "creator_id,program_id\nann,summer\n"))
    sold.run("attribute", "--shop", "shop-1", "--order", "o1", "--creator", "ann", "--program", "summer", "--replace",
             *WHY)
    (payout,) = close(sold)
    assert (payout["amount"], payout["orders"], payout["items"]) == ("12.00", 1, 2)
    assert [c for c in sold.doctor() if c["check"] == "journal"][0]["result"] == "ok"


def test_an_unknown_creator_is_warned_about(sold):
    """A misspelt --exclude would pay whom it should leave out."""
    for option in ("--exclude", "--creator"):
        for verb in ("preview", "close"):
            run = sold.run("payout", verb, *ACME, *until_now(), option, "anne")
            assert run.err == "sluice: warning: creator anne was never in a program of account acme\n"


def test_a_close_that_differs_from_its_preview_is_refused(sold):
    """P5."""
    digest = sold.json("payout", "preview", *ACME, *until_now())["digest"]
    sold.run("adjust", "--order", "o1", "--shop", "shop-1", "--amount", "1.00", *WHY)
    sold.run("payout", "close", *ACME, *until_now(), "--expect", digest, status=1)
    assert sold.json("payout", "list", *ACME) == []


def test_a_key_is_done_once(sold):
    """K1."""
    line = ("adjust", "--order", "o1", "--shop", "shop-1", "--key", "k-1", *WHY)
    first = sold.run(*line, "--amount", "5.00").out
    assert sold.run(*line, "--amount", "5.00").out == first
    assert "key k-1 was used by" in sold.run(*line, "--amount", "6.00", status=1).err
    assert [e["amount"] for e in postings(sold) if e["reason"] == "MANUAL"] == ["5.00"]


def test_credit_and_reverse(sold):
    sold.run("credit", *ACME, "--creator", "ann", "--program", "spring", "--amount", "12.00 USD", *WHY)
    entry = [e for e in postings(sold) if e["reason"] == "CREDIT"][0]
    sold.run("reverse", entry["command_id"], *ACME, *WHY)
    again = sold.run("reverse", entry["command_id"], *ACME, *WHY, status=1)
    assert "reversed" in again.err
    assert [e["amount"] for e in postings(sold) if e["reason"] == "REVERSAL"] == ["-12.00"]
    sold.run("credit", *ACME, "--creator", "ann", "--program", "spring", "--amount", "12.00", *WHY, status=2)


def test_holds_and_rejections(sold):
    """H1."""
    order = ("--shop", "shop-1", "--order", "o1")
    sold.run("hold", *order, *WHY)
    assert sold.json("report", "orders")[0]["blocked_by"] == ["HOLD"]
    assert sold.json("payout", "preview", *ACME, *until_now())["payouts"][0]["amount"] == "8.00"
    sold.run("release", *order, *WHY)
    sold.run("hold", *ACME, "--creator", "ann", *WHY)
    assert sold.json("creator", "show", "ann", *ACME)["holds"][0]["reason"] == "as agreed"
    assert sold.json("payout", "preview", *ACME, *until_now())["payouts"] == []
    sold.run("release", *ACME, "--creator", "ann", *WHY)
    sold.run("reject", *order, *WHY)
    assert sold.json("report", "orders")[0]["status"] == "rejected"
    sold.run("hold", *WHY, status=2)
    sold.run("hold", *order, status=2)
    said = sold.run("hold", *ACME, "--creator", "anne", *WHY).err
    assert "warning: creator anne was never in a program of account acme" in said
    assert "account acme has no program sprung" in sold.run(
        "hold", *ACME, "--creator", "ann", "--program", "sprung", *WHY, status=1).err


def test_attribute_and_detach_after_a_dry_run(sold):
    """A3, A4."""
    sold.run("creator", "import", sold.file("ben.csv", "creator_id,program_id\nben,spring\n"))
    order = ("--shop", "shop-1", "--order", "o1")
    give = ("attribute", *order, "--creator", "ben", "--program", "spring", *WHY, "--replace")
    before = sold.json("report", "journal", *ACME)
    rows = sold.json(*give, "--dry-run")
    assert [list(row) for row in rows] == [
        ["program_id", "creator_id", "currency", "orders", "before", "after", "difference"]] * 2
    assert [(r["creator_id"], r["orders"], r["before"], r["after"], r["difference"]) for r in rows] == [
        ("ann", 1, "8.00", "0.00", "-8.00"), ("ben", 1, "0.00", "8.00", "8.00")]
    assert sold.json("report", "journal", *ACME) == before
    sold.run(*give)
    assert sold.json("report", "orders")[0]["creator_id"] == "ben"
    sold.run("detach", *order, *WHY)
    assert sold.json("report", "orders")[0]["status"] == "detached"
    sold.run(*give, "--format", "json", status=2)  # only a dry run prints a listing


def test_an_import_reaches_as_far_as_it_says(shop):
    """A2, A4."""
    apply(shop, "[[program]]\nid = 'spring'\naccount = 'acme'\ndefault_rate = '10%'\nlate_days = 30\n")
    shop.send("o1", code="LATE")
    shop.drain()
    plain = shop.file("l.csv", "creator_id,program_id,code\nben,spring,LATE\n")
    assert shop.json("creator", "import", plain, "--dry-run") == []
    dated = shop.file("d.csv", "creator_id,program_id,code,valid_from\nben,spring,LATE,2024-01-01T00:00:00Z\n")
    (row,) = shop.json("creator", "import", dated, "--dry-run")
    assert (row["orders"], row["after"]) == (1, "8.00")
    (row,) = shop.json("creator", "import", plain, "--effective-from", "2024-01-01T00:00:00Z", "--dry-run")
    assert (row["orders"], row["after"]) == (1, "8.00")
    shop.run("creator", "import", dated)
    assert shop.json("report", "orders")[0]["creator_id"] == "ben"
    shop.run("detach", *ACME, "--cause", postings(shop)[0]["command_id"], *WHY)
    assert shop.json("report", "orders")[0]["status"] == "detached"


def test_profiles_of_creators(shop):
    shop.run("creator", "import", shop.file(
        "c.csv", "creator_id,program_id,code,group,name,payee\nben,spring,BEN,gold,Ben B.,ref-1\n"))
    shown = shop.json("creator", "show", "ben", *ACME)
    assert (shown["name"], shown["payee"], shown["programs"][0]["group"]) == ("Ben B.", "ref-1", "gold")
    assert shown["programs"][0]["codes"][0]["code"] == "BEN"
    table = shop.run("creator", "show", "ben", *ACME).out
    assert "{" not in table and "\nprograms\n" in table
    (row,) = [line for line in table.splitlines() if line.startswith("spring ")]
    assert "gold" in row and "code=BEN valid_from=" in row
    shop.run("creator", "set", "ben", *ACME, "--name", "Benjamin", "--program", "spring", "--group", "silver")
    shop.run("creator", "rename", "ben", "benjamin", *ACME)
    shown = shop.json("creator", "show", "benjamin", *ACME)
    assert (shown["creator_id"], shown["aliases"]) == ("benjamin", ["ben", "benjamin"])
    assert shown["programs"][0]["group"] == "silver"
    assert "was used in account acme before" in shop.run("creator", "rename", "ann", "ben", *ACME, status=1).err
    assert "has no creator eve" in shop.run("creator", "show", "eve", *ACME, status=1).err
    shop.run("creator", "set", "ben", *ACME, status=2)
    shop.run("creator", "remove", "ben", "--program", "spring", "--code", "BEN", "--at", "2030-01-01T00:00:00Z")
    assert shop.json("creator", "show", "ben", *ACME)["programs"][0]["codes"][0]["valid_until"] == "2030-01-01T00:00:00Z"


def test_clicks_are_listed_by_digest(shop):
    shop.run("click", "import", shop.file(
        "t.csv", "svc_anon_id,creator_id,program_id,occurred_at\nphone,ann,spring,2024-03-01T00:00:00Z\n"))
    (row,) = shop.json("click", "list", *ACME)
    assert (row["creator_id"], row["occurred_at"]) == ("ann", "2024-03-01T00:00:00Z")
    assert len(row["device_sha256"]) == 64 and "phone" not in json.dumps(row)


def test_four_eyes(sold):
    """H3, K13: a process without a login does not approve; another command waits, exit 3."""
    apply(sold, "[[policy]]\naccount = 'acme'\napprove_payout_above = ['5.00 USD']\n"
                "approve_adjust_above = ['5.00 USD']\n")
    (payout,) = close(sold)
    assert payout["state"] == "CLOSED"
    assert "approvals show" in sold.run("approve", payout["payout_id"], *ACME, status=1).err
    digest = sold.json("approvals", "show", payout["payout_id"], *ACME)["digest"]
    assert "only a signature approves" in sold.run("approve", payout["payout_id"], *ACME, "--expect", digest, status=1).err
    waits = sluice("adjust", "--shop", "shop-1", "--order", "o1", "--amount", "9.00", *WHY, store=sold.store)
    assert waits.status == 3, waits
    rows = sold.json("approvals", *ACME)
    assert [(r["command"], r["amount"], r["currency"]) for r in rows] == [
        ("adjust", "9.00", "USD"), ("payout close", "16.00", "USD")]
    assert list(rows[0]) == ["id", "command", "account_id", "amount", "currency", "actor", "reason", "received_at"]
    sold.run("withdraw", rows[0]["id"], *ACME, *WHY)
    sold.run("payout", "void", payout["payout_id"], *ACME, *WHY)
    assert sold.json("approvals", *ACME) == []
    assert not [e for e in postings(sold) if e["reason"] == "MANUAL"]


def test_a_key_of_a_command_that_waits(sold):
    """K1, H3: the exit status says whether anything was posted."""
    apply(sold, "[[policy]]\naccount = 'acme'\napprove_adjust_above = ['5.00 USD']\n")
    line = ("adjust", "--shop", "shop-1", "--order", "o1", "--amount", "9.00", *WHY, "--key", "k-9")
    first, again = (sluice(*line, store=sold.store) for _ in range(2))
    assert (first.status, again.status) == (3, 3)
    assert first.err == again.err and first.out == again.out == ""
    (row,) = sold.json("approvals", *ACME)
    sold.run("withdraw", row["id"], *ACME, *WHY)
    assert f"{row['id']} was withdrawn by" in sold.run(*line, status=1).err
    assert not [e for e in postings(sold) if e["reason"] == "MANUAL"]


def test_a_closed_month_names_the_creator_as_then(sold):
    """S3: a closed month never changes by a byte, by whichever id; open months show the newest id."""
    today = datetime.datetime.now(datetime.timezone.utc)
    month = (today.replace(day=1) - datetime.timedelta(days=1)).strftime("%Y-%m")
    sold.run("period", "close", *ACME, "--until", today.strftime("%Y-%m-01T00:00:00Z"))

    def page(creator, of, form):
        return sold.run("report", "statement", *ACME, "--creator", creator, "--month", of, "--format", form).out

    printed = [page("ann", month, form) for form in ("json", "table")]
    sold.run("creator", "rename", "ann", "anna", *ACME)
    for creator in ("ann", "anna"):
        assert [page(creator, month, form) for form in ("json", "table")] == printed
        now = json.loads(page(creator, today.strftime("%Y-%m"), "json"))
        assert (now["creator_id"], now["status"]) == ("anna", "open: may change")


def test_a_closed_month_stays_as_it_was_printed(sold):
    """S2, S3."""
    this = datetime.datetime.now(datetime.timezone.utc).replace(day=1).strftime("%Y-%m-01T00:00:00Z")
    sold.run("period", "close", *ACME, "--until", this)
    (row,) = sold.json("period", "list", *ACME)
    assert list(row) == ["account_id", "until", "closed_at", "closed_by", "command_id"]
    assert row["until"] == this
    sold.run("period", "close", *ACME, "--until", this, status=1)
    sold.run("period", "close", *ACME, "--until", "2024-01-15T00:00:00Z", status=1)
    last = (datetime.datetime.fromisoformat(this.replace("Z", "+00:00")) - datetime.timedelta(days=1)).strftime("%Y-%m")
    statement = ("report", "statement", *ACME, "--creator", "ann", "--month", last)
    assert sold.json(*statement)["status"] == "closed"
    before = sold.run(*statement, "--format", "csv").out
    sold.run("adjust", "--order", "o1", "--shop", "shop-1", "--amount", "1.00", *WHY)
    assert sold.run(*statement, "--format", "csv").out == before


HELD = """
[[program]]
id = "spring"
account = "acme"
default_rate = "10%"
clearing_days = 14
late_days = 36500
"""


def test_balances_as_of_a_time_that_is_over(shop):
    """J2, P1: entries, closes, payments and releases after the instant are subtracted."""
    balances = ("report", "balances", *ACME)
    apply(shop, HELD)
    shop.run("creator", "import", shop.file("b.csv", "creator_id,program_id,code\nben,spring,BEN\n"))
    seen = []

    def look():
        at = now()
        seen.append((at, shop.json(*balances)))

    def event(*order, **changes):
        shop.send(*order, **changes)
        shop.drain()
        look()

    def command(*line):
        shop.run(*line)
        look()

    def paid(move, payout):
        command("payout", move, payout["payout_id"], *ACME, *WHY)

    look()
    event("o1")
    event("o2", platform_ordered_at=now(), platform_updated_at=now())  # its hold has not ended
    event("o1", amount="110.00", platform_updated_at="2024-05-02T00:00:00Z",
          refund_line_items=[{"refund_line_item_id": "r1", "line_item_id": "l1", "sku": "sku-1", "amount": "50.00",
                              "tax": "0", "quantity": "1", "platform_refunded_at": "2024-05-02T00:00:00Z"}])
    (first,) = close(shop)
    look()
    command("adjust", "--order", "o1", "--shop", "shop-1", "--amount", "-1.00", *WHY)
    paid("sent", first)
    paid("failed", first)
    shop.run("credit", *ACME, "--creator", "ben", "--program", "spring", "--amount", "7.00 USD", "--sale-at",
             "2024-01-01T00:00:00Z", *WHY)
    look()
    second = close(shop)
    assert [row["creator_id"] for row in second] == ["ann", "ben"]
    look()
    for payout in second:
        paid("settle", payout)
    paid("returned", second[1])
    (credit,) = [entry["command_id"] for entry in postings(shop) if entry["reason"] == "CREDIT"]
    command("reverse", credit, *WHY)
    command("attribute", "--shop", "shop-1", "--order", "o2", "--creator", "ben", "--program", "spring", "--replace",
            *WHY)
    command("detach", "--shop", "shop-1", "--order", "o1", *WHY)
    event("o3", code="BEN")
    assert len({json.dumps(rows) for _at, rows in seen}) >= 12
    zero = {"pending", "blocked", "payable", "in_payout", "paid", "total"}
    for at, rows in seen:
        then = shop.json(*balances, "--as-of", at)
        assert then == [row for row in rows if any(float(row[name]) for name in zero)], at
    later = (datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=15)).isoformat()
    assert {row["pending"] for row in shop.json(*balances, "--as-of", later)} == {"0.00"}
    assert "tell what was owed then" in shop.run("report", "orders", "--as-of", seen[3][0], status=1).err


PAYEES = "payee,name,iban,bic\nref-1,Ann & Co,DE89370400440532013000,COBADEFFXXX\n"
DEBTOR = "name,iban\nAcme,GB82WEST12345698765432\n"


def export(shop, name, form, *more):
    out = shop.folder / f"out.{form}"
    line = ["payout", "export", *([name] if name else []), *ACME, "--form", form, "--payees",
            shop.file("payees.csv", PAYEES), "--debtor", shop.file("debtor.csv", DEBTOR), "--out", out, *more]
    return line, out


def states(shop):
    """The states of all payouts, by their ids: two closes within a second have ids in a random order."""
    return {row["payout_id"]: row["state"] for row in shop.json("payout", "list", *ACME)}


def test_the_file_for_the_bank(sold):
    """P6, K2: sent, then written; the same message again is the same bytes, whatever the options say."""
    (payout,) = close(sold)
    line, out = export(sold, payout["payout_id"], "csv")
    assert "has no payee" in sold.run(*line, status=1).err
    sold.run("creator", "set", "ann", *ACME, "--payee", "ref-1")
    assert "it was closed for payee (none)" in sold.run(*line, status=1).err
    sold.run("payout", "void", payout["payout_id"], *ACME, *WHY)
    (payout,) = close(sold)
    name = payout["payout_id"]
    line, out = export(sold, name, "csv")
    message = sold.run(*line).out.split()[1].rstrip(",")
    (row,) = csv.DictReader(out.read_text().splitlines())
    assert row == {"message_id": message, "payout_id": name, "creator_id": "ann", "payee": "ref-1", "name": "Ann & Co",
                   "iban": "DE89370400440532013000", "bic": "COBADEFFXXX", "currency": "USD", "amount": "16.00"}
    assert states(sold)[name] == "SENT"
    assert "--again" in sold.run(*line, status=1).err
    first = out.read_bytes()
    out.unlink()
    line, _ = export(sold, None, "csv", "--again", message)
    sold.run(*line)
    assert out.read_bytes() == first
    line, out = export(sold, None, "json", "--again", message)
    sold.run(*line)
    assert out.read_bytes() == first
    assert "has no exported message C1" in sold.run(*export(sold, None, "csv", "--again", "C1")[0], status=1).err


def test_an_export_that_is_repeated_with_its_key(sold):
    """K1, P6: the same message, written again; another key does not send twice."""
    sold.run("creator", "set", "ann", *ACME, "--payee", "ref-1")
    (payout,) = close(sold)
    line, out = export(sold, payout["payout_run"], "csv", "--key", "e-1")
    said = sold.run(*line).out
    assert "1 payout," in said
    first, journal = out.read_bytes(), sold.json("report", "journal", *ACME)
    out.unlink()
    assert sold.run(*line).out == said
    assert out.read_bytes() == first
    assert sold.json("report", "journal", *ACME) == journal
    sold.run("adjust", "--order", "o1", "--shop", "shop-1", "--amount", "1.00", *WHY, "--key", "a-1")
    for key, words in (("a-1", "key a-1 was used by"), ("e-2", "name it with --again")):
        assert words in sold.run(*export(sold, payout["payout_run"], "csv", "--key", key)[0], status=1).err


def test_pain_is_xml_that_a_parser_takes(shop):
    shop.send("o1", currency_code="EUR")
    shop.drain()
    shop.run("creator", "set", "ann", *ACME, "--payee", "ref-1")
    (payout,) = close(shop)
    line, out = export(shop, payout["payout_id"], "pain.001")
    shop.run(*line)
    root = xml.etree.ElementTree.parse(out).getroot()
    space = {"p": "urn:iso:std:iso:20022:tech:xsd:pain.001.001.09"}
    assert root.find(".//p:CdtTrfTxInf/p:PmtId/p:EndToEndId", space).text == payout["payout_id"]
    assert root.find(".//p:Cdtr/p:Nm", space).text == "Ann + Co"  # EPC217-08 has no ampersand
    assert root.find(".//p:GrpHdr/p:CtrlSum", space).text == "8.00"


def test_an_anomaly_blocks_until_it_is_acknowledged(sold):
    """H2."""
    late = orders.order("o1", platform_updated_at="2099-01-01T00:00:00Z",
                        discounts=[{"code": "SAVE", "type": "DISCOUNT_CODE", "value_type": "PERCENTAGE", "value": "10"}])
    assert sold.edge.post_event("shop-1", sold.secret, "ORDER_UPDATE", late).status == 200
    sold.drain()
    rows = {row["kind"]: row for row in sold.json("report", "anomalies")}
    assert rows["VERSION_IN_FUTURE"]["blocks"] and not rows["ORDERED_LONG_AGO"]["blocks"]
    order = ("--shop", "shop-1", "--order", "o1")
    sold.run("anomaly", "ack", *order, "--kind", "VERSION_IN_FUTURE", *WHY)
    assert sold.json("report", "orders")[0]["blocked_by"] == []
    sold.run("order", "reset", *order, *WHY)
    assert sold.json("report", "orders")[0]["last_updated_at"] < "2099"


def test_a_program_file_is_previewed_over_the_past(sold):
    """A4: the archive replayed under a changed file, in a folder of its own."""
    changed = sold.file("changed.toml", "[[program]]\nid = 'spring'\naccount = 'acme'\ndefault_rate = '20%'\n"
                        "late_days = 36500\n")
    preview = ("program", "preview", changed, *ACME, "--from", sold.store / "archive")
    before = sold.json("report", "journal", *ACME)
    (row,) = sold.json(*preview)
    assert row == {"program_id": "spring", "creator_id": "ann", "currency": "USD", "orders": 2, "before": "16.00",
                   "after": "32.00", "difference": "16.00"}
    (row,) = sold.json(*preview, "--ordered-from", "2024-05-01T00:00:00Z")
    assert (row["orders"], row["difference"]) == (1, "8.00")
    assert sold.json("report", "journal", *ACME) == before
    assert sold.json("program", "show", "spring")["default_rate"] == "10%"
    sold.run("program", "preview", changed, *ACME, "--from", sold.folder, status=1)
    sold.run("program", "preview", changed, "--account", "other", "--from", sold.store / "archive", status=1)
