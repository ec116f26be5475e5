"""Each unit of systemd hides the parts of a store that its program has no use for (docs/security.md)."""

import pathlib
import re
import shlex

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
UNITS = ROOT / "conf" / "systemd"
# The parts that the programs of a unit read or write. nginx's master reads the master key before it drops privileges.
USED = {
    "nginx-hardening.conf": {"format", "master.key", "registry", "queue", "links"},
    "sluice-registry-sync.service": {"format", "master.key", "registry"},
    "sluice-serve.service": {"format", "registry", "queue", "ledger", "notify"},
    "sluice-creators.service": {"format", "registry", "queue", "ledger", "notify"},
    "sluice-notify.service": {"format", "ledger", "notify", "notify.key"},
}


def parts():
    """The table of docs/operations.md, Permissions."""
    text = (ROOT / "docs" / "operations.md").read_text()
    table = text[text.index("## Permissions"):text.index("nginx's workers are members")]
    cells = re.findall(r"^\| (`[^|]*`) \|", table, re.M)
    return {name.split("/")[0] for cell in cells for name in re.findall(r"`([^`]*)`", cell) if not name.startswith("/")}


def test_the_table_names_every_part():
    made = set(re.findall(r'root / "([a-z.]+)"', (ROOT / "lmdb_store/store/format.cpp").read_text()))
    made |= set(re.findall(r'root / "([a-z.]+)"', (ROOT / "lmdb_store/destinations/destination_store.hpp").read_text()))
    made -= {"worker.lock", "notify.lock"}  # empty but for a process id
    assert made and made <= parts(), made - parts()


@pytest.mark.parametrize("unit", USED)
def test_a_unit_hides_the_parts_that_its_program_does_not_use(unit):
    text = (UNITS / unit).read_text()
    hidden = {path.removeprefix("-").removeprefix("/var/lib/sluice/")
              for line in re.findall(r"^InaccessiblePaths=(.*)$", text, re.M) for path in shlex.split(line)}
    assert parts() - USED[unit] == hidden & parts(), (parts() - USED[unit]) ^ (hidden & parts())
