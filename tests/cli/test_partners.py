"""The cases of docs/partners.md, played with its commands."""

import pytest
from harness import orders, paths
from harness.edge import Edge
from test_ledger import ACME, HTTP, Shop

PAGE = (paths.ROOT / "docs" / "partners.md").read_text()
PROGRAM = """
[[program]]
id = "spring"
account = "acme"
default_rate = "10%"
late_days = 36500
"""
WHY = ("--reason", "as agreed")


@pytest.fixture
def shop(tmp_path):
    with Edge(HTTP, workers=1) as edge:
        yield Shop(edge.start(), tmp_path)


def rule_of(title):
    """The rule that a section of the page shows."""
    section = PAGE.split(f"\n## {title}\n", 1)[1].split("\n## ", 1)[0]
    return section.split("```toml\n", 1)[1].split("```", 1)[0]


def sell(shop, name, sku="MUG", at="2024-05-01T00:00:00Z", code="SAVE"):
    shop.send(name, code, platform_ordered_at=at, platform_updated_at=at, line_items=[orders.line(amount="100.00", tax="0.00", sku=sku)])
    shop.drain()
    (row,) = [row for row in shop.json("report", "orders", *ACME) if row["order_id"] == name]
    return row["creator_id"], row["commission_amount"]


def apply(shop, *rules, policy="", status=0):
    return shop.run("program", "apply", shop.file("programs.toml", policy + PROGRAM + "".join(rules)), status=status)


def test_black_friday(shop):
    apply(shop, rule_of("Black Friday"), '\n[[program.rule]]\nmatch = "sku"\nvalue = "GIFTCARD"\nrate = "x1"\n',
          '\n[[program.rule]]\nmatch = "sku"\nvalue = "TEA"\nrate = "5%"\n')
    friday, sunday, monday = "2026-11-27T00:00:00Z", "2026-11-29T23:59:59Z", "2026-11-30T00:00:00Z"
    assert sell(shop, "thursday", at="2026-11-26T23:59:59Z") == ("ann", "10.00")
    assert sell(shop, "friday", at=friday) == ("ann", "20.00") and sell(shop, "sunday", at=sunday) == ("ann", "20.00")
    assert sell(shop, "tea", "TEA", at=friday) == ("ann", "10.00") and sell(shop, "card", "GIFTCARD", at=friday) == ("ann", "10.00")
    assert sell(shop, "monday", at=monday) == ("ann", "10.00")
    said = shop.run("explain", "friday", "--shop", "shop-1").out
    assert "default rate of spring, version" in said and "; 10% x2 for orders from 2026-11-27T00:00:00Z, orders until 2026-11-30T00:00:00Z" in said
    apply(shop)
    shop.drain()
    assert [row["commission_amount"] for row in shop.json("report", "orders", *ACME) if row["order_id"] == "friday"] == ["20.00"]


def test_a_bonus_for_the_whole_month(shop):
    lines = rule_of("A bonus for the whole month")
    shop.run("program", "apply", shop.file("month.toml", PROGRAM.replace('default_rate = "10%"\n', lines)))
    (program,) = shop.json("program", "list")
    assert (program["tiers_apply"], program["default_rate"]) == ("month", "10%")

    def rows():
        return {row["order_id"]: row["commission_amount"] for row in shop.json("report", "orders", *ACME)}

    def send(name, amount, day, refunded=None, version="01"):
        at = f"2024-05-{day}T00:00:00Z"
        refunds = [orders.refund(f"{name}-r", amount=refunded, tax="0")] if refunded else []
        shop.send(name, "SAVE", platform_ordered_at=at, platform_updated_at=f"2024-06-{version}T00:00:00Z",
                  line_items=[orders.line(amount=amount, tax="0.00")], refund_line_items=refunds)
        shop.drain()

    send("first", "600.00", "03")
    assert rows() == {"first": "60.00"}
    send("second", "500.00", "04")
    assert rows() == {"first": "72.00", "second": "60.00"}
    said = shop.run("explain", "first", "--shop", "shop-1").out
    assert "tier from 1000.00 USD, volume of the month 1100.00 USD" in said
    assert "+12.00 USD TIER" in said and "volume 1100.00 USD in 2024-05" in said
    send("second", "500.00", "04", refunded="200.00", version="02")
    assert rows() == {"first": "60.00", "second": "30.00"}
    assert "below the first tier, volume of the month 900.00 USD" in shop.run("explain", "first", "--shop", "shop-1").out
    posted = [(row["order_id"], row["amount"]) for row in shop.json("report", "journal", *ACME) if row["reason"] == "TIER"]
    assert posted == [("first", "12.00"), ("first", "-12.00"), ("second", "-6.00")]
    shop.run("period", "close", *ACME, "--until", "2024-06-01T00:00:00Z")
    send("third", "500.00", "05")
    assert rows() == {"first": "60.00", "second": "30.00", "third": "60.00"}  # May is closed: no other order changes
    assert shop.run("doctor", "--replay").out.endswith("rows are equal\n")


def test_tiers_of_the_month_need_one_kind_of_rate(shop):
    wrong = PROGRAM + 'tiers_apply = "month"\ndefault_tiers = [{ from = "1.00 USD", rate = "1.00 USD" }]\n'
    assert "expected rates of one kind and currency" in shop.run("program", "apply", shop.file("w.toml", wrong), status=1).err
    assert 'expected "order" or "month"' in shop.run(
        "program", "apply", shop.file("w.toml", PROGRAM + 'tiers_apply = "week"\n'), status=1).err


def test_the_highest_rate_limits_a_factor(shop):
    policy = "[[policy]]\naccount = 'acme'\nmax_rate = '15%'\n"
    said = apply(shop, rule_of("Black Friday"), policy=policy, status=1).err
    assert "rate: x2 of 10% in line" in said and "is above the account's max_rate; expected at most 15%" in said
    for rule, words in (("match = 'sku'\nvalue = 'A'\nrate = 'x0'", "a factor above 0"), ("match = 'sku_pattern'\nvalue = 'A'\nrate = '1%'", "such as MUG-*"),
                        ("creator = 'ann'\nrate = 'x2'\ntiers = [{ from = '1.00 USD', rate = '1%' }]", "beside a factor")):
        assert words in apply(shop, f"\n[[program.rule]]\n{rule}\n", status=1).err


def test_gift_cards_and_patterns(shop):
    apply(shop, rule_of("Gift cards"), '\n[[program.rule]]\nmatch = "sku"\nvalue = "GIFT-BOX"\nrate = "7%"\n')
    assert sell(shop, "card", "GIFT-50") == ("ann", "0.00")
    assert sell(shop, "box", "GIFT-BOX") == ("ann", "7.00") and sell(shop, "lower", "gift-50") == ("ann", "10.00")


def test_a_creator_of_the_middle_of_a_month_gets_orders_from_then_on(shop):
    apply(shop)
    lines = PAGE.split("```csv\n", 1)[1].split("```", 1)[0]
    assert sell(shop, "before", at="2026-11-14T23:59:59Z", code="dora10") == (None, "0.00")
    assert sell(shop, "after", at="2026-11-15T00:00:00Z", code="dora10") == (None, "0.00")
    shop.run("creator", "import", shop.file("creators.csv", lines))
    shop.drain()
    found = {row["order_id"]: row["creator_id"] for row in shop.json("report", "orders", *ACME)}
    assert (found["before"], found["after"]) == (None, "dora")


def test_a_leaked_code_is_detached_and_a_removed_creator_keeps_the_rest(shop):
    apply(shop)
    assert sell(shop, "early", at="2026-11-01T00:00:00Z") == sell(shop, "leaked", at="2026-11-21T00:00:00Z") == ("ann", "10.00")
    since = "2026-11-20T00:00:00Z"
    said = shop.run("creator", "remove", "ann", "--program", "spring", "--code", "SAVE", "--at", since, *WHY)
    assert f"sluice detach --code SAVE --from {since}" in said.out + said.err
    assert sell(shop, "later", at="2026-11-22T00:00:00Z") == (None, "0.00")
    detach = ("detach", "--code", "SAVE", "--from", since, *WHY)
    shop.run(*detach, "--dry-run")
    shop.run(*detach)
    found = {row["order_id"]: (row["creator_id"], row["status"]) for row in shop.json("report", "orders", *ACME)}
    assert found["early"][0] == "ann" and found["leaked"] == (None, "detached") and found["later"] == (None, "waiting")
    shop.run("creator", "remove", "ann", "--program", "spring", *WHY)
    assert [row["total"] for row in shop.json("report", "balances", *ACME) if row["creator_id"] == "ann"] == ["10.00"]
