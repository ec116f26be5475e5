"""Runs the real `sluice` program, and reads what it says."""
import dataclasses
import json
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("SLUICE_BUILD", ROOT / "build" / "dev")) / "worker" / "sluice"


@dataclasses.dataclass
class Run:
    status: int
    out: str
    err: str

    def json(self):
        return json.loads(self.out)


def sluice(*arguments, store=None, stdin=None, stdout=subprocess.PIPE, env=None, timeout=120):
    environment = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", **(env or {})}
    if store is not None:
        environment["SLUICE_STORE"] = str(store)
    done = subprocess.run(
        [str(PROGRAM), *map(str, arguments)],
        input=stdin or "", stdout=stdout, stderr=subprocess.PIPE,
        text=True, env=environment, timeout=timeout, check=False,
    )
    return Run(done.returncode, done.stdout or "", done.stderr)
