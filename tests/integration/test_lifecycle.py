"""Signals, users, modes: start, reload, quit, stop, binary upgrade, a store that goes away."""

import os
import shutil
import signal
import subprocess
import threading
import time

import pytest

from harness import answers, http1, orders, paths, sign
from harness.edge import children

CONFIG = """
    sluice_store @STORE@ map_size=1g thread_pool=sluice offload_pool=offload;
    sluice_rate_limit off;

    server {
        listen 127.0.0.1:@PORT@;
        add_header X-Worker $pid always;
        add_header X-Seq $sluice_seq always;
        add_header X-Receipt $sluice_receipt always;
        location = /event/ecomm { sluice_ingest events; }
        location = /product-data { sluice_ingest catalog; client_max_body_size 128m; }
        location = /which { return 204; }
        location /status { sluice_status; }
    }
"""


def success(answer):
    assert (answer.status, answer.body) == (200, b"success"), answer


class Load(threading.Thread):
    """Sends events until it is stopped; records each connection error or unexpected answer."""

    def __init__(self, merchant):
        super().__init__()
        self.merchant = merchant
        self.on = True
        self.accepted = []
        self.odd = []

    def run(self):
        connection = None
        while self.on:
            body = sign.encode(orders.order(orders.unique(f"load-{id(self)}")))
            try:
                connection = connection or self.merchant.edge.connect()
                fresh = connection.socket.fileno()
                answer = self.merchant.event("ORDER_CREATE", body, connection=connection)
                if answer.status == 200:
                    self.accepted.append(body)
                else:
                    self.odd.append(answer)
                if answer.header("Connection") == "close":
                    connection.close()
                    connection = None
                assert fresh
            except OSError as error:
                # A kept-alive connection may be closed by a quitting worker just when we send.
                if not isinstance(error, (http1.Closed, ConnectionResetError, BrokenPipeError)):
                    self.odd.append(error)
                if connection:
                    connection.close()
                connection = None
        if connection:
            connection.close()


def stored_bodies(edge):
    return [record["body"].encode() for record in edge.sluice.queued()]


def test_reload_under_load_loses_nothing(start_edge, new_merchant):
    edge = start_edge(CONFIG)
    merchant = new_merchant(edge, "acme")
    loads = [Load(merchant) for _ in range(4)]
    for load in loads:
        load.start()
    for _ in range(5):
        edge.reload()
    for load in loads:
        load.on = False
        load.join()
    accepted = [body for load in loads for body in load.accepted]
    assert len(accepted) > 50
    assert [odd for load in loads for odd in load.odd] == []
    stored = stored_bodies(edge)
    assert set(accepted) <= set(stored)
    assert len(stored) == len(set(stored))


@pytest.mark.parametrize("number", [signal.SIGQUIT, signal.SIGTERM, signal.SIGINT], ids=lambda s: s.name)
def test_stop_under_load_keeps_acknowledged_events(start_edge, new_merchant, number):
    edge = start_edge(CONFIG)
    merchant = new_merchant(edge, "acme")
    loads = [Load(merchant) for _ in range(4)]
    for load in loads:
        load.start()
    paths.wait_until(lambda: sum(len(load.accepted) for load in loads) > 50, "some load")
    edge.stop(number)
    for load in loads:
        load.on = False
        load.join()
    stored = stored_bodies(edge)
    assert {body for load in loads for body in load.accepted} <= set(stored)
    edge.start()
    success(merchant.event("ORDER_CREATE", orders.order()))


def test_binary_upgrade_under_load(new_merchant, start_edge):
    edge = start_edge(CONFIG, daemon="on")
    merchant = new_merchant(edge, "acme")
    load = Load(merchant)
    load.start()
    old = edge.start_new_binary()
    paths.wait_until(lambda: len(edge.workers()) == 2, "the new workers")
    count = len(load.accepted)
    paths.wait_until(lambda: len(load.accepted) > count + 20, "both versions to serve")
    edge.end_old_binary(old)
    count = len(load.accepted)
    paths.wait_until(lambda: len(load.accepted) > count + 20, "the new one to serve alone")
    load.on = False
    load.join()
    assert load.odd == []
    stored = stored_bodies(edge)
    assert set(load.accepted) <= set(stored) and len(stored) == len(set(stored))


def test_worker_process_that_is_killed_is_replaced(start_edge, new_merchant):
    edge = start_edge(CONFIG)
    edge.expect_log("exited on signal 9")
    merchant = new_merchant(edge, "acme")
    for _ in range(3):
        success(merchant.event("ORDER_CREATE", orders.order()))
        killed = edge.workers()
        os.kill(killed[0], signal.SIGKILL)
        paths.wait_until(lambda: set(edge.workers()) - set(killed), "a new worker")
        for worker in edge.workers():
            with edge.connect_to(worker, "/which") as connection:
                success(merchant.event("ORDER_CREATE", orders.order(), connection=connection))


def test_reopen_of_logs(start_edge, new_merchant):
    edge = start_edge(CONFIG)
    merchant = new_merchant(edge, "acme")
    edge.error_log.rename(edge.folder / "error.log.1")
    edge.send_signal(signal.SIGUSR1)
    paths.wait_until(edge.error_log.exists, "the new log")
    success(merchant.event("ORDER_CREATE", orders.order()))


def test_workers_run_as_www_data(start_edge, new_merchant):
    edge = start_edge(CONFIG, user="www-data")
    merchant = new_merchant(edge, "acme")
    success(merchant.event("ORDER_CREATE", orders.order()))
    body = sign.encode(orders.order(extra="x" * 400000))
    success(merchant.event("ORDER_CREATE", body))
    edge.sluice.drain()
    assert len(edge.sluice.report("orders")) == 2
    edge.reload()
    success(merchant.event("ORDER_CREATE", orders.order()))


def test_single_process_mode(start_edge, new_merchant):
    edge = start_edge(CONFIG, main="master_process off;")
    merchant = new_merchant(edge, "acme")
    success(merchant.event("ORDER_CREATE", orders.order()))
    edge.sluice.drain()
    assert len(edge.sluice.report("orders")) == 1


def test_two_locations_and_servers_share_the_store(start_edge, new_merchant):
    edge = start_edge(
        CONFIG
        + """
    server {
        listen 127.0.0.1:@PORT2@;
        location / { sluice_ingest events; add_header X-Receipt $sluice_receipt; }
    }
"""
    )
    merchant = new_merchant(edge, "acme")
    first = merchant.event("ORDER_CREATE", orders.order())
    with http1.Connection(edge.port2) as connection:
        second = merchant.event("ORDER_CREATE", orders.order(), connection=connection, target="/anything")
    success(second)
    assert edge.sluice.seq_of(second) == edge.sluice.seq_of(first) + 1


def test_sequence_numbers_continue_after_the_queue_ran_empty(start_edge, new_merchant):
    edge = start_edge(CONFIG)
    merchant = new_merchant(edge, "acme")
    for wanted in range(1, 4):
        answer = merchant.event("ORDER_CREATE", orders.order())
        assert edge.sluice.seq_of(answer) == wanted
        edge.sluice.drain()
        edge.stop()
        edge.start()
    assert edge.sluice.stats()["depth"] == 0


def test_store_removed_under_a_running_nginx_gets_no_200(start_edge, new_merchant):
    edge = start_edge(CONFIG)
    edge.expect_log(r"\[(alert|emerg|crit)\]")
    merchant = new_merchant(edge, "acme")
    success(merchant.event("ORDER_CREATE", orders.order()))
    shutil.rmtree(edge.store)

    removed = time.monotonic()
    paths.wait_until(lambda: time.monotonic() > removed + 2, "every worker to notice")
    for _ in range(20):
        answer = merchant.event("ORDER_CREATE", orders.order())
        assert answer.status in (401, 500, 503), answer
        assert answer.body == b""
        if answer.status == 503:
            assert int(answer.header("Retry-After")) >= 1
    assert not edge.store.exists()
    assert len(edge.workers()) == 2


def test_without_a_store_checks_of_the_head_still_come_first(start_edge, new_merchant):
    """The checks keep their order: 405, 400 and 401 by the head alone come before 503."""
    edge = start_edge(CONFIG, workers=1)
    edge.expect_log("store")
    merchant = new_merchant(edge, "acme")
    body = sign.encode(orders.order())
    event = sign.event_headers(merchant.shop, merchant.secret, "ORDER_CREATE", body)
    products = sign.encode({"products": [{"platform_product_id": "p", "title": "T"}]})
    batch = sign.catalog_headers(merchant.shop, merchant.secret, "PRODUCT_UPSERT", products, "k")
    shutil.move(edge.store, f"{edge.store}.gone")
    paths.wait_until(lambda: edge.request("POST", sign.EVENTS, event, body).status == 503, "the store to be missed")
    assert edge.request("GET", sign.EVENTS, event).status == 405
    answers.is_unauthorized(edge.request("POST", sign.EVENTS, sign.without(event, "X-SVC-SHOP-ID"), body))
    answers.is_unauthorized(edge.request("POST", sign.EVENTS, sign.replaced(event, x_signature="0" * 63), body))
    answers.catalog_error(edge.request("GET", sign.CATALOG, batch), 405)
    answers.catalog_error(edge.request("POST", sign.CATALOG, sign.without(batch, "Idempotency-Key"), body), 400)
    answers.catalog_error(edge.request("POST", sign.CATALOG, sign.without(batch, "Authorization"), body), 401)
    refused = edge.request("POST", sign.CATALOG, batch, products)
    answers.catalog_error(refused, 503)
    assert refused.header("Retry-After") == "1"
    shutil.move(f"{edge.store}.gone", edge.store)
    paths.wait_until(lambda: edge.request("POST", sign.EVENTS, event, body).status == 200, "the store to be found")


def test_503_when_the_queue_is_full_and_service_resumes(start_edge, new_merchant):
    edge = start_edge(CONFIG.replace("map_size=1g", "map_size=16m") .replace("sluice_rate_limit off;", "sluice_rate_limit 1000000 1h; sluice_retry_after 7s;"))
    merchant = new_merchant(edge, "acme")
    accepted = 0
    with edge.connect() as connection:
        for _ in range(3000):
            answer = merchant.event("ORDER_CREATE", orders.order(extra="x" * 20000), connection=connection)
            if answer.status != 200:
                break
            accepted += 1
        assert answer.status == 503 and answer.body == b"", answer
        assert answer.header("Retry-After") == "7"
        answers.has_rate_headers(answer)
        assert accepted > 100
        catalog = {"products": [{"platform_product_id": "p", "title": "x" * 20000}]}
        refused = merchant.catalog("PRODUCT_UPSERT", catalog, "k", connection=connection)
        answers.catalog_error(refused, 503)
        assert refused.header("Retry-After") == "7"
        edge.sluice.drain()
        assert len(edge.sluice.report("orders", "--shop", merchant.shop)) == accepted
        paths.wait_until(
            lambda: merchant.event("ORDER_CREATE", orders.order(), connection=connection).status == 200,
            "service to resume",
        )
        answers.catalog_success(
            merchant.catalog("PRODUCT_UPSERT", catalog, "k", connection=connection), 1
        )
        resumed = "accepting orders and products again"
        paths.wait_until(
            lambda: merchant.event("ORDER_CREATE", orders.order(), connection=connection).status == 200
            and resumed in edge.log(), "the log to say so")
    log = edge.log()  # of two processes: each line stands there once
    assert log.count("orders and products get 503 from now on: the queue is filled up to its high-water mark") == 1, log[-2000:]
    assert log.count(resumed) == 1


def test_replay_is_answered_while_admission_is_stopped(start_edge, new_merchant):
    edge = start_edge(CONFIG.replace("map_size=1g", "map_size=16m"))
    merchant = new_merchant(edge, "acme")
    catalog = {"products": [{"platform_product_id": "p", "title": "x" * 20000}]}
    with edge.connect() as connection:
        first = merchant.catalog("PRODUCT_UPSERT", catalog, "k", connection=connection)
        assert first.status == 200
        for _ in range(3000):
            answer = merchant.event("ORDER_CREATE", orders.order(extra="x" * 20000), connection=connection)
            if answer.status != 200:
                break
        assert answer.status == 503
        again = merchant.catalog("PRODUCT_UPSERT", catalog, "k", connection=connection)
        assert (again.status, again.body) == (200, first.body)


def test_event_that_could_never_fit_is_413(start_edge, new_merchant):
    config = CONFIG.replace("map_size=1g", "map_size=16m").replace("location = /event/ecomm {", "location = /event/ecomm { client_max_body_size 64m;")
    edge = start_edge(config)
    merchant = new_merchant(edge, "acme")
    answer = merchant.event("ORDER_CREATE", orders.order(extra="x" * 1000))
    success(answer)
    # Over 256 KB a body is a file, so that the map's size does not matter.
    success(merchant.event("ORDER_CREATE", orders.order(extra="x" * 20_000_000)))


def test_internal_redirects_do_not_store_twice(start_edge, new_merchant):
    edge = start_edge(
        CONFIG.replace(
            "location = /which",
            """
        error_page 400 401 405 503 = /event/ecomm;
        location = /which""",
        )
    )
    merchant = new_merchant(edge, "acme")
    body = sign.encode(orders.order())
    headers = sign.event_headers(merchant.shop, merchant.secret, "ORDER_CREATE", body)
    edge.request("POST", sign.EVENTS, sign.replaced(headers, x_signature="0" * 64), body)
    success(edge.request("POST", sign.EVENTS, headers, body))
    assert edge.sluice.stats()["depth"] == 1


def test_rewritten_requests_are_taken(start_edge, new_merchant):
    edge = start_edge(
        CONFIG.replace(
            "location = /which",
            """
        location @events { sluice_ingest events; }
        location /v1/ { rewrite ^/v1(/.*)$ $1 last; }
        location /try/ { try_files /nothing/here @events; }
        location /fallback/ { try_files /nothing/here /event/ecomm; }
        location /dispatch/ { error_page 418 = @events; return 418; }
        location = /which""",
        )
    )
    merchant = new_merchant(edge, "acme")
    with edge.connect() as connection:
        for size in (10, 5000, 900_000):
            for target in ("/v1/event/ecomm", "/try/x", "/fallback/x", "/dispatch/x"):
                document = orders.order(extra="x" * size)
                success(merchant.event("ORDER_CREATE", document, connection=connection, target=target))
    assert edge.sluice.accepted() == 12
    batch = {"products": [{"platform_product_id": "p", "title": "T"}]}
    assert merchant.catalog("PRODUCT_UPSERT", batch, "k", target="/v1/product-data").status == 200


def test_what_was_answered_elsewhere_is_not_taken(start_edge, new_merchant):
    """Each of these would tell the sender 200 for nothing, or store what another location refused."""
    edge = start_edge(
        CONFIG.replace(
            "location = /which",
            """
        location /forced/ { error_page 404 =200 /event/ecomm; return 404; }
        location /as-404/ { error_page 404 @again; return 404; }
        location @again { sluice_ingest events; }
        location /mirrored/ { mirror /event/ecomm; mirror_request_body on; proxy_pass http://127.0.0.1:@PORT@/which; }
        location /authorized/ { auth_request /event/ecomm; return 204; }
        location = /which""",
        )
    )
    edge.expect_log("sluice_ingest cannot take")
    merchant = new_merchant(edge, "acme")
    for target in ("/forced/x", "/as-404/x", "/mirrored/x", "/authorized/x"):
        merchant.event("ORDER_CREATE", orders.order(), target=target)
    assert edge.sluice.accepted() == 0


def test_health_and_ready(start_edge, new_merchant):
    edge = start_edge(CONFIG)
    assert edge.request("GET", "/status/health", []).status == 200
    assert edge.request("GET", "/status/ready", []).status == 200
    assert edge.request("GET", "/status/status.json", []).status == 200
    metrics = edge.request("GET", "/status/metrics", [])
    assert metrics.status == 200 and b"# HELP sluice_build_info" in metrics.body


def test_master_never_opens_the_store(start_edge):
    edge = start_edge(CONFIG)
    paths.wait_until(lambda: len(edge.workers()) == 2, "both workers to serve")
    for name in os.listdir(f"/proc/{edge.master}/fd"):
        try:
            target = os.readlink(f"/proc/{edge.master}/fd/{name}")
        except FileNotFoundError:
            continue
        assert not target.endswith(".mdb"), target
    for worker in edge.workers():
        opened = [os.readlink(f"/proc/{worker}/fd/{n}") for n in os.listdir(f"/proc/{worker}/fd")]
        assert any(target.endswith("queue/data.mdb") for target in opened)
        assert not any("/ledger/" in target for target in opened)
    assert len(children(edge.master)) == 2


def test_two_sluice_workers_do_not_run_at_once(start_edge, new_merchant):
    edge = start_edge(CONFIG)
    success(new_merchant(edge, "acme").event("ORDER_CREATE", orders.order()))
    environment = edge.sluice.environment
    worker = subprocess.Popen([str(paths.SLUICE), "worker"], env=environment, stderr=subprocess.PIPE)
    try:
        paths.wait_until(lambda: edge.sluice.stats()["depth"] == 0, "the first to apply the order")
        assert edge.sluice.run("worker", "--until-empty").returncode == 1
    finally:
        worker.terminate()
        assert worker.wait(timeout=paths.DEADLINE) == 0
        worker.stderr.close()


def test_running_worker_applies_within_moments_and_stops_on_term(start_edge, new_merchant):
    edge = start_edge(CONFIG)
    merchant = new_merchant(edge, "acme")
    worker = subprocess.Popen([str(paths.SLUICE), "worker"], env=edge.sluice.environment, stderr=subprocess.DEVNULL)
    try:
        for number in range(1, 6):
            success(merchant.event("ORDER_CREATE", orders.order()))
            paths.wait_until(lambda: edge.sluice.stats()["applied"] == number, "the event to be applied")
        # Commands go through the queue and wait for their result from that very worker.
        program = edge.folder / "p.toml"
        program.write_text('[[program]]\nid = "p"\naccount = "acme"\nwindow_days = 30\nbase = "net"\n'
                           'precedence = ["AFFILIATE_CODE"]\nclearing_days = 0\ndefault_rate = "10%"\nlate_days = 36500\n')
        edge.sluice("program", "apply", program)
        assert edge.sluice.stats()["commands"] == 1
    finally:
        worker.terminate()
        assert worker.wait(timeout=paths.DEADLINE) == 0
