"""Checks of a view: barriers that axe finds, width, and pictures."""

import os
import pathlib

BARRIERS = """axe.run(document, {resultTypes: ["violations"], preload: false, elementRef: false}).then((result) => ({passes: result.passes.length,
    violations: result.violations.map((one) => [one.id, one.nodes.map((node) => node.html)])}))"""


def check_barriers(page, axe, name, sizes):
    page.run(axe + "; 0")
    for width, scheme in sizes:
        page.resize(width, scheme=scheme)
        assert page.run("document.documentElement.scrollWidth") <= width, (name, width)
        found = page.run(BARRIERS)
        assert found["passes"] > 10 and found["violations"] == [], (name, width, found)


def take_pictures(page, name):
    """SLUICE_SCREENSHOTS names a folder for them: two widths in both schemes."""
    folder = os.environ.get("SLUICE_SCREENSHOTS")
    for width, scheme in ((390, "light"), (390, "dark"), (1280, "light"), (1280, "dark")) if folder else ():
        page.resize(width, scheme=scheme)
        page.screenshot(str(pathlib.Path(folder) / f"{name}-{width}-{scheme}.png"))
