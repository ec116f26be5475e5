"""Orders and batches of every size, where a size meets a limit that follows from the configuration.

Each is stored at once: no size waits for room that it can never have, whatever the map, the workers and their lanes.
"""

import pytest

from harness import answers, orders, sign

CONFIG = """
    sluice_store @STORE@ map_size=%s thread_pool=sluice offload_pool=offload;
    sluice_rate_limit 100000000 60s;
    sluice_offload_threshold %s;
    client_body_buffer_size %s;
    server {
        listen 127.0.0.1:@PORT@;
        add_header X-Receipt $sluice_receipt always;
        location = /event/ecomm { client_max_body_size 1m; sluice_ingest events; }
        location = /product-data { client_max_body_size 2m; sluice_ingest catalog; }
    }
"""
STEP = 509  # a lane rounds to blocks of 4096 bytes
SMALL = range(700, 42_000, STEP)
# Where an order is offloaded, taken in pieces, or stored in a file of its own.
LIMITS = (64 << 10, 128 << 10, 256 << 10)


def around(limit):
    return [*range(limit - 4 * STEP, limit + STEP, STEP), limit - 1, limit, limit + 1]


def order_of(size):
    document = orders.order(ignored="")
    return sign.encode({**document, "ignored": "x" * (size - len(sign.encode(document)))})


def batch_of(size):
    document = {"products": [{"platform_product_id": "p", "title": ""}]}
    document["products"][0]["title"] = "x" * min(size - len(sign.encode(document)), 200)
    body = sign.encode(document)
    return body + b" " * (size - len(body))


@pytest.mark.parametrize("map_size, workers, offload, buffer", [
    ("32m", 3, "64k", "16k"),  # lanes of 42 blocks
    ("64m", 5, "16k", "32k"),  # of 51
    ("21m", 1, "64k", "16k"),  # of 42
    ("9m", 1, "8k", "8k"),  # of 18
    ("4m", 1, "64k", "1m"),  # of 16, the least, with the least map
    ("1g", 2, "64k", "16k"),  # of 2048, the most
])
def test_every_size_is_stored_at_once(start_edge, new_merchant, map_size, workers, offload, buffer):
    edge = start_edge(CONFIG % (map_size, offload, buffer), workers=workers)
    merchant = new_merchant(edge, "acme")
    edge.wait_until_open()
    sizes = [*SMALL, *(size for limit in LIMITS for size in around(limit))]
    room = 1_000_000 if map_size == "4m" else 3_000_000
    waiting, sent = 0, 0

    def make_room(size):
        nonlocal waiting
        if waiting + size > room:
            edge.sluice("queue", "move")
            edge.sluice.drain()
            waiting = 0
        waiting += size

    with edge.connect() as connection:
        for size in sizes:
            make_room(size)
            answers.is_success(merchant.event("ORDER_CREATE", order_of(size), connection=connection))
            sent += 1
            if size >= 8000 and size % 3 == 0:
                make_room(size)
                answer = merchant.catalog("PRODUCT_UPSERT", batch_of(size), orders.unique("k"), connection=connection)
                assert answer.status == 200, (size, answer)
                sent += 1
    edge.sluice("queue", "move")
    edge.sluice.drain()
    assert edge.sluice.accepted() == sent
