"""Runs a program under a filter of system calls: `confined.py CALL,... PROGRAM ARGUMENT...`."""

import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from harness.unit_filter import confine  # noqa: E402

confine(sys.argv[1].split(","))
os.execvp(sys.argv[2], sys.argv[2:])
