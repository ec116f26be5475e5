"""nginx with a shipped login and TLS in front of `sluice serve`."""

import contextlib
import ssl
import subprocess
import urllib.error
import urllib.request

from harness import paths
from harness.edge import Edge
from harness.serve import Serve

SHIPPED = paths.ROOT / "conf" / "nginx"


def shipped(name, folder, serve, changes=()):
    """The shipped file, with the folders of this test. changes: [(text, instead)]"""
    page = (SHIPPED / "sluice-page.conf").read_text()
    text = (SHIPPED / name).read_text()
    text = text.replace("include /usr/share/sluice/nginx/sluice-page.conf;", page)
    for path, own in (("/run/sluice/people.sock", serve.people), ("/run/sluice/read.sock", serve.read),
                      ("/etc/nginx/sluice.htpasswd", folder / "htpasswd"),
                      ("/etc/nginx/sluice-clients.pem", folder / "ca.pem"), *changes):
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

    def __init__(self, folder, sluice, login, http="", changes=(), options=()):
        self.folder, self.serve = folder, Serve(folder / "store", folder, *options)
        self.sluice, self.login, self.http, self.changes = sluice, login, http, changes

    def __enter__(self):
        with contextlib.ExitStack() as begun:
            begun.enter_context(self.serve)
            self.start_edge()
            begun.pop_all()
        return self

    def start_edge(self):
        make_certificates(self.folder)
        http = f"""{self.http}
            server {{
                listen 127.0.0.1:@PORT@ ssl;
                ssl_certificate {self.folder}/server.pem;
                ssl_certificate_key {self.folder}/server.key;
                {shipped(self.login, self.folder, self.serve, self.changes)}
            }}"""
        self.edge = Edge(http, store=self.folder / "store", create=False)
        self.edge.start()

    def __exit__(self, *error):
        self.edge.__exit__(*error)
        self.serve.__exit__(*error)

    @property
    def url(self):
        return f"https://127.0.0.1:{self.edge.port}/"

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
