"""A regression that shows without a clock: instructions of each step of a fixed series of requests.

recorded.json holds what each step cost when it was last looked at, for the compiler and build type of `make test`.
A step that costs more than SLACK above it fails here. After a change that is worth its price, or that made a step
cheaper: SLUICE_RECORD=1 /usr/bin/python3 -m pytest tests/instructions, and say why in the commit."""

import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest

from harness.paths import BUILD

HERE = pathlib.Path(__file__).resolve().parent
RECORDED = HERE / "recorded.json"
SLACK = 0.04
BATCHES = 12
STEPS = {  # function: calls for each batch
    "series_check_order": 64,
    "series_encode": 64,
    "series_append": 1,
    "series_check_catalog": 1,
}


def count(tmp_path):
    """Instructions of one call of each step, what it calls included."""
    out = tmp_path / "callgrind"
    # The same code paths on every machine that has AVX2: valgrind knows no SHA and no AVX-512 instructions.
    subprocess.run(["valgrind", "-q", "--tool=callgrind", "--toggle-collect=series_*",
                    f"--callgrind-out-file={out}", BUILD / "tests/instruction_series", tmp_path / "store",
                    str(BATCHES)], check=True, env={**os.environ, "SIMDJSON_FORCE_IMPLEMENTATION": "haswell"},
                   stderr=subprocess.DEVNULL)
    listing = subprocess.run(["callgrind_annotate", "--inclusive=yes", "--threshold=100", "--auto=no", out],
                             check=True, capture_output=True, text=True).stdout
    found = {}
    for line in listing.splitlines():
        match = re.match(r"\s*([\d,]+) .*:(series_\w+)", line)
        if match and match[2] in STEPS:
            total = int(match[1].replace(",", ""))
            found[match[2]] = max(found.get(match[2], 0), round(total / BATCHES / STEPS[match[2]]))
    return found


@pytest.fixture(name="build", scope="module")
def build_kind():
    """Compiler and build type, or a skip where the figures would mean something else."""
    if shutil.which("valgrind") is None:
        pytest.skip("valgrind is not installed")
    if "avx2" not in pathlib.Path("/proc/cpuinfo").read_text():
        pytest.skip("recorded on a processor with AVX2")
    cache = dict(re.findall(r"^(\w+):\w+=(.*)$", (BUILD / "CMakeCache.txt").read_text(), re.MULTILINE))
    if cache.get("SLUICE_SANITIZE"):
        pytest.skip("sanitizers count as well")
    return f"{pathlib.Path(cache['CMAKE_CXX_COMPILER']).name} {cache['CMAKE_BUILD_TYPE']}"


def test_no_step_of_a_request_became_dearer(build, tmp_path):
    found = count(tmp_path)
    assert set(found) == set(STEPS), "callgrind did not see every step"
    recorded = json.loads(RECORDED.read_text())
    if os.environ.get("SLUICE_RECORD"):
        recorded[build] = found
        RECORDED.write_text(json.dumps(recorded, indent=1, sort_keys=True) + "\n")
    if build not in recorded:
        pytest.skip(f"nothing is recorded for {build}")
    for step, instructions in found.items():
        print(f"{step}: {instructions} instructions (recorded {recorded[build][step]})")
    dearer = {step: f"{recorded[build][step]} -> {instructions} instructions" for step, instructions in found.items()
              if instructions > recorded[build][step] * (1 + SLACK)}
    assert not dearer, dearer
