"""Commands of people: by hand (A3), money, holds (H1), approvals (H3), accounts of keys (K1)."""

import copy
from dataclasses import replace
from fractions import Fraction

from model.books import (
    attribution, events, forget, guard, imports, links, limits, openings, payouts, periods, plausibility, policy, signatures,
)
from model.books.rates import parse_money
from model.books.state import Credit, Nothing, Refused, Result
from model.values import digits, time_text

MONEY = ("adjust", "credit", "write-off", "reverse")
UNJUDGED = ("approve", "withdraw", "payout close", "payout close and settle", "forget")
MEMO_BEFORE_WORK = ("program apply", "reverse", "opening import", "creator import", "click import", "detach")
MOVES = ("sent", "settle", "failed", "returned", "void", "repoint")


def run(ledger, at, command):
    do, command = command["do"], with_first_ids(ledger, at, command)
    if do in MOVES:
        return Result("done", payouts.move(ledger, at, do, command["ids"], command.get("bank_ref")))
    if do in UNJUDGED:
        return answer_of(HANDLERS[do](ledger, at, command))
    if is_money(ledger, command):
        return money(ledger, at, command)
    return guard.run_judged(
        ledger, at, command, accounts_of(ledger, at, command), lambda on: answer_of(HANDLERS[do](on, at, command)),
        lambda account: ledger.wait(at, command, account))


def answer_of(answer):
    return answer if isinstance(answer, Result) else Result("done", answer or "")


def is_money(ledger, command):
    """Whether the command makes one posting. The reversal of an import makes many."""
    return command["do"] in MONEY and not (command["do"] == "reverse" and openings.is_import(ledger, command["id"]))


def with_first_ids(ledger, at, command):
    """A renamed creator may be called by any id; the ledger knows the first (J4)."""
    changed = dict(command)
    for name in ("creators", "exclude"):
        if name in command:
            changed[name] = [ledger.creator_id(at.account, creator) for creator in command[name]]
    if "creator" in command:
        changed["creator"] = ledger.creator_id(at.account, command["creator"])
    if "rows" in command:
        changed["rows"] = [with_first_id(ledger, row) for row in command["rows"]]
    return changed


def with_first_id(ledger, row):
    program = ledger.programs.get(row["program"])
    return {**row, "creator": ledger.creator_id(program.account, row["creator"])} if program else row


def accounts_of(ledger, at, command):
    """K1: the key of an import or apply counts in each account that it touches."""
    if command["do"] == "program apply":
        named = {row["account"] for row in [*command["programs"], *command.get("policies", [])]}
        return sorted(named)
    if command["do"] in ("creator import", "click import"):
        programs = {row["program"] for row in command["rows"]}
        return sorted({ledger.programs[p].account for p in programs if p in ledger.programs}) or [at.account]
    return [at.account]


def find_order(ledger, at, command):
    shop = command.get("shop", "shop-1")
    order = ledger.orders.get((shop, command["order"]))
    if order is None or order.account != at.account:
        raise Refused(f"there is no order {command['order']} in shop {shop}")
    return order


def need_reason(at):
    if not 1 <= len(at.reason.encode()) <= 1000:
        raise Refused("--reason has to say why, in 1 to 1000 bytes")


# A3: by hand ----------------------------------------------------------------------------------------------


def attribute(ledger, at, command):
    need_reason(at)
    order = find_order(ledger, at, command)
    program, creator = command["program"], command["creator"]
    known = ledger.programs.get(program)
    if known is None or known.account != at.account or not known.covers(order.shop):
        raise Refused(f"account {at.account} has no program {program} that covers shop {order.shop}")
    if creator not in known.ever:
        raise Refused(f"creator {creator} was never in program {program}; import the creator first")
    if order.live == (program, creator):
        raise Nothing(f"order {order.order_id} belongs to {creator} in {program} already")
    if known.opening_at is not None and order.ordered_at < known.opening_at:
        raise Refused(f"order {order.order_id} earns nothing: program {program} has opening balances")
    if order.live and not command.get("replace"):
        raise Refused(f"order {order.order_id} belongs to {order.live[1]} in {order.live[0]}; --replace takes it away")
    if order.live:
        leave(ledger, at, order, order.position)
        order.live = None
        ledger.count_volume(at, order)
    attribution.give(ledger, at, order, program, creator, (attribution.MANUAL,), at.command_id)
    events.post(ledger, at, order, reason="ATTRIBUTION")
    plausibility.judge(ledger, at, order, event=False)


def detach(ledger, at, command, approved=None):
    """Detaches one order, or all that one import, apply or `attribute` attributed; --retry tries each again."""
    need_reason(at)
    if "cause" in command:
        cause = command["cause"]
        orders = [o for o in ledger.orders.values() if o.account == at.account and o.live and o.position.cause == cause]
        if not orders:
            raise Nothing(f"{cause} gave out no order that still belongs to whom it gave it")
    else:
        orders = [find_order(ledger, at, command)]
        if not orders[0].live and not (command.get("retry") and orders[0].barred):
            raise Nothing(f"order {orders[0].order_id} belongs to no creator")
    if approved and "cause" in command:  # its orders follow one by one
        detach(copy.deepcopy(ledger), at, command)
        approved()
    orders.sort(key=lambda order: order.key)
    changed = [go_on(ledger, at, order, command.get("retry")) for order in orders]
    if not any(changed):
        raise Nothing(f"nothing changes: of {len(orders)} orders each belongs to whom it belonged")


def go_on(ledger, at, order, retry):
    """The order is barred or tried again. Who gets it back keeps it: nothing is posted and marked then (J1: one
    posting per line, currency and input)."""
    was = order.live
    chosen = attribution.choose(ledger, order) if retry else None
    if (chosen[:2] if chosen else None) == was:
        return False
    order.barred = True
    if was:
        leave(ledger, at, order, order.positions[was])
    order.live = None
    if chosen:
        attribution.give(ledger, at, order, *chosen, at.command_id)
        events.post(ledger, at, order, reason="ATTRIBUTION")
    else:
        ledger.count_volume(at, order)
    plausibility.judge(ledger, at, order, event=False)
    return True


def leave(ledger, at, order, position):
    events.clear(ledger, at, order, position, "DETACH")
    ledger.memo(at, "DETACHED", order=order, program=position.program, creator=position.creator)


# Reject, hold, release, acknowledge, reset ----------------------------------------------------------------


def reject(ledger, at, command):
    need_reason(at)
    order = find_order(ledger, at, command)
    if order.rejected:
        raise Nothing(f"order {order.order_id} is rejected already")
    order.rejected = True
    events.post(ledger, at, order, reason="REJECT")
    ledger.memo(at, "REJECTED", order=order)
    plausibility.judge(ledger, at, order, event=False)


def hold_key(ledger, at, command):
    program = command.get("program", "")
    if program and (program not in ledger.programs or ledger.programs[program].account != at.account):
        raise Refused(f"account {at.account} has no program {program}")
    return at.account, command["creator"], program


def hold(ledger, at, command):
    need_reason(at)
    if "creator" in command:
        key = hold_key(ledger, at, command)
        if key in ledger.held_creators:
            raise Nothing(f"creator {key[1]} is held already")
        ledger.held_creators.add(key)
        ledger.memo(at, "HELD", account=at.account, creator=key[1], program=key[2])
        return
    order = find_order(ledger, at, command)
    if order.held:
        raise Nothing(f"order {order.order_id} is held already")
    order.held = True
    ledger.memo(at, "HELD", order=order)
    plausibility.judge(ledger, at, order, event=False)


def release(ledger, at, command):
    need_reason(at)
    if "creator" in command:
        key = hold_key(ledger, at, command)
        if key not in ledger.held_creators:
            raise Nothing(f"creator {key[1]} is not held")
        ledger.held_creators.remove(key)
        ledger.memo(at, "RELEASED", account=at.account, creator=key[1], program=key[2])
        return
    order = find_order(ledger, at, command)
    of = command.get("of") or ("hold" if order.held else "reject")
    if order.held and order.rejected and "of" not in command:
        raise Refused(f"order {order.order_id} is held and rejected: say --hold or --reject")
    if not (order.held if of == "hold" else order.rejected):
        raise Nothing(f"order {order.order_id} is not {'held' if of == 'hold' else 'rejected'}")
    if of == "hold":
        order.held = False
    else:
        order.rejected = False
        events.post(ledger, at, order, reason="RELEASE")
    ledger.memo(at, "RELEASED", order=order, line=of)
    plausibility.judge(ledger, at, order, event=False)


def acknowledge(ledger, at, command):
    need_reason(at)
    order = find_order(ledger, at, command)
    if not plausibility.acknowledge(ledger, at, order, command["kind"]):
        raise Nothing(f"nothing of {command['kind']} is left to acknowledge for order {order.order_id}")
    ledger.memo(at, "ACKNOWLEDGED", order=order, line=command["kind"])
    plausibility.judge(ledger, at, order, event=False)


def reset(ledger, at, command):
    """O5: back from a version in the future; fields stay until the next payload."""
    need_reason(at)
    order = find_order(ledger, at, command)
    version = command.get("version")
    if version is None:
        version = order.ordered_at if order.plausible_version is None else order.plausible_version
    if version >= order.version:
        raise Refused(f"{time_text(version)} is not below {time_text(order.version)}, the order's version")
    order.version = version
    # Each line keeps its effective row, so a reset posts nothing.
    rows = sorted((r for r in order.rows.values() if r.version >= version), key=lambda r: (r.version, r.arrival))
    for row, arrival in zip(rows, sorted(row.arrival for row in rows)):
        row.version, row.arrival = version, arrival
    if order.device_version is not None:
        order.device_version = min(order.device_version, version)
    order.digests = {digest: stale for digest, stale in order.digests.items() if not stale}
    anomaly = order.anomalies.get("VERSION_IN_FUTURE")
    if anomaly and anomaly.acknowledged_by is None:
        anomaly.acknowledged_by, anomaly.acknowledged_at = at.actor, at.received
    ledger.memo(at, "RESET", order=order, line=time_text(version))
    plausibility.judge(ledger, at, order, event=False)


# Money by hand --------------------------------------------------------------------------------------------


def money(ledger, at, command):
    """Checked now; posted now, or when another actor approves (H3)."""
    need_reason(at)
    checked = CHECKS[command["do"]](ledger, at, command)
    amount, currency = checked["amount"], checked["currency"]
    return guard.run_judged(
        ledger, at, command, [at.account],
        lambda on: Result("done", post_money(on, at, at, command, CHECKS[command["do"]](on, at, command))),
        lambda account: ledger.wait(at, command, account, amount, currency, checked.get("live")))


def post_money(ledger, at, asked, command, checked):
    POSTINGS[command["do"]](ledger, at, asked, command, checked)
    limits.count(ledger, at, "adjust", checked["creator"], checked["currency"], checked["amount"])
    return asked.command_id


def check_amount(amount, currency, given):
    if amount == 0:
        raise Refused("an amount of 0 changes nothing")
    if (amount * 10 ** digits(currency)).denominator != 1:
        raise Refused(f"{given} has more than the {digits(currency)} digits of {currency}")


def check_adjust(ledger, at, command):
    order = find_order(ledger, at, command)
    if not order.live:
        raise Refused(f"order {order.order_id} belongs to no creator; attribute it first")
    amount = Fraction(command["amount"])
    check_amount(amount, order.currency, command["amount"])
    return {"amount": amount, "currency": order.currency, "order": order, "live": order.live, "creator": order.live[1]}


def post_adjust(ledger, at, asked, command, checked):
    order = checked["order"]
    position = order.position
    ledger.posting(at, position, "", checked["currency"], checked["amount"], "MANUAL", order.shop, order.order_id)
    ledger.money[asked.command_id] = (position, order, checked["currency"], checked["amount"])
    plausibility.judge(ledger, at, order, event=False)


def check_credit(ledger, at, command):
    amount, currency = parse_money(command["amount"])
    check_amount(amount, currency, command["amount"])
    program = ledger.programs.get(command["program"])
    if program is None or program.account != at.account:
        raise Refused(f"account {at.account} has no program {command['program']}")
    if command["creator"] not in program.ever:
        raise Refused(f"creator {command['creator']} was never in program {command['program']}; import the creator first")
    if "order" in command and (command.get("shop", "shop-1"), command["order"]) in ledger.orders:
        raise Refused(f"order {command['order']} is there; adjust it")
    return {"amount": amount, "currency": currency, "creator": command["creator"]}


def post_credit(ledger, at, asked, command, checked):
    shop = command.get("shop", "shop-1") if "order" in command else ""
    credit = ledger.credits[asked.command_id] = Credit(
        at.account, command["program"], command["creator"], credit_id=asked.command_id, shop=shop,
        order=command.get("order", ""), sale_at=command.get("sale_at", at.received),
        amount=checked["amount"], currency=checked["currency"],
    )
    ledger.posting(at, credit, "", credit.currency, credit.amount, "CREDIT", credit.shop, credit.order)
    ledger.money[asked.command_id] = (credit, None, credit.currency, credit.amount)


def check_reverse(ledger, at, command):
    which = command["id"]
    if which in ledger.reversals:
        raise Refused(f"{which} was reversed by {ledger.reversals[which]}")
    if which in ledger.pending_approvals and ledger.pending_approvals[which].state == "PENDING":
        raise Refused(f"{which} waits for an approval; withdraw it")
    posted = ledger.money.get(which)
    if posted is None or posted[0].account != at.account:
        raise Refused(f"account {at.account} has no adjust or credit {which}")
    openings.check_not_written_off(ledger, [which])
    return {"amount": -posted[3], "currency": posted[2], "creator": posted[0].creator}


def post_reverse(ledger, at, asked, command, checked):
    unit, order, currency, amount = ledger.money[command["id"]]
    shop, order_id = (order.shop, order.order_id) if order else (unit.shop, unit.order)
    ledger.posting(at, unit, "", currency, -amount, "REVERSAL", shop, order_id)
    ledger.reversals[command["id"]] = asked.command_id
    openings.end(ledger, at, [command["id"]])
    touched = ledger.orders.get((shop, order_id))
    if touched:
        plausibility.judge(ledger, at, touched, event=False)
    openings.judge_deducted(ledger, at, unit)


CHECKS = {"adjust": check_adjust, "credit": check_credit, "write-off": openings.check_write_off, "reverse": check_reverse}
POSTINGS = {"adjust": post_adjust, "credit": post_credit, "write-off": openings.post_write_off, "reverse": post_reverse}


def reverse_import(ledger, at, command, approved=None):
    need_reason(at)
    waiting = ledger.pending_approvals.get(command["id"])
    if waiting and waiting.state == "PENDING":
        raise Refused(f"{command['id']} waits for an approval; withdraw it")
    return openings.reverse_import(ledger, at, command, approved)


# H3: approvals --------------------------------------------------------------------------------------------


def ended_words(waiting):
    return f"{waiting.waiting_id} was {waiting.state.lower()} by {waiting.ended_by} at {time_text(waiting.ended_at)}"


def answer_again(ledger, first):
    """K1: the first result again; for a command that needed an approval, its present state."""
    waiting = ledger.pending_approvals.get(first.command_id) if first.outcome == "pending" else None
    if waiting is None:
        return replace(first, outcome="repeated")
    if waiting.state == "PENDING":
        return first
    outcome = "repeated" if waiting.state == "APPROVED" else "refused"
    return replace(first, outcome=outcome, text=ended_words(waiting))


def approve(ledger, at, command):
    waiting = ledger.pending_approvals.get(command["id"])
    if waiting is None:
        return approve_payouts(ledger, at, command)
    if at.account != waiting.given.account:
        raise Refused(f"account {at.account} has no command {command['id']}")
    if waiting.state != "PENDING":
        if waiting.state == "APPROVED":
            raise Nothing(ended_words(waiting))
        raise Refused(ended_words(waiting))
    at = signatures.approver(ledger, at, command, (waiting.waiting_id, waiting, []))
    check_approver(ledger, at, waiting)
    marked = []

    def memo():
        marked.append(ledger.memo(at, "APPROVED", account=at.account, line=waiting.waiting_id))

    posted = posted_by(at, waiting)
    if is_money(ledger, waiting.command):
        checked = CHECKS[waiting.command["do"]](ledger, posted, waiting.command)
        if (checked["currency"], checked.get("live")) != (waiting.currency, waiting.live):
            raise Refused(f"what {waiting.waiting_id} was about has changed since; withdraw it and ask again")
        post_money(ledger, posted, waiting.given, waiting.command, checked)
        memo()
    else:
        more = {"approved": memo} if waiting.command["do"] in MEMO_BEFORE_WORK else {}
        HANDLERS[waiting.command["do"]](ledger, posted, waiting.command, **more)
        if not marked:
            memo()
    waiting.state, waiting.ended_by, waiting.ended_at = "APPROVED", at.actor, at.received


def posted_by(at, waiting):
    """Entries have the receipt and the input of the approval, the id and the actor of who asked."""
    return replace(at, command_id=waiting.waiting_id, actor=waiting.given.actor, account=waiting.given.account,
                   reason=waiting.given.reason)


def run_waiting(ledger, at, waiting):
    """Runs a command as its approval would."""
    posted, command = posted_by(at, waiting), waiting.command
    if is_money(ledger, command):
        post_money(ledger, posted, waiting.given, command, CHECKS[command["do"]](ledger, posted, command))
    else:
        HANDLERS[command["do"]](ledger, posted, command)


def approve_payouts(ledger, at, command):
    found = payouts.named(ledger, at, [command["id"]])
    closed = sorted((payout for payout in found if payout.state == "CLOSED"), key=lambda payout: payout.payout_id)
    if closed:
        at = signatures.approver(ledger, at, command, (command["id"], None, closed))
    for payout in closed:
        payouts.check_approver(ledger, at, payout)
    return payouts.move(ledger, at, "approve", [command["id"]])


def check_approver(ledger, at, waiting):
    if at.actor == waiting.given.actor:
        raise Refused(f"{at.actor} asked for {waiting.waiting_id} and cannot approve it; another has to")
    approvers = signatures.names(ledger.policy(at.account))
    if approvers and at.actor not in approvers:
        raise Refused(f"{at.actor} is none of the approvers: {', '.join(approvers)}")


def withdraw(ledger, at, command):
    need_reason(at)
    waiting = ledger.pending_approvals.get(command["id"])
    if waiting is None or at.account != waiting.given.account:
        raise Refused(f"account {at.account} has no command {command['id']} that waits")
    if waiting.state == "WITHDRAWN":
        raise Nothing(ended_words(waiting))
    if waiting.state != "PENDING":
        raise Refused(ended_words(waiting))
    waiting.state, waiting.ended_by, waiting.ended_at = "WITHDRAWN", at.actor, at.received
    ledger.memo(at, "WITHDRAWN", account=at.account, line=command["id"])


# Payouts and periods --------------------------------------------------------------------------------------


def close(ledger, at, command):
    made, skipped, digest = payouts.close(ledger, at, command)
    return Result("done", payouts=[payout.payout_id for payout in made], skipped=skipped, digest=digest)


def close_and_settle(ledger, at, command):
    made, _, _ = payouts.close(ledger, at, command)
    for payout in made:
        payouts.move(ledger, at, "settle", [payout.payout_id])
    return Result("done", payouts=[payout.payout_id for payout in made])


def period_close(ledger, at, command):
    period = periods.closable(ledger, at, command["until"], command.get("allow_late", False))
    periods.close(ledger, at, period)
    return None


HANDLERS = {
    "attribute": attribute,
    "detach": detach,
    "reject": reject,
    "hold": hold,
    "release": release,
    "anomaly ack": acknowledge,
    "order reset": reset,
    "approve": approve,
    "withdraw": withdraw,
    "payout close": close,
    "payout close and settle": close_and_settle,
    "period close": period_close,
    "forget": forget.forget,
    "program apply": policy.apply,
    "opening import": openings.import_openings,
    "reverse": reverse_import,
    "creator import": imports.creators,
    "creator remove": imports.remove,
    "creator set": imports.set_creator,
    "creator rename": imports.rename,
    "click import": imports.clicks,
    "link": links.change,
}
