"""Two accounts with equal ids in one ledger, with every kind of row that the API shows."""

import contextlib
import datetime
import functools
import json
import shutil

import pytest
from harness import orders, paths
from harness.cli import Sluice, as_user, now
from harness.edge import Edge
from harness.http_block import CATALOG, EVENTS, http_block
from harness.postgres import Server, missing

PROGRAMS = """
[[policy]]
account = "{account}"
approve_adjust_above = ["50.00 USD"]

[[program]]
id = "{program}"
account = "{account}"
default_rate = "10%"
clearing_days = 0
late_days = 36500

[[program]]
id = "{program}-late"
account = "{account}"
shops = ["{shop}-late"]
default_rate = "5%"
clearing_days = 365
late_days = 36500
"""
POLICY = """
[[policy]]
account = "{account}"
approve_adjust_above = ["50.00 USD"]
approve_payee_change = true
"""
CREATORS = """creator_id,program_id,code,payee
ann,{program},SAVE,DE89370400440532013000
bob,{program},BOB,ref-1
cy,{program}-late,LATE,ref-2
cy,{program}-late,SAVE,ref-2
"""
CLICKS = """svc_anon_id,creator_id,program_id,occurred_at
nobody,ann,{program},2024-02-01T00:00:00Z
nobody,ann,{program},2024-02-02T00:00:00Z
"""
ACCOUNTS = {"acme": ("shop-1", "spring"), "beta": ("shop-2", "autumn")}
WHY = ("--reason", "as agreed")


def this_month():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-01T00:00:00Z")


def last_month():
    first = datetime.datetime.now(datetime.timezone.utc).replace(day=1)
    return (first - datetime.timedelta(days=1)).strftime("%Y-%m")


def discount(code):
    return [{"code": code, "type": "DISCOUNT_CODE", "value_type": "PERCENTAGE", "value": "5"}]


def order(name, code, **changes):
    document = orders.order(name, line_items=[orders.line(amount="100.00", tax="20.00")], **changes)
    return {**document, "discounts": discount(code)} if code else document


def orders_of(shop):
    """(topic, document) in the order of sending."""
    created = [
        order("a/b", "ANNA15"), order("o1", "SAVE"), order("o2", "bob"), order("o3", None), order("o4", "SAVE"),
        order("o 5 & <img onerror=1>", "SAVE"), order("$(reboot)'", "SAVE"), order("line\nfeed", "SAVE"),
        order("cancelled", "SAVE"), order("rejected", "SAVE"), order("detached", "SAVE"), order("held", "SAVE"),
    ]
    sent = [("ORDER_CREATE", document) for document in created]
    refunded = order("o2", "bob", platform_updated_at="2024-03-03T00:00:00Z",
                     refund_line_items=[orders.refund("r1", amount="25.00", tax="5.00")])
    sent.append(("ORDER_UPDATE", refunded))
    sent.append(("ORDER_CANCEL", order("cancelled", "SAVE", platform_cancelled_at="2024-03-02T00:00:00Z",
                                       platform_updated_at="2024-03-02T00:00:00Z")))
    sent.append(("ORDER_CANCEL", order("o4", "SAVE", platform_cancelled_at="2024-03-01T10:00:00Z",
                                       platform_updated_at="2024-03-01T10:00:00Z")))
    return sent


PRODUCTS = {"products": [{"platform_product_id": f"p{number}", "title": f"Product {number}", "list_price": 12.50,
                          "variants": [{"variant_sku": f"v{number}"}]} for number in range(1, 4)]}


def send(edge, account, secret):
    shop, _ = ACCOUNTS[account]
    for topic, document in orders_of(shop):
        assert edge.post_event(shop, secret, topic, document).status == 200
    assert edge.post_event(f"{shop}-late", secret, "ORDER_CREATE", order("o1", "LATE")).status == 200
    assert edge.post_catalog(shop, secret, "PRODUCT_UPSERT", PRODUCTS, "key-1").status == 200


def approve(sluice, mine, command):
    """As another user."""
    other = Sluice(sluice.store)
    other.prefix = as_user("games")
    (waiting,) = [row["id"] for row in other.json("approvals", *mine) if row["command"] == command]
    other("approve", waiting, *mine, "--expect", other.json("approvals", "show", waiting, *mine)["digest"])


def run_commands(sluice, account, folder):
    shop, program = ACCOUNTS[account]
    mine = ("--account", account)

    def of(name):
        return ("--shop", shop, "--order", name)

    for name, text in (("programs.toml", PROGRAMS), ("creators.csv", CREATORS), ("clicks.csv", CLICKS)):
        (folder / name).write_text(text.format(account=account, shop=shop, program=program))
    sluice("program", "apply", folder / "programs.toml")
    sluice("creator", "import", folder / "creators.csv")
    sluice("click", "import", folder / "clicks.csv")
    sluice("worker", "--until-empty")
    for name, creator in (("mug", "ann"), ("cap", "bob")):
        sluice("link", "create", f"{program}-{name}", *mine, "--program", program, "--creator", creator, "--to", f"https://shop.example/{name}")
    sluice("link", "stop", f"{program}-cap", *mine)
    sluice("creator", "set", "ann", *mine, "--name", "Ann Smith")
    sluice("creator", "rename", "bob", "robert", *mine)
    sluice("reject", *of("rejected"), *WHY)
    sluice("detach", *of("detached"), *WHY)
    sluice("hold", *of("held"), *WHY)
    sluice("hold", *mine, "--creator", "cy", *WHY)
    sluice("adjust", *of("o1"), "--amount", "1.25", *WHY)
    sluice.run("adjust", *of("o1"), "--amount", "60.00", *WHY)
    sluice("credit", *mine, "--creator", "ann", "--program", program, "--amount", "12.00 USD", *WHY)
    sluice("payout", "close", *mine, "--until", now())
    first, second = (row["payout_id"] for row in sluice.json("payout", "list", *mine)[:2])
    sluice("payout", "sent", first, *mine, *WHY)
    sluice("payout", "settle", first, *mine, "--bank-ref", "bank-1", *WHY)
    sluice("creator", "set", "robert", *mine, "--payee", "SE4550000000058398257466", *WHY)
    sluice("payout", "repoint", second, *mine, *WHY)
    sluice("payout", "void", second, *mine, *WHY)
    sluice("period", "close", *mine, "--until", this_month())
    (folder / "policy.toml").write_text(POLICY.format(account=account))
    sluice.run("program", "apply", folder / "policy.toml")
    approve(sluice, mine, "program apply")
    sluice.run("creator", "set", "cy", *mine, "--payee", "GB33BUKB20201555555555", *WHY)


def tokens(sluice):
    """Secrets by name: a viewer's, a manager's, and one that may not read, of each account."""
    scopes = {"viewer": ("read_orders",), "manager": ("read_orders", "read_ledger"), "sender": ("write_orders",)}
    return {f"{account}-{name}": sluice.token(account, *granted)[1]
            for account in ACCOUNTS for name, granted in scopes.items()}


def build(folder):
    """A store below `folder` with everything applied. Returns its Sluice and the tokens."""
    with Edge(http_block(EVENTS, CATALOG, limit="off")) as edge:
        edge.start()
        secrets = {}
        for account, (shop, _) in ACCOUNTS.items():
            edge.sluice.account(account)
            edge.sluice.shop(shop, account)
            edge.sluice.shop(f"{shop}-late", account)
            edge.sluice.shop(f"{shop}-new", account)
            _, secrets[account] = edge.sluice.token(account, "write_orders", "write_products")
        for account, secret in secrets.items():
            send(edge, account, secret)
        edge.stop()
        shutil.copytree(edge.store, folder / "store", symlinks=True)
    sluice = Sluice(folder / "store")
    return sluice, tokens(sluice)


def apply(sluice, folder):
    for account in ACCOUNTS:
        made = folder / account
        made.mkdir(exist_ok=True)
        run_commands(sluice, account, made)


def new_folder():
    return paths.make_folder()


def make(ledger, into):
    """Writes the scene on a ledger: its folder, the tokens, and the data of the database server."""
    folder = into / "folder"
    folder.mkdir()
    sluice, secrets = build(folder)
    (into / "secrets.json").write_text(json.dumps(secrets))
    if ledger == "lmdb":
        sluice.drain()
        apply(sluice, folder)
        return
    with Server() as server:
        sluice("ledger", "migrate", "--ledger", server.create())
        sluice("worker", "--until-empty", "--ledger", server.url())
        apply(sluice, folder)
        (into / "server").write_text(str(server.folder))
        server.stop()
        paths.copy_folder(server.data, into / "data")


@contextlib.contextmanager
def on(ledger):
    """The scene on a ledger, `lmdb` or `postgres`: its folder, the command, the tokens and the database server."""
    if ledger == "postgres" and missing():
        pytest.fail(missing())
    made = paths.made_once(f"scene-{ledger}", functools.partial(make, ledger))
    folder = new_folder()
    server = None
    try:
        paths.copy_folder(made / "folder", folder)
        if ledger == "postgres":
            server = Server()
            paths.copy_folder(made / "data", server.data)
            server.start()
            url = folder / "store" / "ledger.url"
            url.write_text(url.read_text().replace((made / "server").read_text(), str(server.folder)))
        sluice = Sluice(folder / "store")
        sluice.drain()  # a sign of life: after five minutes without one a ledger is behind
        yield folder, sluice, json.loads((made / "secrets.json").read_text()), server
    finally:
        if server is not None:
            server.remove()
        paths.drop_folder(folder)
