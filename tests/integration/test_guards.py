"""Ways past the limits that no verb names (rule K13): a command is judged by what it would change. Each was played on a
running system when nobody was asked; on both ledgers, with the real commands, by several people."""
import datetime

from harness import orders
from harness.cli import Sluice
from harness.edge import Edge
from harness.fake_time import FakeTime
from harness.http_block import EVENTS, http_block
from harness.office import ACME, EVE, PAYEES, PROGRAM, WHY, database, filled, office, open_office  # noqa: F401
from test_controls import adjust
from test_signed_approvals import Key

SALE = ("--sale-at", "2024-01-01T00:00:00Z")


def creators(office, text, *more, header="creator_id,program_id,code,payee"):
    return office.eve.run("creator", "import", office.file("more.csv", f"{header}\n{text}"), *more, *WHY)


def credit(office, creator, amount):
    return office.eve.run("credit", *ACME, "--creator", creator, "--program", "spring", "--amount", f"{amount} USD", *SALE, *WHY)


def send(office, topic, document):
    _, secret = Sluice(office.store).token("acme", "write_orders")
    with Edge(http_block(EVENTS, limit="off", map_size="64m"), store=office.store) as edge:
        edge.start()
        assert edge.post_event("shop-1", secret, topic, document).status == 200
    office.finish()


def owners(office):
    return {row["order_id"]: row["creator_id"] for row in office.eve.json("report", "orders") if row["creator_id"]}


def waits(office, done, why):
    """It waits, and says which setting asks. Returns its id."""
    assert done.returncode == 3 and why in done.stdout + done.stderr, done
    return office.pending()[-1]


# Clocks and sums ---------------------------------------------------------------------------------------------------------


def test_k13_a_clock_that_runs_back_hides_no_adjustment(office):
    """Six of 49 under a limit of 50, each a second before the last."""
    office.allow("approve_adjust_above = ['50.00 USD']\n")
    clock = FakeTime()
    office.eve.environment.update(clock.environment)
    start = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(minutes=10)
    done = []
    for number in range(6):  # a command takes some of the second that the clock goes back by
        clock.set((start - number * datetime.timedelta(seconds=10)).isoformat())
        done.append(adjust(office, "49.00").returncode)
    assert done == [0, 3, 3, 3, 3, 3]
    assert [row["amount"] for row in office.memos("MANUAL")] == ["49.00"]


def test_k13_creators_of_one_payee_are_one(office):
    """Eight new creators, each below the limit, and one bank account."""
    office.allow("approve_adjust_above = ['50.00 USD']\napprove_payout_above = ['20.00 USD']\n")
    names = [f"new{number}" for number in range(8)]
    assert creators(office, "".join(f"{name},spring,,ref-eve\n" for name in names)).returncode == 0
    assert [credit(office, name, "10.00").returncode for name in names] == [0] * 5 + [3] * 3
    assert "payee of creator" in credit(office, names[7], "10.00").stderr
    assert {row["creator_id"]: row["state"] for row in office.close()} == {
        **{name: "CLOSED" for name in names[:5]}, "ann": "APPROVED", "bob": "APPROVED"}


def test_k13_a_payee_that_comes_after_the_money_asks(office):
    office.allow("approve_adjust_above = ['50.00 USD']\n")
    assert creators(office, "cy,spring,,\ndi,spring,,\n").returncode == 0
    for name in ("cy", "di"):
        assert credit(office, name, "30.00").returncode == 0
    assert office.eve.run("creator", "set", "cy", *ACME, "--payee", "ref-eve", *WHY).returncode == 0
    waits(office, office.eve.run("creator", "set", "di", *ACME, "--payee", "ref-eve", *WHY), "60.00 USD of the payee")


def test_k13_a_run_that_is_closed_creator_by_creator_is_one(office):
    office.allow("approve_run_above = ['10.00 USD']\n")
    assert [row["state"] for row in office.close("--creator", "ann")] == ["APPROVED"]
    assert [row["state"] for row in office.close("--creator", "bob")] == ["CLOSED"], "8.00 and 8.00 within 24 hours"


# Imports and rates -------------------------------------------------------------------------------------------------------


def test_k13_an_import_that_attributes_earlier_orders_counts(office):
    office.allow("approve_attribution_above = ['5.00 USD']\n")
    name = waits(office, creators(office, "cyd,spring,NONE,ref-cyd\n"), "approve_attribution_above")
    assert "o3" not in owners(office), "nobody owns the code yet"
    shown = office.gina.json("approvals", "show", name, *ACME)
    assert [(row["creator_id"], row["difference"]) for row in shown["effect"]["creators"]] == [("cyd", "8.00")]
    office.gina.approve(name)
    assert owners(office)["o3"] == "cyd"
    assert office.is_sound()


def test_k13_an_import_that_attributes_little_counts_later(office):
    office.allow("approve_attribution_above = ['10.00 USD']\n")
    assert creators(office, "cyd,spring,NONE,ref-cyd\n").returncode == 0
    assert office.eve.run("detach", "--shop", "shop-1", "--order", "o3", *WHY).returncode == 3, "8.00 and 8.00"
    assert office.is_sound()


def test_k13_a_click_import_that_attributes_earlier_orders_counts(office):
    send(office, "ORDER_CREATE", orders.order("clicked", svc_anon_id="device-1"))
    office.allow("approve_attribution_above = ['5.00 USD']\n")
    clicks = office.file("clicks.csv", "svc_anon_id,creator_id,program_id,occurred_at\ndevice-1,bob,spring,2024-02-28T00:00:00Z\n")
    name = waits(office, office.eve.run("click", "import", clicks, *WHY), "approve_attribution_above")
    assert "clicked" not in owners(office)
    office.gina.approve(name)
    assert owners(office)["clicked"] == "bob"


def test_k13_a_program_that_attributes_earlier_orders_counts(office):
    """A program of another shop comes to cover the shop: no rate rises, and the orders have no owner yet."""
    office.eve("shop", "create", "shop-x", "--account", "acme")
    office.apply(PROGRAM.format(rate="10%").replace("spring", "summer") + "shops = ['shop-x']\n")
    assert creators(office, "cyd,summer,NONE,ref-cyd\n").returncode == 0
    office.allow("approve_attribution_above = ['5.00 USD']\n")
    waits(office, office.apply(PROGRAM.format(rate="10%").replace("spring", "summer") + "shops = ['shop-x', 'shop-1']\n"),
          "approve_attribution_above")
    assert "o3" not in owners(office)


def test_k13_a_rejected_order_that_is_released_counts(office):
    office.allow("approve_attribution_above = ['10.00 USD']\n")
    order = ("--shop", "shop-1", "--order", "o1")
    assert office.eve.run("reject", *order, *WHY).returncode == 0
    waits(office, office.eve.run("release", *order, *WHY), "approve_attribution_above")


def test_k13_a_group_is_a_rate(office):
    """10 % became 50 %."""
    rule = "[[program.rule]]\ngroup = 'vip'\nrate = '50%'\n"
    office.apply(PROGRAM.format(rate="10%") + rule)
    office.allow("approve_rates = true\n")
    name = waits(office, office.eve.run("creator", "set", "ann", *ACME, "--program", "spring", "--group", "vip", *WHY),
                 "approve_rates")
    waits(office, creators(office, "cyd,spring,vip\n", header="creator_id,program_id,group"), "approve_rates")
    assert office.eve.run("creator", "set", "ann", *ACME, "--program", "spring", "--group", "other", *WHY).returncode == 0
    office.gina.approve(name)


def test_k13_a_code_that_changes_hands_is_a_change_of_payee(office):
    office.allow("approve_payee_change = true\n")
    office.eve("creator", "remove", "ann", "--program", "spring", "--code", "SAVE", *WHY)
    waits(office, creators(office, "bob,spring,SAVE\n", header="creator_id,program_id,code"), "approve_payee_change")
    assert creators(office, "bob,spring,NEWCODE\n", header="creator_id,program_id,code").returncode == 0
    assert office.is_sound()


def test_k13_an_approver_sees_the_former_owner_and_group(office):
    """The fields of the command have the new creator and group only."""
    office.apply(PROGRAM.format(rate="10%") + "[[program.rule]]\ngroup = 'gold'\nrate = '50%'\n")
    office.allow("approve_rates = true\napprove_payee_change = true\n")
    office.eve("creator", "remove", "ann", "--program", "spring", "--code", "SAVE", *WHY)
    grouped = office.eve.run("creator", "set", "bob", *ACME, "--program", "spring", "--group", "gold", *WHY)
    waits(office, grouped, "approve_rates")
    waits(office, creators(office, "bob,spring,save\n", header="creator_id,program_id,code"), "approve_payee_change")
    found = [office.gina.json("approvals", "show", name, *ACME) for name in office.pending()]
    assert {shown["command"]: shown["differences"] for shown in found} == {
        "creator set": [{"field": "creator bob in spring.group", "before": '""', "after": "gold"}],
        "creator import": [{"field": "code save", "before": "ann in spring", "after": "bob in spring"}],
    }


# An approval is of what was shown -----------------------------------------------------------------------------------------


def test_k13_an_order_that_grew_after_its_attribution_was_shown_is_shown_again(office):
    """10.00 was shown, and 900.00 would have moved."""
    office.allow("approve_attribution_above = ['5.00 USD']\n")
    attribute = ("attribute", "--shop", "shop-1", "--creator", "bob", "--program", "spring", "--order", "o3", *WHY)
    name = waits(office, office.eve.run(*attribute), "approve_attribution_above")
    seen = office.gina.digest(name)
    assert office.gina.digest(name) == seen, "nothing changed"
    send(office, "ORDER_UPDATE", orders.order(
        "o3", amount="9000.00", line_items=[orders.line("l1", amount="9000.00", tax="0.00")],
        platform_updated_at="2024-05-01T00:00:00Z"))
    assert "changed since you saw it" in office.gina.refuses("approve", name, *ACME, "--expect", seen)
    assert "o3" not in owners(office)
    shown = office.gina.json("approvals", "show", name, *ACME)
    assert [row["difference"] for row in shown["effect"]["creators"]] == ["900.00"]
    office.gina("approve", name, *ACME, "--expect", shown["digest"])
    assert owners(office)["o3"] == "bob"
    assert office.is_sound()


def test_k13_a_month_that_grew_after_its_close_was_shown_is_shown_again(office):
    """A node that was cut off brings inputs of the month while the close waits."""
    office.allow("approve_period_close = true\n")
    clock, end = FakeTime(), datetime.datetime.now(datetime.timezone.utc).replace(day=28) + datetime.timedelta(days=4)
    end = end.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    for person in (office.eve, office.gina):
        person.environment.update(clock.environment)
    clock.set((end + datetime.timedelta(days=2)).isoformat())
    close = office.eve.run("period", "close", *ACME, "--until", end.isoformat())
    name = waits(office, close, "approve_period_close")
    seen = office.gina.digest(name)
    assert office.gina.digest(name) == seen, "nothing changed"
    clock.set((end - datetime.timedelta(hours=1)).isoformat())
    assert adjust(office, "5.00").returncode == 0
    clock.set((end + datetime.timedelta(days=3)).isoformat())
    assert "changed since you saw it" in office.gina.refuses("approve", name, *ACME, "--expect", seen)
    assert office.eve.json("period", "list", *ACME) == []
    office.gina("approve", name, *ACME, "--expect", office.gina.digest(name))
    assert office.is_sound()


def test_k13_a_signature_of_an_earlier_state_is_refused(office):
    key = Key(office.folder, "gina")
    policy = f"[[policy]]\naccount = 'acme'\napprovers = ['games {key.public}']\napprove_attribution_above = ['5.00 USD']\n"
    assert office.apply(policy).returncode == 0
    attribute = ("attribute", "--shop", "shop-1", "--creator", "bob", "--program", "spring", "--order", "o3", *WHY)
    name = waits(office, office.eve.run(*attribute), "approve_attribution_above")
    statement = office.file("old.txt", office.gina("approvals", "show", name, *ACME, "--statement"))
    old = key.sign(statement)
    send(office, "ORDER_UPDATE", orders.order(
        "o3", amount="9000.00", line_items=[orders.line("l1", amount="9000.00", tax="0.00")],
        platform_updated_at="2024-05-01T00:00:00Z"))
    assert "sign what" in office.gina.refuses("approve", name, *ACME, "--signature", old)
    statement = office.file("new.txt", office.gina("approvals", "show", name, *ACME, "--statement"))
    office.gina("approve", name, *ACME, "--signature", key.sign(statement))
    assert owners(office)["o3"] == "bob"


def test_k13_bank_accounts_are_approved_with_the_run(office):
    """The file was edited before the first export."""
    office.allow("approve_payees_file = true\n")
    run = office.close()[0]["payout_run"]
    assert "--payees" in office.gina.refuses("approve", run, *ACME, "--expect", office.gina.digest(run))
    named = ("--payees", office.payees)
    shown = office.gina.json("approvals", "show", run, *ACME, *named)
    assert [(row["payee"], row["name"], row["iban"]) for row in shown["effect"]["accounts"]] == [
        ("ref-ann", "Ann & Co", "DE89370400440532013000"), ("ref-bob", "Bob", "GB82WEST12345698765432")]
    office.payees.write_text(PAYEES.replace("DE89370400440532013000", "FR1420041010050500013M02606"))
    assert "changed since you saw it" in office.gina.refuses("approve", run, *ACME, *named, "--expect", shown["digest"])
    office.payees.write_text(PAYEES)
    office.gina("approve", run, *ACME, *named, "--expect", shown["digest"])
    office.payees.write_text(PAYEES.replace("DE89370400440532013000", "FR1420041010050500013M02606"))
    assert shown["payees_sha256"] in office.eve.refuses(*office.export(run))
    assert not office.out.exists()
    office.payees.write_text(PAYEES)
    office.eve(*office.export(run))
    assert office.paid_to() == ["ref-ann", "ref-bob"]
    assert office.is_sound()


# A person is a login or a key ------------------------------------------------------------------------------------------------


def test_k13_root_without_a_login_is_no_other_person(office):
    root = Sluice(office.store)
    assert root.run("approvals", *ACME).returncode == 0
    assert office.apply("[[policy]]\naccount = 'acme'\napprove_adjust_above = ['50.00 USD']\n").returncode == 0
    name = waits(office, adjust(office, "60.00"), "approve_adjust_above")
    digest = root.json("approvals", "show", name, *ACME)["digest"]
    assert "signature" in root.refuses("approve", name, *ACME, "--expect", digest)
    assert office.memos("MANUAL") == []
    office.gina("approve", name, *ACME, "--expect", digest)


def test_k13_a_signature_without_a_login_needs_a_requester_with_one(office):
    key = Key(office.folder, "gina")
    assert office.apply(f"[[policy]]\naccount = 'acme'\napprovers = ['games {key.public}']\napprove_adjust_above = ['50.00 USD']\n"
                        ).returncode == 0
    root = Sluice(office.store)
    for asks, is_approved in ((office.eve, True), (root, False)):
        before = set(office.pending())
        assert asks.run("adjust", "--shop", "shop-1", "--order", "o1", "--amount", "60.00", *WHY).returncode == 3
        (name,) = set(office.pending()) - before
        shown = root.json("approvals", "show", name, *ACME)
        assert shown["actor"] == (EVE if is_approved else "root (no login)")
        signed = key.sign(office.file(f"{name}.txt", root("approvals", "show", name, *ACME, "--statement")))
        if is_approved:
            root("approve", name, *ACME, "--signature", signed)
        else:
            assert "two persons" in root.refuses("approve", name, *ACME, "--signature", signed)
    assert [row["amount"] for row in office.memos("MANUAL")] == ["60.00"]
