"""Other modules in the same nginx must not change a sender's answer, nor lose or double an event.

What each of them means here is written in docs/other-modules.md."""

import pathlib
import re
import subprocess

import pytest

from harness import answers, http1, orders, paths, sign
from harness.sign import EVENTS
from harness.threads import at_once
from test_configuration import EARLY, NGINX_HAS_EARLY
from test_events_transport import sized

MODULES = pathlib.Path("/usr/lib/nginx/modules")  # as Debian packages them
BATCH = {"products": [{"platform_product_id": "p", "title": "T"}]}

HEAD = """
    sluice_store @STORE@ map_size=1g thread_pool=sluice offload_pool=offload;
    sluice_rate_limit 100000000 60s;
"""
ENDPOINTS = """
        location = /event/ecomm { client_max_body_size 1m; sluice_ingest events; }
        location = /product-data { client_max_body_size 8m; sluice_ingest catalog; }
        location /status/ { sluice_status; }
"""


def config(server="", http=""):
    return HEAD + http + "server { listen 127.0.0.1:@PORT@ reuseport;" + server + ENDPOINTS + "}"


def loaded(*names):
    """The lines that load them; a skip where this nginx cannot."""
    files = [MODULES / name for name in names]
    if paths.NGINX != "/usr/sbin/nginx" or not all(file.exists() for file in files):
        pytest.skip("needs Debian's nginx with " + ", ".join(names))
    return "".join(f"load_module {file};\n" for file in files)


def with_lua():
    version = subprocess.run([paths.NGINX, "-V"], capture_output=True, text=True, check=True).stderr
    if re.search(r"--add-module=\S*lua", version):
        return ""  # OpenResty
    return loaded("ndk_http_module.so", "ngx_http_lua_module.so")


def stored(edge):
    edge.sluice("queue", "move")
    return edge.sluice.accepted()


def send(merchant, headers=(), body=None, target=EVENTS):
    body = sign.encode(orders.order()) if body is None else body
    signed = sign.event_headers(merchant.shop, merchant.secret, "ORDER_CREATE", body)
    return merchant.edge.request("POST", target, signed + list(headers), body)


def is_refused(answer):
    """503: the sender tries again."""
    assert answer.status == 503 and answer.body == b"" and answer.header("Retry-After") == "1", answer


def metric(edge, name):
    """The sum of all series of that name."""
    text = edge.request("GET", "/status/metrics", []).body.decode()
    return sum(float(value) for value in re.findall(rf"^{name}(?:{{[^}}]*}})? (\S+)$", text, re.M))


# Conditions and ranges ----------------------------------------------------------------------------

CONDITIONS = [
    [("If-Match", '"x"')],
    [("If-None-Match", "*")],
    [("If-Unmodified-Since", "Sat, 01 Jan 2000 00:00:00 GMT")],
    [("If-Modified-Since", "Sat, 01 Jan 2050 00:00:00 GMT")],
    [("Range", "bytes=0-0")],
    [("Range", "bytes=900-"), ("If-Range", '"x"')],
]


@pytest.mark.parametrize("condition", CONDITIONS, ids=lambda pairs: pairs[0][0])
def test_conditions_are_not_about_events(edge, merchant, condition):
    answers.is_success(send(merchant, condition))
    body = sign.encode(BATCH)
    signed = sign.catalog_headers(merchant.shop, merchant.secret, "PRODUCT_UPSERT", body, orders.unique("k"))
    answers.catalog_success(edge.request("POST", sign.CATALOG, signed + condition, body), 1)


@pytest.mark.parametrize("condition", CONDITIONS, ids=lambda pairs: pairs[0][0])
def test_conditions_are_not_about_figures(start_edge, condition):
    edge = start_edge(config())
    for name in ("", "status.json", "metrics", "health", "ready"):
        answer = edge.request("GET", "/status/" + name, condition)
        assert answer.status == 200 and answer.body, (name, answer)


# Bodies that another module has read --------------------------------------------------------------

SIZES = [700, 20000, 70000, 300000]  # in one read; beyond client_body_buffer_size; offloaded; in a bulk file


def is_taken(edge, merchant, target=EVENTS):
    """Events of every size, with and without Content-Length, are stored once and as sent."""
    for size in SIZES:
        before = stored(edge)
        body = sized(size)
        answers.is_success(send(merchant, body=body, target=target))
        signed = sign.event_headers(merchant.shop, merchant.secret, "ORDER_UPDATE", body)
        with edge.connect() as connection:
            connection.send(http1.head("POST", target, signed + [("Transfer-Encoding", "chunked")]))
            connection.send(http1.chunked(body, 5000))
            answers.is_success(connection.read())
        assert stored(edge) == before + 2
        (record,) = edge.sluice.json("queue", "peek", "--from", before + 1, "--limit", 1)
        assert record["body"].encode() == body


MIRROR = ("mirror /copy; location = /copy { internal; proxy_pass http://127.0.0.1:@PORT2@; }",
          "server { listen 127.0.0.1:@PORT2@; location / { return 204; } }")


def test_mirror(start_edge, new_merchant):
    """Inherited from the server: the copy's location inherits it as well."""
    edge = start_edge(config(*MIRROR))
    is_taken(edge, new_merchant(edge, "acme"))
    body = sign.encode(BATCH)
    merchant = new_merchant(edge, "bolt")
    answers.catalog_success(merchant.catalog("PRODUCT_UPSERT", body, "k"), 1)


@pytest.mark.parametrize("around", [("", ""), MIRROR], ids=["alone", "mirror"])
def test_a_request_without_a_body_is_answered_as_such(start_edge, new_merchant, around):
    """Even after a module that reads bodies first: nginx leaves no count of bytes where none are to come."""
    edge = start_edge(config(*around))
    merchant = new_merchant(edge, "acme")
    event = sign.event_headers(merchant.shop, merchant.secret, "ORDER_CREATE", b"")
    batch = sign.catalog_headers(merchant.shop, merchant.secret, "PRODUCT_UPSERT", b"", "k")
    for target, headers in ((EVENTS, event), (sign.CATALOG, batch)):
        got = [edge.request(method, target, headers, length=False).status for method in ("GET", "PUT", "POST")]
        assert got == [405, 405, 400], (target, got)
        assert edge.request("POST", target, headers, length=True).status == 400
    unsigned = [name for name in event if name[0] != "X-Signature"]
    assert edge.request("POST", EVENTS, unsigned, length=False).status == 401
    answers.is_success(send(merchant))


@pytest.mark.parametrize("size", ["8k", "1m"])
def test_lua_reads_the_body_first(start_edge, new_merchant, size):
    server = f"client_body_buffer_size {size}; access_by_lua_block {{ ngx.req.read_body() }}"
    edge = start_edge(config(server), main=with_lua())
    is_taken(edge, new_merchant(edge, "acme"))


def test_lua_throws_the_body_away(start_edge, new_merchant):
    edge = start_edge(config("access_by_lua_block { ngx.req.discard_body() }"), main=with_lua())
    edge.expect_log("sluice_ingest cannot take")
    merchant = new_merchant(edge, "acme")
    for size in SIZES:
        is_refused(send(merchant, body=sized(size)))
    assert stored(edge) == 0
    assert len(re.findall("sluice_ingest cannot take", edge.log())) in (1, 2)  # once a minute and worker


def test_lua_changes_the_body(start_edge, new_merchant):
    """An unsigned event is not accepted."""
    edge = start_edge(config("access_by_lua_block { ngx.req.read_body() ngx.req.set_body_data('{}') }"),
                      main=with_lua())
    answers.is_unauthorized(send(new_merchant(edge, "acme")))


WAF = """
    modsecurity on;
    modsecurity_rules '
        SecRuleEngine On
        SecRequestBodyAccess On
        SecRequestBodyLimit 8388608
        SecRequestBodyNoFilesLimit 8388608
        SecResponseBodyAccess On
        SecResponseBodyMimeType text/plain application/json
        SecRule REQUEST_HEADERS:X-Bad "@streq 1" "id:1,phase:1,deny,status:403"
        SecRule REQUEST_BODY "@contains forbidden-word" "id:2,phase:2,deny,status:403"
        SecRule RESPONSE_STATUS "@streq 401" "id:3,phase:3,deny,status:418"
    ';
"""


def test_firewall_reads_the_body_first(start_edge, new_merchant):
    edge = start_edge(config(WAF), main=loaded("ngx_http_modsecurity_module.so"))
    edge.expect_log("ModSecurity")
    merchant = new_merchant(edge, "acme")
    is_taken(edge, merchant)
    before = stored(edge)
    assert send(merchant, [("X-Bad", "1")]).status == 403
    assert send(merchant, body=sign.encode(orders.order("forbidden-word"))).status == 403
    assert stored(edge) == before
    # One that replaces an answer has its way.
    assert send(merchant, body=b"{}", headers=[("X-Signature", "0" * 64)]).status == 418


@pytest.mark.parametrize("kept", ["on", "clean"])
def test_client_body_in_file_only(start_edge, new_merchant, kept):
    edge = start_edge(config(f"client_body_in_file_only {kept};"))
    is_taken(edge, new_merchant(edge, "acme"))


@pytest.mark.location_limits
@pytest.mark.parametrize("length", [True, False], ids=["length", "chunked"])
def test_a_body_that_a_proxy_passed_on_as_it_came(start_edge, new_merchant, length):
    """proxy_request_buffering off: nginx kept no copy of the streamed body, and the sender retries."""
    edge = start_edge(config("""
        location = /down {
            error_page 502 504 = @fallback; client_body_buffer_size 8k; proxy_http_version 1.1;
            proxy_request_buffering off; proxy_pass http://127.0.0.1:@PORT2@;
        }
        location @fallback { client_max_body_size 1m; sluice_ingest events; }
    """, "server { listen 127.0.0.1:@PORT2@; client_max_body_size 8m; location / { return 444; } }"))
    edge.expect_log("sluice_ingest cannot take|upstream prematurely closed|reset by peer|writev|send\\(\\) failed")
    merchant = new_merchant(edge, "acme")
    for size in (70000, 300000):
        body = sized(size)
        headers = sign.event_headers(merchant.shop, merchant.secret, "ORDER_CREATE", body)
        headers.append(("Content-Length", str(size)) if length else ("Transfer-Encoding", "chunked"))
        with edge.connect() as connection:
            connection.send(http1.head("POST", "/down", headers) + (body if length else http1.chunked(body, 9000)))
            is_refused(connection.read())
    assert stored(edge) == 0


def test_client_body_in_single_buffer(start_edge, new_merchant):
    edge = start_edge(config("client_body_in_single_buffer on; client_body_buffer_size 1m;"))
    is_taken(edge, new_merchant(edge, "acme"))


# Restricted senders -------------------------------------------------------------------------------


def test_auth_request(start_edge, new_merchant):
    edge = start_edge(config("""
        auth_request /auth;
        location = /auth { internal; auth_request off; if ($http_x_let = "") { return 403; } return 204; }
    """))
    edge.expect_log("auth request unexpected status|access forbidden")
    merchant = new_merchant(edge, "acme")
    assert send(merchant).status == 403
    answers.is_success(send(merchant, [("X-Let", "1")]))
    assert stored(edge) == 1


def test_satisfy_any(start_edge, new_merchant):
    edge = start_edge(config("""
        satisfy any; deny all; auth_request /auth;
        location = /auth { internal; allow all; auth_request off; if ($http_x_let = "") { return 403; } return 204; }
    """))
    merchant = new_merchant(edge, "acme")
    assert send(merchant).status == 403
    answers.is_success(send(merchant, [("X-Let", "1")]))
    assert stored(edge) == 1


LIMIT = "limit_req_zone $sluice_shop zone=shops:1m rate=1r/m;"


def test_limit_req_by_shop(start_edge, new_merchant):
    """$sluice_shop is known before the content phase, and names the shop as its header does."""
    edge = start_edge(config("limit_req zone=shops burst=1 nodelay; limit_req_status 429;", LIMIT))
    edge.expect_log("limiting requests")
    one, other = new_merchant(edge, "acme-with-a-long-name"), new_merchant(edge, "acme-with-a-longer-name")
    for merchant in (one, other):
        assert [send(merchant).status for _ in range(4)] == [200, 200, 429, 429]
    # An unknown shop counts as one sender by its first characters: no secret is kept or logged.
    stranger = [("X-SVC-SHOP-ID", "deadbeef" + "0" * 20), ("X-SVC-TOPIC", "ORDER_CREATE"), ("X-Signature", "0" * 64)]
    got = [edge.request("POST", EVENTS, stranger, b"{}").status for _ in range(4)]
    assert got == [401, 401, 429, 429]


def test_head_variables_before_the_handler(start_edge, new_merchant):
    early = """
        set $early "$sluice_shop/$sluice_topic/$sluice_result/$sluice_seq";
        add_header X-Early $early always;
    """
    edge = start_edge(config().replace("sluice_ingest events;", early + "sluice_ingest events;")
                      .replace("sluice_status;", early + "sluice_status;"))
    merchant = new_merchant(edge, "acme")
    assert send(merchant).header("X-Early") == f"{merchant.shop}/ORDER_CREATE//"
    unknown = [("X-SVC-SHOP-ID", "s3cr3t-" + "0123456789abcdef"), ("X-SVC-TOPIC", "HAX")]
    assert edge.request("POST", EVENTS, unknown, b"").header("X-Early") == "s3cr3t-0...///"
    assert edge.request("GET", "/status/health", []).header("X-Early") == "///"


# Ways to a location -------------------------------------------------------------------------------

BIG = """
        location = /small/event/ecomm { client_max_body_size 1k; error_page 413 = @big; sluice_ingest events; }
        location = /small/product-data { client_max_body_size 1k; error_page 413 = @big-batch; sluice_ingest catalog; }
        location = /small/app { client_max_body_size 1k; error_page 413 = @big; proxy_pass http://127.0.0.1:1; }
        location @big { client_max_body_size 1m; sluice_ingest events; }
        location @big-batch { client_max_body_size 1m; sluice_ingest catalog; }
"""


@pytest.mark.skipif(not NGINX_HAS_EARLY, reason="nginx before 1.31.5")
@pytest.mark.parametrize("length", [True, False], ids=["Content-Length", "chunked"])
def test_a_body_that_nginx_reads_early_meets_both_limits(start_edge, new_merchant, length):
    """The server has a limit before the body is read, the location one after."""
    edge = start_edge(config(f"{EARLY} 1; client_max_body_size 8k; location = /small {{ client_max_body_size 4k; "
                             "sluice_ingest events; }"))
    edge.expect_log("client intended to send too large")
    merchant = new_merchant(edge, "acme")
    for size, status in ((3000, 200), (6000, 413), (9000, 413)):
        body = sized(size)
        headers = sign.event_headers(merchant.shop, merchant.secret, "ORDER_CREATE", body)
        headers.append(("Content-Length", str(size)) if length else ("Transfer-Encoding", "chunked"))
        with edge.connect() as connection:
            connection.send(http1.head("POST", "/small", headers) + (body if length else http1.chunked(body, 1000)))
            assert connection.read().status == status, size
    assert stored(edge) == 1


@pytest.mark.location_limits
@pytest.mark.parametrize("whole", [True, False], ids=["with the head", "later"])
@pytest.mark.parametrize("length", [True, False], ids=["Content-Length", "chunked"])
@pytest.mark.parametrize("target", ["/small/event/ecomm", "/small/app", "/small/product-data"])
def test_too_large_is_the_truth(start_edge, new_merchant, target, length, whole):
    """error_page 413 = @big: the body, or what came of it, is thrown away."""
    edge = start_edge(config(BIG))
    edge.expect_log("client intended to send too large")
    merchant = new_merchant(edge, "acme")
    body = sized(5000)
    sender = sign.catalog_headers if "product" in target else sign.event_headers
    last = ["k"] if "product" in target else []
    topic = "PRODUCT_UPSERT" if "product" in target else "ORDER_CREATE"
    headers = sender(merchant.shop, merchant.secret, topic, body, *last)
    headers.append(("Content-Length", str(len(body))) if length else ("Transfer-Encoding", "chunked"))
    payload = body if length else http1.chunked(body, 1000)
    with edge.connect() as connection:
        connection.send(http1.head("POST", target, headers) + (payload if whole else b""))
        if not whole:
            connection.send(payload[:1500])
            connection.send(payload[1500:])
        answer = connection.read()
    assert answer.status == 413, answer
    if "product" in target:
        answers.catalog_error(answer, 413)
    assert stored(edge) == 0
    assert metric(edge, "sluice_requests_total") <= 1


WAYS = """
        location = /down { error_page 502 = @fallback; client_body_buffer_size 1k; proxy_pass http://127.0.0.1:1; }
        location = /static { error_page 404 405 = @fallback; root /; }
        location = /forced { error_page 404 =200 @fallback; return 404; }
        location = /kept { error_page 404 @fallback; return 404; }
        location = /address { error_page 404 = /event/ecomm; return 404; }
        location = /sent-on { proxy_pass http://127.0.0.1:@PORT2@/named; }
        location = /sent-on-address { proxy_pass http://127.0.0.1:@PORT2@/address; }
        location = /small { error_page 404 405 = @small; root /; }
        location @small { client_max_body_size 1k; sluice_ingest events; }
        location = /authorized { auth_request /event/ecomm; proxy_pass http://127.0.0.1:@PORT2@/ok; }
        location = /mirrored { mirror /event/ecomm; proxy_pass http://127.0.0.1:@PORT2@/ok; }
        location @fallback { client_max_body_size 1m; sluice_ingest events; }
"""
BEHIND = """
    server {
        listen 127.0.0.1:@PORT2@;
        location = /ok { return 204; }
        location = /named { add_header X-Accel-Redirect @fallback; return 200; }
        location = /address { add_header X-Accel-Redirect /event/ecomm; return 200; }
    }
"""


@pytest.fixture(name="ways")
def ways_fixture(start_edge):
    edge = start_edge(config(WAYS, BEHIND))
    edge.expect_log("sluice_ingest cannot take|connect\\(\\) failed|auth request unexpected status")
    return edge


@pytest.mark.parametrize("target", ["/down", "/static", "/sent-on"])
def test_whole_requests_are_taken_on_every_way(ways, new_merchant, target):
    is_taken(ways, new_merchant(ways, "acme"), target)


@pytest.mark.parametrize("target", ["/forced", "/kept", "/address", "/sent-on-address"])
def test_what_is_not_whole_is_refused_for_now(ways, new_merchant, target):
    """Its method is lost, or its status is settled: never a word that means success, never 404."""
    merchant = new_merchant(ways, "acme")
    is_refused(send(merchant, target=target))
    is_refused(send(merchant, body=sized(70000), target=target))
    assert stored(ways) == 0
    assert re.search(r"\[error\].* sluice_ingest cannot take", ways.log())


def test_the_limit_of_the_last_location_counts(ways, new_merchant):
    assert send(new_merchant(ways, "acme"), body=sized(5000), target="/small").status == 413
    assert stored(ways) == 0


def test_subrequests_store_nothing(ways, new_merchant):
    merchant = new_merchant(ways, "acme")
    assert send(merchant, target="/authorized").status == 500  # auth_request: neither yes nor no
    assert send(merchant, target="/mirrored").status == 204
    assert stored(ways) == 0
    assert re.search(r"\[error\].* sluice_ingest cannot take", ways.log())


# Nothing twice, nothing added ---------------------------------------------------------------------

LOG = """
    log_format each '$request_method $uri [$sluice_receipt] '
                    '[$sluice_result] [$sluice_records] [$sluice_shop]';
"""
WRITTEN = "access_log @DIR@/access.log each;"


def logged(edge, count):
    path = edge.folder / "access.log"
    paths.wait_until(lambda: path.exists() and path.read_text().count("\n") >= count, "the access log")
    return path.read_text().splitlines()


@pytest.mark.parametrize("server,lines", [
    ("log_subrequest on; auth_request /auth; location = /auth { auth_request off; return 204; }", 2),
    ("log_subrequest on; mirror /copy; location = /copy { proxy_pass http://127.0.0.1:@PORT2@; }", 2),
    ("log_subrequest on; addition_types *; add_after_body /added;"
     "location = /added { return 200 more; }", 2),
    ("post_action /after; location = /after { proxy_pass http://127.0.0.1:@PORT2@; }", 1),
    ("post_action /event/ecomm;", 1),
], ids=["auth_request", "mirror", "add_after_body", "post_action", "post_action to itself"])
def test_an_event_counts_once(start_edge, new_merchant, server, lines):
    behind = "server { listen 127.0.0.1:@PORT2@; access_log off; location / { return 204; } }"
    edge = start_edge(config(WRITTEN + server, LOG + behind))
    edge.expect_log("sluice_ingest cannot take")
    merchant = new_merchant(edge, "acme")
    answers.is_success(send(merchant))
    log = logged(edge, lines)
    assert [line for line in log if "[accepted]" in line] == [
        line for line in log if line.endswith(f"[accepted] [1] [{merchant.shop}]")]
    assert len([line for line in log if "[accepted]" in line]) == 1, log
    assert [" [-] [-] [-] [" in line for line in log] == ["[accepted]" not in line for line in log], log
    assert stored(edge) == 1
    assert metric(edge, "sluice_requests_total") == 1
    assert metric(edge, "sluice_records_accepted_total") == 1


ADDED = [
    "sub_filter_types *; sub_filter_once off; sub_filter success failure; sub_filter a b;",
    "addition_types *; add_before_body /added; add_after_body /added; location = /added { return 200 more; }",
    "ssi on; ssi_types *;",
    "charset utf-8; charset_types *;",
]


@pytest.mark.parametrize("server", ADDED, ids=lambda text: text.split()[0])
def test_nothing_is_added_to_an_answer(start_edge, new_merchant, server):
    edge = start_edge(config(server))
    merchant = new_merchant(edge, "acme")
    with edge.connect() as connection:
        for _ in range(3):
            answer = merchant.event("ORDER_CREATE", orders.order(), connection=connection)
            answers.is_success(answer)
            assert answer.header("Content-Length") == "7"
        body = sign.encode(BATCH)
        answer = merchant.catalog("PRODUCT_UPSERT", body, orders.unique("k"), connection=connection)
        answers.catalog_success(answer, 1)
        answers.event_errors(merchant.event("ORDER_CREATE", {}, connection=connection))


def test_a_script_does_not_change_an_answer(start_edge, new_merchant):
    edge = start_edge(config("header_filter_by_lua_block { ngx.header.content_length = nil }"
                             "body_filter_by_lua_block { ngx.arg[1] = 'other' }"), main=with_lua())
    merchant = new_merchant(edge, "acme")
    for _ in range(2):
        answer = send(merchant)
        answers.is_success(answer)
        assert answer.header("Content-Length") == "7"


def test_compression_still_works(start_edge, new_merchant):
    edge = start_edge(config("gzip on; gzip_min_length 1; gzip_types *; gzip_http_version 1.0;"))
    answer = send(new_merchant(edge, "acme"), [("Accept-Encoding", "gzip")])
    assert answer.status == 200 and answer.header("Content-Encoding") == "gzip"
    import gzip

    assert gzip.decompress(answer.body) == b"success"


def test_many_at_once_with_a_mirror(start_edge, new_merchant):
    edge = start_edge(config("mirror /copy; location = /copy { internal; proxy_pass http://127.0.0.1:@PORT2@; }",
                             "server { listen 127.0.0.1:@PORT2@; location / { return 204; } }"))
    merchant = new_merchant(edge, "acme")
    failures = []

    def run(_):
        with edge.connect() as connection:
            for _ in range(25):
                answer = merchant.event("ORDER_CREATE", orders.order(), connection=connection)
                if answer.status != 200:
                    failures.append(answer)

    at_once(8, run)
    assert not failures and stored(edge) == 200
