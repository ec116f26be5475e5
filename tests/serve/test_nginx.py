"""The shipped nginx files for programs and people, with the real nginx in front of `sluice serve`."""

import base64
import json
import subprocess
import urllib.parse

import pytest
from harness.chromium import Browser
from serve.login_site import SHIPPED, Site, run
from serve.oidc_stand_in import StandIn

GINA = "gina@acme.example"


@pytest.fixture
def acme(store):
    folder, sluice = store
    sluice("user", "add", GINA, "--account", "acme", "--role", "manager")
    sluice("user", "add", "eve@acme.example", "--account", "beta", "--role", "manager")
    return folder, sluice


def test_a_program_reads_through_nginx_with_its_token_alone(acme):
    folder, sluice = acme
    _, secret = sluice.token("acme", "read_orders")
    with Site(folder, sluice, "sluice-api.conf") as site:
        status, _, body = site.get("/v1/me", [("Authorization", f"Bearer {secret}")])
        assert status == 200 and b'"account_id":"acme"' in body
        assert site.get("/v1/me", [("X-Sluice-User", GINA)])[0] == 401
        assert site.get("/metrics")[0] == site.get("/health")[0] == 404


def test_basic_names_the_user_of_the_password(acme):
    folder, sluice = acme
    hashed = subprocess.run(["openssl", "passwd", "-apr1", "secret"], check=True, capture_output=True, text=True)
    (folder / "htpasswd").write_text(f"{GINA}:{hashed.stdout}")

    def basic(password):
        return "Basic " + base64.b64encode(f"{GINA}:{password}".encode()).decode()

    with Site(folder, sluice, "sluice-login-basic.conf") as site:
        status, _, body = site.get("/v1/me", [("Authorization", basic("secret"))])
        assert status == 200 and GINA.encode() in body
        assert site.get("/v1/me", [("Authorization", basic("wrong"))])[0] == 401
        assert site.get("/v1/me", [("X-Sluice-User", GINA)])[0] == 401
        claimed = [("Authorization", basic("secret")), ("X-Sluice-User", "eve@acme.example")]
        assert GINA.encode() in site.get("/v1/me", claimed)[2]
        assert site.get("/v1/order?shop=s&order=a%2Fb", [("Authorization", basic("secret"))])[0] == 404
        cross = [("Authorization", basic("secret")), ("Sec-Fetch-Site", "cross-site")]
        assert site.get("/v1/me", cross)[0] == 403
        for path in ("/", "/ui"):
            status, headers, _ = site.get(path)
            assert (status, headers["Location"].endswith("/ui/")) == (302, True), path


def test_a_certificate_names_the_user_that_the_map_has_for_it(acme):
    folder, sluice = acme
    mapped = f'map $ssl_client_s_dn $sluice_certificate_user {{ default ""; "CN=Gina,O=Acme" {GINA}; }}'
    with Site(folder, sluice, "sluice-login-certificate.conf", mapped) as site:
        status, _, body = site.get("/v1/me", certificate="gina")
        assert status == 200 and GINA.encode() in body
        assert site.get("/v1/me", [("X-Sluice-User", GINA)], certificate="eve")[0] == 401
        assert site.get("/v1/me", [("X-Sluice-User", GINA)])[0] == 400


def test_oidc_names_the_user_of_the_proxys_session(acme):
    folder, sluice = acme
    with StandIn({GINA: "secret"}) as stand_in, Site(folder, sluice, "sluice-login-oidc.conf", changes=stand_in.changes) as site:
        stand_in.proxy.sessions["known"] = GINA
        own = ("Cookie", "_oauth2_proxy=known")
        status, _, body = site.get("/v1/me", [own])
        assert status == 200 and GINA.encode() in body
        assert GINA.encode() in site.get("/v1/me", [own, ("X-Sluice-User", "eve@acme.example")])[2]
        for headers in ([], [("X-Sluice-User", GINA)], [("X-Auth-Request-Email", GINA)], [("Cookie", "_oauth2_proxy=guessed")]):
            for target in ("/v1/me", "/ui/?view=orders&code=a%26b&from=2024-01-01&rd=//evil.example/"):
                status, answered, _ = site.get(target, headers)
                asked = urllib.parse.parse_qs(urllib.parse.urlsplit(answered["Location"]).query)
                assert status == 302 and asked["state"][0].partition(":")[2] == target, (headers, answered["Location"])


# In a browser -----------------------------------------------------------------------------------------------------------


def shows_today(page):
    page.wait("document.querySelector('main h1')?.textContent === 'Today'", "Today")
    assert page.run("document.getElementById('account').textContent") == "acme"


def test_chromium_logs_in_by_basic(acme, tmp_path):
    folder, sluice = acme
    hashed = subprocess.run(["openssl", "passwd", "-apr1", "secret"], check=True, capture_output=True, text=True)
    (folder / "htpasswd").write_text(f"{GINA}:{hashed.stdout}")
    with Site(folder, sluice, "sluice-login-basic.conf") as site, Browser(tmp_path) as browser, browser.page() as page:
        page.answer_login(GINA, "secret")
        page.goto(site.url)
        shows_today(page)


def test_chromium_logs_in_by_oidc(acme, tmp_path):
    folder, sluice = acme
    with StandIn({GINA: "secret"}) as stand_in, \
            Site(folder, sluice, "sluice-login-oidc.conf", changes=stand_in.changes) as site, \
            Browser(tmp_path) as browser, browser.page() as page:
        stand_in.proxy.redirect_url = f"{site.url}oauth2/callback"  # its option --redirect-url
        page.expected = ["favicon.ico"]  # the provider's
        linked = "?view=orders&attributed=false&from=2024-01-01&to=2024-02-01&status=waiting"
        page.goto(f"{site.url}ui/{linked}")
        page.wait("document.querySelector('#email') !== null", "the provider's form")
        page.run("document.querySelector('#email').value = " + repr(GINA))
        page.run("document.querySelector('#password').value = 'secret'")
        page.click("button")
        page.wait("document.querySelector('main h1')?.textContent === 'Orders'", "the view that was asked for")
        assert page.run("location.search") == linked
        page.click("#nav a")
        shows_today(page)


def test_chromium_logs_in_by_certificate(acme, tmp_path):
    """The policy chooses the certificate, as a company's does; Chromium has it from its user's NSS database."""
    folder, sluice = acme
    mapped = f'map $ssl_client_s_dn $sluice_certificate_user {{ default ""; "CN=Gina,O=Acme" {GINA}; }}'
    with Site(folder, sluice, "sluice-login-certificate.conf", mapped) as site:
        home, policies = tmp_path / "home", tmp_path / "policies"
        known = home / ".pki" / "nssdb"
        known.mkdir(parents=True)
        (policies / "managed").mkdir(parents=True)
        chosen = json.dumps({"pattern": "https://127.0.0.1", "filter": {"SUBJECT": {"CN": "Gina"}}})
        (policies / "managed" / "login.json").write_text(json.dumps({"AutoSelectCertificateForUrls": [chosen]}))
        run("certutil", "-d", f"sql:{known}", "-N", "--empty-password")
        run("openssl", "pkcs12", "-export", "-in", folder / "gina.pem", "-inkey", folder / "gina.key", "-passout", "pass:x",
            "-out", folder / "gina.p12")
        run("pk12util", "-d", f"sql:{known}", "-i", folder / "gina.p12", "-W", "x")
        with Browser(tmp_path, home=home, policies=policies) as browser, browser.page() as page:
            page.goto(f"{site.url}ui/")
            shows_today(page)


def test_each_login_sets_the_user_itself():
    logins = sorted(SHIPPED.glob("sluice-login-*.conf"))
    assert len(logins) == 3
    for login in logins:
        assert login.read_text().count("proxy_set_header X-Sluice-User $") == 1, login
