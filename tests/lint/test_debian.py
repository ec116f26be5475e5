"""dh_missing refuses a package that leaves an installed file out; a build of the package is too long for each change."""

import re

from layers import ROOT


def test_each_unit_is_in_the_package_or_left_out_on_purpose():
    listed = {
        line.rsplit("/", 1)[-1]
        for name in ("sluice.install", "not-installed")
        for line in (ROOT / "debian" / name).read_text().splitlines()
        if line.startswith("usr/share/sluice/systemd/")
    }
    assert listed == {path.name for path in (ROOT / "conf" / "systemd").iterdir()}


def test_each_folder_that_is_installed_is_in_a_package():
    (folders,) = re.findall(r"foreach\(folder ([^)]*)\)", (ROOT / "conf" / "CMakeLists.txt").read_text())
    listed = {line.split("/")[3] for path in (ROOT / "debian").glob("*.install") for line in path.read_text().splitlines()
              if line.startswith("usr/share/sluice/")}
    assert set(folders.split()) <= listed
