"""Approvals that are signed with SSH keys (rules K5, K12): ssh-keygen itself signs, with a key in a file and with a key
in an agent, on both ledgers."""
import hashlib
import os
import re
import subprocess

import pytest
from harness.cli import Sluice, now
from harness.office import ACME, EVE, FRANK, GINA, POLICY, WHY, database, filled, office, open_office  # noqa: F401
from test_controls import adjust

LIMIT = "approve_adjust_above = ['5.00 USD']\napprove_payout_above = ['5.00 USD']\n"


def keygen(*words, **options):
    done = subprocess.run(["ssh-keygen", "-q", *map(str, words)], capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, done.stderr


class Key:
    def __init__(self, folder, name, kind="ed25519"):
        self.file, self.environment = folder / name, None
        keygen("-t", kind, "-N", "", "-C", f"{name}@office", "-f", self.file)
        self.public = self.file.with_suffix(".pub").read_text().strip()

    def sign(self, statement, namespace="sluice-approval"):
        """Returns the file that `ssh-keygen -Y sign` writes next to the statement."""
        signed = statement.with_suffix(".txt.sig")
        signed.unlink(missing_ok=True)
        file = self.file if self.file.exists() else self.file.with_suffix(".pub")  # the agent has the rest
        keygen("-Y", "sign", "-n", namespace, "-f", file, statement, env={**os.environ, **(self.environment or {})})
        return signed


@pytest.fixture
def agent(tmp_path):
    """Moves a key into an agent. The private key is in no file then."""
    socket = tmp_path / "agent"
    process = subprocess.Popen(["ssh-agent", "-D", "-a", socket], stdout=subprocess.PIPE, text=True)

    def move(key):
        process.stdout.readline()  # it listens
        key.environment = {"SSH_AUTH_SOCK": str(socket)}
        subprocess.run(["ssh-add", "-q", key.file], env={**os.environ, **key.environment}, check=True)
        key.file.unlink()

    yield move
    process.terminate()
    process.wait()


def named(*approvers):
    """A policy with these approvers."""
    words = ", ".join(f"'{approver}'" for approver in approvers)
    return re.sub("approvers = .*", f"approvers = [{words}]", POLICY) + LIMIT


def allow(office, *approvers):
    done = office.apply(named(*approvers))
    assert done.returncode == 0, done


def ask(office, amount="9.00"):
    before = set(office.pending())
    assert adjust(office, amount).returncode == 3
    (name,) = set(office.pending()) - before
    return name


def statement(office, name):
    file = office.folder / f"{name}.txt"
    file.write_text(office.gina("approvals", "show", name, *ACME, "--statement"))
    return file


def approvals(office, *more):
    return office.eve.run("report", "approvals", *ACME, "--format", "json", *more)


@pytest.mark.parametrize("kind", ["ed25519", "ecdsa", "agent"])
def test_k5_a_signature_approves(office, agent, kind, tmp_path):
    key = Key(tmp_path, "gina", "ed25519" if kind == "agent" else kind)
    if kind == "agent":
        agent(key)
    allow(office, f"{GINA} {key.public}")
    name = ask(office)
    text = statement(office, name)
    shown = office.gina.json("approvals", "show", name, *ACME)
    lines = dict(line.split(": ") for line in text.read_text().splitlines()[1:])
    assert (lines["account"], lines["id"], lines["digest"], lines["total"]) == ("acme", name, shown["digest"], "9.00 USD")
    assert "signature" in office.gina.refuses("approve", name, *ACME, "--expect", shown["digest"]), "only it counts"
    office.eve("approve", name, *ACME, "--signature", key.sign(text))  # any person may bring it
    (memo,) = office.memos("MANUAL")
    assert (memo["amount"], office.memos("APPROVED")[0]["actor"]) == ("9.00", GINA)
    listed = approvals(office, "--verify")
    assert listed.returncode == 0, listed
    assert f'"approved_by": "{GINA}"' in listed.stdout and '"verdict": "valid"' in listed.stdout
    assert "does not wait" in office.gina.refuses("approvals", "show", name, *ACME, "--statement")
    assert office.is_sound()
    assert Sluice(office.store)("doctor", "--replay").endswith(" rows are equal\n"), "the replay verifies it again"


def test_k5_a_payout_run_is_approved_by_a_signature(office, tmp_path):
    key = Key(tmp_path, "gina")
    allow(office, f"{GINA} {key.public}", FRANK)
    run = office.close()[0]["payout_run"]
    text = statement(office, run)
    assert "total: 16.00 USD\n" in text.read_text()
    office.eve("approve", run, *ACME, "--signature", key.sign(text))
    assert {row["state"] for row in office.eve.json("payout", "list", *ACME)} == {"APPROVED"}
    # After a repoint back and forth the old signature is good for nothing.
    payout = office.eve.json("payout", "list", *ACME)[0]["payout_id"]
    for payee in ("ref-eve", "ref-ann"):
        office.eve("creator", "set", "ann", *ACME, "--payee", payee, *WHY)
        office.eve("payout", "repoint", payout, *ACME, *WHY)
    again = statement(office, payout)
    assert "not for this statement" in office.eve.refuses("approve", payout, *ACME, "--signature", key.sign(text))
    office.eve("approve", payout, *ACME, "--signature", key.sign(again))
    office.eve(*office.export(run))
    assert office.paid_to() == ["ref-ann", "ref-bob"]
    assert office.is_sound()


def payee_words(reference):
    return f"ending {reference[-2:]}, sha256 {hashlib.sha256(f'payee:{reference}'.encode()).hexdigest()[:12]}"


def test_k5_a_statement_names_payees_amounts_and_payouts(office, tmp_path):
    key = Key(tmp_path, "gina")
    assert office.apply(named(f"{GINA} {key.public}", FRANK) + "approve_payee_change = true\napprove_period_close = true\n").returncode == 0

    def signed(*words):
        assert office.eve.run(*words).returncode == 3
        (name,) = [row["id"] for row in office.eve.json("approvals", *ACME) if row["command"] != "payout close"]
        text = statement(office, name)
        office.eve("approve", name, *ACME, "--signature", key.sign(text))
        return text.read_text().splitlines()[5:]

    asked = f"requested by: {EVE}"
    payee = f"payee: of ann from {payee_words('ref-ann')} to {payee_words('ref-eve')}"
    assert signed("creator", "set", "ann", *ACME, "--payee", "ref-eve", *WHY) == ["command: creator set", asked, payee]
    assert signed("adjust", "--shop", "shop-1", "--order", "o1", "--amount", "9.00", *WHY) == [
        "command: adjust", asked, "change: ann in spring, orders 1, from 8.00 USD to 17.00 USD", "total: 9.00 USD"]
    month = now()[:8] + "01T00:00:00Z"
    closed = signed("period", "close", *ACME, "--until", month)
    assert closed == ["command: period close", asked, f"until: {month}"], "nothing was posted before this month"
    office.eve.json("payout", "close", *ACME, "--until", now())
    rows = office.eve.json("payout", "list", *ACME)
    text = statement(office, rows[0]["payout_run"])
    lines = text.read_text().splitlines()
    assert lines[5:] == [
        "command: payout close",
        *(f"payout: {row['payout_id']} to {row['creator_id']}, {row['amount']} USD, items {row['items']}, payee {payee_words(row['payee'])}"
          for row in sorted(rows, key=lambda row: row["payout_id"])), "total: 25.00 USD"]
    office.eve("approve", rows[0]["payout_run"], *ACME, "--signature", key.sign(text))
    # A forget of the payee leaves the signature valid, and a replay verifies it again.
    office.eve("payout", "settle", rows[0]["payout_run"], *ACME, *WHY)
    assert "forgotten" in office.eve("forget", *ACME, "--creator", "ann")
    assert approvals(office, "--verify").returncode == 0
    assert Sluice(office.store)("doctor", "--replay").endswith(" rows are equal\n")


def cut(signed):
    text = signed.read_text()
    signed.write_text(text[:len(text) // 2])
    return signed


def edited(text, old, new):
    file = text.with_name("other.txt")
    file.write_text(text.read_text().replace(old, new))
    assert file.read_text() != text.read_text()
    return file


# The fault of each signature, and a word of the sentence that names it.
WRONG = {
    "of another approver's name and key": (lambda gina, other, text: other.sign(text), "none of the approvers has"),
    "of another command": (lambda gina, other, text: gina.sign(edited(text, "id: C", "id: D")), "statement"),
    "of another store": (lambda gina, other, text: gina.sign(edited(text, "store: ", "store: 0")), "statement"),
    "of another digest": (lambda gina, other, text: gina.sign(edited(text, "digest: ", "digest: 0")), "statement"),
    "of another amount": (lambda gina, other, text: gina.sign(edited(text, "9.00", "1.00")), "statement"),
    "of another namespace": (lambda gina, other, text: gina.sign(text, "git"), "-n sluice-approval"),
    "cut": (lambda gina, other, text: cut(gina.sign(text)), "cut or damaged"),
    "no signature at all": (lambda gina, other, text: text, "cut or damaged"),
}


def test_k5_a_wrong_signature_changes_nothing(office, tmp_path):
    gina, other = Key(tmp_path, "gina"), Key(tmp_path, "other")
    allow(office, f"{GINA} {gina.public}", FRANK)
    name = ask(office)
    text = statement(office, name)
    for what, (make, says) in WRONG.items():
        said = office.eve.refuses("approve", name, *ACME, "--signature", make(gina, other, text))
        assert says in said and said.startswith("sluice: ") and said.count("\n") == 1, (what, said)
        assert office.pending() == [name] and office.memos("MANUAL") == [] and office.memos("APPROVED") == [], what
    # The requester may not sign it, even if another person brings the signature.
    eve = Key(tmp_path, "eve")
    assert office.apply(named(f"{GINA} {gina.public}", f"man {eve.public}")).returncode == 3
    (policy,) = set(office.pending()) - {name}
    office.eve("approve", policy, *ACME, "--signature", gina.sign(statement(office, policy)))
    assert "requested" in office.frank.refuses("approve", name, *ACME, "--signature", eve.sign(statement(office, name)))
    office.eve("approve", name, *ACME, "--signature", gina.sign(statement(office, name)))
    assert len(office.memos("MANUAL")) == 1


def test_k5_an_altered_signature_is_found(office, tmp_path):
    if not office.database:
        pytest.skip("SQL edits the rows of PostgreSQL")
    key = Key(tmp_path, "gina")
    allow(office, f"{GINA} {key.public}")
    name = ask(office)
    office.eve("approve", name, *ACME, "--signature", key.sign(statement(office, name)))
    office.sql("UPDATE sluice_ledger.signed_approvals SET statement = replace(statement, '9.00', '8.00')")
    listed = approvals(office, "--verify")
    assert listed.returncode == 1 and "not the one that the journal proves" in listed.stdout, listed
    office.sql("DELETE FROM sluice_ledger.signed_approvals")
    listed = approvals(office, "--verify")
    assert listed.returncode == 1 and "the signature is missing" in listed.stdout, listed


def test_k5_a_key_that_cannot_be_read_is_refused(office, tmp_path):
    key = Key(tmp_path, "gina")
    for wrong, says in ((key.public[:40], "cut or damaged"), ("ssh-rsa AAAA", "ssh-ed25519 or ecdsa-sha2-nistp256")):
        done = office.apply(named(f"{GINA} {wrong}"))
        assert done.returncode == 1 and says in done.stderr and "p.toml:" in done.stderr, done
