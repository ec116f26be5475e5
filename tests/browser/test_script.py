"""The script of shops (clicks DV1 to DV5) in a real browser, below a policy that allows scripts of the shop's own host only."""

import gzip
import json
import re

import pytest
from harness import paths
from harness.chromium import Browser
from harness.edge import Edge

SCRIPT = paths.ROOT / "conf" / "web" / "sluice.js"
ID, OTHER = "Abc-123._~xyz", "another.device-of.the.visitor"
DAY = 86_400_000
CONFIG = """
    sluice_store @STORE@ map_size=1g thread_pool=sluice offload_pool=offload;
    types { text/html html; text/javascript js; }
    log_format cart escape=default '$request_body';
    server {
        listen 127.0.0.1:@PORT@;
        root @DIR@/shop;
        add_header Content-Security-Policy "default-src 'self'; img-src data:; script-src 'self'";
        location = /event/ecomm { sluice_ingest events; client_max_body_size 1m; }
        location = /order { default_type text/html; return 200 '<link rel="icon" href="data:,">'; }
        location = /device { default_type application/json; return 200 '{"svc_anon_id":"$cookie_hidden_id"}'; }
        location /theme/ { alias @DIR@/theme/; add_header Cache-Control no-store; }
        location = /cart/update.js { access_log @DIR@/cart.log cart; proxy_pass http://127.0.0.1:@PORT@/done; }
        location = /cart/add.js { return 200 '{}'; }
        location = /done { return 200 '{}'; }
        location = /none { default_type application/json; return 200 '{"svc_anon_id":null}'; }
    }
"""
PAGE = """<!DOCTYPE html><html lang="en"><head><title>Shop</title><link rel="icon" href="data:,">
<script src="/sluice.js" {}></script></head><body><form action="/order" method="get"><input name="svc_anon_id" type="hidden">
<button>Buy</button></form></body></html>"""
PAGES = {
    "granted": 'data-domain="shop.localhost" data-consent="granted"', "wait": 'data-domain="shop.localhost"', "host": 'data-consent="granted"',
    "call": 'data-consent="granted" data-id-url="/device"', "none": 'data-consent="granted" data-id-url="/none"',
    "absent": 'data-consent="granted" data-id-url="/gone"', "named": 'data-consent="granted" data-name="lc_anon_id" data-id-url="/device"',
    "week": 'data-domain="shop.localhost" data-consent="granted" data-days="7"',
}


@pytest.fixture(scope="module")
def served():
    with Edge(CONFIG) as edge:
        folder = edge.folder / "shop"
        folder.mkdir()
        (edge.folder / "theme").mkdir()
        (folder / "sluice.js").write_bytes(SCRIPT.read_bytes())
        for name, options in PAGES.items():
            (folder / f"{name}.html").write_text(PAGE.format(options))
        yield edge.start()


@pytest.fixture(scope="module")
def shop(served):
    return f"http://shop.localhost:{served.port}"


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with Browser(tmp_path_factory.mktemp("chromium")) as running:
        yield running


@pytest.fixture
def tab(browser):
    """A page of a profile of its own. Returns it with a function that opens an address and waits for the script."""
    with browser.page() as page:

        def opened(address):
            page.goto(address)
            page.wait(f"location.href.startsWith({json.dumps(address.split('?')[0])}) && window.sluiceAnonId !== undefined "
                      "&& document.readyState === 'complete'")
            page.run("sluiceAnonId.ready")
            return page

        yield opened


def cookies(page, name="svc_anon_id"):
    """[(value, domain, whole days that are left)]"""
    now = page.run("Date.now() / 1000")
    return sorted((one["value"], one["domain"], round((one["expires"] - now) / 86_400))
                  for one in page.call("Network.getCookies")["cookies"] if one["name"] == name)


def kept(page):
    return page.run("localStorage.getItem('svc_anon_id')")


def test_it_is_small():
    assert len(gzip.compress(SCRIPT.read_bytes(), 9)) <= 1536
    assert not re.search(r"https?://", SCRIPT.read_text()), "it asks no other host"


def test_the_parameter_becomes_a_cookie_and_leaves_the_address(shop, tab):
    page = tab(f"{shop}/granted.html?utm_source=a+b&svc_anon_id={ID}&x=%2F#top")
    assert page.run("[sluiceAnonId(), location.search, location.hash]") == [ID, "?utm_source=a+b&x=%2F", "#top"]
    assert cookies(page) == [(ID, ".shop.localhost", 30)]
    assert kept(page).split()[0] == ID
    assert page.run("history.length") == 2, "about:blank and this page"
    assert tab(f"{shop}/wait.html").run("sluiceAnonId()") == ID


def test_the_last_parameter_wins_and_none_stays(shop, tab):
    """A redirect appends its own behind what was there. A name counts as it is decoded."""
    page = tab(f"{shop}/granted.html?svc_anon_id={OTHER}&svc%5Fanon_id={ID}")
    assert page.run("[sluiceAnonId(), location.search]") == [ID, ""]


@pytest.mark.parametrize("value", ["", "short", "x" * 129, "with%20space", "%22quoted%22", "%E0%A4%A"])
def test_a_parameter_that_is_no_device_id_is_taken_out_and_not_used(shop, tab, value):
    page = tab(f"{shop}/granted.html?svc_anon_id={value}")
    assert page.run("[sluiceAnonId(), location.search, document.cookie]") == [None, "", ""]


def test_a_parameter_replaces_an_older_cookie(shop, tab):
    tab(f"{shop}/granted.html?svc_anon_id={OTHER}")
    page = tab(f"{shop}/granted.html?svc_anon_id={ID}")
    assert cookies(page) == [(ID, ".shop.localhost", 30)] and kept(page).split()[0] == ID


def test_a_cookie_of_the_redirect_is_read_and_not_written_again(shop, tab):
    page = tab(f"{shop}/wait.html")
    page.call("Network.setCookie", name="svc_anon_id", value=ID, domain=".shop.localhost", path="/", expires=page.run("Date.now() / 1000") + 100 * 86_400)
    page = tab(f"{shop}/granted.html?svc_anon_id={ID}")
    assert page.run("sluiceAnonId()") == ID and cookies(page) == [(ID, ".shop.localhost", 100)]


def test_the_first_cookie_that_is_a_device_id_counts(shop, tab):
    page = tab(f"{shop}/wait.html")
    page.run(f"document.cookie = 'svc_anon_id=bad id;Path=/wait.html'; document.cookie = 'svc_anon_id={ID}'; document.cookie = 'xsvc_anon_id={OTHER}'; 0")
    assert tab(f"{shop}/wait.html").run("sluiceAnonId()") == ID


def test_storage_restores_a_cookie_that_the_browser_deleted_for_the_days_that_are_left(shop, tab):
    page = tab(f"{shop}/granted.html")
    page.run(f"localStorage.setItem('svc_anon_id', '{ID} ' + (Date.now() - 2 * {DAY})); 0")
    page = tab(f"{shop}/week.html")
    assert page.run("sluiceAnonId()") == ID and cookies(page) == [(ID, ".shop.localhost", 5)]


@pytest.mark.parametrize("text", [f"'{ID} ' + (Date.now() - 8 * {DAY})", f"'{ID}'", f"'{ID} x'", "'bad id 1'", "''"])
def test_storage_that_is_old_or_no_device_id_is_nothing(shop, tab, text):
    tab(f"{shop}/week.html").run(f"localStorage.setItem('svc_anon_id', {text}); 0")
    page = tab(f"{shop}/week.html")
    assert page.run("[sluiceAnonId(), document.cookie]") == [None, ""]


def test_who_followed_no_link_gets_no_id(shop, tab):
    page = tab(f"{shop}/granted.html")
    assert page.run("sluiceAnonId()") is None and page.run("sluiceAnonId.ready") is None
    assert cookies(page) == [] and kept(page) is None
    assert [url for url in page.requests if not url.endswith(("/granted.html", "/sluice.js")) and not url.startswith("data:")] == []


def test_before_consent_the_id_is_in_memory_only(shop, tab):
    page = tab(f"{shop}/wait.html?svc_anon_id={ID}")
    assert page.run("[sluiceAnonId(), location.search]") == [ID, ""] and cookies(page) == [] and kept(page) is None
    page.run("sluiceAnonId.consent(true); 0")
    assert cookies(page) == [(ID, ".shop.localhost", 30)] and kept(page).split()[0] == ID


def test_a_refusal_deletes_the_stored_id(shop, tab):
    page = tab(f"{shop}/granted.html?svc_anon_id={ID}")
    page.run(f"document.cookie = 'svc_anon_id={OTHER}'; sluiceAnonId.consent(false); 0")
    assert page.run("sluiceAnonId()") is None and cookies(page) == [] and kept(page) is None
    page.run("sluiceAnonId.consent(true); 0")
    assert cookies(page) == []


def test_global_privacy_control_is_a_refusal(shop, tab, browser):
    page = tab(f"{shop}/granted.html?svc_anon_id={ID}")
    page.call("Page.addScriptToEvaluateOnNewDocument", source="Object.defineProperty(navigator, 'globalPrivacyControl', {value: true});")
    page = tab(f"{shop}/call.html?svc_anon_id={OTHER}")
    assert page.run("[sluiceAnonId(), location.search]") == [None, ""] and kept(page) is None
    assert not [url for url in page.requests if url.endswith("/device")]
    assert page.run("document.cookie") == f"svc_anon_id={ID}", "a cookie of the whole domain needs data-domain to be deleted"
    assert tab(f"{shop}/wait.html").run("[sluiceAnonId(), document.cookie]") == [None, ""]


def test_a_router_keeps_its_state(shop, tab):
    page = tab(f"{shop}/wait.html")
    page.run(f"window.isBefore = true; history.pushState({{view: 7}}, '', '/granted.html?svc_anon_id={ID}'); location.reload(); 0")
    page.wait("window.isBefore === undefined && window.sluiceAnonId !== undefined && location.pathname === '/granted.html' && document.readyState === 'complete'")
    assert page.run("[history.state.view, location.search, sluiceAnonId()]") == [7, "", ID]


def test_a_prerendered_page_waits_until_it_is_shown(shop, tab):
    page = tab(f"{shop}/wait.html")
    page.call("Page.addScriptToEvaluateOnNewDocument", source="Object.defineProperty(document, 'prerendering', {value: true, writable: true});")
    page.goto(f"{shop}/granted.html?svc_anon_id={ID}")
    page.wait("location.pathname === '/granted.html' && window.sluiceAnonId !== undefined && document.readyState === 'complete'")
    assert page.run("[sluiceAnonId(), document.cookie]") == [None, ""] and ID in page.run("location.search")
    assert page.run("document.dispatchEvent(new Event('prerenderingchange')), sluiceAnonId.ready") == ID
    assert page.run("location.search") == "" and cookies(page) == [(ID, ".shop.localhost", 30)]


def test_a_form_gets_the_id_when_it_is_sent(shop, tab):
    page = tab(f"{shop}/wait.html?svc_anon_id={ID}")
    page.run("document.querySelector('button').click()")
    page.wait("location.pathname === '/order'")
    assert page.run("new URLSearchParams(location.search).get('svc_anon_id')") == ID


def test_a_form_stays_as_it_is_without_an_id(shop, tab):
    page = tab(f"{shop}/wait.html")
    page.run("document.querySelector('input').value = 'of the shop'; document.querySelector('button').click()")
    page.wait("location.pathname === '/order'")
    assert page.run("location.search") == "?svc_anon_id=of+the+shop"


def test_a_cookie_that_scripts_cannot_read_comes_by_the_call(shop, tab):
    page = tab(f"{shop}/wait.html")
    page.call("Network.setCookie", name="hidden_id", value=ID, domain="shop.localhost", path="/", httpOnly=True)
    page = tab(f"{shop}/call.html")
    assert page.run("sluiceAnonId()") == ID
    assert cookies(page) == [] and kept(page) is None, "the server keeps it"
    page = tab(f"{shop}/call.html?svc_anon_id={OTHER}")
    assert page.run("sluiceAnonId()") == OTHER, "the newest link wins"


@pytest.mark.parametrize("name", ["none", "absent"])
def test_a_call_without_an_answer_leaves_the_storage(shop, tab, name):
    page = tab(f"{shop}/granted.html")
    page.expected.append("404")
    page.run(f"localStorage.setItem('svc_anon_id', '{ID} ' + Date.now()); 0")
    assert tab(f"{shop}/{name}.html").run("sluiceAnonId()") == ID


def test_another_prefix_has_another_name(shop, tab):
    page = tab(f"{shop}/named.html?lc_anon_id={ID}&svc_anon_id={OTHER}")
    assert page.run("[sluiceAnonId(), location.search]") == [ID, f"?svc_anon_id={OTHER}"]
    assert cookies(page) == [] and [value for value, _, _ in cookies(page, "lc_anon_id")] == [ID]


def test_the_call_answers_under_one_name_whatever_the_prefix(shop, tab):
    page = tab(f"{shop}/wait.html")
    page.call("Network.setCookie", name="hidden_id", value=ID, domain="shop.localhost", path="/", httpOnly=True)
    assert tab(f"{shop}/named.html").run("sluiceAnonId()") == ID


def test_a_second_tag_changes_nothing(shop, tab):
    page = tab(f"{shop}/wait.html?svc_anon_id={ID}")
    page.run("""new Promise((resolve) => { const again = document.createElement('script'); again.src = '/sluice.js';
             again.dataset.consent = 'granted'; again.onload = resolve; document.head.append(again); })""")
    assert page.run("sluiceAnonId()") == ID and cookies(page) == []


# The snippet of a Shopify theme ---------------------------------------------------------------------------------------

LIQUID = (paths.ROOT / "conf" / "shops" / "device.liquid").read_text()


# Shopify's Customer Privacy API: it is there once it has loaded, and remembers the consent of an earlier page.
PRIVACY = """<script>window.Shopify = { loadFeatures(features, loaded) {
  if (features[0].name !== 'consent-tracking-api') return loaded(new Error('unknown feature'));
  setTimeout(() => { Shopify.customerPrivacy = { marketingAllowed: () => %s }; loaded(); }, 20);
} };</script>"""


def rendered(known, remembered=None):
    """The snippet as Shopify's Liquid gives it out. `remembered` is the consent that Shopify remembers."""
    values = {"{{ 'sluice.js' | asset_url }}": "/sluice.js", "{{ shop.domain }}": "shop.localhost", "{{ routes.root_url | json }}": '"/"',
              "{{ cart.attributes._svc_anon_id | json }}": json.dumps(known)}
    text = re.sub(r"{% comment %}.*?{% endcomment %}", "", LIQUID, flags=re.S)
    for place, value in values.items():
        assert place in text, place
        text = text.replace(place, value)
    assert "{{" not in text and "{%" not in text
    privacy = "" if remembered is None else PRIVACY % json.dumps(remembered)
    return (f'<!DOCTYPE html><html lang="en"><head><title>Shop</title><link rel="icon" href="data:,">{privacy}</head>'
            f'<body>{text}</body></html>')


@pytest.fixture
def theme(shop, tab, served):
    """A page of the theme, and the attributes that its cart has been given."""
    (served.folder / "cart.log").write_text("")

    def written(count):
        log = served.folder / "cart.log"
        paths.wait_until(lambda: len(log.read_text().split()) >= count, "the cart")
        lines = log.read_text().split()
        return [json.loads(line.encode().decode("unicode_escape")) for line in lines]

    def opened(known, query="", **how):
        (served.folder / "theme" / "index.html").write_text(rendered(known, **how))
        return tab(f"{shop}/theme/index.html{query}")

    return opened, written


def test_a_theme_writes_the_id_to_each_cart_once(theme):
    opened, written = theme
    page = opened(None, f"?svc_anon_id={ID}")
    assert written(1) == [{"attributes": {"_svc_anon_id": ID}}], "also before consent: it is the shop's own cart"
    page.run("fetch('/cart/add.js', {method: 'POST', body: '{}'}).then(() => 0)")
    assert written(2) == [{"attributes": {"_svc_anon_id": ID}}] * 2, "an addition may begin a new cart"
    page.run("document.dispatchEvent(new CustomEvent('visitorConsentCollected', {detail: {marketingAllowed: true}})), 0")
    assert page.run("document.cookie") == f"svc_anon_id={ID}"
    opened(ID).run("fetch('/cart/add.js', {method: 'POST', body: '{}'}).then(() => 0)")
    assert len(written(3)) == 3, "a cart that has it is left alone until something is added"


def test_dv4_consent_that_shopify_remembers_counts_on_the_next_page(theme):
    """Else the cookie of an older click came back with the second page, against DV5."""
    opened, written = theme
    page = opened(None, f"?svc_anon_id={OTHER}")
    page.run("document.dispatchEvent(new CustomEvent('visitorConsentCollected', {detail: {marketingAllowed: true}})), 0")
    assert cookies(page)[0][0] == OTHER
    page = opened(OTHER, f"?svc_anon_id={ID}", remembered=True)
    page.wait(f"document.cookie === 'svc_anon_id={ID}'")
    page = opened(ID, remembered=True)
    assert page.run("sluiceAnonId()") == ID
    assert written(2)[-1] == {"attributes": {"_svc_anon_id": ID}} and len(written(2)) == 2


def test_dv4_without_consent_nothing_is_stored(theme):
    opened, _ = theme
    page = opened(None, f"?svc_anon_id={ID}", remembered=False)
    page.wait("Shopify.customerPrivacy !== undefined")
    assert cookies(page) == [] and kept(page) is None


def test_a_theme_writes_nothing_without_an_id(theme):
    opened, written = theme
    page = opened(None)
    page.run("sluiceAnonId.ready.then(() => new Promise((done) => setTimeout(done, 50)))")
    assert written(0) == [] and not [url for url in page.requests if "/cart/" in url]
