"""The script of shops in Firefox and WebKitGTK over HTTPS (clicks section 13, real clients)."""

import pytest
from browser.test_script import DAY, ID, OTHER, PAGE, PAGES, SCRIPT
from harness.edge import Edge
from harness.engines import Firefox, WebKit
from harness.webhooks import make_certificate

CONFIG = """
    sluice_store @STORE@ map_size=1g thread_pool=sluice offload_pool=offload;
    types { text/html html; text/javascript js; }
    server {
        listen 127.0.0.1:@PORT@ ssl;
        ssl_certificate @DIR@/shop.pem;
        ssl_certificate_key @DIR@/shop.key;
        root @DIR@/shop;
        add_header Content-Security-Policy "default-src 'self'; img-src data:; script-src 'self'";
        location = /event/ecomm { sluice_ingest events; client_max_body_size 1m; }
        location = /order { default_type text/html; return 200 'ordered'; }
        location = /redirect {
            add_header Set-Cookie "svc_anon_id=$arg_id; Max-Age=8640000; Path=/; Secure; SameSite=Lax; Domain=shop.localhost";
            return 302 /granted.html?svc_anon_id=$arg_id;
        }
    }
"""


@pytest.fixture(scope="module")
def shop():
    with Edge(CONFIG) as edge:
        folder = edge.folder / "shop"
        folder.mkdir()
        make_certificate(edge.folder, "DNS:shop.localhost", name="shop")
        (folder / "sluice.js").write_bytes(SCRIPT.read_bytes())
        for name, options in PAGES.items():
            (folder / f"{name}.html").write_text(PAGE.format(options))
        edge.start()
        yield f"https://shop.localhost:{edge.port}"


@pytest.fixture(params=[Firefox, WebKit], ids=lambda engine: engine.name)
def engine(request, tmp_path):
    with request.param(tmp_path) as running:
        yield running


def days_left(engine):
    now = engine.run("Date.now() / 1000")
    return {one["value"]: round((one["expiry"] - now) / 86_400) for one in engine.cookies() if one["name"] == "svc_anon_id"}


def test_the_script_carries_the_id_as_in_chromium(shop, engine):
    def opened(page):
        engine.goto(f"{shop}/{page}")
        return engine.run("sluiceAnonId.ready")

    assert opened(f"wait.html?a=b+c&svc_anon_id={ID}#top") == ID
    assert engine.run("[location.search, location.hash, document.cookie, localStorage.length]") == ["?a=b+c", "#top", "", 0]
    engine.run("sluiceAnonId.consent(true), 0")
    assert days_left(engine) == {ID: 30}
    assert opened("wait.html") == ID
    assert opened(f"redirect?id={OTHER}") == OTHER
    assert engine.run("location.search") == "" and days_left(engine) == {OTHER: 100}, "the redirect's cookie keeps its time"
    engine.run("sluiceAnonId.consent(false), 0")
    assert days_left(engine) == {} and engine.run("localStorage.length") == 0
    engine.run(f"localStorage.setItem('svc_anon_id', '{ID} ' + (Date.now() - 2 * {DAY})), 0")
    assert opened("week.html") == ID and days_left(engine) == {ID: 5}
    engine.run("document.querySelector('button').click(), 0")
    engine.wait(f"new URLSearchParams(location.search).get('svc_anon_id') === '{ID}' && location.pathname === '/order'")
