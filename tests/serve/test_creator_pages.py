"""Answers of a creator's page (creators CE4, CE11 to CE13, CE16), on both ledgers: two accounts with equal ids, three
creators each, with every kind of row."""

import base64
import decimal
import hashlib
import hmac
import json
import re
import time

import pytest
from harness import lmdb, paths
from harness.serve import CreatorPages, Serve, ask
from model import ed25519
from serve import scene

CONFIG = """base_url = "https://pages.example"
[acme]
name = "Acme Creators"
[beta]
name = "Beta Creators"
"""
CREATORS = ("ann", "robert", "cy")
MONTH = scene.this_month()[:7]
PATHS = ("home", "orders", "order", "payments", "payment", "statement")


class World:
    def __init__(self, folder, sluice, secrets, server, pages, serve):
        self.folder, self.sluice, self.secrets, self.server, self.pages, self.serve = folder, sluice, secrets, server, pages, serve
        self.page_secrets = {account: sluice.token(account, "creator_pages") for account in scene.ACCOUNTS}

    def token(self, account, creator, **parameters):
        _, secret = self.page_secrets[account]
        return self.serve.token(secret).object("creator-link", creator=creator, **parameters)["token"]

    def page(self, account, creator):
        return self.pages.page(account, self.token(account, creator))

    def serve_metric(self, name):
        text = ask(self.serve.read, "/metrics").body.decode()
        return int(re.search(rf"^{name} (\d+)$", text, re.M)[1])

    def staff(self, account):
        return self.serve.token(self.secrets[f"{account}-manager"])


@pytest.fixture(scope="module", params=["lmdb", "postgres"])
def world(request):
    with scene.on(request.param) as (folder, sluice, secrets, server):
        config = folder / "creators.toml"
        config.write_text(CONFIG)
        with CreatorPages(folder / "store", folder, config, "--rate-limit", "1000000/60") as pages:
            with Serve(folder / "store", folder, "--creators-config", config, "--rate-limit", "1000000/60") as serve:
                yield World(folder, sluice, secrets, server, pages, serve)


def everything(page):
    """The bodies of all lists and objects of a creator."""
    bodies = [page.get("home").body, page.get("statement", month=MONTH).body]
    orders, payments = page.object("orders"), page.object("payments")
    bodies += [page.get("performance", by=by).body for by in ("day", "month", "link", "code")]
    bodies += [json.dumps(orders).encode(), json.dumps(payments).encode()]
    bodies += [page.get("order", shop=row["shop"], order=row["order"]).body for row in orders["items"]]
    bodies += [page.get("payment", id=row["id"]).body for row in payments["items"]]
    return b"".join(bodies)


def ids_of(world, account, creator):
    """(shop, order) and payment ids that are the creator's."""
    page = world.page(account, creator)
    orders = [(row["shop"], row["order"]) for row in page.object("orders")["items"]]
    return orders, [row["id"] for row in page.object("payments")["items"]]


def payouts_of(world):
    """The ids of all payouts, which number the creators of a payout run."""
    return [row["payout_id"] for account in scene.ACCOUNTS for row in world.staff(account).rows("payouts")]


def others_payments(own):
    """Ids of payments that are like hers, and none of hers."""
    return {f"{payment}-{number}" for payment in own for number in (1, 9)} - own


def test_a_creator_sees_her_orders_and_payments(world):
    page = world.page("acme", "ann")
    orders = page.object("orders")["items"]
    assert {"o1", "held", "cancelled"} <= {row["number"] for row in orders}
    assert {"o2", "o3", "rejected", "detached", "a/b"} & {row["number"] for row in orders} == set()
    assert {row["code"] for row in orders} == {"SAVE"}
    assert page.object("home")["name"] == "Ann Smith"
    states = {row["number"]: row["state"] for row in orders}
    assert states["cancelled"] == "CANCELLED"
    payments = page.object("payments")["items"]
    assert {row["state"] for row in payments} <= {"PAID", "PREPARING", "SENT", "CAME_BACK"}
    assert all(row["payee"] in ("", "••••3000") for row in payments)


def test_an_order_has_its_code_or_link(world):
    """CE5: her code, her link, or nothing but the word of staff."""
    orders = {(name, row["number"]): row for name in CREATORS for row in world.page("acme", name).object("orders")["items"]}
    assert {(row["by"], row["code"] is None, row["link"] is None) for row in orders.values()} >= {("CODE", False, True)}
    assert all((row["by"] == "CODE") == (row["code"] is not None) for row in orders.values())
    assert orders["ann", "o1"]["code"] == "SAVE"


def test_what_is_checked_for_two_causes_has_one_sum(world):
    """A hold and an anomaly of two orders: how many kinds there are is nothing that a page says."""
    left = world.page("acme", "ann").object("payments")["left_out"]
    assert [(row["reason"], row["amount"]) for row in left if row["reason"] == "CHECKED"] == [("CHECKED", "16.00")]


def test_every_id_of_another_is_an_unknown_id_byte_for_byte(world):
    tried = 0
    for account in scene.ACCOUNTS:
        for creator in CREATORS:
            page = world.page(account, creator)
            own_orders, own_payments = map(set, ids_of(world, account, creator))
            unknown_order = page.get("order", shop="none", order="none")
            unknown_payment = page.get("payment", id="P-none")
            assert (unknown_order.status, unknown_payment.status) == (404, 404)
            for other in scene.ACCOUNTS:
                for person in CREATORS:
                    orders, _ = ids_of(world, other, person)
                    for shop, order in set(orders) - own_orders:
                        tried += 1
                        assert page.get("order", shop=shop, order=order).body == unknown_order.body
            for payment in {*payouts_of(world), *others_payments(own_payments)}:
                tried += 1
                assert page.get("payment", id=payment).body == unknown_payment.body
    assert tried > 20


def test_no_answer_has_an_id_of_another(world):
    for account in scene.ACCOUNTS:
        for creator in CREATORS:
            body = everything(world.page(account, creator))
            for other in scene.ACCOUNTS:
                for person in CREATORS:
                    orders, _ = ids_of(world, other, person)
                    if person != creator:
                        assert not [shop for shop, _ in orders if other != account and shop.encode() in body]
            assert not [payout for payout in payouts_of(world) if payout.encode() in body]
            for secret in (b"cancel_not_later", b"hold", b"as agreed", b"spring", b"autumn"):
                own = re.sub(rb'"(number|order|link)": ?"(held|[a-z]*-mug|[a-z]*-cap)"', b"", body.lower())  # names of hers
                assert secret not in own, (creator, secret)


def minted(world, account, creator, minutes_ago):
    """A page token of 15 minutes, as docs/record-format.md and docs/creators.md say that it is made."""
    token_id, secret = world.page_secrets[account]
    key = hmac.new(bytes(32), secret.encode(), hashlib.sha256).digest()
    seed = hmac.new(key, b"sluice creator pages 1\x01", hashlib.sha256).digest()
    issued = int(time.time()) - 60 * minutes_ago

    def text(data):
        return base64.urlsafe_b64encode(data).rstrip(b"=").decode()

    signed = "scp1." + text(f"{token_id}\n{creator}\n{issued}\n{issued + 900}\n0123456789abcdef".encode())
    return signed + "." + text(ed25519.sign(seed, signed.encode()))


def test_example_1_a_link_shows_her_page_until_its_minutes_are_over(world):
    link = world.serve.token(world.page_secrets["acme"][1]).object("creator-link", creator="ann")
    assert link["url"] == "https://pages.example/c/acme/#" + link["token"]
    assert world.pages.page("acme", link["token"]).object("home")["name"] == "Ann Smith"
    assert world.pages.page("acme", minted(world, "acme", "ann", 14)).object("home")["name"] == "Ann Smith"
    answer = world.pages.page("acme", minted(world, "acme", "ann", 16)).get("home")
    assert answer.status == 401 and answer.body == ask(world.pages.read, "/c/acme/v1/home").body


def test_a_link_is_made_on_the_command_line_as_well(world):
    token_id, secret = world.page_secrets["acme"]
    file = world.folder / "pages.secret"
    file.write_text(secret + "\n")
    file.chmod(0o600)
    words = ("creator", "page", "link", "ann", "--account", "acme", "--secret-file", file,
             "--creators-config", world.folder / "creators.toml")
    address, _, token = world.sluice(*words).strip().partition("#")
    assert address == "https://pages.example/c/acme/"
    assert world.pages.page("acme", token).object("home")["name"] == "Ann Smith"
    assert token_id in base64.urlsafe_b64decode(token.split(".")[1] + "==").decode()
    for right, wrong, told in (("ann", "zoe", "no creator zoe"), ("acme", "beta", "no active token of account beta")):
        assert told in world.sluice.refuses(*(wrong if word == right else word for word in words), code=None)
    assert "1 to 60" in world.sluice.refuses(*words, "--minutes", "61", code=2)


def test_the_file_of_the_pages_is_checked_on_the_command_line(world, tmp_path):
    said = world.sluice("creator", "page", "check", world.folder / "creators.toml")
    assert said.splitlines() == ["Acme Creators: https://pages.example/c/acme/, in no frame",
                                 "Beta Creators: https://pages.example/c/beta/, in no frame"]
    (tmp_path / "wrong.toml").write_text(CONFIG + 'origins = ["*"]\n')
    assert "wrong.toml:6: origins: expected an origin" in world.sluice.refuses("creator", "page", "check", tmp_path / "wrong.toml")
    (tmp_path / "folder.toml").write_text(CONFIG + '[".."]\nname = "Up"\n')
    said = world.sluice.refuses("creator", "page", "check", tmp_path / "folder.toml")
    assert "folder.toml:6: account '..' has no page" in said


def test_all_tokens_that_do_not_count_are_refused_alike(world):
    good = world.token("acme", "ann")
    token_id, secret = world.sluice.token("acme", "creator_pages")
    revoked = world.serve.token(secret).object("creator-link", creator="ann")["token"]
    world.sluice("token", "revoke", token_id)
    bad = [good[:-1], good + "A", good[:40] + ("B" if good[40] != "B" else "C") + good[41:], world.token("beta", "ann"),
           revoked, world.secrets["acme-manager"], world.page_secrets["acme"][1], "scp1.."]
    answers = [world.pages.page("acme", token).get("home") for token in bad]
    answers.append(ask(world.pages.read, "/c/acme/v1/home"))
    assert {answer.status for answer in answers} == {401}
    assert len({answer.body for answer in answers}) == 1
    assert world.pages.page("acme", good).get("home").status == 200


def test_an_answer_is_never_stored(world):
    for path in ("home", "orders", "payments"):
        answer = world.page("acme", "ann").get(path)
        assert (answer.header("Cache-Control"), answer.header("ETag")) == ("no-store", None)
        assert answer.header("Referrer-Policy") == "no-referrer"


def test_an_account_without_a_table_is_not_found_before_any_token(world):
    assert ask(world.pages.read, "/c/gamma/v1/home").code == "no_such_path"
    assert ask(world.pages.read, "/c/v1/home").code == "no_such_path"


def test_each_process_serves_its_own_paths(world):
    for path in ("/v1/me", "/v1/orders", "/ui/", "/v1/creator-link?creator=ann"):
        assert ask(world.pages.read, path, [("Authorization", f"Bearer {world.secrets['acme-manager']}")]).status == 404, path
    for socket in (world.serve.read, world.serve.people):
        assert ask(socket, "/c/acme/v1/home", [("Authorization", f"Bearer {world.token('acme', 'ann')}")]).code == "no_such_path"
    assert ask(world.pages.read, "/health").status == ask(world.pages.read, "/ready").status == 200


def test_a_page_token_is_no_api_token(world):
    answer = world.serve.token(world.token("acme", "ann")).get("orders")
    assert answer.status == 401


@pytest.mark.parametrize("path, parameters, named", [
    ("home", {"creator": "robert"}, {"#1"}),
    ("orders", {"account": "beta"}, {"#1"}),
    ("statement", {"month": "2026-13"}, {"month"}),
    ("statement", {}, {"month"}),
    ("order", {"shop": "shop-1"}, {"order"}),
    ("payments", {"limit": "5"}, {"#1"}),
    ("performance", {}, {"by"}),
    ("performance", {"by": "hour", "month": "2026-00"}, {"by", "month"}),
    ("find", {"number": "o1"}, {"shop"}),
    ("find", {"shop": "shop-1"}, {"number"}),
    ("find", {"shop": "shop-1", "day": "2024-03-01"}, {"total"}),
    ("find", {"shop": "shop-1", "day": "3.3.26", "total": "49,90"}, {"day", "total"}),
])
def test_each_wrong_parameter_is_named(world, path, parameters, named):
    answer = world.page("acme", "ann").get(path, **parameters)
    assert (answer.status, answer.code) == (400, "parameter"), answer
    assert {error["parameter"] for error in answer.json()["errors"]} == named


def test_the_homes_of_all_creators_add_up_to_the_balances(world):
    names = {"pending": "pending", "blocked": "checked", "payable": "ready", "in_payout": "on_its_way", "paid": "paid"}
    for account in scene.ACCOUNTS:
        sums, staffs = {}, {}
        for creator in CREATORS:
            for amounts in world.page(account, creator).object("home")["amounts"]:
                for staff, hers in names.items():
                    key = (amounts["currency"], staff)
                    sums[key] = sums.get(key, 0) + decimal.Decimal(amounts[hers])
        for row in world.staff(account).rows("balances"):
            for staff in names:
                key = (row["currency"], staff)
                staffs[key] = staffs.get(key, 0) + decimal.Decimal(row[staff])
        assert sums == staffs and sums


def test_a_statement_closes_as_that_of_staff(world):
    for account in scene.ACCOUNTS:
        for creator in CREATORS:
            for month in (scene.last_month(), MONTH):
                hers = world.page(account, creator).object("statement", month=month)
                staffs = world.staff(account).get("statement", creator=creator, month=month)
                closing = sum(decimal.Decimal(row["closing"]) for row in staffs.json()["sums"]) if staffs.status == 200 else 0
                assert sum(decimal.Decimal(row["closing"]) for row in hers["sums"]) == closing
                entries = sum(decimal.Decimal(row["amount"]) for row in hers["entries"])
                assert sum(decimal.Decimal(row["opening"]) for row in hers["sums"]) + entries == closing


def test_links_and_codes_have_figures(world):
    """RP2, RP3; creators 5."""
    (link,) = world.page("acme", "ann").object("performance", by="link")["items"]
    assert (link["link"], link["to"], link["state"], link["clicks"]) == ("spring-mug", "https://shop.example/mug", "active", 0)
    (code,) = world.page("acme", "ann").object("performance", by="code", month="2024-03")["items"]
    orders = [row for row in world.page("acme", "ann").object("orders")["items"] if row["code"] == "SAVE"]
    # The rejected one is hers still, and in no list.
    assert (code["code"], code["orders"], code["clicks"], code["conversion"]) == ("SAVE", len(orders) + 1, None, None)
    (stopped,) = world.page("acme", "robert").object("performance", by="link")["items"]
    assert (stopped["link"], stopped["state"]) == ("spring-cap", "stopped")


def test_amounts_stay_when_a_creator_has_left_every_program(world):
    """CE5, last sentence: a link is made, and the amounts stay."""
    before = world.page("beta", "robert").object("home")["amounts"]
    world.sluice("creator", "remove", "robert", "--program", "autumn")
    after = world.page("beta", "robert")
    assert after.object("home")["amounts"] == before != [] and "o2" in {row["number"] for row in after.object("orders")["items"]}


def test_a_row_of_another_creator_is_500_and_counted(world):
    """CE13: an index that no program of sluice writes so. Bob is robert's first id."""
    if world.server is not None:
        pytest.skip("PostgreSQL makes this index from the orders")
    def foreign():
        return int(re.search(r"^sluice_creator_foreign_rows_total (\d+)$", ask(world.pages.read, "/metrics").body.decode(), re.M)[1])

    before = foreign()
    index = (world.sluice.store / "ledger", "orders_by_creator", "bob", "ann")
    lmdb.copy_rows(*index)
    try:
        for path in ("orders", "home"):
            answer = world.page("acme", "ann").get(path)
            assert path == "home" or answer.status == 500, answer
            assert b'"o2"' not in answer.body
        assert foreign() > before
    finally:
        lmdb.copy_rows(*index, undo=True)
    assert world.page("acme", "ann").get("orders").status == 200


def test_lists_have_csv(world):
    page = world.page("acme", "ann")
    text = page.get("orders", format="csv").body.decode()
    assert text.splitlines()[0] == "number,shop,order,day,by,code,link,commission,currency,state,ready_on,checked_since,payments"
    assert page.get("statement", month=MONTH, format="csv").body.decode().splitlines()[0] == "day,number,word,amount,currency"


def test_cursors_of_another_creator_are_refused(world):
    ann = world.page("acme", "ann")
    for cursor in ("x", "A" * 3072):
        assert ann.get("orders", after=cursor).code == "cursor_invalid"


def test_the_log_names_the_link_and_no_token(world):
    token = world.token("acme", "ann")
    world.pages.page("acme", token).get("order", shop="shop-1", order="o1")
    assert "ann/" in world.pages.log() and "o1" not in world.pages.log()
    assert token not in world.pages.log() and token not in world.serve.log()


def test_each_creator_has_a_window_of_her_own_of_120_requests_by_default(world):
    folder = paths.make_folder()
    try:
        with CreatorPages(world.sluice.store, folder, world.folder / "creators.toml") as pages:
            assert pages.page("beta", world.token("beta", "cy")).get("home").header("X-RateLimit-Limit") == "120"
        with CreatorPages(world.sluice.store, folder, world.folder / "creators.toml", "--rate-limit", "3/3600") as pages:
            answers = [pages.page("beta", world.token("beta", "cy")).get("home") for _ in range(4)]
            assert [answer.status for answer in answers][2:] == [200, 429]
            assert pages.page("beta", world.token("beta", "ann")).get("home").status == 200
    finally:
        paths.drop_folder(folder)


def test_a_creator_finds_why_an_order_is_hers_or_not_30_times_a_day(world):
    ann, robert = world.page("beta", "ann"), world.page("beta", "robert")
    assert ann.object("find", shop="shop-2", number="o1")["number"] == "o1"
    unknown = ann.get("find", shop="shop-2", number="none").body
    assert json.loads(unknown)["cause"] == "NOT_ARRIVED"
    for shop, number in (("shop-2", "o2"), ("shop-1", "o1"), ("shop-2", "o3"), ("none", "o1")):
        assert ann.get("find", shop=shop, number=number).body == unknown, number
    statuses = [ann.get("find", shop="shop-2", number="o1").status for _ in range(25)]
    assert statuses == [200] * 24 + [429]
    assert ann.get("find", shop="shop-2", number="o1").header("Retry-After") is not None
    assert ann.get("home").status == robert.get("find", shop="shop-2", number="o2").status == 200


def test_metrics_count_requests_refusals_links_and_finds(world):
    ask(world.pages.read, "/c/acme/v1/home")
    made = world.serve_metric("sluice_creator_links_total")
    world.page("acme", "cy").object("find", shop="shop-2", number="none")
    assert world.serve_metric("sluice_creator_links_total") == made + 1
    text = ask(world.pages.read, "/metrics").body.decode()
    assert 'sluice_creator_refused_total{reason="missing"}' in text
    assert 'sluice_creator_requests_total{path="home",status="200"}' in text
    assert re.search(r"^sluice_creator_foreign_rows_total \d", text, re.M)
    assert re.search(r'^sluice_creator_find_total\{cause="NOT_ARRIVED"\} [1-9]', text, re.M)


def test_the_process_takes_no_other_socket(world):
    said = world.sluice.refuses("serve", "--creators", f"unix:{world.folder}/c.sock", "--people", f"unix:{world.folder}/p.sock",
                                "--creators-config", world.folder / "creators.toml", code=None)
    assert "--creators takes" in said
