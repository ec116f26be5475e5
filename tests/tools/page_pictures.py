#!/usr/bin/env python3
"""Photographs the pages with ninety days of orders: the pictures of README.md, docs/page.md and docs/creators.md.

    tests/tools/page_pictures.py             writes docs/page-*.png and docs/creators-*.png
"""
import base64
import contextlib
import datetime
import pathlib
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS), str(TESTS / "tools")]
from harness import paths  # noqa: E402
from harness.chromium import Browser  # noqa: E402
from harness.edge import Edge  # noqa: E402
from harness.serve import CreatorPages, Serve  # noqa: E402
from serve.login_site import Site  # noqa: E402
from ninety_days import build  # noqa: E402

USER = "gina@acme.example"


def pictures(sluice):
    """Name, address, width and colours of each."""
    mine = ("--account", "acme")
    paid = next(row for row in reversed(sluice.json("payout", "list", *mine)) if row["state"] == "PAID")
    order = next(row for row in reversed(sluice.json("report", "orders", *mine))
                 if row["status"] == "pending" and row["refund_amount"] != "0" and float(row["commission_amount"]) > 0)
    closed = (datetime.datetime.now(datetime.timezone.utc).replace(day=1) - datetime.timedelta(days=1)).strftime("%Y-%m")
    views = {"today": "", "order": f"?view=order&shop={order['shop_id']}&order={order['order_id']}",
             "payout": f"?view=payout&payout={paid['payout_id']}", "month": f"?view=month&month={closed}"}
    yield from ((name, query, 1280, "light") for name, query in views.items())
    yield "phone", views["order"], 390, "dark"


CREATORS = """base_url = "http://127.0.0.1:{port}"
[acme]
name = "Acme Creators"
paid = "around the 5th"
links = "https://go.acme.example/l/"
shops = {{ acme-us = "Acme US", acme-de = "Acme Deutschland", acme-uk = "Acme UK" }}
"""
CREATORS_VIEWS = (("home", "", 1280, "light"), ("links", "&view=links", 1280, "light"), ("phone", "", 390, "dark"))


def photograph_creators(folder, sluice, browser):
    """A creator's page, behind nginx with the shipped files."""
    _, secret = sluice.token("acme", "creator_pages")
    sockets = folder / "creators"
    sockets.mkdir()
    sockets.chmod(0o755)
    config = sockets / "creators.toml"
    shipped = {name: (paths.ROOT / "conf" / "nginx" / name).read_text() for name in ("sluice-creators-http.conf", "sluice-creators.conf")}
    location = shipped["sluice-creators.conf"].replace("/run/sluice/creators.sock", str(sockets / "creators.sock"))
    http = f"{shipped['sluice-creators-http.conf']} server {{ listen 127.0.0.1:@PORT@; {location} }}"
    with Edge(http, store=sluice.store, create=False) as edge:
        config.write_text(CREATORS.format(port=edge.port))
        with CreatorPages(sluice.store, sockets, config), Serve(sluice.store, sockets, "--creators-config", config) as serve:
            edge.start()
            token = serve.token(secret).object("creator-link", creator="anna.lindqvist")["token"]
            for name, view, width, scheme in CREATORS_VIEWS:
                with browser.page(width=width, scheme=scheme) as page:
                    page.goto(f"http://127.0.0.1:{edge.port}/c/acme/#{token}{view}")
                    page.wait("document.querySelector('main .answer') !== null")
                    page.run("new Promise((done) => setTimeout(done, 300))")
                    page.screenshot(paths.ROOT / "docs" / f"creators-{name}.png", height_max=1400)


@contextlib.contextmanager
def worker(sluice):
    """The bar says if no worker runs."""
    process = subprocess.Popen([paths.SLUICE, "worker"], env=sluice.environment)
    try:
        yield
    finally:
        process.terminate()
        process.wait(timeout=paths.DEADLINE)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)  # commands that give up root read the clock's file
        sluice = build(folder)
        hashed = subprocess.run(["openssl", "passwd", "-apr1", "secret"], check=True, capture_output=True, text=True).stdout
        (folder / "htpasswd").write_text(f"{USER}:{hashed}")
        login = {"Authorization": "Basic " + base64.b64encode(f"{USER}:secret".encode()).decode()}
        with worker(sluice), Site(folder, sluice, "sluice-login-basic.conf") as site, Browser(folder) as browser:
            for name, query, width, scheme in pictures(sluice):
                with browser.page(width=width, scheme=scheme, headers=login) as page:
                    page.goto(f"{site.url}ui/{query}")
                    page.wait("document.querySelector('main h1') !== null && document.getElementById('pill').innerText === 'all applied'")
                    page.run("new Promise((done) => setTimeout(done, 300))")
                    page.screenshot(paths.ROOT / "docs" / f"page-{name}.png", height_max=1400)
            photograph_creators(folder, sluice, browser)


if __name__ == "__main__":
    main()
