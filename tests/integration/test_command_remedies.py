"""The remedies that refused commands print, performed as they are printed (tests/remedies.txt has them all)."""

import os
import shutil

import pytest
from harness import remedies
from harness.cli import Sluice, as_user, now
from harness.office import ACME, EVE, FRANK, GINA, POLICY, WHY, Office, filled  # noqa: F401
from test_controls import adjust
from test_signed_approvals import LIMIT, Key, named

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="the people of the tests are users of this machine")


@pytest.fixture(scope="module")
def template(filled):  # noqa: F811
    """One office, of which each test has a copy."""
    folder = filled.parent / "template"
    folder.mkdir()
    office = Office(shutil.copytree(filled, folder / "store", symlinks=True), folder, None).furnish()
    office.finish()
    return office


@pytest.fixture
def office(template, tmp_path):
    tmp_path.chmod(0o755)
    shutil.copytree(template.folder / "store", tmp_path / "store", symlinks=True)
    copy = object.__new__(Office)
    copy.__dict__.update(template.__dict__, store=tmp_path / "store", folder=tmp_path, out=tmp_path / "out.csv")
    copy.payees = copy.file("payees.csv", template.payees.read_text())
    for name in (EVE, FRANK, GINA):
        person = Sluice(copy.store)
        person.prefix = as_user(name)
        person.name = name
        setattr(copy, {EVE: "eve", FRANK: "frank", GINA: "gina"}[name], person)
    return copy


def do(office, said, which=slice(None), by=EVE, **words):
    return remedies.perform(said, office.store, which, prefix=as_user(by), **words)


def test_an_order_that_exists_is_adjusted_instead_of_credited(office):
    line = ("--shop", "shop-1", "--order", "o1", *WHY)
    said = office.eve.refuses("credit", *ACME, *line, "--amount", "1.00 USD", "--creator", "ann", "--program", "spring")
    assert remedies.commands(said) == ["sluice adjust"]
    office.eve(*remedies.commands(said)[0].split()[1:], *line, "--amount", "1.00")


def test_a_command_that_waits_is_withdrawn_instead_of_reversed(office):
    office.allow(LIMIT)
    assert adjust(office, "9.00").returncode == 3
    (name,) = office.pending()
    said = office.eve.refuses("reverse", name, *ACME, *WHY)
    (command,) = remedies.commands(said)
    office.eve(*command.split()[1:], name, *ACME, *WHY)
    assert office.pending() == []


def test_what_changed_is_looked_at_again_and_approved(office):
    office.allow(LIMIT)
    assert adjust(office, "9.00").returncode == 3
    (name,) = office.pending()
    for said in (office.frank.refuses("approve", name, *ACME, code=None),
                 office.frank.refuses("approve", name, *ACME, "--expect", "0" * 64)):
        (shown,) = do(office, said, slice(0, 1), by=FRANK)
        digest = next(word for word in shown.split() if len(word) == 64)
    office.frank("approve", name, *ACME, "--expect", digest)
    assert office.pending() == []


def test_an_approver_with_a_key_signs(office):
    key = Key(office.folder, "gina")
    assert office.apply(named(f"{GINA} {key.public}")).returncode == 0
    assert adjust(office, "9.00").returncode == 3
    (name,) = office.pending()
    digest = office.gina.json("approvals", "show", name, *ACME)["digest"]
    said = office.gina.refuses("approve", name, *ACME, "--expect", digest)
    script = said.split("with a signature: ")[1].strip()
    remedies.shell(f"cd {office.folder} && {script}", office.store, as_user(GINA), KEY=key.file)
    assert office.pending() == []


def approve_again(office, payout):
    """`and it must be approved again`"""
    digest = office.frank.json("approvals", "show", payout, *ACME)["digest"]
    office.frank("approve", payout, *ACME, "--expect", digest)


def test_a_payout_without_a_payee_gets_one(office):
    office.eve("creator", "import", office.file("more.csv", "creator_id,program_id,code,payee\ncara,spring,NONE,\n"))
    office.eve("credit", *ACME, "--creator", "cara", "--program", "spring", "--amount", "3.00 USD", *WHY)
    (payout,) = [row for row in office.close() if row["creator_id"] == "cara"]
    said = office.eve.refuses(*office.export(payout["payout_id"]))
    do(office, said, PAYEE="ref-eve", TEXT="asked")
    approve_again(office, payout["payout_id"])
    office.eve(*office.export(payout["payout_id"]))
    assert office.paid_to() == ["ref-eve"]


def test_a_payout_follows_the_payee_of_its_creator(office):
    payout = next(row["payout_id"] for row in office.close() if row["creator_id"] == "ann")
    office.eve("creator", "set", "ann", *ACME, "--payee", "ref-eve", *WHY)
    said = office.eve.refuses(*office.export(payout))
    do(office, said, TEXT="asked")
    approve_again(office, payout)
    office.eve(*office.export(payout))
    assert office.paid_to() == ["ref-eve"]


def test_the_orders_that_keep_a_removed_code_are_detached(office):
    told = office.eve("creator", "remove", "ann", "--program", "spring", "--code", "SAVE", "--at", "2020-01-01T00:00:00Z")
    (command,) = remedies.commands(told)
    assert "--dry-run" in command
    do(office, told, TEXT="leaked")
    do(office, told.replace(" --dry-run", ""), TEXT="leaked")
    assert all(row["creator_id"] != "ann" for row in office.eve.json("report", "orders", *ACME) if row["order_id"] == "o1")


def test_a_suspended_accounts_destination_is_paused(office):
    office.eve("notify", "add", "books", *ACME, "--url", "https://books.example.org/in")
    told = office.eve("account", "suspend", "acme")
    do(office, told)
    (row,) = office.eve.json("notify", "list")
    assert "paused" in str(row).lower()


def test_a_token_beyond_the_limit_is_made_after_a_revocation(office):
    made = []
    while True:
        run = office.eve.run("token", "create", *ACME, "--scope", "write_products", "--format", "json")
        if run.returncode:
            break
        made.append(run)
    assert "revoke one first" in run.stderr
    office.eve("token", "revoke", next(row["token_id"] for row in office.eve.json("token", "list", *ACME) if not row["revoked_at"]
                                       and "write_products" in str(row["scopes"])))
    office.eve("token", "create", *ACME, "--scope", "write_products")


def test_the_past_is_told_by_the_report_that_can(office):
    said = office.eve.refuses("report", "orders", *ACME, "--as-of", now(), code=None)
    commands = remedies.commands(said)
    for command in commands:
        remedies.shell(f"{command} {now()} {' '.join(ACME)}", office.store, as_user(EVE))
