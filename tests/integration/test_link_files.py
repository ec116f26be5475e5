"""Links from the command to nginx: publication, damage, the commands, the configuration, the device identification call."""

import json
import signal
import struct
import subprocess
import time
import urllib.parse

import pytest
from harness import paths
from test_links import CONFIG, MUG, World, edge, is_plain, went_to, world  # noqa: F401

# Publication -------------------------------------------------------------------------------------------------------


@pytest.fixture
def own():
    """An nginx whose files a test may damage."""
    from harness.edge import Edge

    with Edge(CONFIG, workers=1) as running:
        running.start()
        yield running, World(running)


def test_rd2_before_a_worker_ran_visitors_are_asked_to_come_again_and_then_every_link_is_unknown():
    """Row 3, then row 4: a worker publishes at its start (LK3), also for a store that never had a link."""
    from harness.edge import Edge

    with Edge(CONFIG, workers=1) as edge:
        edge.start()
        assert not (edge.store / "links" / "published").exists()
        answer = edge.request("GET", "/l/anna", [])
        assert answer.status == 503 and answer.header("Retry-After") == "1" and answer.header("Cache-Control") == "no-store"
        assert edge.request("GET", "/home/anna", []).header("Location") == "https://shop.example/home"
        worker = subprocess.Popen([paths.SLUICE, "--store", edge.store, "worker"], stderr=subprocess.DEVNULL)
        try:
            paths.wait_until(lambda: edge.request("GET", "/l/anna", []).status == 404, "an empty file")
        finally:
            worker.terminate()
            assert worker.wait(timeout=paths.DEADLINE) == 0
        World(edge).link("first")


def test_lk3_a_worker_that_ends_leaves_a_file_without_links(own):
    edge, world = own
    edge.sluice.drain()
    paths.wait_until(lambda: world.get("/l/anna").status == 404, "an empty file")


def test_a_file_that_is_damaged_or_foreign_changes_nothing(own):
    edge, world = own
    link = world.link("stays")
    published = edge.store / "links" / "published"
    whole = published.read_bytes()
    page = edge.store / "links" / "generation"

    def next_generation():
        (generation,) = struct.unpack_from("<Q", page.read_bytes())
        with open(page, "r+b") as file:
            file.write(struct.pack("<Q", generation + 1))

    foreign = bytearray(whole)
    foreign[8:44] = b"11111111-2222-3333-4444-555555555555"
    for damaged in (whole[:-1], whole[: len(whole) // 2], b"", bytes(foreign), whole[:-1] + b"\0", whole):
        published.with_name("other").write_bytes(damaged)
        published.with_name("other").rename(published)
        next_generation()
        time.sleep(0.1)
        assert went_to(world.get(f"/l/{link}"))[1]

    def problem():
        status = json.loads(edge.request("GET", "/sluice/status.json", []).body)
        return [one for one in status["problems"] if one["code"] == "links_unreadable"]

    paths.wait_until(problem, "the status to name the file")
    said = edge.sluice.run("doctor", "--format", "json")
    assert any(row["check"] == "links" and row["result"] != "ok" for row in json.loads(said.stdout)), said.stdout
    assert "links:" in edge.log()
    edge.reload()  # new processes had none before
    assert world.get(f"/l/{link}").status == 503
    (generation,) = struct.unpack_from("<Q", page.read_bytes())
    world.change("set", link, "--to", "https://shop.example/new")
    paths.wait_until(lambda: world.get(f"/l/{link}").status == 302, "the new file")
    assert went_to(world.get(f"/l/{link}"))[0].startswith("https://shop.example/new?")
    assert struct.unpack_from("<Q", page.read_bytes())[0] > generation


def test_a_running_worker_publishes_and_links_stay_without_one(own):
    edge, world = own
    link = world.link("runs")
    worker = subprocess.Popen([paths.SLUICE, "--store", edge.store, "worker"], stderr=subprocess.DEVNULL)
    try:
        said = world.change("set", link, "--to", "https://shop.example/second")
        assert "not published" not in said
        paths.wait_until(lambda: "second" in world.get(f"/l/{link}").header("Location"), "the change")
    finally:
        worker.terminate()
        worker.wait()
    edge.reload()
    assert "second" in world.get(f"/l/{link}").header("Location")


def test_a_restart_of_nginx_needs_no_worker(own):
    edge, world = own
    link = world.link("again")
    edge.stop()
    edge.start()
    assert went_to(world.get(f"/l/{link}"))[1]


# Commands ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("to, says", [
    ("javascript:alert(1)", "--to: byte 1 of the URL: expected https://"),
    ("//evil.example", "--to: byte 1"),
    ("https://u:p@h/", "--to: byte 12 of the URL: expected no user name"),
    ("https://shop.example/a b", "--to: byte 23"),
    ("http://shop.example/", "--allow-http admits http://"),
    ("https://shop.example/?svc%5Fanon_id=x", "expected no parameter svc_anon_id"),
    ("https://2130706433/", "libcurl"),
])
def test_a_destination_that_is_none_is_refused_with_its_place(world, to, says):
    said = world.sluice.run("link", "create", "x", "--account", world.account, "--program", world.program,
                            "--creator", world.ann, "--to", to)
    assert said.returncode == 1 and says in said.stderr, said.stderr


def test_what_never_changes_has_no_option(world):
    link = world.link("fixed")
    for option in ("--creator", "--program"):
        said = world.sluice.run("link", "set", link, "--account", world.account, option, world.bob)
        assert said.returncode == 2
    other = World(world.edge)
    said = other.sluice.run("link", "create", link, "--account", other.account, "--program", other.program,
                            "--creator", other.ann, "--to", MUG)
    assert said.returncode == 1 and "is taken" in said.stderr
    assert other.sluice.run("link", "remove", link, "--account", other.account).returncode == 1
    for name in (".", "..", "a" * 65, "a/b", ""):
        assert world.sluice.run("link", "show", name).returncode == 2, name


def test_a_link_that_leads_elsewhere_is_set(world):
    link = world.link("elsewhere")
    other = ("--to", "https://shop.example/other")
    said = world.sluice.run("link", "create", link, "--account", world.account, "--program", world.program,
                            "--creator", world.ann, *other)
    assert said.returncode == 1 and "`sluice link set` changes it" in said.stderr
    assert "leads to https://shop.example/other" in world.change("set", link, *other)
    assert world.sluice.json("link", "show", link)["to"] == "https://shop.example/other"


def test_odd_links_are_named_and_mended(own):
    edge, world = own
    left, circular = world.link("left"), world.link("circular", "https://go.shop.example/l/x")
    world.sluice("creator", "remove", world.ann, "--program", world.program)

    def found():
        said = edge.sluice.run("doctor", "--nginx", paths.NGINX, "--nginx-conf", str(edge.conf), "--format", "json")
        return {row["finding"]: row["remedy"] for row in json.loads(said.stdout) if row["check"] == "links"}

    remedies = found()
    assert "sluice link stop ID --account A, and the visitors still arrive" in remedies.values(), remedies
    assert "sluice link set ID --account A --to URL with the shop's own address" in remedies.values(), remedies
    world.change("set", circular, "--to", MUG)
    for link in (left, circular):
        world.change("stop", link)
    assert not any("sluice link" in (remedy or "") for remedy in found().values()), found()


def test_import_list_and_show(world):
    head = "link_id,program_id,creator_id,to,deep\n"
    row = f"{world.account}-{{}},{world.program},{{}},https://shop.example/{{}},{{}}\n"
    bad = world.file("bad.csv", head + row.format("a", world.ann, "a", "") + row.format("b", "nobody", "b", "true"))
    said = world.sluice.run("link", "import", str(bad), "--account", world.account)
    assert said.returncode == 1 and "bad.csv:3: creator nobody is not in program" in said.stderr
    assert world.sluice.json("link", "list", "--account", world.account) == []
    good = world.file("good.csv", head + row.format("a", world.ann, "a", "") + row.format("b", world.bob, "b", "true"))
    assert "2 links created" in world.sluice("link", "import", str(good), "--account", world.account)
    assert "2 rows state what is stored already" in world.sluice("link", "import", str(good), "--account", world.account)
    listed = world.sluice.json("link", "list", "--account", world.account, "--creator", world.bob)
    assert [(one["link_id"], one["deep"], one["state"]) for one in listed] == [(f"{world.account}-b", True, "active")]
    assert world.sluice.run("link", "show", f"{world.account}-c").returncode == 1


# Configuration -----------------------------------------------------------------------------------------------------



def configuration(http, server):
    return (f"sluice_store @STORE@ thread_pool=sluice offload_pool=offload;\n{http}\n"
            f"server {{ listen 127.0.0.1:@PORT@; location /sluice/ {{ sluice_status; }}\n{server}\n}}")


@pytest.mark.parametrize("http, server, says", [
    ("", "location /l/ { sluice_link; sluice_link_cookie 500d; }", "a time of 1h to 400d"),
    ("", "location /l/ { sluice_link; sluice_link_cookie 30m; }", "a time of 1h to 400d"),
    ("", "location /l/ { sluice_link; sluice_link_cookie off domain=a; }", "no further parameter"),
    ("", "location /l/ { sluice_link; sluice_link_cookie 1d domain=.a; }", "domain=NAME or httponly"),
    ("", "location /l/ { sluice_link; sluice_link_cookie 1d secure; }", "domain=NAME or httponly"),
    ("", "location /l/ { sluice_link; sluice_link_cookie off; sluice_link_parameter off; }", "leave one of them on"),
    ("sluice_link_cookie off;", "sluice_link_parameter off; location /l/ { sluice_link; }", "leave one of them on"),
    ("", "location /l/ { sluice_link; sluice_ingest events; }", "another content handler"),
    ("", "location /l/ { sluice_link; proxy_pass http://127.0.0.1:1; }", "another content handler"),
    ("", "location = /l/ { sluice_link; }", "a location with a prefix"),
    ("", "location ~ /l/ { sluice_link; }", "a location with a prefix"),
    ("", "location /l/ { sluice_link account=; }", "account=ID"),
    ("", "location /l/ { sluice_link account=a account=b; }", "twice"),
    ("", "location /l/ { sluice_link; sluice_link_cookie 1d domain=a domain=b; }", "twice"),
    ("", "location /l/ { sluice_link fallback=/home; }", "fallback=URL"),
    ("", "location /l/ { sluice_link; sluice_link; }", "duplicate"),
    ("sluice_click_buffer 63;", "", "64 to 65536 clicks"),
    ("sluice_click_buffer 65537;", "", "64 to 65536 clicks"),
    ("sluice_click_buffer 64 flush=9ms;", "", "10ms to 5s"),
    ("sluice_click_buffer 64 flush=6s;", "", "10ms to 5s"),
    ("sluice_click_buffer 64 wait=1s;", "", "10ms to 5s"),
])
def test_wrong_directives_are_refused(http, server, says):
    from harness.edge import Edge

    with Edge(configuration(http, server)) as edge:
        status, said = edge.test_configuration()
        assert status != 0 and says in said, said


IPHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) "
ANDROID = ("Mozilla/5.0 (Linux; Android 14; Pixel 8; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 "
           "Chrome/126.0.0.0 Mobile Safari/537.36")
BROWSERS = [  # RD7: of phones, and inside apps
    "Mozilla/5.0 (Linux; Android 13; CUBOT NOTE 50) AppleWebKit/537.36 Chrome/124.0 Mobile Safari/537.36",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 15_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/15.6 "
    "Mobile/15E148 Snapchat/12.02.0.31 (like Safari/8613.3.9.0.5)",
    f"{ANDROID} Snapchat/12.90.0.45 (Pixel 8; Android 14#1; gzip)",
    f"{ANDROID} Viber/22.0.0.0", f"{IPHONE}Mobile/15E148 Viber/20.6.0.0",
    f"{ANDROID} WhatsApp/2.24.12.78", f"{IPHONE}Mobile/15E148 WhatsApp/2.24.10.76",
    f"{IPHONE}Mobile/15E148 [FBAN/FBIOS;FBAV/453.0.0;FBBV/1;FBDV/iPhone14,5]",
    f"{ANDROID} [FB_IAB/FB4A;FBAV/450.0.0;IABMV/1;]", f"{IPHONE}Mobile/15E148 Instagram 330.0.0.0",
    f"{IPHONE}Mobile/15E148 [Pinterest/iOS]", f"{ANDROID} [Pinterest/Android]",
    f"{IPHONE}Mobile/15E148 Safari/604.1 Line/13.13.0", f"{ANDROID} KAKAOTALK/25.4.1 (INAPP)",
    f"{ANDROID} Telegram-Android/11.2.3 (Google Pixel 8; Android 14; SDK 34; HIGH)",
    f"{IPHONE}Mobile/15E148 [LinkedInApp]/9.29.1", f"{IPHONE}Mobile/15E148 Twitter for iPhone/10.44",
    f"{ANDROID} musical_ly_2024 BytedanceWebview/d8a21c6", f"{IPHONE}Mobile/15E148 Safari/604.1 BingSapphire/1.0",
    f"{ANDROID} baiduboxapp/13.10", f"{IPHONE}GSA/320.0 Mobile/15E148 Safari/604.1",
    f"{IPHONE}Version/17.5 Mobile/15E148 DuckDuckGo/7 Safari/605.1.15",
    "Mozilla/5.0 (X11; Linux x64) AppleWebKit/537.36 (KHTML, like Gecko) discord/1.0.9 Chrome/124.0 Electron/30.0 Safari/537.36",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Slack/4.38 Chrome/124.0 "
    "Electron/30.0 Safari/537.36 Slack_SSB/4.38",
]
ROBOTS = [
    "", "facebookexternalhit/1.1", "meta-externalagent/1.1", "Twitterbot/1.0", "TelegramBot (like TwitterBot)", "curl/7.88.1",
    "Mozilla/5.0 (compatible; Googlebot/2.1)", "Slackbot-LinkExpanding 1.0", "python-requests/2.31",
    "Mozilla/5.0 (compatible; Discordbot/2.0; +https://discordapp.com)", "WhatsApp/2.21.11.17 A",
    "Viber/18.0.1.286 CFNetwork/1335.0.3 Darwin/21.6.0", "Snapchat/12.02.0.31 CFNetwork/1335.0.3 Darwin/21.6.0",
    "Mozilla/5.0 (compatible; Snap URL Preview Service; bot; snapchat; https://developers.snap.com/robots)",
    "facebookexternalhit/1.1;line-poker/1.0", "facebookexternalhit/1.1; kakaotalk-scrap/1.0", "Pinterestbot/1.0",
    "LinkedInBot/1.0 (compatible; Mozilla/5.0; Apache-HttpClient +http://www.linkedin.com)",
]


def shipped_configuration():
    folder = paths.ROOT / "conf" / "nginx"
    return configuration((folder / "sluice-links-http.conf").read_text(), (folder / "sluice-links.conf").read_text())


def test_the_shipped_configuration_knows_robots_and_no_phones():
    """RD7: a browser inside an app names the app, and so does the app's preview."""
    from harness.edge import Edge

    unlimited = shipped_configuration().replace("rate=20r/s", "rate=10000r/s")
    with Edge(unlimited, workers=1) as edge:
        edge.start()
        world = World(edge)
        link = world.link("robots")
        for browser in BROWSERS:
            assert went_to(world.get(f"/l/{link}", ("User-Agent", browser)))[1], browser
        for robot in ROBOTS:
            assert is_plain(world.get(f"/l/{link}", ("User-Agent", robot))), robot


def test_the_shipped_configuration_limits_an_address():
    from harness.edge import Edge

    with Edge(shipped_configuration(), workers=1) as edge:
        edge.start()
        link = World(edge).link("limited")
        with edge.connect() as connection:
            statuses = [connection.request("GET", f"/l/{link}", [("User-Agent", IPHONE)]).status for _ in range(120)]
        assert statuses[0] == 302 and statuses[-1] == 429


def test_addresses_that_a_browser_reads_otherwise_stay_the_shops(world):
    """Whatever the rest, the browser stays on the shop's origin."""
    link = world.link("origin", "https://shop.example", None, "--deep")
    for rest in ("//evil.example", "/@evil.example", "/:80@evil.example", "/.evil.example", "/%40evil.example/"):
        address, _ = went_to(world.get(f"/l/{link}{rest}"))
        assert urllib.parse.urlsplit(address).hostname == "shop.example", address


# The device identification call ---------------------------------------------------------------------------------

DEVICE, CALL = "0123456789abcdefghijkl", """
    sluice_store @STORE@ thread_pool=sluice offload_pool=offload;
    server {
        listen 127.0.0.1:@PORT@;
        location = /id { sluice_device_id origin=https://shop.example origin=https://www.shop.example:8443; }
        location = /own { sluice_device_id; sluice_header_prefix X-OLY-; }
        location /sluice/ { sluice_status; }
    }
"""


@pytest.fixture(scope="module")
def called():
    from harness.edge import Edge

    with Edge(CALL, workers=1) as running:
        yield running.start()


def ask(edge, *headers, target="/id", method="GET"):
    answer = edge.request(method, target, list(headers))
    assert answer.header("Cache-Control") == "no-store" and not answer.has("Set-Cookie")
    return answer


def test_the_call_answers_with_the_cookies_device(called):
    answer = ask(called, ("Cookie", f"a=b; svc_anon_id={DEVICE}"))
    assert (answer.status, json.loads(answer.body)) == (200, {"svc_anon_id": DEVICE})
    assert answer.header("Content-Type") == "application/json"
    assert answer.header("X-Content-Type-Options") == "nosniff" and answer.header("Vary") == "Origin"
    for headers in ((), (("Cookie", "svc_anon_id=\"x\""),), (("Cookie", f"svc_anon_id={DEVICE}"), ("Sec-GPC", "1"))):
        assert json.loads(ask(called, *headers).body) == {"svc_anon_id": None}
    assert json.loads(ask(called, ("Cookie", f"oly_anon_id={DEVICE}"), target="/own").body) == {"svc_anon_id": DEVICE}


@pytest.mark.parametrize("origin, listed", [
    ("https://shop.example", True), ("https://www.shop.example:8443", True), ("https://shop.example.evil.example", False),
    ("http://shop.example", False), ("https://SHOP.example", False), ("null", False), ("", False),
])
def test_only_a_listed_origin_may_read_it(called, origin, listed):
    answer = ask(called, ("Cookie", f"svc_anon_id={DEVICE}"), ("Origin", origin))
    assert answer.header("Access-Control-Allow-Origin") == (origin if listed else None)
    assert answer.header("Access-Control-Allow-Credentials") == ("true" if listed else None)


def test_the_call_takes_get_and_head_only(called):
    head = ask(called, ("Cookie", f"svc_anon_id={DEVICE}"), method="HEAD")
    assert head.status == 200 and head.body == b""
    answer = ask(called, method="POST")
    assert (answer.status, answer.header("Allow")) == (405, "GET, HEAD")


@pytest.mark.parametrize("parameters", ["origin=shop.example", "origin=https://shop.example/", "origin=https://Shop.example",
                                        "origin=https://shop.example:443", "origin=*", "https://shop.example"])
def test_an_origin_that_no_browser_sends_is_refused(parameters):
    from harness.edge import Edge

    with Edge(CALL.replace("sluice_device_id;", f"sluice_device_id {parameters};")) as edge:
        status, said = edge.test_configuration()
        assert status != 0 and "expected origin=https://HOST" in said, said
