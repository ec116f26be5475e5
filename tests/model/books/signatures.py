"""K5: signed approvals, written from OpenSSH's PROTOCOL.sshsig: statements of approvers, and who signed them."""

import base64
import copy
import hashlib
from dataclasses import replace
from fractions import Fraction

from model import ed25519
from model.books import openings, payouts, periods
from model.books.guard import HAND
from model.books.journal import EARNED, OWED, PAID, PAYOUT
from model.books.rates import parse_money
from model.books.state import Nothing, Refused
from model.values import digits, text, time_text

NAMESPACE = "sluice-approval"
BEGIN, END = "-----BEGIN SSH SIGNATURE-----\n", "-----END SSH SIGNATURE-----\n"
TYPE = b"ssh-ed25519"
PERIOD = ("earned", "adjusted", "paid out", "then owed", "in payouts", "paid")


class Key:
    """A person's key, from a name: the same in every run."""

    def __init__(self, name):
        self.secret = hashlib.sha256(f"key of {name}".encode()).digest()
        self.blob = packed(TYPE, ed25519.public_key(self.secret))

    @property
    def public(self):
        return f"{TYPE.decode()} {base64.b64encode(self.blob).decode()}"

    def sign(self, statement, namespace=NAMESPACE):
        signature = packed(TYPE, ed25519.sign(self.secret, signed_bytes(statement, namespace.encode())))
        inner = b"SSHSIG\0\0\0\1" + packed(self.blob, namespace.encode(), b"", b"sha512", signature)
        return BEGIN + base64.encodebytes(inner).decode() + END


def packed(*parts):
    return b"".join(len(part).to_bytes(4, "big") + part for part in parts)


def unpacked(data, count):
    parts = []
    for _ in range(count):
        size = int.from_bytes(data[:4], "big")
        assert len(data) >= 4 + size
        parts.append(data[4:4 + size])
        data = data[4 + size:]
    assert not data
    return parts


def signed_bytes(statement, namespace):
    return b"SSHSIG" + packed(namespace, b"", b"sha512", hashlib.sha512(statement.encode()).digest())


def parsed(armored):
    """(key, namespace, signature)."""
    try:
        assert armored.startswith(BEGIN) and armored.endswith(END)
        inner = base64.b64decode(armored[len(BEGIN):-len(END)])
        assert inner[:10] == b"SSHSIG\0\0\0\1"
        blob, namespace, _, algorithm, signature = unpacked(inner[10:], 5)
        assert algorithm == b"sha512"
        kind, raw = unpacked(signature, 2)
        assert kind == TYPE
    except (AssertionError, ValueError):
        raise Refused("the signature is cut or damaged") from None
    return blob, namespace, raw


# Approvers ----------------------------------------------------------------------------------------------------


def names(policy):
    return [entry.split(" ")[0] for entry in policy.get("approvers", [])]


def approver(ledger, at, command, subject):
    """`at` as the approver's: of a signature the person whose key it is. Of a person with a key nothing else counts."""
    policy = ledger.policy(at.account)
    keys = {entry.split(" ", 1)[1]: entry.split(" ")[0] for entry in policy.get("approvers", []) if " " in entry}
    armored = command.get("signature")
    if armored is None:
        if at.actor in keys.values():
            raise Refused(f"{at.actor} approves with a signature")
        return at
    blob, namespace, raw = parsed(armored)
    public = f"{TYPE.decode()} {base64.b64encode(blob).decode()}"
    if public not in keys:
        raise Refused("the signature is by a key that none of the approvers has")
    if namespace != NAMESPACE.encode():
        raise Refused("the signature is for another namespace")
    stated = statement(ledger, at, subject, command["seen"])
    if not ed25519.is_signed(unpacked(blob, 2)[1], signed_bytes(stated, namespace), raw):
        raise Refused("the signature is not for this statement")
    note = "signed " + hashlib.sha256(f"{public}\n{stated}{armored}".encode()).hexdigest()
    return replace(at, actor=keys[public], reason=f"{at.reason} {note}" if at.reason else note)


# Statements ---------------------------------------------------------------------------------------------------


def subject_of(ledger, account, name):
    """(id, the pending approval or None, the payouts that wait)."""
    waiting = ledger.pending_approvals.get(name)
    if waiting is not None:
        return name, waiting, []
    named = [p for p in ledger.payouts.values() if name in (p.payout_id, p.run) and p.account == account]
    return name, None, sorted((p for p in named if p.state == "CLOSED"), key=lambda p: p.payout_id)


def statement(ledger, at, subject, seen):
    """The text that an approver signs. `seen`: the digest that was shown, which counts for a command: it covers all rows
    that the command would change (K13)."""
    name, waiting, closed = subject
    digest = seen if waiting else payouts_digest(closed)
    lines = ["sluice approval 2", f"store: {at.node}", f"account: {at.account}", f"id: {name}", f"digest: {digest}"]
    lines += command_lines(ledger, at, waiting) if waiting else ["command: payout close", *payout_lines(ledger, closed)]
    return "\n".join([*lines, *totals(ledger, waiting, closed)]) + "\n"


def money(amount, currency):
    return f"{text(amount, digits(currency))} {currency}"


def payee_words(payee):
    """A forgotten payee has the same words, because a rebuild verifies the signature again."""
    if not payee:
        return "none"
    ending = payouts.payee_ending(payee)
    return (f"ending {ending}, " if ending else "") + f"sha256 {payouts.payee_digest(payee).hex()[:12]}"


def payout_lines(ledger, closed):
    for p in closed:
        who = ledger.creator_name(p.account, p.creator)
        yield (f"payout: {p.payout_id} to {who}, {money(p.amount, p.currency)}, items {len(p.items)}, "
               f"payee {payee_words(p.payee)}")


def command_lines(ledger, at, waiting):
    command, account = waiting.command, waiting.given.account
    yield "command: " + command["do"].replace("-", " ")
    yield f"requested by: {waiting.given.actor}"
    if command["do"] == "program apply":
        yield from (f"program: {row['id']}" for row in command["programs"])
        yield from (f"policy: {row['account']}" for row in command.get("policies", []))
    yield from payee_lines(ledger, account, command)
    if command["do"] == "period close":
        yield from period_lines(ledger, account, command["until"])
    yield from change_lines(ledger, at, waiting)


def payee_lines(ledger, account, command):
    rows = {"creator set": [command], "creator import": command.get("rows", [])}.get(command["do"], [])
    given = {row["creator"]: row["payee"] for row in rows if row.get("payee") is not None}
    for creator in sorted(given, key=str.encode):
        before = payee_words(ledger.profiles.get((account, creator), {}).get("payee"))
        after = payee_words(given[creator])
        if before != after:
            yield f"payee: of {ledger.creator_name(account, creator)} from {before} to {after}"


def period_lines(ledger, account, until):
    closed = ledger.periods.get(account, [])
    sums = {}
    for (_, _, currency), row in periods.compute(ledger, account, closed[-1].until if closed else None, until).items():
        total = sums.setdefault(currency, dict.fromkeys(PERIOD, Fraction(0)))
        for reason, amount in row.reasons.items():
            if reason in EARNED:
                total["earned"] += amount
            elif reason in periods.PAYOUT_REASONS:
                total["paid out"] += amount if reason == "PAYOUT" else -amount
            elif reason != "SETTLE":
                total["adjusted"] += amount
        for name, ledger_account in (("then owed", OWED), ("in payouts", PAYOUT), ("paid", PAID)):
            total[name] += row.closing[ledger_account]
    yield f"until: {time_text(until)}"
    for currency, total in sorted(sums.items()):
        yield f"period: {currency} " + ", ".join(f"{name} {text(total[name], digits(currency))}" for name in PERIOD)


def change_lines(ledger, at, waiting):
    from model.books import commands, reports  # they import this module
    trial = copy.deepcopy(ledger)
    try:
        commands.run_waiting(trial, at, waiting)
    except Refused:
        yield "change: refused"
        return
    except Nothing:
        return
    trial.finish()
    rows = reports.differences(ledger, trial)
    if not rows:
        for entry in trial.journal.entries[len(ledger.journal.entries):]:
            if not entry.is_memo and entry.reason in HAND:
                row = rows.setdefault((entry.program, entry.creator, entry.currency), [0, Fraction(0), Fraction(0)])
                row[2] += entry.amount
    for key in sorted(rows, key=lambda key: tuple(part.encode() for part in key)):
        (program, creator, currency), (orders, before, after) = key, rows[key]
        who = ledger.creator_name(waiting.given.account, creator)
        yield f"change: {who} in {program}, orders {orders}, from {money(before, currency)} to {money(after, currency)}"


def totals(ledger, waiting, closed):
    amounts = [(payout.currency, payout.amount) for payout in closed]
    if waiting and waiting.currency:
        amounts.append((waiting.currency, waiting.amount))
    elif waiting and waiting.command["do"] == "opening import":
        amounts += [parse_money(row["amount"])[::-1] for row in waiting.command["rows"]]
    elif waiting and waiting.command["do"] == "reverse":
        reversed_ones = [ledger.money[name] for name in openings.standing(ledger, waiting.given.account, waiting.command["id"])]
        amounts += [(currency, -amount) for _, _, currency, amount in reversed_ones]
    sums = {}
    for currency, amount in amounts:
        sums[currency] = sums.get(currency, Fraction(0)) + amount
    return [f"total: {text(amount, digits(currency))} {currency}" for currency, amount in sorted(sums.items())]


def payouts_digest(closed):
    digest = hashlib.sha256(b"sluice-payouts\n")
    for payout in closed:
        amount = text(payout.amount, digits(payout.currency))
        digest.update(payouts.encoded(payout.payout_id, payout.creator, payout.currency, amount, str(payout.repoints)))
        digest.update(payouts.payout_digest(payout.currency, payout.items, payout.payee))
    return digest.hexdigest()
