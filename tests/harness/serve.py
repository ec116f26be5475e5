"""`sluice serve` on sockets of the test's own, and a client of it."""

import http.client
import json
import os
import signal
import socket
import subprocess
import urllib.parse

from harness import paths


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    def json(self):
        return json.loads(self.body)

    @property
    def code(self):
        return self.json()["code"]

    def header(self, name):
        return self.headers.get(name)

    def __repr__(self):
        return f"<{self.status} {self.body[:600]!r}>"


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=paths.DEADLINE)
        self.path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(paths.DEADLINE)
        self.sock.connect(self.path)


def ask(path, target, headers=(), method="GET"):
    connection = UnixConnection(path)
    try:
        connection.putrequest(method, target, skip_accept_encoding=True)
        for name, value in headers:
            connection.putheader(name, value)
        connection.endheaders()
        answer = connection.getresponse()
        return Answer(answer.status, answer.headers, answer.read())
    finally:
        connection.close()


def target_of(resource, parameters):
    query = urllib.parse.urlencode(parameters, quote_via=urllib.parse.quote)
    return f"/v1/{resource}" + (f"?{query}" if query else "")


class Reader:
    """One caller: a token on the token socket, or a user on the people socket."""

    def __init__(self, serve, token=None, user=None):
        self.path = serve.read if token else serve.people
        self.headers = [("Authorization", f"Bearer {token}")] if token else [("X-Sluice-User", user)]

    def get(self, resource, headers=(), **parameters):
        return ask(self.path, target_of(resource, parameters), [*self.headers, *headers])

    def rows(self, resource, **parameters):
        """Every row of a list, page by page."""
        rows, after = [], {}
        while True:
            answer = self.get(resource, **parameters, **after)
            assert answer.status == 200, (resource, parameters, answer)
            page = answer.json()
            rows += page["items"]
            if page["next"] is None:
                assert answer.header("Link") is None
                return rows
            assert 'rel="next"' in answer.header("Link")
            after = {"after": page["next"]}

    def object(self, resource, **parameters):
        answer = self.get(resource, **parameters)
        assert answer.status == 200, (resource, parameters, answer)
        return answer.json()


class Serve:
    """Use as a context manager: it stops by pid."""

    def __init__(self, store, folder, *options, environment=None, program=paths.SLUICE):
        self.read, self.people = folder / "read.sock", folder / "people.sock"
        self.log_file = folder / "serve.log"
        self.command = [
            str(program), "--store", str(store), "serve", "--listen", f"unix:{self.read}",
            "--people", f"unix:{self.people}", *map(str, options),
        ]
        self.environment = {**os.environ, **(environment or {})}
        self.process = None
        self.become = None  # called in the new process before its program runs

    def __enter__(self):
        self.read.parent.chmod(0o777)  # the server runs as the store's owner
        with open(self.log_file, "ab") as log:
            self.process = subprocess.Popen(self.command, stdout=log, stderr=log, env=self.environment, preexec_fn=self.become)
        paths.wait_until(self._answers, "sluice serve to answer: " + self.log())
        return self

    def _answers(self):
        assert self.process.poll() is None, self.log()
        try:
            return ask(self.read, "/health").status == 200
        except OSError:
            return False

    def log(self):
        return self.log_file.read_text() if self.log_file.exists() else ""

    def token(self, secret):
        return Reader(self, token=secret)

    def user(self, name):
        return Reader(self, user=name)

    def stop(self, number=signal.SIGTERM):
        if self.process is not None:
            self.process.send_signal(number)
            status = self.process.wait(timeout=paths.DEADLINE)
            self.process = None
            assert status == 0, (status, self.log())

    def __exit__(self, *_):
        self.stop()
        for path in (self.read, self.people):
            assert not os.path.exists(path), f"{path} was left behind"


class CreatorPages(Serve):
    """`sluice serve --creators`: the process of the creators' pages."""

    def __init__(self, store, folder, config, *options, environment=None, program=paths.SLUICE):
        super().__init__(store, folder, environment=environment, program=program)
        self.read = folder / "creators.sock"
        self.log_file = folder / "creators.log"
        self.command = [str(program), "--store", str(store), "serve", "--creators", f"unix:{self.read}",
                        "--creators-config", str(config), *map(str, options)]

    def page(self, account, token):
        return CreatorPage(self, account, token)


class CreatorPage:
    """One creator, with a page token."""

    def __init__(self, pages, account, token):
        self.path, self.below = pages.read, f"/c/{account}/v1/"
        self.headers = [("Authorization", f"Bearer {token}")]

    def get(self, resource, **parameters):
        target = self.below + target_of(resource, parameters).removeprefix("/v1/")
        return ask(self.path, target, self.headers)

    def object(self, resource, **parameters):
        answer = self.get(resource, **parameters)
        assert answer.status == 200, (resource, parameters, answer)
        return answer.json()
