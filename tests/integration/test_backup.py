"""Backup and restore exactly as docs/operations.md says: its shell commands are run."""

import re
import shutil
import subprocess

from harness import cli, orders, paths
from harness.http_block import EVENTS, STATUS, http_block

CONFIG = http_block(EVENTS, STATUS)


def block(title):
    """The shell commands of the runbook that follow `**title.**`."""
    page = (paths.ROOT / "docs" / "operations.md").read_text()
    text = page[page.index(f"**{title}.**"):]
    return re.search(r"```sh\n(.*?)```", text, re.S).group(1)


def run(script, store, folder):
    script = script.replace("/var/lib/sluice", str(store)).replace("/backup/sluice-$(date +%F)", f"{folder}/b")
    script = script.replace("/backup/sluice-2026-01-31", f"{folder}/b")
    script = re.sub(r"^sluice (backup|restore)", rf"{paths.SLUICE} --store {store} \1", script, flags=re.M)
    script = re.sub(r"^(sluice doctor|systemctl .*)$", "", script, flags=re.M)
    subprocess.run(["bash", "-euo", "pipefail", "-c", script], check=True, capture_output=True)


def test_a_restored_backup_continues_at_its_checkpoint(start_edge, new_merchant, tmp_path):
    edge = start_edge(CONFIG)
    merchant = new_merchant(edge, "acme")
    for number in range(3):
        assert merchant.event("ORDER_CREATE", orders.order(f"applied-{number}")).status == 200
    edge.sluice.drain()
    assert merchant.event("ORDER_CREATE", orders.order("waiting")).status == 200

    run(block("Backup"), edge.store, tmp_path)  # nginx is running
    assert merchant.event("ORDER_CREATE", orders.order("after the backup")).status == 200
    edge.stop()

    run(block("Restore"), edge.store, tmp_path)
    restored = cli.Sluice(edge.store)
    assert {order["order_id"] for order in restored.report("orders")} == {
        f"applied-{number}" for number in range(3)
    }
    restored.drain()
    edge.start()
    assert merchant.event("ORDER_CREATE", orders.order("afterwards")).status == 200
    restored.drain()
    assert {order["order_id"] for order in restored.report("orders")} == {
        "applied-0", "applied-1", "applied-2", "waiting", "afterwards",
    }
    shutil.rmtree(f"{edge.store}.broken")
