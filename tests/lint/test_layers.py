"""The rooms' arrows: core <- os <- {lmdb_store, pg_store} <- {ngx_module, program <- worker <- serve <- {notify, tool}}; no arrow runs upwards."""
import re

import pytest
from layers import (FOLDERS, ROOMS, ROOT, circles_in, folder_of, folders, includes, own_includes,
                    public_headers, sources, unit_includes)

FOREIGN = {
    "core": ("ngx_", "lmdb.h", "libpq", "CLI/", "spdlog", "nlohmann", "curl/"),
    "os": ("ngx_", "lmdb.h", "libpq", "CLI/", "nlohmann", "curl/"),
    "lmdb_store": ("ngx_", "libpq", "CLI/", "nlohmann", "curl/"),
    "pg_store": ("ngx_", "lmdb.h", "CLI/", "nlohmann", "curl/"),
    "ngx_module": ("lmdb.h", "libpq", "CLI/", "spdlog", "nlohmann", "curl/"),
    "program": ("ngx_", "lmdb.h", "libpq-fe.h"),
    "worker": ("ngx_", "lmdb.h", "libpq-fe.h", "CLI/", "curl/"),
    "serve": ("ngx_", "lmdb.h", "libpq-fe.h", "CLI/", "curl/"),
    "notify": ("ngx_", "lmdb.h", "libpq-fe.h", "CLI/"),
    "tool": ("ngx_", "lmdb.h", "libpq-fe.h", "CLI/"),
}
# Headers that take seconds to compile, and the files that include each.
SERVER = {"serve/http/server.cpp", "serve/http/session.hpp", "serve/http/session.cpp"}
HEAVY = {"CLI/": {"program/cli/cli.cpp"}, "boost/asio": SERVER, "boost/beast": {"serve/http/session.hpp"}}
UNITS_MAX = 23


def test_no_arrow_runs_upwards():
    wrong = []
    for room, allowed in ROOMS.items():
        for path in sources(room):
            for quote, name in includes(path):
                target = name.split("/")[0]
                if quote == '"' and "/" in name and target in ROOMS and target not in allowed:
                    wrong.append(f"{path.relative_to(ROOT)} includes {name}")
    assert not wrong, "\n".join(wrong)


def test_no_arrow_runs_upwards_inside_a_room():
    wrong = []
    for room, order in FOLDERS.items():
        for path in sources(room):
            me = folder_of(str(path.relative_to(ROOT)))
            if me is None:
                continue
            for (target_room, target), name in own_includes(path):
                if target_room == room and order.index(target) > order.index(me[1]):
                    wrong.append(f"{path.relative_to(ROOT)} includes {name}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("header", HEAVY)
def test_a_heavy_header_is_included_by_few_files(header):
    found = {str(path.relative_to(ROOT)) for room in ROOMS for path in sources(room)
             for _, name in includes(path) if name.startswith(header)}
    assert found == HEAVY[header]


@pytest.mark.parametrize("room", ROOMS)
def test_no_circle_of_files(room):
    """A reader who follows the includes of a file comes to an end."""
    assert circles_in(unit_includes(room)) == []


def test_a_circle_is_found():
    assert circles_in({"a": {"b"}, "b": {"c"}, "c": set()}) == []
    assert circles_in({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"e"}, "e": {"d"}}) == [["b", "c"], ["d", "e"]]


def test_each_folder_has_a_readme():
    """A README of about ten lines, and no more units than a person can keep in mind."""
    for room, folder in folders():
        assert folder in FOLDERS.get(room, [folder]), f"{room}/{folder} has no place in tests/lint/layers.py"
        readme = (ROOT / room / folder / "README.md").read_text()
        assert len(readme.splitlines()) <= 16 and "\nPublic headers" in readme, f"{room}/{folder}/README.md"
        units = {path.stem for path in (ROOT / room / folder).glob("*.[ch]pp")}
        assert len(units) <= UNITS_MAX, f"{room}/{folder}: {len(units)} units"


def drawn_folders():
    """{room: [[folder, ...], ...]}, from the ground up, as docs/internals.md draws them."""
    page = (ROOT / "docs" / "internals.md").read_text()
    (block,) = re.findall(r"^```\n(core .*?)^```", page, re.M | re.S)
    rooms = {}
    for room, groups in re.findall(r"^(\w+) +(.*(?:\n +.*)*)", block, re.M):
        rooms[room] = [re.findall(r"\w+", group) for group in groups.split("<-")]
    return rooms


def test_the_page_draws_the_folders():
    """docs/internals.md has every folder, and above all folders that it includes."""
    drawn = drawn_folders()
    assert {(room, folder) for room, groups in drawn.items() for group in groups for folder in group} == set(folders())
    level = {(room, folder): number for room, groups in drawn.items() for number, group in enumerate(groups)
             for folder in group}
    wrong = [
        f"{path.relative_to(ROOT)} includes {name}"
        for room in ROOMS
        for path in sources(room)
        if (me := folder_of(str(path.relative_to(ROOT))))
        for place, name in own_includes(path)
        if place[0] == room and place != me and level[place] >= level[me]
    ]
    assert not wrong, "\n".join(wrong)


def test_other_folders_include_public_headers_only():
    """A header that its README does not list is private to its folder; a listed header must be used."""
    used = {place: set() for place in folders()}
    for room in ROOMS:
        for path in sources(room):
            for place, name in own_includes(path):
                if place != folder_of(str(path.relative_to(ROOT))):
                    used[place].add(name.rsplit("/", 1)[1])
    wrong = []
    for (room, folder), names in used.items():
        listed = public_headers(room, folder)
        wrong += [f"{room}/{folder}/{name}: included from outside, and not listed as public" for name in sorted(names - listed)]
        wrong += [f"{room}/{folder}/{name}: listed as public, and included by no other folder" for name in sorted(listed - names)]
    assert not wrong, "\n".join(wrong)


def test_unit_tests_mirror_the_rooms():
    unit = ROOT / "tests" / "unit"
    wrong = [
        str(path.relative_to(ROOT))
        for room in ROOMS
        if (unit / room).is_dir()
        for path in sorted((unit / room).iterdir())
        if path.is_dir() and not (ROOT / room / path.name).is_dir()
    ]
    assert not wrong, wrong


def test_foreign_headers_stay_in_their_room():
    wrong = []
    for room, foreign in FOREIGN.items():
        for path in sources(room):
            for _, name in includes(path):
                if name.startswith(foreign) and not name.startswith("ngx_module/"):
                    wrong.append(f"{path.relative_to(ROOT)} includes {name}")
    assert not wrong, "\n".join(wrong)


def test_public_store_headers_do_not_leak_lmdb():
    internal = {"environment.hpp"}
    wrong = [
        str(path.relative_to(ROOT))
        for path in sources("lmdb_store")
        if path.suffix == ".hpp"
        and path.name not in internal
        and any(name == "lmdb.h" for _, name in includes(path))
    ]
    assert not wrong, wrong


def test_one_fence_includes_nginx():
    wrong = [
        str(path.relative_to(ROOT))
        for path in sources("ngx_module")
        if path.suffix in {".cpp", ".hpp"}
        and path.name != "ngx_api.hpp"
        and any(quote == "<" and name.startswith("ngx_") for quote, name in includes(path))
    ]
    assert not wrong, wrong


CLOCKS = re.compile(r"\bclock_gettime\b|\bgettimeofday\b|\btimespec_get\b|(?<![\w.>])(std::)?time\((nullptr|NULL|0)\)"
                    r"|(?<!\bsluice)::now\(|\b(steady|system|high_resolution|file|utc)_clock\b")
NGINX_CLOCKS = re.compile(r"\bngx_(time|timeofday|current_msec|cached_\w*time\w*|monotonic_time|gettimeofday|time_update)\b")


def test_one_header_reads_the_clock():
    """Everything asks os/clock, but nginx's event loop: it has the time at hand."""
    allowed_in = {CLOCKS: {"os/clock/clock.hpp", "os/clock/clock.cpp"}, NGINX_CLOCKS: {"ngx_module/nginx/event_loop.hpp"}}
    wrong = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for room in ROOMS
        for path in sources(room)
        for number, line in enumerate(path.read_text().splitlines(), 1)
        for clock, allowed in allowed_in.items()
        if clock.search(line.split("//")[0]) and str(path.relative_to(ROOT)) not in allowed
    ]
    assert not wrong, "\n".join(wrong)


def test_only_os_translates_errno():
    """One switch contains `case ENOENT:` and its kin; elsewhere a single errno may be compared."""
    allowed = {"os/files/file_io.cpp", "lmdb_store/environment/reaction.cpp"}  # the latter: is a commit in doubt?
    table = re.compile(r"\bcase E[A-Z]{2,}\b")
    wrong = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for room in ROOMS
        for path in sources(room)
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if table.search(line) and str(path.relative_to(ROOT)) not in allowed
    ]
    assert not wrong, "\n".join(wrong)


def test_a_creators_page_reads_through_its_scope_alone():
    """An answer to a creator has no reader of the ledger, and no row that staff see (creators CE12)."""
    for path in sorted((ROOT / "serve" / "creators").glob("*.[ch]pp")):
        wrong = [name for _, name in includes(path) if re.match("core/(ledger|reports|explain)/", name)]
        assert not wrong, f"{path.relative_to(ROOT)} includes {wrong}"
    makers = {str(path.relative_to(ROOT)) for room in ROOMS for path in sources(room)
              if "CreatorScope::proven(" in path.read_text()}
    assert makers == {"serve/creators/page_tokens.cpp"}
