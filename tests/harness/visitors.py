"""Visitors that follow a link while something else happens."""

import re
import socket
import threading
import time

from harness import paths

PIPELINED = 16
STATUS = re.compile(rb"HTTP/1\.1 (\d{3}) ")


class Visitors:
    """As a context manager: they follow the link until it ends, on connections of their own, each with `PIPELINED` requests on
    the way. `statuses`: how often each was answered. A request without an answer, because nginx closed the connection, is none.

    @param rate  Visits a second of all, at most.
    """

    def __init__(self, edge, link, rate, connections=2, devices=200):
        self.port, self.rate, self.connections = edge.port, rate, connections
        self.visits = [(f"GET /l/{link} HTTP/1.1\r\nHost: go.shop.example\r\n"
                        f"Cookie: svc_anon_id=device-of-a-flood-{number:06}\r\n\r\n").encode() for number in range(devices)]
        self.statuses, self.failure = {}, None
        self.lock, self.ended = threading.Lock(), threading.Event()

    @property
    def answers(self):
        return sum(self.statuses.values())

    def __enter__(self):
        self.threads = [threading.Thread(target=self._guarded, args=(number,)) for number in range(self.connections)]
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        for thread in self.threads:
            thread.join()
        if self.failure:
            raise self.failure

    def _guarded(self, number):
        try:
            self._run(number)
        except Exception as error:  # the test fails, not the thread alone
            self.failure = error

    def _run(self, number):
        pause, at, due = PIPELINED * self.connections / self.rate, number * PIPELINED, time.monotonic()
        connection = None
        while not self.ended.is_set():
            connection = connection or self._connect()
            batch = [self.visits[(at + i) % len(self.visits)] for i in range(PIPELINED)]
            at += PIPELINED
            connection = connection if self._ask(connection, b"".join(batch)) else None
            due = max(due + pause, time.monotonic() - 1)  # what a stall cost is made up for during a second
            self.ended.wait(max(0, due - time.monotonic()))
        if connection:
            connection.close()

    def _connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=paths.DEADLINE)

    def _ask(self, connection, requests):
        """Returns whether the connection can be used again."""
        received, found, is_open = b"", [], True
        try:
            connection.sendall(requests)
            while is_open and len(found) < PIPELINED:
                data = connection.recv(65536)
                is_open = data != b""
                received += data
                found = STATUS.findall(received)
        except ConnectionError:
            is_open = False
        with self.lock:
            for status in found:
                self.statuses[int(status)] = self.statuses.get(int(status), 0) + 1
        if not is_open:
            connection.close()
        return is_open
