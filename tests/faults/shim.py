"""The page that shim.c reads: the faults to inject, and the faults injected so far."""

import mmap
import pathlib
import re
import struct
import subprocess

from harness import paths

SOURCE = pathlib.Path(__file__).with_name("shim.c")
SHORT, DELAY, JITTER, KILL = 1001, 1002, 1003, 1004  # else an errno
NGINX, SLUICE = 1, 2
PAGE_BYTES = 4096
(CALL_MASK, ROLES, PID, NTH, STICKY, MODE, DELAY_US, SEEN, INJECTED, FIRST, WATCH_LOOP, LOOP_CALLS) = range(12)
ARMED, COUNTDOWN = 16, 17
PASSES, KILLS = 32, 96
LOOP_PATH, LOOP_PATH_BYTES = 8 * 160, 512


def _names(macro):
    text = SOURCE.read_text().replace("\\\n", " ")
    line = re.search(rf"#define {macro}\(X\)(.*)", text).group(1)
    return re.findall(r"X\((\w+)\)", line)


CALLS = _names("CALLS")
POINTS = _names("POINTS")


def build(folder):
    library = folder / "shim.so"
    command = ["cc", "-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-Werror"]
    subprocess.run([*command, "-o", library, SOURCE, "-ldl", "-llmdb"], check=True)
    return library


class Shim:
    """One site's page. `environment(store)` is for the processes that are to meet it."""

    def __init__(self, library, folder):
        self.library, self.file = library, folder / "faults"
        self.file.write_bytes(bytes(PAGE_BYTES))
        with open(self.file, "r+b") as file:
            self.page = mmap.mmap(file.fileno(), PAGE_BYTES)

    def environment(self, store):
        before = paths.sanitizer_environment().get("LD_PRELOAD", "")
        return {
            "LD_PRELOAD": f"{before} {self.library}".strip(),
            "SLUICE_FAULT_PAGE": str(self.file),
            "SLUICE_FAULT_DIR": str(store),
        }

    def word(self, index):
        return struct.unpack_from("<Q", self.page, 8 * index)[0]

    def set_word(self, index, value):
        struct.pack_into("<Q", self.page, 8 * index, value)

    # Faults -------------------------------------------------------------------------------------

    def arm(self, calls, mode, nth=1, roles=NGINX | SLUICE, sticky=False, delay_ms=0, pid=0):
        self.disarm()
        for index, value in (
            (ROLES, roles), (PID, pid), (NTH, nth), (STICKY, int(sticky)), (MODE, mode),
            (DELAY_US, int(delay_ms * 1000)), (SEEN, 0), (INJECTED, 0),
            (CALL_MASK, sum(1 << CALLS.index(call) for call in calls)),
        ):
            self.set_word(index, value)

    def disarm(self):
        """Counts stay readable."""
        self.set_word(CALL_MASK, 0)

    @property
    def injected(self):
        return self.word(INJECTED)

    @property
    def seen(self):
        """Matching calls, failed or not."""
        return self.word(SEEN)

    @property
    def first(self):
        """The call that was hit first."""
        return CALLS[self.word(FIRST)]

    # Watch --------------------------------------------------------------------------------------

    def watch_loop(self):
        """From now on counts what nginx's event loop itself does to files on disks, but for logs."""
        self.set_word(LOOP_CALLS, 0)
        self.set_word(WATCH_LOOP, 1)

    @property
    def loop_calls(self):
        return self.word(LOOP_CALLS)

    @property
    def loop_path(self):
        """The file of the first of them."""
        return self.page[LOOP_PATH:LOOP_PATH + LOOP_PATH_BYTES].split(b"\0")[0].decode()

    # Points -------------------------------------------------------------------------------------

    def arm_point(self, point, countdown=1):
        self.set_word(COUNTDOWN, countdown)
        self.set_word(ARMED, POINTS.index(point) + 1)

    def disarm_point(self):
        self.set_word(ARMED, 0)

    def kills(self, point):
        return self.word(KILLS + POINTS.index(point))

    def passes(self, point):
        return self.word(PASSES + POINTS.index(point))
