"""Forgetting people (F1, F2): ids become pseudonyms, equal ones stay equal, no entry changes."""

from model.books.rates import customer_of
from model.books.state import Refused, ascii_lower

WHOM = ("customer", "email", "phone", "order", "device")
FIELDS = {"customer": "platform_customer_id", "email": "email", "phone": "phone"}


def forget(ledger, at, command):
    if "creator" in command:
        profile = ledger.profiles.get((at.account, command["creator"]))
        if profile is None:
            raise Refused(f"account {at.account} has no creator {command['creator']}")
        profile.pop("name", None)
        profile.pop("payee", None)
        return
    given = [name for name in WHOM if name in command]
    if len(given) != 1:
        raise Refused("forget takes one of --customer, --email, --phone, --order, --device")
    shop = command.get("shop", "shop-1")
    orders = [o for o in ledger.orders.values() if o.shop == shop and is_whose(o, given[0], command[given[0]])]
    people = {customer_of(order) for order in orders} - {None}
    devices = {order.device for order in orders if order.device} | ({command["device"]} if "device" in command else set())
    for order in ledger.orders.values():
        forget_order(order, at, order in orders, people if order.shop == shop else set(), devices)
    for device in sorted(devices & set(ledger.touches)):
        ledger.touches[pseudonym(at, device)] = ledger.touches.pop(device)


def is_whose(order, name, value):
    if name == "order":
        return order.order_id == value
    if name == "device":
        return order.device == value
    stated = order.payload.get(FIELDS[name]) or ""
    return ascii_lower(stated) == ascii_lower(value) if name == "email" else stated == value


def pseudonym(at, given):
    """Equal ids get equal ones; no id that a person has can be equal to it."""
    return f"\0{at.command_id}\0{given}"


def forget_order(order, at, whole, people, devices):
    """`whole`: it is the person's own; else only equal ids are replaced, so that they stay equal."""
    if order.device in devices:
        order.device = pseudonym(at, order.device)
    payload = dict(order.payload)
    if whole or customer_of(order) in people:
        for field in ("platform_customer_id", "email"):
            if payload.get(field):
                value = ascii_lower(payload[field]) if field == "email" else payload[field]
                payload[field] = pseudonym(at, value)
    if whole:
        payload.pop("phone", None)
    order.payload = payload
