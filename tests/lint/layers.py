"""The rooms (top folders) and their folders, from the ground up. An include never points upwards."""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]

# A room may include itself and what it names here.
ROOMS = {
    "core": {"core"},
    "os": {"core", "os"},
    "lmdb_store": {"core", "os", "lmdb_store"},
    "pg_store": {"core", "os", "pg_store"},
    "ngx_module": {"core", "os", "lmdb_store", "ngx_module"},
    "program": {"core", "os", "lmdb_store", "pg_store", "program"},
    "worker": {"core", "os", "lmdb_store", "pg_store", "program", "worker"},
    "serve": {"core", "os", "lmdb_store", "pg_store", "program", "worker", "serve"},
    "notify": {"core", "os", "lmdb_store", "pg_store", "program", "worker", "serve", "notify"},
    "tool": {"core", "os", "lmdb_store", "pg_store", "program", "worker", "serve", "tool"},
}
# A folder may include itself and those before it.
FOLDERS = {
    "core": ["values", "json", "protocol", "shops", "commit", "links", "intake", "status", "programs", "commands", "ledger", "copy", "journal", "positions", "rules", "statements", "forget", "orders", "approvals", "payouts", "apply", "explain", "lists", "creators", "exports", "audit"],
    "os": ["files", "random", "libraries", "clock"],
    "lmdb_store": ["environment", "store", "lanes", "queue", "registry", "links", "rows", "destinations", "ledger", "init", "archive", "backup"],
    "pg_store": ["connection", "rows", "schema", "registry", "ledger"],
    "ngx_module": ["nginx", "shared", "conf", "store", "commit", "offload", "links", "request", "status"],
    "program": ["system", "cli", "toml"],
    "worker": ["drain", "access", "copy", "replay"],
    "serve": ["read", "creators", "http"],
    "tool": ["reports", "bank", "setup", "doctor", "shops", "send", "finance", "reconcile", "administration", "export"],
}
INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]', re.M)
HEADER = re.compile(r"`([a-z0-9_]+\.hpp)`")


def sources(room):
    for path in sorted((ROOT / room).rglob("*")):
        if path.suffix in {".cpp", ".hpp", ".c", ".h"}:
            yield path


def includes(path):
    """[(quote, name)] of one file."""
    return INCLUDE.findall(path.read_text())


def folder_of(name):
    """("core", "values") of core/values/ids.hpp; None for a file on top of its room or from elsewhere."""
    parts = name.split("/")
    return (parts[0], parts[1]) if len(parts) > 2 and parts[0] in ROOMS else None


def own_includes(path):
    """The folders and names that a file includes by their place in this tree."""
    for quote, name in includes(path):
        if quote == '"' and folder_of(name) and (ROOT / name).is_file():
            yield folder_of(name), name


def folders():
    """Every folder of every room that holds sources."""
    for room in ROOMS:
        for path in sorted((ROOT / room).iterdir()):
            if path.is_dir() and any(path.glob("*.[ch]pp")):
                yield room, path.name


def public_headers(room, folder):
    """The headers that other folders may include, as the folder's README lists them."""
    readme = (ROOT / room / folder / "README.md").read_text()
    return set(HEADER.findall(readme[readme.index("\nPublic headers"):]))


def unit_of(name):
    """A header and its source are one unit: core/values/ids for both."""
    return name.rsplit(".", 1)[0]


def unit_includes(room):
    """{unit: the units that it includes}, as far as they are of this room."""
    graph = {}
    for path in sources(room):
        me = unit_of(str(path.relative_to(ROOT)))
        own = graph.setdefault(me, set())
        for quote, name in includes(path):
            if quote == '"' and name.startswith(room + "/") and (ROOT / name).is_file() and unit_of(name) != me:
                own.add(unit_of(name))
    return graph


def reached_from(graph, unit):
    """The units that `unit` includes, directly or through others."""
    found, left = set(), [unit]
    while left:
        for target in graph[left.pop()] - found:
            found.add(target)
            left.append(target)
    return found


def circles_in(graph):
    """Lists of units each of which includes all others of its list, directly or through others."""
    reached = {unit: reached_from(graph, unit) for unit in graph}
    circles = {tuple(sorted(other for other in reached[unit] if unit in reached[other]))
               for unit in graph if unit in reached[unit]}
    return sorted(map(list, circles))
