"""U1: a request's traceparent is kept with its input and shown to people; an invalid one refuses nothing."""

import json

from harness import orders, paths, sign

CONFIG = """
    sluice_store @STORE@ map_size=1g thread_pool=sluice offload_pool=offload;
    log_format trace "$sluice_result $sluice_trace";
    server {
        listen 127.0.0.1:@PORT@;
        access_log @DIR@/access.log trace;
        location = /event/ecomm { sluice_ingest events; }
        location = /product-data { sluice_ingest catalog; }
    }
"""
TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
OTHER = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"
KEPT = {"alone": [TRACE], "of a later version": ["cc" + TRACE[2:] + "-more"]}
IGNORED = {
    "absent": [],
    "twice": [TRACE, OTHER],
    "twice the same": [TRACE, TRACE],
    "in upper case": [TRACE.upper()],
    "without a trace": ["00-" + "0" * 32 + "-00f067aa0ba902b7-01"],
    "cut": [TRACE[:-1]],
    "empty": [""],
}


def headers_with(headers, traces):
    return headers + [("traceparent", trace) for trace in traces]


def send_order(edge, merchant, name, traces):
    body = sign.encode(orders.order(name))
    headers = sign.event_headers(merchant.shop, merchant.secret, "ORDER_CREATE", body)
    return edge.request("POST", sign.EVENTS, headers_with(headers, traces), body)


def test_u1_the_trace_of_an_order_is_shown_and_an_invalid_one_ignored(start_edge, new_merchant):
    edge = start_edge(CONFIG, workers=1)
    merchant = new_merchant(edge, "acme")
    wanted = []
    for name, traces in {**KEPT, **IGNORED}.items():
        assert send_order(edge, merchant, name, traces).status == 200, name
        wanted.append(TRACE if name in KEPT else None)
    batch = sign.encode({"products": [{"title": "no id"}]})
    headers = sign.catalog_headers(merchant.shop, merchant.secret, "PRODUCT_UPSERT", batch, "key")
    assert edge.request("POST", sign.CATALOG, headers_with(headers, [OTHER]), batch).status == 422
    batch = sign.encode({"products": [{"platform_product_id": "p", "title": "A"}]})
    headers = sign.catalog_headers(merchant.shop, merchant.secret, "PRODUCT_UPSERT", batch, "key")
    assert edge.request("POST", sign.CATALOG, headers_with(headers, [OTHER]), batch).status == 200

    access = edge.folder / "access.log"
    lines = paths.wait_until(lambda: len(lines := access.read_text().splitlines()) == 11 and lines, "eleven lines")
    assert lines == [f"accepted {trace or '-'}" for trace in wanted] + [f"invalid {OTHER}", f"accepted {OTHER}"]
    peeked = edge.sluice.json("queue", "peek")
    assert [record["trace"] for record in peeked] == [*wanted, OTHER]
    edge.sluice("worker", "--until-empty")
    for name, trace in zip({**KEPT, **IGNORED}, wanted):
        (event,) = edge.sluice.json("explain", name, "--shop", merchant.shop)["events"]
        assert event["trace"] == trace, name
        assert (TRACE in edge.sluice("explain", name, "--shop", merchant.shop)) == (trace is not None)
    assert "traceparent" not in edge.log()


def test_u1_a_dead_letter_shows_its_trace(start_edge, new_merchant):
    edge = start_edge(CONFIG, workers=1)
    merchant = new_merchant(edge, "acme")
    batch = sign.encode({"products": [{"platform_product_id": "p", "title": "A" * 300_000}]})
    headers = sign.catalog_headers(merchant.shop, merchant.secret, "PRODUCT_UPSERT", batch, "key")
    assert edge.request("POST", sign.CATALOG, headers_with(headers, [TRACE]), batch).status == 200
    (body,) = (edge.store / "queue" / "bulk").glob("*.bulk")
    body.unlink()
    edge.sluice("worker", "--until-empty")
    (letter,) = edge.sluice.json("dead", "list")
    assert json.loads(edge.sluice("dead", "show", str(letter["seq"]), "--format", "json"))["trace"] == TRACE
