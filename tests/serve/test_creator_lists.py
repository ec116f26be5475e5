"""Lists of a creator's page that have more rows than one answer: 200 (creators 5)."""

import csv
import io
import json
import re

import pytest
from harness import paths
from harness.serve import CreatorPages, Serve, ask
from serve.live import recent, served_shop

CONFIG = """base_url = "https://pages.example"
[acme]
name = "Acme Creators"
"""
ORDERS = 405


@pytest.fixture(scope="module")
def ann(tmp_path_factory):
    """Her orders are three pages."""
    with served_shop(tmp_path_factory.mktemp("made")) as shop:
        for number in range(ORDERS):
            assert shop.edge.post_event("shop-1", shop.secret, "ORDER_CREATE", recent(f"o{number}")).status == 200
        shop.edge.sluice("worker", "--until-empty")
        _, secret = shop.edge.sluice.token("acme", "creator_pages")
        folder = paths.make_folder()
        try:
            config = folder / "creators.toml"
            config.write_text(CONFIG)
            with CreatorPages(shop.edge.store, folder, config, "--rate-limit", "1000000/60") as pages, \
                    Serve(shop.edge.store, folder, "--creators-config", config) as serve:
                yield pages.page("acme", serve.token(secret).object("creator-link", creator="ann")["token"])
        finally:
            paths.drop_folder(folder)


def followed(page, path, **parameters):
    """The answers of a list, by following its Link."""
    answers = [page.get(path, **parameters)]
    while link := answers[-1].header("Link"):
        target = re.fullmatch(r'<(/c/acme/v1/[^<>]+)>; rel="next"', link).group(1)
        answers.append(ask(page.path, target, page.headers))
    assert {answer.status for answer in answers} == {200}
    return answers


def test_a_list_says_where_it_continues(ann):
    answers = followed(ann, "orders")
    items = [answer.json()["items"] for answer in answers]
    assert [len(rows) for rows in items] == [200, 200, 5]
    assert {row["number"] for rows in items for row in rows} == {f"o{number}" for number in range(ORDERS)}
    for answer in answers:
        following = answer.json()["next"]
        assert (following is None) == (answer.header("Link") is None)
        assert following is None or f"after={following}>" in answer.header("Link")


def test_csv_says_so_as_well_and_has_every_row(ann):
    """It ended after 200 rows, and had no sign that more follow."""
    answers = followed(ann, "orders", format="csv")
    pages = [list(csv.DictReader(io.StringIO(answer.body.decode()))) for answer in answers]
    assert [len(rows) for rows in pages] == [200, 200, 5]
    assert [row["number"] for rows in pages for row in rows] == \
        [row["number"] for answer in followed(ann, "orders") for row in answer.json()["items"]]


def test_a_list_of_one_page_has_no_link(ann):
    for path, parameters in (("payments", {}), ("performance", {"by": "code"}), ("home", {}), ("statement", {"month": "2026-01", "format": "csv"})):
        assert ann.get(path, **parameters).header("Link") is None, path
    assert json.loads(ann.get("payments").body)["next"] is None
