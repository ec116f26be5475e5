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
