"""Links as programs and people read them (RP): lists, figures, amounts, search, and their views in a browser."""

import csv
import datetime
import io
import subprocess
import urllib.parse

import pytest
from harness import paths
from harness.fake_time import FakeTime
from serve import scene
from serve.barriers import check_barriers, take_pictures
from serve.live import served_shop
from serve.login_site import Site
from serve.test_page import SIZES, axe  # noqa: F401
from serve.test_page_views import GINA, rows_of, visit  # noqa: F401

MINE = ("--account", "acme")
MARCH = {"from": "2026-03-01T00:00:00Z", "to": "2026-04-01T00:00:00Z"}
TO = "https://shop.example/"


class Links:
    """The links mug and hat are ann's, and cap is bob's. He is called robert now."""

    def __init__(self, live):
        self.live, self.sluice, self.reader = live, live.edge.sluice, live.reader
        _, self.secret = self.sluice.token("acme", "write_clicks")
        _, viewing = self.sluice.token("acme", "read_orders")
        self.viewer = live.serve.token(viewing)
        for link, creator, to in (("mug", "ann", "mug"), ("hat", "ann", "Summer-Hats"), ("cap", "bob", "cap")):
            self.sluice("link", "create", link, *MINE, "--program", "spring", "--creator", creator, "--to", TO + to)
        self.sluice("creator", "rename", "bob", "robert", *MINE)

    def click(self, link, creator, *clicks):
        """clicks: (device, instant)"""
        rows = [{"svc_anon_id": f"device-{device}", "program_id": "spring", "creator_id": creator, "link_id": link, "occurred_at": at}
                for device, at in clicks]
        answer = self.live.edge.post_event("shop-1", self.secret, "CLICK", {"clicks": rows}, target="/event/click")
        assert answer.status == 200, answer

    def order(self, name, device, at, code=None):
        about = {"svc_anon_id": f"device-{device}"} if device else {}
        self.live.send("ORDER_CREATE", scene.order(name, code, platform_ordered_at=at, platform_updated_at=at, **about))

    def listed(self, **parameters):
        """(link, clicks of this month) of every row."""
        pages, after = [], {}
        while True:
            page = self.reader.object("links", **parameters, **after)
            pages += list(zip((row["link_id"] for row in page["items"]), page["clicks_this_month"], strict=True))
            if not page["next"]:
                return pages
            after = {"after": page["next"]}


@pytest.fixture
def links(tmp_path, ledger):
    """Example 15 on 10 March, and four devices that clicked bob's link."""
    clock = FakeTime()
    clock.set("2026-03-10T09:00:00Z")
    try:
        with served_shop(tmp_path, clock, ledger=ledger) as live:
            made = Links(live)
            made.click("mug", "ann", (1, "2026-03-01T12:00:00Z"), (1, "2026-03-01T12:00:05Z"), (1, "2026-03-01T12:50:00Z"),
                       (2, "2026-03-01T12:00:00Z"), (5, "2026-02-20T12:00:00Z"), (5, "2026-02-01T12:00:00Z"))
            made.click("cap", "bob", *((device, "2026-03-02T12:00:00Z") for device in (6, 7, 8, 9)))
            made.order("o1", 1, "2026-03-02T10:00:04Z")
            yield made
    finally:
        clock.folder.cleanup()


def test_rp1_links_are_the_commands_rows_and_this_months_clicks_sort_them(links):
    rows = links.reader.rows("links")
    assert rows == links.sluice.json("link", "list", *MINE)
    assert [(row["link_id"], row["creator_id"], row["clicks"], row["devices"], row["orders"]) for row in rows] == [
        ("hat", "ann", 0, 0, 0), ("mug", "ann", 4, 3, 1), ("cap", "robert", 4, 4, 0)]
    for limit in (1, 2, 1000):
        assert links.listed(limit=limit) == [("hat", 0), ("mug", 3), ("cap", 4)]
        assert links.listed(limit=limit, sort="-clicks") == [("cap", 4), ("mug", 3), ("hat", 0)]
        assert links.reader.rows("links", limit=limit) == rows
    for asked, found in (({"creator": "robert"}, ["cap"]), ({"creator": "bob"}, ["cap"]), ({"q": "UMM"}, ["hat"]), ({"q": "mu"}, ["mug"]),
                         ({"program": "spring-late"}, []), ({"program": "spring", "creator": "ann"}, ["hat", "mug"])):
        for sort in ("id", "-clicks"):
            assert sorted(link for link, _ in links.listed(sort=sort, **asked)) == found, asked
    text = links.reader.get("links", format="csv").body.decode()
    assert [row["link_id"] for row in csv.DictReader(io.StringIO(text))] == ["hat", "mug", "cap"]
    assert links.viewer.rows("links") == rows


def test_rp2_rp3_one_link_has_its_days_amounts_and_orders(links):
    shown = links.reader.object("link", link="mug")
    command = links.sluice.json("link", "show", "mug")
    assert {name: shown[name] for name in command} == command
    days = {row["day"]: (row["clicks"], row["devices"], row["orders"]) for row in shown["days"]}
    assert (len(days), min(days), max(days)) == (30, "2026-02-09", "2026-03-10")
    assert {day: row for day, row in days.items() if any(row)} == {
        "2026-02-20": (1, 1, 0), "2026-03-01": (3, 2, 0), "2026-03-02": (0, 0, 1)}
    assert shown["conversion"] == "0.3333"
    assert shown["amounts"] == [{"currency": "USD", "earned": "8.00", "adjusted": "0.00"}]
    assert shown["newest_orders"] == [row for row in links.reader.rows("orders") if row["order_id"] == "o1"]
    assert (shown["newest_orders_cut"], shown["names"]) == (False, {})
    viewed = links.viewer.object("link", link="mug")
    assert viewed == {**shown, "amounts": None}
    assert links.reader.get("link", link="none").code == "not_found"
    assert links.reader.object("link", link="hat")["conversion"] is None


def test_rp3_clicks_without_read_ledger_have_no_amounts(links):
    rows = links.reader.rows("clicks", by="link", **MARCH)
    assert rows == links.sluice.json("report", "clicks", *MINE, "--by", "link", *(word for name in MARCH for word in (f"--{name}", MARCH[name])))
    assert {row["link_id"]: (row["clicks"], row["conversion"], row["earned"]) for row in rows} == {
        "mug": (3, "0.5", "8.00"), "cap": (4, "0", None)}
    hidden = {"currency": None, "earned": None, "adjusted": None}
    assert links.viewer.rows("clicks", by="link", **MARCH) == [{**row, **hidden} for row in rows]


def test_rp1_a_creator_has_twelve_months_and_links(links):
    for reader in (links.reader, links.viewer):
        ann = reader.object("creator", creator="ann")
        months = {row["month"]: row for row in ann["click_months"]}
        assert (len(months), min(months), max(months)) == (12, "2025-04", "2026-03")
        command = links.sluice.json("report", "clicks", *MINE, "--by", "month", "--creator", "ann")
        assert [row["period"] for row in command] == [month for month, row in months.items() if row["clicks"]] == ["2026-02", "2026-03"]
        for row in command:
            assert months[row["period"]] == {"month": row["period"], **{name: row[name] for name in ("clicks", "devices", "orders", "conversion")}}
        assert ann["links"] == [row for row in reader.rows("links", sort="-clicks") if row["creator_id"] == "ann"]
        assert [row["link_id"] for row in reader.object("creator", creator="robert")["links"]] == ["cap"]


def test_rp1_more_than_10000_links_are_sorted_for_one_creator_only(links, tmp_path):
    file = tmp_path / "links.csv"
    file.write_text("link_id,program_id,creator_id,to\n" + "".join(f"l{number:05},spring,ann,{TO}\n" for number in range(10_000)))
    links.sluice("link", "import", file, *MINE)
    answer = links.reader.get("links", sort="-clicks")
    assert (answer.status, [error["parameter"] for error in answer.json()["errors"]]) == (400, ["sort"])
    assert links.reader.object("links", sort="-clicks", creator="ann", limit=1)["items"][0]["link_id"] == "mug"
    assert len(links.reader.rows("links", limit=1000)) == 10_003
    assert [link for link, _ in links.listed(q="cap")] == ["cap"]


def test_search_finds_links_and_names_their_state(links):
    def hits(text, reader=links.reader):
        return [(row["id"], row["match"], row["creator_id"], row["sentence"]) for row in reader.rows("search", q=text) if row["kind"] == "link"]

    assert hits("mug") == hits("mug", links.viewer) == [("mug", "exact", "ann", "link of ann in spring")]
    assert hits("ca") == [("cap", "beginning", "robert", "link of robert in spring")]
    links.sluice("link", "remove", "hat", *MINE)
    assert hits("AT") == [("hat", "part", "ann", "link of ann in spring, removed")]
    assert hits("none") == []


def test_an_order_names_the_click_that_brought_it_and_one_without_a_device_id_says_so(links):
    shown = links.reader.object("order", shop="shop-1", order="o1")
    assert [(one["link_id"], one["clicked_at"], one["won"]) for one in shown["attribution"]["candidates"]] == [
        ("mug", "2026-03-01T12:50:00Z", True)]
    links.order("o2", None, "2026-03-02T10:00:00Z")
    assert links.reader.object("order", shop="shop-1", order="o2")["answer"]["sentence"] == "No creator: the order carries no device id."
    links.order("o3", 77, "2026-03-02T10:00:00Z")
    assert "no click of its device is known" in links.reader.object("order", shop="shop-1", order="o3")["answer"]["sentence"]


# In a browser --------------------------------------------------------------------------------------------------------


def before(**time):
    return (datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(**time)).strftime("%Y-%m-%dT%H:%M:%SZ")


def fill(made):
    """Thirty days of clicks, and orders of some devices."""
    device = 0
    for day in range(29, -1, -1):
        for link, creator, count in (("mug", "ann", 3 + 7 * day % 11), ("hat", "ann", 1 + day % 3), ("cap", "bob", 2)):
            devices = range(device, device + count)
            device += count
            made.click(link, creator, *((number, before(days=day, minutes=90)) for number in devices))
            if link == "mug" and day % 4 == 1:
                made.order(f"o{day}", devices[0], before(days=day, minutes=89))
    made.order("bare", None, before(hours=2))
    made.click("mug", "ann", (device, at := before(hours=1)))
    made.order("fast", device, (datetime.datetime.fromisoformat(at) + datetime.timedelta(seconds=4)).strftime("%Y-%m-%dT%H:%M:%SZ"))


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    made, folder = tmp_path_factory.mktemp("made"), paths.make_folder()
    try:
        with served_shop(made) as live:
            fill(Links(live))
            live.edge.sluice("link", "stop", "hat", *MINE)
            live.edge.sluice("user", "add", GINA, *MINE, "--role", "manager")
            (folder / "store").symlink_to(live.edge.store)
            hashed = subprocess.run(["openssl", "passwd", "-apr1", "secret"], check=True, capture_output=True, text=True).stdout
            (folder / "htpasswd").write_text(f"{GINA}:{hashed}")
            with Site(folder, live.edge.sluice, "sluice-login-basic.conf", options=("--rate-limit", "100000/60")) as running:
                yield running
    finally:
        paths.drop_folder(folder)


VIEWS = {"links": {"view": "links"}, "best": {"view": "links", "sort": "-clicks"}, "link": {"view": "link", "link": "mug"},
         "stopped": {"view": "link", "link": "hat"}, "creator": {"view": "creator", "creator": "ann"},
         "order": {"view": "order", "shop": "shop-1", "order": "fast"}, "bare": {"view": "order", "shop": "shop-1", "order": "bare"}}


def test_the_views_of_links_have_no_barrier_and_scroll_nowhere_sideways(visit, axe):  # noqa: F811
    for name, query in VIEWS.items():
        with visit(**query) as page:
            assert page.run("document.querySelector('main .note.bad')?.innerText ?? ''") == "", name
            assert page.run("document.querySelectorAll('[style]').length") == 0, name
            check_barriers(page, axe, name, SIZES)
            take_pictures(page, f"links-{name}")


def test_a_link_is_found_and_shows_figures_orders_and_commands(visit):  # noqa: F811
    with visit(view="search", q="mug") as page:
        page.wait("document.querySelector('main h1').innerText === 'Link mug'")
        tiles = page.text(".tiles")
        assert [line for line in tiles.splitlines() if line in ("Clicks", "Devices", "Orders", "Earned")] == ["Clicks", "Devices", "Orders", "Earned"]
        assert "% of the devices" in tiles and page.run("document.querySelectorAll('.charts svg').length") == 2
        assert rows_of(page, "Orders")[0][0] == "fast"
        text = page.text("main")
        assert f"sluice link set mug --account acme --to {TO}mug" in text and "sluice link stop mug --account acme" in text
    with visit(view="link", link="hat") as page:
        assert "visitors still arrive, and nothing counts." in page.text(".answer") and "sluice link start hat --account acme" in page.text("main")


def test_the_list_of_links_is_sorted_and_filtered(visit):  # noqa: F811
    with visit(view="links", creator="ann") as page:
        assert [row[0].split()[0] for row in rows_of(page, "Links")] == ["hat", "mug"]
        assert page.run("[...document.querySelectorAll('main thead th')].map((one) => one.textContent)") == [
            "Link", "Creator", "Program", "Clicks, 30 days", "Devices", "Orders", "Clicks this month"]
        page.click(".tabs li:nth-child(2) a")
        page.wait("document.querySelector('.tabs [aria-current]')?.textContent === 'Most clicks of the month'")
        assert urllib.parse.parse_qs(urllib.parse.urlsplit(page.run("location.href")).query)["creator"] == ["ann"]


def test_a_creators_view_has_clicks_by_month_and_links(visit):  # noqa: F811
    with visit(view="creator", creator="ann") as page:
        assert "Clicks and devices by month" in page.text() and "All links of ann" in page.text()
        assert [row[0].split()[0] for row in rows_of(page, "Links")][0] == "mug"


def test_an_orders_history_begins_with_the_click(visit):  # noqa: F811
    with visit(view="order", shop="shop-1", order="fast") as page:
        steps = page.text(".timeline").splitlines()
        assert "Click on mug of ann" in steps and "4 s before the order" in steps, steps
        assert steps.index("Click on mug of ann") < steps.index("Order received")
    with visit(view="order", shop="shop-1", order="bare") as page:
        assert page.text(".answer.first") == "No creator: the order carries no device id."


def test_times_before_an_order_have_their_largest_unit(visit):  # noqa: F811
    with visit(view="links") as page:
        said = page.run("""import('./format.js').then((format) => [[0, 4], [0, 90], [0, 7200], [0, 172800], [3, 0], [0, 0.2]].map(([at, other]) =>
            format.before(new Date(at * 1000).toISOString(), new Date(other * 1000).toISOString()))
            .concat(['0.125', '1', '0.0333', '12', '0'].map(format.percent)))""")
        assert said == ["4 s before", "1 min before", "2 h before", "2 days before", "3 s after", "0 s before", "12.5%", "100%", "3.33%", "1200%", "0%"]


def test_today_names_a_shop_without_device_ids(visit):  # noqa: F811
    sentence = "shop-1: no order of yesterday carries a device id, and 320 devices clicked"
    line = {"kind": "shops_without_devices", "amounts": []}
    with visit(view="today") as page:
        for count, sentences, words in ((1, [sentence], sentence), (2, [sentence, "shop-2: likewise"], "shops whose orders carry no device id")):
            page.run(f"""import('./api.js').then(({{ get }}) => get('today')).then((data) => import('./views/today.js').then((view) =>
                document.querySelector('main').replaceChildren(...view.default.show({{ ...data, waiting: [{{ ...{line}, count: {count}, sentences: {sentences} }}] }}))))""")
            assert words in page.text(".waiting") and sentence in page.text(".waiting")
