"""A valid order and its parts; tests change what they are about."""

import copy
import itertools

_numbers = itertools.count(1)


def unique(stem="o"):
    return f"{stem}-{next(_numbers)}"


def line(line_item_id="l1", **changes):
    item = {
        "line_item_id": line_item_id,
        "sku": "sku-1",
        "amount": "100.00",
        "tax": "20.00",
        "quantity": "1",
    }
    item.update(changes)
    return item


def refund(refund_line_item_id, line_item_id="l1", **changes):
    item = {
        "refund_line_item_id": refund_line_item_id,
        "line_item_id": line_item_id,
        "platform_refunded_at": "2024-03-02T10:00:00Z",
        "sku": "sku-1",
        "amount": "10.00",
        "tax": "2.00",
        "quantity": "1",
    }
    item.update(changes)
    return item


def order(order_id=None, **changes):
    document = {
        "platform_order_id": order_id or unique(),
        "platform_ordered_at": "2024-03-01T10:00:00Z",
        "platform_updated_at": "2024-03-01T10:00:00Z",
        "amount": "105.00",
        "tax": "20.00",
        "shipping": "5.00",
        "currency_code": "USD",
        "line_items": [line()],
    }
    document.update(changes)
    return document


DROP = object()


def with_value(document, path, value):
    """A copy with the value at `path` ("line_items[0].sku") set, or dropped (DROP)."""
    document = copy.deepcopy(document)
    steps = [
        int(step) if step.isdigit() else step
        for step in path.replace("[", ".").replace("]", "").split(".")
    ]
    target = document
    for step in steps[:-1]:
        target = target[step]
    if value is DROP:
        del target[steps[-1]]
    else:
        target[steps[-1]] = value
    return document
