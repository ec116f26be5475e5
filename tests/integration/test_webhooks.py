"""Shopify and WooCommerce send straight to nginx: endpoints, signatures, answers, and what is stored."""

import hashlib
import hmac
import json
import pathlib

import pytest

from harness import http1, orders, paths
from harness.platform_senders import Shopify, WooCommerce, signature
from model.rules import Shop

CONFIG = """
    sluice_store @STORE@ map_size=1g thread_pool=sluice offload_pool=offload;
    sluice_rate_limit 1 1h;
    log_format hooks '$status $sluice_result $sluice_reason $sluice_source $sluice_source_topic $sluice_shop';

    server {
        listen 127.0.0.1:@PORT@ reuseport;
        access_log @DIR@/hooks.log hooks;
        add_header X-Seq $sluice_seq always;
        add_header X-Receipt $sluice_receipt always;
        client_max_body_size 1m;
        client_body_buffer_size 1m;
        location = /event/ecomm { sluice_ingest events; }
        location = /product-data { sluice_ingest catalog; }
        location = /hooks/shopify { sluice_ingest shopify; }
        location /hooks/shopify/ { sluice_ingest shopify; }
        location /hooks/woocommerce/ { sluice_ingest woocommerce; }
        location /sluice/ { sluice_status; }
    }
"""
IGNORED = 'sluice_source_ignored_total{endpoint="shopify",reason="topic"}'
SECRET = "hush-this-is-the-app's-secret"
TRANSLATED = paths.ROOT / "tests" / "model" / "translated"


def payload(platform, name):
    return (TRANSLATED / f"{platform}-1" / f"{name}.json").read_text().strip()


@pytest.fixture(scope="module")
def edge():
    from harness.edge import Edge

    with Edge(CONFIG) as running:
        yield running.start()


class World(Shop):
    """An account with a Shopify shop and a WooCommerce shop, at 10 % net with the code ANNA15 of Ann."""

    def __init__(self, edge):
        super().__init__(edge)
        self.domain = f"{self.account}.myshopify.com"
        self.secret_of_app = f"{SECRET}-{self.account}"
        self.sluice("shop", "set", self.shop, "--platform", "shopify", "--domain", self.domain,
                    "--from", "2026-01-01T00:00:00Z")
        self.give("shopify_webhooks", self.secret_of_app)
        self.woo_shop = self.sluice.shop(f"{self.account}-woo", self.account)
        self.sluice("shop", "set", self.woo_shop, "--platform", "woocommerce",
                    "--domain", f"https://{self.account}.example/", "--from", "2026-01-01T00:00:00Z")
        self.give("woocommerce_webhooks", self.secret_of_app, "--shop", self.woo_shop)
        self.shopify = Shopify(edge, self.domain, self.secret_of_app)
        self.woocommerce = WooCommerce(edge, f"https://{self.account}.example/", self.secret_of_app)

    def give(self, scope, secret, *options):
        secret_file = self.file("secret", secret)
        secret_file.chmod(0o600)
        return self.sluice.json("token", "create", "--account", self.account, "--scope", scope,
                                "--secret-from", secret_file, *options)["token_id"]

    def logs(self, text):
        """nginx logs a request after its answer; the last line has `text`."""
        log = self.edge.folder / "hooks.log"
        paths.wait_until(lambda: text in (log.read_text().splitlines() or [""])[-1], f"the log to end with {text}")


@pytest.fixture
def world(edge):
    return World(edge)


def accepted(answer):
    assert (answer.status, answer.body) == (200, b"success"), answer
    return answer


def refused(answer, status=401):
    assert answer.status == status, answer
    assert status != 401 or answer.body == b""
    return answer


def earn(world):
    world.apply_program()
    world.code(world.ann, "ANNA15")


def test_a_shopify_order_earns_its_commission(world):
    earn(world)
    accepted(world.shopify.send(payload("shopify", "order")))
    world.logs(f"200 accepted - shopify orders/updated {world.shop}")
    row = world.only_order()
    assert (row["order_id"], row["amount"]) == ("450789469508", "109.90")
    assert world.journal() == [("1466", "8.75", "ACCRUAL")]


def test_a_refund_and_a_cancellation_of_shopify_take_it_back(world):
    earn(world)
    accepted(world.shopify.send(payload("shopify", "order")))
    accepted(world.shopify.send(payload("shopify", "refunds")))
    assert world.journal()[-1] == ("1466", "-5.21", "REFUND")
    accepted(world.shopify.send(payload("shopify", "cancelled"), topic="orders/cancelled"))
    assert world.balance("EUR")[3] == "0.00"


def test_a_woocommerce_order_earns_its_commission(world):
    earn(world)
    accepted(world.woocommerce.ping())
    accepted(world.woocommerce.send(payload("woocommerce", "order"), topic="order.created"))
    world.logs(f"200 accepted - woocommerce order.created {world.woo_shop}")
    world.sluice.drain()
    (row,) = world.sluice.report("orders", "--shop", world.woo_shop)
    assert (row["order_id"], row["amount"]) == ("727", "104.90")
    assert world.balance("EUR")[3] == "8.32"


def test_the_state_of_a_second_does_not_depend_on_the_order_of_arrival(world):
    earn(world)
    accepted(world.shopify.send(payload("shopify", "cancelled"), topic="orders/cancelled"))
    accepted(world.shopify.send(payload("shopify", "order")))
    assert world.only_order()["cancelled_at"] == "2026-03-01T10:00:01Z"
    assert world.balance("EUR") is None or world.balance("EUR")[3] == "0.00"


def test_an_order_that_shopify_deleted_is_cancelled(world):
    earn(world)
    accepted(world.shopify.send(payload("shopify", "order")))
    accepted(world.shopify.send('{"id":450789469508}', topic="orders/delete"))
    world.logs(f"200 accepted - shopify orders/delete {world.shop}")
    assert world.only_order()["cancelled_at"] is not None
    assert world.journal()[-1] == ("1466", "-8.75", "CANCELLATION")


def test_an_order_that_woocommerce_deleted_comes_back_when_it_is_restored(world):
    earn(world)
    for topic, body in (("order.created", payload("woocommerce", "order")), ("order.deleted", '{"id":727}')):
        accepted(world.woocommerce.send(body, topic=topic))
    world.sluice.drain()
    assert world.balance("EUR")[3] == "0.00"
    accepted(world.woocommerce.send(payload("woocommerce", "order"), topic="order.restored"))
    world.sluice.drain()
    assert world.balance("EUR")[3] == "8.32"


def ledger_figures(edge):
    return json.loads(edge.request("GET", "/sluice/status.json", [], length=False).body)["ledger"]


def test_notes_of_the_translation_are_anomalies(world, edge):
    """Each is a figure of its own kind: the later kinds were counted as dead letters."""
    earn(world)
    world.sluice.drain()
    before = ledger_figures(edge)
    accepted(world.shopify.send(payload("shopify", "refunds")))
    notes = json.loads((TRANSLATED / "shopify-1" / "refunds.translated").read_text())["body"]["source"]["notes"]
    assert notes and sorted(world.anomalies()) == sorted(notes)
    after = ledger_figures(edge)
    for kind, count in before["anomalies_by_kind"].items():
        assert after["anomalies_by_kind"][kind] == count + notes.count(kind), kind
    assert after["dead_by_kind"] == before["dead_by_kind"]


def test_a_request_about_a_person_waits_as_a_dead_letter(world):
    body = {"shop_id": 1, "shop_domain": "mugs.myshopify.com", "customer": {"id": 7, "email": "bob.norman@mail.example"}, "orders_to_redact": [11]}
    accepted(world.shopify.send(json.dumps(body), topic="customers/redact"))
    world.sluice.drain()
    (letter,) = [row for row in world.sluice.json("dead", "list") if row["shop_id"] == world.shop]
    assert letter["topic"] == "PRIVACY_REQUEST" and letter["reason"] == "PRIVACY_REQUEST: customers/redact"
    world.sluice("dead", "discard", letter["seq"], "--reason", "answered")
    assert not [row for row in world.sluice.json("dead", "list") if row["shop_id"] == world.shop]


def test_a_retry_is_a_duplicate(world):
    earn(world)
    for _ in range(3):
        accepted(world.shopify.send(payload("shopify", "order")))
    assert world.journal() == [("1466", "8.75", "ACCRUAL")]
    assert not world.anomalies()


def test_webhooks_take_no_place_in_the_rate_window(world):
    for _ in range(3):  # the configuration allows one request in an hour
        accepted(world.shopify.send(payload("shopify", "order")))


@pytest.mark.parametrize("wrong", ["hex", "prefix", "short", "url-safe", "twice", "missing", "other", "bits"])
def test_a_wrong_signature_is_401(world, wrong):
    body = payload("shopify", "order").encode()
    right = signature(world.secret_of_app, body)
    name = "X-Shopify-Hmac-Sha256"
    if wrong == "missing":
        refused(world.shopify.send(body, leave_out=[name]))
        return
    last = right[42]
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    values = {
        "hex": [body.hex()[:64]],
        "prefix": ["sha256=" + right],
        "short": [right[:-1]],
        "url-safe": ["-_" + right[2:]],
        "twice": [right, right],
        "other": [signature("another secret of some shop", body)],  # the admin's key, for instance
        "bits": [right[:42] + alphabet[alphabet.index(last) | 1] + "="],
    }[wrong]
    refused(world.shopify.send(body, changed=[(name, value) for value in values]))
    if wrong == "other":
        world.logs("401 unauthorized signature_mismatch shopify")


def test_an_order_with_two_topics_is_400(world):
    """With 200 the platform would not send it again."""
    name = "X-Shopify-Topic"
    answer = world.shopify.send(payload("shopify", "order").encode(), changed=[(name, "orders/create"), (name, "orders/create")])
    assert answer.status == 400 and json.loads(answer.body)["details"][0]["field"] == name


def test_tokens_of_one_scope_sign_nothing_else(world):
    body = payload("shopify", "order")
    world.give("woocommerce_webhooks", "a secret of WooCommerce alone")
    refused(Shopify(world.edge, world.domain, "a secret of WooCommerce alone").send(body))
    refused(Shopify(world.edge, world.domain, world.secret).send(body))  # write_orders
    answer = world.edge.post_event(world.shop, world.secret_of_app, "ORDER_UPDATE", orders.order())
    refused(answer)


def test_a_token_of_a_shop_counts_for_that_shop(world):
    other = world.sluice.shop(f"{world.account}-other", world.account)
    world.sluice("shop", "set", other, "--platform", "woocommerce")
    body = payload("woocommerce", "order")
    refused(world.woocommerce.send(body, target=f"/hooks/woocommerce/{other}", leave_out=["X-WC-Webhook-Source"]))
    accepted(world.woocommerce.send(body, target=f"/hooks/woocommerce/{world.woo_shop}"))


def test_address_and_header_must_name_the_same_shop(world):
    body = payload("shopify", "order")
    accepted(world.shopify.send(body, target=f"/hooks/shopify/{world.shop}"))
    refused(world.shopify.send(body, target=f"/hooks/shopify/{world.shop}",
                               changed=[("X-Shopify-Shop-Domain", "other.myshopify.com")]))
    world.logs("shop_differs")
    accepted(world.shopify.send(body, changed=[("X-Shopify-Shop-Domain", world.domain.upper())]))
    refused(world.shopify.send(body, changed=[("X-Shopify-Shop-Domain", "unknown.myshopify.com")]))
    refused(world.shopify.send(body, leave_out=["X-Shopify-Shop-Domain"]))
    body = payload("woocommerce", "order")
    refused(world.woocommerce.send(body, target=f"/hooks/woocommerce/{world.woo_shop}",
                                   changed=[("X-WC-Webhook-Source", "https://other.example/")]))
    world.logs("shop_differs")
    eighth = world.sluice.shop(f"{world.account}-8", world.account)
    world.sluice("shop", "set", eighth, "--platform", "woocommerce", "--domain", f"https://{world.account}-8.example/")
    refused(world.woocommerce.send(body, target=f"/hooks/woocommerce/{world.woo_shop}",
                                   changed=[("X-WC-Webhook-Source", f"https://{world.account}-8.example/")]))
    world.logs("shop_differs")


def test_an_empty_signature_is_401(world):
    for value in ("", " ", "="):
        refused(world.shopify.send(payload("shopify", "order"), changed=[("X-Shopify-Hmac-Sha256", value)]))
    form = [("Content-Type", "application/x-www-form-urlencoded"), ("X-WC-Webhook-Signature", "")]
    refused(world.woocommerce.post(form, b"webhook_id=7"))


def test_a_hexadecimal_signature_is_named(world):
    body = payload("shopify", "order").encode()
    digest = hmac.new(world.secret_of_app.encode(), body, hashlib.sha256).hexdigest()
    refused(world.shopify.send(body, changed=[("X-Shopify-Hmac-Sha256", digest)]))
    world.logs("401 unauthorized signature_hex shopify")


def test_a_secret_of_webhooks_is_no_bearer_token(world):
    products = {"products": [{"platform_product_id": "p", "title": "T"}]}
    answer = world.edge.post_catalog(world.shop, world.secret_of_app, "PRODUCT_UPSERT", products, "key")
    assert answer.status == 403, answer  # as an unknown token


def test_a_shop_of_another_account_is_401(edge):
    """A sender who has one account's secret names the other's shop, in the address or in the header."""
    mine, other = World(edge), World(edge)
    body = payload("shopify", "order")
    refused(mine.shopify.send(body, target=f"/hooks/shopify/{other.shop}", leave_out=["X-Shopify-Shop-Domain"]))
    refused(mine.shopify.send(body, changed=[("X-Shopify-Shop-Domain", other.domain)]))
    refused(mine.shopify.send(body, target=f"/hooks/shopify/{other.shop}",
                              changed=[("X-Shopify-Shop-Domain", other.domain)]))
    assert not other.rows("orders")
    said = mine.sluice.refuses("token", "create", "--account", mine.account, "--scope", "shopify_webhooks",
                               "--shop", other.shop)
    assert "no shop" in str(said)


def test_a_body_of_another_length_than_said_reaches_no_file(world):
    """A chunked body is kept in memory, whatever the size of its pieces; one beyond the limit is 413."""
    body = payload("shopify", "order").encode()
    for size in (1, 7, 4096, len(body)):
        with world.edge.connect() as connection:
            sent = [*world.shopify.headers(body), ("Transfer-Encoding", "chunked")]
            connection.socket.sendall(http1.head("POST", "/hooks/shopify", sent) + http1.chunked(body, size))
            accepted(connection.read())
    long = body[:-1] + b" " * ((1 << 20) - len(body)) + body[-1:]
    assert len(long) == 1 << 20
    accepted(world.shopify.send(long))
    with world.edge.connect() as connection:
        sent = [*world.shopify.headers(long), ("Transfer-Encoding", "chunked")]
        connection.socket.sendall(http1.head("POST", "/hooks/shopify", sent) + http1.chunked(long, 1000))
        accepted(connection.read())
    assert world.shopify.send(long + b" ").status == 413
    spooled = [path for path in pathlib.Path(world.edge.folder).rglob("*") if path.is_file() and path.suffix == ".bulk"]
    assert not spooled
    assert world.only_order()["order_id"] == "450789469508"


@pytest.mark.parametrize("topic", ["Orders/Updated", "ORDERS/CREATE", "orders/updated ", "", "orders/updated/x", "\xff"])
def test_a_topic_in_another_case_is_no_order(world, topic):
    accepted(world.shopify.send(payload("shopify", "order"), topic=topic))
    if topic.strip() != "orders/updated":
        assert not world.rows("orders")


def test_a_topic_that_is_ignored_is_logged_once(world):
    for _ in range(3):
        accepted(world.shopify.send('{"id":1}', topic="orders/risk_assessment_changed"))
    lines = [line for line in world.edge.log().splitlines() if '"orders/risk_assessment_changed" are ignored' in line]
    assert 1 <= len(lines) <= len(world.edge.workers()), lines


def test_ignored_webhooks_are_counted_apart(world):
    def counted():
        text = world.edge.request("GET", "/sluice/metrics", []).body.decode()
        (line,) = [line for line in text.splitlines() if line.startswith(IGNORED)]
        assert 'sluice_refusals_total{endpoint="shopify",reason="topic"}' not in text
        return int(line.split()[-1])

    before = counted()
    accepted(world.shopify.send('{"id":1}', topic="orders/edited"))
    paths.wait_until(lambda: counted() == before + 1, "the webhook to be counted")


def test_notes_are_counted_where_the_webhook_arrives(world):
    name = 'sluice_source_notes_total{endpoint="shopify",note="REFUND_NOT_BY_LINE"}'

    def counted():
        lines = world.edge.request("GET", "/sluice/metrics", []).body.decode().splitlines()
        (line,) = [line for line in lines if line.startswith(name)]
        return int(line.split()[-1])

    before = counted()
    accepted(world.shopify.send(payload("shopify", "refunds")))
    accepted(world.shopify.send(payload("shopify", "order")))
    paths.wait_until(lambda: counted() == before + 1, "the note to be counted")


def test_one_secret_of_an_app_signs_for_two_accounts(edge):
    first, second = World(edge), World(edge)
    second.give("shopify_webhooks", first.secret_of_app)
    accepted(Shopify(edge, second.domain, first.secret_of_app).send(payload("shopify", "order")))


def test_the_body_names_its_shop_where_that_is_demanded(world):
    body = payload("shopify", "order")
    world.sluice("shop", "set", world.shop, "--platform-shop", "548380009")
    accepted(world.shopify.send(body))
    world.sluice("shop", "set", world.shop, "--platform-shop", "4838")
    refused(world.shopify.send(body))
    world.logs("shop_differs")


@pytest.mark.parametrize("topic", ["orders/edited", "refunds/create", "app/uninstalled", "draft_orders/create"])
def test_other_topics_are_ignored(world, topic):
    accepted(world.shopify.send('{"id":1}', topic=topic))
    world.logs(f"200 ignored topic shopify {topic} {world.shop}")
    assert not world.rows("orders")


def test_tests_and_earlier_orders_and_drafts_are_ignored(world):
    accepted(world.shopify.send(payload("shopify", "order").replace('"test":false', '"test":true')))
    world.logs("ignored test_order")
    accepted(world.woocommerce.send(payload("woocommerce", "order").replace("processing", "pending")))
    world.logs("ignored not_placed")
    world.sluice("shop", "set", world.shop, "--from", "2026-03-01T10:00:01Z")
    accepted(world.shopify.send(payload("shopify", "order")))
    world.logs("ignored before_start")
    assert not world.rows("orders")


def test_the_test_notification_of_the_admin_is_ignored(world):
    """Its order is made up: the lines do not sum up to its total, and its id is the same in every shop."""
    order = json.loads(payload("shopify", "order"))
    made_up = {"id": 820982911946154508, "name": "#9999", "test": True, "confirmed": False, "total_price": "404.95",
               "cancelled_at": "2026-03-01T10:00:00+01:00", "cancel_reason": "customer"}
    accepted(world.shopify.send(json.dumps(order | made_up), topic="orders/updated"))
    world.logs(f"200 ignored test_order shopify orders/updated {world.shop}")
    assert not world.rows("orders")


@pytest.mark.parametrize("change, field, code", [
    (("EUR", "TMN"), "currency", "INVALID_FORMAT"),
    (('"taxes_included":true', '"taxes_included":"true"'), "taxes_included", "INVALID_FORMAT"),
    (('"amount":"60.00"', '"amount":"1.2.3"'), "line_items[0].price_set.shop_money.amount", "INVALID_FORMAT"),
    (('"line_items":[', '"lines":['), "line_items", "REQUIRED"),
    (('"currency":"EUR"', '"money":"EUR"'), "currency", "REQUIRED"),
])
def test_an_order_that_cannot_be_read_becomes_a_dead_letter(world, change, field, code):
    """It is never lost: the letter says what is wrong and keeps what was read."""
    body = payload("shopify", "order")
    assert change[0] in body
    accepted(world.shopify.send(body.replace(*change)))
    world.logs("200 untranslated")
    world.sluice.drain()
    (letter,) = [row for row in world.sluice.json("dead", "list") if row["shop_id"] == world.shop]
    shown = world.sluice.json("dead", "show", letter["seq"])
    assert shown["reason"] == letter["reason"] == f"{field}: {shown['faults'][0]['message']}"
    assert [(fault["field"], fault["code"]) for fault in shown["faults"]] == [(field, code)]
    assert shown["seen"]["id"] == 450789469508 and f"translate --stored --dead {letter['seq']}" in shown["help"]
    said = world.sluice.refuses("translate", "--stored", "--dead", letter["seq"])
    assert f"order of dead letter {letter['seq']}: {field}: " in str(said)


@pytest.mark.parametrize("headers", [
    [("Content-Type", "application/xml")], [("Content-Encoding", "gzip")], [("Content-Type", "text/plain")],
])
def test_a_webhook_in_another_format_is_400(world, headers):
    answer = refused(world.shopify.send(payload("shopify", "order"), changed=headers), 400)
    assert json.loads(answer.body)["details"][0]["field"] == headers[0][0]


@pytest.mark.parametrize("body", ["", "[]", "<order/>", '{"id":1', '"text"'])
def test_a_signed_body_that_is_no_json_object_is_400(world, body):
    refused(world.shopify.send(body), 400)


def test_only_the_form_of_woocommerce_is_a_ping(world):
    accepted(world.woocommerce.ping())
    world.logs("200 ping - woocommerce")
    accepted(world.woocommerce.ping(target="/hooks/woocommerce/no-such-shop"))
    for body in (b"webhook_id=7&x=1", b"webhook_id=", b"webhook_id=x", b"webhook_id=" + b"1" * 21, b"", b"a=1"):
        refused(world.woocommerce.ping(body))
    refused(world.woocommerce.ping(headers=[("X-WC-Webhook-Signature", "x")]))
    form = [("Content-Type", "application/x-www-form-urlencoded")]
    refused(world.edge.request("POST", "/hooks/shopify", form, b"webhook_id=7"))


def test_methods_but_post_are_405(world):
    for method in ("GET", "PUT", "DELETE"):
        answer = world.edge.request(method, "/hooks/shopify", [])
        assert (answer.status, answer.header("Allow"), answer.body) == (405, "POST", b"")


def test_a_shop_with_a_platform_takes_no_other_orders(world):
    answer = world.edge.post_event(world.shop, world.secret, "ORDER_UPDATE", orders.order())
    assert answer.status == 400
    assert json.loads(answer.body)["details"][0]["field"] == "source"
    world.sluice("shop", "set", world.shop, "--platform", "none")
    refused(world.shopify.send(payload("shopify", "order")))


def test_a_webhook_secret_is_limited_as_documented(world):
    world.sluice.refuses("token", "create", "--account", world.account, "--scope", "shopify_webhooks,write_orders")
    world.sluice.refuses("token", "create", "--account", world.account, "--scope", "write_orders",
                         "--shop", world.shop)
    world.sluice.refuses("token", "create", "--account", world.account, "--scope", "shopify_webhooks",
                         "--shop", "no-such-shop")
    for number in range(7):
        world.give("shopify_webhooks", f"one of many secrets {number}")
    world.sluice.refuses("token", "create", "--account", world.account, "--scope", "shopify_webhooks")


def test_a_domain_belongs_to_one_shop(world):
    other = world.sluice.shop(f"{world.account}-other", world.account)
    said = world.sluice.refuses("shop", "set", other, "--platform", "shopify", "--domain", world.domain)
    assert world.shop in str(said)
    world.sluice("shop", "set", world.shop, "--platform", "none")
    world.sluice("shop", "set", other, "--platform", "shopify", "--domain", world.domain)


@pytest.mark.parametrize("lines", ["client_body_buffer_size 512k;",
                                   "client_body_buffer_size 1m; client_body_in_file_only clean;"])
def test_a_location_that_would_write_bodies_to_a_file_is_refused(lines):
    from harness.edge import Edge

    location = "location = /hooks/shopify { client_max_body_size 1m; sluice_ingest shopify; %s }" % lines
    made = Edge("sluice_store @STORE@; server { listen 127.0.0.1:@PORT@; %s }" % location)
    try:
        code, said = made.test_configuration()
        assert code != 0 and "must stay in memory" in said, said
    finally:
        paths.drop_folder(made.folder)
