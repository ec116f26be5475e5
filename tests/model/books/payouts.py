"""Payouts: what a close takes (P1), ids and items (P2), states (P3, P4), preview (P5)."""

import hashlib
from dataclasses import dataclass, field
from fractions import Fraction

from model.books import limits, plausibility
from model.books.rates import parse_money
from model.books.state import ACTIVE, Credit, Item, Nothing, Payout, Refused
from model.values import DAY, digits, text, time_text

MOVES = {
    "approve": {"CLOSED": "APPROVED"},
    "sent": {"APPROVED": "SENT"},
    "settle": {"APPROVED": "PAID", "SENT": "PAID"},
    "void": {"CLOSED": "VOID", "APPROVED": "VOID"},
    "failed": {"SENT": "FAILED"},
    "returned": {"PAID": "RETURNED"},
    "repoint": {"CLOSED": "CLOSED", "APPROVED": "CLOSED"},
}
LIFE = ("CLOSED", "APPROVED", "SENT", "PAID", "VOID", "FAILED", "RETURNED")
TARGET = {verb: next(iter(moves.values())) for verb, moves in MOVES.items()}
REASON = {"settle": "SETTLE", "void": "VOID", "failed": "FAILED", "returned": "RETURNED"}


@dataclass
class Share:
    """The items of a close for one creator and currency."""

    creator: str
    currency: str
    takes: list = field(default_factory=list)  # (unit, order, [Item])
    left: dict = field(default_factory=dict)  # HELD, BLOCKED -> sum that is left out
    payee: str = ""
    waits: bool = False

    @property
    def amount(self):
        return sum((item.amount for _, _, items in self.takes for item in items), Fraction(0))

    @property
    def items(self):
        return sorted((item for _, _, items in self.takes for item in items), key=lambda item: item.key)


# P1: allocation --------------------------------------------------------------------------------------------


def blocks(ledger, order, unit):
    """HELD, BLOCKED or None. Nothing stops a write-off, because it pays nothing out."""
    if order is None and unit.is_write_off:
        return None
    holds = {(unit.account, unit.creator, ""), (unit.account, unit.creator, unit.program)}
    if (order is not None and order.held) or holds & ledger.held_creators:
        return "HELD"
    if order is not None and plausibility.blocking(ledger, order):
        return "BLOCKED"
    return None


def take(unit, currency, until):
    """line -> amount: min(accrued before T, accrued now) - allocated, from the side with the smaller sum (K8)."""
    now = unit.side(currency)
    side = now
    if until is not None:
        then = unit.side(currency, until)
        if sum(then.values()) < sum(now.values()):
            side = then
    allocated = {line: amount for (line, of), amount in unit.allocated.items() if of == currency}
    found = {line: side.get(line, 0) - allocated.get(line, 0) for line in {*side, *allocated}}
    return {line: amount for line, amount in found.items() if amount} if sum(found.values()) else {}


def items_of(unit, order, amounts):
    if isinstance(unit, Credit):
        name = (unit.program, unit.shop, unit.order, unit.credit_id)
        return [Item(*name, "CREDIT", amount, unit.sale_at) for amount in amounts.values()]
    kind = "ADJUSTMENT" if unit.commissions else "COMMISSION"
    return [
        Item(unit.program, unit.shop, unit.order, line, kind if line else "MANUAL", amount, order.ordered_at)
        for line, amount in amounts.items()
    ]


def offset(unit, currency, below, amount):
    """Returns the part of a write-off that amounts below 0 of its program, creator and currency need."""
    key = unit.program, unit.creator, currency
    used = min(amount, -below.get(key, Fraction(0)))
    below[key] = below.get(key, Fraction(0)) + used
    return used


def shares(ledger, account, programs, creators, until, as_of, blocked=True):
    """Per creator and currency, in order, what there is to take."""
    found, write_offs, below = {}, [], {}

    def add(unit, order, currency, amounts):
        share = found.setdefault((unit.creator, currency), Share(unit.creator, currency))
        share.payee = ledger.profiles.get((account, unit.creator), {}).get("payee") or ""
        why = blocked and blocks(ledger, order, unit)
        if why and sum(amounts.values()) > 0:
            share.left[why] = share.left.get(why, Fraction(0)) + sum(amounts.values())
        elif amounts:
            share.takes.append((unit, order, items_of(unit, order, amounts)))
        return share

    for order, unit in ledger.units(account):
        if programs and unit.program not in programs or creators and unit.creator not in creators:
            continue
        if not ledger.is_cleared(order, unit, until):
            continue
        for currency in unit.currencies():
            # A write-off counts in every close that deducts its debt, also before its date and for a creator on hold.
            amounts = take(unit, currency, None if order is None and unit.is_write_off else as_of)
            if not amounts:
                continue
            if order is None and unit.is_write_off and sum(amounts.values()) > 0:
                write_offs.append((unit, currency, amounts))
                continue
            key = unit.program, unit.creator, currency
            below[key] = below.get(key, 0) + min(sum(amounts.values()), 0)
            add(unit, order, currency, amounts)
    for unit, currency, amounts in write_offs:  # by command id
        used = offset(unit, currency, below, sum(amounts.values()))
        share = add(unit, None, currency, {line: used for line in amounts if used})
        if rest := sum(amounts.values()) - used:
            share.left["BLOCKED"] = share.left.get("BLOCKED", Fraction(0)) + rest
    return [found[key] for key in sorted(found, key=lambda key: (key[0].encode(), key[1]))]


def why_not(ledger, account, share, command, received):
    """Why the share is not paid, or None."""
    policy = ledger.policy(account)
    if share.amount <= 0:
        return "NOT_POSITIVE"
    if share.creator in command.get("exclude", []):
        return "EXCLUDED"
    if policy.get("require_payee") and not ledger.profiles.get((account, share.creator), {}).get("payee"):
        return "NO_PAYEE"
    since = ledger.payees_changed.get((account, share.creator))
    if since is not None and since + policy.get("payee_cooling_days", 0) * DAY > received:
        return "PAYEE_CHANGED"
    minimum = {currency: amount for amount, currency in map(parse_money, policy.get("min_payout", []))}
    if not command.get("ignore_minimum") and share.amount < minimum.get(share.currency, 0):
        return "BELOW_MINIMUM"
    return None


def plan(ledger, at, command):
    """(shares that are paid, skipped rows)."""
    until = command["until"]
    if until > at.received:
        raise Refused(f"--until {time_text(until)} lies in the future")
    check_forward(ledger, at, command)
    for program in command.get("programs", []):
        if program not in ledger.programs or ledger.programs[program].account != at.account:
            raise Refused(f"account {at.account} has no program {program}")
    paid, skipped = [], []
    chosen = command.get("programs", []), command.get("creators", [])
    for share in shares(ledger, at.account, *chosen, until, as_of=until):
        for why in ("HELD", "BLOCKED"):
            if why in share.left:
                skipped.append((share.creator, share.currency, share.left[why], why))
        if not share.takes:
            continue
        why = why_not(ledger, at.account, share, command, at.received)
        if why:
            skipped.append((share.creator, share.currency, share.amount, why))
        else:
            paid.append(share)
    amounts = {(share.creator, limits.payee_of(ledger, at.account, share.creator), share.currency): share.amount for share in paid}
    above = limits.excess(ledger, ledger, at, at.account, "payout", "approve_payout_above", amounts)
    for share in paid:
        total = sum((other.amount for other in paid if other.currency == share.currency), limits.of_run(ledger, at, share.currency))
        share.waits = (
            (share.creator, limits.payee_of(ledger, at.account, share.creator), share.currency) in above
            or needs_approval(ledger, at.account, "approve_run_above", total, share.currency)
        )
    return paid, skipped


# P2, P5: items and their digests ---------------------------------------------------------------------------


def encoded(*texts):
    return b"".join(len(t.encode()).to_bytes(4, "little") + t.encode() for t in texts)


def items_digest(currency, items):
    digest = hashlib.sha256()
    for item in sorted(items, key=lambda item: item.key):
        amount = text(item.amount, digits(currency))
        digest.update(encoded(item.program, item.shop, item.order, item.line, item.kind, currency, amount))
    return digest.digest()


def run_digest(paid):
    digest = hashlib.sha256()
    for share in paid:
        digest.update(encoded(share.creator, share.currency, text(share.amount, digits(share.currency))))
        digest.update(payout_digest(share.currency, share.items, share.payee))
    return digest.hexdigest()


def payee_digest(payee):
    if payee.startswith("sha256:"):  # a forgotten one
        return bytes.fromhex(payee.split(":")[1])
    return hashlib.sha256(b"payee:" + payee.encode()).digest()


def payee_ending(payee):
    """A forget leaves so much of the text: 4 characters of 8 or more, 2 of 4 or more."""
    if payee.startswith("sha256:"):
        return (payee.split(":", 2) + [""])[2]
    return payee[-4:] if len(payee) >= 8 else payee[-2:] if len(payee) >= 4 else ""


def payout_digest(currency, items, payee):
    """K2: what CLOSED, APPROVED and REPOINTED carry: the items, and the payee that is frozen."""
    return hashlib.sha256(items_digest(currency, items) + payee_digest(payee)).digest()


def proof(payout):
    digest = payout_digest(payout.currency, payout.items, payout.payee).hex()
    return digest if payout.repoints == 0 else f"{digest} {payout.repoints}"


# Close -----------------------------------------------------------------------------------------------------


def needs_approval(ledger, account, name, amount, currency):
    """H3: no list: none needed; a currency that the list lacks: always."""
    policy = ledger.policy(account)
    if name not in policy:
        return False
    limits = {of: limit for limit, of in map(parse_money, policy[name])}
    return currency not in limits or abs(amount) > limits[currency]


def check_forward(ledger, at, command):
    """K7: not before a run of the same programs that is not void as a whole."""
    programs = set(command.get("programs", []))
    for run, account, until, of in ledger.runs:
        states = {payout.state for payout in ledger.payouts.values() if payout.run == run}
        if account == at.account and until > command["until"] and states - {"VOID"} and (
            not of or not programs or of & programs
        ):
            raise Refused(f"--until {time_text(command['until'])} lies before {time_text(until)} of run {run}")


def close(ledger, at, command):
    paid, skipped = plan(ledger, at, command)
    digest = run_digest(paid)
    if command.get("expect") not in (None, digest):
        raise Refused(f"the payouts would not be those of --expect {command['expect']}: they are {digest}")
    payouts = [
        make(ledger, at, share, number, command["until"], approval=True) for number, share in enumerate(paid, 1)
    ]
    ledger.runs.append((at.command_id, at.account, command["until"], set(command.get("programs", []))))
    return payouts, skipped, digest


def make(ledger, at, share, number, until, approval):
    payout_id = f"P{at.command_id[1:]}-{number:04}"
    state = "CLOSED" if approval and share.waits else "APPROVED"
    payout = ledger.payouts[payout_id] = Payout(
        payout_id, at.command_id, at.account, share.creator, share.currency, share.amount, share.items,
        until, at.received, at.actor, state, share.payee,
    )
    payout.moves["CLOSED"] = (at.actor, at.received)
    for unit, _, items in share.takes:
        stand(unit, payout, items, 1)
    closed, ledger.memos = ledger.memos, []  # their entries follow the postings of all payouts
    judge_orders(ledger, at, [payout])
    ledger.append_memos()
    ledger.memos = closed
    move_money(ledger, at, payout, "PAYOUT")
    if state == "APPROVED":
        limits.count(ledger, at, "payout", share.creator, share.currency, share.amount, of=payout_id)
    ledger.memo(
        at, "CLOSED", account=at.account, creator=share.creator, payout=payout_id,
        line=f"{proof(payout)} {state}",
    )
    return payout


def stand(unit, payout, items, sign):
    for item in items:
        key = ("" if item.kind == "CREDIT" else item.line, payout.currency)
        unit.allocated[key] = unit.allocated.get(key, Fraction(0)) + sign * item.amount
        if unit.allocated[key] == 0:
            del unit.allocated[key]
        unit.active += sign
        unit.commissions += sign * (item.kind == "COMMISSION")


def unit_of(ledger, payout, item):
    if item.kind == "CREDIT":
        return ledger.credits[item.line]
    return ledger.orders[(item.shop, item.order)].positions[(item.program, payout.creator)]


def move_money(ledger, at, payout, reason):
    """One posting per program, in the direction of the reason."""
    sums = {}
    for item in payout.items:
        sums[item.program] = sums.get(item.program, Fraction(0)) + item.amount
    for program in sorted(sums, key=str.encode):
        if sums[program]:
            ledger.payout_posting(at, payout, program, sums[program], reason)


def judge_orders(ledger, at, payouts):
    """H2: lasting anomalies are also evaluated after payout moves."""
    keys = {(item.shop, item.order) for payout in payouts for item in payout.items if item.kind != "CREDIT"}
    for key in sorted(keys & set(ledger.orders)):
        plausibility.judge(ledger, at, ledger.orders[key], event=False)


# P3, P4: moves ---------------------------------------------------------------------------------------------


def named(ledger, at, ids):
    """The payouts of the ids; a payout run's id means all its payouts."""
    found = []
    for given in ids:
        of_run = [p for p in ledger.payouts.values() if given in (p.run, p.payout_id) and p.account == at.account]
        if not of_run:
            raise Refused(f"account {at.account} has no payout {given}")
        found += [payout for payout in of_run if payout not in found]
    return found


def is_past(state, verb):
    """It went on, or ended: the verb came before."""
    return LIFE.index(state) > max(LIFE.index(of) for of in MOVES[verb])


def move(ledger, at, verb, ids, bank_ref=None):
    """Moves all payouts or none. Payouts that are in the state already are reported and left alone."""
    moving, told = [], []
    for payout in named(ledger, at, ids):
        if payout.state in MOVES[verb]:
            moving.append(payout)
        elif payout.state == TARGET[verb]:
            told.append(already(payout, verb))
        elif is_past(payout.state, verb) and payout.payout_id not in ids:
            told.append(f"payout {payout.payout_id} is passed over: it is {payout.state}")  # P3
        else:
            raise Refused(f"payout {payout.payout_id} is {payout.state}: {verb} is not possible")
    if verb == "repoint":
        moving = repoint(ledger, at, moving, told)
    recorded = [
        payout for payout in named(ledger, at, ids)
        if verb == "settle" and bank_ref and payout.payout_id in ids and payout.state == "PAID" and not payout.bank_ref
    ]
    if not moving and not recorded:
        raise Nothing("; ".join(told))
    for payout in recorded:
        payout.bank_ref = bank_ref
    for payout in moving:
        payout.state = MOVES[verb][payout.state]
        if verb != "repoint":
            payout.moves[payout.state] = (at.actor, at.received)
        payout.bank_ref = bank_ref or payout.bank_ref
        payout.end_reason = None if payout.state in ACTIVE else at.reason or None
        if verb in ("void", "repoint"):
            limits.uncount(ledger, payout)
        if payout.state not in ACTIVE:
            for item in payout.items:
                stand(unit_of(ledger, payout, item), payout, [item], -1)
        if verb in REASON:
            move_money(ledger, at, payout, REASON[verb])
        else:
            name = "REPOINTED" if verb == "repoint" else payout.state
            line = proof(payout) if verb in ("approve", "repoint") else ""
            ledger.memo(at, name, account=payout.account, creator=payout.creator, payout=payout.payout_id, line=line)
    judge_orders(ledger, at, moving)
    return "; ".join(told)


def repoint(ledger, at, payouts, told):
    """K2: the payouts whose creators have another payee by now get it, and must be approved again."""
    now = {p.payout_id: ledger.profiles.get((p.account, p.creator), {}).get("payee") or "" for p in payouts}
    without = [payout for payout in payouts if not now[payout.payout_id]]
    if without:
        raise Refused(f"payout {without[0].payout_id}: creator {without[0].creator} has no payee")
    told += [f"payout {p.payout_id} goes to payee {p.payee} already" for p in payouts if now[p.payout_id] == p.payee]
    changed = [payout for payout in payouts if now[payout.payout_id] != payout.payee]
    for payout in changed:
        payout.payee, payout.repointed_by = now[payout.payout_id], at.actor
        payout.repoints += 1
        payout.moves.pop("APPROVED", None)
    return changed


def already(payout, verb):
    if payout.state not in payout.moves:
        return f"payout {payout.payout_id} needs no approval"
    actor, when = payout.moves[payout.state]
    word = {"approve": "approved", "settle": "settled", "void": "voided"}.get(verb, verb)
    return f"payout {payout.payout_id} was {word} by {actor} at {time_text(when)}"


def check_approver(ledger, at, payout):
    """H3: another actor than the closer, and one of the approvers if there are any."""
    approvers = [entry.split(" ")[0] for entry in ledger.policy(payout.account).get("approvers", [])]
    if at.actor == payout.repointed_by:
        raise Refused(f"{at.actor} repointed payout {payout.payout_id} and cannot approve it; another has to")
    if at.actor == payout.closed_by:
        raise Refused(f"{at.actor} closed payout {payout.payout_id} and cannot approve it; another has to")
    if approvers and at.actor not in approvers:
        raise Refused(f"{at.actor} is none of the approvers: {', '.join(approvers)}")
