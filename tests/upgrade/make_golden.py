"""Makes store-format-N.tar.xz: a store as this release leaves it, for all later ones to read.

    SLUICE_BUILD=build/release tests/upgrade/make_golden.py      once for each format, before its release

It holds applied and waiting orders, a catalog, a program, a payout, a dead letter, an archive and a destination of
notifications. What the release said about it stands beside it (store-format-N.json).
"""

import json
import pathlib
import sys
import tarfile

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from harness.merchant import CONFIG, Merchant  # noqa: E402
from harness import orders  # noqa: E402
from harness.cli import now  # noqa: E402
from harness.edge import Edge  # noqa: E402

PROGRAM = """
[[program]]
id = "spring"
account = "acme"
window_days = 30
base = "net"
precedence = ["AFFILIATE_CODE", "LANDED"]
clearing_days = 0
default_rate = "10%"
late_days = 36500
[[program.rule]]
match = "brand"
value = "b"
rate = "1.50 USD"
"""
REPORTS = ("orders", "journal", "balances", "anomalies", "products", "payouts")
SAVE = [{"code": "SAVE", "type": "DISCOUNT_CODE", "value_type": "PERCENTAGE", "value": "10"}]


def fill(edge, merchant):
    files = {
        "program.toml": PROGRAM,
        "creators.csv": "creator_id,program_id,code\nanna,spring,SAVE\nbert,spring,\n",
        "clicks.csv": "svc_anon_id,creator_id,program_id,occurred_at\nanon,bert,spring,2024-02-28T00:00:00Z\n",
    }
    for name, text in files.items():
        (edge.folder / name).write_text(text)
    edge.sluice("program", "apply", edge.folder / "program.toml")
    edge.sluice("creator", "import", edge.folder / "creators.csv")
    edge.sluice("click", "import", edge.folder / "clicks.csv")
    products = [{"platform_product_id": "p", "title": "T", "brand": "b", "variants": [{"variant_sku": "sku-1"}]}]
    merchant.catalog("PRODUCT_UPSERT", {"products": products}, "golden-key")
    merchant.event("ORDER_CREATE", orders.order("o1", discounts=SAVE))
    merchant.event("ORDER_CREATE", orders.order("o2", svc_anon_id="anon"))
    merchant.event("ORDER_CREATE", orders.order("w" * 900, svc_anon_id="nobody"))
    edge.sluice.drain()
    edge.sluice("payout", "close", "--account", "acme", "--until", now())
    refund = [orders.refund("r1", amount="50.00")]
    merchant.event("ORDER_UPDATE", orders.order("o1", discounts=SAVE, refund_line_items=refund,
                                                platform_updated_at="2024-03-02T00:00:00Z"))
    edge.sluice.drain()
    edge.sluice("notify", "add", "erp", "--account", "acme", "--url", "https://hooks.example.com/", "--from", "start")
    merchant.event("ORDER_CREATE", orders.order("waiting", discounts=SAVE))
    merchant.event("ORDER_CREATE", orders.order("large", extra="x" * 300_000))


def main():
    with Edge(CONFIG) as edge:
        edge.start()
        merchant = Merchant(edge, "acme")
        fill(edge, merchant)
        edge.stop()
        said = {
            "secret": merchant.secret,
            "reports": {kind: edge.sluice.report(kind) for kind in REPORTS},
            "stats": edge.sluice.stats(),
            "destinations": edge.sluice.json("notify", "list"),
        }
        (line,) = [line for line in (edge.store / "format").read_text().splitlines() if line.startswith("format ")]
        name = f"store-format-{line.split()[1]}"
        with tarfile.open(HERE / f"{name}.tar.xz", "w:xz") as archive:
            archive.add(edge.store, "store")
        (HERE / f"{name}.json").write_text(json.dumps(said, indent=1) + "\n")


if __name__ == "__main__":
    main()
