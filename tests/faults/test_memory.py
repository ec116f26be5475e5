"""The n-th allocation fails, for n = 1 to the end: no crash, no half answer, no half effect.

SLUICE_MEMORY_STRIDE: every how many allocations one fails (make torture: 7).
"""

import itertools
import os
import random
import subprocess

import pytest

from crash.site import SEED
from faults.scenario import Scenario
from faults.shim import NGINX, SLUICE
from harness import paths
from harness.cli import as_user
from model.books.signatures import Key

pytestmark = [
    pytest.mark.crash,
    pytest.mark.skipif(bool(paths.sanitizer_environment()), reason="the sanitizer has its own malloc"),
]
STRIDE = int(os.environ.get("SLUICE_MEMORY_STRIDE", "397"))
ENOMEM = 12
COMMANDS = [
    ("queue", "stats", "--format", "json"),
    ("queue", "peek"),
    ("report", "orders", "--format", "json"),
    ("report", "journal", "--all-accounts"),
    ("report", "balances", "--all-accounts", "--format", "csv"),
    ("report", "products"),
    ("token", "list"),
    ("account", "list"),
    ("dead", "list"),
]


@pytest.fixture
def here(site, fault_shim):
    made = site(threads=1, shim=fault_shim, workers=1)
    made.edge.expect_log("sluice|malloc|posix_memalign|memory|\\[alert\\] .*(alloc|memory)")
    return made


def steps(stride=STRIDE):
    """From a place in the first stride that the seed chooses."""
    return itertools.count(random.Random(SEED).randrange(stride) + 1, stride)


def test_requests(here):
    """A request fails with a 5xx, or its connection is closed; the worker process stays, and serves on."""
    scenario = Scenario(here)
    here.edge.start()
    scenario.all()
    (worker,) = here.edge.workers()
    met = 0
    for n in steps(1 + STRIDE // 64):  # a request allocates little
        here.shim.arm(["MALLOC"], ENOMEM, n, NGINX, pid=worker)
        answers = scenario.all()
        injected = here.shim.injected
        here.shim.disarm()
        assert set(answers) <= {200, 500, 503, None}, f"allocation {n}: {answers}"
        assert here.edge.workers() == [worker], f"allocation {n} ended the worker process"
        assert scenario.accepted_within(10), f"allocation {n}: it does not serve any more"
        if not injected:
            break
        met += 1
    finish(here, met, f"nginx: injected={met} stride {STRIDE}")


def test_sluice_worker(here):
    """It tries again with less, or ends with a sentence; then the next one applies everything once."""
    scenario = Scenario(here)
    here.edge.start()
    met, ended = 0, {0: 0, 1: 0}
    for n in steps():
        scenario.order()
        scenario.batch()
        code, injected, said = run(here, n, "worker", "--until-empty")
        assert code in ended and (code == 0 or said.strip()), f"allocation {n}: {code} {said}"
        ended[code] += 1
        here.sluice.drain()
        if not injected:
            break
        met += 1
    finish(here, met, f"sluice worker: injected={met} continued {ended[0]} exited {ended[1]} stride {STRIDE}")


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_command(here, command):
    """It ends with 1 and a sentence, or does what it does with enough memory.

    (doctor is not among them: it loads OpenSSL's ciphers, which crash without memory.)"""
    scenario = Scenario(here)
    here.edge.start()
    scenario.all()
    here.sluice.drain()
    scenario.order()
    right = here.sluice.run(*command)
    met = 0
    for n in steps():
        code, injected, said = run(here, n, *command)
        assert code in {1, right.returncode}, f"allocation {n}: {code} {said}"
        assert code == right.returncode or said.strip(), f"allocation {n}: not a word"
        if not injected:
            break
        met += 1
    print(f"{' '.join(command)}: injected={met} stride {STRIDE}")
    if command[0] != "queue":
        assert here.sluice.run(*command).stdout == right.stdout, "it changed something"
    assert met > 0, "no fault was injected"


def test_a_signed_approval(here):
    """K5: without memory nothing is said about a signature. The approval waits, or counts once."""
    here.sluice.prefix = as_user("games")  # who asks has logged in, who approves has a key
    key, file = Key("gina"), here.edge.folder / "approvals.toml"
    file.write_text(f"[[policy]]\naccount = 'acme'\napprove_adjust_above = []\napprovers = ['gina {key.public}']\n")
    program = here.sluice.json("program", "list")[0]["program_id"]
    names = here.edge.folder / "paid.csv"
    names.write_text(f"creator_id,program_id\npaid,{program}\n")
    here.sluice("creator", "import", names)
    here.sluice("program", "apply", file)
    credit = ("credit", "--account", "acme", "--creator", "paid", "--program", program, "--amount", "5.00 USD",
              "--reason", "as agreed")
    met = 0
    for n in steps(2 * STRIDE):  # each takes six commands
        assert here.sluice.run(*credit).returncode == 3
        name = here.sluice.json("approvals", "--account", "acme")[0]["id"]
        signed = here.edge.folder / "signed"
        signed.write_text(key.sign(here.sluice("approvals", "show", name, "--account", "acme", "--statement")))
        code, injected, said = run(here, n, "approve", name, "--account", "acme", "--signature", str(signed))
        assert code in (0, 1) and (code == 0 or said.strip()), f"allocation {n}: {code} {said}"
        assert "statement" not in said and "cut" not in said, f"allocation {n}: {said}"
        here.sluice.drain()
        if here.sluice.json("approvals", "--account", "acme"):
            here.sluice("approve", name, "--account", "acme", "--signature", signed)
        if not injected:
            break
        met += 1
    posted = [row for row in here.sluice.json("report", "journal", "--account", "acme") if row["reason"] == "CREDIT"]
    verdicts = [row["verdict"] for row in here.sluice.json("report", "approvals", "--account", "acme", "--verify")]
    assert len(posted) == len(verdicts) == met + 1 and set(verdicts) == {"valid"}
    assert met > 0, "no fault was injected"


def finish(here, met, told):
    verdict = here.finish()
    print(told)
    assert met > 0, "no fault was injected"
    assert verdict.good, str(verdict)


def run(here, n, *command):
    here.shim.arm(["MALLOC"], ENOMEM, n, SLUICE)
    try:
        result = subprocess.run(
            [str(paths.SLUICE), *command], capture_output=True, text=True, timeout=60,
            env={**here.sluice.environment, **here.environment},
        )
    except subprocess.TimeoutExpired:
        pytest.fail(f"allocation {n}: it does not end")
    injected = here.shim.injected
    here.shim.disarm()
    return result.returncode, injected, result.stderr
