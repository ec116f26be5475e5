"""An OpenID provider and oauth2-proxy, as far as a login by the authorization code flow needs them.

oauth2-proxy is no Debian package, so the paths, headers and status codes that conf/nginx/sluice-login-oidc.conf relies on
(--set-xauthrequest, --reverse-proxy) are here, with a provider whose login is a form. The state ties the answer to the
browser that began, the code is used once and exchanged with the client's secret, and the token is signed and checked."""

import base64
import hashlib
import hmac
import html
import http.cookies
import http.server
import json
import secrets
import threading
import time
import urllib.parse
import urllib.request

CLIENT, SECRET = "sluice", "client-secret"


def part(value):
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()


def signed(claims):
    head = part(b'{"alg":"HS256","typ":"JWT"}') + "." + part(json.dumps(claims).encode())
    return head + "." + part(hmac.digest(SECRET.encode(), head.encode(), hashlib.sha256))


def checked(token):
    """The claims of a token that the provider signed for this client and that has not expired."""
    head, _, signature = token.rpartition(".")
    assert hmac.compare_digest(signature, part(hmac.digest(SECRET.encode(), head.encode(), hashlib.sha256)))
    body = head.split(".")[1]
    claims = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
    assert claims["aud"] == CLIENT and claims["exp"] > time.time() and claims["email_verified"]
    return claims


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, body=b"", headers=()):
        self.send_response(status)
        for name, value in (*headers, ("Content-Length", len(body))):
            self.send_header(name, str(value))
        self.end_headers()
        self.wfile.write(body)

    def split(self):
        target = urllib.parse.urlsplit(self.path)
        return target.path, dict(urllib.parse.parse_qsl(target.query))

    def form(self):
        return dict(urllib.parse.parse_qsl(self.rfile.read(int(self.headers["Content-Length"])).decode()))

    def cookie(self, name):
        jar = http.cookies.SimpleCookie(self.headers.get("Cookie", ""))
        return jar[name].value if name in jar else ""

    def log_message(self, *_):
        pass


class Provider(Handler):
    """Logs in users by their passwords, and gives the proxy a code for each."""

    def do_GET(self):  # noqa: N802, the name that http.server calls
        path, query = self.split()
        if path != "/authorize" or query["client_id"] != CLIENT or query["response_type"] != "code":
            return self.answer(400)
        hidden = "".join(f'<input type=hidden name={name} value="{html.escape(query[name])}">' for name in ("redirect_uri", "state"))
        self.answer(200, f"<!doctype html><title>Log in</title><form method=post action=/login>{hidden}<input id=email name=email autocomplete=username>"
                         "<input id=password name=password type=password autocomplete=current-password><button>Log in</button></form>".encode(),
                    [("Content-Type", "text/html; charset=utf-8")])

    def do_POST(self):  # noqa: N802
        form, server = self.form(), self.server
        if self.path == "/login":
            if server.passwords.get(form["email"]) != form["password"]:
                return self.answer(403)
            code = secrets.token_urlsafe()
            server.codes[code] = form["email"]
            return self.answer(303, headers=[("Location", form["redirect_uri"] + "?" + urllib.parse.urlencode(
                {"code": code, "state": form["state"]}))])
        email = server.codes.pop(form["code"], None)
        if self.path != "/token" or email is None or (form["client_id"], form["client_secret"]) != (CLIENT, SECRET):
            return self.answer(400)
        claims = {"aud": CLIENT, "email": email, "email_verified": True, "exp": time.time() + 60}
        self.answer(200, json.dumps({"id_token": signed(claims)}).encode(), [("Content-Type", "application/json")])


class Proxy(Handler):
    """The paths of oauth2-proxy that nginx passes on."""

    def do_GET(self):  # noqa: N802
        path, query = self.split()
        server = self.server
        if path == "/oauth2/auth":
            email = server.sessions.get(self.cookie("_oauth2_proxy"))
            return self.answer(202 if email else 401, headers=[("X-Auth-Request-Email", email)] if email else ())
        callback = server.redirect_url
        if path == "/oauth2/sign_in":
            nonce = secrets.token_urlsafe()
            where = {"client_id": CLIENT, "response_type": "code", "scope": "openid email", "redirect_uri": callback,
                     "state": nonce + ":" + self.headers["X-Auth-Request-Redirect"]}
            return self.answer(302, headers=[
                ("Set-Cookie", f"_oauth2_proxy_csrf={nonce}; Path=/; Secure; HttpOnly; SameSite=Lax"),
                ("Location", f"{server.provider}/authorize?{urllib.parse.urlencode(where)}")])
        nonce, _, target = query.get("state", "").partition(":")
        is_ours = nonce and nonce == self.cookie("_oauth2_proxy_csrf") and target.startswith("/") and not target.startswith("//")
        if path != "/oauth2/callback" or not is_ours:
            return self.answer(403)
        form = {"client_id": CLIENT, "client_secret": SECRET, "code": query["code"], "grant_type": "authorization_code",
                "redirect_uri": callback}
        with urllib.request.urlopen(f"{server.provider}/token", urllib.parse.urlencode(form).encode()) as answer:
            email = checked(json.load(answer)["id_token"])["email"]
        session = secrets.token_urlsafe()
        server.sessions[session] = email
        self.answer(302, headers=[("Set-Cookie", f"_oauth2_proxy={session}; Path=/; Secure; HttpOnly; SameSite=Lax"),
                                  ("Location", target)])


class StandIn:
    """Both servers. passwords: of the provider's users. Use as a context manager."""

    def __init__(self, passwords):
        self.provider = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Provider)
        self.proxy = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
        self.provider.passwords, self.provider.codes = passwords, {}
        self.proxy.sessions, self.proxy.provider = {}, f"http://127.0.0.1:{self.provider.server_port}"
        self.proxy.redirect_url = None

    def __enter__(self):
        for server in (self.provider, self.proxy):
            threading.Thread(target=server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        for server in (self.provider, self.proxy):
            server.shutdown()
            server.server_close()

    @property
    def changes(self):
        """The address of oauth2-proxy in nginx's file, and this proxy's."""
        return [("127.0.0.1:4180", f"127.0.0.1:{self.proxy.server_port}")]
