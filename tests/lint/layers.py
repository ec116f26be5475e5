"""The rooms and their folders, from the ground up. An arrow (an include) never runs upwards."""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]

# A room may include itself and what it names here.
ROOMS = {
    "core": {"core"},
    "lmdb_store": {"core", "lmdb_store"},
    "pg_store": {"core", "pg_store"},
    "ngx_module": {"core", "lmdb_store", "ngx_module"},
    "worker": {"core", "lmdb_store", "pg_store", "worker"},
}
# A folder may include itself and those before it.
FOLDERS = {
    "core": ["values", "commit", "json", "protocol", "intake", "status", "commands", "ledger", "rules", "apply", "explain"],
    "lmdb_store": ["files", "environment", "store", "queue", "registry", "ledger", "init", "archive"],
    "pg_store": ["connection", "schema", "registry", "ledger"],
    "worker": ["system", "cli", "drain", "access", "reports", "doctor", "send", "commands"],
}
INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]', re.M)
DOOR = re.compile(r"`([a-z0-9_]+\.hpp)`")


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


def doors(room, folder):
    """The headers that other folders may include, as the folder's README lists them."""
    readme = (ROOT / room / folder / "README.md").read_text()
    return set(DOOR.findall(readme[readme.index("\nDoors"):]))
