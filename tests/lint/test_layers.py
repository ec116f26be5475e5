"""The rooms' arrows: core <- {lmdb_store, pg_store} <- {ngx_module, worker}; no arrow runs upwards."""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
MAY_INCLUDE = {
    "core": {"core"},
    "lmdb_store": {"core", "lmdb_store"},
    "pg_store": {"core", "pg_store"},
    "ngx_module": {"core", "lmdb_store", "ngx_module"},
    "worker": {"core", "lmdb_store", "pg_store", "worker"},
}
FOREIGN = {
    "core": ("ngx_", "lmdb.h", "libpq", "CLI/", "spdlog", "nlohmann", "curl/"),
    "lmdb_store": ("ngx_", "libpq", "CLI/", "nlohmann", "curl/"),
    "pg_store": ("ngx_", "lmdb.h", "CLI/", "nlohmann", "curl/"),
    "ngx_module": ("lmdb.h", "libpq", "CLI/", "spdlog", "nlohmann", "curl/"),
    "worker": ("ngx_", "lmdb.h", "libpq-fe.h"),
}
INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]', re.M)


def sources(room):
    for path in sorted((ROOT / room).rglob("*")):
        if path.suffix in {".cpp", ".hpp", ".c", ".h"}:
            yield path


def test_no_arrow_runs_upwards():
    wrong = []
    for room, allowed in MAY_INCLUDE.items():
        for path in sources(room):
            for quote, name in INCLUDE.findall(path.read_text()):
                target = name.split("/")[0]
                if quote == '"' and "/" in name and target in MAY_INCLUDE and target not in allowed:
                    wrong.append(f"{path.relative_to(ROOT)} includes {name}")
    assert not wrong, "\n".join(wrong)


def test_foreign_headers_stay_in_their_room():
    wrong = []
    for room, foreign in FOREIGN.items():
        for path in sources(room):
            for _, name in INCLUDE.findall(path.read_text()):
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
        and any(name == "lmdb.h" for _, name in INCLUDE.findall(path.read_text()))
    ]
    assert not wrong, wrong


def test_one_fence_includes_nginx():
    wrong = [
        str(path.relative_to(ROOT))
        for path in sources("ngx_module")
        if path.suffix in {".cpp", ".hpp"}
        and path.name != "ngx_api.hpp"
        and any(quote == "<" and name.startswith("ngx_") for quote, name in INCLUDE.findall(path.read_text()))
    ]
    assert not wrong, wrong
