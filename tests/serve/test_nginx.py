"""The shipped nginx files for programs and people (LG5), with the real nginx in front of `sluice serve`."""

import base64
import http.server
import ssl
import subprocess
import threading
import urllib.error
import urllib.request

import pytest
from harness import paths
from harness.edge import Edge
from harness.serve import Serve

SHIPPED = paths.ROOT / "conf" / "nginx"
GINA = "gina@acme.example"


def shipped(name, folder, serve):
    """The shipped file, with the folders of this test."""
    page = (SHIPPED / "sluice-page.conf").read_text()
    text = (SHIPPED / name).read_text()
    text = text.replace("include /usr/share/sluice/nginx/sluice-page.conf;", page)
    for path, own in (("/run/sluice/people.sock", serve.people), ("/run/sluice/read.sock", serve.read),
                      ("/etc/nginx/sluice.htpasswd", folder / "htpasswd"),
                      ("/etc/nginx/sluice-clients.pem", folder / "ca.pem")):
        text = text.replace(path, str(own))
    return text


def run(*command, **options):
    subprocess.run(list(map(str, command)), check=True, capture_output=True, **options)


def make_certificates(folder):
    """A CA with a server's certificate, gina's, and Eve's."""
    run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
        "-subj", "/CN=test CA", "-keyout", folder / "ca.key", "-out", folder / "ca.pem")
    for name, subject in (("server", "/CN=localhost"), ("gina", "/O=Acme/CN=Gina"), ("eve", "/O=Acme/CN=Eve")):
        run("openssl", "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", subject,
            "-keyout", folder / f"{name}.key", "-out", folder / f"{name}.csr")
        run("openssl", "x509", "-req", "-in", folder / f"{name}.csr", "-CA", folder / "ca.pem", "-CAkey",
            folder / "ca.key", "-CAcreateserial", "-days", "2", "-out", folder / f"{name}.pem")


class Site:
    """nginx with one login in front of a server."""

    def __init__(self, folder, sluice, login, http=""):
        self.folder, self.serve = folder, Serve(folder / "store", folder)
        self.sluice, self.login, self.http = sluice, login, http

    def __enter__(self):
        self.serve.__enter__()
        make_certificates(self.folder)
        http = f"""{self.http}
            server {{
                listen 127.0.0.1:@PORT@ ssl;
                ssl_certificate {self.folder}/server.pem;
                ssl_certificate_key {self.folder}/server.key;
                {shipped(self.login, self.folder, self.serve)}
            }}"""
        self.edge = Edge(http, store=self.folder / "store", create=False)
        self.edge.start()
        return self

    def __exit__(self, *error):
        self.edge.__exit__(*error)
        self.serve.__exit__(*error)

    def get(self, path, headers=(), certificate=None):
        """Status, headers and body."""
        context = ssl.create_default_context(cafile=self.folder / "ca.pem")
        context.check_hostname = False
        if certificate:
            context.load_cert_chain(self.folder / f"{certificate}.pem", self.folder / f"{certificate}.key")
        request = urllib.request.Request(f"https://127.0.0.1:{self.edge.port}{path}", headers=dict(headers))
        opener = urllib.request.build_opener(urllib.request.HTTPSHandler(context=context), NoRedirect)
        try:
            with opener.open(request, timeout=paths.DEADLINE) as answer:
                return answer.status, dict(answer.headers), answer.read()
        except urllib.error.HTTPError as answer:
            return answer.code, dict(answer.headers), answer.read()


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


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


def test_oidc_names_the_user_of_the_proxys_session(acme, monkeypatch):
    folder, sluice = acme
    proxy = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
    threading.Thread(target=proxy.serve_forever, daemon=True).start()
    real = shipped
    monkeypatch.setitem(globals(), "shipped", lambda *arguments: real(*arguments).replace(
        "127.0.0.1:4180", f"127.0.0.1:{proxy.server_port}"))
    try:
        with Site(folder, sluice, "sluice-login-oidc.conf") as site:
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
