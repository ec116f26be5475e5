"""Views of a month that was closed, of a program with two versions, of many rows, and of ids that look like markup, in a browser."""

import base64
import json
import re
import subprocess
import time
import urllib.parse

import pytest
from harness import orders, paths
from harness.chromium import Browser
from harness.fake_time import FakeTime
from serve import scene
from serve.live import served_shop
from serve.login_site import Site

MINE = ("--account", "acme")
GINA, NOBODY, MARKUP = "gina@acme.example", "nobody@acme.example", "<img src=x onerror=alert(1)>"
RULE = '\n[[program.rule]]\nmatch = "sku"\nvalue = "MUG"\nrate = "3%"\n'


def sell_and_refund_late(live, clock):
    """January is closed before its refund is applied."""
    sold = {"platform_ordered_at": "2026-01-05T09:00:00Z", "platform_updated_at": "2026-01-05T09:00:00Z"}
    live.send("ORDER_CREATE", scene.order("o1", "SAVE", **sold))
    clock.set("2026-02-03T10:00:00Z")
    live.edge.sluice("period", "close", *MINE, "--until", "2026-02-01T00:00:00Z")
    clock.set("2026-01-31T12:00:00Z")
    sold["platform_updated_at"] = "2026-01-31T11:00:00Z"
    live.send("ORDER_UPDATE", scene.order("o1", "SAVE", **sold, refund_line_items=[
        orders.refund("r1", amount="25.00", tax="5.00", platform_refunded_at="2026-01-31T11:00:00Z")]))


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    made, folder, clock = tmp_path_factory.mktemp("made"), paths.make_folder(), FakeTime()
    clock.set("2026-01-05T10:00:00Z")
    try:
        with served_shop(made, clock) as live:
            sell_and_refund_late(live, clock)
            clock.set("2026-02-04T10:00:00Z")
            first = scene.PROGRAMS.format(account="acme", shop="shop-1", program="spring")
            (made / "second.toml").write_text(first.replace('"10%"\n', '"12%"\n').replace(
                "late_days = 36500\n", "late_days = 36500\n" + RULE, 1))
            (made / "markup.csv").write_text(f"creator_id,program_id,code,name\nmark,spring,{MARKUP},{MARKUP}\n")
            live.edge.sluice("program", "apply", made / "second.toml")
            live.edge.sluice("creator", "import", made / "markup.csv")
            live.edge.sluice("user", "add", GINA, *MINE, "--role", "manager")
            (folder / "store").symlink_to(live.edge.store)
            hashed = subprocess.run(["openssl", "passwd", "-apr1", "secret"], check=True, capture_output=True, text=True).stdout
            (folder / "htpasswd").write_text(f"{GINA}:{hashed}{NOBODY}:{hashed}")
            with Site(folder, live.edge.sluice, "sluice-login-basic.conf", options=("--rate-limit", "100000/60")) as running:
                yield running
    finally:
        clock.folder.cleanup()
        paths.drop_folder(folder)


@pytest.fixture(scope="module")
def visit(site, tmp_path_factory):
    with Browser(tmp_path_factory.mktemp("chromium")) as browser:
        def opened(script="", user=GINA, **query):
            login = base64.b64encode(f"{user}:secret".encode()).decode()
            page = browser.page(headers={"Authorization": f"Basic {login}"})
            page.call("Page.addScriptToEvaluateOnNewDocument", source=script)
            page.goto(f"{site.url}ui/?{urllib.parse.urlencode(query, quote_via=urllib.parse.quote)}")
            page.wait("document.querySelector('main h1') !== null")
            return page

        yield opened


def read(site, target):
    """Returns the API's answer to gina."""
    login = base64.b64encode(f"{GINA}:secret".encode()).decode()
    return json.loads(site.get(f"/v1/{target}", [("Authorization", f"Basic {login}")])[2])


def show(page, view, *arguments):
    """Draws an answer as the view does."""
    words = ", ".join(json.dumps(argument) for argument in arguments)
    page.run(f"import('./views/{view}.js').then((view) => document.querySelector('main').replaceChildren(...view.default.show({words})))")


def rows_of(page, name):
    """The cells of a table, row by row."""
    return page.run("[...[...document.querySelectorAll('main table')].find((one) => one.ariaLabel === " f"{name!r}"
                    ").querySelectorAll('tbody tr')].map((row) => [...row.cells].map((cell) => cell.innerText.trim()))")


def test_g9_a_month_lists_late_entries_beside_the_corrected_ones(visit):
    with visit(view="month", month="2026-02") as page:
        page.run("[...document.querySelectorAll('main button')].find((one) => one.textContent === 'Find late entries').click()")
        page.wait("[...document.querySelectorAll('main table')].some((one) => one.ariaLabel === 'Late entries')")
        (row,) = rows_of(page, "Late entries")
        refund = [entry.replace("−", "-") for entry in row]
        assert refund[2:5] == ["1 Feb 2026", "ann", "o1"] and any("-2.00" in cell for cell in refund), refund
        assert int(refund[0]) > int(refund[1]) > 0
    with visit(view="month", month="2026-01") as page:
        assert page.text(".answer").startswith("Closed on ")
        page.run("[...document.querySelectorAll('main button')].find((one) => one.textContent === 'Find late entries').click()")
        page.wait("[...document.querySelectorAll('main button')].every((one) => one.textContent !== 'Find late entries')")
        assert not page.run("[...document.querySelectorAll('main table')].some((one) => one.ariaLabel === 'Late entries')")


def test_g11_versions_side_by_side_name_each_difference(visit):
    with visit(view="program", program="spring") as page:
        assert rows_of(page, "Differences") == [
            ["default rate", "10%", "12%", "changed"], ["rules", "", rows_of(page, "Differences")[1][2], "added"]]
        assert "MUG" in rows_of(page, "Differences")[1][2]
    with visit(view="program", program="spring", **{"with": "2", "to": "1"}) as page:
        assert [(row[0], row[3]) for row in rows_of(page, "Differences")] == [("default rate", "changed"), ("rules", "removed")]


def test_a_statement_of_many_postings_shows_500_until_it_is_printed(site, visit):
    statement = read(site, "statement?creator=ann&month=2026-02")
    statement["rows"] = statement["rows"][:1] * 1234
    with visit(view="shops") as page:
        show(page, "statement", statement, {"creator": "ann", "month": "2026-02"})
        assert len(rows_of(page, "Postings")) == 500 and "Show all 1,234 postings" in page.text()
        page.run("dispatchEvent(new Event('beforeprint'))")
        assert len(rows_of(page, "Postings")) == 1234 and "Show all" not in page.text()


def test_a_shop_with_dead_letters_shows_their_number(site, visit):
    """Today links here."""
    shops = read(site, "shops")
    with visit(view="shops") as page:
        assert "Dead letters" not in page.text() and rows_of(page, "Shops")[0][2].startswith("Heard "), "a shop that sends is not quiet"
        shops["items"][0]["dead_letters"] = 1234
        show(page, "shops", [shops, None])
        assert "Dead letters, 30 days" in page.text() and rows_of(page, "Shops")[0][3] == "1,234"


def test_amounts_of_one_currency_share_a_line_in_every_column(visit):
    """Beside an amount a column has a dash where it has none, so that a reader's eye stays in the currency's line."""
    def sums(name, **amounts):
        return [{"currency": currency, "last_month": "0.00", "payable": "0.00", name: amount} for currency, amount in amounts.items()]

    row = {"creator_id": "ann", "name": "Ann Smith", "program_id": "spring", "removed": False, "codes": ["SAVE"]}
    first = {"items": [{**row, "earned": sums("this_month", USD="8.00", EUR="0.00")}], "held": [False], "next": None,
             "balances": [sums("owed", EUR="1234.50", JPY="0", USD="0.00")]}
    with visit(view="shops") as page:
        show(page, "creators", first, {}, {"me": {"role": "manager"}})
        assert [cell.splitlines() for cell in rows_of(page, "Creators")[0][3:]] == [["–", "8.00USD"], ["–"], ["–", "8.00USD"], ["1,234.50EUR", "–"], ["–"]]
        tops = page.run("""[...document.querySelectorAll('main tbody td')].filter((cell) => cell.children.length > 1 || cell.firstElementChild?.children.length > 1)
            .map((cell) => [...cell.querySelectorAll('div > div')].map((line) => Math.round(line.getBoundingClientRect().top)))""")
        assert len(tops) == 3 and tops[0] == tops[1] == tops[2] and tops[0][0] < tops[0][1], tops


def test_who_grew_most_comes_first_when_the_column_is_sorted(visit):
    months = {"ann": ("8.00", "20.00"), "ben": ("30.00", "21.50"), "cy": ("100.00", "99.00")}
    items = [{"creator_id": name, "name": None, "program_id": "spring", "removed": False, "codes": [],
              "earned": [{"currency": "USD", "this_month": now, "last_month": before}]} for name, (now, before) in months.items()]
    with visit(view="shops") as page:
        show(page, "creators", {"items": items, "held": [False] * 3, "next": None, "balances": [[]] * 3}, {}, {"me": {"role": "manager"}})
        page.run("[...document.querySelectorAll('main thead th button')].find((one) => one.innerText === 'Growth').click()")
        page.wait("document.querySelectorAll('main thead th')[5].ariaSort === 'descending'")
        assert [(row[0], row[5]) for row in rows_of(page, "Creators")] == [("ben", "8.50USD"), ("cy", "1.00USD"), ("ann", "\N{MINUS SIGN}12.00USD")]


def test_a_program_file_that_waits_is_told_in_words(visit):
    rule = {"program_id": "spring", "default_rate": "10%", "currency": "EUR", "cap": "987654.33 EUR", "clearing_days": 30, "base": "net",
            "shops": ["one", "two"], "rules": [{"sku": "MUG", "rate": "5%"}], "is_active": True}
    approval = {"id": "a1", "command": "program apply", "actor": "gina", "reason": None, "digest": "d1g", "account_id": "acme", "state": "PENDING", "approvers": ["gina", "paul"],
                "differences": [{"field": "policy.min_payout", "before": "10000.00 EUR", "after": None}],
                "fields": {"programs": [rule], "policy": {"approvers": ["gina", "paul"]}}, "effect": {"result": "1 program; policy changes"}}
    with visit(view="shops") as page:
        show(page, "approvals", approval, {"id": "a1"}, {"me": {"account": "acme", "role": "manager"}})
        text = page.text("main")
        assert "paul may approve it." in text and "sluice approve a1" in text, text
        assert "Program apply by gina: 1 program." in text and "policy: min payout" in text, text
        assert "10,000.00\u00a0EUR" in text and "gina, paul" in text and "rate 5%" in text, text
        assert not set("{}[]") & set(text) and "undefined" not in text, text
        decided = {"state": "APPROVED", "ended_by": "paul", "ended_at": "2026-03-01T10:00:00Z"}
        show(page, "approvals", {**approval, **decided}, {"id": "a1"}, {"me": {"account": "acme", "role": "manager"}})
        text = page.text("main")
        assert "Approved by paul on 1 Mar 2026, 10:00" in text and "sluice approve" not in text, text


def test_only_digits_before_the_point_are_grouped(visit):
    with visit(view="shops") as page:
        shown = page.run("""import('./format.js').then((format) => ["3292181.07 x 6% = 197530.8642", "42.61 x 6% = 2.5566"].map(format.amountsIn)
            .concat(["987654.33 EUR for leo in 2026", "0.1234 CLF, 1234 JPY"].map(format.told)))""")
        assert shown == ["3,292,181.07 x 6% = 197,530.8642", "42.61 x 6% = 2.5566", "987,654.33 EUR for leo in 2026", "0.1234 CLF, 1,234 JPY"]


def test_updates_in_a_row_that_moved_no_money_are_one_step(site, visit):
    order = read(site, "order?shop=shop-1&order=o1")
    order["events"] += [{**order["events"][0], "topic": "ORDER_UPDATE", "received_at": f"2026-03-01T00:0{minute}:00Z", "anomalies": [],
                         "explanation": "applied: its payload replaced the order"} for minute in range(5)]
    with visit(view="shops") as page:
        show(page, "order", order)
        history = page.text(".timeline").splitlines()
        assert "1 Mar 2026, 00:00 to 1 Mar 2026, 00:04" in history and "Order updated 5 times" in history, history
        assert history.count("Order received") == 1 and history.count("Refund received") == 1, history


@pytest.mark.parametrize("query", [{"view": "creators"}, {"view": "creator", "creator": "mark"},
                                   {"view": "creator", "creator": MARKUP}, {"view": "search", "q": MARKUP}],
                         ids=["list", "creator", "unknown", "search"])
def test_a_name_or_code_that_looks_like_markup_is_text(visit, query):
    """Section 12. alert() would leave a dialog, and the policy a report."""
    with visit(**query) as page:
        if query.get("creator") == MARKUP:
            page.expected = ["400 (Bad Request)"]  # no creator can have this id
        page.wait(f"document.querySelector('main').innerText.includes({MARKUP!r})")
        assert page.run("document.querySelectorAll('main img, main script').length") == 0


def test_an_id_of_a_creator_that_looks_like_markup_is_refused(site, tmp_path):
    file = tmp_path / "creators.csv"
    file.write_text(f"creator_id,program_id,code\n{MARKUP},spring,MARK\n")
    assert "creators.csv:2: creator_id" in site.sluice.refuses("creator", "import", file)


def test_a_user_without_an_account_reads_whom_to_add(visit):
    with visit(user=NOBODY, view="today") as page:
        page.expected = ["Failed to load resource"]
        assert "The user has no account. sluice user add adds one." in page.text() and "Code: no_account" in page.text()
        assert page.run("document.querySelector('main .note').className") == "note"


@pytest.mark.parametrize("answer, words, button", [
    ("new Response('<form>', { headers: { 'Content-Type': 'text/html' } })", "Your login has ended. Log in again, and this view comes back.", "Log in"),
    ("new Response('<h1>401', { status: 401, headers: { 'Content-Type': 'text/html' } })", "Your login has ended.", "Log in"),
    ("{ type: 'opaqueredirect', ok: false, status: 0, headers: new Headers() }", "Your login has ended.", "Log in"),
    ("new Response('<h1>502', { status: 502, headers: { 'Content-Type': 'text/html' } })", "The server does not answer: nginx says 502.", "Try again"),
], ids=["form", "401", "redirect", "bad gateway"])
def test_a_login_that_ended_can_be_renewed_from_any_view(visit, answer, words, button):
    """The login in front of the API answers with its form, with 401, or with a redirect to another host."""
    with visit(view="shops") as page:
        page.run(f"""window.asked = [];
            window.fetch = async (target, options) => {{ window.asked.push(options.redirect); return {answer}; }}; 0""")
        page.click("#nav a:nth-child(2)")
        page.wait(f"document.querySelector('main').innerText.includes({words!r})", words)
        assert page.text("main .note button") == button and page.run("window.asked") == ["manual"]


def test_a_payout_that_ended_shows_no_step_that_never_comes(visit):
    at = {"closed_at": "2026-02-01T05:00:00Z", "closed_by": "gina", "approved_at": None, "sent_at": None, "paid_at": None,
          "ended_at": "2026-02-02T05:00:00Z", "ended_by": "paul"}
    void = {"payout_id": "P1", "payout_run": "C1", "account_id": "acme", "creator_id": "ann", "currency": "USD", "amount": "8.00",
            "state": "VOID", "until": "2026-02-01T00:00:00Z", "orders": 1, "items": 1, "parts": [], **at}
    returned = {**void, "state": "RETURNED", "sent_at": "2026-02-01T06:00:00Z", "sent_by": "gina"}
    closed = {**void, "state": "CLOSED", "ended_at": None, "ended_by": None}
    with visit(view="shops") as page:
        for payout, steps in ((void, ["CLOSED", "VOID"]), (returned, ["CLOSED", "SENT", "PAID", "RETURNED"]),
                              (closed, ["CLOSED", "APPROVED", "SENT", "PAID"])):
            show(page, "payout", [payout, {"items": [], "next": None}], {}, {"me": {"role": "manager"}})
            text = page.text(".steps")
            assert [line for line in text.splitlines() if line.isupper()] == steps
            assert ("not yet" in text) == (payout is closed) and ("went back to owed" in page.text()) == (payout is not closed)


def test_payouts_that_wait_have_their_reason_and_the_unfinished_ones_their_age(visit):
    failed = {"payout_id": "P1", "creator_id": "ann", "name": "Ann Smith", "state": "FAILED", "currency": "USD", "amount": "8.00",
              "closed_at": "2026-03-01T10:00:00Z", "sent_at": "2026-03-02T10:00:00Z", "ended_at": "2026-03-03T10:00:00Z", "end_reason": "account closed"}
    ages = {"state": "FAILED", "currency": "USD", "payouts": 1, "amount": "8.00", "oldest_at": failed["ended_at"],
            "up_to_7_days": "0.00", "up_to_14_days": "0.00", "up_to_30_days": "8.00", "over_30_days": "0.00"}
    with visit(view="shops") as page:
        show(page, "payouts", {"items": [ages], "next": None, "waiting": [failed], "waiting_count": 1}, {"list": "waiting"}, {"me": {"role": "manager"}})
        assert "1 payout waits for a person: failed or returned and not paid since, or sent over 7 days ago." in page.text()
        ((_, creator, since, state, amount),) = rows_of(page, "Waiting")
        assert ("Ann Smith" in creator, since, state.split("\n"), amount) == (True, "3 Mar 2026", ["FAILED", "account closed"], "8.00USD")
        assert rows_of(page, "By age") == [["FAILED", "1", "3 Mar 2026", "–", "–", "8.00USD", "–", "8.00USD"]]


def test_search_without_words_lists_the_kinds_of_ids(visit):
    with visit(view="search") as page:
        assert "finds an order" in page.text(".answer")


def test_an_empty_page_of_a_list_that_goes_on_is_not_the_end(visit):
    """A request reads 10,000 rows, and none of them may match."""
    with visit(view="shops") as page:
        asked = page.run("""import('./api.js').then(async ({ get }) => {
            const asked = [], real = window.fetch;
            window.fetch = async (target) => {
                asked.push(String(target));
                const page = asked.length < 3 ? { items: [], next: "c" + asked.length } : { items: [{ n: 1 }], next: "c3" };
                return new Response(JSON.stringify(page), { headers: { "Content-Type": "application/json" } });
            };
            try { return [asked, await get("payouts", { state: "SENT" })]; } finally { window.fetch = real; }
        })""")
        assert asked[1] == {"items": [{"n": 1}], "next": "c3"}
        assert asked[0] == ["../v1/payouts?state=SENT", "../v1/payouts?state=SENT&after=c1", "../v1/payouts?state=SENT&after=c2"]


FAST = """(() => { const real = window.setTimeout; window.setTimeout = (call, time, ...more) => real(call, time / 30, ...more);
    window.isHidden = false; Object.defineProperty(document, 'hidden', { get: () => window.isHidden }); })()"""


def test_g17_today_is_read_again_every_30_seconds_while_it_is_visible(visit):
    """With the page's timers thirty times as fast."""
    with visit(script=FAST, view="today") as page:
        def count():
            page.run("0")  # takes the events
            return sum("/v1/today" in url for url in page.requests)

        began = time.monotonic()
        paths.wait_until(lambda: count() >= 4, "three refreshes")
        assert time.monotonic() - began > 2
        page.run("window.isHidden = true")
        time.sleep(0.5)  # for one that has begun
        before = count()
        time.sleep(2)
        assert count() == before
        page.run("window.isHidden = false")
        paths.wait_until(lambda: count() > before, "a refresh of the visible page")


def test_an_export_keeps_negative_sums_as_numbers_whatever_their_columns_are_called(site, visit):
    """Every number that a list of the API has, made negative; ids stay text."""
    rows = [row for path in ("period?until=2026-02-01T00:00:00Z", "trial-balance?from=2026-01-01T00:00:00Z&until=2026-02-01T00:00:00Z",
                             "balances", "creators", "payouts", "journal") for row in read(site, path)["items"]]
    names = {name for row in rows for name, value in row.items() if isinstance(value, str) and re.fullmatch(r"-?\d+\.\d\d", value)}
    assert {"closing_owed", "closing", "debit", "credit", "pending", "amount"} <= names, names
    row = {name: "-15.00" for name in sorted(names)}
    with visit(view="shops") as page:
        text = page.run(f"import('./export.js').then((file) => file.csvOf([{json.dumps({**row, 'order_id': '-5'})}]))")
    assert text.splitlines()[1] == ",".join(["-15.00"] * len(row) + ["'-5"])


def test_the_csv_of_a_statement_is_the_commands_and_runs_no_cell(site, visit):
    statement = read(site, "statement?creator=ann&month=2026-01")
    plain = site.sluice("report", "statement", *MINE, "--creator", "ann", "--month", "2026-01", "--format", "csv")
    postings = [{**row, "order_id": "=HYPERLINK(1)"} for row in statement["rows"]]
    with visit(view="shops") as page:
        def lines(rows):
            show(page, "statement", {**statement, "rows": rows}, {"creator": "ann", "month": "2026-01"})
            page.run("""window.saved = null;
                URL.createObjectURL = (blob) => { blob.text().then((text) => { window.saved = text; }); return "#"; };
                [...document.querySelectorAll('main button')].find((one) => one.textContent === 'CSV').click()""")
            page.wait("window.saved !== null")
            return page.run("window.saved").lstrip("\ufeff").splitlines()

        assert lines(statement["rows"]) == plain.splitlines()
        assert all("'=HYPERLINK(1)" in line for line in lines(postings)[1:] if "HYPERLINK" in line)
        assert any("HYPERLINK" in line for line in lines(postings))


def test_today_fits_on_a_phone_with_long_names_and_large_amounts(site, visit):
    """A long word, or amounts of seven digits, made it scroll sideways: two amounts leave no room for a name."""
    today = read(site, "today?currency=USD")
    names = {"creator_id": "firstname.lastname@agency.example", "name": "Donaudampfschifffahrtsgesellschaft"}
    today |= {"creators": [{**names, "earned": "1234567.89", "earned_last_month": "12345678.90"}], "payable": "12345678.90",
              "next_close": {**today["next_close"], "creators": 1, "amount": "1234567.89",
                             "left": [{"reason": "BELOW_MINIMUM", "creators": 1200, "amount": "12345678.90"}]},
              "days": [{**day, "earned": "1234567.89", "adjusted": "-1234567.89"} for day in today["days"]]}
    with visit(view="today") as page:
        page.resize(320)
        show(page, "today", today)
        assert page.text("[aria-label=Creators] th").startswith("firstname") or "Donau" in page.text("[aria-label=Creators]")
        page.run("document.querySelectorAll('main details').forEach((one) => { one.open = true; })")
        for width in (320, 390, 600, 760, 1280):
            page.resize(width)
            wide = page.run("[...document.querySelectorAll('main *')].filter((one) => one.getBoundingClientRect().right > innerWidth + 1)"
                            ".map((one) => one.outerHTML.slice(0, 120))")
            assert page.run("document.documentElement.scrollWidth") <= width, (width, wide)
