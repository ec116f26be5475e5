#!/usr/bin/env python3
"""Photographs the page with ninety days of orders: the pictures of README.md and docs/page.md.

    tests/tools/page_pictures.py             writes docs/page-*.png
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


if __name__ == "__main__":
    main()
