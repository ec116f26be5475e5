"""Accounts, shops and tokens: every change counts on running workers with the next request."""

import datetime
import json
import os
import signal

import pytest

from harness.merchant import CONFIG
from harness import answers, http1, orders, paths, sign


@pytest.fixture
def world(edge, new_merchant):
    made = new_merchant(edge, orders.unique("tokens"))
    workers = edge.workers()
    assert len(workers) == 2
    connections = [edge.connect_to(worker, "/which") for worker in workers]
    yield made, connections
    for connection in connections:
        connection.close()


def soon(seconds):
    at = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=seconds)
    return at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def event(merchant, connection, secret=None, shop=None):
    return merchant.edge.post_event(
        shop or merchant.shop, secret or merchant.secret, "ORDER_CREATE", orders.order(), connection
    )


def catalog(merchant, connection, secret=None):
    document = {"products": [{"platform_product_id": "p", "title": "T"}]}
    return merchant.edge.post_catalog(
        merchant.shop, secret or merchant.secret, "PRODUCT_UPSERT", document, orders.unique("k"), connection
    )


def test_new_token_works_at_once_on_every_worker(world):
    merchant, connections = world
    for connection in connections:
        answers.is_success(event(merchant, connection))  # both workers know the account by now
    _, secret = merchant.edge.sluice.token(merchant.account, "write_orders", "write_products")
    for connection in connections:
        answers.is_success(event(merchant, connection, secret))
        answers.catalog_success(catalog(merchant, connection, secret), 1)


def test_revoked_token_is_refused_at_once_on_every_worker(world):
    merchant, connections = world
    for _ in range(5):
        token_id, secret = merchant.edge.sluice.token(merchant.account, "write_orders", "write_products")
        for connection in connections:
            answers.is_success(event(merchant, connection, secret))
            answers.catalog_success(catalog(merchant, connection, secret), 1)
        merchant.edge.sluice("token", "revoke", token_id)
        for connection in connections:
            answers.is_unauthorized(event(merchant, connection, secret))
            answers.catalog_error(catalog(merchant, connection, secret), 403)
            answers.is_success(event(merchant, connection))


def begun(merchant, target, headers, body):
    """A connection whose request lacks the second half of its body, which a worker waits for."""
    connection = merchant.edge.connect()
    more = [("Content-Length", str(len(body))), ("Expect", "100-continue")]
    connection.send(http1.head("POST", target, headers + more))
    assert connection.read().status == 100
    connection.send(body[: len(body) // 2])
    return connection


@pytest.mark.parametrize("change", ["revoke the token", "suspend the shop", "nothing"])
def test_the_sender_is_looked_up_again_when_the_body_took_its_time(world, change):
    merchant, _ = world
    sluice = merchant.edge.sluice
    event_body = sign.encode(orders.order())
    batch_body = sign.encode({"products": [{"platform_product_id": "p", "title": "T"}]})
    event_head = sign.event_headers(merchant.shop, merchant.secret, "ORDER_CREATE", event_body)
    batch_head = sign.catalog_headers(
        merchant.shop, merchant.secret, "PRODUCT_UPSERT", batch_body, orders.unique("key")
    )
    with begun(merchant, sign.EVENTS, event_head, event_body) as events:
        with begun(merchant, sign.CATALOG, batch_head, batch_body) as catalog_connection:
            if change == "revoke the token":
                sluice("token", "revoke", merchant.token_id)
            elif change == "suspend the shop":
                sluice("shop", "suspend", merchant.shop)
            events.send(event_body[len(event_body) // 2 :])
            catalog_connection.send(batch_body[len(batch_body) // 2 :])
            event_answer, batch_answer = events.read(), catalog_connection.read()
    if change == "nothing":
        answers.is_success(event_answer)
        answers.catalog_success(batch_answer, 1)
    else:
        answers.is_unauthorized(event_answer)
        answers.catalog_error(batch_answer, 403 if change == "revoke the token" else 404)


def test_any_of_8_tokens_may_have_signed_and_a_9th_is_refused(world):
    merchant, connections = world
    tokens = [merchant.edge.sluice.token(merchant.account, "write_orders") for _ in range(7)]
    secrets = [merchant.secret, *[secret for _, secret in tokens]]
    for secret in secrets:
        for connection in connections:
            answers.is_success(event(merchant, connection, secret))
    arguments = ["token", "create", "--account", merchant.account, "--scope"]
    merchant.edge.sluice.refuses(*arguments, "write_orders")
    merchant.edge.sluice.refuses(*arguments, "read_orders,write_orders")
    merchant.edge.sluice.token(merchant.account, "write_products")  # another scope has room
    merchant.edge.sluice("token", "revoke", tokens[0][0])
    _, secret = merchant.edge.sluice.token(merchant.account, "write_orders")
    answers.is_success(event(merchant, connections[0], secret))


def test_expired_siblings_do_not_count(world):
    merchant, _ = world
    for _ in range(7):
        merchant.edge.sluice.token(merchant.account, "write_orders", expires=soon(1))
    arguments = ["token", "create", "--account", merchant.account, "--scope", "write_orders"]
    paths.wait_until(lambda: merchant.edge.sluice.run(*arguments).returncode == 0, "the tokens to expire")


def test_token_expires_without_reload(world):
    merchant, connections = world
    at = soon(2)
    _, secret = merchant.edge.sluice.token(merchant.account, "write_orders", "write_products", expires=at)
    answers.is_success(event(merchant, connections[0], secret))
    for connection in connections:
        paths.wait_until(lambda: event(merchant, connection, secret).status == 401, "the token to expire")
        answers.catalog_error(catalog(merchant, connection, secret), 403)
    assert soon(0) >= at



def test_a_rotated_master_key_needs_no_reload(start_edge, new_merchant):
    """Workers may not open the key's file but follow its changes, including workers started later."""
    edge = start_edge(CONFIG, user="www-data")
    made = new_merchant(edge, "acme")
    _, unused = edge.sluice.token("acme", "write_orders", "write_products")
    for _ in range(3):
        edge.sluice("key", "rotate")
        _, later = edge.sluice.token("acme", "write_orders", "write_products")
        other = edge.sluice.shop(orders.unique("later-shop"), edge.sluice.account(orders.unique("later")))
        account = next(row for row in edge.sluice.json("shop", "list") if other in row.values())["account_id"]
        _, others = edge.sluice.token(account, "write_orders")
        for worker in edge.workers():
            with edge.connect_to(worker, "/which") as connection:
                for secret in (made.secret, unused, later):
                    answers.is_success(event(made, connection, secret))
                answers.is_success(event(made, connection, others, shop=other))
                answers.catalog_success(catalog(made, connection, later), 1)
    key = edge.store / "master.key"
    assert (key.stat().st_mode & 0o777, key.stat().st_uid) == (0o400, 0)
    before = edge.workers()
    edge.expect_log("exited on signal 9")
    os.kill(before[0], signal.SIGKILL)
    (born,) = paths.wait_until(lambda: set(edge.workers()) - set(before), "a new worker")
    with edge.connect_to(born, "/which") as connection:
        answers.is_success(event(made, connection, unused))


def test_a_key_file_that_was_replaced_is_503_until_a_reload(start_edge, new_merchant):
    """An event that cannot be judged gets neither 401 nor 200; tokens that were used before keep working."""
    edge = start_edge(CONFIG, user="www-data", workers=1)
    edge.expect_log("master key .* was replaced by another file: reload nginx")
    made = new_merchant(edge, "acme")
    key = edge.store / "master.key"
    with edge.connect() as connection:
        answers.is_success(event(made, connection))
        copy = key.with_suffix(".copy")
        copy.write_bytes(key.read_bytes())
        copy.chmod(0o400)
        copy.rename(key)
        edge.sluice("key", "rotate")
        _, later = edge.sluice.token("acme", "write_orders", "write_products")
        answers.is_success(event(made, connection))
        refused = event(made, connection, later)
        assert (refused.status, refused.body, refused.header("Retry-After")) == (503, b"", "1")
        answers.catalog_success(catalog(made, connection, later), 1)
    paths.wait_until(lambda: "reload nginx" in edge.log(), "the word in the log")
    edge.reload()
    answers.is_success(event(made, None, later))


def test_expires_takes_a_span(world):
    merchant, connections = world
    token_id, secret = merchant.edge.sluice.token(merchant.account, "write_orders", expires="90d")
    answers.is_success(event(merchant, connections[0], secret))
    rows = merchant.edge.sluice.json("token", "list", "--account", merchant.account)
    (row,) = [row for row in rows if row["token_id"] == token_id]
    left = datetime.datetime.fromisoformat(row["expires_at"].replace("Z", "+00:00")) - datetime.datetime.now(
        datetime.timezone.utc
    )
    assert datetime.timedelta(days=89, hours=23) < left <= datetime.timedelta(days=90)


@pytest.mark.parametrize("what", ["shop", "account"])
def test_suspended_means_unknown_at_once(world, what):
    merchant, connections = world
    name = merchant.shop if what == "shop" else merchant.account
    for _ in range(3):
        for connection in connections:
            answers.is_success(event(merchant, connection))
        merchant.edge.sluice(what, "suspend", name)
        for connection in connections:
            answers.is_unauthorized(event(merchant, connection))
            assert catalog(merchant, connection).status in ((404,) if what == "shop" else (403, 404))
        merchant.edge.sluice(what, "resume", name)
        for connection in connections:
            answers.is_success(event(merchant, connection))
            answers.catalog_success(catalog(merchant, connection), 1)


def test_new_shop_works_at_once(world):
    merchant, connections = world
    shop = orders.unique("new-shop")
    for connection in connections:
        answers.is_unauthorized(event(merchant, connection, shop=shop))
    merchant.edge.sluice.shop(shop, merchant.account)
    for connection in connections:
        answers.is_success(event(merchant, connection, shop=shop))


def test_given_secret_is_the_key_and_the_bearer_token(world):
    merchant, connections = world
    secret = "Sixteen bytes, ü!" + orders.unique("")
    merchant.edge.sluice.token(merchant.account, "write_orders", secret=secret)
    answers.is_success(event(merchant, connections[0], secret))
    plain = "0123456789abcdef" + orders.unique("")
    merchant.edge.sluice.token(merchant.account, "write_products", secret=plain + "\n")
    answers.catalog_success(catalog(merchant, connections[0], plain), 1)


def test_one_final_newline_of_a_given_secret_is_stripped(world):
    merchant, connections = world
    secret = "fedcba9876543210" + orders.unique("")
    merchant.edge.sluice.token(merchant.account, "write_orders", secret=secret + "\n")
    answers.is_success(event(merchant, connections[0], secret))


def test_given_secret_has_at_least_16_bytes(world):
    merchant, _ = world
    arguments = ["token", "create", "--account", merchant.account, "--scope", "write_orders", "--secret-from", "-"]
    merchant.edge.sluice.refuses(*arguments, stdin="0123456789abcde")
    merchant.edge.sluice.refuses(*arguments, stdin="0123456789abcde\n")
    merchant.edge.sluice.refuses(*arguments, stdin="")


def test_secret_from_a_file(world):
    merchant, connections = world
    path = merchant.edge.folder / "secret"
    secret = orders.unique("a-secret-of-enough-bytes")
    path.write_text(secret + "\n")
    path.chmod(0o600)
    merchant.edge.sluice(
        "token", "create", "--account", merchant.account, "--scope", "write_orders", "--secret-from", path
    )
    answers.is_success(event(merchant, connections[0], secret))


def test_secret_is_shown_once_only(world):
    merchant, _ = world
    for command in (["token", "list"], ["account", "list"], ["shop", "list"], ["queue", "stats"]):
        for form in ("table", "json", "csv"):
            assert merchant.secret not in merchant.edge.sluice(*command, "--format", form)


def test_secret_is_not_in_the_store_in_clear(world):
    merchant, connections = world
    answers.is_success(event(merchant, connections[0]))
    for path in merchant.edge.store.rglob("*"):
        if path.is_file():
            assert merchant.secret.encode() not in path.read_bytes(), path
    assert merchant.secret not in merchant.edge.log()


def test_listings_show_ids_and_settings(world):
    merchant, _ = world
    sluice = merchant.edge.sluice
    (account,) = [r for r in sluice.json("account", "list") if merchant.account in r.values()]
    assert account["created_at"].endswith("Z")
    (shop,) = sluice.json("shop", "list", "--account", merchant.account)
    assert merchant.shop in shop.values() and shop["created_at"].endswith("Z")
    (token,) = sluice.json("token", "list", "--account", merchant.account)
    assert token["token_id"] == merchant.token_id
    assert token["revoked_at"] is None and token["expires_at"] is None
    sluice("token", "revoke", merchant.token_id)
    (token,) = sluice.json("token", "list", "--account", merchant.account)
    assert token["revoked_at"].endswith("Z")


def test_what_is_not_there_or_there_already_is_refused(world):
    merchant, _ = world
    sluice = merchant.edge.sluice
    sluice.refuses("account", "create", merchant.account)
    sluice.refuses("shop", "create", merchant.shop, "--account", merchant.account)
    sluice.refuses("shop", "create", "s", "--account", "nowhere")
    sluice.refuses("token", "create", "--account", "nowhere", "--scope", "write_orders")
    sluice.refuses("token", "revoke", "nothing")
    sluice.refuses("shop", "suspend", "nowhere")
    sluice.refuses("account", "suspend", "nowhere")
    sluice.refuses("account", "set", "nowhere", "--rate-limit", "5/10")


@pytest.mark.parametrize(
    "arguments",
    [
        ["account", "create"],
        ["account", "create", "a", "b"],
        ["account", "create", "x" * 129],
        ["account", "create", "a b"],
        ["account", "create", "é"],
        ["account", "create", ""],
        ["account", "create", "ok", "--rate-limit", "5"],
        ["account", "create", "ok", "--rate-limit", "0/0"],
        ["account", "create", "ok", "--rate-limit", "-1/5"],
        ["account", "create", "ok", "--rate-limit", "5/x"],
        ["token", "create", "--account", "acme", "--scope", "nonsense"],
        ["token", "create", "--account", "acme", "--scope", ""],
        ["token", "create", "--account", "acme"],
        ["token", "create", "--account", "acme", "--scope", "write_orders", "--expires", "soon"],
        ["nonsense"],
        [],
        ["report"],
        ["report", "nonsense"],
        ["report", "orders", "--format", "xml"],
        ["report", "orders", "--from", "yesterday"],
    ],
    ids=" ".join,
)
def test_wrong_command_lines_are_usage_errors(edge, arguments):
    edge.sluice.refuses(*arguments, code=2)


def test_ids_of_every_allowed_character(edge):
    account = "A-Za-z0-9._-:@+/=" + orders.unique("x")
    shop = "s" * (128 - len(orders.unique("y"))) + orders.unique("y")
    edge.sluice.account(account)
    edge.sluice.shop(shop[:128], account)
    _, secret = edge.sluice.token(account, "write_orders")
    answers.is_success(edge.post_event(shop[:128], secret, "ORDER_CREATE", orders.order()))


def test_store_is_an_option_before_or_after_the_subcommand(edge, merchant):
    from harness.cli import Sluice

    elsewhere = Sluice("/nonexistent")
    for arguments in (["--store", edge.store, "account", "list"], ["account", "list", "--store", edge.store]):
        rows = json.loads(elsewhere(*arguments, "--format", "json"))
        assert any(merchant.account in row.values() for row in rows)
    elsewhere.refuses("account", "list")
    assert sign.EVENTS
