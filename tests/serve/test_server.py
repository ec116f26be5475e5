"""The server's process: its sockets, its threads, its end, and the walls of its unit."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import threading
import time

import pytest
from harness import intruder, paths
from harness.cli import Sluice
from harness.postgres import Server, missing
from harness.serve import Serve, UnixConnection, ask


@pytest.fixture
def reading(store):
    """A store, and a token that may read it."""
    folder, sluice = store
    return folder, sluice.token("acme", "read_orders", "read_ledger")[1]


def exchange(path, text, until=b""):
    """Sends bytes, and returns what comes until the server closes or sends `until`."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(paths.DEADLINE)
        connection.connect(str(path))
        connection.sendall(text)
        answer = b""
        while not (until and until in answer) and (part := connection.recv(65536)):
            answer += part
        return answer.decode()


@pytest.mark.parametrize("coding", ["identity", "gzip", "chunked", "gzip, chunked", ""])
def test_a_body_behind_a_transfer_coding_is_no_second_request(reading, coding):
    folder, _ = reading
    with Serve(folder / "store", folder) as serve:
        answer = exchange(serve.read, f"GET /health HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: {coding}\r\n\r\n"
                                      "GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n".encode())
        assert answer.count("\r\nServer: ") == 1 and answer.startswith("HTTP/1.1 400 "), answer
        assert "sluice_read_requests_total" not in answer


def test_an_old_client_is_told_that_the_connection_stays_open(reading):
    folder, _ = reading
    with Serve(folder / "store", folder) as serve:
        asked = b"GET /health HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"
        assert "Connection: keep-alive\r\n" in exchange(serve.read, asked, b"ok\n")
        assert "Connection: close\r\n" in exchange(serve.read, b"GET /health HTTP/1.0\r\n\r\n")


def test_sessions_end_on_the_thread_of_their_sockets(reading):
    """~Session asserts it: a session that a reader ended would abort the server."""
    folder, secret = reading
    with Serve(folder / "store", folder, "--rate-limit", "1000000/60") as serve:
        reader = serve.token(secret)

        def ask_often():
            for _ in range(500):
                assert reader.get("me", headers=[("Connection", "close")]).status == 200

        threads = [threading.Thread(target=ask_often) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert serve.process.poll() is None, serve.log()


def test_a_stop_ends_idle_connections_at_once(reading):
    folder, _ = reading
    with Serve(folder / "store", folder) as serve:
        silent, used = UnixConnection(serve.read), UnixConnection(serve.read)
        silent.connect()
        used.request("GET", "/health")
        assert used.getresponse().read() == b"ok\n"
        began = time.monotonic()
        serve.stop()
        assert time.monotonic() - began < 2.5, "it waited for connections without a request"
        silent.close()
        used.close()


def test_a_server_that_ends_leaves_the_sockets_of_its_successor(reading):
    """The successor binds while the first server still answers: nothing may remove the new sockets."""
    folder, _ = reading
    first = Serve(folder / "store", folder)
    with first:
        held = UnixConnection(first.read)  # keeps the first server alive for its last answer
        held.connect()
        held.sock.sendall(b"GET /health HTTP/1.1\r\n")
        first.process.send_signal(signal.SIGTERM)
        paths.wait_until(lambda: not os.path.exists(first.read), "the first server to leave its path")
        second = Serve(folder / "store", folder)
        with second:
            assert first.process.poll() is None, "the first server must still run"
            held.sock.sendall(b"Host: a\r\n\r\n")
            assert held.sock.recv(65536).startswith(b"HTTP/1.1 200 ")
            held.close()
            assert first.process.wait(timeout=paths.DEADLINE) == 0
            first.process = None
            assert ask(second.read, "/health").status == 200 and os.path.exists(second.people)


# -- The unit --------------------------------------------------------------------------------------------


def mounted(store, key):
    """A command's words: runs it with mounts as the unit has them."""
    script = (f"mount --bind {store} {store} && mount --bind {store}/ledger/lock.mdb {store}/ledger/lock.mdb && "
              f"mount -o remount,ro,bind {store} && mount --bind {key} {store}/master.key && exec \"$@\"")
    return ["unshare", "-m", "--propagation", "private", "sh", "-c", script, "sh"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts")
@pytest.mark.parametrize("change, lost", [("ledger", "lock.mdb"), ("key", "master.key")])
def test_a_file_in_another_ones_place_ends_the_unit_so_that_it_starts_with_new_mounts(change, lost):
    folder = paths.make_folder()
    store = intruder.new_store(folder)
    closed = folder / "closed"
    closed.touch(mode=0o000)
    try:
        serve = Serve(store, folder)
        serve.command = [*mounted(store, closed), *serve.command]
        with serve:
            time.sleep(1.5)  # longer than the interval of its checks
            assert serve.process.poll() is None, serve.log()
            if change == "ledger":
                (store / "ledger").rename(folder / "old")
                shutil.copytree(folder / "old", store / "ledger")
                for path in [store / "ledger", *(store / "ledger").iterdir()]:
                    shutil.chown(path, intruder.OWNER, intruder.INTRUDER)
            else:
                (folder / "new.key").write_bytes((store / "master.key").read_bytes())
                shutil.chown(folder / "new.key", intruder.OWNER)
                (folder / "new.key").rename(store / "master.key")
            assert serve.process.wait(timeout=paths.DEADLINE) == 1
            serve.process = None
            assert lost in serve.log() and "start again" in serve.log()
    finally:
        paths.drop_folder(folder)


# -- PostgreSQL ------------------------------------------------------------------------------------------


@pytest.fixture
def shared(reading):
    """The store's ledger in PostgreSQL. Yields folder, secret, server."""
    if missing():
        pytest.fail(missing())
    folder, secret = reading
    with Server() as server:
        sluice = Sluice(folder / "store")
        sluice("ledger", "migrate", "--ledger", server.create())
        sluice("worker", "--until-empty", "--ledger", server.url())
        yield folder, secret, server


@contextlib.contextmanager
def locked(server, table):
    """Holds a table as `ALTER TABLE` or `VACUUM FULL` in an open transaction does."""
    command = [str(server.programs / "psql"), "-h", str(server.folder), "-U", "sluice", "-d", server.database, "-XAtq"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        holder.stdin.write(f"BEGIN; LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE; SELECT 'held';\n")
        holder.stdin.flush()
        assert holder.stdout.readline() == "held\n"
        try:
            yield
        finally:
            holder.stdin.close()


def test_a_locked_table_delays_only_its_readers(shared):
    folder, secret, server = shared
    with Serve(folder / "store", folder, "--threads", "2") as serve:
        reader = serve.token(secret)
        assert reader.get("orders").status == 200
        with locked(server, "sluice_ledger.shops"):
            began = time.monotonic()
            answer = reader.get("orders")
            assert (answer.status, answer.header("Retry-After")) == (503, "1"), answer
            assert time.monotonic() - began < 20
            assert ask(serve.read, "/ready").status == 200 and reader.get("me").status == 200
        assert reader.get("orders").status == 200


def test_q4_a_database_that_is_away_is_503_until_it_is_back(shared):
    """Never an old answer in place of a new one."""
    folder, secret, server = shared
    with Serve(folder / "store", folder) as serve:
        reader = serve.token(secret)
        before = reader.get("orders")
        assert before.status == 200
        server.stop()
        answer = reader.get("orders", headers=[("If-None-Match", before.header("ETag"))])
        assert (answer.status, answer.code) == (503, "ledger_unavailable") and int(answer.header("Retry-After")) >= 1
        assert (ask(serve.read, "/health").status, ask(serve.read, "/ready").status) == (200, 503)
        server.start()
        paths.wait_until(lambda: reader.get("orders").status == 200, "answers after the database is back")


def test_a_stop_does_not_wait_for_a_lock(shared):
    folder, secret, server = shared
    with Serve(folder / "store", folder, "--threads", "1") as serve, locked(server, "sluice_ledger.shops"):
        statuses = []
        threads = [threading.Thread(target=lambda: statuses.append(serve.token(secret).get("orders").status)) for _ in range(6)]
        for thread in threads:
            thread.start()
        time.sleep(0.5)
        began = time.monotonic()
        serve.stop()
        assert time.monotonic() - began < 12
        for thread in threads:
            thread.join()
        assert statuses == [503] * 6


# -- Large answers ---------------------------------------------------------------------------------------

RULE = """
[[program.rule]]
match = "brand"
value = "{value}"
rate = "5%"
"""
PROGRAM = """
[[program]]
id = "{id}"
account = "acme"
default_rate = "10%"
"""


def test_no_answer_has_more_than_8_mb(reading):
    """A list ends there, and says so with its cursor; one row or object that is larger is cut (test_large.py)."""
    folder, secret = reading
    sluice = Sluice(folder / "store")
    most = 8 << 20
    for number in range(6):
        text = PROGRAM.format(id=f"p{number}")
        text += "".join(RULE.format(value=f"{number}-{at}-" + "x" * 900) for at in range(2000))
        (folder / "program.toml").write_text(text)
        sluice("program", "apply", folder / "program.toml")
    with Serve(folder / "store", folder) as serve:
        reader = serve.token(secret)
        answer = reader.get("programs", limit=1000)
        assert answer.status == 200 and len(answer.body) <= most and answer.json()["next"]
        assert [row["program_id"] for row in reader.rows("programs", limit=1000)] == [f"p{number}" for number in range(6)]
        # Clients that read nothing: their answers wait, up to the caller's share of memory.
        held = []
        for _ in range(6):
            held.append(UnixConnection(serve.read))
            held[-1].request("GET", "/v1/programs", headers=dict(reader.headers))
        statuses = [connection.getresponse().status for connection in held]
        assert statuses.count(503) >= 2 and statuses.count(200) >= 2, statuses
        for connection in held:
            connection.close()
        paths.wait_until(lambda: reader.get("programs").status == 200, "room after the clients are gone")


def connect(path):
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(paths.DEADLINE)
    connection.connect(str(path))
    return connection


def test_connections_that_are_idle_give_up_their_places(reading):
    """More than a process holds, which send nothing: the next one is answered, and those that were used last stay."""
    folder, secret = reading
    with Serve(folder / "store", folder) as serve, contextlib.ExitStack() as stack:
        idle = [stack.enter_context(connect(serve.read)) for _ in range(1010)]
        for _ in range(20):
            assert serve.token(secret).get("me").status == 200
        assert idle[0].recv(1) == b""  # the one that was idle for longest
        for connection in idle[50:]:
            connection.sendall(b"GET /v1/me HT")  # and no more
        for _ in range(20):
            assert serve.token(secret).get("me").status == 200
        idle[-1].sendall(b"TP/1.1\r\nHost: sluice\r\n\r\nGET /health HTTP/1.1\r\nHost: sluice\r\n\r\n")
        assert idle[-1].recv(12) == b"HTTP/1.1 401"
