"""K13: who changed accounts, shops, tokens, users and destinations, when and why."""
import json

import pytest
from harness.cli import Sluice, as_user

EVE = "man"


@pytest.fixture
def sluice(tmp_path):
    """A store that any user of the test may name."""
    made = Sluice(tmp_path / "store")
    made("init")
    return made


def changes(sluice):
    return [(row["actor"], row["change"], row["reason"]) for row in sluice.json("report", "changes")]


def test_k13_each_change_of_the_registry_has_an_actor_and_a_reason(sluice):
    eve = Sluice(sluice.store)
    eve.prefix = as_user(EVE)
    eve("account", "create", "acme", "--reason", "a customer")
    eve("account", "set", "acme", "--rate-limit", "5/60")
    eve("shop", "create", "shop-1", "--account", "acme")
    token = eve.json("token", "create", "--account", "acme", "--scope", "write_orders", "--reason", "ticket 41")["token_id"]
    eve("user", "add", "Ann@example.org", "--account", "acme", "--role", "viewer")
    eve("user", "add", "carl@example.org", "--account", "acme", "--role", "support")
    eve("user", "remove", "ann@example.org", "--account", "acme")
    eve("shop", "set", "shop-1", "--platform", "shopify", "--domain", "HTTPS://Mugs.example/", "--from",
        "2026-01-01T00:00:00Z", "--reason", "ticket 42")
    eve("shop", "set", "shop-1", "--platform-shop", "548380009", "--money", "presentment")
    hook = eve.json("token", "create", "--account", "acme", "--scope", "shopify_webhooks", "--shop", "shop-1")["token_id"]
    eve("shop", "suspend", "shop-1")
    eve("token", "revoke", token, "--reason", "leaked")
    assert eve.run("shop", "create", "shop-1", "--account", "acme").returncode == 1, "nothing is logged of a refusal"
    assert changes(sluice) == [
        (EVE, "account create acme", "a customer"),
        (EVE, "account set acme: rate limit 5/60", None),
        (EVE, "shop create shop-1 of acme", None),
        (EVE, f"token create {token} of acme: write_orders", "ticket 41"),
        (EVE, "user add ann@example.org of acme: viewer", None),
        (EVE, "user add carl@example.org of acme: support", None),
        (EVE, "user remove ann@example.org of acme", None),
        (EVE, "shop set shop-1: platform shopify, domain mugs.example, from 2026-01-01T00:00:00Z", "ticket 42"),
        (EVE, "shop set shop-1: platform-shop 548380009, money presentment", None),
        (EVE, f"token create {hook} of acme: shopify_webhooks for shop shop-1", None),
        (EVE, "shop suspend shop-1", None),
        (EVE, f"token revoke {token}", "leaked"),
    ]
    found = [row for row in json.loads(sluice.run("doctor", "--format", "json").stdout) if row["check"] == "changes"]
    assert [row["result"] for row in found] == ["ok"] and f"by {EVE}: token revoke {token}" in json.dumps(found), found


def test_k13_an_actor_without_a_login_is_marked(sluice):
    sluice("account", "create", "acme")
    ((actor, _, _),) = changes(sluice)
    assert actor.endswith("(no login)")


def test_k13_a_follower_has_the_log_of_its_source(sluice, tmp_path):
    sluice("account", "create", "acme", "--reason", "a customer")
    sluice("shop", "create", "mugs", "--account", "acme")
    sluice("shop", "set", "mugs", "--platform", "woocommerce", "--domain", "mugs.example")
    sluice("registry", "export", tmp_path / "registry")
    other = Sluice(tmp_path / "other")
    other("init")
    (other.store / "master.key").write_bytes((sluice.store / "master.key").read_bytes())
    other("registry", "import", tmp_path / "registry")
    mine = [row for row in changes(other) if not row[1].startswith("registry merge")]
    assert mine == changes(sluice)
    assert other.json("shop", "list") == sluice.json("shop", "list")
    assert other.json("shop", "list")[0]["domain"] == "mugs.example"


def test_k13_destinations_of_notifications_are_logged(sluice):
    sluice("account", "create", "acme")
    add = ("notify", "add", "books", "--account", "acme", "--url", "https://books.example.org/in", "--reason", "the new ERP")
    sluice(*add)
    sluice("notify", "pause", "books")
    sluice("notify", "remove", "books", "--reason", "retired")
    assert [row[1:] for row in changes(sluice)][1:] == [
        ("notify add books of acme: books.example.org", "the new ERP"), ("notify pause books", None),
        ("notify remove books", "retired")]
