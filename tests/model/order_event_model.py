"""The rules of the order event payload, independent of the service's own reader."""

import re

from model.product_model import CURRENCIES, INVALID, REQUIRED
from model.strict_json import Members
from model.values import instant

DECIMAL = re.compile(r"[0-9]{1,15}(\.[0-9]{1,6})?", re.ASCII)
QUANTITY = re.compile(r"[0-9]{1,9}", re.ASCII)


def _text(value):
    return isinstance(value, str) and "\0" not in value


def _id(value):
    return _text(value) and 1 <= len(value.encode()) <= 1024


def _code(value):
    return _text(value) and value != ""


def _decimal(value):
    return _text(value) and DECIMAL.fullmatch(value) is not None


def _quantity(least):
    return lambda value: _text(value) and QUANTITY.fullmatch(value) is not None and int(value) >= least


def _timestamp(value):
    try:
        instant(value)
    except (ValueError, TypeError, OverflowError):
        return False
    return True


def _one_of(*values):
    return lambda value: isinstance(value, str) and value in values


ORDER = {  # name -> (check, required)
    "platform_order_id": (_id, True),
    "platform_customer_id": (_text, False),
    "email": (_text, False),
    "phone": (_text, False),
    "platform_ordered_at": (_timestamp, True),
    "platform_cancelled_at": (_timestamp, False),
    "amount": (_decimal, True),
    "tax": (_decimal, True),
    "shipping": (_decimal, True),
    "currency_code": (lambda value: isinstance(value, str) and value in CURRENCIES, True),
}
DISCOUNT = {
    "code": (_code, True),
    "type": (_one_of("DISCOUNT_CODE"), True),
    "value_type": (_one_of("FIXED_AMOUNT", "PERCENTAGE"), True),
    "value": (_decimal, True),
}
LINE = {
    "line_item_id": (_id, True),
    "sku": (_id, True),
    "amount": (_decimal, True),
    "tax": (_decimal, True),
    "quantity": (_quantity(1), True),
    "variant_sku": (_id, False),
}
REFUND = {
    "refund_line_item_id": (_id, True),
    "line_item_id": (_id, True),
    "platform_refunded_at": (_timestamp, True),
    "sku": (_id, True),
    "amount": (_decimal, True),
    "tax": (_decimal, True),
    "quantity": (_quantity(0), True),
    "variant_sku": (_id, False),
}


def _fields(members, fields, path, errors):
    """Checks the members; the good values by name."""
    good = {}
    for name, (check, required) in fields.items():
        where = f"{path}.{name}" if path else name
        found = members.all(name)
        if len(found) > 1:
            errors.append((where, INVALID))
        elif not found or found[0] is None:
            if required:
                errors.append((where, REQUIRED))
        elif not check(found[0]):
            errors.append((where, INVALID))
        else:
            good[name] = found[0]
    return good


def _elements(document, name, fields, required, errors):
    """The good fields of each element of a list; None where the list itself is bad or absent."""
    found = document.all(name)
    if len(found) > 1:
        errors.append((name, INVALID))
        return None
    if not found or found[0] is None:
        if required:
            errors.append((name, REQUIRED))
        return None if required else []
    if type(found[0]) is not list or (required and not found[0]):
        errors.append((name, INVALID))
        return None
    elements = []
    for index, element in enumerate(found[0]):
        if isinstance(element, Members):
            elements.append(_fields(element, fields, f"{name}[{index}]", errors))
        else:
            errors.append((f"{name}[{index}]", INVALID))
            elements.append({})
    return elements


def errors_of(topic, document, anon_field="svc_anon_id"):
    """(errors, doubtful): the (field, code) pairs of a parsed body, and those that may come too.

    Whether a refund names a line is doubtful where the lines themselves are not readable.
    """
    if not isinstance(document, Members):
        return [(None, INVALID)], []
    errors, doubtful = [], []
    order = {
        **ORDER,
        "platform_updated_at": (_timestamp, topic != "ORDER_CREATE"),
        anon_field: (_text, False),
    }
    _fields(document, order, "", errors)
    _elements(document, "discounts", DISCOUNT, False, errors)
    lines = _elements(document, "line_items", LINE, True, errors)
    refunds = _elements(document, "refund_line_items", REFUND, False, errors)
    ids = _unique(lines or [], "line_items", "line_item_id", errors)
    _unique(refunds or [], "refund_line_items", "refund_line_item_id", errors)
    _unique(refunds or [], "refund_line_items", "line_item_id", errors)
    readable = lines is not None and all("line_item_id" in line for line in lines)
    for index, statement in enumerate(refunds or []):
        line = statement.get("line_item_id")
        if line is not None and line not in ids:
            where = (f"refund_line_items[{index}].line_item_id", INVALID)
            if not readable:
                doubtful.append(where)
            elif where not in errors:
                errors.append(where)
    return errors, doubtful


def _unique(elements, path, name, errors):
    seen = set()
    for index, element in enumerate(elements):
        value = element.get(name)
        if value is None:
            continue
        if value in seen:
            errors.append((f"{path}[{index}].{name}", INVALID))
        seen.add(value)
    return seen
