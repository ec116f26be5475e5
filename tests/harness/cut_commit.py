"""A way to PostgreSQL that breaks at a COMMIT: the first one of two never arrives, of the second the answer is lost."""

import pathlib
import socket
import threading

from harness import paths

COMMIT = b"COMMIT"
NEVER_ARRIVED, ANSWER_LOST = "never arrived", "answer lost"


class CutCommit:
    """A Unix socket in front of the server's. Use as a context manager; `cuts` says what is still to be done."""

    def __init__(self, server):
        self.there = str(server.folder / ".s.PGSQL.5432")
        self.folder = pathlib.Path(paths.make_folder())
        self.cuts, self.done = [], []
        self.lock = threading.Lock()
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(self.folder / ".s.PGSQL.5432"))
        self.listener.listen()
        self.accepting = threading.Thread(target=self._accept, daemon=True)
        self.accepting.start()

    def url(self):
        return f"postgres://sluice@/postgres?host={self.folder}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.accepting.join(paths.DEADLINE)
        self.listener.close()
        paths.drop_folder(self.folder)

    def _accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            server.connect(self.there)
            # The session may use the statement again under its number: each is cut at its first COMMIT, which has it
            # in words.
            threading.Thread(target=self._to_server, args=(client, server), daemon=True).start()

    def _to_server(self, client, server):
        answers = threading.Thread(target=pump, args=(server, client), daemon=True)
        answers.start()
        cut = None
        while cut is None and (piece := receive(client)):
            if COMMIT in piece and (cut := self._next_cut()) == NEVER_ARRIVED:
                break
            server.sendall(piece)
            if cut == ANSWER_LOST:
                client.shutdown(socket.SHUT_RDWR)  # before the server can have answered
        if cut == ANSWER_LOST:
            # The server completes the request, then sees that its client has gone.
            server.shutdown(socket.SHUT_WR)
            answers.join(paths.DEADLINE)
        for end in (client, server):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            end.close()

    def _next_cut(self):
        with self.lock:
            if not self.cuts:
                return None
            self.done.append(self.cuts.pop(0))
            return self.done[-1]


def receive(end):
    try:
        return end.recv(1 << 16)
    except OSError:
        return b""


def pump(source, target):
    while piece := receive(source):
        try:
            target.sendall(piece)
        except OSError:
            pass
    try:
        target.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
