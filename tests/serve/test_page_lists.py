"""Lists that sort and come back, roles and their tabs, and the outcome of the next close, in a browser."""

import decimal
import json

from harness import paths
from serve.test_page import BOTH, SAM, browser, read, site, visit, wait_for  # noqa: F401


def test_a_list_sorts_by_every_column(visit):
    with visit("?view=orders") as page:
        first = "[...document.querySelectorAll('main tbody tr')].map((row) => row.cells[%d].innerText.trim())"
        for column, reverse in ((0, False), (5, True)):
            page.click(f"main thead th:nth-child({column + 1}) button")
            page.wait(f"document.querySelectorAll('main thead th')[{column}].ariaSort !== null")
            shown = page.run(first % column)
            key = (lambda text: decimal.Decimal(text.split()[0].replace(",", "").rstrip("USD"))) if column else str.lower
            assert shown == sorted(shown, key=key, reverse=reverse), shown
        page.click("main thead th:nth-child(6) button")
        page.wait("document.querySelectorAll('main thead th')[5].ariaSort === 'ascending'")
        assert "13 orders: 1,365.00" in page.text(".more") and "; commission 58.00" in page.text(".more")


def test_views_name_their_creators(site, visit):
    with visit("?view=orders&creator=ann") as page:
        row = page.run("document.querySelector('main tbody tr').innerText")
        assert "Ann Smith" in row and "SAVE" in row
    with visit("?view=order&shop=shop-1&order=o1") as page:
        assert "Ann Smith, in spring" in page.text(".facts")
    with visit("?view=run&run=" + read(site, "runs")["items"][0]["payout_run"]) as page:
        assert "Ann Smith" in page.text("main table[aria-label='Left out']")


def test_a_filter_that_names_nothing_keeps_the_filters(visit):
    for query, words in (("shop=nosuch", "The account has no shop nosuch."), ("creator=nosuch&program=spring", "The account has no creator nosuch, or no program spring.")):
        with visit(f"?view=orders&{query}") as page:
            page.expected = ["404 (Not Found)"]
            wait_for(page, words)
            assert page.run("document.querySelector('.filters') !== null && document.querySelector('main .note') === null")


def test_back_returns_to_the_rows_and_the_place_of_a_list(visit):
    with visit("?view=orders", width=390, height=600) as page:
        page.run("document.querySelector('main tbody').append(...[...document.querySelectorAll('main tbody tr')].map((row) => row.cloneNode(true)))")
        rows = page.run("document.querySelectorAll('main tbody tr').length")
        page.run("scrollTo(0, 900); [...document.querySelectorAll('main tbody th a')].at(-1).click()")
        page.wait("document.querySelector('.answer.first') !== null", "the order")
        assert page.run("scrollY") == 0
        page.run("history.back()")
        page.wait(f"document.querySelectorAll('main tbody tr').length === {rows} && scrollY === 900", "the rows and the place")


def test_back_to_another_account_asks_for_that_account_again(visit):
    """Back showed one account's rows while menu and Export had the other one (G2, G16)."""
    with visit("?view=orders", user=BOTH) as page:
        menu = "document.querySelector('#account select')"
        page.run(f"{menu}.value = 'beta'; {menu}.dispatchEvent(new Event('change'))")
        wait_for(page, "shop-2")
        page.run("history.back()")
        page.wait("!document.querySelector('main').innerText.includes('shop-2')", "the orders of acme")
        assert page.run(f"{menu}.value") == "acme"
        page.requests.clear()
        page.run("[...document.querySelectorAll('main .more button')].find((button) => button.innerText === 'Export').click()")
        paths.wait_until(lambda: page.requests, "the request of Export")
        assert "account=acme" in page.requests[0]
        assert "account=acme" in page.run("document.querySelector('#nav a').href")


def test_a_view_that_is_left_before_it_is_there_is_loaded_by_back(visit):
    """Back showed the view before it under its address."""
    with visit("?view=programs", user=BOTH) as page:
        page.run("for (const index of [1, 2]) document.querySelectorAll('#nav a')[index].click()")
        page.wait("document.querySelector('main h1').innerText === 'Creators'")
        page.run("history.back()")
        page.wait("document.querySelector('main h1').innerText === 'Orders'")


def test_the_id_of_a_command_opens_the_order_or_the_creator_that_it_changed(site, visit):
    made = {row["reason"]: row["command_id"] for row in read(site, "journal?limit=1000")["items"]}
    for reason, heading in (("MANUAL", "Order o1"), ("CREDIT", "ann")):
        with visit(f"?view=search&q={made[reason]}") as page:
            page.wait(f"document.querySelector('main h1')?.textContent.includes({json.dumps(heading)})", heading)


def test_a_role_has_the_tabs_that_it_may_read(site, visit):
    site.sluice("user", "add", SAM, "--account", "acme", "--role", "support")
    try:
        with visit("?view=creator&creator=robert", user=SAM) as page:
            shown = page.run("[...document.querySelectorAll('#nav a')].map((link) => link.innerText)")
            assert shown == ["Today", "Orders", "Creators", "Links", "Payouts", "Programs", "Shops"]
            assert "Payable" in page.text(".tiles") and "7466" in page.text("main table[aria-label='Changes of the payee']")
            page.run("[...document.querySelectorAll('#nav a')].find((link) => link.innerText === 'Payouts').click()")
            wait_for(page, "Every payout, in the order of closing.")
            assert page.run("document.querySelector('.tabs')") is None
    finally:
        site.sluice("user", "add", SAM, "--account", "acme", "--role", "viewer")
    with visit("?view=orders", user=SAM) as page:
        assert page.run("[...document.querySelectorAll('#nav a')].map((link) => link.innerText)") == ["Today", "Orders", "Creators", "Links", "Programs", "Shops"]


def test_today_lists_the_outcome_of_the_next_close(site, visit):
    close = read(site, "today")["next_close"]
    with visit() as page:
        assert f"the next close takes {close['amount']}" in page.text(".tiles").replace("\u00a0", " ")
        lines = page.run("[...document.querySelectorAll('main table[aria-label=\"The next close\"] tbody tr')].map((row) => row.innerText.split('\t')[0])")
        assert lines[0] == "taken" and len(lines) == 1 + len(close["left"])
        page.run("[...document.querySelectorAll('.waiting a')].find((one) => one.innerText.includes('orders blocked')).click()")
        wait_for(page, "blocked by a hold or anomaly of their own")
        shown = page.run("document.querySelectorAll('main tbody tr').length")
        assert shown == next(row["count"] for row in read(site, "today")["waiting"] if row["kind"] == "blocked_orders")


def test_events_say_how_they_came_if_the_shop_has_a_platform(site, visit):
    order = read(site, "order?shop=shop-1&order=o1")
    first = order["events"][0]
    kinds = {"shopify": "From Shopify", "woocommerce": "From WooCommerce", "import": "Imported from a file"}
    with visit("?view=shops") as page:
        for events, said in (([first], []), ([first, *({**first, "source": {"kind": kind}, "received_at": f"2026-03-0{day}T00:00:00Z"}
                                                       for day, kind in enumerate(kinds, 3))], ["Signed post", *kinds.values()])):
            shown = json.dumps({**order, "events": events})
            page.run(f"import('./views/order.js').then((view) => document.querySelector('main').replaceChildren(...view.default.show({shown})))")
            lines = page.run("[...document.querySelectorAll('.timeline .muted')].map((line) => line.innerText)")
            assert sorted(line for line in lines if line in ("Signed post", *kinds.values())) == sorted(said), lines


def test_an_order_of_a_sender_that_creates_it_again_has_its_refund_called_so(site, visit):
    order = read(site, "order?shop=shop-1&order=o1")
    again = {**order["events"][0], "version": "2026-03-03T00:00:00Z", "received_at": "2026-03-03T00:05:00Z", "anomalies": []}
    order["events"].append(again)
    order["refunds"].append({"refund_line_item_id": "r1", "line_item_id": "l1", "amount": "5.00", "tax": "0.00", "quantity": 1,
                             "version": again["version"], "counts": True, "explanation": ""})
    with visit("?view=shops") as page:
        page.run(f"import('./views/order.js').then((view) => document.querySelector('main').replaceChildren(...view.default.show({json.dumps(order)})))")
        steps = page.run("[...document.querySelectorAll('.timeline .step')].map((step) => step.innerText)")
        assert steps[0] == "Refund received" and "Order received" in steps and "Order placed" not in " ".join(steps), steps
        assert "Placed in the shop: " in page.text(".timeline")


def test_a_creator_that_is_held_has_the_blocked_amount_in_the_sentence_and_payouts_their_reason(visit):
    """It said 0.00 payable, 0.00 pending, and nothing of the amount that waits."""
    with visit("?view=creator&creator=cy") as page:
        said = page.text(".answer").replace("\u00a0", " ")
        assert "USD blocked, held since " in said and page.text(".tiles").count(" blocked") == 1, said
    with visit("?view=creator&creator=robert") as page:
        states = page.run("[...document.querySelectorAll('main table[aria-label=Payouts] tbody tr')].map((row) => row.cells[2].innerText)")
        assert "VOID\nas agreed" in states, states


def test_a_search_has_no_column_without_a_value_and_looks_for_no_shop_of_an_amount(visit):
    headings = "[...document.querySelectorAll('main thead th')].map((cell) => cell.innerText)"
    with visit("?view=search&q=smith") as page:
        assert page.run(headings) == ["Hit", "Kind", "What"]
    with visit("?view=search&q=o") as page:
        assert page.run(headings) == ["Hit", "Kind", "Shop", "What"] and page.run("[...document.querySelectorAll('main td')].every((cell) => cell.innerText)")
    with visit("?view=search&q=987654.33+USD") as page:
        assert page.text(".answer") == "No order or payout of 987654.33 USD among the newest."
        assert "the newest 2,000 orders" in page.text() and "Did the shop send it?" not in page.text()
