"""HTTP/1.1 over a plain socket: the test decides every byte."""

import socket

from harness import paths


class Closed(ConnectionError):
    """The server closed the connection before a whole answer came."""


class Answer:
    def __init__(self, status, headers, body):
        self.status = status
        self.headers = headers
        self.body = body

    def all(self, name):
        return [value for key, value in self.headers if key.lower() == name.lower()]

    def header(self, name):
        """The one value of a header; None without it; an error when it came twice."""
        values = self.all(name)
        assert len(values) <= 1, f"{name} came {len(values)} times"
        return values[0] if values else None

    def has(self, name):
        return bool(self.all(name))

    def __repr__(self):
        return f"<{self.status} {self.headers} {self.body[:600]!r}>"


def head(method, target, headers, host="127.0.0.1"):
    lines = [f"{method} {target} HTTP/1.1", f"Host: {host}"]
    lines += [f"{name}: {value}" for name, value in headers]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("utf-8", "surrogateescape")


def chunked(body, size):
    out = bytearray()
    for start in range(0, len(body), size):
        piece = body[start : start + size]
        out += b"%x\r\n%s\r\n" % (len(piece), piece)
    return bytes(out) + b"0\r\n\r\n"


class OwnsSocket:
    """As a context manager it closes its socket."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.socket.close()


class Connection(OwnsSocket):
    """One connection. request() reopens it after nginx announced that it closes it.

    @param port  Of 127.0.0.1, or the path of a Unix socket.
    """

    def __init__(self, port, timeout=None):
        self.port, self.timeout = port, timeout or paths.DEADLINE
        self._connect()

    def _connect(self):
        if isinstance(self.port, int):
            self.socket = socket.create_connection(("127.0.0.1", self.port), timeout=self.timeout)
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        else:
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.settimeout(self.timeout)
            self.socket.connect(self.port)
        self.buffer = b""
        self.closing = False

    def send(self, data):
        self.socket.sendall(data)

    def _more(self):
        data = self.socket.recv(65536)
        if not data:
            raise Closed(f"closed after {self.buffer[:200]!r}")
        self.buffer += data

    def _line(self):
        while b"\r\n" not in self.buffer:
            self._more()
        line, self.buffer = self.buffer.split(b"\r\n", 1)
        return line

    def _exactly(self, count):
        while len(self.buffer) < count:
            self._more()
        data, self.buffer = self.buffer[:count], self.buffer[count:]
        return data

    def _chunks(self):
        body = b""
        while size := int(self._line().split(b";")[0], 16):
            body += self._exactly(size)
            assert self._exactly(2) == b"\r\n"
        assert self._line() == b""
        return body

    def _until_close(self):
        try:
            while True:
                self._more()
        except Closed:
            data, self.buffer = self.buffer, b""
            return data

    def read(self, method="POST"):
        """One whole answer. 1xx answers are returned too, without a body."""
        version, status, *_ = self._line().split(b" ", 2)
        assert version == b"HTTP/1.1", version
        headers = []
        while line := self._line():
            name, value = line.split(b":", 1)
            headers.append((name.decode(), value.strip().decode()))
        answer = Answer(int(status), headers, b"")
        self.closing = (answer.header("Connection") or "").lower() == "close"
        if answer.status < 200 or answer.status in (204, 304) or method == "HEAD":
            return answer
        if (answer.header("Transfer-Encoding") or "").lower() == "chunked":
            answer.body = self._chunks()
        elif answer.has("Content-Length"):
            answer.body = self._exactly(int(answer.header("Content-Length")))
        else:
            answer.body = self._until_close()
        return answer

    def request(self, method, target, headers, body=b"", length=True):
        if self.closing:
            self.close()
            self._connect()
        extra = [("Content-Length", str(len(body)))] if length else []
        self.send(head(method, target, list(headers) + extra) + body)
        return self.read(method)
