"""Stores of other formats, and two builds of the module on one store."""

import json
import pathlib
import re
import subprocess
import tarfile
import threading

import pytest

from harness.merchant import CONFIG, Merchant
from harness import answers, http1, orders, paths, sign
from harness.cli import Sluice
from harness.edge import Edge
from upgrade.make_golden import REPORTS

HERE = pathlib.Path(__file__).parent
GOLDEN = sorted(HERE.glob("store-format-*.tar.xz"))


@pytest.fixture(params=GOLDEN, ids=lambda path: path.name.split(".")[0])
def golden(request):
    """A store that a release left, and what that release said about it."""
    folder = paths.make_folder()
    with tarfile.open(request.param) as archive:
        archive.extractall(folder)
    said = json.loads(request.param.with_name(request.param.name.replace(".tar.xz", ".json")).read_text())
    yield folder / "store", said
    paths.drop_folder(folder)


def test_a_store_of_the_present_format_is_read_and_continues(golden):
    store, said = golden
    with Edge(CONFIG, store=store) as edge:
        edge.start()
        assert "a downgrade needs a release that writes format" in doctor(edge)
        assert {kind: edge.sluice.report(kind) for kind in REPORTS} == said["reports"]
        stats = edge.sluice.stats()
        assert {name: stats[name] for name in said["stats"]} == said["stats"]
        assert edge.sluice.json("notify", "list") == said["destinations"]
        edge.sluice("notify", "rotate", "erp")  # notify.key opens its secret
        answers.is_success(edge.post_event("acme-shop", said["secret"], "ORDER_CREATE", orders.order("new")))
        products = {"products": [{"platform_product_id": "p2", "title": "T"}]}
        answers.catalog_success(
            edge.post_catalog("acme-shop", said["secret"], "PRODUCT_UPSERT", products, "new-key"), 1
        )
        edge.sluice.drain()
        shown = {row["order_id"]: row for row in edge.sluice.report("orders")}
        assert {"o1", "o2", "waiting", "large", "new"} <= set(shown) and shown["waiting"]["creator_id"] == "anna"
        assert edge.sluice.stats()["depth"] == 0 and edge.sluice.stats()["dead"] == said["stats"]["dead"]
        into = edge.folder / "rebuilt"
        edge.sluice("ledger", "rebuild", "--from", store / "archive", "--into", into)
        edge.stop()


def rows(ledger):
    """Every row of every table, as LMDB's own tool prints them: the tool is of the machine's processor."""
    return subprocess.run(["mdb_dump", "-a", ledger], check=True, capture_output=True).stdout


def test_the_program_alone_rebuilds_the_bytes_of_an_earlier_ledger(golden):
    """Needs no nginx, so that `make check-debian ARCH=` runs it with a program of another processor."""
    store, said = golden
    sluice = Sluice(store)
    assert {kind: sluice.report(kind) for kind in REPORTS} == said["reports"]
    sluice("ledger", "rebuild", "--from", store / "archive", "--into", store.parent / "first")
    assert rows(store.parent / "first") == rows(store / "ledger")
    sluice.drain()  # the queue's records, a large one among them
    stats = sluice.stats()
    assert stats["depth"] == 0 and stats["dead"] == said["stats"]["dead"]
    sluice("ledger", "rebuild", "--from", store / "archive", "--into", store.parent / "second")
    assert rows(store.parent / "second") == rows(store / "ledger") != rows(store.parent / "first")
    sluice("doctor", "--replay")


def doctor(edge):
    """Returns what doctor says about the store's format."""
    rows = json.loads(edge.sluice.run("doctor", "--format", "json").stdout)
    return next(row["finding"] for row in rows if row["check"] == "store")


def newer(store, **changes):
    """The store as a release of the future leaves it."""
    text = (store / "format").read_text()
    for name, value in changes.items():
        text = re.sub(rf"(?m)^{name} .*$", f"{name} {value}", text)
    (store / "format").write_text(text + "something_new 1\n")


def test_an_older_store_is_refused_by_name(golden):
    store, _ = golden
    text = re.sub(r"(?m)^(format|min_reader|min_writer) .*$", r"\1 2", (store / "format").read_text())
    (store / "format").write_text(text)
    edge = Edge(CONFIG, store=store)
    code, told = edge.test_configuration()
    assert code != 0 and str(store) in told and "format 2," in told and "sluice init" in told
    for command in (["account", "list"], ["worker", "--until-empty"], ["report", "orders"], ["queue", "stats"]):
        told = edge.sluice.refuses(*command)
        assert "format 2," in told and "sluice init" in told, command
    paths.drop_folder(edge.folder)


def test_a_newer_store_is_refused_by_name(golden):
    store, said = golden
    newer(store, format=99, min_reader=99, min_writer=99)
    before = {path: path.read_bytes() for path in store.rglob("*") if path.is_file() and path.name != "lock.mdb"}
    edge = Edge(CONFIG, store=store)
    code, told = edge.test_configuration()
    assert code != 0 and str(store) in told and "format 99" in told and "newer release" in told
    for command in (["account", "list"], ["worker", "--until-empty"], ["report", "orders"], ["queue", "stats"],
                    ["token", "create", "--account", "acme", "--scope", "write_orders"]):
        told = edge.sluice.refuses(*command)
        assert "format 99" in told and "newer release" in told, command
    assert "a downgrade to this one is no longer possible" in doctor(edge)
    assert said and {path: path.read_bytes() for path in before} == before
    paths.drop_folder(edge.folder)


def test_a_newer_store_that_may_be_read_is_read_but_not_written(golden):
    store, said = golden
    newer(store, format=99, min_writer=99)
    edge = Edge(CONFIG, store=store)
    assert edge.sluice.json("account", "list")
    edge.sluice("report", "orders")  # opens no queue
    for command in (["worker", "--until-empty"], ["account", "create", "other"],
                    ["token", "create", "--account", "acme", "--scope", "write_orders"]):
        told = edge.sluice.refuses(*command)
        assert "format 99" in told and "not write" in told, command
    assert "a downgrade to this one is no longer possible" in doctor(edge)
    edge.expect_log("newer release")
    with edge:
        edge.start()
        answer = edge.post_event("acme-shop", said["secret"], "ORDER_CREATE", orders.order())
        assert answer.status == 503 and answer.header("Retry-After")
        assert edge.request("GET", "/event/ecomm", []).status == 405
        assert "format 99" in edge.log()


# Two builds of the module --------------------------------------------------------------------------


class Load(threading.Thread):
    """Orders on a connection each, so that none meets a connection that a quitting worker closes."""

    def __init__(self, merchant):
        super().__init__(daemon=True)  # a test that fails does not wait for it
        self.merchant, self.on, self.accepted, self.odd = merchant, True, [], []

    def run(self):
        while self.on:
            body = sign.encode(orders.order(orders.unique("load")))
            try:
                answer = self.merchant.event("ORDER_CREATE", body)
                (self.accepted if answer.status == 200 else self.odd).append(body)
            except (OSError, http1.Closed) as error:
                self.odd.append(error)


def build_id(module):
    """The version, and the commit unless it was built from a release's archive."""
    version = re.search(r"VERSION (\S+)", (paths.ROOT / "CMakeLists.txt").read_text().partition("project(")[2]).group(1)
    wanted = rb"\0(" + re.escape(version).encode() + rb"(?: \([0-9a-z.-]+\))?)\0"
    return re.search(wanted, module.read_bytes()).group(1)


def other_build(source, target):
    """The same module under another build id, put in place as a package does it."""
    old = build_id(source)
    new = old.replace(b".", b",")
    new_file = target.with_suffix(".new")
    new_file.write_bytes(source.read_bytes().replace(b"\0" + old + b"\0", b"\0" + new + b"\0"))
    new_file.rename(target)
    return old.decode(), new.decode()


@pytest.fixture
def replaceable(tmp_path):
    """An nginx whose module lies where it can be replaced."""
    edge = Edge(CONFIG, daemon="on", level="notice")
    module = edge.folder / "module.so"
    module.write_bytes(paths.MODULE.read_bytes())
    edge.values["MODULE"] = str(module)
    edge.configure(CONFIG)
    with edge:
        edge.start()
        yield edge, module, Merchant(edge, "acme")


def loaded_by(edge, build):
    return edge.log().count(f"sluice module {build}")


def test_binary_upgrade_to_another_build_under_load(replaceable):
    edge, module, merchant = replaceable
    load = Load(merchant)
    load.start()
    paths.wait_until(lambda: len(load.accepted) > 20, "some load")
    old_build, new_build = other_build(paths.MODULE, module)
    assert loaded_by(edge, old_build) == 2 and loaded_by(edge, new_build) == 0
    old = edge.start_new_binary()
    paths.wait_until(lambda: loaded_by(edge, new_build) == 2, "the workers of the new build")
    for _ in range(2):  # both builds append, and a sluice worker drains meanwhile
        count = len(load.accepted)
        paths.wait_until(lambda: len(load.accepted) > count + 40, "both builds to serve")
        edge.sluice.drain()
    edge.end_old_binary(old)
    count = len(load.accepted)
    paths.wait_until(lambda: len(load.accepted) > count + 20, "the new build to serve alone")
    load.on = False
    load.join()
    edge.sluice.drain()
    assert load.odd == []
    assert {row["order_id"] for row in edge.sluice.report("orders")} == {
        json.loads(body)["platform_order_id"] for body in load.accepted
    }
    stats = edge.sluice.stats()
    assert (stats["applied"], stats["duplicate"], stats["dead"]) == (len(load.accepted), 0, 0)


def test_a_reload_keeps_the_build_that_is_loaded(replaceable):
    edge, module, merchant = replaceable
    old_build, new_build = other_build(paths.MODULE, module)
    for reloads in (1, 2):
        edge.reload()
        paths.wait_until(lambda: loaded_by(edge, old_build) == 2 + 2 * reloads, "the new workers")
        answers.is_success(merchant.event("ORDER_CREATE", orders.order()))
    assert loaded_by(edge, new_build) == 0
    for worker in edge.workers():
        with open(f"/proc/{worker}/maps") as maps:
            assert any("module.so (deleted)" in line for line in maps)
    edge.stop()
    edge.start()
    paths.wait_until(lambda: loaded_by(edge, new_build) == 2, "a restart to load the new build")
    answers.is_success(merchant.event("ORDER_CREATE", orders.order()))
