"""The shipped nginx files for programs and people (LG5), with the real nginx in front of `sluice serve`."""

import base64
import http.server
import subprocess
import threading

import pytest
from serve.login_site import SHIPPED, Site

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
        status, headers, _ = site.get("/")
        assert (status, headers["Location"].endswith("/ui/")) == (302, True)


def test_a_certificate_names_the_user_that_the_map_has_for_it(acme):
    folder, sluice = acme
    mapped = f'map $ssl_client_s_dn $sluice_certificate_user {{ default ""; "CN=Gina,O=Acme" {GINA}; }}'
    with Site(folder, sluice, "sluice-login-certificate.conf", mapped) as site:
        status, _, body = site.get("/v1/me", certificate="gina")
        assert status == 200 and GINA.encode() in body
        assert site.get("/v1/me", [("X-Sluice-User", GINA)], certificate="eve")[0] == 401
        assert site.get("/v1/me", [("X-Sluice-User", GINA)])[0] == 400


class Proxy(http.server.BaseHTTPRequestHandler):
    """Answers as oauth2-proxy with --set-xauthrequest does."""

    def do_GET(self):  # noqa: N802, the name that http.server calls
        logged_in = "session=gina" in self.headers.get("Cookie", "")
        self.send_response(202 if logged_in and self.path.startswith("/oauth2/auth") else 401)
        if logged_in:
            self.send_header("X-Auth-Request-Email", GINA)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def test_oidc_names_the_user_of_the_proxys_session(acme):
    folder, sluice = acme
    proxy = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
    threading.Thread(target=proxy.serve_forever, daemon=True).start()
    changes = [("127.0.0.1:4180", f"127.0.0.1:{proxy.server_port}")]
    try:
        with Site(folder, sluice, "sluice-login-oidc.conf", changes=changes) as site:
            status, _, body = site.get("/v1/me", [("Cookie", "session=gina")])
            assert status == 200 and GINA.encode() in body
            claimed = [("Cookie", "session=gina"), ("X-Sluice-User", "eve@acme.example")]
            assert GINA.encode() in site.get("/v1/me", claimed)[2]
            for headers in ([], [("X-Sluice-User", GINA)], [("X-Auth-Request-Email", GINA)]):
                status, answered, _ = site.get("/v1/me", headers)
                assert status == 302 and "/oauth2/sign_in" in answered["Location"], headers
    finally:
        proxy.shutdown()


def test_each_login_sets_the_user_itself():
    logins = sorted(SHIPPED.glob("sluice-login-*.conf"))
    assert len(logins) == 3
    for login in logins:
        assert login.read_text().count("proxy_set_header X-Sluice-User $") == 1, login
