"""`nginx -t`: every wrong argument is refused with file, line and what to do."""

import os
import pathlib
import re
import subprocess

import pytest

from harness import lmdb, paths
from harness.edge import Edge

STORE = "sluice_store @STORE@ thread_pool=sluice offload_pool=offload;"
SERVER = "server { listen 127.0.0.1:@PORT@; location / { sluice_ingest events; } }"

GOOD = [
    "sluice_store @STORE@;",
    "sluice_store @STORE@ map_size=64m;",
    "sluice_store @STORE@ map_size=1g sync=on;",
    STORE + "sluice_zone 5m;",
    STORE + "sluice_zone 16m;",
    STORE + "sluice_rate_limit 600 60s;",
    STORE + "sluice_rate_limit 1 1s;",
    STORE + "sluice_rate_limit 1000000 1d;",
    STORE + "sluice_rate_limit off;",
    STORE + "sluice_rate_limit 600 60s share=3;",
    STORE + "sluice_rate_limit 3 60s share=3 node=3;",
    STORE + "sluice_rate_limit 1000 60s node=1000 share=1000;",
    STORE + "sluice_rate_limit off share=3 node=1;",
    STORE + "sluice_failure_limit 100 10s;",
    STORE + "sluice_failure_limit 1 1d key=$http_x_client;",
    STORE + "sluice_failure_limit off;",
    STORE + "sluice_idempotency_ttl 1h;",
    STORE + "sluice_header_prefix X-LC-;",
    STORE + "sluice_header_prefix LC-;",
    STORE + "sluice_offload_threshold 1m;",
    STORE + "sluice_large_memory 100m;",
    STORE + "sluice_retry_after 5s;",
    STORE + "sluice_dry_run on;",
    STORE + "sluice_dry_run off;",
    STORE + "sluice_key_file @STORE@/master.key;",
]

# An invalid configuration, and a word that its message must contain besides file and line.
BAD = {
    "sluice_store;": "sluice_store",
    "sluice_store @STORE@ map_size=0;": "map_size",
    "sluice_store @STORE@ map_size=x;": "map_size",
    "sluice_store @STORE@ map_size=;": "map_size",
    "sluice_store @STORE@ map_size=-1g;": "map_size",
    "sluice_store @STORE@ map_size=1k;": "map_size",
    "sluice_store @STORE@ map_size=4095k;": "4m",
    "sluice_store @STORE@ sync=maybe;": "sync",
    "sluice_store @STORE@ thread_pool=nowhere;": "nowhere",
    "sluice_store @STORE@ thread_pool=;": "thread_pool",
    "sluice_store @STORE@ offload_pool=nowhere;": "nowhere",
    "sluice_store @STORE@ nonsense=1;": "nonsense",
    "sluice_store @STORE@ nonsense;": "nonsense",
    "sluice_store @STORE@ map_size=64m map_size=1g;": "twice",
    "sluice_store @STORE@ sync=on sync=off;": "twice",
    "sluice_store @STORE@ thread_pool=sluice thread_pool=offload;": "twice",
    STORE + STORE: "duplicate",
    "sluice_store @DIR@/missing;": "missing",
    "sluice_store @DIR@;": "format",
    STORE + "sluice_key_file @DIR@/nothing;": "nothing",
    STORE + "sluice_key_file @DIR@/empty;": "empty",
    STORE + "sluice_key_file @DIR@;": "key",
    STORE + "sluice_zone;": "sluice_zone",
    STORE + "sluice_zone x;": "sluice_zone",
    STORE + "sluice_zone 0;": "sluice_zone",
    STORE + "sluice_zone 8k;": "sluice_zone",
    STORE + "sluice_zone 1m; sluice_zone 1m;": "duplicate",
    STORE + "sluice_failure_limit;": "sluice_failure_limit",
    STORE + "sluice_failure_limit 5;": "expected \"off\", or N WINDOW",
    STORE + "sluice_failure_limit 0 1s;": "expected 1 to 268435455 requests",
    STORE + "sluice_failure_limit 5 0s;": "expected a window of 1s to 366d",
    STORE + "sluice_failure_limit off key=$uri;": "takes no further parameter",
    STORE + "sluice_failure_limit 5 1s key=;": "expected key=VALUE",
    STORE + "sluice_failure_limit 5 1s share=2;": "expected key=VALUE",
    STORE + "sluice_failure_limit 5 1s key=$uri key=$uri;": "it is given twice",
    STORE + "sluice_failure_limit off; sluice_failure_limit off;": "duplicate",
    STORE + "sluice_rate_limit;": "sluice_rate_limit",
    STORE + "sluice_rate_limit on;": "sluice_rate_limit",
    STORE + "sluice_rate_limit 5;": "sluice_rate_limit",
    STORE + "sluice_rate_limit 5 x;": "sluice_rate_limit",
    STORE + "sluice_rate_limit 5 0s;": "sluice_rate_limit",
    STORE + "sluice_rate_limit x 60s;": "sluice_rate_limit",
    STORE + "sluice_rate_limit -5 60s;": "sluice_rate_limit",
    STORE + "sluice_rate_limit 1.5 60s;": "sluice_rate_limit",
    STORE + "sluice_rate_limit 99999999999 60s;": "sluice_rate_limit",
    STORE + "sluice_rate_limit off 60s;": "sluice_rate_limit",
    STORE + "sluice_rate_limit 5 60s 7;": "sluice_rate_limit",
    STORE + "sluice_rate_limit off; sluice_rate_limit off;": "duplicate",
    STORE + "sluice_rate_limit share=3;": "sluice_rate_limit",
    STORE + "sluice_rate_limit 5 share=3;": "sluice_rate_limit",
    STORE + "sluice_rate_limit 5 60s share=;": "expected 1 to 1000 nodes",
    STORE + "sluice_rate_limit 5 60s share=0;": "expected 1 to 1000 nodes",
    STORE + "sluice_rate_limit 5 60s share=-3;": "expected 1 to 1000 nodes",
    STORE + "sluice_rate_limit 5 60s share=1.5;": "expected 1 to 1000 nodes",
    STORE + "sluice_rate_limit 5000 60s share=1001;": "expected 1 to 1000 nodes",
    STORE + "sluice_rate_limit 5 60s share=3 node=0;": "expected 1 to 1000 nodes",
    STORE + "sluice_rate_limit 5 60s share=3 node=4;": "node=4 is above share=3",
    STORE + "sluice_rate_limit 5 60s node=1;": "node=1 needs share=N",
    STORE + "sluice_rate_limit 5 60s share=3 share=3;": "twice",
    STORE + "sluice_rate_limit 5 60s share=3 node=1 node=1;": "twice",
    STORE + "sluice_rate_limit 2 60s share=3;": "2 requests cannot be shared by 3 nodes",
    STORE + "sluice_idempotency_ttl x;": "sluice_idempotency_ttl",
    STORE + "sluice_idempotency_ttl 0;": "sluice_idempotency_ttl",
    STORE + "sluice_idempotency_ttl;": "sluice_idempotency_ttl",
    STORE + 'sluice_header_prefix "";': "sluice_header_prefix",
    STORE + 'sluice_header_prefix "X SVC-";': "sluice_header_prefix",
    STORE + "sluice_header_prefix X-SVC:;": "sluice_header_prefix",
    STORE + "sluice_header_prefix X-É-;": "sluice_header_prefix",
    STORE + "sluice_header_prefix a b;": "sluice_header_prefix",
    STORE + "sluice_offload_threshold x;": "sluice_offload_threshold",
    STORE + "sluice_large_memory x;": "sluice_large_memory",
    STORE + "sluice_large_memory 0;": "sluice_large_memory",
    STORE + "sluice_retry_after x;": "sluice_retry_after",
    STORE + "sluice_retry_after 0;": "sluice_retry_after",
    STORE + "sluice_dry_run maybe;": "sluice_dry_run",
    STORE + "sluice_ingest events;": "not allowed here",
    STORE + "sluice_status;": "not allowed here",
}
BAD_SERVERS = {
    "server { location / { sluice_ingest; } }": "sluice_ingest",
    "server { location / { sluice_ingest nonsense; } }": "nonsense",
    "server { location / { sluice_ingest events catalog; } }": "sluice_ingest",
    "server { location / { sluice_ingest events; sluice_ingest catalog; } }": "duplicate",
    "server { sluice_store @STORE@; }": "not allowed here",
    "server { sluice_zone 5m; }": "not allowed here",
    "server { sluice_rate_limit off; }": "not allowed here",
    "server { sluice_idempotency_ttl 1h; }": "not allowed here",
    "server { sluice_key_file x; }": "not allowed here",
    "server { sluice_large_memory 1m; }": "not allowed here",
    "server { location / { sluice_status x; } }": "sluice_status",
    "server { location / { sluice_dry_run; } }": "sluice_dry_run",
}


@pytest.fixture(scope="module")
def edge():
    made = Edge("")
    (made.folder / "empty").touch(mode=0o600)
    made.expect_log(r"\[emerg\]")
    with made:
        yield made


def check(edge, http):
    edge.configure(http)
    code, said = edge.test_configuration()
    listing = sorted(str(path) for path in edge.store.rglob("*"))
    return code, said, listing


@pytest.mark.parametrize("text", GOOD)
def test_good_configuration(edge, text):
    before = sorted(str(path) for path in edge.store.rglob("*"))
    code, said, after = check(edge, text + SERVER)
    assert code == 0, said
    assert "[emerg]" not in said
    assert after == before, "nginx -t touched the store"


@pytest.mark.parametrize("text", [*BAD, *BAD_SERVERS])
def test_wrong_argument_names_file_and_line(edge, text):
    if text in BAD:
        word, http = BAD[text], text + "\n" + SERVER
    else:
        word, http = BAD_SERVERS[text], STORE + "\n" + text
    code, said, _ = check(edge, http)
    assert code == 1, said
    emerg = [line for line in said.splitlines() if "[emerg]" in line]
    assert emerg, said
    place = re.search(r"in " + re.escape(str(edge.conf)) + r":(\d+)", emerg[0])
    assert place, emerg[0]
    assert word in emerg[0], emerg[0]
    line = edge.conf.read_text().splitlines()[int(place.group(1)) - 1]
    assert "sluice" in line, f"names line {place.group(1)}: {line}"


def test_ingest_without_a_store(edge):
    code, said, _ = check(edge, SERVER)
    assert code == 1 and "sluice_store" in said and str(edge.conf) in said


def test_zone_too_small_names_the_size_to_set(edge):
    code, said, _ = check(edge, STORE + "sluice_zone 100k;" + SERVER)
    assert code == 1, said
    size = re.search(r"(\d+)([km]?)\b[^\n]*", said[said.index("sluice_zone") + 11 :])
    assert size, said
    wanted = re.findall(r"\b(\d+[kKmM])\b", said)
    assert wanted, said
    code, said, _ = check(edge, STORE + f"sluice_zone {wanted[-1]};" + SERVER)
    assert code == 0, said


def test_sync_off_warns(edge):
    code, said, _ = check(edge, "sluice_store @STORE@ sync=off;" + SERVER)
    assert code == 0
    assert "[warn]" in said and "sync" in said


def test_store_that_the_user_cannot_read(edge):
    edge.values["USER"] = "user nobody nogroup;"
    try:
        code, said, _ = check(edge, STORE + SERVER)
    finally:
        edge.values["USER"] = "user root;"
    assert code == 1 and "nobody" in said and str(edge.store) in said, said


def test_key_file_that_others_can_read(edge):
    key = edge.store / "master.key"
    mode = key.stat().st_mode
    key.chmod(0o644)
    try:
        code, said, _ = check(edge, STORE + SERVER)
    finally:
        os.chmod(key, mode)
    assert code == 1 and "master.key" in said, said


def test_another_lmdb_is_refused_by_name(edge):
    """Its file, and its library: the workers would not open the queue, and answer 503."""
    data = edge.store / "queue" / "data.mdb"
    sound = lmdb.overwrite(data, lmdb.page_of_10())
    try:
        code, said, _ = check(edge, STORE + SERVER)
    finally:
        data.write_bytes(sound)
    assert code == 1 and "file of LMDB 1.0" in said and str(data) in said and "backup" not in said, said
    edge.environment = lmdb.library_of(edge.folder, "1.0.0")
    try:
        code, said, _ = check(edge, STORE + SERVER)
    finally:
        edge.environment = {}
    assert code == 1 and "LMDB 1.0.0" in said and str(edge.conf) in said, said
    assert check(edge, STORE + SERVER)[0] == 0


FOREIGN = """
/* As a TLS library inside nginx that lacks some functions of OpenSSL: its own are found first. */
#define _GNU_SOURCE
#include <dlfcn.h>
void* EVP_CIPHER_CTX_new(void) { return ((void* (*)(void))dlsym(RTLD_NEXT, "EVP_CIPHER_CTX_new"))(); }
"""


def test_a_part_of_libcrypto_inside_nginx_is_refused_by_name(edge):
    """Structures of one library would reach functions of the other, and nginx would end by a signal."""
    if "libcrypto" not in subprocess.run(["ldd", paths.NGINX], capture_output=True, text=True, check=True).stdout:
        pytest.skip("this nginx has a libcrypto inside, which the linker finds before a preloaded one")
    source, library, tracer = (edge.folder / name for name in ("foreign.c", "libcrypto.so.81", "tracer.so"))
    source.write_text(FOREIGN)
    for shared in (library, tracer):
        subprocess.run(["cc", "-shared", "-fPIC", source, "-o", shared], check=True)
    try:
        edge.environment = {"LD_PRELOAD": str(tracer)}
        traced, said, _ = check(edge, STORE + SERVER)
        assert traced == 0, said  # it passes the calls on
        edge.environment = {"LD_PRELOAD": str(library)}
        code, said, _ = check(edge, STORE + SERVER)
        without = check(edge, "server { listen 127.0.0.1:@PORT@; }")[0]
    finally:
        edge.environment = {}
    assert code == 1 and without == 0, said
    assert f'EVP_CIPHER_CTX_new() of "{library}"' in said and 'libcrypto.so.' in said and str(edge.conf) + ":" in said, said


EARLY = "client_body_early_read"
NGINX_HAS_EARLY = EARLY.encode() in pathlib.Path(paths.NGINX).read_bytes()


@pytest.mark.skipif(not NGINX_HAS_EARLY, reason="nginx before 1.31.5")
@pytest.mark.parametrize("http, server, level", [
    (EARLY + " 1;", "", "warn"),
    ("", EARLY + " $http_expect;", "warn"),
    (EARLY + " 1;", EARLY + " 0;", None),
    (EARLY + ' "" 0;', "", None),
    ("", "", None),
    (EARLY + " 1;", "client_max_body_size 0;", "emerg"),
    ("", EARLY + " 1; client_max_body_size 0;", "emerg"),
    ("", "client_max_body_size 0;", None),
])
def test_bodies_that_nginx_reads_early_are_told(edge, http, server, level):
    """nginx would read them by the limits of the server, before it knows location and sender."""
    location = "location / { client_max_body_size 1m; sluice_ingest events; }"
    code, said, _ = check(edge, f"{STORE} {http} server {{ listen 127.0.0.1:@PORT@; {server} {location} }}")
    assert code == (1 if level == "emerg" else 0), said
    told = [line for line in said.splitlines() if EARLY in line]
    assert [f"[{level}]" in line and str(edge.conf) + ":" in line for line in told] == ([True] if level else []), said


@pytest.mark.skipif(not NGINX_HAS_EARLY, reason="nginx before 1.31.5")
@pytest.mark.parametrize("server, code", [(EARLY + " 1;", 1), (EARLY + " 0;", 0)])
def test_webhooks_that_nginx_reads_early_are_refused(edge, server, code):
    location = "location / { client_max_body_size 1m; client_body_buffer_size 1m; sluice_ingest shopify; }"
    ended, said, _ = check(edge, f"{STORE} server {{ listen 127.0.0.1:@PORT@; {server} {location} }}")
    assert ended == code and (EARLY in said) == bool(code), said


def test_without_the_module_in_use_nothing_is_needed(edge):
    code, said, _ = check(edge, "server { listen 127.0.0.1:@PORT@; }")
    assert code == 0, said
