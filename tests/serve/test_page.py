"""The page for people in a real browser, through nginx with TLS and a login, on a real ledger."""

import base64
import decimal
import gzip
import json
import pathlib
import re
import subprocess
import time
import xml.etree.ElementTree

import pytest
from harness import paths
from harness.chromium import Browser
from serve import scene
from serve.barriers import check_barriers, take_pictures
from serve.login_site import Site

HERE = pathlib.Path(__file__).parent
UI = paths.ROOT / "serve" / "ui"
SHARED = paths.ROOT / "core" / "page"
LINKS = ["Today", "Orders", "Creators", "Links", "Payouts", "Month", "Programs", "Shops"]
GINA, SAM, BOTH = "gina@acme.example", "sam@acme.example", "both@example"
POLICY = ("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
          "form-action 'none'; frame-ancestors 'none'")


@pytest.fixture(scope="module")
def site():
    with scene.on("lmdb") as (folder, sluice, _, _):
        (folder / "creators.csv").write_text("creator_id,program_id,code,payee\nevil,spring,=HYPERLINK(1),\n")
        sluice("creator", "import", folder / "creators.csv")
        for user, account, role in ((GINA, "acme", "manager"), (SAM, "acme", "viewer"), (BOTH, "acme", "manager"),
                                    (BOTH, "beta", "manager")):
            sluice("user", "add", user, "--account", account, "--role", role)
        hashed = subprocess.run(["openssl", "passwd", "-apr1", "secret"], check=True, capture_output=True, text=True).stdout.strip()
        (folder / "htpasswd").write_text("".join(f"{user}:{hashed}\n" for user in (GINA, SAM, BOTH)))
        with Site(folder, sluice, "sluice-login-basic.conf", options=("--rate-limit", "100000/60")) as running:
            yield running


@pytest.fixture(scope="module")
def browser(site, tmp_path_factory):  # it ends before nginx, which waits for its connections
    with Browser(tmp_path_factory.mktemp("chromium")) as running:
        yield running


@pytest.fixture(scope="module")
def axe(tmp_path_factory):
    """The script of axe-core, in the version of package-lock.json."""
    folder = tmp_path_factory.mktemp("axe")
    for name in ("package.json", "package-lock.json"):
        (folder / name).write_text((HERE / "page" / name).read_text())
    subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=folder, check=True, capture_output=True)
    return (folder / "node_modules" / "axe-core" / "axe.min.js").read_text()


def login(user):
    return [("Authorization", "Basic " + base64.b64encode(f"{user}:secret".encode()).decode())]


def read(site, target):
    """Returns the API's answer to gina."""
    return json.loads(site.get(f"/v1/{target}", login(GINA))[2])


@pytest.fixture
def visit(site, browser):
    """Opens a view as a user, and waits for its heading."""

    def opened(query="", user=GINA, heading="main h1", **options):
        page = browser.page(headers=dict(login(user)), **options)
        page.goto(f"{site.url}ui/{query}")
        page.wait(f"document.querySelector({json.dumps(heading)}) !== null")
        return page

    return opened


def ids(site):
    mine = ("--account", "acme")
    payouts = site.sluice.json("payout", "list", *mine)
    waiting = site.sluice.json("approvals", *mine)
    return {"payout": payouts[0]["payout_id"], "run": payouts[0]["payout_run"],
            "approval": next(row["id"] for row in waiting if row["command"] == "adjust")}


def views(site):
    known = ids(site)
    month = scene.last_month()
    return {
        "today": "", "search": "?view=search&q=SAVE", "nothing": "?view=search&q=10020", "orders": "?view=orders",
        "order": "?view=order&shop=shop-1&order=o1", "creators": "?view=creators", "creator": "?view=creator&creator=ann",
        "runs": "?view=payouts", "payouts": "?view=payouts&list=all", "run": f"?view=run&run={known['run']}",
        "payout": f"?view=payout&payout={known['payout']}", "approvals": "?view=approvals",
        "approval": f"?view=approvals&id={known['approval']}", "month": f"?view=month&month={month}",
        "statement": f"?view=statement&creator=ann&month={month}", "anomalies": "?view=anomalies",
        "open": "?view=anomalies&tab=open", "acknowledged": "?view=anomalies&tab=acknowledged", "programs": "?view=programs",
        "program": "?view=program&program=spring", "shops": "?view=shops", "links": "?view=links", "link": "?view=link&link=spring-mug",
    }


def press(page, key, times=1):
    for _ in range(times):
        page.press(key)


def focused(page):
    return page.run("document.activeElement.id || document.activeElement.tagName")


def wait_for(page, text, selector="main"):
    page.wait(f"document.querySelector({json.dumps(selector)})?.innerText.includes({json.dumps(text)})", text)


# Files and headers ---------------------------------------------------------------------------------------------------


def files():
    return {path.relative_to(folder).as_posix(): path.read_bytes() for folder in (UI, SHARED)
            for path in folder.rglob("*") if path.is_file() and path.name != "README.md"}


def test_the_files_are_served_as_they_are_and_stay_small(site):
    assert sum(len(gzip.compress(content)) for content in files().values()) <= 70 * 1024
    for name, content in files().items():
        status, headers, body = site.get(f"/ui/{name}", login(GINA))
        assert (status, body) == (200, content), name
        assert headers["Content-Security-Policy"] == POLICY
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] == "no-referrer"
        assert headers["Cross-Origin-Resource-Policy"] == "same-origin"


# Views ---------------------------------------------------------------------------------------------------------------


# A view is loaded as by a phone. 320 px is also a window of 1280 at 400 %, 640 one at 200 %.
SIZES = [(390, "dark"), (1280, "light"), (640, "dark"), (320, "light")]


def test_each_view_asks_twice_at_most_has_no_barrier_and_scrolls_nowhere_sideways(site, visit, axe):
    """One page for all sizes, because its load and the script of axe cost more than a look. The policy reports nothing: __exit__ looks."""
    for name, query in views(site).items():
        with visit(query, width=SIZES[0][0], scheme=SIZES[0][1]) as page:
            assert page.run("document.querySelector('main .note.bad')?.innerText ?? ''") == "", name
            assert page.run("document.querySelectorAll('[style]').length") == 0, name
            asked = [url for url in page.requests if "/v1/" in url and not url.endswith("/v1/me")]
            assert 1 <= len(asked) <= 2, (name, asked)
            check_barriers(page, axe, name, SIZES)
            take_pictures(page, f"page-{name}")


def test_every_link_of_the_bar_opens_its_view_and_back_returns(visit):
    with visit() as page:
        for text in LINKS:
            page.run(f"[...document.querySelectorAll('#nav a')].find((link) => link.textContent === {text!r}).click()")
            page.wait(f"document.querySelector('#nav a[aria-current]').textContent === {text!r} && document.title.length > 8")
            page.wait("document.activeElement.tagName === 'H1'", f"focus on the heading of {text}")
        page.run("history.back()")
        page.wait("document.querySelector('#nav a[aria-current]').textContent === 'Programs'")


# The questions of finance, in at most two actions -------------------------------------------------------------------


class Actions:
    """Counts what a person does on a page."""

    def __init__(self, page):
        self.page, self.count = page, 0

    def search(self, text):
        """Typing into the field of the bar, with Enter, is one action."""
        self.count += 1
        self.page.click("#q")
        self.page.type(text)
        self.page.press("Enter")

    def click(self, text, within="main"):
        self.count += 1
        found = self.page.run(f"""(() => {{
            const links = [...document.querySelectorAll({json.dumps(within + ' a, ' + within + ' button')})];
            links.find((one) => one.innerText.trim().startsWith({json.dumps(text)}))?.setAttribute('data-clicked', '');
            return links.map((one) => one.innerText);
        }})()""")
        assert self.page.run("document.querySelector('[data-clicked]') !== null"), (text, found)
        self.page.click("[data-clicked]")


def test_a_partner_manager_reads_yesterdays_figures_and_the_work_that_waits(visit):
    # "How was yesterday, and which work waits for me?"
    with visit() as page:
        actions = Actions(page)
        assert page.text(".answer").startswith("Yesterday: ") and "earned." in page.text(".answer")
        waits = page.text(".waiting")
        for line in ("approvals", "orders blocked", "creator held"):
            assert line in waits, waits
        assert [line for line in page.text(".tiles").splitlines() if line in ("Earned yesterday", "Payable", "Pending", "In payouts")] == [
            "Earned yesterday", "Payable", "Pending", "In payouts"]
        actions.click("2\napprovals", ".waiting")
        wait_for(page, "Approvals", "main h1")
        assert actions.count == 1


@pytest.mark.parametrize("query, words", [
    ("a/b", "No creator: code ANNA15 belongs to no creator of a program that covers shop-1."),
    ("held", "8.00 USD for ann, blocked by HOLD since "),
    ("rejected", "Rejected on "),
    ("cancelled", "Cancelled by the shop on 2 Mar 2024; it earns nothing."),
])
def test_support_finds_an_order_and_why_in_one_action(visit, query, words):
    # "Why is my order not there?"
    with visit("?view=shops", width=390) as page:
        actions = Actions(page)
        actions.search(query)
        wait_for(page, words, ".answer.first")
        assert actions.count == 1


def test_support_finds_an_order_by_the_code_of_a_follower(visit):
    # "Why is my order not there?", and the follower knows the code alone.
    with visit(width=390) as page:
        actions = Actions(page)
        actions.search("ANNA15")
        wait_for(page, "has no owner")
        actions.click("a/b")
        wait_for(page, "Order a/b of shop-1")
        assert page.run("document.querySelectorAll('.facts .card').length") == 3
        assert "Order received" in page.text(".timeline")
        assert actions.count == 2


def test_a_creator_asks_when_the_money_comes(visit):
    # "When am I paid?"
    with visit(width=390) as page:
        actions = Actions(page)
        actions.search("ann")
        wait_for(page, "ann", "main h1")
        assert "Payable" in page.text(".tiles") and "PAID" in page.text()
        assert page.run("[...document.querySelectorAll('main h2')].at(-1).textContent") == "Newest orders" and "o1" in page.text()
        assert actions.count == 1


def test_a_controller_reads_if_the_books_tie_and_the_month_can_be_closed(visit):
    # "Do the books tie, and can I close?"
    with visit() as page:
        actions = Actions(page)
        actions.click("Month", "#nav")
        wait_for(page, "The trial balance sums to 0.")
        assert page.text(".answer").startswith("Closed on ")
        actions.click(page.run("document.querySelectorAll('.head .tools a')[1].innerText"))
        wait_for(page, "Open: the month has not ended.")
        checks = page.text(".checks")
        for line in ("The trial balance sums to 0.", "may still have inputs of the month", "approvals wait", "Blocked: 20.00"):
            assert line in checks, checks
        assert "sluice period close --account acme --until" in page.text(".command")
        assert actions.count == 2


def test_the_month_of_a_program_is_the_sum_of_its_statements(site, visit):
    month = scene.this_month()[:7]
    totals = dict.fromkeys(("opening", "earned", "paid_out", "closing"), decimal.Decimal(0))
    for creator in ("ann", "robert"):
        statement = read(site, f"statement?creator={creator}&month={month}")
        for row in statement["sums"]:
            if row["program_id"] == "spring":
                totals["earned"] += decimal.Decimal(row["adjusted"])
                for name in totals:
                    totals[name] += decimal.Decimal(row[name])
    assert totals["earned"] and totals["paid_out"]
    with visit(f"?view=month&month={month}") as page:
        cells = page.run("""[...[...document.querySelectorAll('table')].find((one) => one.ariaLabel === 'Owed by program')
            .querySelectorAll('tbody tr')].find((row) => row.innerText.startsWith('spring\t')).innerText.split('\t')""")
        shown = [decimal.Decimal(text.replace(",", "").replace("−", "-")) for text in cells[2:]]
        assert shown == [totals["opening"], totals["earned"], totals["paid_out"], totals["closing"]], (cells, totals)


def test_an_approval_shows_its_amount_and_digest(site, visit):
    with visit("?view=approvals") as page:
        page.run(f"[...document.querySelectorAll('main th a')].find((a) => a.textContent === {ids(site)['approval']!r}).click()")
        wait_for(page, "Approval " + ids(site)["approval"])
        assert "60.00" in page.text()


def test_anomalies_are_counted_by_tab_and_the_newest_come_first(site, visit):
    counts = read(site, "anomalies?limit=1")["counts"]
    with visit("?view=anomalies") as page:
        assert page.text(".tabs").split() == ["Blocks", str(counts["blocks"] + counts["holds"]), "Open", str(counts["open"]), "Acknowledged", str(counts["acknowledged"])]
        assert page.run("document.querySelectorAll('main table')[0].querySelectorAll('tbody tr').length") == counts["blocks"]


def test_creators_show_earnings_to_managers_alone(visit):
    with visit("?view=creators") as page:
        names = page.run("[...document.querySelectorAll('main thead th')].map((one) => one.textContent)")
        assert names == ["Creator", "Program", "Codes", "This month", "Last month", "Growth", "Owed", "Payable"]
        assert "held" in page.run("[...document.querySelectorAll('main tbody th')].find((one) => one.textContent.startsWith('cy')).innerText")
        page.click(".tabs li:nth-child(2) a")
        page.wait("document.querySelector('.tabs [aria-current]')?.textContent === 'Best of the month' && "
                  "document.querySelector('main tbody th')?.textContent.startsWith('ann')")
    with visit("?view=creators", user=SAM) as page:
        assert "This month" not in page.text() and "Best of the month" not in page.text()


def test_the_filters_of_a_phone_open_when_asked(visit):
    with visit("?view=orders", width=390) as page:
        assert not page.run("document.querySelector('.filtering').open")
        page.click(".filtering summary")
        assert page.run("document.querySelector('.filtering').open && document.querySelector('[name=code]').offsetHeight > 0")
    with visit("?view=orders&code=SAVE", width=390) as page:
        assert page.run("document.querySelector('.filtering').open")


def test_an_unknown_order_says_where_to_look(visit):
    with visit("?view=search&q=10020") as page:
        assert page.text(".answer") == "No order 10020 in the ledger, and nothing else of this name."
        for part in ("shop-1", "Searched: ids and numbers of orders, ids of creators, links, shops and programs", "$sluice_reason", "sluice dead list", "sluice reconcile"):
            assert part in page.text(), part


# Bad input -----------------------------------------------------------------------------------------------------------


def order(name):
    return "?view=order&shop=shop-1&order=" + "".join(f"%{byte:02x}" for byte in name.encode())


def test_a_pasted_command_runs_one_command_with_the_id_in_it(visit, tmp_path):
    """The order is held by its creator's hold or not at all: the page's own quoting is run, and the server's is in explain_test."""
    with visit("?view=shops") as page:
        for name in ("$(reboot)'", "a b", "-rf", "<img onerror=1>", "ä;`id`", "!x", "~", "a\"b"):
            line = page.run(f"import('./shell.js').then((shell) => shell.commandLine('sluice hold', [], "
                            f"[['--shop', 's'], ['--order', {json.dumps(name)}]]))")
            script = tmp_path / "pasted"
            script.write_text("sluice() { printf '%s\\n' \"$@\"; }\n" + line + "\n")
            ran = subprocess.run(["bash", script], capture_output=True, text=True, check=True, cwd=tmp_path)
            assert ran.stdout.replace("--order=", "--order\n").splitlines() == ["hold", "--shop", "s", "--order", name]
            assert ran.stderr == ""
        for name in ("line\nfeed", "a\rb", "\x1b[31m", "\x7f", "nul\x00"):
            assert page.run(f"import('./shell.js').then((shell) => shell.commandLine('sluice hold', [], "
                            f"[['--order', {json.dumps(name)}]]))") is None


def test_ids_are_text_and_never_markup(visit):
    name = "o 5 & <img onerror=1>"
    with visit(order(name)) as page:
        assert name in page.text("main h1")
        assert page.run("document.querySelectorAll('main img').length") == 0
    with visit(order("line\nfeed")) as page:
        assert "feed" in page.text("main h1") and "--order" not in page.text()
    with visit("?view=search&q=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E") as page:
        assert "<img src=x onerror=alert(1)>" in page.text()
        assert page.run("document.querySelectorAll('main img').length") == 0


def test_a_spreadsheet_runs_no_cell_of_an_export(visit, browser, tmp_path):
    with visit("?view=orders&creator=ann") as page:
        text = page.run("""import('./export.js').then((file) => file.csvOf([
            {order_id: '=HYPERLINK()', amount: '-2.00', note: '+1'}, {order_id: '-5', amount: '-x', note: 'a,"b"'},
            {order_id: '\\tt', amount: null, note: ['@a', 'b']}]))""")
        assert text == ("\ufefforder_id,amount,note\r\n'=HYPERLINK(),-2.00,'+1\r\n'-5,'-x,\"a,\"\"b\"\"\"\r\n'\tt,,'@a b\r\n")
        browser.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path),
                     browserContextId=browser.call("Target.getTargetInfo", targetId=page.target)["targetInfo"]["browserContextId"])
        page.run("[...document.querySelectorAll('main button')].find((one) => one.textContent === 'Export').click()")
        saved = paths.wait_until(lambda: list(tmp_path.glob("*.csv")), "the export")[0]
        content = saved.read_bytes()
        assert content.startswith(b"\xef\xbb\xbforder_id,shop_id,") and content.endswith(b"\r\n")
        assert b"\r\no1,shop-1," in content


# Keyboard ------------------------------------------------------------------------------------------------------------


def test_the_keyboard_alone_reaches_everything(visit):
    with visit("?view=orders") as page:
        page.press("Tab")
        assert focused(page) == "skip"
        assert page.run("getComputedStyle(document.activeElement).outlineStyle") == "solid"
        page.press("Enter")
        assert focused(page) == "content"
        page.press("Tab", shift=True)
        page.run("document.activeElement.blur()")
    with visit("?view=orders") as page:
        press(page, "Tab", 2)
        assert focused(page) == "q"
        press(page, "Tab", 2)
        assert page.run("document.activeElement.textContent") == "Orders"
        reached = set()
        for _ in range(90):
            page.press("Tab")
            reached.add(page.run("document.activeElement.name || document.activeElement.innerText?.trim() || ''"))
        assert {"o1", "status", "Export", "Apply"} <= reached, reached


def test_a_chart_is_read_with_the_arrow_keys_and_as_a_table(visit):
    for query, drawn in (("", "svg line"), ("?view=creator&creator=ann", "svg rect")):
        with visit(query) as page:
            page.wait(f"document.querySelector('.charts {drawn}') !== null")
            page.run("document.querySelector('.charts svg').focus()")
            before = page.run("document.activeElement.ariaLabel")
            page.press("ArrowLeft")
            page.press("ArrowLeft")
            after = page.run("document.activeElement.ariaLabel")
            assert before != after and "earned 0.00" in after, (before, after)
            assert "adjusted" in page.run("document.querySelector('.charts details').textContent")


# States --------------------------------------------------------------------------------------------------------------


def test_a_view_in_error_says_the_code_and_can_be_tried_again(visit):
    with visit("?view=shops") as page:
        page.expected = ["Failed to load resource"]
        page.call("Network.setBlockedURLs", urls=["*/v1/orders*"])
        page.click("#nav a:nth-child(2)")
        wait_for(page, "The server could not be reached.")
        assert "Code: unreachable" in page.text()
        page.call("Network.setBlockedURLs", urls=[])
        page.click("main .note button")
        wait_for(page, "o1")
    with visit("?view=order&shop=shop-1&order=nope") as page:
        page.expected = ["Failed to load resource"]
        assert "Code: not_found" in page.text()


def test_a_slow_view_keeps_its_place_until_it_is_there(visit):
    with visit("?view=shops") as page:
        page.call("Network.emulateNetworkConditions", offline=False, latency=700, downloadThroughput=-1, uploadThroughput=-1)
        page.click("#nav a:nth-child(3)")
        page.wait("document.querySelector('main .ghost') !== null && document.querySelector('main').ariaBusy === 'true'")
        wait_for(page, "Creators", "main h1")
        assert page.run("document.querySelector('main .ghost')") is None


def pill(page, text, color):
    page.wait(f"document.getElementById('pill').textContent === {json.dumps(text)}", text)
    assert page.run("document.getElementById('pill').className") == f"pill {color}"


def test_the_bar_says_when_no_worker_runs_and_when_all_is_applied(site, visit):
    with visit("?view=shops") as page:
        pill(page, "worker stopped", "warn")
    worker = subprocess.Popen([paths.SLUICE, "worker"], env=site.sluice.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        paths.wait_until(lambda: any(row["worker_state"] == "running" for row in read(site, "nodes")["items"]), "the worker to run")
        with visit("?view=shops") as page:
            pill(page, "all applied", "good")
    finally:
        worker.terminate()
        worker.wait(timeout=paths.DEADLINE)


def test_inputs_that_wait_are_counted_in_the_bar_and_named_by_a_search_without_a_hit(visit):
    """Every answer of the server gets the headers of a worker that is behind."""
    with visit("?view=shops") as page:
        page.run("""(() => { const real = window.fetch;
            window.fetch = async (...asked) => {
                const answer = await real(...asked), headers = new Headers(answer.headers);
                headers.set("X-Sluice-Waiting", "690");
                headers.set("X-Sluice-Worker", "running");
                return new Response(answer.body, { status: answer.status, headers });
            }; })()""")
        page.click("#nav a:nth-child(2)")
        pill(page, "690 inputs wait", "warn")
        Actions(page).search("10020")
        wait_for(page, "690 inputs wait to be applied. The order may be among them.")


def test_a_viewer_reads_that_a_manager_sees_payouts(visit):
    with visit("?view=payouts", user=SAM) as page:
        page.expected = ["Failed to load resource"]
        assert "A manager of the account may." in page.text() and "Code: scope" in page.text()
    with visit("?view=creator&creator=ann", user=SAM) as page:
        assert "o1" in page.text() and "••••" not in page.text()


def test_each_view_of_a_viewer_shows_its_rows(site, visit):
    """Without payees, actors and reasons, which are null."""
    needs_manager = ("runs", "payouts", "run", "payout", "approvals", "approval", "month", "statement")
    for name, query in views(site).items():
        if name not in needs_manager:
            with visit(query, user=SAM) as page:
                assert page.run("document.querySelector('main .note.bad')?.innerText ?? ''") == "", name
                assert "null" not in page.text(), name
    with visit("?view=order&shop=shop-1&order=o1", user=SAM) as page:
        assert "Attributed" in page.text() and "8.00" in page.text()
    with visit("?view=creator&creator=ann", user=SAM) as page:
        assert "none known" not in page.text() and "Shown to support and managers" in page.text()
        assert page.text(".answer").startswith("Ann Smith: ") and page.run("document.querySelectorAll('.cards > :empty').length") == 0


def test_an_account_of_others_is_named_and_the_menu_shows_an_own_one(visit):
    with visit("?view=shops&account=gamma", user=BOTH) as page:
        assert "You are no user of account gamma." in page.text()
        assert page.run("document.querySelector('#account select').value") == "acme"
        page.click("#nav a:nth-child(8)")
        wait_for(page, "shop-1")


def test_a_user_of_two_accounts_chooses_and_links_keep_the_choice(visit):
    with visit("?view=programs", user=BOTH) as page:
        assert "spring" in page.text()
        page.run("""(() => { const menu = document.querySelector('#account select');
                     menu.value = 'beta'; menu.dispatchEvent(new Event('change')); })()""")
        wait_for(page, "autumn")
        assert "spring" not in page.text()
        page.click("#nav a:nth-child(8)")
        wait_for(page, "shop-2")
        assert "account=beta" in page.run("location.search")


def printed(page, tmp_path):
    """The text of the pages that Chromium prints, and their sizes in points."""
    (tmp_path / "printed.pdf").write_bytes(page.pdf())
    told = subprocess.run(["pdfinfo", tmp_path / "printed.pdf"], capture_output=True, text=True, check=True).stdout
    text = subprocess.run(["pdftotext", "-layout", tmp_path / "printed.pdf", "-"], capture_output=True, text=True, check=True).stdout
    return text, next(line for line in told.splitlines() if line.startswith("Page size"))


def is_one_line(text, *words):
    return re.search(r"^ *" + r"\s+".join(words), text.replace("\f", "\n"), re.MULTILINE)


def test_a_statement_prints_on_a4_with_its_sums_and_postings(site, visit, tmp_path):
    month = scene.this_month()[:7]
    statement = read(site, f"statement?creator=ann&month={month}")
    assert statement["sums"] and statement["rows"]
    with visit(f"?view=statement&creator=ann&month={month}") as page:
        text, size = printed(page, tmp_path)
        assert "A4" in size, size
        for row in statement["sums"]:
            for name in ("earned", "closing"):
                assert row[name].replace("-", "−") in text, (row[name], text)
        assert not {"Orders", "Export", "CSV", "Print"} & set(text.split()), "the bar and its buttons are not printed"
        assert is_one_line(text.split("Postings")[0].split("\f")[0], "Program", "Currency", "Opening", "Earned", "Adjusted", "Paid out"), text
        page.goto(f"{site.url}v1/statement?creator=ann&month={month}&format=html")
        page.wait("document.title.startsWith('Statement of ann')")
        text, size = printed(page, tmp_path)
        assert "A4" in size and "Statement of ann" in text, text
        assert is_one_line(text, month + r"-\d\d", r"\d\d:\d\d", "spring", "USD", "owed", "ATTRIBUTION", r"[\d.]+", "shop-1", "o1"), text
        for row in statement["rows"]:
            assert row["amount"] in text, (row, text)


def cells(path):
    """The cells of a table that LibreOffice reads: type, value, text and formula of each, by row."""
    subprocess.run(["soffice", f"-env:UserInstallation=file://{path.parent}/office", "--headless", "--infilter=CSV:44,34,76,1",
                    "--convert-to", "fods", "--outdir", path.parent, path], check=True, capture_output=True, timeout=paths.DEADLINE)
    office = "{urn:oasis:names:tc:opendocument:xmlns:%s:1.0}"
    tree = xml.etree.ElementTree.parse(path.with_suffix(".fods"))
    rows = []
    for row in tree.iter(office % "table" + "table-row"):
        rows.append([(cell.get(office % "office" + "value-type"), cell.get(office % "office" + "value"), "".join(cell.itertext()).strip(),
                      cell.get(office % "table" + "formula")) for cell in row.iter(office % "table" + "table-cell")
                     for _ in range(min(100, int(cell.get(office % "table" + "number-columns-repeated", "1"))))])
    return rows


def test_libreoffice_reads_amounts_as_numbers_and_runs_no_cell(visit, browser, tmp_path):
    def exported(query):
        with visit(query) as page:
            folder = tmp_path / query.replace("?", "").replace("=", "_")
            folder.mkdir()
            browser.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(folder),
                         browserContextId=browser.call("Target.getTargetInfo", targetId=page.target)["targetInfo"]["browserContextId"])
            page.run("[...document.querySelectorAll('main button')].find((one) => one.textContent === 'Export').click()")
            return cells(paths.wait_until(lambda: list(folder.glob("*.csv")), "the export")[0])

    creators = exported("?view=creators")
    texts = [text for row in creators for _, _, text, _ in row]
    assert "'=HYPERLINK(1)" in texts, texts
    orders = exported("?view=orders")
    names = [text for _, _, text, _ in orders[0]]
    assert names[:2] == ["order_id", "shop_id"]
    amounts = [row[names.index("amount")] for row in orders[1:] if row[0][2]]
    assert amounts and all(kind == "float" and float(value) > 0 for kind, value, _, _ in amounts), amounts
    assert {formula for row in creators + orders for *_, formula in row} == {None}


def test_nothing_moves_while_a_view_comes(visit):
    """The layout shift of Month, from the first paint to its last part."""
    with visit("?view=month") as page:
        time.sleep(0.3)
        shift = page.run("""new Promise((done) => { let sum = 0;
            new PerformanceObserver((list) => { for (const entry of list.getEntries()) sum += entry.value; })
                .observe({type: 'layout-shift', buffered: true});
            setTimeout(() => done(sum), 300); })""")
        assert shift == 0
