"""Attribution of an order: candidates (A1), effective dates (A2), by hand (A3)."""

from model.books import rates
from model.books.state import Position, ascii_lower
from model.values import DAY

CODE, LANDED, MANUAL = "AFFILIATE_CODE", "LANDED", "MANUAL"


def candidates(ledger, order, program):
    """type -> [(rank, creator)] of one program, best first, in the program's precedence."""
    effective_from = program.effective_from_of(order.shop)
    ends = program.file.get("ends_at")
    at = order.ordered_at
    if program.opening_at is not None and at < program.opening_at:
        return {}
    if effective_from is None or at < max(effective_from, program.starts_at) or (ends is not None and at >= ends):
        return {}
    found = {CODE: [], LANDED: []}
    for place, discount in enumerate(order.payload.get("discounts") or []):
        creator = owner(program, discount["code"], at)
        if creator in program.members:
            found[CODE].append((place, creator))
    click = latest_click(ledger, order, program)
    if click:
        found[LANDED].append((-click.at, click.creator))
    return {kind: found[kind] for kind in program.file["precedence"] if found[kind]}


def owner(program, code, at):
    for row in program.codes.get(ascii_lower(code), []):
        if row.covers(at):
            return row.creator
    return None


def latest_click(ledger, order, program):
    """In the window, both ends included; at one instant the last imported."""
    at = order.ordered_at
    start = at - program.file["window_days"] * DAY
    counting = [
        click
        for click in ledger.clicks.get(order.device, [])
        if click.program == program.program_id and start <= click.at <= at and at >= click.effective_from
        and click.creator in program.members and at >= program.members[click.creator].effective_from
    ]
    return max(counting, key=lambda click: (click.at, click.number), default=None)


def choose(ledger, order):
    """(program, creator, types), or None."""
    choices = []
    for program in ledger.programs.values():
        if program.account != order.account:
            continue
        found = candidates(ledger, order, program)
        if found:
            kind = next(iter(found))
            rank, creator = found[kind][0]
            types = tuple(sorted(k for k, best in found.items() if creator in [c for _, c in best]))
            choices.append(((kind != CODE, rank, program.program_id.encode()), program.program_id, creator, types))
    return min(choices)[1:] if choices else None


def attribute(ledger, at, order, cause):
    """A1. The caller posts."""
    if order.barred:
        return False
    chosen = choose(ledger, order)
    if chosen is None:
        return False
    give(ledger, at, order, *chosen, cause)
    click = latest_click(ledger, order, ledger.programs[chosen[0]]) if LANDED in chosen[2] else None
    order.position.link = click.link if click else ""
    return True


def give(ledger, at, order, program, creator, types, cause):
    """The order gets its position: a new one, or the one that it had before, with its frozen facts."""
    key = (program, creator)
    position = order.positions.get(key)
    if position is None:
        position = order.positions[key] = Position(
            order.account, program, creator, shop=order.shop, order=order.order_id
        )
        rates.freeze_facts(ledger, order, position)
    else:
        rates.rate_again(ledger, order, position)
    position.types, position.cause = types, cause
    order.live, order.barred = key, False
    rates.freeze(ledger, order, position)
    ledger.memo(at, "ATTRIBUTED", order=order, program=program, creator=creator, line="+".join(types))
