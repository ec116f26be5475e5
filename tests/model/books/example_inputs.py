"""The steps of a worked example as inputs: order payloads and commands (tests/examples/README.md)."""

from fractions import Fraction

from model.books import attribution
from model.values import instant, text

INSTANTS = ("until", "sale_at", "version", "valid_from", "valid_until", "starts_at", "ends_at", "from", "at")


def with_instants(row):
    return {k: instant(v) if k in INSTANTS and isinstance(v, str) else v for k, v in row.items()}


def payload(order, device):
    lines = [
        {"line_item_id": line["id"], "sku": line.get("sku", "SKU"), "amount": line.get("amount", "100.00"),
         "tax": line.get("tax", "0.00"), "quantity": line.get("quantity", "1"),
         **({"variant_sku": line["variant_sku"]} if "variant_sku" in line else {})}
        for line in order["lines"]
    ]
    ordered = order.get("ordered", "2026-01-01T00:00:00Z")
    made = {
        "platform_order_id": order["id"], "platform_ordered_at": ordered,
        "platform_updated_at": order.get("updated", ordered),
        "amount": order.get("amount", decimal_sum(line["amount"] for line in lines)),
        "tax": order.get("tax", decimal_sum(line["tax"] for line in lines)), "shipping": "0.00",
        "currency_code": order.get("currency", "USD"), "line_items": lines,
        "discounts": [{"code": c, "type": "DISCOUNT_CODE", "value_type": "PERCENTAGE", "value": "5"} for c in order.get("codes", [])],
        "refund_line_items": [
            {"refund_line_item_id": r.get("id", "r1"), "line_item_id": r.get("line", "l1"), "sku": "SKU",
             "platform_refunded_at": "2026-01-05T00:00:00Z", "amount": r["amount"], "tax": r.get("tax", "0.00"),
             "quantity": r.get("quantity", "1")}
            for r in order.get("refunds", [])
        ],
    }
    for name, field in (("cancelled", "platform_cancelled_at"), ("customer", "platform_customer_id"), ("email", "email"), ("phone", "phone")):
        if name in order:
            made[field] = order[name]
    if device:
        made["svc_anon_id"] = device
    if "notes" in order:
        made["source"] = {"notes": order["notes"]}
    return made


def deletion(order):
    stated = {"platform_updated_at": order["updated"]} if "updated" in order else {}
    return {"platform_order_id": order["id"], **stated}


def decimal_sum(amounts):
    amounts = list(amounts)
    places = max(len(amount.partition(".")[2]) for amount in amounts)
    return text(sum(map(Fraction, amounts)), places)


def program_row(row):
    rules = [
        with_instants(rule) if isinstance(rule, dict) else dict(zip(("match", "value", "rate"), rule))
        for rule in row.get("rules", [])
    ]
    return with_instants({
        "account": "acme", "shops": [], "window_days": 30, "base": "net", "clearing_days": 0, "late_days": 366,
        "precedence": [attribution.CODE, attribution.LANDED], **{k: v for k, v in row.items() if k != "rules"},
        "rule": rules,
    })


def creator_row(row):
    if isinstance(row, list):
        row = dict(zip(("creator", "program", "code"), row))
    return with_instants(row)


def apply(_, step):
    policies = [{"account": step.get("account", "acme"), **step["policy"]}] if step.get("policy") is not None else []
    programs = [program_row(row) for row in step.get("programs", [])]
    return {"do": "program apply", "programs": programs, "policies": policies, **effective_from(step)}


def effective_from(step):
    return {"effective_from": instant(step["effective_from"])} if "effective_from" in step else {}


def clicks(_, step):
    rows = [
        {"device": device, "creator": creator, "program": program, "at": instant(at)}
        for device, creator, program, at in step["clicks"]
    ]
    return {"do": "click import", "rows": rows, **effective_from(step)}


def close(example, step):
    given = step.get("close", step.get("preview"))
    if isinstance(given, list):
        return {"do": "payout close and settle", "programs": [given[0]], "until": instant(given[1]),
                "ignore_minimum": True}
    command = {"do": "payout close", "until": example.now, **with_instants(given)}
    if "expect" in given:
        command["expect"] = example.digests[given["expect"]]
    return command


def remove(_, step):
    row = dict(zip(("creator", "program", "code", "at"), step["remove"]))
    return {"do": "creator remove", **with_instants(row)}


def detach(example, step):
    given = dict(step["detach"])
    if "cause" in given:
        given["cause"] = example.names[given["cause"]]
    return {"do": "detach", **given}


def simple(do, verb):
    return lambda _, step: {"do": do, **with_instants(step[verb])}


def moving(verb):
    return lambda example, step: {"do": verb, "ids": [example.full(name) for name in step[verb]]}


def named(do, verb):
    return lambda example, step: {"do": do, "id": example.full(step[verb])}


def opening(_, step):
    return {"do": "opening import", "at": instant(step["opening"]["at"]), "rows": step["opening"]["rows"]}


VERBS = {
    "programs": apply,
    "policy": apply,
    "creators": lambda _, step: {"do": "creator import", "rows": [creator_row(r) for r in step["creators"]], **effective_from(step)},
    "clicks": clicks,
    "link": lambda _, step: {"do": "link", **step["link"]},
    "remove": remove,
    "close": close,
    "preview": close,
    **{verb: moving(verb) for verb in ("sent", "settle", "failed", "returned", "void", "repoint")},
    "approve": lambda example, step: {
        "do": "approve", "id": example.full(step["approve"]), **{k: step[k] for k in ("signature", "seen") if k in step}},
    "withdraw": named("withdraw", "withdraw"),
    "reverse": named("reverse", "reverse"),
    "hold": simple("hold", "hold"),
    "release": simple("release", "release"),
    "reject": simple("reject", "reject"),
    "attribute": simple("attribute", "attribute"),
    "detach": detach,
    "adjust": lambda _, step: {"do": "adjust", "order": step["adjust"][0], "amount": step["adjust"][1]},
    "credit": simple("credit", "credit"),
    "opening": opening,
    "write_off": simple("write-off", "write_off"),
    "ack": simple("anomaly ack", "ack"),
    "reset": simple("order reset", "reset"),
    "period": simple("period close", "period"),
    "forget": simple("forget", "forget"),
    "set": simple("creator set", "set"),
    "rename": lambda _, step: {"do": "creator rename", "old": step["rename"][0], "new": step["rename"][1]},
}
