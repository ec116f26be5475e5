"""A read asks a database no more for a larger account: statements are counted, not seconds."""

import pytest
from harness import orders
from harness.cli import now
from serve.live import recent, served_shop
from serve.scene import WHY

SHOPS = 40


def statements(server, ask):
    """The statements that the server gets meanwhile, without those that open or keep a session.

    A session that the server opens meanwhile first asks which tables there are: then it is asked again.
    """
    log = server.folder / "log"
    for _ in range(20):
        before = log.stat().st_size
        ask()
        lines = log.read_bytes()[before:].decode(errors="replace").splitlines()
        if not any("information_schema" in line for line in lines):
            return [line for line in lines if ("execute " in line or "statement: " in line) and "sluice_ledger" in line]
    raise AssertionError("a session was opened each time")


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


ROWS = 9


@pytest.fixture(scope="module")
def listed(many):
    """Runs, payouts, anomalies, links and commands that wait: ROWS of each."""
    sluice = many.edge.sluice
    rows = "".join(f"c{number},spring,,ref-{number}\n" for number in range(ROWS))
    (many.edge.folder / "more.csv").write_text("creator_id,program_id,code,payee\n" + rows)
    sluice("creator", "import", many.edge.folder / "more.csv")
    rows = "".join(f"l{number},spring,c{number},https://shop.example/\n" for number in range(ROWS))
    (many.edge.folder / "links.csv").write_text("link_id,program_id,creator_id,to\n" + rows)
    sluice("link", "import", many.edge.folder / "links.csv", "--account", "acme")
    for number in range(ROWS):
        document = recent(f"wrong{number}")
        document["refund_line_items"] = [orders.refund(f"r{number}", document["line_items"][0]["line_item_id"], amount="999.00")]
        assert many.edge.post_event("shop-1", many.secret, "ORDER_CREATE", document).status == 200
    sluice("worker", "--until-empty")
    for number in range(ROWS):
        creator = ("--account", "acme", "--creator", f"c{number}")
        sluice("credit", *creator, "--program", "spring", "--amount", "5.00 USD", *WHY)
        sluice("payout", "close", *creator, "--until", now())
    yield many


@pytest.mark.parametrize("path, parameters", [
    ("runs", {}), ("links", {}), ("links", {"sort": "-clicks"}), ("payouts", {}), ("payouts", {"state": "APPROVED"}),
    ("anomalies", {"showing": "true", "acknowledged": "false"})])
def test_the_statements_of_a_list_do_not_grow_with_its_rows(listed, postgres, path, parameters):
    sent = {}
    for limit in (2, 2, ROWS):
        page = []
        sent[limit] = statements(postgres, lambda limit=limit, page=page: page.append(
            listed.reader.object(path, limit=limit, **parameters)))
        assert len(page[0]["items"]) == limit, page
    print(f"{path} {parameters}: {len(sent[2])} statements of 2 rows, {len(sent[ROWS])} of {ROWS}")
    assert len(sent[ROWS]) <= len(sent[2]) + 1, sent


def test_the_statements_of_the_approvals_do_not_grow_with_their_number(listed, postgres):
    def ask(waiting):
        for number in range(len(listed.reader.object("approvals")["items"]), waiting):
            asked = listed.edge.sluice.run("adjust", "--shop", "shop-1", "--order", f"wrong{number}", "--amount", "90.00", *WHY)
            assert asked.returncode == 3, asked
        sent = statements(postgres, lambda: listed.reader.object("approvals"))
        assert len(listed.reader.object("approvals")["items"]) == waiting
        return sent

    few, more = ask(2), ask(ROWS)
    print(f"approvals: {len(few)} statements of 2 rows, {len(more)} of {ROWS}")
    assert len(more) <= len(few) + 1, (few, more)


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
