"""Opening balances of an earlier system, and write-offs: exact, guarded, reversible, and the same after a rebuild."""
import pytest
from harness.edge import Edge
from program import sluice
from test_ledger import ACME, HTTP, Shop, postings, until_now

WHY = ("--reason", "as agreed")
AT = ("--at", "2026-01-01T00:00:00Z")
HEADER = "creator_id,program_id,currency,amount\n"
SECOND = "[[program]]\nid = 'summer'\naccount = 'acme'\ndefault_rate = '20%'\nlate_days = 36500\n"


@pytest.fixture
def shop(tmp_path):
    with Edge(HTTP, workers=1) as edge:
        made = Shop(edge.start(), tmp_path)
        made.run("program", "apply", made.file("s.toml", SECOND))
        made.run("creator", "import", made.file("c.csv", (
            "creator_id,program_id,code,payee\nann,spring,SAVE,ref-1\nann,summer,,\nben,spring,BEN,ref-2\n")))
        yield made


def opening(shop, rows, *more, at=AT, status=0):
    line = ("opening", "import", shop.file("o.csv", HEADER + rows), *ACME, *at, *WHY, *more)
    return sluice(*line, store=shop.store) if status == 1 else shop.run(*line, status=status)


def owed(shop, *more):
    return {
        (row["program_id"], row["creator_id"], row["currency"]): (row["pending"], row["payable"])
        for row in shop.json("report", "balances", *ACME, *more)
    }


def is_sound(shop):
    """The quick checks, and the archive applied into another ledger, row for row."""
    findings = [row for row in shop.doctor() if row["result"] == "problem" and row["check"] in ("ledger", "journal")]
    assert findings == []
    shop.run("doctor", "--replay")


def test_balances_are_posted_as_opening(shop):
    said = opening(shop, "ann,spring,EUR,120.50\nann,summer,USD,7.00\nben,spring,EUR,-30.00\n").out
    assert "3 opening balances imported" in said and "earn nothing in program spring, summer" in said
    assert owed(shop) == {
        ("spring", "ann", "EUR"): ("0.00", "120.50"), ("summer", "ann", "USD"): ("0.00", "7.00"),
        ("spring", "ben", "EUR"): ("0.00", "-30.00"),
    }
    entries = postings(shop)
    assert [(e["reason"], e["debit_account"], e["credit_account"], e["note"]) for e in entries] == [
        ("OPENING", "expense", "owed", "as agreed")] * 3
    ids = [e["command_id"] for e in entries]
    assert [i[-5:] for i in ids] == ["-0001", "-0002", "-0003"] and len({i[:20] for i in ids}) == 1
    assert ids[0][:20] in said, "the command's id, which `reverse` takes"
    listed = shop.json("opening", "list", *ACME)
    assert [(r["creator_id"], r["program_id"], r["amount"], r["command_id"]) for r in listed] == [
        ("ann", "spring", "120.50", ids[0]), ("ben", "spring", "-30.00", ids[2]), ("ann", "summer", "7.00", ids[1])]
    (paid,) = [p for p in shop.json("payout", "close", *ACME, *until_now())["payouts"] if p["currency"] == "EUR"]
    assert (paid["creator_id"], paid["amount"], paid["orders"], paid["items"]) == ("ann", "120.50", 0, 1)
    is_sound(shop)


def test_a_statement_and_the_trial_balance_show_them(shop):
    opening(shop, "ann,spring,EUR,120.50\n")
    month = until_now()[1][:7]
    statement = shop.json("report", "statement", *ACME, "--creator", "ann", "--month", month)
    assert [(r["reason"], r["amount"]) for r in statement["rows"]] == [("OPENING", "120.50")]
    assert [(s["opening"], s["adjusted"], s["closing"]) for s in statement["sums"]] == [("0.00", "120.50", "120.50")]
    table = shop.json("report", "trial-balance", *ACME, "--month", month)
    assert {row["ledger_account"]: row["closing"] for row in table if row["program_id"] == "spring"}["owed"] == "-120.50"
    exported = shop.run("export", "journal", "--form", "hledger", *ACME).out
    assert "OPENING" in exported
    shown = shop.run("report", "statement", *ACME, "--creator", "ann", "--month", month, "--format", "csv").out.splitlines()
    assert [line.split(",")[4] for line in shown[1:]] == ["PERIOD_OPENING", "OPENING", "PERIOD_CLOSING"]
    assert [line.split(",")[11] for line in shown[1:]] == ["0.00", "", "0.00"], "a row with `opening` is no posting"


def test_orders_from_before_the_date_earn_nothing(shop):
    opening(shop, "ann,spring,EUR,10.00\n")
    before, after = "2025-12-31T23:59:59Z", "2026-01-01T00:00:00Z"
    shop.send("o1", currency_code="EUR", platform_ordered_at=before, platform_updated_at=before)
    shop.send("o2", currency_code="EUR", platform_ordered_at=after, platform_updated_at=after)
    shop.drain()
    assert {row["order_id"]: (row["creator_id"], row["commission_amount"]) for row in shop.json("report", "orders")} == {
        "o1": (None, "0.00"), "o2": ("ann", "8.00")}
    assert "ordered before the program's opening balances of 2026-01-01T00:00:00Z" in shop.run(
        "explain", "--shop", "shop-1", "o1").out
    by_hand = ("attribute", "--shop", "shop-1", "--order", "o1", "--creator", "ann", "--program", "spring", *WHY)
    assert "o1 of 2025-12-31T23:59:59Z earns nothing" in shop.run(*by_hand, status=1).err
    (balance,) = shop.json("opening", "list", *ACME)
    shop.run("reverse", balance["command_id"], *WHY)
    assert shop.json("opening", "list", *ACME) == []
    assert [row["creator_id"] for row in shop.json("report", "orders")] == ["ann", "ann"], "what waited is tried again"
    is_sound(shop)


def test_orders_from_before_the_date_are_credited_by_hand(shop):
    """The remedy was `use sluice credit`, which refuses an order that exists."""
    opening(shop, "ann,spring,EUR,10.00\n")
    before = "2025-12-31T23:59:59Z"
    shop.send("o1", currency_code="EUR", platform_ordered_at=before, platform_updated_at=before)
    shop.drain()
    to = ("--creator", "ann", "--program", "spring", *WHY)
    said = shop.run("attribute", "--shop", "shop-1", "--order", "o1", *to, status=1).err
    assert "use `sluice credit`, without --order" in said
    shop.run("credit", *ACME, *to, "--amount", "8.00 EUR")
    is_sound(shop)


def test_a_file_is_imported_whole_or_not_at_all(shop):
    opening(shop, "ann,spring,EUR,10.00\n")
    journal = shop.json("report", "journal", *ACME)
    wrong = "ann,spring,EUR,1.00\nnobody,spring,EUR,1.00\nben,autumn,EUR,1.00\nben,spring,EUR,2.00\nben,spring,EUR,3.00\n"
    said = opening(shop, wrong, status=1).err.splitlines()
    assert [line.split("o.csv:")[1].split(":")[0] for line in said] == ["2", "3", "4", "6"]
    for line, words in zip(said, (
            "has an opening balance in program spring and EUR already", "creator nobody was never in program spring",
            "account acme has no program autumn", "are those of line 5")):
        assert words in line
    said = opening(shop, "a b,spring,EUR,1\nann,spring,EURO,1\nann,spring,EUR,x\nann,spring,EUR,0\nann,spring,EUR,0.001\n",
                   status=1).err.splitlines()
    assert [line.split("o.csv:")[1].split(":")[:2] for line in said] == [
        ["2", " creator_id"], ["3", " currency"], ["4", " amount"], ["5", " amount"], ["6", " amount"]]

    assert "is in the future" in opening(shop, "ben,spring,EUR,1.00\n", at=("--at", "2099-01-01T00:00:00Z"), status=1).err
    assert "expected the same date" in opening(
        shop, "ben,spring,EUR,1.00\n", at=("--at", "2026-02-01T00:00:00Z"), status=1).err
    assert shop.json("report", "journal", *ACME) == journal


def test_the_same_key_twice_changes_nothing(shop):
    first = opening(shop, "ann,spring,EUR,10.00\n", "--key", "k-1").out
    assert opening(shop, "ann,spring,EUR,10.00\n", "--key", "k-1").out == first
    assert "with other content" in opening(shop, "ann,spring,EUR,11.00\n", "--key", "k-1", status=1).err
    assert len(postings(shop)) == 1


def test_unpaid_commission_from_before_the_date_is_not_owed_twice(shop):
    shop.send("o1", currency_code="EUR", platform_ordered_at="2025-12-01T00:00:00Z", platform_updated_at="2025-12-01T00:00:00Z")
    shop.drain()
    said = opening(shop, "ann,spring,EUR,10.00\n", status=1).err
    assert "o.csv:2: program spring has commission of 1 order from before 2026-01-01T00:00:00Z" in said
    shop.run("detach", "--shop", "shop-1", "--order", "o1", *WHY)
    opening(shop, "ann,spring,EUR,10.00\n")
    assert "order o1 finds no creator" in shop.run("detach", "--shop", "shop-1", "--order", "o1", "--retry", *WHY).out


def test_an_import_is_reversed_as_a_whole(shop):
    opening(shop, "ann,spring,EUR,10.00\nben,spring,EUR,5.00\nann,summer,USD,1.00\n")
    command = postings(shop)[0]["command_id"][:20]
    shop.run("reverse", command + "-0002", *WHY)
    assert "2 opening balances of " + command + " reversed" in shop.run("reverse", command, *WHY).out
    assert "was reversed before" in shop.run("reverse", command, *ACME, *WHY, status=1).err
    assert set(owed(shop).values()) == {("0.00", "0.00")}
    opening(shop, "ann,spring,EUR,12.00\n", at=("--at", "2026-02-01T00:00:00Z"))
    is_sound(shop)


# Write-offs -------------------------------------------------------------------------------------------------


@pytest.fixture
def owing(shop):
    """ann was paid 8.00 EUR for an order that is gone, and owes it."""
    shop.send("o1", currency_code="EUR")
    shop.drain()
    payouts = [p["payout_id"] for p in shop.json("payout", "close", *ACME, *until_now())["payouts"]]
    shop.run("payout", "settle", *payouts, *ACME, *WHY)
    shop.run("detach", "--shop", "shop-1", "--order", "o1", *WHY)
    assert owed(shop)[("spring", "ann", "EUR")] == ("0.00", "-8.00")
    return shop


def write_off(shop, *more, status=0):
    return shop.run("write-off", *ACME, "--creator", "ann", "--program", "spring", *WHY, *more, status=status)


def test_a_balance_below_zero_is_written_off(owing):
    (row,) = owing.json("report", "balances", *ACME, "--negative")
    assert row["total"] == "0.00" and row["days"] == 0
    write_off(owing, "--amount", "3.00 EUR")
    assert owed(owing)[("spring", "ann", "EUR")] == ("0.00", "-5.00")
    assert "5.00 EUR of creator ann written off as C" in write_off(owing).out
    assert owing.json("report", "balances", *ACME, "--negative") == []
    assert [(e["reason"], e["amount"]) for e in postings(owing)][-2:] == [("WRITE_OFF", "3.00"), ("WRITE_OFF", "5.00")]
    assert owing.json("payout", "close", *ACME, *until_now())["payouts"] == []
    owing.send("o2", currency_code="EUR")
    owing.drain()
    (payout,) = owing.json("payout", "close", *ACME, *until_now())["payouts"]
    assert payout["amount"] == "8.00", "what was written off is not netted any more"
    is_sound(owing)


def test_a_write_off_is_reversed(owing):
    write_off(owing)
    command = postings(owing)[-1]["command_id"]
    owing.run("reverse", command, *WHY)
    assert owed(owing)[("spring", "ann", "EUR")] == ("0.00", "-8.00")
    assert "was reversed by" in owing.run("reverse", command, *WHY, status=1).err
    is_sound(owing)


def test_a_write_off_is_at_most_the_balance(owing):
    assert "up to 8.00" in write_off(owing, "--amount", "8.01 EUR", status=1).err
    assert "only a balance below 0" in write_off(owing, "--amount", "1.00 USD", status=1).err
    assert "has no balance below 0 in program spring and USD" in write_off(owing, "--currency", "USD", status=1).err
    assert "expected an amount above 0" in write_off(owing, "--amount", "-1.00 EUR", status=2).err
    assert "digits" in write_off(owing, "--amount", "0.001 EUR", status=1).err
    write_off(owing)
    assert "has no balance below 0" in write_off(owing, status=1).err


def test_a_write_off_clears_no_earlier_than_the_negative_amount(shop):
    """The negative amount has not cleared yet, so the write-off has not either."""
    shop.run("program", "apply", shop.file("h.toml", (
        "[[program]]\nid = 'spring'\naccount = 'acme'\ndefault_rate = '10%'\nlate_days = 36500\nclearing_days = 36500\n")))
    shop.send("o1", currency_code="EUR")
    shop.drain()
    shop.run("adjust", "--shop", "shop-1", "--order", "o1", "--amount", "-20.00", *WHY)
    assert owed(shop)[("spring", "ann", "EUR")] == ("-12.00", "0.00")
    write_off(shop)
    assert owed(shop)[("spring", "ann", "EUR")] == ("0.00", "0.00")
    assert shop.json("payout", "close", *ACME, *until_now())["payouts"] == []
