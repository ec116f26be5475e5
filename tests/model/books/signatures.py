"""K5: signed approvals, written from OpenSSH's PROTOCOL.sshsig: statements of approvers, and who signed them."""

import base64
import hashlib
from dataclasses import replace
from fractions import Fraction

from model import ed25519
from model.books import openings, payouts
from model.books.rates import parse_money
from model.books.state import Refused
from model.values import digits, text

NAMESPACE = "sluice-approval"
BEGIN, END = "-----BEGIN SSH SIGNATURE-----\n", "-----END SSH SIGNATURE-----\n"
TYPE = b"ssh-ed25519"


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
    lines = ["sluice approval 1", f"store: {at.node}", f"account: {at.account}", f"id: {name}", f"digest: {digest}"]
    return "\n".join([*lines, *totals(ledger, waiting, closed)]) + "\n"


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
