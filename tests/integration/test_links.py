"""Creators' links through a real nginx: answers, cookies, what counts, publication, balance of the figures."""

import http.cookies
import json
import re
import signal
import struct
import subprocess
import time
import urllib.parse

import pytest
from harness import cli, paths
from harness.orders import order
from model.rules import Shop

CONFIG = """
    sluice_store @STORE@ map_size=1g thread_pool=sluice offload_pool=offload;
    sluice_rate_limit off;
    sluice_click_buffer 4096 flush=50ms;
    log_format links '$status|$sluice_link|$sluice_link_id|$uri';

    server {
        listen 127.0.0.1:@PORT@ reuseport;
        server_name go.shop.example;
        access_log @DIR@/links.log links;
        add_header X-Seq $sluice_seq always;
        add_header X-Worker $pid always;
        add_header X-Receipt $sluice_receipt always;
        error_page 418 = @nothing;
        location = /event/ecomm { sluice_ingest events; }
        location /l/ { sluice_link; }
        location /only/ { sluice_link account=nobody; }
        location /home/ { sluice_link fallback=https://shop.example/home; }
        location /none/ { sluice_link; sluice_link_cookie off; }
        location /bare/ { sluice_link; sluice_link_parameter off; }
        location /wide/ { sluice_link; sluice_link_cookie 400d domain=shop.example httponly; }
        location /skip/ { sluice_link; sluice_link_skip $http_x_refused $http_sec_gpc; }
        location /oly/ { sluice_link; sluice_header_prefix X-OLY-; }
        location /limited/ { sluice_link; limit_except GET { deny all; } if ($arg_no) { return 418; } }
        location @nothing { return 204; }
        location /sluice/ { sluice_status; }
    }
"""
MUG = "https://shop.example/mug?x=1#top"
ID = r"[A-Za-z0-9_-]{22}"
UNKNOWN = 404


@pytest.fixture(scope="module")
def edge():
    from harness.edge import Edge

    with Edge(CONFIG) as running:
        yield running.start()


class World(Shop):
    """A program of 10 % net with Ann and Bob, and links of their own."""

    def __init__(self, edge):
        super().__init__(edge)
        self.apply_program()
        self.codes((self.ann, "", None), (self.bob, "", None))

    def link(self, name, to=MUG, creator=None, *more):
        """Creates a link and returns its id. nginx has it then."""
        link = f"{self.account}-{name}"
        said = self.sluice("link", "create", link, "--account", self.account, "--program", self.program,
                           "--creator", creator or self.ann, "--to", to, *more)
        assert said.strip() == f"link {link} created", said
        wait_for_link(self.edge, link)
        return link

    def get(self, target, *headers, method="GET"):
        return self.edge.request(method, target, list(headers))

    def change(self, verb, link, *more):
        return self.sluice("link", verb, link, "--account", self.account, *more)

    def clicks(self, link=None):
        """(clicks, devices) that the ledger has of a link, or of all."""
        settled(self.edge)
        self.sluice.drain()
        rows = self.sluice.json("report", "clicks", "--account", self.account, "--by", "link")
        rows = [row for row in rows if link is None or row["link_id"] == link]
        return sum(row["clicks"] for row in rows), sum(row["devices"] for row in rows)


@pytest.fixture
def world(edge):
    return World(edge)


def wait_for_link(edge, link):
    """Every worker serves it: they read new links on threads."""
    served = set()

    def all_serve():
        with edge.connect() as connection:
            answer = connection.request("HEAD", f"/l/{link}", [])
        if answer.status == 302:
            served.add(answer.header("X-Worker"))
        return len(served) == int(edge.values["WORKERS"])
    paths.wait_until(all_serve, f"each worker of nginx to serve {link}")


def figures(edge):
    """{result: requests}, lost, and clicks that are not written."""
    links = json.loads(edge.request("GET", "/sluice/status.json", []).body)["links"]
    return links["results"], links["clicks_lost"], links["clicks_buffered"]


def settled(edge):
    paths.wait_until(lambda: figures(edge)[2] == 0, "the clicks to be written")


def went_to(answer):
    """The address of a redirect, without and with its device id."""
    assert answer.status == 302 and answer.body == b"", answer
    address = answer.header("Location")
    device = re.search(r"svc_anon_id=([^&#]*)", address)
    return address, device and device.group(1)


def cookie_of(answer):
    """The one cookie of an answer, with its attributes."""
    text = answer.header("Set-Cookie")
    if text is None:
        return None
    name, _, rest = text.partition("=")
    value, _, attributes = rest.partition("; ")
    return name, value, attributes


def is_plain(answer, to=MUG):
    """A redirect that counts nothing: no cookie, no parameter."""
    return went_to(answer) == (to, None) and cookie_of(answer) is None


# Worked examples -----------------------------------------------------------------------------------------------


def test_example_8_a_click_and_its_headers(world):
    link = world.link("mug")
    answer = world.get(f"/l/{link}")
    address, device = went_to(answer)
    assert re.fullmatch(ID, device)
    assert address == f"https://shop.example/mug?x=1&svc_anon_id={device}#top"
    assert cookie_of(answer) == ("svc_anon_id", device, "Max-Age=2592000; Path=/; Secure; SameSite=Lax")
    assert answer.header("Cache-Control") == "no-store" and answer.header("X-Robots-Tag") == "noindex, nofollow"
    assert world.clicks(link) == (1, 1)


def test_example_9_a_deep_link(world):
    link = world.link("deep", "https://shop.example/us", None, "--deep")
    address, device = went_to(world.get(f"/l/{link}/mug?utm_source=ig"))
    assert address == f"https://shop.example/us/mug?utm_source=ig&svc_anon_id={device}"
    assert went_to(world.get(f"/l/{link}//evil.example"))[0].startswith("https://shop.example/us//evil.example?")
    assert world.get(f"/l/{link}/%2e%2e/admin").status == UNKNOWN
    assert world.get(f"/l/{link}/a\\b").status == UNKNOWN
    assert went_to(world.get(f"/l/{link}?svc_anon_id=x&svc%5Fanon_id=y&a=1&svc_anon_id=z"))[0].count("anon_id") == 1


def test_example_10_a_guess_gets_no_redirect_and_the_visit_counts_once(world):
    link = world.link("guess")
    guess = world.get(f"/l/{link}", ("Sec-Purpose", "prefetch;prerender"))
    assert guess.status == 503 and not guess.has("Retry-After") and cookie_of(guess) is None
    assert guess.header("Cache-Control") == "no-store"
    assert went_to(world.get(f"/l/{link}"))[1]
    assert world.clicks(link) == (1, 1)


@pytest.mark.parametrize("header", [("Purpose", "prefetch"), ("X-Moz", "Prefetch"), ("X-Purpose", "preview"),
                                    ("Sec-Purpose", "PREFETCH")])
def test_every_header_of_a_guess_is_known(world, header):
    assert world.get(f"/l/{world.link('guess')}", header).status == 503


@pytest.mark.parametrize("destination", ["image", "iframe", "script", "empty"])
def test_example_11_a_part_of_a_page_counts_nothing(world, destination):
    link = world.link("part")
    assert is_plain(world.get(f"/l/{link}", ("Sec-Fetch-Dest", destination)))
    assert went_to(world.get(f"/l/{link}", ("Sec-Fetch-Dest", "Document")))[1]
    assert world.clicks(link) == (1, 1)


def test_example_13_repeated_clicks(world):
    link = world.link("twice")
    _, device = went_to(world.get(f"/l/{link}"))
    for _ in range(2):
        time.sleep(0.01)  # clicks of one millisecond are one click
        assert went_to(world.get(f"/l/{link}", ("Cookie", f"svc_anon_id={device}")))[1] == device
    assert world.clicks(link) == (1, 1)
    stored = world.sluice.json("click", "list", "--account", world.account)
    assert len(stored) == 3


def test_example_14_stop_and_remove(world):
    link = world.link("ends")
    world.change("stop", link)
    counted = []

    def is_stopped():
        answer = world.get(f"/l/{link}")
        counted.append(went_to(answer)[1] is not None)
        return is_plain(answer)

    paths.wait_until(is_stopped, "the link to be stopped in the first process")
    for _ in range(4):
        paths.wait_until(lambda: is_plain(world.get(f"/l/{link}")), "the link to be stopped")
    world.change("remove", link)
    for _ in range(4):
        paths.wait_until(lambda: world.get(f"/l/{link}").status == UNKNOWN, "the link to be gone")
    again = world.sluice.run("link", "create", link, "--account", world.account, "--program", world.program,
                             "--creator", world.ann, "--to", MUG)
    assert again.returncode == 1 and "never used again" in again.stderr
    assert sum(counted) <= world.clicks(link)[0]


def test_example_12_beyond_half_a_queue_clicks_are_dropped():
    """Visitors arrive, orders are stored, and clicks leave them the room (RD6)."""
    from harness.edge import Edge

    with Edge(CONFIG.replace("map_size=1g", "map_size=8m"), workers=1) as edge:
        edge.start()
        world = World(edge)
        link = world.link("half")
        went_to(world.get(f"/l/{link}"))
        settled(edge)
        for _ in range(100):
            world.send(order(note="x" * 50_000))
        before = figures(edge)
        answer = world.get(f"/l/{link}")
        address, device = went_to(answer)
        assert re.fullmatch(ID, device) and cookie_of(answer)[1] == device
        after = figures(edge)
        assert after[0]["dropped"] == before[0]["dropped"] + 1 and after[0]["click"] == before[0]["click"]
        assert after[1] == 0 and after[2] == 0
        world.send(order())
        assert world.clicks(link) == (1, 1)

        def counts_again():
            went_to(world.get(f"/l/{link}"))
            return figures(edge)[0]["click"] > after[0]["click"]

        paths.wait_until(counts_again, "clicks to count again")


def test_an_order_of_the_device_is_the_creators(world):
    link = world.link("mug")
    _, device = went_to(world.get(f"/l/{link}"))
    settled(world.edge)
    now = cli.now()
    world.send(order(svc_anon_id=device, platform_ordered_at=now, platform_updated_at=now))
    row = world.only_order()
    assert (row["creator_id"], row["attribution_types"]) == (world.ann, ["LANDED"])
    (sale,) = world.sluice.json("report", "clicks", "--account", world.account, "--by", "link")
    assert (sale["link_id"], sale["clicks"], sale["orders"], sale["earned"]) == (link, 1, 1, "8.00")
    shown = world.sluice.json("link", "show", link)
    assert (shown["clicks"], shown["devices"], shown["orders"], shown["state"]) == (1, 1, 1, "active")


# Requests that count nothing, or are refused -------------------------------------------------------------------


def test_a_head_counts_nothing(world):
    link = world.link("head")
    answer = world.get(f"/l/{link}", method="HEAD")
    assert answer.header("Location") == MUG and cookie_of(answer) is None
    assert world.clicks(link) == (0, 0)


def test_other_methods_are_refused(world):
    for method in ("POST", "PUT", "DELETE", "OPTIONS"):
        answer = world.get(f"/l/{world.account}", method=method)
        assert (answer.status, answer.header("Allow"), answer.header("Cache-Control")) == (405, "GET, HEAD", "no-store")


def test_unknown_links_are_all_alike(world):
    link = world.link("mug")
    seen = set()
    for target in ("/l/", f"/l/{'a' * 65}", "/l/nobody", f"/l/{link}/x", f"/l/{link}//", f"/only/{link}", "/l/%41nna",
                   f"/x/../l/{link}", f"//l/{link}"):
        answer = world.get(target)
        seen.add((answer.status, answer.body, answer.header("Cache-Control"), answer.has("Set-Cookie")))
    assert len(seen) == 1 and seen.pop()[0] == UNKNOWN
    assert world.get("/l/%00").status == 400
    assert world.get(f"/home/{link}x").header("Location") == "https://shop.example/home"
    assert world.get("/home/").header("Location") == "https://shop.example/home"


def test_a_lone_slash_is_no_rest(world):
    link = world.link("slash")
    assert went_to(world.get(f"/l/{link}/"))[1]
    assert went_to(world.get(f"/l/{link}?utm_source=x"))[0].startswith("https://shop.example/mug?x=1&svc_anon_id=")


def test_a_suspended_account_has_no_links(world):
    link = world.link("suspended")
    world.sluice("account", "suspend", world.account)
    for _ in range(4):
        paths.wait_until(lambda: world.get(f"/l/{link}").status == UNKNOWN, "the account to be suspended")
    world.sluice("account", "resume", world.account)
    for _ in range(4):
        paths.wait_until(lambda: world.get(f"/l/{link}").status == 302, "the account to be back")


def test_privacy_signals_and_consent(world):
    link = world.link("gpc")
    assert is_plain(world.get(f"/l/{link}", ("Sec-GPC", "1")))
    assert went_to(world.get(f"/l/{link}", ("Sec-GPC", "0")))[1]
    assert went_to(world.get(f"/l/{link}", ("DNT", "1")))[1]
    assert is_plain(world.get(f"/skip/{link}", ("X-Refused", "yes")))
    assert is_plain(world.get(f"/skip/{link}", ("Sec-GPC", "1")))
    assert went_to(world.get(f"/skip/{link}"))[1]


# Cookie and parameter ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cookies, kept", [
    (["svc_anon_id=0123456789abcdef"], True),
    (["a=b; svc_anon_id=\"0123456789abcdef\"; svc_anon_id=0123456789abcdef"], True),
    (["svc_anon_id=short", "svc_anon_id=0123456789abcdef"], True),
    (["svc_anon_id=\"0123456789abcdef\""], False),
    (["svc_anon_id=" + "a" * 4096], False),
    (["SVC_ANON_ID=0123456789abcdef; xsvc_anon_id=0123456789abcdef"], False),
])
def test_the_first_sound_cookie_counts(world, cookies, kept):
    link = world.link("cookie")
    answer = world.get(f"/l/{link}", *[("Cookie", text) for text in cookies])
    _, device = went_to(answer)
    assert (device == "0123456789abcdef") == kept and cookie_of(answer)[1] == device
    assert kept or re.fullmatch(ID, device)


def test_a_parameter_of_the_request_is_never_the_device(world):
    link = world.link("given")
    _, device = went_to(world.get(f"/l/{link}?svc_anon_id=0123456789abcdef"))
    assert re.fullmatch(ID, device)


def test_cookie_and_parameter_can_be_off(world):
    link = world.link("off")
    answer = world.get(f"/none/{link}", ("Cookie", "svc_anon_id=0123456789abcdef"))
    assert cookie_of(answer) is None and re.fullmatch(ID, went_to(answer)[1])
    answer = world.get(f"/bare/{link}")
    assert went_to(answer) == (MUG, None) and re.fullmatch(ID, cookie_of(answer)[1])
    settled(world.edge)
    assert world.clicks(link) == (2, 2)


def test_domain_time_and_httponly(world):
    link = world.link("wide")
    name, value, attributes = cookie_of(world.get(f"/wide/{link}"))
    assert attributes == "Max-Age=34560000; Path=/; Secure; SameSite=Lax; Domain=shop.example; HttpOnly"
    parsed = http.cookies.SimpleCookie(f"{name}={value}; {attributes}")
    assert parsed[name]["domain"] == "shop.example"


def test_another_prefix_names_cookie_and_parameter(world):
    link = world.link("oly")
    answer = world.get(f"/oly/{link}", ("Cookie", "oly_anon_id=0123456789abcdef; svc_anon_id=fedcba9876543210"))
    assert cookie_of(answer)[:2] == ("oly_anon_id", "0123456789abcdef")
    assert "oly_anon_id=0123456789abcdef" in answer.header("Location")


def test_blocks_inside_the_location_serve_the_same(world):
    link = world.link("inside")
    assert went_to(world.get(f"/limited/{link}"))[1]
    assert world.get(f"/limited/{link}", method="POST").status == 403
    assert world.get(f"/limited/{link}?no=1").status == 204


# Figures, log ------------------------------------------------------------------------------------------------------


def test_results_are_counted_and_logged(world):
    link = world.link("counted")
    settled(world.edge)
    before, lost, _ = figures(world.edge)
    world.get(f"/l/{link}")
    world.get(f"/l/{link}", method="HEAD")
    world.get(f"/l/{link}", ("Sec-Fetch-Dest", "image"))
    world.get(f"/l/{link}", ("Sec-GPC", "1"))
    world.get(f"/l/{link}", ("Purpose", "prefetch"))
    world.get("/l/nobody-has-it")
    world.get(f"/l/{link}", method="POST")
    settled(world.edge)
    after, lost_after, _ = figures(world.edge)
    rose = {name: after[name] - before[name] for name in after if after[name] != before[name]}
    assert rose == dict.fromkeys(("click", "head", "embedded", "skipped", "speculative", "unknown", "method"), 1)
    assert lost_after == lost
    text = world.edge.request("GET", "/sluice/metrics", []).body.decode()
    assert 'sluice_links_total{result="click"}' in text and "sluice_click_buffer_clicks 0" in text
    log = world.edge.folder / "links.log"
    for line in (f"302|click|{link}|/l/{link}", f"302|head|{link}|/l/{link}", "404|unknown|nobody-has-it|/l/nobody-has-it"):
        paths.wait_until(lambda line=line: line in log.read_text(), line)


def test_no_device_id_is_stored_or_logged(world):
    link = world.link("private")
    device = "a-very-private-device-of-a-link"
    assert went_to(world.get(f"/l/{link}", ("Cookie", f"svc_anon_id={device}")))[1] == device
    settled(world.edge)
    world.sluice.drain()
    for path in [*world.edge.store.rglob("*"), world.edge.folder / "links.log", world.edge.error_log]:
        if path.is_file():
            assert device.encode() not in path.read_bytes(), path


def rows_in_the_log(world):
    """Rows of `CLICK` records that the ledger of this node has applied, of whatever outcome."""
    world.sluice.drain()
    text = world.edge.request("GET", "/sluice/metrics", []).body.decode()
    found = dict(re.findall(r'sluice_clicks_total\{outcome="(\w+)"\} (\d+)', text))
    return sum(int(found[name]) for name in ("stored", "known", "no_link"))


def test_reload_and_quit_lose_no_click(edge):
    world = World(edge)
    link = world.link("kept")
    settled(edge)
    start, (before, lost, _) = rows_in_the_log(world), figures(edge)
    for _ in range(3):
        for _ in range(20):
            went_to(world.get(f"/l/{link}"))
        edge.reload()
    for _ in range(20):
        went_to(world.get(f"/l/{link}"))
    edge.stop(signal.SIGQUIT)
    edge.start()
    settled(edge)
    assert rows_in_the_log(world) - start == 80
    after, lost_after, _ = figures(edge)
    assert (after["dropped"], lost_after) in ((before["dropped"], lost), (0, 0))
    assert world.clicks(link) == (80, 80)
