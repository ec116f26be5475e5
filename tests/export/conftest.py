import json
import os
import re
import shutil
import subprocess

import pytest
from harness import npm, orders, paths
from harness.edge import Edge
from harness.http_block import CATALOG, CLICKS, EVENTS, http_block
from serve import scene

LOADERS = paths.ROOT / "tests" / "export" / "loaders"
ODD = ['quote " and \'', "a line\nfeed", "cr\r\nlf", "comma, semicolon; tab\t", "=1+1", "-2", "+3", "@sum", "back\\slash \\n",
       "\u2028 \u2029 \u202e", "ünï😀 \ufeff", " spaces ", "null", "\\N", "a" * 1000, "NULL", "''", '""', "{}", "[]", "#x"]
LARGEST = "999999999999999.999999"


class Site:
    """A scene on one ledger, with its exports and the databases that load them."""

    def __init__(self, sluice, secrets, folder, server, programs):
        self.sluice, self.secrets, self.folder, self.server, self.programs = sluice, secrets, folder, server, programs

    def export(self, name, *options):
        """The folder of a new export."""
        folder = self.folder / name
        shutil.rmtree(folder, ignore_errors=True)
        self.sluice("export", folder, *options)
        return folder

    def load(self, database, folder, query, **environment):
        """Loads an export with its script as it is, and returns the rows of a query."""
        return self.load_all(database, [folder], query, **environment)

    def query(self, database, folder, query, **environment):
        """The rows of a query that runs in the folder of an export, without its script."""
        run = subprocess.run(["node", self.programs / f"{database}.mjs"], input=query, text=True, cwd=folder,
                             env={**os.environ, **environment}, capture_output=True, timeout=300)
        assert run.returncode == 0, run.stderr
        return json.loads(run.stdout)

    def load_all(self, database, folders, query, **environment):
        """Loads several exports, one after the other."""
        scripts = [re.sub(r"'(\w+-\d{4}\.)", rf"'{folder}/\1", (folder / f"{database}.sql").read_text()) if folder != folders[0]
                   else (folder / f"{database}.sql").read_text() for folder in folders]
        return self.query(database, folders[0], "\n".join([*scripts, query]), **environment)


@pytest.fixture(scope="session")
def programs():
    """The folder of the databases."""
    # Not `npm ci`: the lock may lack other platforms' libraries, which are optional.
    folder = npm.install(LOADERS, "export-loaders", "install")
    for script in LOADERS.glob("*.mjs"):
        shutil.copy(script, folder)
    return folder


def send_odd(folder, secret):
    """Orders, refunds and products with texts that files and loaders may misread."""
    with Edge(http_block(EVENTS, CLICKS, CATALOG, limit="off"), store=folder / "store") as edge:
        edge.start()
        for number, text in enumerate(ODD):
            document = scene.order(text, "SAVE", currency_code=("USD", "EUR", "JPY")[number % 3],
                                   platform_ordered_at=f"2024-03-01T10:00:{number:02}.123456789Z",
                                   refund_line_items=[orders.refund(f"refund {number}", amount="1.50", tax="0.333333")])
            document["line_items"][0].update(sku=text, variant_sku=text)
            assert edge.post_event("shop-1", secret, "ORDER_CREATE", document).status == 200
        clicked = {"clicks": [{"svc_anon_id": f"device-{number}", "program_id": "spring", "creator_id": "ann", "link_id": "spring-mug",
                               "occurred_at": f"2024-03-01T1{number}:00:00Z"} for number in range(3)]}
        assert edge.post_event("shop-1", secret, "CLICK", clicked, target="/event/click").status == 200
        landed = scene.order("landed", None, svc_anon_id="device-0", platform_ordered_at="2024-03-02T10:00:00Z")
        assert edge.post_event("shop-1", secret, "ORDER_CREATE", landed).status == 200
        large = scene.order("large", "SAVE", amount=LARGEST)
        large["line_items"][0]["amount"] = LARGEST
        assert edge.post_event("shop-1", secret, "ORDER_CREATE", large).status == 200
        products = [{"platform_product_id": f"odd {number}", "title": text, "tags": [text], "list_price": 0.1,
                     "unknown": {text: text}} for number, text in enumerate(ODD)]
        assert edge.post_catalog("shop-1", secret, "PRODUCT_UPSERT", {"products": products}, "odd-1").status == 200


@pytest.fixture(scope="session", params=["lmdb", "postgres"])
def site(request, programs):
    """The scene of tests/serve on each ledger, and rows of odd texts."""
    with scene.on(request.param) as (folder, sluice, secrets, server):
        _, secret = sluice.token("acme", "write_orders", "write_products", "write_clicks")
        send_odd(folder, secret)
        sluice.drain()
        sluice("adjust", "--shop", "shop-1", "--order", ODD[0], "--amount", "1.00", "--reason", 'said "so", again; =now')
        yield Site(sluice, secrets, folder, server, programs)
