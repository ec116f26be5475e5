"""Lists that sort and come back, filters that name nothing, and the tabs of a viewer, in a browser."""

import decimal
import json

from serve.test_page import SAM, browser, read, site, visit, wait_for  # noqa: F401


def test_a_list_sorts_by_every_column(visit):
    with visit("?view=orders") as page:
        first = "[...document.querySelectorAll('main tbody tr')].map((row) => row.cells[%d].innerText.trim())"
        for column, reverse in ((0, False), (4, True)):
            page.click(f"main thead th:nth-child({column + 1}) button")
            page.wait(f"document.querySelectorAll('main thead th')[{column}].ariaSort !== null")
            shown = page.run(first % column)
            key = (lambda text: decimal.Decimal(text.split()[0].replace(",", "").rstrip("USD"))) if column else str.lower
            assert shown == sorted(shown, key=key, reverse=reverse), shown
        page.click("main thead th:nth-child(5) button")
        page.wait("document.querySelectorAll('main thead th')[4].ariaSort === 'ascending'")
        assert "13 orders: 1,365.00" in page.text(".more") and "; commission 58.00" in page.text(".more")


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


def test_a_viewer_has_the_tabs_that_answer(visit):
    with visit("?view=orders", user=SAM) as page:
        assert page.run("[...document.querySelectorAll('#nav a')].map((link) => link.innerText)") == ["Today", "Orders", "Creators", "Programs", "Shops"]


def test_an_order_of_a_sender_that_creates_it_again_has_its_refund_called_so(site, visit):
    order = read(site, "order?shop=shop-1&order=o1")
    again = {**order["events"][0], "version": "2026-03-03T00:00:00Z", "received_at": "2026-03-03T00:05:00Z", "anomalies": []}
    order["events"].append(again)
    order["refunds"].append({"refund_line_item_id": "r1", "line_item_id": "l1", "amount": "5.00", "tax": "0.00", "quantity": 1,
                             "version": again["version"], "counts": True, "explanation": ""})
    with visit("?view=shops") as page:
        page.run(f"import('./views/order.js').then((view) => document.querySelector('main').replaceChildren(...view.default.show({json.dumps(order)})))")
        steps = page.run("[...document.querySelectorAll('.timeline .step')].map((step) => step.innerText)")
        assert "Order received" in steps and "Refund received" in steps and "Order placed" not in " ".join(steps), steps
        assert "Placed in the shop: " in page.text(".timeline")
