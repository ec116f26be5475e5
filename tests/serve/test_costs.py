"""A read asks a database no more for a larger account: statements are counted, not seconds."""

import pytest
from harness import orders
from serve.live import recent, served_shop

SHOPS = 40


def statements(server, ask):
    """The statements that the server gets meanwhile, without those that keep the session."""
    log = server.folder / "log"
    before = log.stat().st_size
    ask()
    lines = log.read_bytes()[before:].decode(errors="replace").splitlines()
    return [line for line in lines if ("execute " in line or "statement: " in line) and "sluice_ledger" in line]


@pytest.fixture(scope="module")
def many(postgres, tmp_path_factory):
    url = postgres.create("costs")
    with served_shop(tmp_path_factory.mktemp("made"), ledger=url) as live:
        for number in range(2, SHOPS + 1):
            live.edge.sluice.shop(f"shop-{number}", "acme")
        live.order("o1")
        for number in range(2, SHOPS + 1):
            document = recent(f"o{number}")
            assert live.edge.post_event(f"shop-{number}", live.secret, "ORDER_CREATE", document).status == 200
        lines = [orders.line(f"l{number}", amount="1.00", tax="0.00") for number in range(300)]
        large = {**recent("large"), "amount": "300.00", "tax": "0.00", "line_items": lines}
        assert live.edge.post_event("shop-1", live.secret, "ORDER_CREATE", large).status == 200
        live.edge.sluice("worker", "--until-empty")
        postgres.query("ALTER SYSTEM SET log_statement = 'all'", database="postgres")
        postgres.query("SELECT pg_reload_conf()", database="postgres")
        live.reader.object("today")
        yield live
        postgres.query("ALTER SYSTEM RESET log_statement", database="postgres")
        postgres.query("SELECT pg_reload_conf()", database="postgres")


@pytest.mark.parametrize("path, parameters", [
    ("shops", {"near": "o1ä" + "x" * 100}), ("search", {"q": "o3"}), ("search", {"q": "o"}), ("today", {})])
def test_the_statements_of_an_account_of_40_shops_are_few(many, postgres, path, parameters):
    sent = statements(postgres, lambda: many.reader.object(path, **parameters))
    order = statements(postgres, lambda: many.reader.object("order", shop="shop-1", order="o1"))
    print(f"{path} {parameters}: {len(sent)} statements; order: {len(order)}")
    assert 0 < len(sent) <= 2 * len(order) + 12, (len(sent), len(order), sent)
    assert many.serve.process.poll() is None


def test_an_order_of_300_lines_takes_no_more_statements_than_one_of_one_line(many, postgres):
    small, large = (statements(postgres, lambda: many.reader.object("order", shop="shop-1", order=name)) for name in ("o1", "large"))
    assert len(large) == len(small), (small, large)
