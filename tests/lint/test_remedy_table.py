"""tests/remedies.txt has every text that tells a person what to do, and the test that does it as it is printed, or why
no test can. So a new remedy without a test is named."""

import functools
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLE = ROOT / "tests" / "remedies.txt"
ROOMS = ("core", "os", "lmdb_store", "pg_store", "ngx_module", "program", "worker", "serve", "notify", "tool")
# Here every imperative is a remedy.
ADVISERS = ("tool/doctor/", "core/status/report.cpp")

TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"((?:\\.|[^"\\\n])*)"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'', re.S)
BETWEEN = re.compile(r"(?:\s|//[^\n]*)*")
IMPERATIVE = re.compile(
    r"(?:^|[;:.,(\"`] ?|\b(?:or|then|and|first) )(?:run|restart|restore|stop|start|make|set|install|use|keep|end|build|allow|"
    r"name|include|connect|bring|look|see|find out|correct|leave out|free|mend|let|copy|kill|add|move|"
    r"sluice (?=[a-z])|doctor --mend|ledger rebuild)\b", re.I)
COMMAND = re.compile(
    r"(?:\bsluice (?P<command>[a-z]+)|\bdoctor --mend\b|\bstore set\b|\b(?:chmod|chown|usermod|systemctl|iconv|apt-get install|mv -T)\b"
    r"|\bfind / )")
DEED = re.compile(
    r"\b(?:stop everything|restore (?:it|the|both|this)|re(?:start|load) nginx|restart this process|stop nginx|stop and start nginx"
    r"|put (?:the )?(?:queue|back|master)|start the worker|mount it|free some room|move (?:it|the folder) away)\b", re.I)


@functools.cache
def words_of_sluice():
    return set(re.findall(r"^### sluice ([a-z-]+)", (ROOT / "docs" / "command-line.md").read_text(), re.M))


def texts(source):
    """[(line, text)] of the string literals of a C++ source; neighbours are one text."""
    found, end = [], None
    for token in TOKEN.finditer(source):
        if token[2] is None:
            continue
        if end is not None and BETWEEN.fullmatch(source, end, token.start()):
            found[-1][1] += token[2]
        else:
            found.append([source.count("\n", 0, token.start()) + 1, token[2]])
        end = token.end()
    return [(line, text.replace('\\"', '"').replace("\\n", " ")) for line, text in found]


def is_remedy(path, text):
    commands = [found["command"] for found in COMMAND.finditer(text)]
    if any(command is None or command in words_of_sluice() for command in commands) or DEED.search(text):
        return True
    return path.startswith(ADVISERS) and len(text.split()) > 2 and bool(IMPERATIVE.search(text))


@functools.cache
def remedies():
    """[(place, text)] of all sources."""
    found = []
    for room in ROOMS:
        for path in sorted((ROOT / room).rglob("*.[ch]pp")):
            name = str(path.relative_to(ROOT))
            found += [(f"{name}:{line}", text) for line, text in texts(path.read_text()) if is_remedy(name, text)]
    return found


def table():
    """[(folder or file, fragment, the tests or the reason)] of the table."""
    rows, place = [], None
    for line in TABLE.read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        if not line.startswith(" "):
            place = line
            continue
        fragment, _, rest = line.strip().partition(" | ")
        rows.append((place, fragment, rest))
    return rows


def test_the_sources_are_read():
    assert texts('f("a" // b\n "c"); g("d \\"e\\"");') == [(1, "ac"), (2, 'd "e"')]
    assert texts("n = 5'000'000'000; f(\"a's\"); g('\"', \"b\");") == [(1, "a's"), (1, "b")], "digit separators begin no character"
    assert is_remedy("os/files/file_io.cpp", "it is full: run `sluice doctor`") and is_remedy("tool/doctor/rows.cpp", "mend it with care")
    assert not is_remedy("os/files/file_io.cpp", "sluice reads it") and not is_remedy("tool/doctor/rows.cpp", "it is well")
    assert len(remedies()) > 100


def test_every_remedy_is_in_the_table():
    rows = table()
    new = [f"{place}: {text}" for place, text in remedies()
           if not any(place.startswith(where) and fragment in text for where, fragment, _ in rows)]
    assert not new, "tests/remedies.txt lacks:\n" + "\n".join(new)


def test_the_table_has_nothing_else():
    found = remedies()
    old = [(where, fragment) for where, fragment, _ in table()
           if not any(place.startswith(where) and fragment in text for place, text in found)]
    assert not old, f"tests/remedies.txt has what no source says: {old}"


def test_each_remedy_has_a_test_or_a_reason():
    for where, fragment, rest in table():
        assert rest, (where, fragment)
        if rest.startswith("- "):
            assert len(rest.split()) >= 4, f"{where}: {fragment}: a reason is a sentence"
            continue
        for test in rest.split(", "):
            path, _, name = test.partition("::")
            source = (ROOT / "tests" / path).read_text()
            sought = rf"^def {name}\(" if path.endswith(".py") else re.escape(name)
            assert name and re.search(sought, source, re.M), f"{where}: {fragment}: no test {test}"
