"""Receivers of notifications on the loopback, `sluice notify run`, and the libraries that receivers verify with."""

import collections
import http.server
import json
import os
import signal
import ssl
import subprocess
import threading
import time

from harness import npm, paths

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


class Receiver:
    """An HTTPS server. `answer(request)` returns a status, or (status, headers), or writes to the socket itself."""

    def __init__(self, folder, answer=lambda request: 200, address="127.0.0.1", tls=True, certificate=None):
        self.requests, self.answer = [], answer
        self.under_way, self.most_under_way = 0, 0
        self.lock = threading.Lock()
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"])).decode()
                request = Request(self.path, {k.lower(): v for k, v in self.headers.items()}, body, time.monotonic())
                request.socket = self.connection
                with receiver.lock:
                    receiver.under_way += 1
                    receiver.most_under_way = max(receiver.most_under_way, receiver.under_way)
                    receiver.requests.append(request)
                try:
                    self.reply(receiver.answer(request))
                finally:
                    with receiver.lock:
                        receiver.under_way -= 1

            def reply(self, answer):
                if answer is None:  # it wrote to the socket
                    self.close_connection = True
                    return
                status, headers = answer if isinstance(answer, tuple) else (answer, {})
                self.send_response(status)
                for name, value in {"content-length": "0", **headers}.items():
                    self.send_header(name, value)
                self.end_headers()

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

            def handle_error(self, *_):  # clients that are killed or refuse the certificate
                pass

        self.certificate, key = certificate or make_certificate(folder, "DNS:localhost", "DNS:hook.test", "IP:127.0.0.1",
                                                                "IP:127.0.0.2")
        self.server = Server((address, 0), Handler)
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(self.certificate, key)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
        self.port = self.server.server_address[1]
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{self.port}/hook"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def wait(self, count, what="requests"):
        paths.wait_until(lambda: len(self.requests) >= count, f"{count} {what}, not {len(self.requests)}")
        return list(self.requests)

    def ids(self):
        return collections.Counter(request.id for request in self.requests)


class Notify:
    """`sluice notify run`. Use as a context manager: it stops by pid."""

    def __init__(self, sluice, folder, receiver, *options, environment=None, prefix=()):
        self.log_file = folder / "notify.log"
        self.command = [*prefix, str(paths.SLUICE), "--store", str(sluice.store), "notify", "run", "--ca-file",
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
