"""The programs of docs/senders.md, run against a real server."""

import json
import os
import re
import subprocess

import pytest

from docs import facts
from harness import sign

CONFIG = """
    sluice_store @STORE@ map_size=1g thread_pool=sluice offload_pool=offload;
    server {
        listen 127.0.0.1:@PORT@;
        location = /event/ecomm { sluice_ingest events; }
        location = /product-data { sluice_ingest catalog; client_max_body_size 128m; }
    }
"""

PROGRAMS = {
    "curl": ["bash", "-euo", "pipefail"],
    "curl-catalog": ["bash", "-euo", "pipefail"],
    "python": ["/usr/bin/python3"],
    "node": ["node"],
    "php": ["php"],
    "ruby": ["ruby"],
}


def example(name):
    page = facts.read("docs/senders.md")
    return re.search(rf"<!-- example: {name} -->\n```\w+\n(.*?)```", page, re.S).group(1)


def run(name, edge, shop, token, folder):
    script = folder / name
    script.write_text(example(name))
    environment = {**os.environ, "BASE": f"http://127.0.0.1:{edge.port}", "SHOP": shop, "TOKEN": token}
    return subprocess.run(
        [*PROGRAMS[name], str(script)], env=environment, capture_output=True, text=True, timeout=60, check=False
    )


def test_every_example_is_run():
    names = re.findall(r"<!-- example: ([\w-]+) -->", facts.read("docs/senders.md"))
    assert sorted(names) == sorted(PROGRAMS)


@pytest.mark.parametrize("name", sorted(set(PROGRAMS) - {"curl-catalog"}))
def test_a_program_sends_an_order_a_refund_and_a_cancellation(name, start_edge, new_merchant, tmp_path):
    """The account may send two requests in two seconds: the third is answered with 429 and repeated."""
    edge = start_edge(CONFIG)
    merchant = new_merchant(edge, "acme")
    edge.sluice("account", "set", "acme", "--rate-limit", "2/2")
    result = run(name, edge, merchant.shop, merchant.secret, tmp_path)
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines() == ["success"] * 3
    assert [record["topic"] for record in edge.sluice.queued()] == ["ORDER_CREATE", "ORDER_UPDATE", "ORDER_CANCEL"]
    edge.sluice.drain()
    (order,) = edge.sluice.report("orders")
    assert (order["order_id"], order["amount"], order["refund_amount"]) == ("1001", "48.00", "24.00")
    assert order["cancelled_at"] == "2026-03-03T10:00:00Z"


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_a_program_reports_a_refusal_and_does_not_repeat_it(name, start_edge, new_merchant, tmp_path):
    edge = start_edge(CONFIG)
    merchant = new_merchant(edge, "acme")
    result = run(name, edge, merchant.shop, "not-the-token", tmp_path)
    assert result.returncode != 0
    assert re.search(r"\b40[13]\b", result.stdout + result.stderr)
    assert edge.sluice.queued() == []


def test_the_batch_is_accepted(start_edge, new_merchant, tmp_path):
    edge = start_edge(CONFIG)
    merchant = new_merchant(edge, "acme")
    result = run("curl-catalog", edge, merchant.shop, merchant.secret, tmp_path)
    assert json.loads(result.stdout)["processedCount"] == 1, result.stderr
    (record,) = edge.sluice.queued()
    assert record["shop_id"] == merchant.shop


def test_the_signature_vector():
    page = facts.read("docs/protocol.md")
    text = page[page.index("With the key"):]
    key, body = re.findall(r"`([^`]+)`", text)[:2]
    vector = re.search(r"```\n([0-9a-f]{64})\n```", text).group(1)
    assert sign.hmac_hex(key, body.encode()) == vector
