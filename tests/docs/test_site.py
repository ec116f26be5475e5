"""`make site`: every link of the website leads somewhere, nothing comes from elsewhere, search and both schemes work."""

import functools
import html.parser
import http.server
import json
import re
import subprocess
import threading
import urllib.parse

import pytest

from docs import facts
from harness import paths
from harness.chromium import Browser


class Page(html.parser.HTMLParser):
    """Ids, links, and addresses that the browser loads."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.loads = set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.ids.add(found.get("id"))
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        if tag in ("script", "img") and "src" in found:
            self.loads.append(found["src"])
        if tag == "link":
            self.loads.append(found["href"])


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("documentation").resolve() / "site"
    subprocess.run([str(paths.ROOT / "scripts" / "site"), str(folder)], check=True, capture_output=True)
    return folder


def test_the_search_finds_the_words_of_partner_managers(site):
    entries = json.loads((site / "search" / "search_index.json").read_text())["docs"]
    for words in ("black friday", "gift card", "leaked code", "invoice"):
        found = {entry["location"].split("#")[0] for entry in entries if words in f"{entry['title']} {entry['text']}".lower()}
        assert "docs/partners.html" in found, words


@pytest.fixture(scope="module")
def pages(site):
    """{path: page}"""
    return {path: Page(path.read_text()) for path in site.rglob("*.html") if path.name != "404.html"}


def test_every_link_leads_to_a_page_and_its_heading(pages):
    wrong = []
    for path, page in pages.items():
        for link in page.links + page.loads:
            address = urllib.parse.urlparse(link)
            if address.scheme:
                continue
            target = (path.parent / urllib.parse.unquote(address.path)).resolve() if address.path else path
            anchor = urllib.parse.unquote(address.fragment)
            if not target.exists() or anchor and target in pages and anchor not in pages[target].ids:
                wrong.append(f"{path.name}: {link}")
    assert not wrong, "\n".join(wrong)


def test_a_browser_loads_nothing_from_elsewhere(pages):
    assert not [load for page in pages.values() for load in page.loads if urllib.parse.urlparse(load).netloc]


def test_the_site_has_every_page_of_the_documentation(site, pages):
    written = {page.relative_to(paths.ROOT).with_suffix(".html") for page in facts.pages() if page.name != "README.md"}
    assert written <= {path.relative_to(site) for path in pages}


def test_lists_and_code_are_rendered_as_github_does(pages):
    """Python-Markdown and GitHub differ in what interrupts a paragraph."""
    wrong = []
    for path in pages:
        text = path.read_text()
        paragraphs = re.findall(r"<p>(.*?)</p>", text, re.S)
        wrong += [f"{path.name}: {line}" for part in paragraphs for line in part.split("\n")[1:] if re.match(r"(\* |- |\|)", line)]
        wrong += [f"{path.name}: a fence"] * ("```" in re.sub(r"<code.*?</code>", "", text, flags=re.S))
    assert not wrong, "\n".join(wrong)


def test_the_pages_of_the_apis_have_every_path(site):
    for name in ("openapi", "openapi-read"):
        document = facts.read(f"conf/{name}.yaml")
        page = (site / "conf" / f"{name}.html").read_text()
        listed = re.findall(r"^  (/[\w/{}-]+):$", document, re.M)
        assert listed and all(f" {path}<" in page for path in listed)


@pytest.fixture
def address(site):
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(site))
    handler.log_message = lambda *_: None
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def contrast(page, selector):
    """The ratio of WCAG between a text and the page behind it, once a change of its colour has ended."""
    page.wait(f"document.querySelector({json.dumps(selector)}).getAnimations().length === 0")
    colours = page.run(f"[getComputedStyle(document.querySelector({json.dumps(selector)})).color,"
                       " getComputedStyle(document.body).backgroundColor]")
    lights = []
    for colour in colours:
        parts = [int(value) / 255 for value in re.findall(r"\d+", colour)[:3]]
        red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
        lights.append(0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05)
    return max(lights) / min(lights)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_a_reader_finds_a_field_by_search(address, tmp_path, scheme, width):
    with Browser(tmp_path) as browser, browser.page(width=width, scheme=scheme) as page:
        page.goto(address + "docs/start.html")
        page.wait("document.querySelector('article h1') !== null")
        assert page.run("matchMedia('(prefers-color-scheme: dark)').matches") == (scheme == "dark")
        page.wait(f"document.body.dataset.mdColorScheme === '{'slate' if scheme == 'dark' else 'default'}'")
        assert contrast(page, "article p a") >= 4.5
        assert page.run("document.documentElement.scrollWidth <= innerWidth")
        # A question that is there before the index is loaded is lost, and the box says for ever that it loads.
        page.run("document.querySelector('#__search').click(); document.querySelector('.md-search__input').focus()")
        page.wait("!['', 'Initializing search'].includes(document.querySelector('.md-search-result__meta').textContent.trim())")
        page.run("const box = document.querySelector('.md-search__input'); box.value = 'platform_cancelled_at';"
                 " box.dispatchEvent(new KeyboardEvent('keyup', {bubbles: true}))")
        page.wait("[...document.querySelectorAll('.md-search-result a')].some((hit) => hit.href.includes('conf/openapi.html'))")
