"""cmake/nginx_units.py: what nginx's own ./configure compiles is generated as CMake generates it."""

import re
import subprocess
import sys

from harness import paths

ISO_CODES = "/usr/share/iso-codes/json"


def test_every_generated_header_is_made(tmp_path):
    made = subprocess.run([sys.executable, paths.ROOT / "cmake" / "nginx_units.py", paths.ROOT, tmp_path, ISO_CODES],
                          check=True, capture_output=True, text=True)
    units = made.stdout.split()
    assert len(units) > 20 and all((tmp_path / f"{unit}.cpp").exists() for unit in units)
    generated = tmp_path / "generated"
    for unit in units:
        for source in re.findall(r'#include "(.*)"', (tmp_path / f"{unit}.cpp").read_text()):
            for header in re.findall(r'^#include "(.*)"$', (paths.ROOT / source).read_text(), re.MULTILINE):
                assert (paths.ROOT / header).exists() or (generated / header).exists(), f"{source} includes {header}"
    page = (generated / "ngx_module" / "status" / "status_page.hpp").read_text()
    assert "class LineChart" in page and "/*chart.js*/" not in page
