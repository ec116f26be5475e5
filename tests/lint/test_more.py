"""tests/more.txt lists every test that uses what only `make test-more` installs: the library of FakeTime, and the programs
of scripts/programs.txt that `make test` does without."""

import ast
import collections
import pathlib
import re

from conftest import is_more
from lint.test_programs import STARTS, essential, table

TESTS = pathlib.Path(__file__).resolve().parents[1]
FUNCTION = (ast.FunctionDef, ast.ClassDef)
OF_MAKE_TEST = ("compiler", "nginx", "build", "unit", "postgres", "test", "lint")


def programs_of_more():
    groups = table()
    programs = {group: {what for whats in packages.values() for what in whats} for group, packages in groups.items()}
    there = set().union(*(programs[group] for group in OF_MAKE_TEST), essential(), programs["release"])
    # Every machine that runs the tests as root has these: mounts, namespaces, addresses.
    there |= {what for package in ("util-linux", "mount", "iproute2", "procps") for group in groups.values() for what in group.get(package, [])}
    return {what for what in set().union(*programs.values()) - there if what[0].isalpha() and ":" not in what}


def started(node):
    """The programs that a definition starts by name."""
    for call in ast.walk(node):
        if isinstance(call, ast.Call) and getattr(call.func, "attr", getattr(call.func, "id", "")) in STARTS and call.args:
            first = call.args[0]
            first = first.elts[0] if isinstance(first, (ast.List, ast.Tuple)) and first.elts else first
            if isinstance(first, ast.Constant):
                yield first.value


def names_of(definition):
    """Names, attributes and arguments, without the variables that it sets itself."""
    parts = list(ast.walk(definition))
    own = {part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
    return {getattr(part, "id", None) or getattr(part, "attr", None) or getattr(part, "arg", None) for part in parts} - own


class Module:
    """The names that each definition at the top of a file uses: variables, attributes, and the fixtures of its arguments."""

    def __init__(self, path, programs):
        self.name = path.relative_to(TESTS).as_posix()
        tree = ast.parse(path.read_text())
        self.imported, self.defined, self.starting = {}, {}, set()
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module:
                self.imported |= {one.asname or one.name: (node.module, one.name) for one in node.names}
        for node in tree.body:
            if isinstance(node, FUNCTION):
                self.defined[node.name] = names_of(node)
                if programs.intersection(started(node)):
                    self.starting.add(node.name)

    def tests(self):
        return [name for name in self.defined if name.startswith("test_")]

    def sees(self, other):
        """Whether the fixtures of another file are this one's: its own, and those of a conftest.py of its folder or above."""
        folder = other.removesuffix("conftest.py")
        return other == self.name or (folder != other and self.name.startswith(folder))

    def leads(self, found):
        """Its names that lead to what is found, and for a name of a module those of its names that do."""
        by_file = collections.defaultdict(set)
        for file, name in found:
            by_file[file.removesuffix(".py").replace("/", ".")].add(name)

        def of(module):
            return set().union(*(ones for file, ones in by_file.items() if ("." + file).endswith("." + module)))

        names = {name for name, (module, own) in self.imported.items() if own in of(module)}
        names |= {name for file, name in found if self.sees(file)}
        return names, {name: of(own) for name, (_, own) in self.imported.items() if of(own)}


def users(modules):
    """{(file, name of a definition)}: what uses FakeTime or such a program, directly or through others."""
    found = {("harness/fake_time.py", "FakeTime")} | {(module.name, name) for module in modules for name in module.starting}
    before = 0
    while len(found) > before:
        before = len(found)
        for module in modules:
            names, parts = module.leads(found)
            found |= {(module.name, name) for name, used in module.defined.items()
                      if used & names or any(part in used and used & ones for part, ones in parts.items())}
    return found


def modules_of_tests():
    programs = programs_of_more()
    assert {"npm", "node", "promtool", "hledger"} <= programs and not programs & {"git", "psql", "zstd", "unshare"}
    return [Module(path, programs) for path in sorted(TESTS.rglob("*.py")) if path != pathlib.Path(__file__)]


def test_every_test_that_needs_more_is_of_make_test_more():
    modules = modules_of_tests()
    found = users(modules)
    tests = [f"{module.name}::{name}" for module in modules for name in module.tests()
             if (module.name, name) in found]
    assert len(tests) > 20, "it finds what uses it through fixtures and classes"
    assert "integration/test_quarter.py::test_a_quarter_ties" in tests, "through a class of tests/tools"
    assert "serve/test_page.py::test_each_view_asks_twice_at_most_has_no_barrier_and_scrolls_nowhere_sideways" in tests, "by a module"
    wrong = [test for test in tests if not is_more(test)]
    assert not wrong, "they need what make test does not install; add to tests/more.txt:\n" + "\n".join(wrong)


def test_no_test_imports_from_a_conftest():
    """tests/ and tests/cli have one each: which of them `conftest` is depends on the files that are collected."""
    files = [path for path in TESTS.rglob("*.py") if path.parent.name != "lint"]
    wrong = [str(path) for path in files if re.search(r"^\s*(from|import) conftest\b", path.read_text(), re.M)]
    assert not wrong and len(files) > 100, wrong
