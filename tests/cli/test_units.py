"""`sluice doctor` on the units of systemd, as `systemctl show` prints them. tests/package/units has a real systemd."""
import os

from program import sluice

SYSTEMCTL = """#!/bin/sh
echo "$@" >> {folder}/calls
cat {folder}/shown
"""


def unit(name, store, load="loaded", file="enabled", active="active", reload="no", verb="worker", condition=("yes", "9000")):
    """One unit, as systemd 252 shows it."""
    command = f"{{ path=/usr/bin/sluice ; argv[]=/usr/bin/sluice --store {store} {verb} ; ignore_errors=no ; pid=0 }}"
    return (f"MainPID=0\nExecStart={command}\nId={name}\nLoadState={load}\nActiveState={active}\nUnitFileState={file}\n"
            f"ConditionResult={condition[0]}\nConditionTimestampMonotonic={condition[1]}\nNeedDaemonReload={reload}\n")


def findings(store, folder, *units):
    """(what doctor finds, how often it asked)."""
    programs = folder / "programs"
    programs.mkdir()
    (programs / "systemctl").write_text(SYSTEMCTL.format(folder=folder))
    (programs / "systemctl").chmod(0o755)
    (folder / "shown").write_text("\n".join(units))
    run = sluice("doctor", "--format", "json", store=store, env={"PATH": f"{programs}:{os.environ['PATH']}"})
    return [(row["result"], row["finding"]) for row in run.json() if row["check"] == "units"], (folder / "calls").read_text()


def test_every_unit_of_the_store_is_judged_by_one_question(store, tmp_path):
    found, calls = findings(
        store, tmp_path,
        unit("sluice.service", store),
        unit("sluice-serve.service", store, active="inactive", verb="serve"),
        unit("sluice-creators.service", "/srv/another", active="failed", verb="serve"),
        unit("sluice-notify.service", store, reload="yes", verb="notify"),
        "MainPID=0\nId=sluice-registry-sync.timer\nLoadState=not-found\nActiveState=inactive\nUnitFileState=\n",
    )
    assert found == [
        ("ok", "sluice.service runs"),
        ("problem", "sluice-serve.service is enabled and does not run"),
        ("problem", "sluice-notify.service: its file changed, and systemd has the old one"),
    ]
    (asked,) = (line for line in calls.splitlines() if "sluice-serve.service" in line)
    assert all(name in asked for name in ("sluice.service", "sluice-creators.service", "sluice-registry-sync.timer"))


def test_a_unit_that_was_never_started_does_not_wait_for_its_first_use(store, tmp_path):
    """Its condition was not looked at yet: systemd says "no", at no time."""
    found, _ = findings(store, tmp_path, unit("sluice-serve.service", store, active="inactive", condition=("no", "0")),
                        unit("sluice-creators.service", store, active="inactive", condition=("no", "9000")))
    assert found == [
        ("problem", "sluice-serve.service is enabled and does not run"),
        ("ok", "sluice-creators.service is enabled, and waits for its first use"),
    ]


def test_a_machine_without_systemd_has_no_units(store, tmp_path):
    assert findings(store, tmp_path)[0] == []
