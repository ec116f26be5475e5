"""Links of creators, and the clicks that nginx counts of them (LK1)."""

from model.books import imports
from model.books.state import Link, Nothing, Refused


def change(ledger, at, command):
    verb, link = command["verb"], command["link"]
    known = ledger.links.get(link)
    if verb == "create":
        return create(ledger, at, command, known)
    if known is None or known.account != at.account or known.state == "removed":
        raise Refused(f"account {at.account} has no link {link}")
    if verb == "set":
        to, deep = command.get("to", known.to), command.get("deep", known.deep)
        check_end(to, deep)
        if (to, deep) == (known.to, known.deep):
            raise Nothing(f"link {link} is so already")
        known.to, known.deep = to, deep
        return None
    state = {"stop": "stopped", "start": "active", "remove": "removed"}[verb]
    if known.state == state:
        raise Nothing(f"link {link} is {state} already")
    known.state = state
    return None


def create(ledger, at, command, known):
    link, to, deep = command["link"], command["to"], command.get("deep", False)
    creator = ledger.creator_id(at.account, command["creator"])
    if known is not None:
        if known.account != at.account:
            raise Refused(f"link {link} is taken")
        if known.state == "removed":
            raise Refused(f"link {link} was removed: an id is never used again")
        if (known.program, known.creator) != (command["program"], creator):
            raise Refused(f"link {link} is of creator {known.creator} in program {known.program}, for ever: choose another id")
        if (known.to, known.deep) != (to, deep):
            raise Refused(f"link {link} exists and leads elsewhere: `sluice link set` changes it")
        raise Nothing(f"link {link} exists so already")
    program = ledger.programs.get(command["program"])
    if program is None or program.account != at.account:
        raise Refused(f"account {at.account} has no program {command['program']}")
    if creator not in program.members:
        raise Refused(f"creator {command['creator']} is not in program {command['program']}")
    check_end(to, deep)
    ledger.links[link] = Link(at.account, command["program"], creator, to, deep)


def check_end(to, deep):
    """The path of the request begins with the slash that the link must not end in."""
    if deep and to.split("#")[0].split("?")[0].endswith("/"):
        raise Refused("the path of a deep link's URL must not end in a slash, because the request's path begins with one")


def follow(ledger, at, rows):
    """A click is its link's; one of a link that the account lacks counts nothing."""
    known = [(row, ledger.links.get(row["link"])) for row in rows]
    imports.post_clicks(ledger, at, [
        {**row, "creator": link.creator, "program": link.program}
        for row, link in known if link is not None and link.account == at.account
    ])
