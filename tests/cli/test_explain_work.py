"""The work of an explanation grows with the order's lines, not with their square: instructions are counted, not seconds."""

import os
import re
import shutil
import subprocess

import pytest
from harness import orders, paths
from harness.edge import Edge
from harness.http_block import EVENTS, http_block

PROGRAM = """
[[program]]
id = "spring"
account = "acme"
default_rate = "10%"
late_days = 36500
clearing_days = 0
max_per_order = ["50.00 USD"]
"""
LINES = (1, 500, 2000)


def order(lines):
    """Each line has a refund, and the program's cap is shared among the lines."""
    return orders.order(
        f"o{lines}", amount=f"{lines}.00", tax="0.00", shipping="0.00",
        discounts=[{"code": "SAVE", "type": "DISCOUNT_CODE", "value_type": "PERCENTAGE", "value": "5"}],
        line_items=[orders.line(f"l{number}", amount="1.00", tax="0.00") for number in range(lines)],
        refund_line_items=[orders.refund(f"r{number}", f"l{number}", amount="0.50", tax="0.00") for number in range(lines)])


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("work")
    with Edge(http_block(EVENTS, limit="off")) as edge:
        edge.start()
        edge.sluice.account("acme")
        edge.sluice.shop("shop-1", "acme")
        _, secret = edge.sluice.token("acme", "write_orders")
        (folder / "program.toml").write_text(PROGRAM)
        (folder / "creators.csv").write_text("creator_id,program_id,code\nann,spring,SAVE\n")
        edge.sluice("program", "apply", folder / "program.toml")
        edge.sluice("creator", "import", folder / "creators.csv")
        for lines in LINES:
            assert edge.post_event("shop-1", secret, "ORDER_CREATE", order(lines)).status == 200
        edge.sluice.drain()
        yield edge.store


def instructions(store, folder, lines):
    done = subprocess.run(
        ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder / 'out'}", str(paths.SLUICE), "--store", str(store),
         "explain", f"o{lines}", "--shop", "shop-1", "--format", "json"],
        capture_output=True, text=True, check=False, env={**os.environ, "SIMDJSON_FORCE_IMPLEMENTATION": "haswell"})
    assert done.returncode == 0 and done.stdout.count('"calculation"') == lines, (done.returncode, done.stderr[-2000:])
    return int(re.search(r"Collected : (\d+)", done.stderr)[1])


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind is not installed")
def test_four_times_the_lines_take_four_times_the_work(store, tmp_path):
    one, few, many = (instructions(store, tmp_path, lines) for lines in LINES)
    ratio = (many - one) / (few - one)
    print(f"explain: {few:,} instructions for {LINES[1]} lines, {many:,} for {LINES[2]}: {ratio:.2f} times")
    assert ratio < 5.5
