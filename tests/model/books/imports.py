"""Imports of creators, codes and clicks; orders that wait for them are tried again (A1, A2)."""

from dataclasses import replace

from model.books import attribution, events, plausibility
from model.books.state import Click, CodeRow, Member, Nothing, Refused, ascii_lower
from model.values import DAY, time_text


def program_of(ledger, name, line):
    if name not in ledger.programs:
        raise Refused(f"line {line}: there is no program {name}")
    return ledger.programs[name]


def effective_from_of(at, command, program):
    """A2: how far back an input counts, unless --effective-from says it."""
    return command["effective_from"] if command.get("effective_from") is not None else at.received - program.late


# Creators and codes ----------------------------------------------------------------------------------------


def creators(ledger, at, command, approved=False):
    """All rows or none. Line 1 is the header."""
    codes = {name: {code: list(rows) for code, rows in p.codes.items()} for name, p in ledger.programs.items()}
    ended, out = {}, {}  # line -> code, line -> creator
    rejoin = set()
    for line, row in enumerate(command["rows"], 2):
        program = program_of(ledger, row["program"], line)
        stays = stays_removed(program, command, row, rejoin)
        if row.get("code") and leaves_ended(codes[program.program_id], at, row):
            ended[line] = row["code"]
        elif stays:
            out[line] = row["creator"]
        elif row.get("code"):
            import_code(codes[program.program_id], at, command, program, row, line)
    for name, program in ledger.programs.items():
        program.codes = codes[name]
    joined = {
        ledger.programs[row["program"]].account
        for line, row in enumerate(command["rows"], 2)
        if line not in out and join(ledger, at, command, row, line in ended)
    }
    if approved:
        approved()  # orders are tried afterwards
    for line, row in enumerate(command["rows"], 2):
        if row.get("code") and line not in out:
            account = ledger.programs[row["program"]].account
            try_waiting(ledger, at, [account], lambda order, code=ascii_lower(row["code"]): code in codes_of(order))
    try_waiting(ledger, at, joined, lambda order: True)
    return ", ".join(f"line {line} {named}" for line, named in [*ended.items(), *out.items()])


def codes_of(order):
    return [ascii_lower(discount["code"]) for discount in order.payload.get("discounts") or []]


def leaves_ended(codes, at, row):
    """A2: an import of the full list undoes no removal."""
    own = [other for other in codes.get(ascii_lower(row["code"]), []) if other.creator == row["creator"]]
    dated = row.get("valid_from") is not None or row.get("valid_until") is not None
    ended = [o.owns_nothing() or (o.valid_until is not None and o.valid_until <= at.received) for o in own]
    return not dated and own and all(ended)


def stays_removed(program, command, row, rejoin):
    """A2: nor does it bring a removed creator back, unless a row with dates, this one or one before, does."""
    member = (program.program_id, row["creator"])
    if any(value is not None for value in (row.get("valid_from"), row.get("valid_until"), command.get("effective_from"))):
        rejoin.add(member)
        return False
    return row["creator"] in program.ever and row["creator"] not in program.members and member not in rejoin


def join(ledger, at, command, row, ended):
    """True: the creator was not in the program. Clicks that are there already count from now on."""
    program = ledger.programs[row["program"]]
    if ended and row["creator"] not in program.members:
        return False
    joins = row["creator"] not in program.members
    if joins:
        program.members[row["creator"]] = Member(effective_from_of(at, command, program))
        program.ever.add(row["creator"])
    if row.get("group") and row["creator"] in program.members:
        program.members[row["creator"]].group = row["group"]
    key = (program.account, row["creator"])
    known = key in ledger.profiles
    profile = ledger.profiles.setdefault(key, {})
    if row.get("name"):
        profile["name"] = row["name"]
    if row.get("payee") and known:
        ledger.change_payee(at, *key, row["payee"])
    elif row.get("payee"):
        profile["payee"] = row["payee"]
    return joins


def import_code(codes, at, command, program, row, line):
    """Rows of one code never overlap. Without dates a row that is there stays, also if it has ended; with dates it changes."""
    code, creator = ascii_lower(row["code"]), row["creator"]
    given_from, given_until = row.get("valid_from"), row.get("valid_until")
    rows = codes.setdefault(code, [])
    own = [other for other in rows if other.creator == creator]
    if given_from is None and given_until is None:
        if own:
            return
        changed, new = [], CodeRow(creator, default_start(at, command, program, rows), None)
    else:
        asked = CodeRow(creator, -(10**30) if given_from is None else given_from, given_until)
        changed = [other for other in own if other.overlaps(asked)]
        new = changed_row(at, command, program, rows, changed, asked, given_from)
    if new.valid_until is not None and new.valid_until <= new.valid_from:
        raise Refused(f"line {line}: valid_until {time_text(new.valid_until)} is not after valid_from "
                      f"{time_text(new.valid_from)}")
    kept = [other for other in rows if other not in changed
            and not (other.owns_nothing() and other.valid_from == new.valid_from)]  # both have one key
    for other in kept:
        if other.overlaps(new):
            raise Refused(f"line {line}: code {row['code']} belongs to creator {other.creator} in program {row['program']}")
    codes[code] = sorted([*kept, new], key=lambda r: r.valid_from)


def default_start(at, command, program, rows):
    """receipt - late_days, but not before an earlier row ended."""
    ended = [other.valid_until for other in rows if other.valid_until is not None and other.valid_until <= at.received]
    return max([effective_from_of(at, command, program), *ended])


def changed_row(at, command, program, rows, changed, asked, given_from):
    """A date that is not given stays as it was."""
    start, until = given_from, asked.valid_until
    if start is None:
        start = min((r.valid_from for r in changed), default=None)
    if start is None:
        start = default_start(at, command, program, rows)
    if until is None and changed:
        ends = [r.valid_until for r in changed]
        until = None if None in ends else max(ends)
    return CodeRow(asked.creator, start, until)


def try_waiting(ledger, at, accounts, concerned):
    """A2: by (platform_ordered_at, shop, order id)."""
    waiting = [
        order
        for order in ledger.orders.values()
        if order.live is None and not order.barred and order.account in accounts and concerned(order)
    ]
    for order in sorted(waiting, key=lambda order: (order.ordered_at, *order.key)):
        if attribution.attribute(ledger, at, order, at.command_id):
            events.post(ledger, at, order, reason="ATTRIBUTION")
            plausibility.judge(ledger, at, order, event=False)


def remove(ledger, at, command):
    """A creator leaves a program, or one of its codes ends."""
    program = ledger.programs.get(command["program"])
    creator = command["creator"]
    if program is None or program.account != at.account:
        raise Refused(f"account {at.account} has no program {command['program']}")
    if creator not in program.members:
        raise Refused(f"creator {creator} is not in program {command['program']}")
    end = command.get("at", at.received)
    wanted = ascii_lower(command["code"]) if command.get("code") else None
    if wanted and not any(row.creator == creator for row in program.codes.get(wanted, [])):
        raise Refused(f"creator {creator} has no code {command['code']} in program {command['program']}")
    for code, rows in program.codes.items():
        if wanted in (None, code):
            program.codes[code] = [ended(row, creator, end) for row in rows]
    if wanted is None:
        del program.members[creator]


def ended(row, creator, end):
    """The row with its end. One that begins later stays, and owns nothing: the code was the creator's."""
    if row.creator != creator or row.owns_nothing() or (row.valid_until is not None and row.valid_until <= end):
        return row
    return CodeRow(creator, row.valid_from, max(end, row.valid_from))


# Clicks ------------------------------------------------------------------------------------------------------


def clicks(ledger, at, command, approved=False):
    for line, row in enumerate(command["rows"], 2):
        program_of(ledger, row["program"], line)
    for row in command["rows"]:
        program = ledger.programs[row["program"]]
        put_click(ledger, row, effective_from_of(at, command, program))
    if approved:
        approved()
    for row in command["rows"]:
        account = ledger.programs[row["program"]].account
        try_waiting(ledger, at, [account], lambda order, device=row["device"]: order.device == device)


def put_click(ledger, row, effective_from):
    """The same click again is the last imported, and reaches as far as it did."""
    ledger.click_number += 1
    click = Click(row["at"], ledger.click_number, row["creator"], row["program"], effective_from)
    stored = ledger.clicks.setdefault(row["device"], [])
    for known in stored:
        if (known.at, known.creator, known.program) == (click.at, click.creator, click.program):
            stored.remove(known)
            click = replace(click, effective_from=min(effective_from, known.effective_from), link=known.link)
            break
    else:
        ledger.click_arrivals.append((row["device"], click))
    stored.append(click)


def post_clicks(ledger, at, rows):
    """Clicks of a request: one that is stored already changes nothing; program and creator need not exist."""
    for row in rows:
        creator = ledger.creator_id(at.account, row["creator"])
        program = ledger.programs.get(row["program"])
        own = program if program is not None and program.account == at.account else None
        stored = ledger.clicks.setdefault(row["device"], [])
        if any((known.at, known.creator, known.program) == (row["at"], creator, row["program"]) for known in stored):
            continue
        ledger.click_number += 1
        late = own.late if own else 30 * DAY
        click = Click(row["at"], ledger.click_number, creator, row["program"], at.received - late, row.get("link") or "")
        stored.append(click)
        ledger.click_arrivals.append((row["device"], click))
    for row in rows:
        try_waiting(ledger, at, [at.account], lambda order, device=row["device"]: order.device == device)


def click_days(ledger):
    """(day, program, creator, link) -> [clicks, devices, orders], by what these words mean: clicks leave out one that
    follows another of its device, program, creator and link within ten seconds."""
    days, devices = {}, set()
    for device, click in ledger.click_arrivals:
        key = (time_text(click.at)[:10], click.program, click.creator, click.link)
        row = days.setdefault(key, [0, 0, 0])
        row[0] += not any(
            other == device and (c.program, c.creator, c.link) == key[1:] and 0 < click.at - c.at <= 10 * 10**9
            for other, c in ledger.click_arrivals
        )
        row[1] += (device, key) not in devices
        devices.add((device, key))
    for order in ledger.orders.values():
        position = order.position
        if position and "LANDED" in position.types:
            key = (time_text(order.ordered_at)[:10], position.program, position.creator, position.link)
            days.setdefault(key, [0, 0, 0])[2] += 1
    return {key: row for key, row in days.items() if any(row)}


# Profiles -------------------------------------------------------------------------------------------------------


def set_creator(ledger, at, command):
    creator = command["creator"]
    if (at.account, creator) not in ledger.profiles:
        raise Refused(f"account {at.account} has no creator {creator}")
    if "group" in command:
        program = ledger.programs.get(command.get("program"))
        if program is None or program.account != at.account or creator not in program.members:
            raise Refused(f"creator {creator} is not in program {command.get('program')}")
        program.members[creator].group = command["group"] or None
    if "name" in command:
        ledger.profiles[(at.account, creator)]["name"] = command["name"]
    if "payee" in command:
        ledger.change_payee(at, at.account, creator, command["payee"])
    return None


def rename(ledger, at, command):
    """Entries keep the first id; reports show the newest; every one of them is understood."""
    first = ledger.creator_id(at.account, command["old"])
    new = command["new"]
    if (at.account, first) not in ledger.profiles:
        raise Refused(f"account {at.account} has no creator {command['old']}")
    if ledger.creator_name(at.account, first) == new:
        raise Nothing(f"creator {first} is called {new} already")
    if (at.account, new) in ledger.profiles or (at.account, new) in ledger.aliases:
        raise Refused(f"creator id {new} was used in account {at.account} before")
    ledger.aliases[(at.account, new)] = first
    ledger.called[(at.account, first)] = new
    ledger.memo(at, "RENAMED", account=at.account, creator=first, line=new)
