"""Power cut: every state that a disk may legally be in between two syncs holds all that was acknowledged.

kill -9 does not show this, because the page cache survives it. A recorder (write_recorder.c) logs the writes and
syncs of a real queue. A state is: everything synced, plus any subset of the 512-byte sectors that were written
since; a new file is there for certain once its folder was synced. Sector writes are taken as atomic; LMDB's meta page relies on that, and docs/reliability.md says so.
"""
import os
import pathlib
import random
import struct
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("SLUICE_BUILD", ROOT / "build/dev"))
SECTOR = 512
WRITE, DURABLE_WRITE, TRUNCATE, SYNC, CREATE = 1, 2, 3, 4, 5


class Disk:
    """Files as they are on the platter, and what may or may not have reached it yet."""

    def __init__(self, files):
        self.durable = {path: bytearray(data) for path, data in files.items()}
        self.pending = {}
        self.names_pending = set()

    @staticmethod
    def put(image, offset, data):
        if len(image) < offset:
            image.extend(bytes(offset - len(image)))
        image[offset:offset + len(data)] = data

    def apply(self, kind, path, offset, data):
        if kind == WRITE:
            self.pending.setdefault(path, []).append((offset, data))
        elif kind == DURABLE_WRITE:
            # O_DSYNC: this write is on the platter when it returns; others of the file need not be.
            self.put(self.durable.setdefault(path, bytearray()), offset, data)
        elif kind == TRUNCATE:
            image = self.durable.setdefault(path, bytearray())
            if len(image) < offset:
                image.extend(bytes(offset - len(image)))
        elif kind == CREATE:
            self.durable.setdefault(path, bytearray())
            self.names_pending.add(path)
        elif kind == SYNC:
            self.names_pending = {name for name in self.names_pending if os.path.dirname(name) != path}
            for start, written in self.pending.pop(path, []):
                self.put(self.durable.setdefault(path, bytearray()), start, written)

    def crash(self, rng):
        """One legal state: any subset of the unsynced sectors, some kept in part of the order, some not."""
        state = {path: bytearray(data) for path, data in self.durable.items()}
        share = rng.choice((0.0, 0.1, 0.5, 0.9, 1.0))
        for path, writes in self.pending.items():
            image = state.setdefault(path, bytearray())
            for offset, data in writes:
                at = 0
                while at < len(data):
                    step = min(SECTOR - (offset + at) % SECTOR, len(data) - at)
                    if rng.random() < share:
                        self.put(image, offset + at, data[at:at + step])
                    at += step
        for path in self.names_pending:
            if rng.random() >= share:
                del state[path]
        return state


def read_log(path):
    data, at = path.read_bytes(), 0
    while at < len(data):
        kind, path_bytes, offset, data_bytes = struct.unpack_from("<IIQQ", data, at)
        at += 24
        name = data[at:at + path_bytes].decode()
        at += path_bytes
        yield kind, name, offset, data[at:at + data_bytes]
        at += data_bytes


def acknowledged(lines):
    stored, applied = {}, 0
    for line in lines:
        words = line.split()
        if words[0] == "stored":
            stored[int(words[1])] = words[2]
        else:
            applied = int(words[1])
    return {seq: digest for seq, digest in stored.items() if seq > applied}


def check(state, files_root, lines):
    for path in (files_root / "store/queue/bulk").iterdir():
        path.unlink()
    for path, data in state.items():
        if path.startswith("store/"):
            (files_root / path).write_bytes(data)
    result = subprocess.run([BUILD / "tests/power_cut_check", files_root / "store"], capture_output=True, text=True)
    if result.returncode != 0:
        return f"the queue cannot be read: {result.stderr}"
    found = dict(line.split() for line in result.stdout.splitlines())
    for seq, digest in acknowledged(lines).items():
        if found.get(str(seq)) != digest:
            return f"record {seq} was acknowledged and is {'altered' if str(seq) in found else 'lost'}"
    return None


@pytest.fixture(name="recorder", scope="module")
def build_recorder(tmp_path_factory):
    library = tmp_path_factory.mktemp("recorder") / "write_recorder.so"
    subprocess.run(["cc", "-O2", "-Wall", "-shared", "-fPIC", "-o", library,
                    ROOT / "tests/torture/write_recorder.c"], check=True)
    return library


def record(recorder, root, batches, seed, sync=True):
    """Runs the writer under the recorder. Returns the files before it and the log."""
    store, log = root / "store", root.parent / f"{root.name}.log"
    subprocess.run([BUILD / "tests/power_cut_writer", root, "init"], check=True)
    before = {str(path.relative_to(root)): path.read_bytes() for path in store.rglob("*")
              if path.is_file() and path.name != "lock.mdb"}
    environment = {**os.environ, "LD_PRELOAD": str(recorder), "RECORD_ROOT": str(root), "RECORD_LOG": str(log)}
    subprocess.run([BUILD / "tests/power_cut_writer", root, str(batches), str(seed), "on" if sync else "off"],
                   check=True, env=environment)
    return before, list(read_log(log))


def crash_states(recorder, root, batches, seed, states_wanted, sync=True):
    """Builds states after randomly chosen log entries and checks each. Returns (states, verdicts)."""
    before, log = record(recorder, root, batches, seed, sync)
    rng = random.Random(seed)
    per_entry = states_wanted / sum(path != "acks" for _, path, _, _ in log)
    disk, lines, states, wrong = Disk(before), [], 0, []
    for kind, path, offset, data in log:
        if path == "acks":
            lines += data.decode().splitlines()
            continue
        disk.apply(kind, path, offset, data)
        wanted = int(per_entry) + (rng.random() < per_entry % 1)
        for _ in range(wanted):
            states += 1
            verdict = check(disk.crash(rng), root, lines)
            if verdict:
                wrong.append(verdict)
    return states, wrong


@pytest.mark.parametrize("states_wanted", [300, pytest.param(10000, marks=pytest.mark.long)])
def test_every_acknowledged_record_survives_a_power_cut(recorder, tmp_path, states_wanted):
    root = tmp_path / "root"
    root.mkdir()
    seed = int(os.environ.get("SLUICE_SEED", "123"))
    states, wrong = crash_states(recorder, root, states_wanted // 20, seed, states_wanted)
    print(f"power cut: seed {seed}, {states} states, {len(wrong)} wrong")
    assert states >= states_wanted // 2, "the recorder saw too little"
    assert not wrong, wrong[0]


def test_the_recorder_sees_a_missing_sync(recorder, tmp_path):
    """Without syncs the same check must turn red, else it proves nothing."""
    root = tmp_path / "root"
    root.mkdir()
    _, wrong = crash_states(recorder, root, 15, 123, 200, sync=False)
    assert wrong, "a queue that never syncs passed"
