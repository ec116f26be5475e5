"""The life of a click in three engines over HTTPS (clicks section 13): a page of a creator, her link, the shop with the script, the
signed order, and what sluice says of it. Pages: blog.localhost is another site, go.shop.localhost the link host of shop.localhost."""

import json

import pytest
from browser.test_script import PAGE, SCRIPT
from harness import orders, paths
from harness.cli import now
from harness.edge import Edge
from harness.engines import Chromium, Firefox, WebKit
from harness.webhooks import make_certificate
from model.rules import Shop

CONFIG = """
    sluice_store @STORE@ map_size=1g thread_pool=sluice offload_pool=offload;
    sluice_rate_limit off;
    sluice_click_buffer 4096 flush=20ms;
    types { text/html html; text/javascript js; }
    ssl_certificate @DIR@/shop.pem;
    ssl_certificate_key @DIR@/shop.key;
    server {
        listen 127.0.0.1:@PORT@;
        add_header X-Receipt $sluice_receipt always;
        location = /event/ecomm { sluice_ingest events; client_max_body_size 1m; }
        location /sluice/ { sluice_status; }
        location /l/ { sluice_link; }
    }
    server {
        listen 127.0.0.1:@PORT2@ ssl;
        server_name shop.localhost;
        root @DIR@/shop;
        location = /ahead.html { add_header Cache-Control no-store; }
        add_header Content-Security-Policy "default-src 'self'; img-src data:; script-src 'self'";
    }
    server {
        listen 127.0.0.1:@PORT2@ ssl;
        server_name blog.localhost;
        root @DIR@/blog;
    }
    server {
        listen 127.0.0.1:@PORT2@ ssl;
        server_name go.shop.localhost;
        location /l/ { sluice_link; sluice_link_cookie 30d domain=shop.localhost; }
        location /none/ { sluice_link; sluice_link_cookie off; }
    }
"""
BLOG = """<!DOCTYPE html><html lang="en"><head><title>Blog</title><link rel="icon" href="data:,"></head><body>
<a id="link" href="https://go.shop.localhost:{port}/l/{link}">The mug</a>
<a id="bare" href="https://go.shop.localhost:{port}/none/{link}">The mug, without a cookie</a>{more}</body></html>"""
AHEAD = """<script type="speculationrules">{{"prefetch": [{{"source": "list", "urls": ["https://go.shop.localhost:{port}/l/{link}"]}}]}}</script>"""
SHOP_AHEAD = """<!DOCTYPE html><html lang="en"><head><title>Shop</title><script type="speculationrules">
{{"prerender": [{{"source": "list", "eagerness": "immediate", "urls": ["{page}"]}}]}}</script></head><body><a href="{page}">Mug</a></body></html>"""
HIDDEN = """<img src="https://go.shop.localhost:{port}/l/{link}" alt="">
<iframe src="https://go.shop.localhost:{port}/l/{link}" title="hidden"></iframe>"""


class World(Shop):
    def __init__(self, edge):
        super().__init__(edge)
        self.apply_program()
        self.codes((self.ann, "", None))
        self.link = f"{self.account}-mug"
        self.sluice("link", "create", self.link, "--account", self.account, "--program", self.program, "--creator", self.ann,
                    "--to", f"https://shop.localhost:{edge.port2}/wait.html?x=1#top")
        for _ in range(8):  # each process reads new links on a thread
            paths.wait_until(self.is_served, "nginx to serve the link")
        names = {"port": edge.port2, "link": self.link}
        (edge.folder / "blog" / "index.html").write_text(BLOG.format(more="", **names))
        (edge.folder / "blog" / "ahead.html").write_text(BLOG.format(more=AHEAD.format(**names), **names))
        (edge.folder / "blog" / "hidden.html").write_text(BLOG.format(more=HIDDEN.format(**names), **names))
        self.blog, self.shop_page = f"https://blog.localhost:{edge.port2}", f"https://shop.localhost:{edge.port2}"

    def is_served(self):
        with self.edge.connect() as connection:
            return connection.request("HEAD", f"/l/{self.link}", []).status == 302

    def results(self):
        return json.loads(self.edge.request("GET", "/sluice/status.json", []).body)["links"]["results"]

    def clicks(self):
        self.sluice.drain()
        rows = self.sluice.json("report", "clicks", "--account", self.account, "--by", "link")
        return sum(row["clicks"] for row in rows if row["link_id"] == self.link)


@pytest.fixture(scope="module")
def edge():
    with Edge(CONFIG) as edge:
        for name in ("shop", "blog"):
            (edge.folder / name).mkdir()
        make_certificate(edge.folder, *(f"DNS:{host}" for host in ("shop.localhost", "go.shop.localhost", "blog.localhost")), name="shop")
        (edge.folder / "shop" / "sluice.js").write_bytes(SCRIPT.read_bytes())
        (edge.folder / "shop" / "wait.html").write_text(PAGE.format('data-domain="shop.localhost"'))
        yield edge.start()


@pytest.fixture
def world(edge):
    return World(edge)


@pytest.fixture(params=[Chromium, Firefox, WebKit], ids=lambda engine: engine.name)
def engine(request, tmp_path):
    with request.param(tmp_path) as running:
        yield running


def followed(engine, world, selector="#link", page="index.html"):
    """The device id with which a click on the blog arrives at the shop."""
    engine.goto(f"{world.blog}/{page}")
    return clicked(engine, selector)


def clicked(engine, selector="#link"):
    engine.run(f"document.querySelector('{selector}').click(), 0")
    engine.wait("location.hostname === 'shop.localhost' && window.sluiceAnonId !== undefined && document.readyState === 'complete'")
    return engine.run("sluiceAnonId.ready")


def test_a_click_becomes_an_order_of_the_creator(engine, world):
    device = followed(engine, world)
    assert device and engine.run("[location.search, location.hash]") == ["?x=1", "#top"], "the id has left the address"
    (cookie,) = [one for one in engine.cookies() if one["name"] == "svc_anon_id"]
    assert (cookie["value"], cookie["secure"], cookie["domain"].lstrip(".")) == (device, True, "shop.localhost")
    assert followed(engine, world) == device, "the cookie names the device again"
    assert followed(engine, world, "#bare") != device, "without a cookie every click is a new device"
    assert world.clicks() == 2, "of two within ten seconds by one device the second is left out"
    # The shop signs its order with the id that the page has.
    device = engine.run("sluiceAnonId()")
    order = orders.order("o1", line_items=[orders.line(amount="100.00", tax="20.00")], svc_anon_id=device,
                         platform_ordered_at=now(), platform_updated_at=now())
    world.send(order, "ORDER_CREATE")
    row = world.only_order()
    assert row["creator_id"] == world.ann and "LANDED" in row["attribution_types"], row
    assert world.link in world.sluice("explain", "o1", "--shop", world.shop)


def test_what_is_embedded_does_not_count(engine, world):
    before = world.results()
    engine.goto(f"{world.blog}/hidden.html")
    after = paths.wait_until(lambda: world.results()["embedded"] >= before["embedded"] + 2 and world.results(), "both to be counted")
    assert after["click"] == before["click"] and world.clicks() == 0
    assert not [one for one in engine.cookies() if one["name"] == "svc_anon_id"]


def test_the_shop_stores_the_id_after_consent(engine, world):
    device = followed(engine, world, "#bare")
    assert engine.run("[document.cookie, localStorage.length]") == ["", 0]
    engine.run("sluiceAnonId.consent(true), 0")
    engine.goto(f"{world.shop_page}/wait.html")
    assert engine.run("sluiceAnonId.ready") == device


def test_a_prefetch_is_declined_and_the_visit_counts_once(world, tmp_path):
    with Chromium(tmp_path) as engine:
        before = world.results()
        engine.goto(f"{world.blog}/ahead.html")
        paths.wait_until(lambda: world.results()["speculative"] > before["speculative"], "the prefetch")
        assert clicked(engine) and world.results()["click"] == before["click"] + 1 and world.clicks() == 1


def test_global_privacy_control_counts_nothing_and_leaves_no_id(world, tmp_path):
    with Firefox(tmp_path, {"privacy.globalprivacycontrol.enabled": True}) as engine:
        before = world.results()
        assert followed(engine, world) is None and engine.run("[document.cookie, navigator.globalPrivacyControl]") == ["", True]
        after = world.results()
        assert (after["skipped"], after["click"]) == (before["skipped"] + 1, before["click"]) and world.clicks() == 0


def test_a_page_that_is_rendered_ahead_keeps_the_id_in_its_address_until_it_is_shown(edge, tmp_path):
    device = "Abc-123._~xyz"
    (edge.folder / "shop" / "ahead.html").write_text(SHOP_AHEAD.format(page=f"/granted.html?svc_anon_id={device}"))
    (edge.folder / "shop" / "granted.html").write_text(PAGE.format('data-domain="shop.localhost" data-consent="granted"'))
    with Chromium(tmp_path) as engine:
        engine.page, ahead = engine.browser.tab()
        engine.goto(f"https://shop.localhost:{edge.port2}/ahead.html")
        paths.wait_until(lambda: engine.run("1") and ahead, "a page rendered ahead")
        page = ahead[0]
        page.wait("document.prerendering && window.sluiceAnonId !== undefined && document.readyState === 'complete'")
        assert page.run("[sluiceAnonId(), document.cookie, location.search]") == [None, "", f"?svc_anon_id={device}"]
        engine.run("document.querySelector('a').click(), 0")
        page.wait("!document.prerendering")
        assert page.run("sluiceAnonId.ready") == device and page.run("performance.getEntriesByType('navigation')[0].activationStart") > 0
        assert page.run("[document.cookie, location.search]") == [f"svc_anon_id={device}", ""]
