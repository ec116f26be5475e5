"""`make dist` and the version that everything shares."""

import hashlib
import json
import os
import re
import subprocess
import tarfile

import pytest

from docs import facts
from harness import paths
from harness.edge import Edge

VERSION = re.search(r"project\(sluice VERSION ([\d.]+)", facts.read("CMakeLists.txt")).group(1)


def make_clone(origin, folder):
    subprocess.run(["git", "clone", "-q", "--no-hardlinks", str(origin), str(folder)], check=True)
    return folder


def make_dist(folder, **environment):
    """The artefacts {name: bytes} of a clone."""
    subprocess.run(
        ["bash", "-c", "umask ${UMASK:-022}; exec scripts/dist"], cwd=folder, check=True, capture_output=True,
        env={**os.environ, **environment},
    )
    return {path.name: path.read_bytes() for path in (folder / "build" / "dist").iterdir()}


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    return make_clone(paths.ROOT, tmp_path_factory.mktemp("one") / "sluice")


@pytest.fixture(scope="module")
def artefacts(clone):
    return make_dist(clone)


def test_a_second_machine_makes_the_same_bytes(clone, artefacts, tmp_path):
    """Another folder, umask, time zone and language."""
    others = make_dist(make_clone(clone, tmp_path / "elsewhere"), UMASK="077", TZ="Asia/Tokyo", LC_ALL="C", HOME="/nonexistent", GZIP="")
    assert artefacts == others


def test_the_archive_contains_the_tracked_files(clone, artefacts, tmp_path):
    archive = tmp_path / "sluice.tar.gz"
    archive.write_bytes(artefacts[f"sluice-{VERSION}.tar.gz"])
    with tarfile.open(archive) as tar:
        members = {member.name.removeprefix(f"sluice-{VERSION}/"): member for member in tar if member.isfile()}
    tracked = subprocess.run(
        ["git", "ls-tree", "-r", "--name-only", "HEAD"], cwd=clone, check=True, capture_output=True, text=True
    ).stdout.split("\n")
    assert set(members) == set(filter(None, tracked))
    assert {member.mode for member in members.values()} == {0o644, 0o755}


def test_the_checksums_match_the_files(artefacts):
    lines = artefacts[f"sluice-{VERSION}.sha256"].decode().splitlines()
    assert len(lines) == 2
    for line in lines:
        digest, name = line.split()
        assert hashlib.sha256(artefacts[name]).hexdigest() == digest


def linked(binary):
    listing = subprocess.run(["readelf", "-d", str(binary)], capture_output=True, text=True, check=True).stdout
    return set(re.findall(r"\(NEEDED\).*\[lib(\w+)\.so", listing))


def test_the_sbom_describes_the_archive_and_every_linked_library(artefacts):
    document = json.loads(artefacts[f"sluice-{VERSION}.spdx.json"])
    packages = {package["name"]: package for package in document["packages"]}
    (checksum,) = packages["sluice"]["checksums"]
    assert checksum["checksumValue"] == hashlib.sha256(artefacts[f"sluice-{VERSION}.tar.gz"]).hexdigest()
    names = {
        "lmdb": "LMDB", "zstd": "Zstandard", "simdjson": "simdjson", "crypto": "OpenSSL", "isal": "ISA-L",
        "pq": "libpq", "curl": "curl", "pugixml": "pugixml", "boost_url": "Boost.URL",
    }
    of_compiler = {"stdc++", "m", "gcc_s", "c", "asan", "ubsan", "tsan", "stdc"}
    loaded = set(re.findall(rb"\x00lib(\w+)\.so\.\d+(?=\x00)", paths.SLUICE.read_bytes()))
    assert {name.decode() for name in loaded} >= {"pq", "curl"}
    for library in (linked(paths.SLUICE) | linked(paths.MODULE) | {name.decode() for name in loaded}) - of_compiler:
        assert names[library] in packages, library
    known = {package["SPDXID"] for package in document["packages"]} | {"SPDXRef-DOCUMENT"}
    for relation in document["relationships"]:
        assert {relation["spdxElementId"], relation["relatedSpdxElement"]} <= known
    assert all(re.fullmatch(r"SPDXRef-[\w.-]+", package["SPDXID"]) for package in document["packages"])


def test_program_module_packages_and_changelog_share_one_version():
    assert re.match(rf"sluice \({re.escape(VERSION)}\) ", facts.read("debian/changelog"))
    assert re.search(r"^## ([\d.]+)", facts.read("CHANGELOG.md"), re.M).group(1) == VERSION
    answer = subprocess.run([str(paths.SLUICE), "--version"], capture_output=True, text=True, check=True).stdout
    assert answer.split()[-1] == VERSION
    with Edge("sluice_store @STORE@; server { listen 127.0.0.1:@PORT@; location / { sluice_status; } }") as edge:
        edge.start()
        logged = paths.wait_until(lambda: re.search(r"sluice module (\S+)", edge.log()), "the module's log line")
        assert logged.group(1).rstrip(",") == VERSION
        with edge.connect() as connection:
            status = connection.request("GET", "/status.json", [])
        assert json.loads(status.body)["server"]["version"].split()[0] == VERSION
