"""Forgetting people (F1, F2): ids become pseudonyms, equal ones stay equal, no entry changes."""

import hashlib

from model.books import payouts
from model.books.rates import customer_of
from model.books.state import Refused, ascii_lower

WHOM = ("customer", "email", "phone", "order", "device")


def forget(ledger, at, command):
    if "creator" in command:
        profile = ledger.profiles.get((at.account, command["creator"]))
        if profile is None:
            raise Refused(f"account {at.account} has no creator {command['creator']}")
        check_creator(ledger, at.account, command["creator"])
        profile.pop("name", None)
        profile.pop("payee", None)
        forget_payees(ledger, at.account, command["creator"])
        return
    given = [name for name in WHOM if name in command]
    if len(given) != 1:
        raise Refused("forget takes one of --customer, --email, --phone, --order, --device")
    shop, value = command.get("shop", "shop-1"), command[given[0]]
    own = [o for o in ledger.orders.values() if o.shop == shop and is_whose(o, given[0], value)]
    people, devices = ids_of(own)
    devices |= {value} if given[0] == "device" else set()
    for order in ledger.orders.values():
        if order.account == at.account:
            forget_order(order, at, order in own, people if order.shop == shop else set(), devices)
    for device in sorted(devices & set(ledger.clicks)):
        ledger.clicks[pseudonym(at, device)] = ledger.clicks.pop(device)


def check_creator(ledger, account, creator):
    """K2: refuses to forget a creator with payouts that are not over."""
    for payout in ledger.payouts.values():
        if (payout.account, payout.creator) == (account, creator) and payout.state in ("CLOSED", "APPROVED", "SENT"):
            raise Refused(f"creator {creator} has payout {payout.payout_id}, which is {payout.state}")
    for waiting in ledger.pending_approvals.values():
        rows = [waiting.command] if waiting.command["do"] == "creator set" else waiting.command.get("rows", [])
        names = {ledger.creator_id(account, row["creator"]) for row in rows}
        if waiting.state == "PENDING" and waiting.given.account == account and creator in names:
            raise Refused(f"{waiting.waiting_id} waits and would set the profile of {creator}")


def forget_payees(ledger, account, creator):
    """References become what their digests are known by; no digest changes."""
    for payout in ledger.payouts.values():
        if (payout.account, payout.creator) == (account, creator):
            payout.payee = forgotten(payout.payee)
    for key, references in ledger.payee_changes.items():
        if key[:2] == (account, creator):
            ledger.payee_changes[key] = " -> ".join(map(forgotten, references.split(" -> ")))


def forgotten(payee):
    ending = payouts.payee_ending(payee)
    return f"sha256:{payouts.payee_digest(payee).hex()}{ending and ':' + ending}" if payee else ""


def state_ids(order, payload):
    """The personal data of an event, kept as it was received."""
    order.stated.append({
        "customer": payload.get("platform_customer_id"), "email": ascii_lower(payload.get("email") or ""),
        "phone": payload.get("phone"), "device": payload.get("svc_anon_id"),
    })


def is_whose(order, name, value):
    if name == "order":
        return order.order_id == value
    if name == "email":
        value = ascii_lower(value)
        guest = "mail:" + hashlib.sha256(b"email:" + value.encode()).hexdigest()
        if any(ids["customer"] == guest for ids in order.stated):
            return True
    return any(ids[name] == value for ids in order.stated)


def ids_of(orders):
    """Everything that was ever stated for them, by newer events or older ones."""
    people, devices = set(), set()
    for order in orders:
        people |= {customer_of(order)}
        devices |= {order.device}
        for ids in order.stated:
            people |= {("id", ids["customer"])} if ids["customer"] else {("email", ids["email"])}
            devices |= {ids["device"]}
    return people - {None, ("email", "")}, devices - {None, ""}


def pseudonym(at, given):
    """Equal ids get equal ones; no id that a person has can be equal to it."""
    return f"\0{at.command_id}\0{given}"


def forget_order(order, at, own, people, devices):
    """`own`: it is the person's; else only equal ids are replaced, so that they stay equal."""
    if order.device in devices:
        order.device = pseudonym(at, order.device)
    who, payload = customer_of(order), dict(order.payload)
    if who in people:
        field = "platform_customer_id" if who[0] == "id" else "email"
        payload[field] = pseudonym(at, who[1])
    if own:
        payload.pop("phone", None)
        if payload.get("platform_customer_id"):
            payload.pop("email", None)
    order.payload = payload
    for ids in order.stated:
        forget_ids(ids, at, own, people, devices)


def forget_ids(ids, at, own, people, devices):
    by_id = bool(ids["customer"])
    if ("id", ids["customer"]) in people:
        ids["customer"] = pseudonym(at, ids["customer"])
    if ("email", ids["email"]) in people:
        ids["email"] = pseudonym(at, ids["email"])
    if ids["device"] in devices:
        ids["device"] = pseudonym(at, ids["device"])
    if own:
        ids["phone"] = None
        if by_id:
            ids["email"] = ""
