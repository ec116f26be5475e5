"""The examples of docs/protocol.md, run against a real server."""

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
}


def example(name):
    page = facts.read("docs/protocol.md")
    return re.search(rf"<!-- example: {name} -->\n```\w+\n(.*?)```", page, re.S).group(1)


def test_every_example_is_run():
    names = re.findall(r"<!-- example: ([\w-]+) -->", facts.read("docs/protocol.md"))
    assert sorted(names) == sorted(PROGRAMS)


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_example(name, start_edge, new_merchant, tmp_path):
    edge = start_edge(CONFIG)
    merchant = new_merchant(edge, "acme")
    script = tmp_path / name
    script.write_text(example(name))
    environment = {
        **os.environ,
        "BASE": f"http://127.0.0.1:{edge.port}",
        "SHOP": merchant.shop,
        "TOKEN": merchant.secret,
    }
    result = subprocess.run(
        [*PROGRAMS[name], str(script)], env=environment, capture_output=True, text=True,
        timeout=60, check=False,
    )
    assert result.returncode == 0, result.stderr
    if name == "curl-catalog":
        assert json.loads(result.stdout)["processedCount"] == 1
    else:
        assert result.stdout.strip() == "success", result.stdout + result.stderr
    (record,) = edge.sluice.queued()
    assert record["shop_id"] == merchant.shop


def test_the_signature_vector():
    page = facts.read("docs/protocol.md")
    text = page[page.index("With the key"):]
    key, body = re.findall(r"`([^`]+)`", text)[:2]
    vector = re.search(r"```\n([0-9a-f]{64})\n```", text).group(1)
    assert sign.hmac_hex(key, body.encode()) == vector
