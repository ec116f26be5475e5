"""docs/month.md, played as a quarter with a faked clock: everything ties, and docs/controls.md checks it."""
import csv
import decimal
import os
import re
import subprocess
import sys

import pytest
from harness.paths import ROOT, SLUICE

sys.path.insert(0, str(ROOT / "tests" / "tools"))
from quarter import EVE, Quarter, as_user  # noqa: E402


def checked(store, folder, environment):
    """The commands of docs/controls.md, "Check a quarter", as the page has them."""
    page = (ROOT / "docs" / "controls.md").read_text()
    text = re.search(r"## Check a quarter\n\n```sh\n(.*?)```", page, re.S).group(1)
    commands = [line for line in text.replace("\\\n", " ").splitlines() if line.strip()]
    assert len(commands) == 11, commands
    environment = {**environment, "PATH": f"{SLUICE.parent}:{os.environ['PATH']}"}
    said = {}
    for command in commands:
        command = command.replace("/var/lib/sluice", str(store))
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", command], cwd=folder, env=environment, capture_output=True,
                              text=True, check=False)
        assert done.returncode == 0 and done.stderr == "", (command, done)
        said[" ".join(command.split()[:3])] = done.stdout
    return said


def test_a_quarter_ties(tmp_path):
    if subprocess.run([*as_user(EVE), "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("this machine does not let a test log in as another user")
    quarter = Quarter(tmp_path)
    with quarter.edge:
        quarter.play()
        said = checked(quarter.edge.store, tmp_path, quarter.sluice.environment)
    with open(tmp_path / "journal.csv", newline="") as file:
        sent = {row["line_item_id"].split()[0] for row in csv.DictReader(file) if row["reason"] == "SENT"}
    assert "rows are equal" in said["sluice doctor --replay"]
    assert "unsigned" in said["sluice report approvals"] and "ref-ann" in said["sluice payout list"]
    (digests,) = [text.splitlines() for words, text in said.items() if words.startswith("sha256sum")]
    assert len(sent) == 4 and sent <= {line.split()[0] for line in digests}, "the kept files are those that were sent"
    assert set(quarter.paid_by_bank) == {(account, currency) for account in ("acme", "beta") for currency in ("EUR", "USD")}
    assert min(quarter.paid_by_bank.values()) > decimal.Decimal(20)
