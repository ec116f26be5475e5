"""The creator's page in a real browser (creators CE6 to CE11, CE23 to CE26), behind a real nginx with the shipped files: in a tab
of its own, and in a frame of another site. The links are made by the programs of docs/creators.md."""

import datetime
import gzip
import json
import os
import pathlib
import re
import subprocess

import pytest
from docs import facts
from harness import paths
from harness.chromium import Browser
from harness.cli import now
from harness.serve import ask
from serve.barriers import check_barriers, take_pictures
from serve.creator_site import creator_site
from serve.test_page import axe  # noqa: F401

NEEDED = "Math.ceil(document.documentElement.getBoundingClientRect().height) + 1"
UI = paths.ROOT / "serve" / "creators" / "ui"
SHARED = paths.ROOT / "core" / "page"
PROGRAMS = {"node": (["node"], "\ncreatorLink(process.argv[2]).then((link) => console.log(JSON.stringify(link)));\n"),
            "php": (["php"], "\necho json_encode(creator_link($argv[1]));\n"),
            "python": (["/usr/bin/python3"], "\nimport sys\nprint(json.dumps(creator_link(sys.argv[1])))\n")}


@pytest.fixture(scope="module")
def world():
    with creator_site() as made:
        yield made


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with Browser(tmp_path_factory.mktemp("chromium")) as running:
        yield running


@pytest.fixture
def visit(world, browser):
    """Opens a creator's link in a tab of its own, and waits for its sentence."""

    def opened(creator="ann", view="", token=None, **options):
        page = browser.page(**options)
        page.goto(f"{world.base}/c/acme/#{token or world.link(creator)['token']}{view}")
        page.wait("document.querySelector('main .answer, main .note') !== null")
        return page

    return opened


def wait_for(page, text, selector="main"):
    page.wait(f"document.querySelector({json.dumps(selector)})?.innerText.includes({json.dumps(text)})", text)


# Links and files -----------------------------------------------------------------------------------------------------


def test_every_example_is_run():
    assert sorted(re.findall(r"<!-- example: (\w+) -->", facts.read("docs/creators.md"))) == sorted(PROGRAMS)


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_printed_program_makes_a_link_that_opens_the_page(world, visit, name, tmp_path):
    # Example 1 begins so.
    command, call = PROGRAMS[name]
    printed = re.search(rf"<!-- example: {name} -->\n```\w+\n(.*?)```", facts.read("docs/creators.md"), re.S).group(1)
    (tmp_path / "program").write_text(printed + call)
    environment = {**os.environ, "SLUICE_API": world.base, "SLUICE_SECRET": world.secret}
    run = subprocess.run([*command, tmp_path / "program", "ann"], env=environment, capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr
    link = json.loads(run.stdout)
    assert link["url"] == f"{world.base}/c/acme/#{link['token']}" and link["creator_id"] == "ann"
    refused = subprocess.run([*command, tmp_path / "program", "nobody"], env=environment, capture_output=True, text=True, timeout=60)
    assert refused.returncode != 0 and not refused.stdout.startswith("{")
    with visit(token=link["token"]) as page:
        assert "Ann Smith" in page.text(".bar")


def files():
    return {path.relative_to(folder).as_posix(): path.read_bytes() for folder in (UI, SHARED)
            for path in folder.rglob("*") if path.is_file() and path.name != "README.md"}


def test_the_files_are_served_as_they_are_and_stay_small(world):
    assert sum(len(gzip.compress(content)) for content in files().values()) <= 40 * 1024
    assert len(gzip.compress((UI / "creators.js").read_bytes())) <= 1536
    for name, content in files().items():
        answer = ask(world.pages.read, f"/c/acme/{name}")
        assert (answer.status, answer.body) == (200, content), name
        assert f"frame-ancestors {world.platform}" in answer.header("Content-Security-Policy")
        assert answer.header("X-Content-Type-Options") == "nosniff" and answer.header("Referrer-Policy") == "no-referrer"
    assert ask(world.pages.read, "/c/acme/").body == files()["index.html"]
    # An account without origins is shown in no frame, one without a table has no page.
    assert ask(world.pages.read, "/c/beta/").header("Content-Security-Policy").endswith("frame-ancestors 'none'")
    for path in ("/c/gamma/", "/c/acme/none.js", "/c/acme", "/c/beta/logo", "/v1/home", "/ui/"):
        assert ask(world.pages.read, path).status == 404, path
    assert "sandbox" in ask(world.pages.read, "/c/acme/logo").header("Content-Security-Policy")


def test_the_page_has_words_for_each_name_of_the_api(visit):
    with visit() as page:
        words = json.loads(page.run("import('/c/acme/strings/en.js').then((file) => JSON.stringify(file.default, (_, one) => "
                                    "typeof one === 'function' ? 'x' : one))"))

    def names(file, begin, end):
        text = (paths.ROOT / "core" / file).read_text()
        return set(re.findall(r'"([A-Z][A-Z_]+)"', text[text.index(begin):text.index(end, text.index(begin))]))

    assert set(words["causes"]) == names("explain/cause.cpp", "kNames{", "};")
    orders = names("creators/words.cpp", "kOrderStates{{", "}};") | {"PENDING", "CHECKED", "REFUNDED", "EARNS_NOTHING"}
    payments = names("creators/words.cpp", "creator_payment_state(", "\n}")
    assert set(words["order"]) == orders and set(words["payment"]) == payments
    assert set(words["states"]) == orders | payments
    assert set(words["left_out"]) == names("creators/words.cpp", "creator_skip_reason(", "\n}")
    assert set(words["entries"]) == names("creators/words.cpp", "creator_entry_word(", "\n}")


def test_an_account_of_any_id_has_a_page_behind_nginx(world, browser, tmp_path):
    """The path was compared before it was decoded, and links were not encoded (CE2, CE8)."""
    account = "eu/acme+co@x:1="
    world.sluice.account(account)
    (tmp_path / "programs.toml").write_text(f'[[program]]\nid = "eu"\naccount = "{account}"\ndefault_rate = "10%"\n')
    (tmp_path / "creators.csv").write_text("creator_id,program_id,code,payee\neva,eu,EVA,ref-1\n")
    world.sluice("program", "apply", tmp_path / "programs.toml")
    world.sluice("creator", "import", tmp_path / "creators.csv")
    world.sluice("worker", "--until-empty")
    url = world.serve.token(world.sluice.token(account, "creator_pages")[1]).object("creator-link", creator="eva")["url"]
    path = "/c/eu%2Facme%2Bco%40x%3A1%3D/"
    assert url.startswith(f"{world.base}{path}#scp1.")
    with browser.page() as page:
        page.goto(url)
        page.wait("document.querySelector('main .answer') !== null")
        assert "EU Creators" in page.text("header") and page.run("location.pathname") == path
    assert ask(world.pages.read, path + "v1/home").code == "unauthorized"


# In a tab of its own -------------------------------------------------------------------------------------------------


def shown_amounts(page):
    return page.run("Object.fromEntries([...document.querySelectorAll('.tile')].map((one) => [one.querySelector('h2').textContent, "
                    "one.querySelector('.big').innerText.replace(',', '')]))")


def test_home_has_the_sums_of_staff(world, visit):
    balances = [row for row in world.serve.token(world.secrets["acme-manager"]).rows("balances") if row["creator_id"] == "ann"]
    with visit() as page:
        assert page.run("location.hash") == "" and "scp1" not in page.run("document.documentElement.outerHTML")
        amounts = shown_amounts(page)
        for title, staff in (("Ready", "payable"), ("Pending", "pending"), ("On its way", "in_payout"), ("Paid", "paid")):
            (row,) = [row for row in balances if row["program_id"] == "spring"]
            assert amounts[title] == f"{row[staff]}USD".replace("-", "−"), (title, amounts, row)
        assert len([url for url in page.requests if "/v1/" in url]) == 2
        assert page.run("document.cookie") == ""
        assert not [url for url in page.requests if "scp1" in url.split("#")[0]]


def test_the_months_of_home_end_with_this_one_also_if_she_earned_nothing_lately(world, browser):
    """They ended with the last month that has a row, and the first ones, which the API leaves out, were drawn as zero."""
    later = """{ const Now = Date; Date = class extends Now {
                 constructor(...given) { super(...(given.length ? given : [Now.UTC(new Now().getUTCFullYear(), new Now().getUTCMonth() + 3, 15)])); }
               }; }"""
    with browser.page() as page:
        page.call("Page.addScriptToEvaluateOnNewDocument", source=later)
        page.goto(world.link("ann")["url"])
        rows = "[...document.querySelectorAll('figure table tbody tr')].map((row) => row.innerText)"
        page.wait(f"{rows}.length === 12", "the months")
        months = page.run("[...document.querySelectorAll('figure table tbody th')].map((cell) => cell.textContent)")
        now = datetime.datetime.now(datetime.timezone.utc)
        names = [f"{(now.year * 12 + now.month + at - 9) // 12}-{(now.month + at - 9) % 12 + 1}" for at in range(12)]
        assert [page.run(f"new Intl.DateTimeFormat('en', {{month: 'long', year: 'numeric', timeZone: 'UTC'}}).format(Date.parse('{name}-1 UTC'))")
                for name in names] == months
        earned = page.run("[...document.querySelectorAll('figure table tbody tr')].map((row) => row.cells[1].textContent)")
        assert [text == "0.00" for text in earned] == [number != 8 for number in range(12)]


@pytest.mark.parametrize("others, answer", [
    ({"ready": "0.00", "pending": "0.00", "on_its_way": "5.00"}, "5.00 EUR are on their way to you."),
    ({"ready": "0.00", "pending": "9.00", "dates": [{"day": "2026-03-06", "amount": "9.00"}]}, "9.00 EUR become ready on Mar 6, 2026."),
    ({"ready": "7.00", "minimum": None}, "7.00 EUR are ready for the next payment, around the 5th."),
    ({}, None)])
def test_what_is_checked_is_said_beside_every_other_answer(world, browser, others, answer):
    """It was said only where an amount is ready. The table of further currencies did not have it."""
    sums = {"pending": "0.00", "checked": "5.00", "ready": "0.00", "on_its_way": "0.00", "paid": "0.00", "minimum": None, "dates": []}
    amounts = [{**sums, "currency": "EUR", **others}, {**sums, "currency": "JPY", "checked": "700"}]
    with browser.page() as page:
        page.alter("home", f"(home) => {{ home.amounts = {json.dumps(amounts)}; }}")
        page.goto(world.link("ann")["url"])
        page.wait("document.querySelector('main .answer') !== null")
        said = page.run("[...document.querySelectorAll('main > .answer, main > .after')].map((one) => one.innerText.replaceAll('\u00a0', ' '))")
        checked = "5.00 EUR are being checked by Acme Creators."
        assert said == ([answer, checked] if answer else [checked])
        cells = page.run("Object.fromEntries([...document.querySelectorAll('[aria-label=\"Other currencies\"] td')]"
                         ".map((one) => [one.dataset.label, one.innerText]))")
        assert cells["Being checked"] == "700", cells


LONG = "ORDER-" + "W" * 58


@pytest.mark.parametrize("payments", [0, 2, 5])
def test_an_order_with_a_long_number_and_many_payments_fits_on_a_phone(world, browser, payments):
    """With two payments the names had a letter in each line. With five the page scrolled sideways."""
    ids = [f"2026030{number}-EUR-{number}" for number in range(1, payments + 1)]
    with browser.page(width=320) as page:
        page.alter("order?", f"(body) => {{ body.order.payments = {json.dumps(ids)}; body.order.number = {json.dumps(LONG)}; "
                                f"body.order.shop = {json.dumps(LONG.lower())}; }}")
        page.goto(f"{world.link('ann')['url']}&view=order&shop=shop-1&order=o1")
        page.wait("document.querySelector('main .plain') !== null")
        for width in (320, 390, 600, 640, 1280):
            page.resize(width)
            assert page.run("document.documentElement.scrollWidth") <= width
            names = page.run("[...document.querySelectorAll('main .plain tbody th')].map((one) => [one.innerText, "
                             "(() => { const range = document.createRange(); range.selectNodeContents(one); "
                             "return new Set([...range.getClientRects()].map((box) => Math.round(box.top))).size; })()])")
            assert {count for _, count in names} == {1}, (width, names)
        take_pictures(page, f"creators-order-{payments}")


VIEWS = {"home": "", "orders": "&view=orders", "order": "&view=order&shop=shop-1&order=o1", "payments": "&view=payments",
         "statement": "&view=statement", "links": "&view=links", "held": "&view=order&shop=shop-1&order=held"}
SIZES = [(390, "dark"), (1280, "light"), (320, "light")]


def test_each_view_has_no_barrier_and_scrolls_nowhere_sideways(world, visit, axe):  # noqa: F811
    for name, view in VIEWS.items():
        with visit(view=view, width=SIZES[0][0], scheme=SIZES[0][1]) as page:
            assert page.run("document.querySelector('main .note')?.innerText ?? ''") == "", name
            assert 1 <= len([url for url in page.requests if "/v1/" in url]) <= 2, name
            assert page.run("document.querySelectorAll('[style]').length") == 0, name
            check_barriers(page, axe, name, SIZES)
            take_pictures(page, f"creators-{name}")


def test_links_have_figures_and_their_days_when_asked(world, visit, axe):  # noqa: F811
    """RP2: the days are a third request, which a view makes only if a person wants them."""
    rows = [f"device-{number},ann,spring,{instant}" for number, instant in enumerate([now()] * 3)]
    (world.folder / "today.csv").write_text("svc_anon_id,creator_id,program_id,occurred_at\n" + "\n".join(rows) + "\n")
    world.sluice("click", "import", world.folder / "today.csv")
    world.sluice("worker", "--until-empty")
    with visit(view="&view=links", width=390, scheme="dark") as page:
        tiles = page.run("[...document.querySelectorAll('.tile')].map((one) => one.innerText.replace(/\\s+/g, ' '))")
        assert tiles == ["Clicks 3", "Visitors 3", "Orders 0"]
        wait_for(page, "shop.example/mug")
        page.run("[...document.querySelectorAll('button')].find((one) => one.textContent === 'Day by day').click()")
        page.wait("document.querySelector('figure svg rect') !== null")
        assert len([url for url in page.requests if "/v1/performance" in url]) == 3
        check_barriers(page, axe, "days", SIZES)
        take_pictures(page, "creators-links-days")


def test_links_lead_to_payments_and_back(visit):
    with visit() as page:
        page.run("[...document.querySelectorAll('#nav a')].find((link) => link.textContent === 'Payments').click()")
        wait_for(page, "were paid on", ".answer")
        page.wait("document.activeElement.tagName === 'H1'")
        page.run("[...document.querySelectorAll('main th a')].at(-1).click()")
        wait_for(page, "Orders in this payment")
        page.run("history.back()")
        wait_for(page, "Payments", "main h1")


def look_for(page, **typed):
    """Fills in and sends the form, whose fields take the text as a browser without a calendar does."""
    page.run(f"""(() => {{
        const form = document.querySelector("form.find");
        for (const [name, text] of Object.entries({json.dumps(typed)})) {{ form.elements[name].type = "text"; form.elements[name].value = text; }}
        form.requestSubmit();
    }})()""")


def test_an_order_is_looked_for_and_asked_about_by_mail(visit):
    """CE17; bad input: the form takes a total and a day as people type them."""
    with visit() as page:
        page.run("window.open = (...given) => { window.opened = given; }, 0")
        look_for(page, number="no&such")
        page.wait("document.querySelector('#find .answer')?.textContent === 'No order with these details has arrived from Mug Shop.'")
        page.run("document.querySelector('#find [role=status] button').click()")
        assert page.run("window.opened") == ["mailto:creators@acme.example?subject=no%26such%20NOT_ARRIVED", "_blank", "noopener"]
        look_for(page, number="O1", day=" 1.3.24 ", total=" 105,00 ")
        page.wait("/8.00\\sUSD were paid/.test(document.querySelector('#find .answer')?.textContent)")
        assert "day=2024-03-01&total=105.00" in [url for url in page.requests if "/v1/find" in url][-1]
        page.expected.append("400")
        look_for(page, number="", day="someday", total="much")
        page.wait("document.querySelector('#find [role=status]').textContent.startsWith('The number, or the day')")


@pytest.mark.parametrize("address, number, opened", [
    ("mailto:a@b.example", "#10&1", "mailto:a@b.example?subject=Where%20is%20my%20order%3F%20%2310%261&body=Order%3A%20%2310%261%0D%0ACause%3A%20NO_TRACE"),
    ("mailto:a@b.example?cc=c@b.example&Subject=Help&body=Dear+all", "1",
     "mailto:a@b.example?cc=c@b.example&Subject=Help&body=Dear+all%0D%0AOrder%3A%201%0D%0ACause%3A%20NO_TRACE"),
    ("mailto:a@b.example?subject={number}", "1", "mailto:a@b.example?subject=1&body=Cause%3A%20NO_TRACE"),
    ("mailto:a@b.example", "", "mailto:a@b.example?subject=Where%20is%20my%20order%3F&body=Cause%3A%20NO_TRACE"),
    ("https://a.example/f?order={number}&cause={cause}#x", "{cause}", "https://a.example/f?order=%7Bcause%7D&cause=NO_TRACE#x"),
    ("https://a.example/f", "1 2", "https://a.example/f?order=1%202&cause=NO_TRACE"),
    ("https://a.example/f?lang=de#form", "1", "https://a.example/f?lang=de&order=1&cause=NO_TRACE#form"),
    ("https://a.example/{number}", "1/2", "https://a.example/1%2F2?cause=NO_TRACE")])
def test_a_question_has_number_and_cause_whatever_the_address_is(world, visit, address, number, opened):
    """CE17: an address without {number} and {cause} was opened with neither."""
    with visit() as page:
        asked = json.dumps({"number": number, "cause": "NO_TRACE"})
        assert page.run(f"import('/c/acme/views/find.js').then(({{questionTo}}) => questionTo({json.dumps(address)}, {asked}))") == opened


def test_an_order_is_looked_for_where_the_file_names_no_shops(world, browser):
    """Without an order she had no form at all: the field takes a shop's id, and offers those of her orders."""
    (world.folder / "new.csv").write_text("creator_id,program_id,code,payee\nnew,autumn,NEWCODE,ref-9\n")
    world.sluice("creator", "import", world.folder / "new.csv")
    world.sluice("worker", "--until-empty")
    _, secret = world.sluice.token("beta", "creator_pages")
    for creator, offered in (("new", []), ("ann", ["shop-2"])):
        with browser.page() as page:
            page.goto(world.serve.token(secret).object("creator-link", creator=creator)["url"])
            page.wait("document.querySelector('form.find') !== null")
            assert page.run("[...document.querySelectorAll('form.find datalist option')].map((one) => one.value)") == offered
            assert page.run("document.querySelector('form.find [name=shop]').value") == "".join(offered)
            look_for(page, number="o1", shop="")
            assert not [url for url in page.requests if "/v1/find" in url], "a shop is needed"
            look_for(page, number="o1", shop=" shop-2 ")
            page.wait("document.querySelector('#find .answer') !== null")
            assert "/v1/find?shop=shop-2&number=o1" in page.requests[-1]
            assert ("No order with these details has arrived from shop-2." in page.text("#find")) == (creator == "new")


def test_a_saved_list_has_the_rows_of_every_page(world, browser):
    with browser.page() as page:
        page.expected.append("400")  # the cursor that this test makes
        page.alter("orders", """async (body) => {
            window.first ??= body.items[0];
            window.read = (window.read ?? 0) + 1;
            Object.assign(body, {items: [{...window.first, number: "n" + window.read}], next: window.read < 4 ? "more" : null});
        }""")
        page.goto(f"{world.link('ann')['url']}&view=orders")
        page.wait("document.querySelector('main .tools button') !== null")
        page.run("URL.createObjectURL = (blob) => { window.saved = blob; return '#saved'; }, 0")
        page.run("[...document.querySelectorAll('button')].find((one) => one.textContent === 'Save as CSV').click()")
        page.wait("window.saved !== undefined", "the file")
        assert [line.split(",")[0] for line in page.run("window.saved.text()").splitlines()[1:]] == ["n2", "n3", "n4"]


def test_a_statement_is_printed_in_a_tab_of_its_own(visit):
    """CE26. The link has the token as its fragment, and the tab takes it away."""
    with visit(view="&view=statement") as page:
        shown = page.run("(({href, target, rel}) => [href, target, rel])([...document.querySelectorAll('main a')].find((one) => one.textContent === 'Print'))")
        assert re.search(r"/c/acme/#scp1\.[^&?]+&view=statement&month=\d{4}-\d\d&print=1$", shown[0]) and shown[1:] == ["_blank", "noopener"]
        page.run("window.print = () => { window.printed = true; }, 0")
        page.run(f"location.hash = {shown[0][shown[0].index('#'):]!r}")
        page.wait("window.printed === true")
        assert "scp1" not in page.run("location.href")


def test_a_saved_list_runs_no_formula(visit):
    with visit() as page:
        cells = page.run("""import('/c/acme/export.js').then(({cell}) =>
            [cell("code", "=HYPERLINK(1)"), cell("code", "@x"), cell("commission", "-4.00"), cell("number", "-4"), cell("code", 'a"b')])""")
        assert cells == ["'=HYPERLINK(1)", "'@x", "-4.00", "'-4", '"a""b"']


def test_text_of_shops_enters_as_text(visit):
    with visit(view="&view=orders") as page:
        wait_for(page, "o 5 & <img onerror=1>")
        page.run("[...document.querySelectorAll('main th a')].find((one) => one.textContent.includes('onerror')).click()")
        wait_for(page, "Order o 5 & <img onerror=1>", "main h1")
        assert page.run("document.querySelectorAll('main img').length") == 0


def test_a_tab_of_its_own_keeps_its_token_over_a_reload_until_it_ends(world, visit):
    token_id, secret = world.sluice.token("acme", "creator_pages")
    token = world.serve.token(secret).object("creator-link", creator="ann")["token"]
    with visit(token=token) as page:
        page.expected.append("401")
        page.call("Page.reload")
        wait_for(page, "Ann Smith", ".bar")
        world.sluice("token", "revoke", token_id)
        page.run("location.hash = '#view=payments'")
        wait_for(page, "This view has ended. Open it again in Acme Creators.")
        assert page.run("document.querySelector('main a').href") == f"{world.platform}/earnings"
        assert page.run("sessionStorage.length") == 0
        assert "Ann" not in page.text("body")


# In a frame of another site ------------------------------------------------------------------------------------------


@pytest.fixture
def framed(world, browser):
    """Opens the platform's page for a creator. Returns the page and its frame."""

    def opened(creator="ann", **options):
        world.hand_out(world.link(creator)["token"])
        page = browser.page(**options)
        page.goto(f"{world.platform}/index.html")
        frame = page.frame(f"{world.base}/c/acme/")
        frame.wait("document.querySelector('main .answer') !== null")
        return page, frame

    return opened


def test_a_frame_gets_tokens_from_its_page_and_keeps_nothing(world, framed):
    page, frame = framed()
    with page:
        assert "Ann Smith" in frame.run("document.body.innerText")
        assert page.run("window.asked") == 1
        assert frame.run("[document.cookie, sessionStorage.length, localStorage.length, location.hash]") == ["", 0, 0, ""]
        page.wait("document.querySelector('iframe').clientHeight > 400")
        assert page.run("document.querySelector('iframe').clientHeight") == frame.run(NEEDED)


def test_a_question_about_an_order_goes_to_the_platform(world, framed):
    page, frame = framed()
    with page:
        look_for(frame, number="none")
        frame.wait("document.querySelector('#find [role=status] button') !== null")
        frame.run("document.querySelector('#find [role=status] button').click()")
        page.wait("window.question !== undefined")
        assert page.run("window.question") == {"number": "none", "cause": "NOT_ARRIVED"}


def test_a_frame_renews_its_token_and_shows_another_creator_from_nothing(world, framed):
    page, frame = framed()
    with page:
        page.expected.append("401")
        asked = page.run("window.asked")
        # A token of under a minute: the next view asks for another, and shows what the new token may see.
        token_id, secret = world.sluice.token("acme", "creator_pages")
        short = world.serve.token(secret).object("creator-link", creator="ann", minutes=1)["token"]
        page.run(f"document.querySelector('iframe').contentWindow.postMessage({{sluice: 1, type: 'token', token: {short!r}}}, {world.base!r})")
        world.sluice("token", "revoke", token_id)
        world.hand_out(world.link("ann")["token"])
        frame.run("location.hash = '#view=orders'")
        frame.wait("document.querySelector('main h1')?.textContent === 'Orders' && document.querySelector('main table') !== null")
        assert page.run("window.asked") > asked
        # The same frame for another creator: nothing of ann stays.
        other = world.link("robert")["token"]
        page.run(f"document.querySelector('iframe').contentWindow.postMessage({{sluice: 1, type: 'token', token: {other!r}}}, {world.base!r})")
        frame.wait("document.querySelector('main table')?.innerText.includes('o2')")
        assert "o1" not in frame.run("document.querySelector('main').innerText").split()
        assert "Ann" not in frame.run("document.body.innerText")


def test_a_frame_without_an_answer_says_that_it_has_ended(world, framed):
    page, frame = framed()
    with page:
        page.expected.append("401")
        world.hand_out("no token")
        token_id, secret = world.sluice.token("acme", "creator_pages")
        gone = world.serve.token(secret).object("creator-link", creator="ann")["token"]
        world.sluice("token", "revoke", token_id)
        page.run(f"document.querySelector('iframe').contentWindow.postMessage({{sluice: 1, type: 'token', token: {gone!r}}}, {world.base!r})")
        frame.wait("document.querySelector('main').innerText.includes('This view has ended')")
        assert "Ann" not in frame.run("document.body.innerText")


def test_messages_of_others_are_ignored(world, visit, browser):
    with visit() as page:  # a tab of its own has no parent
        other = world.link("robert")["token"]
        page.run(f"window.postMessage({{sluice: 1, type: 'token', token: {other!r}}}, '*')")
        page.run("location.hash = '#view=orders'")
        wait_for(page, "Orders", "main h1")
        wait_for(page, "o1")
        assert "Ann Smith" in page.text(".bar")
    page = browser.page()
    page.expected += ["frame-ancestors", "Framing", "ERR_BLOCKED_BY_CSP", "refused"]
    with page:  # an origin that the file does not name
        page.goto(f"http://127.0.0.1:{world.edge.port2}/index.html")
        page.wait("document.querySelector('iframe') !== null")
        page.wait("window.asked === 0 && performance.now() > 1000")


def test_no_secret_is_in_a_log(world, visit):
    link = world.link("ann")
    with visit(token=link["token"], view="&view=order&shop=shop-1&order=o1"):
        pass
    logs = (world.folder / "access.log").read_text() + world.pages.log() + world.serve.log()
    assert "GET /c/acme/v1/order" in logs and "ann/" in logs
    assert "scp1" not in logs and world.secret not in logs
