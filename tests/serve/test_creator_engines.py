"""The creator's page in a frame of another site over HTTPS, in three engines (creators CE6 to CE10, CE23): with cookies of other
sites allowed and in light colours, and with them blocked and in dark ones."""

import json
import os
import pathlib

import pytest
from harness import paths
from harness.engines import Chromium, Firefox, WebKit
from serve.barriers import BARRIERS
from serve.creator_site import SECURE, creator_site
from serve.test_page import axe  # noqa: F401

PROBE = """location = /probe/set { add_header Set-Cookie "probe=1; Secure; SameSite=None; Path=/probe/"; return 200 'set'; }
    location = /probe/see { default_type text/plain; return 200 "$http_cookie"; }"""
# A page with the frame and without creators.js.
BARE = """<!DOCTYPE html><html lang="en"><head><title>Bare</title><link rel="icon" href="data:,"></head><body>
<iframe src="{url}" title="Earnings"></iframe></body></html>"""
VIEWS = {"home": "", "orders": "view=orders", "order": "view=order&shop=shop-1&order=o1", "payments": "view=payments",
         "statement": "view=statement", "links": "view=links"}
TITLES = {"home": "Home", "orders": "Orders", "order": "Order o1", "payments": "Payments", "statement": "Statement", "links": "Links"}
WIDTHS = (390, 1280)
ACCENTS = {"light": ("#7a2e8e", "rgb(122, 46, 142)"), "dark": ("#d9a0ea", "rgb(217, 160, 234)")}
STORED = """(async () => {
    const kept = [document.cookie];
    for (const name of ["sessionStorage", "localStorage"]) try { kept.push(window[name].length); } catch { kept.push(0); }
    try { kept.push((await indexedDB.databases()).length); } catch { kept.push(0); }
    try { kept.push((await caches.keys()).length); } catch { kept.push(0); }
    return [...kept, location.hash];
})()"""
SHOWS_ROBERT = "/\\bo2\\b/.test(document.querySelector('main')?.innerText ?? '')"
SEEN = """(async () => { await fetch("/probe/set", {credentials: "include"});
    return (await fetch("/probe/see", {credentials: "include", cache: "no-store"})).text(); })()"""


@pytest.fixture(scope="module")
def world():
    with creator_site(SECURE, PROBE, "cookies") as made:
        yield made


@pytest.fixture(scope="module", params=[(engine, allowed) for engine in (Chromium, Firefox, WebKit) for allowed in (True, False)],
                ids=lambda one: f"{one[0].name}-{'allowed-light' if one[1] else 'blocked-dark'}")
def engine(request, tmp_path_factory):
    kind, allowed = request.param
    with kind(tmp_path_factory.mktemp(kind.name), scheme="light" if allowed else "dark", third_party=allowed) as running:
        running.resize(1400, 1000)
        yield running


@pytest.fixture
def framed(world, engine):
    """Opens the platform's page for a creator, and is in its frame then."""
    def opened(creator="ann", width=1280):
        world.hand_out(world.link(creator)["token"])
        engine.goto(f"{world.platform}/index.html")
        engine.run(f"document.getElementById('earnings').style.width = '{width}px', 0")
        enter(world, engine)
        return engine

    return opened


def enter(world, engine):
    engine.enter_frame(f"{world.base}/c/acme/")
    engine.wait("document.querySelector('main .answer') !== null")


def outside(engine, world, script):
    """The value of an expression of the platform's page."""
    engine.leave_frame()
    value = engine.run(script)
    engine.enter_frame(f"{world.base}/c/acme/")
    return value


def show(engine, view, heading):
    engine.run(f"location.hash = {json.dumps('#' + view)}, 0")
    engine.wait(f"document.querySelector('main h1')?.textContent.startsWith({json.dumps(heading)})")


def send(engine, world, token):
    message = json.dumps({"sluice": 1, "type": "token", "token": token})
    outside(engine, world, f"document.querySelector('iframe').contentWindow.postMessage({message}, {world.base!r}), 0")


def revocable(world, minutes):
    """(token id, page token) of a token of its own."""
    token_id, secret = world.sluice.token("acme", "creator_pages")
    return token_id, world.serve.token(secret).object("creator-link", creator="ann", minutes=minutes)["token"]


def test_a_frame_shows_her_page_and_keeps_nothing_in_the_browser(world, framed):
    engine = framed()
    assert "Ann Smith" in engine.run("document.body.innerText")
    show(engine, "view=orders", "Orders")
    assert engine.run(STORED) == ["", 0, 0, 0, 0, "#view=orders"]
    assert outside(engine, world, "[window.asked, document.cookie]") == [1, ""]
    requests = (world.folder / "access.log").read_text().splitlines()
    assert [line for line in requests if "/c/acme/v1/" in line] and not [line for line in requests if "/probe/" not in line and not line.endswith('"-"')]
    assert engine.run(SEEN) == ("probe=1" if engine.third_party else ""), "the browser's setting is in force"


def test_colours_and_logo_are_the_platforms(world, framed):
    engine = framed()
    named, computed = ACCENTS[engine.scheme]
    assert engine.run("matchMedia('(prefers-color-scheme: dark)').matches") == (engine.scheme == "dark")
    assert engine.run("getComputedStyle(document.documentElement).getPropertyValue('--one').trim()") == named
    assert engine.run("getComputedStyle(document.querySelector('nav a[aria-current]')).borderBottomColor") == computed
    engine.wait("document.querySelector('#brand img').naturalWidth > 0")
    assert engine.run("document.querySelector('#brand img').getBoundingClientRect().width") == 32, "of a picture without a size"
    assert engine.run("document.querySelector('#brand').innerText.trim()").startswith("Acme Creators")


def test_each_view_has_no_barrier_and_fits_its_frame(world, framed, axe):  # noqa: F811
    pictures = os.environ.get("SLUICE_SCREENSHOTS")
    for width in WIDTHS:
        engine = framed(width=width)
        for name, view in VIEWS.items():
            engine.run(f"location.hash = '#{view}', 0")
            engine.wait(f"document.title.startsWith({json.dumps(TITLES[name])}) && document.querySelector('main h1') !== null && innerWidth === {width}")
            assert engine.run("document.querySelector('main .note') === null"), name
            assert engine.run("document.documentElement.scrollWidth") <= width, name
            found = engine.run(f"(() => {{ {axe}; return {BARRIERS}; }})()")
            assert found["passes"] > 10 and found["violations"] == [], (name, width, found)
            engine.wait("Math.abs(innerHeight - document.documentElement.getBoundingClientRect().height - 1) < 2")
            assert engine.run("document.documentElement.scrollHeight <= innerHeight"), (name, width, "a scrollbar of its own")
            engine.leave_frame()
            if pictures:
                engine.screenshot(str(pathlib.Path(pictures) / f"frame-{engine.name}-{name}-{width}-{engine.scheme}.png"))
            engine.enter_frame(f"{world.base}/c/acme/")


def focused(engine):
    return engine.run("document.activeElement.textContent")


def pressed_until(engine, condition, **keys):
    for _ in range(12):
        engine.press("Tab", **keys)
        if engine.run(condition):
            return
    raise AssertionError(f"Tab {keys} leads to {focused(engine)!r}, not to {condition}")


def test_the_keyboard_goes_in_opens_a_view_and_comes_out(world, framed):
    engine = framed()
    engine.leave_frame()
    pressed_until(engine, "document.activeElement.tagName === 'IFRAME'")
    enter(world, engine)
    pressed_until(engine, "document.activeElement.textContent === 'Orders'")
    assert engine.run("getComputedStyle(document.activeElement).outlineStyle") == "solid", "the focus is seen"
    engine.press("Enter")
    engine.wait("document.querySelector('main h1')?.textContent === 'Orders' && document.activeElement.tagName === 'H1'")
    engine.leave_frame()
    pressed_until(engine, "document.activeElement.textContent === 'Account'", shift=True)


def test_a_frame_renews_its_token_and_heeds_its_parent_alone(world, framed):
    engine = framed()
    token_id, short = revocable(world, minutes=1)
    send(engine, world, short)  # under a minute is left, so it asks at once
    engine.leave_frame()
    engine.wait("window.asked === 2")
    enter(world, engine)
    other_id, longer = revocable(world, minutes=15)
    send(engine, world, longer)
    engine.wait("document.querySelector('main .answer') !== null")
    world.sluice("token", "revoke", token_id)
    world.sluice("token", "revoke", other_id)
    show(engine, "view=orders", "Orders")
    engine.wait("document.querySelector('main table') !== null")
    assert outside(engine, world, "window.asked") == 3, "a token that is refused is renewed once"
    # Another frame sends another creator's token, and nothing happens. Then the parent sends it, and nothing of ann stays.
    other = world.link("robert")["token"]
    message = json.dumps({"sluice": 1, "type": "token", "token": other})
    outside(engine, world, f"""(() => {{
        const beside = document.createElement("iframe");
        beside.srcdoc = {json.dumps('<script>parent.frames[0].postMessage(' + message + ', "*"); parent.said = 1</script>')};
        document.body.append(beside);
    }})(), 0""")
    engine.leave_frame()
    engine.wait("window.said === 1")
    engine.enter_frame(f"{world.base}/c/acme/")
    show(engine, "view=payments", "Payments")
    assert "Ann Smith" in engine.run("document.body.innerText")
    send(engine, world, other)
    show(engine, "view=orders", "Orders")
    engine.wait(SHOWS_ROBERT)
    assert "Ann" not in engine.run("document.body.innerText")


def test_reloads_and_the_way_back_ask_for_a_new_token(world, framed):
    engine = framed()
    engine.run("setTimeout(() => location.reload()), 0")
    engine.leave_frame()
    engine.wait("window.asked === 2")
    enter(world, engine)
    show(engine, "view=orders", "Orders")
    engine.run("history.back(), 0")
    engine.wait("document.querySelector('nav a[aria-current]')?.textContent === 'Home'")
    engine.leave_frame()
    world.hand_out(world.link("robert")["token"])  # another creator logged in meanwhile
    engine.goto(f"{world.platform}/token.json")
    engine.run("setTimeout(() => history.back()), 0")
    engine.wait("window.asked > 0 && document.readyState === 'complete'")
    enter(world, engine)
    engine.wait(SHOWS_ROBERT)
    assert "Ann" not in engine.run("document.body.innerText")


def open_bare(world, engine, token):
    (world.folder / "platform" / "bare.html").write_text(BARE.format(url=f"{world.base}/c/acme/#{token}"))
    engine.goto(f"{world.platform}/bare.html?{token[-8:]}")
    enter(world, engine)


def test_a_frame_without_the_script_works_until_its_token_ends(world, engine):
    open_bare(world, engine, world.link("ann")["token"])
    assert "Ann Smith" in engine.run("document.body.innerText") and engine.run(STORED) == ["", 0, 0, 0, 0, ""]
    token_id, token = revocable(world, minutes=15)
    open_bare(world, engine, token)
    world.sluice("token", "revoke", token_id)
    engine.run("location.hash = '#view=orders', 0")
    engine.wait("document.querySelector('main').innerText.includes('This view has ended. Open it again in Acme Creators.')")
    assert engine.run("document.querySelector('main a').href") == f"{world.platform}/earnings"
    assert engine.run("document.querySelector('main a').target") == "_top" and "Ann" not in engine.run("document.body.innerText")


def test_the_page_is_in_no_frame_of_an_origin_that_the_file_does_not_name(world, engine):
    before = len((world.folder / "access.log").read_text().splitlines())
    engine.goto(world.platform.replace("platform.", "other.") + "/index.html")

    def asked():
        return [line for line in (world.folder / "access.log").read_text().splitlines()[before:] if line.startswith("/c/acme/ ")]

    paths.wait_until(asked, "the frame to be asked for")
    engine.wait("document.querySelector('iframe') !== null && performance.now() > 1500")
    assert engine.run("window.asked") == 0
    assert not [line for line in (world.folder / "access.log").read_text().splitlines()[before:] if "main.js" in line or "/v1/" in line]
