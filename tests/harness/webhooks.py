"""Receivers of notifications on the loopback, `sluice notify run`, and the libraries that receivers verify with."""

import collections
import json
import os
import signal
import subprocess
import threading
import time

from harness import npm, paths
from harness.post_server import PostServer

VERIFY = paths.ROOT / "tests" / "notify" / "verify"
LOOPBACK = "127.0.0.0/8"


def make_certificate(folder, *names, name="receiver"):
    """(certificate, key) that the certificate itself vouches for."""
    certificate, key = folder / f"{name}.pem", folder / f"{name}.key"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                    "-days", "36500", "-subj", "/CN=receiver", "-addext", "subjectAltName=" + ",".join(names), "-keyout", key,
                    "-out", certificate], check=True, capture_output=True)
    certificate.chmod(0o644)
    return certificate, key


class Request:
    def __init__(self, path, headers, body, at):
        self.path, self.headers, self.body, self.at = path, headers, body, at

    @property
    def id(self):
        return self.headers["webhook-id"]

    @property
    def change(self):
        return json.loads(self.body)

    def __repr__(self):
        return f"<{self.path} {self.id} {self.change['type']}>"


class Receiver(PostServer):
    """An HTTPS server. `answer(request)` returns a status, or (status, headers), or writes to the socket itself."""

    def __init__(self, folder, answer=lambda request: 200, address="127.0.0.1", tls=True, certificate=None):
        self.requests, self.answer = [], answer
        self.under_way, self.most_under_way = 0, 0
        self.lock = threading.Lock()
        self.certificate, key = certificate or make_certificate(folder, "DNS:localhost", "DNS:hook.test", "IP:127.0.0.1",
                                                                "IP:127.0.0.2")
        super().__init__(self.respond, address, (self.certificate, key) if tls else None)
        self.url = f"{'https' if tls else 'http'}://{address}:{self.port}/hook"

    def respond(self, path, headers, body, connection):
        request = Request(path, {k.lower(): v for k, v in headers.items()}, body.decode(), time.monotonic())
        request.socket = connection
        with self.lock:
            self.under_way += 1
            self.most_under_way = max(self.most_under_way, self.under_way)
            self.requests.append(request)
        try:
            answer = self.answer(request)
        finally:
            with self.lock:
                self.under_way -= 1
        if answer is None:
            return None
        status, headers = answer if isinstance(answer, tuple) else (answer, {})
        return status, headers, ""

    def wait(self, count, what="requests"):
        paths.wait_until(lambda: len(self.requests) >= count, f"{count} {what}, not {len(self.requests)}")
        return list(self.requests)

    def ids(self):
        return collections.Counter(request.id for request in self.requests)


class Notify:
    """`sluice notify run`. Use as a context manager: it stops by pid."""

    def __init__(self, sluice, folder, receiver, *options, environment=None, prefix=(), program=paths.SLUICE):
        self.log_file = folder / "notify.log"
        self.command = [*prefix, str(program), "--store", str(sluice.store), "notify", "run", "--ca-file",
                        str(receiver.certificate), *map(str, options)]
        self.environment = {**os.environ, **(environment or {})}
        self.process = None

    def start(self, **environment):
        with open(self.log_file, "ab") as log:
            self.process = subprocess.Popen(self.command, stdout=log, stderr=log, env={**self.environment, **environment})
        return self

    def __enter__(self):
        return self.start()

    def log(self):
        return self.log_file.read_text() if self.log_file.exists() else ""

    def stop(self, number=signal.SIGTERM, status=0):
        if self.process is not None:
            self.process.send_signal(number)
            ended = self.process.wait(timeout=paths.DEADLINE)
            self.process = None
            assert ended == status, (ended, self.log())

    def kill(self):
        self.stop(signal.SIGKILL, -signal.SIGKILL)

    def wait_for_death(self):
        """Waits until a crash point has killed it."""
        ended = self.process.wait(timeout=paths.DEADLINE)
        self.process = None
        assert ended == -signal.SIGKILL, (ended, self.log())

    def __exit__(self, *_):
        self.stop()


def verdicts(requests, secret):
    """Returns the verdicts of standardwebhooks and svix on each request: true, or an error."""
    folder = npm.install(VERIFY, "notify-verify", "ci")
    lines = "".join(json.dumps({"secret": secret, "headers": request.headers, "body": request.body}) + "\n"
                    for request in requests)
    run = subprocess.run(["node", "verify.mjs"], cwd=folder, input=lines, capture_output=True, text=True, check=True,
                         timeout=paths.DEADLINE)
    return [json.loads(line) for line in run.stdout.splitlines()]
