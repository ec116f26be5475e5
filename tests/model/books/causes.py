"""Why an order is, or is not, a creator's (docs/creators.md, "Where is my order?"), from the model's state."""

from model.books import reports
from model.books.attribution import CODE, LANDED
from model.books.state import ascii_lower
from model.values import DAY

# The first that holds counts.
FAULTS = ("CODE_NOT_YET", "CODE_ENDED", "CLICK_AFTER", "CLICK_OLD", "CLICK_UNTIMELY", "NOT_MEMBER", "MEMBER_LATER", "PROGRAM_LATER",
          "PROGRAM_ENDED", "BEFORE_OPENING", "NOT_COVERED", "CODES_ONLY", "LINKS_ONLY")
OTHERS = {"OTHER_CODE", "OTHER_CLICK", "OTHER_TYPE", "OTHER_PROGRAM", "OTHER_EARLIER"}
STATES = {"blocked": "CHECKED", "pending": "PENDING", "payable": "READY", "in_payout": "ON_ITS_WAY", "paid": "PAID"}


def program_faults(order, program, creator, kind):
    at, found = order.ordered_at, set()
    member = program.members.get(creator)
    if member is None:
        found.add("NOT_MEMBER")
    elif kind == LANDED and member.effective_from > at:
        found.add("MEMBER_LATER")
    effective_from, ends = program.effective_from_of(order.shop), program.file.get("ends_at")
    if effective_from is None:
        found.add("NOT_COVERED")
    elif program.opening_at is not None and at < program.opening_at:
        found.add("BEFORE_OPENING")
    elif ends is not None and at >= ends:
        found.add("PROGRAM_ENDED")
    elif at < max(effective_from, program.starts_at):
        found.add("PROGRAM_LATER")
    if kind not in program.file["precedence"]:
        found.add("CODES_ONLY" if kind == LANDED else "LINKS_ONLY")
    return found


def code_evidence(order, program, creator):
    """The faults of each of her codes on the order."""
    at = order.ordered_at
    for discount in order.payload.get("discounts") or []:
        rows = [row for row in program.codes.get(ascii_lower(discount["code"]), []) if row.creator == creator and not row.owns_nothing()]
        if not rows:
            continue
        begun = [row for row in rows if row.valid_from <= at]
        covering = [row for row in rows if row.covers(at)]
        row = (covering or begun or rows)[-1 if begun else 0]
        faults = program_faults(order, program, creator, CODE)
        if not row.covers(at):
            faults.add("CODE_NOT_YET" if at < row.valid_from else "CODE_ENDED")
        yield faults


def click_evidence(ledger, order, program, creator):
    """The faults of her latest click before the order, or of the first one after it."""
    at = order.ordered_at
    hers = [click for click in ledger.clicks.get(order.device, []) if (click.program, click.creator) == (program.program_id, creator)]
    before = [click for click in hers if click.at <= at]
    if not hers:
        return
    click = max(before, key=lambda one: one.at) if before else min(hers, key=lambda one: one.at)
    faults = program_faults(order, program, creator, LANDED)
    if click.at > at:
        faults.add("CLICK_AFTER")
    elif click.at < at - program.file["window_days"] * DAY:
        faults.add("CLICK_OLD")
    elif all(one.effective_from > at for one in before if one.at == click.at):
        faults.add("CLICK_UNTIMELY")
    yield faults


def of_hers(ledger, order, position, now):
    if order.position is not position or order.rejected:
        return "TAKEN_BACK"
    if order.cancelled_at is not None:
        return "CANCELLED"
    if reports.commission(ledger, order)[0] == 0:
        return "REFUNDED" if order.rows else "EARNS_NOTHING"
    return STATES[reports.status(ledger, order, now)]


def cause(ledger, order, creator, now):
    """One cause; the set OTHERS where the model does not know the candidates of the attribution."""
    hers = [position for position in order.positions.values() if position.creator == creator]
    if hers:
        live = [position for position in hers if position is order.position]
        return of_hers(ledger, order, (live or hers)[0], now)
    evidence = []
    for program in ledger.programs.values():
        if program.account == order.account:
            evidence += code_evidence(order, program, creator)
            evidence += click_evidence(ledger, order, program, creator)
    if not order.live and (order.barred or order.rejected):
        return "NOT_COUNTED"
    if not order.live and order.cancelled_at is not None:
        return "CANCELLED_BEFORE"
    if any(not faults for faults in evidence):
        return OTHERS if order.live else "WAITING"
    if evidence:
        return min(set().union(*evidence), key=FAULTS.index)
    return "NO_DEVICE" if order.device is None else "NO_TRACE"


def all_causes(ledger, account, now):
    """(shop, order, creator) -> cause."""
    creators = [creator for of, creator in ledger.profiles if of == account]
    return {(order.shop, order.order_id, creator): cause(ledger, order, creator, now)
            for order in ledger.orders.values() if order.account == account for creator in creators}
