"""Orders of a platform's API: `sluice translate`, and `sluice send orders`."""
import json
import pathlib

import pytest
from endpoint import Endpoint
from program import sluice

SECRET = "send-test-secret-0123456789"
TRANSLATED = pathlib.Path(__file__).resolve().parents[1] / "model" / "translated"


def shopify(**changes):
    return {**json.loads((TRANSLATED / "shopify-1" / "order.json").read_text()), **changes}


def woocommerce(**changes):
    return {**json.loads((TRANSLATED / "woocommerce-1" / "order.json").read_text()), **changes}


FORMS = {
    "array": lambda orders: json.dumps(orders, indent=1),
    "object": lambda orders: "\ufeff" + json.dumps({"orders": orders}),
    "lines": lambda orders: "\r\n".join(map(json.dumps, orders)) + "\n\n",
}


def write(path, orders, form="array"):
    path.write_text(FORMS[form](orders))
    return path


@pytest.fixture
def token(tmp_path):
    path = tmp_path / "token"
    path.write_text(SECRET + "\n")
    path.chmod(0o600)
    return path


def translate(path, *line, source="shopify", **how):
    return sluice("translate", path, "--source", source, *line, **how)


def test_the_field_of_the_device_has_the_name_that_nginx_gives_it(tmp_path):
    """TM1: it follows sluice_header_prefix, in what reconcile writes as well."""
    device = "device-12345678"
    order = shopify(note_attributes=[{"name": "_lc_anon_id", "value": device}], landing_site=None)
    path = write(tmp_path / "orders.json", [order])
    assert "svc_anon_id" not in translate(path).json()
    assert translate(path, "--header-prefix", "X-LC-").json()["lc_anon_id"] == device
    store = tmp_path / "store"
    sluice("init", store=store)
    sluice("account", "create", "acme", store=store)
    sluice("shop", "create", "mugs", "--account", "acme", store=store)
    sluice("worker", "--until-empty", store=store)
    out = tmp_path / "events.ndjson"
    run = sluice("reconcile", path, "--shop", "mugs", "--source", "shopify", "--header-prefix", "X-LC-", "--no-wait",
                 "--settle", "0s", "--write-events", out, store=store)
    assert run.status == 0, run
    assert json.loads(out.read_text())["lc_anon_id"] == device


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_a_file_has_one_line_for_each_order(tmp_path, form):
    run = translate(write(tmp_path / "orders.json", [shopify(id=1), shopify(id=2)], form))
    assert (run.status, run.err) == (0, "")
    made = [json.loads(line) for line in run.out.splitlines()]
    assert [order["platform_order_id"] for order in made] == ["1", "2"]
    assert made[0]["source"]["platform"] == "shopify" and made[0]["line_items"][0]["amount"] == "105.00"


def test_one_order_and_standard_input_are_read():
    run = translate("-", source="woocommerce", stdin=json.dumps(woocommerce(), indent=2))
    assert run.status == 0 and run.json()["platform_order_id"] == "727"


def test_a_file_has_the_newest_state_of_its_second(tmp_path):
    run = translate(write(tmp_path / "orders.json", [shopify()]))
    assert run.json()["platform_updated_at"] == "2026-03-01T10:00:01.000999999Z"


def test_faults_are_named_and_the_other_orders_printed(tmp_path):
    orders = [shopify(currency="TMN"), shopify(id=2), shopify(test=True), 7]
    run = translate(write(tmp_path / "orders.json", orders))
    assert run.status == 1
    assert [json.loads(line)["platform_order_id"] for line in run.out.splitlines()] == ["2"]
    said = run.err.splitlines()
    assert said[0].startswith("order 1: currency: INVALID_FORMAT: ")
    assert said[1] == "order 3: ignored: test_order"
    assert said[2].startswith("order 4: not an order: ")
    assert said[3].endswith("2 orders cannot be read")


def test_a_deletion_is_translated_by_its_topic():
    run = translate("-", "--topic", "orders/delete", stdin='{"id":450789469508}')
    assert run.json()["platform_order_id"] == "450789469508"


@pytest.mark.parametrize("text", ["", "[]", "id,name\n1,a\n", "7"])
def test_a_file_without_orders_is_refused(tmp_path, text):
    path = tmp_path / "orders.json"
    path.write_text(text)
    run = translate(path)
    assert run.status == 1 and run.out == ""
    assert "expected" in run.err or "object" in run.err, run


def test_numbers_of_any_size_are_read(tmp_path):
    """TM4: in an array, which the program reads as one document, and alone."""
    large = 2**64
    for form in FORMS:
        run = translate(write(tmp_path / "orders.json", [shopify(app_data=large), shopify(id=large)], form))
        assert (run.status, run.err) == (0, ""), form
        assert json.loads(run.out.splitlines()[1])["platform_order_id"] == str(large)


def test_an_export_of_graphql_is_refused_with_the_reason(tmp_path):
    path = write(tmp_path / "bulk.jsonl", [{"id": "gid://shopify/Order/1"}, {"__parentId": "x"}], "lines")
    run = translate(path)
    assert run.status == 1 and "lines of refunds" in run.err


def test_source_or_shop_is_needed(tmp_path):
    run = sluice("translate", write(tmp_path / "orders.json", [shopify()]))
    assert run.status == 2 and "--source" in run.err


SETTINGS = {"--from": "2026-01-01T00:00:00Z", "--money": "shop", "--test-orders": "ignore", "--gift-cards": "ignore"}


def send(path, endpoint, token, *more, source="shopify", settings=SETTINGS, store=None):
    stated = [text for option in settings.items() for text in option]
    return sluice("send", "orders", path, "--source", source, "--url", endpoint.url, "--shop", "mugs",
                  "--token-file", token, *stated, *more, store=store)


def test_orders_are_sent_as_their_translation_and_no_person_leaves_the_machine(tmp_path, token):
    path = write(tmp_path / "orders.json", [shopify(), shopify(id=2, test=True), shopify(id=3, line_items=[])])
    with Endpoint(SECRET) as endpoint:
        run = send(path, endpoint, token)
    assert run.status == 0, run
    assert run.out == "1 sent, 0 rejected\n"
    assert run.err == "sluice: 2 orders left out: 1 test_order, 1 without lines\n"
    (request,) = endpoint.requests
    assert request["body"].decode() + "\n" == translate(path).out.splitlines(keepends=True)[0]
    assert b"Norman" not in request["body"] and b"@" not in request["body"]
    topics = {name.lower(): value for name, value in dict(request["headers"]).items()}
    assert topics["x-svc-topic"] == "ORDER_UPDATE"


def test_an_order_that_cannot_be_read_is_rejected(tmp_path, token):
    path = write(tmp_path / "orders.json", [shopify(currency="TMN"), shopify(id=2)])
    with Endpoint(SECRET) as endpoint:
        run = send(path, endpoint, token)
    assert run.status == 1 and "1 sent, 1 rejected" in run.out
    assert "currency: INVALID_FORMAT" in run.out + run.err


def test_settings_of_the_shop_are_options(tmp_path, token):
    path = write(tmp_path / "orders.json", [shopify(test=True)])
    counted = {**SETTINGS, "--test-orders": "count"}
    with Endpoint(SECRET) as endpoint:
        assert "1 sent" in send(path, endpoint, token, settings=counted).out
    with Endpoint(SECRET) as endpoint:
        run = send(path, endpoint, token, settings={**counted, "--from": "2027-01-01T00:00:00Z"})
    assert "before_start" in run.err and not endpoint.requests


@pytest.mark.parametrize("source", ["shopify", "woocommerce"])
def test_the_settings_of_an_unknown_shop_are_named(tmp_path, token, source):
    """An order that is read by other settings than its webhook is posted a second time."""
    path = write(tmp_path / "orders.json", [shopify() if source == "shopify" else woocommerce()])
    with Endpoint(SECRET) as endpoint:
        run = send(path, endpoint, token, source=source, settings={"--money": "shop"}, store=tmp_path / "none")
    assert (run.status, run.out) == (0, "1 sent, 0 rejected\n"), run
    defaults = "are read with --test-orders ignore --gift-cards ignore, as `sluice shop set` has it"
    assert (defaults in run.err) == (source == "shopify"), run


@pytest.fixture
def store(tmp_path):
    """A store with a shop that counts orders since 2026-03-01, in the customer's currency."""
    path = tmp_path / "store"
    for line in (("init",), ("account", "create", "acme"), ("shop", "create", "mugs", "--account", "acme"),
                 ("shop", "create", "own", "--account", "acme"),
                 ("shop", "set", "mugs", "--platform", "shopify", "--from", "2026-03-01T00:00:00Z", "--money", "presentment",
                  "--platform-shop", "548380009", "--test-orders", "count")):
        run = sluice(*line, store=path)
        assert run.status == 0, run
    return path


def without_sets(value):
    """An amount without its two currencies is the same in both."""
    if isinstance(value, list):
        return [without_sets(one) for one in value]
    if isinstance(value, dict):
        return {name: without_sets(one) for name, one in value.items() if not name.endswith("_set")}
    return value


def test_the_stores_shop_says_how_its_orders_are_read(tmp_path, token, store):
    early = {"processed_at": "2026-02-28T23:59:59Z", "created_at": "2026-02-28T23:59:59Z"}
    theirs = {"order_status_url": "https://x.example/1/orders/2/authenticate"}
    orders = [without_sets(shopify(id=number, presentment_currency="USD", **more))
              for number, more in ((1, {"test": True}), (2, early), (3, theirs))]
    path = write(tmp_path / "orders.json", orders)
    with Endpoint(SECRET) as endpoint:
        run = send(path, endpoint, token, settings={}, store=store)
    assert run.status == 1 and "2 sent, 1 rejected" in run.out and run.err.count("known") == 0
    assert "not those of the shop's --platform-shop" in run.out + run.err
    assert [json.loads(request["body"])["currency_code"] for request in endpoint.requests] == ["USD", "USD"]
    with Endpoint(SECRET) as endpoint:
        run = send(write(tmp_path / "again.json", orders[:2]), endpoint, token, store=store,
                   settings={"--from": "2026-03-01T00:00:00Z", "--test-orders": "ignore"})
    assert run.out == "0 sent, 0 rejected\n", "an option that is stated wins"
    assert "1 before_start" in run.err and "1 test_order" in run.err
    with Endpoint(SECRET) as endpoint:
        run = send(path, endpoint, token, source="woocommerce", store=store)
    assert run.status == 1 and "shop mugs is on shopify" in run.err


def test_check_sends_nothing(tmp_path, store):
    path = write(tmp_path / "orders.json", [shopify()])
    run = sluice("send", "orders", path, "--source", "shopify", "--check")
    assert (run.status, run.out) == (0, "1 records are valid\n")
    run = sluice("send", "orders", path, "--source", "shopify", "--check", "--shop", "own", store=store)
    assert run.status == 0 and "are read with --money shop" in run.err


def test_written_events_of_a_platform_are_updates(tmp_path, token):
    """An ORDER_CANCEL of the stored second would be refused, and block the order."""
    order = translate("-", stdin=json.dumps(shopify(cancelled_at="2026-03-01T10:00:01Z"))).json()
    path = tmp_path / "fix.ndjson"
    path.write_text(json.dumps(order) + "\n")
    with Endpoint(SECRET) as endpoint:
        run = sluice("send", "events", path, "--url", endpoint.url, "--shop", "mugs", "--token-file", token)
    assert run.status == 0, run
    topics = {name.lower(): value for name, value in dict(endpoint.requests[0]["headers"]).items()}
    assert topics["x-svc-topic"] == "ORDER_UPDATE"


def test_explain_prints_a_row_for_each_value(tmp_path):
    path = write(tmp_path / "orders.json", [shopify(), shopify(currency="TMN")])
    run = translate(path, "--explain", "--format", "json")
    assert run.status == 1 and "order 2: currency: INVALID_FORMAT" in run.err
    rows = {(row["order"], row["platform_field"]): row for row in run.json()}
    assert rows["1", "line_items[0].tax_lines[0].price_set.shop_money.amount"] == {
        "order": "1", "platform_field": "line_items[0].tax_lines[0].price_set.shop_money.amount", "platform_value": "17.50",
        "field": "line_items[0].tax", "value": "17.50", "rule": "their sum"}
    assert rows["2", "currency"]["value"] is None and rows["1", "currency"]["value"] == "EUR"
    assert "platform_field" in translate(path, "--explain").out.splitlines()[0]


@pytest.mark.parametrize("line", [
    ("--stored",), ("--stored", "--dead", "1", "--shop", "mugs"), ("--stored", "--shop", "mugs", "--source", "shopify"),
    ("--source", "shopify", "--since", "2026-01-01T00:00:00Z"), ("--source", "shopify", "--format", "json"),
])
def test_options_that_do_not_go_together_are_refused(line):
    assert sluice("translate", *line).status == 2
