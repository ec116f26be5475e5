"""Forgetting people through the real nginx, queue, worker, archive and ledger (rules F1, F2)."""
import signal
import subprocess

import pytest
from harness.archive import archived
from program import PROGRAM, sluice
from test_ledger import shop  # noqa: F401 (a fixture)


def files_of(folder):
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


PERSON = {"platform_customer_id": "customer-77", "email": "Jane@Example.org", "phone": "+1 555 0100",
          "note": "for Jane Doe"}
SAID = [b"customer-77", b"Jane@Example.org", b"+1 555 0100", b"Jane Doe", b"device-77"]


@pytest.fixture
def sold(shop):  # noqa: F811
    shop.send("o1", svc_anon_id="device-77", **PERSON)
    shop.send("o2", svc_anon_id="device-77", email="other@example.org")
    shop.run("click", "import", shop.file("t.csv", "svc_anon_id,creator_id,program_id,occurred_at\n"
                                          "device-77,ann,spring,2024-02-29T00:00:00Z\n"))
    shop.drain()
    assert all(word in archived(shop.store) for word in SAID)
    return shop


def rebuild_is_equal(shop, name="new"):  # noqa: F811
    run = shop.run("ledger", "rebuild", "--from", shop.store / "archive", "--into", shop.folder / name)
    return "equal" in run.out


@pytest.mark.parametrize("whom", [("--customer", "customer-77"), ("--email", "jane@EXAMPLE.org"),
                                  ("--phone", "+1 555 0100"), ("--order", "o1")])
def test_a_person_is_forgotten(sold, whom):
    before = sold.json("report", "orders")
    counts = sold.json("forget", "--shop", "shop-1", *whom, "--dry-run")
    assert counts == {"orders": 2, "clicks": 1, "dead_letters": 0, "archived_inputs": 3}
    assert all(word in archived(sold.store) for word in SAID)  # it changes nothing
    assert sold.run("forget", "--shop", "shop-1", *whom).out == "forgotten\n"
    sold.drain()
    archive = archived(sold.store)
    assert not [word for word in SAID if word in archive]
    assert b"other@example.org" in archive
    assert not [word for word in SAID if word in files_of(sold.store / "ledger")]
    assert sold.json("report", "orders") == before
    assert rebuild_is_equal(sold)
    assert not [word for word in SAID if word in files_of(sold.folder / "new")]


def test_a_creator_is_forgotten(sold):
    sold.run("creator", "import", sold.file(
        "n.csv", "creator_id,program_id,code,name,payee\nann,spring,SAVE,Ann Smith,DE-77\n"))
    sold.drain()
    assert b"Ann Smith" in archived(sold.store)
    assert sold.run("forget", "--account", "acme", "--creator", "ann").out == "forgotten\n"
    sold.drain()
    archive = archived(sold.store)
    assert b"Ann Smith" not in archive and b"DE-77" not in archive
    assert rebuild_is_equal(sold)
    assert "no creator bob" in sold.run("forget", "--account", "acme", "--creator", "bob", status=1).err


def test_a_key_that_forgot_one_creator_forgets_no_other(sold):
    """K1, F1: repeated, the command says the same; for another creator with a name it is refused."""
    sold.run("creator", "import", sold.file(
        "n.csv", "creator_id,program_id,code,name,payee\nann,spring,SAVE,Ann Smith,DE-77\nben,spring,BEN,Ben Jones,DE-78\n"))
    for _ in range(2):
        assert sold.run("forget", "--account", "acme", "--creator", "ann", "--key", "k").out == "forgotten\n"
    said = sold.run("forget", "--account", "acme", "--creator", "ben", "--key", "k", status=1).err
    assert "with other content" in said
    assert [row["name"] for row in sold.json("creator", "list") if row["creator_id"] == "ben"] == ["Ben Jones"]


def test_a_rebuild_waits_for_a_forget_that_is_under_way(sold):
    """F2: the command is over before the worker has taken the person out of the archive."""
    worker = subprocess.Popen([PROGRAM, "--store", str(sold.store), "worker"], stderr=subprocess.DEVNULL)
    try:
        for number, whom in enumerate([("--order", "o1"), ("--customer", "customer-77"), ("--device", "device-77")]):
            sold.run("forget", "--shop", "shop-1", *whom)
            assert rebuild_is_equal(sold, f"new-{number}")
    finally:
        worker.terminate()
        worker.wait(30)


@pytest.mark.parametrize("line", [
    [], ["--shop", "shop-1"], ["--customer", "c"], ["--shop", "shop-1", "--customer", "c", "--email", "e@x"],
    ["--account", "acme"], ["--shop", "shop-1", "--creator", "ann"], ["--account", "acme", "--customer", "c"],
    ["--shop", "shop-1", "--account", "acme", "--customer", "c"], ["--shop", "shop-1", "--order", ""]])
def test_usage(sold, line):
    sold.run("forget", *line, status=2)


def test_killed_while_it_forgets(sold):
    """At every point of a forget; the next worker ends it."""
    whom = [("--customer", "customer-77"), ("--email", "jane@example.org"), ("--phone", "+1 555 0100"),
            ("--order", "o1"), ("--device", "device-77")]
    for point, line in zip(["searched", "committed", "forgetting", "edited", "forgotten"], whom):
        run = subprocess.Popen([PROGRAM, "--store", str(sold.store), "worker"],
                               env={"SLUICE_CRASH_AT": point, "PATH": "/usr/bin"},
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        assert "applies" in run.stderr.readline()  # it has the worker's lock and begins to drain
        asked = subprocess.Popen([PROGRAM, "--store", str(sold.store), "forget", "--shop", "shop-1", *line],
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert run.wait(30) == -signal.SIGKILL, point
        asked.communicate(timeout=30)  # it applies the command itself, once the worker's lock is free
        sold.drain()
    archive = archived(sold.store)
    assert not [word for word in SAID if word in archive]
    assert rebuild_is_equal(sold)
    assert sluice("doctor", store=sold.store).status in (0, 1)
