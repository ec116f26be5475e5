"""The listings as JSON rows, with the columns that people and programs get. Absent is None."""

from fractions import Fraction

from model.books import payouts, periods, plausibility, rates, reports
from model.books.journal import OWED
from model.values import digits, text, time_text


def amount(value, currency):
    return text(Fraction(value), digits(currency))


def when(at):
    return None if at is None else time_text(at)


def balances(ledger, account, now):
    rows = [
        {
            "account_id": account, "program_id": program, "creator_id": ledger.creator_name(account, creator),
            "currency": currency,
            **{name: amount(row[name], currency)
               for name in ("pending", "blocked", "payable", "in_payout", "paid", "total")},
        }
        for (program, creator, currency), row in reports.balances(ledger, account, now).items()
    ]
    return sorted(rows, key=lambda row: (row["program_id"], row["creator_id"], row["currency"]))


def journal(ledger, account):
    """Entries keep the creator's first id."""
    return [
        {
            "node": e.node, "entry": e.number, "event_seq": e.seq, "command_id": e.command_id or None,
            "account_id": e.account, "program_id": e.program or None, "creator_id": e.creator or None,
            "shop_id": e.shop or None, "order_id": e.order or None, "line_item_id": line_of(ledger, e) or None,
            "currency": e.currency or None, "amount": None if e.is_memo else amount(e.amount, e.currency),
            "debit_account": e.accounts[0] or None, "credit_account": e.accounts[1] or None,
            "reason": e.reason, "payout_id": e.payout or None,
            "recorded_at": when(e.recorded_at), "accounting_date": when(e.accounting_date),
            "refers_to": e.refers_to or None, "note": e.note or None, "actor": e.actor or None,
            "refers_to_node": e.node if e.refers_to else None,
        }
        for e in ledger.journal.entries
        if e.account == account
    ]


def line_of(ledger, entry):
    """The journal has digests of payees; the listing shows the references until they are forgotten."""
    if entry.reason == "PAYEE_CHANGED":
        stored = [reference for key, references in ledger.payee_changes.items()
                  if key[:2] == (entry.account, entry.creator) for reference in references.split(" -> ")]
        stored.sort(key=lambda reference: not reference.startswith("sha256:"))  # one that came back is shown
        known = {payouts.payee_digest(reference).hex(): reference for reference in stored}
        return " -> ".join(known.get(digest, f"sha256:{digest}") for digest in entry.line.split(" "))
    return entry.line


def payout_rows(ledger, account):
    return [payout_row(ledger, ledger.payouts[p]) for p in sorted(ledger.payouts) if ledger.payouts[p].account == account]


def payout_row(ledger, payout):
    profile = ledger.profiles.get((payout.account, payout.creator), {})
    ended = [payout.moves[state] for state in ("RETURNED", "FAILED", "VOID", "PAID") if state in payout.moves]
    return {
        "payout_id": payout.payout_id, "payout_run": payout.run, "account_id": payout.account,
        "creator_id": ledger.creator_name(payout.account, payout.creator), "name": profile.get("name") or None,
        "payee": payout.payee or None, "programs": sorted({i.program for i in payout.items}, key=str.encode),
        "currency": payout.currency, "amount": amount(payout.amount, payout.currency),
        "state": payout.state, "until": when(payout.until), "closed_at": when(payout.closed_at),
        "closed_by": payout.closed_by, **moved_by(payout, "APPROVED", "approved"), **moved_by(payout, "SENT", "sent"),
        "ended_by": ended[0][0] if ended else None, "ended_at": when(ended[0][1]) if ended else None,
        "end_reason": payout.end_reason,
        "repoints": payout.repoints, "repointed_by": payout.repointed_by, "message": None,
        "parts": payout_parts(payout),
        "bank_ref": payout.bank_ref, "paid_at": when(payout.paid_at), "orders": len({(i.shop, i.order) for i in payout.items if i.order}),
        "items": len(payout.items),
    }


def moved_by(payout, state, name):
    actor, instant = payout.moves.get(state, (None, None))
    return {f"{name}_by": actor, f"{name}_at": when(instant)}


def payout_parts(payout):
    """The amounts of the programs, which add up to the payout."""
    sums = {}
    for item in payout.items:
        sums[item.program] = sums.get(item.program, 0) + item.amount
    return [{"program_id": program, "amount": amount(sums[program], payout.currency)}
            for program in sorted(sums, key=str.encode)]


def payout_items(payout):
    rows = []
    for item in sorted(payout.items, key=lambda item: item.key):
        rows.append({
            "payout_id": payout.payout_id, "program_id": item.program, "shop_id": item.shop or None,
            "order_id": item.order or None, "line_item_id": None if item.kind == "CREDIT" else item.line or None,
            "kind": item.kind, "amount": amount(item.amount, payout.currency),
            "ordered_at": when(item.sold_at),
        })
    return rows


def preview(ledger, at, command):
    """{payouts, skipped, digest}."""
    paid, skipped = payouts.plan(ledger, at, command)
    return {
        "payouts": [preview_row(ledger, at, share, command) for share in paid],
        "skipped": skipped_rows(ledger, at.account, skipped),
        "digest": payouts.run_digest(paid),
    }


def skipped_rows(ledger, account, skipped):
    return [
        {"creator_id": ledger.creator_name(account, creator), "currency": of, "amount": amount(value, of), "skip_reason": why}
        for creator, of, value, why in skipped
    ]


def preview_row(ledger, at, share, command):
    profile = ledger.profiles.get((at.account, share.creator), {})
    return {
        "payout_id": None, "payout_run": None, "account_id": at.account,
        "creator_id": ledger.creator_name(at.account, share.creator), "name": profile.get("name") or None,
        "payee": share.payee or None, "programs": sorted({i.program for i in share.items}, key=str.encode),
        "currency": share.currency, "amount": amount(share.amount, share.currency),
        "state": "CLOSED" if share.waits else "APPROVED", "until": when(command["until"]), "closed_at": None,
        "closed_by": None, "approved_by": None, "approved_at": None, "repoints": 0, "repointed_by": None,
        "sent_by": None, "sent_at": None, "message": None, "ended_by": None, "ended_at": None, "end_reason": None, "bank_ref": None,
        "paid_at": None, "parts": None,
        "orders": len({(i.shop, i.order) for i in share.items if i.order}), "items": len(share.items),
    }


def statement(ledger, account, creator, month):
    """`ledger_account` and `amount`: what a posting adds to owed; one that does not touch owed, to paid."""
    found = periods.statement(ledger, account, ledger.creator_id(account, creator), month)
    rows = []
    for e in found["rows"]:
        ledger_account = OWED if e.into(OWED) else "paid"
        rows.append({
            "accounting_date": when(e.accounting_date), "program_id": e.program, "currency": e.currency,
            "ledger_account": ledger_account,
            "reason": e.reason, "amount": amount(e.into(ledger_account), e.currency), "shop_id": e.shop or None,
            "order_id": e.order or None, "line_item_id": e.line or None, "refers_to": e.refers_to or None,
            "payout_id": e.payout or None,
        })
    sums = [
        {"program_id": program, "currency": currency, **{name: amount(v, currency) for name, v in row.items()}}
        for (program, currency), row in found["sums"].items()
    ]
    return {**found, "creator_id": name_in(ledger, account, found), "rows": rows, "sums": sums}


def name_in(ledger, account, statement):
    """A closed month keeps the name of its end, and never changes by a byte (S3)."""
    first = statement["creator_id"]
    if statement["status"] != "closed":
        return ledger.creator_name(account, first)
    until = rates.month_bounds(statement["month"])[1]
    renames = [e for e in ledger.journal.entries if (e.reason, e.account, e.creator) == ("RENAMED", account, first)]
    return [first, *(e.line for e in renames if e.accounting_date < until)][-1]


def orders(ledger, account, now):
    return [
        order_row(ledger, order, now)
        for order in sorted(ledger.orders.values(), key=lambda order: order.key)
        if order.account == account
    ]


def order_row(ledger, order, now):
    rows = list(order.standing_rows().values())
    position = order.position
    commission, currency = reports.commission(ledger, order)
    payout_ids = {
        payout.payout_id for payout in ledger.payouts.values()
        if any((i.shop, i.order) == (order.shop, order.order_id) and i.kind != "CREDIT" for i in payout.items)
    }
    return {
        "order_id": order.order_id, "shop_id": order.shop, "account_id": order.account,
        "creator_id": ledger.creator_name(order.account, position.creator) if position else None,
        "program_id": position.program if position else None,
        "attribution_types": sorted(position.types) if position else [],
        "commission_amount": amount(commission, currency),
        "accrued": amount(position.accrued_in(currency) if position else 0, currency), "commission_currency": currency,
        "amount": order.payload["amount"], "tax": order.payload["tax"], "shipping": order.payload["shipping"],
        "refund_amount": reports.added(rows, "amount"), "refund_tax": reports.added(rows, "tax"),
        "currency": order.currency, "cancelled_at": when(order.cancelled_at), "ordered_at": when(order.ordered_at),
        "last_updated_at": when(order.version), "status": reports.status(ledger, order, now),
        "blocked_by": reports.blocked_by(ledger, order), "payouts": sorted(payout_ids),
    }


def raised(value):
    """The value of an anomaly: an instant, or [amount as a fraction, currency]."""
    return [str(value[0]), value[1]] if isinstance(value, tuple) else when(value)


def anomalies(ledger, account):
    return [
        {
            "event_seq": found.first or None, "account_id": order.account, "shop_id": order.shop, "order_id": order.order_id, "kind": kind,
            "recorded_at": when(found.recorded_at), "count": found.count, "blocks": kind in plausibility.blocking(ledger, order),
            "acknowledged_by": found.acknowledged_by, "acknowledged_at": when(found.acknowledged_at),
            "value": raised(found.value), "acknowledged_value": raised(found.acknowledged_value),
        }
        for order in sorted(ledger.orders.values(), key=lambda order: order.key)
        if order.account == account
        for kind, found in sorted(order.anomalies.items())
    ]


def approvals(ledger, account):
    """Lists pending approvals: commands, and payouts that are closed and not approved."""
    rows = [
        {
            "id": waiting.waiting_id, "command": waiting.command["do"], "account_id": account,
            "amount": None if waiting.amount is None else amount(waiting.amount, waiting.currency),
            "currency": waiting.currency, "actor": waiting.given.actor, "reason": waiting.given.reason or None,
            "received_at": when(waiting.given.received),
        }
        for waiting in ledger.pending_approvals.values()
        if waiting.state == "PENDING" and waiting.given.account == account
    ]
    rows += [
        {
            "id": p.payout_id, "command": "payout close", "account_id": account, "amount": amount(p.amount, p.currency),
            "currency": p.currency, "actor": p.closed_by, "reason": None, "received_at": when(p.closed_at),
        }
        for p in ledger.payouts.values()
        if p.state == "CLOSED" and p.account == account
    ]
    return sorted(rows, key=lambda row: row["id"])
