"""Texts, ids, codes and names are judged where people type them."""
import subprocess

import pytest
from harness import queue_edit
from program import PROGRAM as SLUICE
from program import sluice
from test_books import WHY, shop, sold  # noqa: F401 (fixtures)
from test_ledger import ACME

HEADER = "creator_id,program_id,code,group,name\n"
PROGRAM = '[[program]]\nid = "spring"\naccount = "acme"\ndefault_rate = "10%"\nlate_days = 36500\n'
NOTHING = '[[program]]\nid = "none"\naccount = "acme"\ndefault_rate = "0%"\nlate_days = 36500\n'
SPACES = {"space": " ", "tab": "\t", "no-break": "\u00a0", "thin": "\u2009", "ideographic": "\u3000", "zero": "\u200b"}


def write(shop, name, data):
    path = shop.file(name, "")
    path.write_bytes(data)
    return path


def owner(shop, order):
    (row,) = [row for row in shop.json("report", "orders") if row["order_id"] == order]
    return row["creator_id"]


@pytest.mark.parametrize("space", SPACES.values(), ids=SPACES)
def test_an_imported_code_with_spaces_around_it_earns(shop, space):
    """B1, money: such a code never matched, and nothing said so."""
    rows = f"{space}cy{space},spring{space},{space}CYAN{space},{space}gold{space},{space}Cy{space}\n"
    shop.run("creator", "import", shop.file("c.csv", HEADER + rows))
    shop.send("o1", code="CYAN")
    shop.drain()
    assert owner(shop, "o1") == "cy"
    shown = shop.json("creator", "show", "cy", *ACME)
    assert shown["name"] == "Cy"


@pytest.mark.parametrize("space", SPACES.values(), ids=SPACES)
def test_spaces_around_names_of_commands_and_program_files(sold, space):
    sold.run("creator", "remove", "ann", "--program", "spring", "--code", f"{space}SAVE{space}")
    sold.run("creator", "set", "ann", *ACME, "--name", f"{space}Ann")
    assert sold.json("creator", "show", "ann", *ACME)["name"] == "Ann"
    rule = f'[[program.rule]]\nmatch = "tag"\nvalue = "gift"\nrate = "0%"\ngroup = "gold{space}"\n'
    refused = sold.run("program", "apply", sold.file("p.toml", PROGRAM + rule), status=1).err
    assert "group: expected no space" in refused
    assert "1 to 1000 bytes" in sold.run("hold", "--account", "acme", "--creator", "ann", "--reason", space, status=1).err


def test_names_that_differ_by_case_only_are_said(sold):
    said = sold.run("creator", "import", sold.file("c.csv", HEADER + "Ann,spring,été,,\nben,spring,save2,,\n")).err
    assert "c.csv:2: creator Ann differs from ann by case only: they are two creators" in said
    said = sold.run("creator", "import", sold.file("e.csv", HEADER + "cy,spring,ÉTÉ,,\n")).err
    assert "e.csv:2: code ÉTÉ differs from été by case only: they are two codes" in said
    again = sold.run("creator", "import", sold.file("d.csv", HEADER + "eve,spring,,,\ndan,spring,Save2,,\n"), status=1).err
    assert "d.csv:3: code Save2 belongs to creator ben in program spring" in again


def test_rows_that_change_nothing_are_listed(sold):
    rows = sold.file("c.csv", "creator_id,program_id,code\nann,spring,save\ncy,spring,CYAN\n")
    dry = sold.run("creator", "import", rows, "--dry-run").out
    assert "1 row imported; 1 row states what is stored already: line 2 ann save" in dry
    assert "no change to any order's commission" in dry
    sold.run("creator", "import", rows)
    said = sold.run("creator", "import", rows, "--effective-from", "2024-01-01T00:00:00Z").out
    assert said.startswith("no change: no row was imported; 2 rows state what is stored already")
    assert "valid_from dates a code that is stored" in said
    sold.run("creator", "set", "ann", *ACME, "--name", "Ann")
    assert sold.run("creator", "set", "ann", *ACME, "--name", "Ann").out == "no change: creator ann is so already\n"
    applied = sold.file("p.toml", PROGRAM)
    sold.run("program", "apply", applied)
    assert sold.run("program", "apply", applied).out == "no change: the ledger has what the file states\n"


def test_names_that_match_nothing_are_said(sold):
    rules = ('[[program.rule]]\nmatch = "tag"\nvalue = "gift-card"\nrate = "0%"\n'
             '[[program.rule]]\ncreator = "zoe"\nrate = "1%"\n[[program.rule]]\ngroup = "gold"\nrate = "2%"\n'
             '[[program.rule]]\nmatch = "sku"\nvalue = "S9"\nrate = "3%"\n')
    text = sold.file("p.toml", PROGRAM + rules)
    said = sold.run("program", "apply", text, "--dry-run").err
    assert "program spring, rule 1: no product of its shops is known, so a rule by tag cannot match" in said
    assert "program spring, rule 2: creator zoe is not in the program" in said
    assert "program spring, rule 3: no creator of the program is in group gold" in said
    assert "rule 4" not in said, "a line has its SKU itself"
    sold.run("program", "apply", text)
    glod = sold.run("creator", "set", "ann", *ACME, "--program", "spring", "--group", "glod").err
    assert "no rule of program spring names group glod; its rules name gold" in glod
    rows = sold.file("g.csv", HEADER + "ann,spring,,gold,\ncy,spring,,glod,\n")
    assert "g.csv:3: no rule of program spring names group glod" in sold.run("creator", "import", rows).err
    assert "group gold" not in sold.run("program", "apply", text).err


def test_a_time_without_an_offset_is_said(sold):
    """H: it was taken as UTC without a word."""
    said = sold.run("report", "orders", "--from", "2024-05-01T00:00:00", "--to", "2024-06-01T00:00:00").err
    assert said == "sluice: note: 2024-05-01T00:00:00 has no offset, so it is taken as UTC\n"
    assert sold.run("report", "orders", "--from", "2024-05-01T00:00:00Z").err == ""


def test_a_list_of_creators_has_the_accounts_and_no_json_in_a_cell(sold):
    """H: codes were printed as JSON; `--account` was refused, which other lists take."""
    table = sold.run("creator", "list").out
    assert "ann" in table and "SAVE" in table and not set('[]{}"') & set(table), table
    rows = sold.json("creator", "list")
    sold.run("account", "create", "beta")
    assert rows and sold.json("creator", "list", *ACME) == rows == sold.json("creator", "list", *ACME, "--program", "spring")
    assert sold.json("creator", "list", "--account", "beta") == []
    refused = sold.run("creator", "list", "--account", "beta", "--program", "spring", status=1).err
    assert "account beta has no program spring" in refused
    assert "no account" in sold.run("creator", "list", "--account", "nosuch", status=1).err


ORDER = ("--shop", "shop-1", "--order", "o1")


@pytest.mark.parametrize("command, difference", [
    (("hold", *ORDER), None), (("hold", *ACME, "--creator", "ann"), None), (("reject", *ORDER), "-8.00"),
    (("adjust", *ORDER, "--amount", "1.50"), "1.50"),
    (("credit", *ACME, "--creator", "ann", "--program", "spring", "--amount", "3.00 USD"), "3.00"),
    (("order", "reset", *ORDER, "--version", "2024-02-01T00:00:00Z"), None),
], ids=lambda value: value[0] if isinstance(value, tuple) else "")
def test_every_command_on_an_order_has_a_dry_run(sold, command, difference):
    """`hold` and its siblings had none: what they change is printed, and nothing is changed."""
    before = sold.json("report", "journal", "--all-accounts"), sold.json("hold", "list", *ACME)
    printed = sold.run(*command, *WHY, "--dry-run")
    assert "dry run, nothing was changed: " in printed.out, printed
    assert [row["difference"] for row in sold.json(*command, *WHY, "--dry-run")] == ([difference] if difference else [])
    assert (sold.json("report", "journal", "--all-accounts"), sold.json("hold", "list", *ACME)) == before
    sold.run(*command, *WHY)


def test_what_undoes_a_command_has_a_dry_run(sold):
    sold.run("hold", *ORDER, *WHY)
    assert "nothing was changed: order o1" in sold.run("release", *ORDER, *WHY, "--dry-run").out
    credit = ("credit", *ACME, "--creator", "ann", "--program", "spring", "--amount")
    sold.run(*credit, "-20.00 USD", *WHY)
    (command,) = {row["command_id"] for row in sold.json("report", "journal", "--all-accounts") if row["reason"] == "CREDIT"}
    assert [row["difference"] for row in sold.json("reverse", command, *WHY, "--dry-run")] == ["20.00"]
    off = ("write-off", *ACME, "--creator", "ann", "--program", "spring", *WHY)
    assert [row["difference"] for row in sold.json(*off, "--dry-run")] == ["4.00"]
    assert "no account" not in sold.run("reverse", "C0-NONE", *WHY, "--dry-run", status=1).out


def test_a_file_in_windows_1252_is_refused_with_the_remedy(sold):
    """C: the dry run said `1 row imported`, and the real run was a dead letter that nothing removed."""
    rows = write(sold, "c.csv", HEADER.encode() + "cy,spring,CYAN,,Zoë\n".encode("cp1252"))
    for dry in ((), ("--dry-run",)):
        refused = sold.run("creator", "import", rows, *dry, status=1).err
        assert "c.csv:2: name: not UTF-8; the file looks like WINDOWS-1252" in refused
        assert f"`iconv -f WINDOWS-1252 -t UTF-8 {rows} > NEW_FILE`" in refused
    utf16 = write(sold, "d.csv", (HEADER + "cy,spring,CYAN,,Zoë\n").encode("utf-16"))
    assert "looks like UTF-16" in sold.run("creator", "import", utf16, status=1).err
    assert sold.json("dead", "list") == []


def test_every_text_of_a_command_is_judged_where_it_is_typed(sold):
    def refused(*command):
        run = subprocess.run([SLUICE, "--store", sold.store, *command], capture_output=True, check=False)
        assert run.returncode == 2 and b"expected UTF-8" in run.stderr, run
    latin = "Zo\u00eb".encode("latin-1")
    refused("creator", "set", "ann", "--account", "acme", "--name", latin)
    refused("hold", "--account", "acme", "--creator", "ann", "--reason", latin)
    refused("detach", "--code", latin, "--from", "2024-01-01T00:00:00Z", "--reason", "r")
    signature = write(sold, "s.sig", b"\xff\xfe")
    run = sold.run("approve", "C260101000000-ABCDEF", *ACME, "--signature", signature, status=1)
    assert "UTF-8" in run.err
    assert sold.json("dead", "list") == []


def dead_letter(sold, order="o3"):
    """An order whose record was damaged on the disk."""
    sold.send(order)
    sold.run("queue", "move")
    seq = sold.json("queue", "stats")["last_seq"]
    with queue_edit.edited(sold.store) as queue:
        queue.put(seq, b"damaged")
    sold.drain()
    (letter,) = sold.json("dead", "list")
    assert letter["seq"] == seq
    return str(seq)


def test_a_dead_letter_stays_until_it_is_discarded(sold):
    letter = dead_letter(sold)
    still = sold.run("dead", "replay", letter, status=1)
    assert f"dead letter {letter} stays: " in still.err and "sluice dead discard" in still.err
    assert sold.run("dead", "replay", "--all", status=1).err
    assert sold.run("dead", "discard", letter, status=2).err, "a reason is required"
    assert sold.run("dead", "discard", letter, *WHY).out == "1 dead letter is discarded\n"
    assert sold.json("dead", "list") == []
    assert "there is no dead letter" in sold.run("dead", "discard", letter, *WHY, status=1).err
    (row,) = [row for row in sold.json("report", "journal", *ACME) if row["reason"] == "DISCARDED"]
    assert (row["note"], row["line_item_id"]) == ("as agreed", letter)
    assert sold.run("doctor", "--replay").out


def test_a_dead_letter_of_an_account_with_approvals_is_discarded_by_two(sold):
    sold.run("program", "apply", sold.file("p.toml", '[[policy]]\naccount = "acme"\napprove_period_close = true\n'))
    letter = dead_letter(sold)
    run = sluice("dead", "discard", letter, *WHY, store=sold.store)
    assert run.status == 3 and "waits for the approval of another actor" in run.err
    assert [row["seq"] for row in sold.json("dead", "list")] == [int(letter)]


def test_the_orders_of_a_leaked_code_are_counted_detached_and_attributed(sold):
    """B3: detaching 18 orders took 18 commands."""
    leaked = "2024-04-01T00:00:00Z"
    said = sold.run("creator", "remove", "ann", "--program", "spring", "--code", "SAVE", "--at", leaked).out
    assert f"code SAVE removed from {leaked} on" in said
    assert f"1 order placed from {leaked} on keeps the creator: `sluice detach --code SAVE --from {leaked}" in said
    (row,) = sold.json("detach", "--code", "save", "--from", leaked, *WHY, "--dry-run")
    assert (row["creator_id"], row["orders"], row["difference"]) == ("ann", 1, "-8.00")
    assert owner(sold, "o2") == "ann"
    detach = ("detach", "--code", "save", "--from", leaked, *WHY, "--key", "leak")
    first = sold.run(*detach).out
    assert "1 order of code save detached" in first
    assert sold.run(*detach).out == first, "K1: the key means the same command"
    assert "with other content" in sold.run(*detach, "--until", "2026-01-01T00:00:00Z", status=1).err
    assert (owner(sold, "o1"), owner(sold, "o2")) == ("ann", None)
    assert "attributed none of 1 orders" in sold.run("detach", "--code", "SAVE", "--from", leaked, *WHY).out
    sold.run("creator", "import", sold.file("ben.csv", "creator_id,program_id\nben,spring\n"))
    to_ben = ("attribute", "--code", "SAVE", "--from", "2023-01-01T00:00:00Z", "--creator", "ben", "--program", "spring", *WHY)
    (row,) = sold.json(*to_ben, "--dry-run")
    assert (row["creator_id"], row["orders"], row["difference"]) == ("ben", 1, "8.00")
    said = sold.run(*to_ben).out
    assert "1 order with code SAVE is attributed to ben" in said and "1 order stays as it is" in said and "--replace" in said
    assert "2 orders" not in said
    said = sold.run(*to_ben, "--replace", "--key", "ben").out
    assert "1 order with code SAVE is attributed to ben" in said and "1 order has this creator already" in said
    assert (owner(sold, "o1"), owner(sold, "o2")) == ("ben", "ben")
    sold.send("o3", code="SAVE")
    sold.drain()
    assert sold.run(*to_ben, "--replace", "--key", "ben").out == said, "K1: whatever orders came since"
    assert "no order carries code NOPE" in sold.run("detach", "--code", "NOPE", "--from", leaked, *WHY, status=1).err
    assert sold.run("detach", "--code", "SAVE", *WHY, status=2).err, "the time is required"


def test_a_dry_run_counts_orders_that_earn_nothing_as_the_command_does(sold):
    sold.run("program", "apply", sold.file("none.toml", NOTHING))
    sold.run("creator", "import", sold.file("zoe.csv", "creator_id,program_id,code\nzoe,none,ZERO\n"))
    sold.send("zero", code="ZERO")
    sold.drain()
    detach = ("detach", "--code", "ZERO", "--from", "2023-01-01T00:00:00Z", *WHY)
    (row,) = sold.json(*detach, "--dry-run")
    assert (row["creator_id"], row["orders"], row["difference"]) == ("zoe", 1, "0.00")
    assert "1 order of code ZERO detached" in sold.run(*detach).out


def test_many_orders_of_a_code_need_an_approval_together(sold):
    policy = '[[policy]]\naccount = "acme"\napprove_attribution_above = ["10.00 USD"]\n'
    sold.run("program", "apply", sold.file("policy.toml", policy))
    run = sluice("detach", "--code", "SAVE", "--from", "2024-01-01T00:00:00Z", *WHY, store=sold.store)
    assert run.status == 3 and "waits for the approval" in run.err
    assert (owner(sold, "o1"), owner(sold, "o2")) == ("ann", "ann")
