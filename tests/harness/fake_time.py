"""A clock that tests set: libfaketime shifts the wall clock of nginx and of every command, not the monotonic one."""
import datetime
import math
import os
import pathlib
import tempfile
import time

LIBRARY = pathlib.Path("/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1")
NAMES = ("LD_PRELOAD", "FAKETIME_TIMESTAMP_FILE", "FAKETIME_NO_CACHE", "FAKETIME_DONT_FAKE_MONOTONIC", "FAKETIME_DONT_RESET")


class FakeTime:
    """All processes that have its environment see the same time, which runs on.

    The clock's file is where every user may read it: a command of root becomes the owner of the store, and libfaketime
    shows the real time if it cannot read the file."""

    def __init__(self):
        # ld.so only warns of a missing library, and the processes would see the real time.
        assert LIBRARY.exists(), f"{LIBRARY} is missing: scripts/install-deps more (tests/more.txt lists what needs it)"
        self.folder = tempfile.TemporaryDirectory(prefix="sluice-clock-", dir="/var/tmp")
        os.chmod(self.folder.name, 0o755)
        self.file = pathlib.Path(self.folder.name) / "clock"
        self.environment = {
            "LD_PRELOAD": str(LIBRARY), "FAKETIME_TIMESTAMP_FILE": str(self.file), "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1", "FAKETIME_DONT_RESET": "1",
        }
        # nginx clears its environment, except these variables
        self.nginx_lines = "\n".join(f"env {name};" for name in NAMES)
        self.file.write_text("+0")

    def set(self, text):
        """`text`: 2026-01-05T10:00:00Z"""
        wanted = datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()
        part = self.file.with_suffix(".new")
        # Rounded up: the clock never shows the millisecond before the wanted instant.
        part.write_text(f"{math.ceil(1000 * (wanted - time.time())) / 1000:+.3f}")
        os.replace(part, self.file)
