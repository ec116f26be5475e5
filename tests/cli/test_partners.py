"""The cases of docs/partners.md, played with its commands."""

import re

import pytest
from harness import orders, paths, remedies
from harness.edge import Edge
from harness.fake_time import FakeTime
from serve import scene
from serve.live import served_shop
from test_ledger import ACME, HTTP, Shop, until_now

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


def section_of(title):
    return PAGE.split(f"\n## {title}\n", 1)[1].split("\n## ", 1)[0]


def rule_of(title):
    """The rule that a section of the page shows."""
    return section_of(title).split("```toml\n", 1)[1].split("```", 1)[0]


def commands_of(title):
    """The commands of a section, in blocks and within its lines, as the page has them."""
    section = section_of(title)
    blocks = "".join(re.findall(r"```sh\n(.*?)```", section, re.S)).splitlines()
    return blocks + [text.replace("\n", " ") for text in re.findall(r"`(sluice [^`]+)`", re.sub(r"```.*?```", "", section, flags=re.S))]


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


def test_a_program_file_is_previewed_before_it_changes_an_amount(shop):
    """The page named `program preview` without its account and archive."""
    apply(shop)
    assert sell(shop, "friday", at="2026-11-27T00:00:00Z") == ("ann", "10.00")
    sell(shop, "waiting", at="2026-11-27T00:00:00Z", code="DORA10")
    rules = rule_of("Black Friday") + '\n[[program]]\nid = "summer"\naccount = "acme"\ndefault_rate = "5%"\nlate_days = 36500\n'
    shop.file("programs.toml", PROGRAM + rules)
    commands = re.findall(r"`(sluice [^`]+)`", PAGE.split("\n## ", 1)[0].replace("\n", " "))
    dry, preview = (remedies.shell(command.replace("/var/lib/sluice", str(shop.store)), shop.store, FILE=shop.folder / "programs.toml")
                    for command in commands)
    assert "dry run, nothing was changed" in dry and "no change to any order's commission" in dry
    assert re.search(r"spring +ann +USD +1 +10\.00 +20\.00 +10\.00", preview), preview
    assert "x2" not in str(shop.json("program", "list"))


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


def test_a_bonus_for_one_creator(shop):
    apply(shop)
    credit, reverse, *_ = commands_of("A bonus for one creator")
    (posted,) = re.findall(r" as (C\S+)", remedies.shell(credit, shop.store))
    shop.drain()
    assert [row["payable"] for row in shop.json("report", "balances", *ACME)] == ["25.00"]
    remedies.shell(reverse, shop.store, ID=posted)
    shop.drain()
    assert [row["total"] for row in shop.json("report", "balances", *ACME)] in ([], ["0.00"])


def test_a_rate_for_one_creator(shop):
    rule, gift = rule_of("A rate for one creator"), rule_of("Gift cards")
    apply(shop)
    assert sell(shop, "earlier") == ("ann", "10.00")
    apply(shop, "\n", rule, "\n", gift)
    assert sell(shop, "later") == ("ann", "15.00") and sell(shop, "card", "GIFT-10") == ("ann", "0.00")
    apply(shop, "\n", rule.replace('creator = "ann"', 'group = "gold"'))
    assert sell(shop, "outside") == ("ann", "10.00")
    remedies.shell(commands_of("A rate for one creator")[0], shop.store)
    shop.drain()
    assert sell(shop, "within") == ("ann", "15.00")


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


def test_gift_cards(shop):
    apply(shop, rule_of("Gift cards"), '\n[[program.rule]]\nmatch = "sku"\nvalue = "GIFT-BOX"\nrate = "7%"\n')
    assert sell(shop, "card", "GIFT-50") == ("ann", "0.00")
    assert sell(shop, "box", "GIFT-BOX") == ("ann", "7.00") and sell(shop, "lower", "gift-50") == ("ann", "10.00")
    file = shop.file("tag.toml", PROGRAM + '[[program.rule]]\nmatch = "tag"\nvalue = "gift-card"\nrate = "0%"\n')
    assert "no product of its shops is known, so a rule by tag cannot match" in shop.run("program", "apply", file).err
    assert sell(shop, "unknown", "GIFT-51") == ("ann", "10.00"), "the next rule counts"
    for command in commands_of("Gift cards"):
        remedies.shell(command, shop.store)


def test_patterns_of_skus(shop):
    patterns = re.findall(r"`([^`]*\*[^`]*)`", section_of("Many SKUs with one rate").replace("`*` stands", "stands"))
    assert patterns == ["MUG-*", "*-XL", "A*-2026"]
    rules = "".join(f'[[program.rule]]\nmatch = "sku_pattern"\nvalue = "{pattern}"\nrate = "{rate}%"\n' for rate, pattern in enumerate(patterns, 1))
    apply(shop, rules, '[[program.rule]]\nmatch = "sku"\nvalue = "MUG-RED"\nrate = "7%"\n')
    earned = {"MUG-BLUE": "1.00", "TEE-XL": "2.00", "ABC-2026": "3.00", "MUG-XL": "1.00", "MUG-RED": "7.00", "mug-blue": "10.00", "ABC-2025": "10.00"}
    assert {sku: sell(shop, sku, sku)[1] for sku in earned} == earned


def test_new_creators_in_the_middle_of_a_month(shop):
    apply(shop)
    lines = PAGE.split("```csv\n", 1)[1].split("```", 1)[0]
    assert sell(shop, "before", at="2026-11-14T23:59:59Z", code="dora10") == (None, "0.00")
    assert sell(shop, "after", at="2026-11-15T00:00:00Z", code="dora10") == (None, "0.00")
    file = shop.file("creators.csv", lines)
    (row,) = shop.json("creator", "import", file, "--dry-run")
    assert (row["creator_id"], row["orders"], row["difference"]) == ("dora", 1, "10.00")
    shop.run("creator", "import", file)
    shop.drain()
    found = {row["order_id"]: row["creator_id"] for row in shop.json("report", "orders", *ACME)}
    assert (found["before"], found["after"]) == (None, "dora")


def test_a_leaked_code(shop):
    apply(shop)
    shop.run("creator", "import", shop.file("anna.csv", "creator_id,program_id,code\nann,spring,ANNA10\n"))
    for name, at in (("early", "01"), ("8862", "02"), ("leaked", "21")):
        assert sell(shop, name, at=f"2026-11-{at}T00:00:00Z", code="ANNA10") == ("ann", "10.00")
    remove, dry, detach, one = commands_of("A leaked code")
    said = remedies.shell(f"{remove} 2>&1", shop.store)
    assert "sluice detach --code ANNA10 --from 2026-11-20T00:00:00Z" in said and "1 order" in said
    assert sell(shop, "later", at="2026-11-22T00:00:00Z", code="ANNA10") == (None, "0.00")
    assert "-10.00" in remedies.shell(dry, shop.store)

    def found():
        return {row["order_id"]: (row["creator_id"], row["status"]) for row in shop.json("report", "orders", *ACME)}

    assert found()["leaked"][0] == "ann", "a dry run changes nothing"
    shop.run("payout", "close", *ACME, *until_now())
    remedies.shell(detach, shop.store)
    assert found()["early"][0] == "ann" and found()["leaked"] == (None, "detached") and found()["later"] == (None, "waiting")
    remedies.shell(one, shop.store)
    assert found()["8862"] == (None, "detached")
    (ann,) = [row for row in shop.json("report", "balances", *ACME) if row["creator_id"] == "ann"]
    assert ann["payable"] == "-20.00", "the next close deducts what was paid"


def test_a_creator_leaves(shop):
    """`--at` without a code, as the page had it, is refused."""
    apply(shop)
    shop.run("creator", "import", shop.file("anna.csv", "creator_id,program_id,code\nann,spring,ANNA10\n"))
    assert sell(shop, "before", code="ANNA10") == ("ann", "10.00")
    end, remove, hold = commands_of("A creator leaves")
    remedies.shell(end, shop.store)
    assert sell(shop, "after", at="2026-12-01T00:00:00Z", code="ANNA10") == (None, "0.00")
    assert sell(shop, "late", at="2026-11-30T23:59:59Z", code="ANNA10") == ("ann", "10.00")
    remedies.shell(remove, shop.store)
    assert sell(shop, "too late", at="2026-11-30T23:59:59Z", code="ANNA10") == (None, "0.00")

    def preview():
        """Both orders before the end are payable, because 1 December 2026 is past."""
        found = shop.json("payout", "preview", *ACME, *until_now())
        return [(row["creator_id"], row["amount"]) for row in found["payouts"]], [row["skip_reason"] for row in found["skipped"]]

    assert preview() == ([("ann", "20.00")], [])
    remedies.shell(hold, shop.store)
    assert preview() == ([], ["HELD"])
    remedies.shell(hold.replace("sluice hold", "sluice release"), shop.store)
    assert preview() == ([("ann", "20.00")], [])


def test_an_invoice_for_a_creator(tmp_path):
    (command,) = commands_of("An invoice for a creator")
    clock = FakeTime()
    clock.set("2026-11-10T09:00:00Z")
    sold = {"platform_ordered_at": "2026-11-09T10:00:00Z", "platform_updated_at": "2026-11-09T10:00:00Z"}
    with served_shop(tmp_path, clock) as live:
        sluice = live.edge.sluice
        live.send("ORDER_CREATE", scene.order("o1", "SAVE", **sold))
        sluice("adjust", "--shop", "shop-1", "--order", "o1", "--amount", "1.25", *WHY)
        clock.set("2026-11-20T09:00:00Z")
        sluice("payout", "close", *ACME, "--until", "2026-11-20T09:00:00Z")
        live.send("ORDER_CREATE", scene.order("o2", "SAVE", **sold))
        clock.set("2026-12-01T09:00:00Z")
        sluice("period", "close", *ACME, "--until", "2026-12-01T00:00:00Z")

        def statement():
            return sluice.json(*command.split()[1:])

        before = statement()
        (sums,) = before["sums"]
        assert [sums[name] for name in ("opening", "earned", "adjusted", "paid_out", "closing")] == ["0.00", "16.00", "1.25", "9.25", "8.00"], sums
        live.send("ORDER_UPDATE", scene.order("o1", "SAVE", **{**sold, "platform_updated_at": "2026-11-30T10:00:00Z"}, refund_line_items=[
            orders.refund("r1", amount="25.00", tax="5.00", platform_refunded_at="2026-11-30T10:00:00Z")]))
        assert statement() == before, "the refund is of December"
    clock.folder.cleanup()


PLAYED = {
    "Black Friday": test_black_friday,
    "A bonus for the whole month": test_a_bonus_for_the_whole_month,
    "A bonus for one creator": test_a_bonus_for_one_creator,
    "A rate for one creator": test_a_rate_for_one_creator,
    "New creators in the middle of a month": test_new_creators_in_the_middle_of_a_month,
    "A leaked code": test_a_leaked_code,
    "A creator leaves": test_a_creator_leaves,
    "Gift cards": test_gift_cards,
    "Many SKUs with one rate": test_patterns_of_skus,
    "An invoice for a creator": test_an_invoice_for_a_creator,
}


def test_every_section_is_played():
    assert re.findall(r"(?m)^## (.*)$", PAGE) == list(PLAYED)
