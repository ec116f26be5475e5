"""A request's traceparent is kept with its input and shown to people; an invalid one refuses nothing."""

import json
import os

import pytest

from harness import orders, paths, sign
from test_other_modules import with_lua

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


# -- the module in front decides ------------------------------------------------------------------

OTEL = os.environ.get("SLUICE_OTEL_MODULE")  # ngx_otel_module.so for this nginx


def with_otel():
    if OTEL is None:
        pytest.skip("SLUICE_OTEL_MODULE names no ngx_otel_module.so")
    return f"load_module {OTEL};\n"


def in_front(server, http="", log="$sluice_trace"):
    return CONFIG.replace("$sluice_result $sluice_trace", log).replace("server {", http + "server {" + server)


def kept_traces(edge):
    edge.sluice("queue", "move")
    return [record["trace"] for record in edge.sluice.json("queue", "peek")]


@pytest.mark.parametrize("sent", [[], [OTHER], ["nonsense"]], ids=["none sent", "one sent", "nonsense sent"])
def test_a_trace_that_lua_sets_is_kept_instead_of_the_sent_one(start_edge, new_merchant, sent):
    lua = f"rewrite_by_lua_block {{ ngx.req.set_header('traceparent', '{TRACE}') }}"
    edge = start_edge(in_front(lua), workers=1, main=with_lua())
    assert send_order(edge, new_merchant(edge, "acme"), "o1", sent).status == 200
    assert kept_traces(edge) == [TRACE]


@pytest.mark.parametrize("sent", [[], [OTHER], ["nonsense"]], ids=["none sent", "one sent", "nonsense sent"])
def test_a_trace_that_a_proxy_in_front_sets_is_kept(start_edge, new_merchant, sent):
    proxy = (f"server {{ listen 127.0.0.1:@PORT2@; location / {{ proxy_set_header traceparent {TRACE};"
             "proxy_pass http://127.0.0.1:@PORT@; } }")
    edge = start_edge(in_front("", proxy), workers=1)
    merchant = new_merchant(edge, "acme")
    edge.port, own = edge.port2, edge.port
    assert send_order(edge, merchant, "o1", sent).status == 200
    edge.port = own
    assert kept_traces(edge) == [TRACE]


@pytest.mark.parametrize("context", ["propagate", "inject", "extract", "ignore"])
def test_the_span_of_nginx_otel_is_kept(start_edge, new_merchant, context):
    """nginx-otel replaces the header where it injects; the event then belongs to nginx's own span."""
    otel = f"otel_exporter {{ endpoint 127.0.0.1:@PORT2@; }} otel_trace on; otel_trace_context {context};"
    edge = start_edge(in_front("", otel, "$sluice_trace 00-$otel_trace_id-$otel_span_id-01"), workers=1, main=with_otel())
    edge.expected_log.append("OTel export failure")  # no collector listens
    merchant = new_merchant(edge, "acme")
    for name, sent in {"without": [], "with": [OTHER], "nonsense": ["nonsense"]}.items():
        assert send_order(edge, merchant, name, sent).status == 200, name
    access = edge.folder / "access.log"
    lines = paths.wait_until(lambda: len(lines := access.read_text().splitlines()) == 3 and lines, "three lines")
    kept, spans = zip(*(line.split(" ") for line in lines))
    if context in ("propagate", "inject"):
        assert kept == spans
        assert (OTHER[3:35] in kept[1]) == (context == "propagate")
    else:
        assert kept == ("-", OTHER, "-")
    assert kept_traces(edge) == [None if trace == "-" else trace for trace in kept]
