"""Power cut: every state that a disk may legally be in between two syncs holds all that was acknowledged.

kill -9 does not show this, because the page cache survives it. A recorder (write_recorder.c) logs the writes and
syncs of a real queue and its lanes. A state is: everything synced, plus any subset of the 512-byte sectors that were
written since, or that an O_DSYNC write under way was to write; a new file or name is there for certain once its
folder was synced. Sector writes are taken as atomic; LMDB's meta page relies on that, and docs/reliability.md says so.
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
WRITE, DURABLE_WRITE, TRUNCATE, SYNC, CREATE, RENAME = 1, 2, 3, 4, 5, 6


class Disk:
    """Files as they are on the platter, and what may or may not have reached it yet."""

    def __init__(self, files):
        self.durable = {path: bytearray(data) for path, data in files.items()}
        self.pending = {}
        self.names_pending = set()
        self.renames_pending = []

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
        elif kind == RENAME:
            # From here on under its new name; which of the two a power cut leaves is open.
            new = data.decode()
            for files in (self.durable, self.pending):
                if path in files:
                    files[new] = files.pop(path)
            self.names_pending.discard(path)
            self.renames_pending.append((path, new))
        elif kind == SYNC:
            self.renames_pending = [names for names in self.renames_pending if os.path.dirname(names[1]) != path]
            self.names_pending = {name for name in self.names_pending if os.path.dirname(name) != path}
            for start, written in self.pending.pop(path, []):
                self.put(self.durable.setdefault(path, bytearray()), start, written)

    def crash(self, rng, under_way=()):
        """One legal state: any subset of the unsynced sectors, some kept in part of the order, some not.

        `under_way`: the path, offset and data of a durable write that had not returned."""
        state = {path: bytearray(data) for path, data in self.durable.items()}
        share = rng.choice((0.0, 0.1, 0.5, 0.9, 1.0))
        unsynced = {path: list(writes) for path, writes in self.pending.items()}
        for path, offset, data in under_way:
            unsynced.setdefault(path, []).append((offset, data))
        for path, writes in unsynced.items():
            image = state.setdefault(path, bytearray())
            for offset, data in writes:
                at = 0
                while at < len(data):
                    step = min(SECTOR - (offset + at) % SECTOR, len(data) - at)
                    if rng.random() < share:
                        self.put(image, offset + at, data[at:at + step])
                    at += step
        for old, new in reversed(self.renames_pending):
            if rng.random() >= share:
                state[old] = state.pop(new)
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
    """By number, as far as it was known; and in the order of their answers, what a lane took. Without what was
    applied."""
    stored, in_lanes, applied = {}, [], 0
    for line in lines:
        words = line.split()
        if words[0] == "stored":
            stored[int(words[1])] = words[2]
        elif words[0] == "lane":
            in_lanes.append(words[1])
        else:
            applied = int(words[1])
    gone = {digest for seq, digest in stored.items() if seq <= applied}
    return ({seq: digest for seq, digest in stored.items() if seq > applied},
            [digest for digest in in_lanes if digest not in gone])


def check(state, files_root, lines):
    for folder in ("store/queue/bulk", "store/queue/lanes"):
        for path in (files_root / folder).iterdir():
            path.unlink()
    for path, data in state.items():
        if path.startswith("store/"):
            (files_root / path).write_bytes(data)
    result = subprocess.run([BUILD / "tests/power_cut_check", files_root / "store"], capture_output=True, text=True)
    if result.returncode != 0:
        return f"the queue cannot be read: {result.stderr}"
    found = dict(line.split() for line in result.stdout.splitlines())
    stored, in_lanes = acknowledged(lines)
    for seq, digest in stored.items():
        if found.get(str(seq)) != digest:
            return f"record {seq} was acknowledged and is {'altered' if str(seq) in found else 'lost'}"
    if len(set(found.values())) != len(found):
        return "a record is there twice"
    number = {digest: int(seq) for seq, digest in found.items()}
    last = 0
    for digest in in_lanes:
        if number.get(digest, 0) <= last:
            return f"a record that a lane took is {'out of order' if digest in number else 'lost'}: {digest}"
        last = number[digest]
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
        wanted = int(per_entry) + (rng.random() < per_entry % 1)
        states += wanted
        torn = sum(rng.random() < 0.5 for _ in range(wanted)) if kind == DURABLE_WRITE else 0
        after_a_cut = [disk.crash(rng, [(path, offset, data)]) for _ in range(torn)]
        disk.apply(kind, path, offset, data)
        after_a_cut += [disk.crash(rng) for _ in range(wanted - torn)]
        wrong += filter(None, (check(state, root, lines) for state in after_a_cut))
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
