"""dh_missing refuses a package that leaves an installed file out; a build of the package is too long for each change."""

from layers import ROOT


def test_each_unit_is_in_the_package_or_left_out_on_purpose():
    listed = {
        line.rsplit("/", 1)[-1]
        for name in ("sluice.install", "not-installed")
        for line in (ROOT / "debian" / name).read_text().splitlines()
        if line.startswith("usr/share/sluice/systemd/")
    }
    assert listed == {path.name for path in (ROOT / "conf" / "systemd").iterdir()}
