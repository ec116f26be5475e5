"""Rate limits: exact header arithmetic over windows, several workers, both endpoints."""

import json
import re
import threading
import time

import pytest

from harness import answers, orders, paths, sign
from harness.cli import Sluice
from harness.edge import Edge, next_window
from harness.threads import at_once

HEAD = """
    sluice_store @STORE@ map_size=1g thread_pool=sluice offload_pool=offload;
"""
SERVER = """
    server {
        listen 127.0.0.1:@PORT@ reuseport;
        add_header X-Worker $pid always;
        add_header X-Left $sluice_limit_remaining always;
        add_header X-Result $sluice_result always;
        location = /event/ecomm { sluice_ingest events; }
        location = /product-data { sluice_ingest catalog; }
        location = /which { return 204; }
    }
"""


def limits(answer):
    answers.has_rate_headers(answer)
    return tuple(int(answer.header(name)) for name in answers.RATE_HEADERS)


def event(merchant, connection=None):
    return merchant.event("ORDER_CREATE", orders.order(), connection=connection)


def catalog(merchant, connection=None):
    document = {"products": [{"platform_product_id": "p", "title": "T"}]}
    return merchant.catalog("PRODUCT_UPSERT", document, orders.unique("k"), connection=connection)


def limited_event(answer):
    assert answer.status == 429, answer
    assert answer.body == b'{"error":"Rate limit exceeded"}', answer
    assert answer.header("Content-Type").split(";")[0].strip() == "application/json"
    _check_refused(answer)


def limited_catalog(answer):
    answers.catalog_error(answer, 429)
    _check_refused(answer)


def _check_refused(answer):
    _, remaining, reset = limits(answer)
    assert remaining == 0
    retry = int(answer.header("Retry-After"))
    # The server computed it within the last moments, with its own clock of the same host.
    assert retry >= 1 and abs(reset - time.time() - retry) < 3


@pytest.fixture(scope="module")
def edge():
    from harness.edge import Edge

    with Edge(HEAD + "sluice_rate_limit 5 1d;" + SERVER) as running:
        yield running.start()


@pytest.fixture
def merchant(edge, new_merchant):
    next_window(86400, margin=120)
    return new_merchant(edge, orders.unique("rate"))


def test_default_limit_counts_down_over_both_endpoints_and_workers(edge, merchant):
    connections = [edge.connect_to(worker, "/which") for worker in edge.workers()]
    now = int(time.time())
    reset = now - now % 86400 + 86400
    for number in range(5):
        send = (event, catalog)[number % 2]
        answer = send(merchant, connections[number // 2 % 2])
        assert answer.status == 200
        assert limits(answer) == (5, 4 - number, reset)
        assert answer.header("X-Left") == str(4 - number)
        assert not answer.has("Retry-After")
    for connection in connections:
        limited_event(event(merchant, connection))
        limited_catalog(catalog(merchant, connection))
        assert limits(event(merchant, connection)) == (5, 0, reset)
        connection.close()


def test_own_limit_goes_before_the_default(edge, merchant):
    edge.sluice("account", "set", merchant.account, "--rate-limit", "2/3600")
    next_window(3600, margin=60)
    now = int(time.time())
    assert limits(event(merchant)) == (2, 1, now - now % 3600 + 3600)
    assert event(merchant).status == 200
    limited_event(event(merchant))


def test_changed_limit_counts_at_once_and_keeps_the_used_count(edge, merchant):
    connections = [edge.connect_to(worker, "/which") for worker in edge.workers()]
    for _ in range(5):
        assert event(merchant, connections[0]).status == 200
    limited_event(event(merchant, connections[1]))
    edge.sluice("account", "set", merchant.account, "--rate-limit", "8/86400")
    left = [limits(event(merchant, connections[number % 2]))[:2] for number in range(2)]
    # Five were accepted and one was refused: every authenticated request counts.
    assert left == [(8, 1), (8, 0)]
    limited_event(event(merchant, connections[0]))
    edge.sluice("account", "set", merchant.account, "--rate-limit", "3/86400")
    limited_event(event(merchant, connections[1]))
    edge.sluice("account", "set", merchant.account, "--rate-limit", "default")
    limited_event(event(merchant, connections[0]))
    for connection in connections:
        connection.close()


def test_changed_window_keeps_the_used_count(edge, merchant):
    for _ in range(3):
        event(merchant)
    next_window(3600, margin=30)
    edge.sluice("account", "set", merchant.account, "--rate-limit", "10/3600")
    now = int(time.time())
    assert limits(event(merchant)) == (10, 6, now - now % 3600 + 3600)


def test_account_create_takes_a_limit(edge):
    account = edge.sluice.account(orders.unique("born-limited"), "1/86400")
    shop = edge.sluice.shop(orders.unique("shop"), account)
    _, secret = edge.sluice.token(account, "write_orders")
    assert edge.post_event(shop, secret, "ORDER_CREATE", orders.order()).status == 200
    limited_event(edge.post_event(shop, secret, "ORDER_CREATE", orders.order()))


def test_limit_of_0_refuses_everything_or_is_refused(edge, merchant):
    result = edge.sluice.run("account", "set", merchant.account, "--rate-limit", "0/60")
    if result.returncode == 0:
        limited_event(event(merchant))


def test_shops_of_an_account_share_its_limit(edge, merchant):
    second = edge.sluice.shop(orders.unique("second"), merchant.account)
    for number in range(5):
        shop = (merchant.shop, second)[number % 2]
        assert edge.post_event(shop, merchant.secret, "ORDER_CREATE", orders.order()).status == 200
    limited_event(edge.post_event(second, merchant.secret, "ORDER_CREATE", orders.order()))


def test_accounts_do_not_share_a_limit(edge, merchant, new_merchant):
    other = new_merchant(edge, orders.unique("other"))
    for _ in range(6):
        event(merchant)
    assert limits(event(other))[1] == 4


def test_unauthenticated_requests_cost_nothing(edge, merchant):
    body = sign.encode(orders.order())
    headers = sign.event_headers(merchant.shop, "wrong-secret-of-16", "ORDER_CREATE", body)
    for _ in range(20):
        answers.is_unauthorized(edge.request("POST", sign.EVENTS, headers, body))
    headers = sign.catalog_headers(merchant.shop, merchant.secret, "PRODUCT_UPSERT", body, "k")
    for change in ({"x_signature": "0" * 64}, {"authorization": "Bearer x"}, {"x_svc_shop_id": "nowhere"}, {"x_svc_topic": "x"}):
        answer = edge.request("POST", sign.CATALOG, sign.replaced(headers, **change), body)
        assert answer.status in (400, 401, 403, 404)
        answers.has_no_rate_headers(answer)
    assert limits(event(merchant))[1] == 4


def test_every_authenticated_answer_counts(edge, merchant):
    steps = [
        lambda: merchant.event("ORDER_CREATE", b"nonsense"),
        lambda: merchant.event("NO_TOPIC", orders.order()),
        lambda: merchant.catalog("PRODUCT_UPSERT", {"products": [{}]}, "k"),
        lambda: merchant.catalog("PRODUCT_UPSERT", b"nonsense", "k"),
    ]
    for number, step in enumerate(steps):
        answer = step()
        assert answer.status in (400, 422)
        assert limits(answer)[1] == 4 - number


def test_429_comes_before_400_and_after_401(edge, merchant):
    for _ in range(5):
        event(merchant)
    limited_event(merchant.event("NO_TOPIC", b"nonsense"))
    body = sign.encode(orders.order())
    headers = sign.event_headers(merchant.shop, "wrong-secret-of-16", "ORDER_CREATE", body)
    answers.is_unauthorized(edge.request("POST", sign.EVENTS, headers, body))


def test_windows_belong_to_one_store(start_edge, new_merchant):
    """Accounts have their place in the zone by number, and the first of another store found the window used up."""
    next_window(86400, margin=120)
    edge = start_edge(HEAD + "sluice_rate_limit 2 1d;" + SERVER)
    merchant = new_merchant(edge, "acme")
    assert [event(merchant).status for _ in range(3)] == [200, 200, 429]
    edge.reload()
    assert event(merchant).status == 429
    other = Sluice(edge.folder / "other")
    other("init")
    other.account("shirts")
    other.shop("shirts-us", "shirts")
    _, secret = other.token("shirts", "write_orders")
    edge.configure((HEAD + "sluice_rate_limit 2 1d;" + SERVER).replace("@STORE@", str(other.store)))
    edge.reload()
    answer = edge.post_event("shirts-us", secret, "ORDER_CREATE", orders.order())
    assert (answer.status, answer.header("X-RateLimit-Remaining")) == (200, "1")


def test_counters_survive_reload(edge, merchant):
    assert limits(event(merchant))[1] == 4
    edge.reload()
    assert limits(event(merchant))[1] == 3


@pytest.mark.parametrize("seed", [1, 2])
def test_concurrent_requests_get_exactly_the_limit(edge, new_merchant, seed):
    merchant = new_merchant(edge, orders.unique("hot"))
    edge.sluice("account", "set", merchant.account, "--rate-limit", "150/86400")
    found, lock = [], threading.Lock()

    def run(_):
        with edge.connect() as connection:
            mine = [event(merchant, connection) for _ in range(50)]
        with lock:
            found.extend(mine)

    at_once(8, run)
    accepted = [answer for answer in found if answer.status == 200]
    assert len(accepted) == 150
    assert sorted(int(a.header("X-RateLimit-Remaining")) for a in accepted) == list(range(150))
    for answer in found:
        if answer.status != 200:
            limited_event(answer)


def test_window_is_aligned_and_a_new_one_begins_full(edge, merchant):
    edge.sluice("account", "set", merchant.account, "--rate-limit", "3/2")
    seen = {}
    end = time.monotonic() + 7
    while time.monotonic() < end:
        before = time.time()
        answer = event(merchant)
        limit, remaining, reset = limits(answer)
        assert limit == 3 and reset % 2 == 0
        assert before - 1 <= reset <= time.time() + 2
        assert (answer.status == 200) or remaining == 0
        seen.setdefault(reset, []).append((answer.status, remaining))
    assert len(seen) >= 3
    for statuses in list(seen.values())[1:-1]:
        assert [pair for pair in statuses if pair[0] == 200] == [(200, 2), (200, 1), (200, 0)]


def test_off_leaves_accounts_without_a_limit_of_their_own_unlimited(start_edge, new_merchant):
    edge = start_edge(HEAD + "sluice_rate_limit off;" + SERVER)
    merchant = new_merchant(edge, "acme")
    for _ in range(3):
        for answer in (event(merchant), catalog(merchant)):
            assert answer.status == 200
            answers.has_no_rate_headers(answer)
    answer = merchant.event("ORDER_CREATE", b"{}")
    assert answer.status == 400 and json.loads(answer.body)["error"]
    answers.has_no_rate_headers(answer)
    edge.sluice("account", "set", merchant.account, "--rate-limit", "2/86400")
    assert limits(event(merchant))[0] == 2
    edge.sluice("account", "set", merchant.account, "--rate-limit", "default")
    answers.has_no_rate_headers(event(merchant))


def test_without_the_directive_the_limit_is_600_in_60_seconds(start_edge, new_merchant):
    edge = start_edge(HEAD + SERVER)
    merchant = new_merchant(edge, "acme")
    next_window(60)
    limit, remaining, reset = limits(event(merchant))
    assert (limit, remaining) == (600, 599)
    assert reset % 60 == 0 and 0 < reset - time.time() <= 60


def test_dry_run_checks_and_counts_but_stores_nothing(start_edge, new_merchant):
    edge = start_edge(HEAD + "sluice_rate_limit 5 1d; sluice_dry_run on;" + SERVER)
    merchant = new_merchant(edge, "acme")
    answer = event(merchant)
    assert (answer.status, answer.body, answer.header("X-Sluice-Dry-Run")) == (200, b"success", "1")
    assert answer.header("X-Result") == "dry_run" and limits(answer)[1] == 4
    answer = catalog(merchant)
    answers.catalog_success(answer, 1)
    assert answer.header("X-Sluice-Dry-Run") == "1" and limits(answer)[1] == 3
    answer = merchant.event("ORDER_CREATE", b"{}")
    answers.event_errors(answer)
    assert answer.header("X-Sluice-Dry-Run") == "1"
    assert merchant.catalog("PRODUCT_UPSERT", {"products": [{}]}, "k").status == 422
    assert edge.sluice.accepted() == 0
    body = sign.encode(orders.order())
    headers = sign.event_headers(merchant.shop, "wrong-secret-of-16", "ORDER_CREATE", body)
    answers.is_unauthorized(edge.request("POST", sign.EVENTS, headers, body))


def test_a_window_that_ends_frees_a_refused_account(edge, merchant):
    edge.sluice("account", "set", merchant.account, "--rate-limit", "1/2")
    refused = paths.wait_until(
        lambda: (lambda a: a if a.status == 429 else None)(event(merchant)), "a refusal"
    )
    reset = int(refused.header("X-RateLimit-Reset"))
    answer = paths.wait_until(
        lambda: (lambda a: a if a.status == 200 else None)(event(merchant)), "the next window"
    )
    assert int(answer.header("X-RateLimit-Reset")) > reset


# A fleet: each node admits its part of every limit -------------------------------------------------

# (parameters, the account's own limit or None, this node's part) of "sluice_rate_limit 8 1d ...".
PARTS = [
    ("share=3", None, 2),
    ("share=3 node=1", None, 3),
    ("share=3 node=2", None, 3),
    ("share=3 node=3", None, 2),
    ("share=1", None, 8),
    ("share=8 node=8", None, 1),
    ("share=3", "10/86400", 3),
    ("share=3 node=1", "10/86400", 4),
    ("share=3 node=2", "2/86400", 1),
    ("share=3 node=3", "2/86400", 1),
]


@pytest.mark.parametrize("parameters,own,part", PARTS)
def test_a_node_admits_its_part_and_says_so(start_edge, new_merchant, parameters, own, part):
    next_window(86400, margin=120)
    edge = start_edge(HEAD + f"sluice_rate_limit 8 1d {parameters};" + SERVER)
    merchant = new_merchant(edge, "shared")
    if own:
        edge.sluice("account", "set", "shared", "--rate-limit", own)
    now = int(time.time())
    reset = now - now % 86400 + 86400
    for number in range(part):
        answer = (event, catalog)[number % 2](merchant)
        assert answer.status == 200
        assert limits(answer) == (part, part - 1 - number, reset)
        assert answer.header("X-Left") == str(part - 1 - number)
    refused = event(merchant)
    limited_event(refused)
    assert limits(refused) == (part, 0, reset)
    limited_catalog(catalog(merchant))


def test_a_fleet_of_numbered_nodes_admits_exactly_the_limit(start_edge, new_merchant):
    next_window(86400, margin=120)
    edges = [
        start_edge(HEAD + f"sluice_rate_limit 8 1d share=3 node={node};" + SERVER) for node in (1, 2, 3)
    ]
    merchants = [new_merchant(edge, "fleet") for edge in edges]
    statuses = [event(merchant).status for merchant in merchants for _ in range(8)]
    assert statuses.count(200) == 8 and statuses.count(429) == 16


def test_off_with_a_share_divides_only_limits_of_their_own(start_edge, new_merchant):
    next_window(86400, margin=120)
    edge = start_edge(HEAD + "sluice_rate_limit off share=2;" + SERVER)
    free, bound = new_merchant(edge, "free"), new_merchant(edge, "bound")
    edge.sluice("account", "set", "bound", "--rate-limit", "5/86400")
    assert event(free).header("X-RateLimit-Limit") is None
    assert [event(bound).status for _ in range(3)] == [200, 200, 429]


def test_a_reload_that_changes_the_share_keeps_the_used_count(start_edge, new_merchant):
    next_window(86400, margin=120)
    edge = start_edge(HEAD + "sluice_rate_limit 8 1d;" + SERVER)
    merchant = new_merchant(edge, "grows")
    for _ in range(3):
        answer = event(merchant)
    assert limits(answer)[:2] == (8, 5)
    edge.configure(HEAD + "sluice_rate_limit 8 1d share=2;" + SERVER)
    edge.reload()
    assert limits(event(merchant))[:2] == (4, 0)
    limited_event(event(merchant))


def test_an_account_beyond_the_zone_is_refused(start_edge, new_merchant):
    """Its limit cannot be held: 503, and `ready` says so, until nginx has a larger zone."""
    http = HEAD + "sluice_zone @ZONE@; sluice_rate_limit 600 60s;" + SERVER.replace(
        "location = /which", "location /status/ { sluice_status; } location = /which")
    edge = Edge(http.replace("@ZONE@", "320k"), create=False)
    edge.sluice("init", "--max-accounts", 1)
    with edge:
        edge.start()
        first = new_merchant(edge, "first")
        edge.sluice("store", "set", "--max-accounts", 100_000)
        edge.expect_log("has room for")
        _, said = edge.test_configuration()
        room = int(re.search(r"has room for (\d+) accounts", said)[1])
        for number in range(2, room):
            edge.sluice.account(f"account-{number}")
        last = new_merchant(edge, "last")
        assert limits(event(last))[0] == 600
        assert edge.request("GET", "/status/ready", []).status == 200
        beyond = new_merchant(edge, "beyond")
        edge.expect_log("lies beyond the shared zone")
        for answer in (event(beyond), catalog(beyond)):
            assert answer.status == 503 and answer.header("Retry-After") == "1", answer
        assert event(beyond).header("X-RateLimit-Limit") is None
        assert limits(event(first))[0] == 600
        ready = edge.request("GET", "/status/ready", [])
        assert (ready.status, ready.body) == (503, b"zone_too_small\n")
        assert "lies beyond the shared zone" in edge.log()
        edge.configure(http.replace("@ZONE@", "8m"))
        edge.reload()
        assert limits(event(beyond))[0] == 600
        assert edge.request("GET", "/status/ready", []).status == 200
