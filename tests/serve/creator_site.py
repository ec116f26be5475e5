"""A platform, whose page has the frame of its creators' pages, behind a real nginx with the shipped files."""

import contextlib
import json

from harness import paths
from harness.edge import Edge
from harness.serve import CreatorPages, Serve
from harness.webhooks import make_certificate
from serve import scene

SHIPPED = paths.ROOT / "conf" / "nginx"
CONFIG = """base_url = "@BASE@"
[acme]
name = "Acme Creators"
origins = ["@PLATFORM@"]
return_url = "@PLATFORM@/earnings"
ask = "mailto:creators@acme.example?subject={number}%20{cause}"
paid = "around the 5th"
accent = "#7a2e8e"
accent_dark = "#d9a0ea"
logo = "@DIR@/acme.svg"
shops = { shop-1 = "Mug Shop" }
[beta]
name = "Beta Creators"
["eu/acme+co@x:1="]
name = "EU Creators"
"""
LOGO = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><circle cx="16" cy="16" r="14" fill="#7a2e8e"/></svg>'
PLATFORM = """<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><meta name="color-scheme" content="light dark"><title>Acme</title>
<meta name="referrer" content="no-referrer"><link rel="icon" href="data:,"></head><body><h1>Acme</h1><p><a href="#before">Account</a></p>
<div id="earnings"></div><p><a href="#behind">Help</a></p>
<script src="@BASE@/c/acme/creators.js"></script>
<script>
  window.asked = 0;
  sluiceCreators(document.getElementById("earnings"), {base: "@BASE@", account: "acme", lang: "en",
    ask: (question) => { window.question = question; },
    token: async () => { window.asked++; return (await (await fetch("/token.json", {cache: "no-store"})).json()).token; }});
</script></body></html>
"""

# Addresses: without TLS two of the loopback, with TLS hosts of two sites.
PLAIN = {"base": "http://127.0.0.1:@PORT@", "platform": "http://localhost:@PORT2@", "tls": ""}
SECURE = {"base": "https://pages.localhost:@PORT@", "platform": "https://platform.localhost:@PORT2@", "tls": "ssl"}


def shipped(name, **sockets):
    text = (SHIPPED / name).read_text()
    for socket, own in sockets.items():
        text = text.replace(f"/run/sluice/{socket}.sock", str(own))
    return text


class World:
    def __init__(self, folder, sluice, secrets, edge, serve, pages, base, platform):
        self.folder, self.sluice, self.secrets, self.edge, self.serve, self.pages = folder, sluice, secrets, edge, serve, pages
        self.token_id, self.secret = sluice.token("acme", "creator_pages")
        self.base, self.platform = base, platform

    def link(self, creator, **parameters):
        return self.serve.token(self.secret).object("creator-link", creator=creator, **parameters)

    def hand_out(self, token):
        """Sets the token that the platform's backend answers with."""
        (self.folder / "platform" / "token.json").write_text(json.dumps({"token": token}))


@contextlib.contextmanager
def creator_site(addresses=PLAIN, more="", log="combined"):
    """more: locations of the pages' server."""
    with scene.on("lmdb") as (folder, sluice, secrets, _):
        read, creators = folder / "read.sock", folder / "creators.sock"
        certificate = f"ssl_certificate {folder}/site.pem; ssl_certificate_key {folder}/site.key;"
        http = f"""types {{ text/html html; application/json json; }}
            {certificate if addresses["tls"] else ""}
            log_format cookies '$request_uri "$http_cookie"';
            {shipped("sluice-creators-http.conf").replace("rate=10r/s", "rate=1000r/s")}
            server {{
                listen 127.0.0.1:@PORT@ {addresses["tls"]};
                access_log {folder}/access.log {log};
                {more}
                {shipped("sluice-creators.conf", creators=creators)}
                {shipped("sluice-api.conf", read=read)}
            }}
            server {{ listen 127.0.0.1:@PORT2@ {addresses["tls"]}; root {folder}/platform; }}"""
        with Edge(http, store=folder / "store", create=False) as edge:
            def placed(text):
                for name, value in (("BASE", addresses["base"]), ("PLATFORM", addresses["platform"]), ("PORT", edge.port),
                                    ("PORT2", edge.port2), ("DIR", folder)):
                    text = text.replace(f"@{name}@", str(value))
                return text

            make_certificate(folder, "DNS:pages.localhost", "DNS:platform.localhost", name="site")
            (folder / "acme.svg").write_text(LOGO)
            (folder / "creators.toml").write_text(placed(CONFIG))
            (folder / "platform").mkdir()
            (folder / "platform" / "index.html").write_text(placed(PLATFORM))
            for part in (folder, folder / "platform"):
                part.chmod(0o755)
            options = ("--creators-config", folder / "creators.toml", "--rate-limit", "1000000/60")
            with CreatorPages(folder / "store", folder, *options[1:]) as pages, Serve(folder / "store", folder, *options) as serve:
                edge.start()
                yield World(folder, sluice, secrets, edge, serve, pages, *(placed(addresses[name]) for name in ("base", "platform")))
