"""Only `make test-more` installs the library of FakeTime: tests/more.txt lists every test that uses it."""

import ast
import collections
import pathlib

from conftest import is_more

TESTS = pathlib.Path(__file__).resolve().parents[1]
FUNCTION = (ast.FunctionDef, ast.ClassDef)


class Module:
    """The names that each definition at the top of a file uses: variables, attributes, and the fixtures of its arguments."""

    def __init__(self, path):
        self.name = path.relative_to(TESTS).as_posix()
        tree = ast.parse(path.read_text())
        self.imported, self.defined = {}, {}
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module:
                self.imported |= {one.asname or one.name: (node.module.split(".")[-1], one.name) for one in node.names}
        for node in tree.body:
            if isinstance(node, FUNCTION):
                self.defined[node.name] = {getattr(part, "id", None) or getattr(part, "attr", None) or getattr(part, "arg", None)
                                           for part in ast.walk(node)}

    def tests(self):
        return [name for name in self.defined if name.startswith("test_")]


def users(modules):
    """{(name of a module, name of a definition)}: what uses FakeTime, directly or through others."""
    by_stem = collections.defaultdict(list)
    for module in modules:
        by_stem[pathlib.PurePath(module.name).stem].append(module)
    found, before = {("fake_time", "FakeTime")}, 0
    while len(found) > before:
        before = len(found)
        for stem, ones in by_stem.items():
            for module in ones:
                tainted = {name for name, source in module.imported.items() if source in found}
                tainted |= {name for key, name in found if key in (stem, "conftest")}
                found |= {(stem, name) for name, used in module.defined.items() if used & tainted}
    return found


def modules_of_tests():
    return [Module(path) for path in sorted(TESTS.rglob("*.py")) if path.name != "test_fake_time.py"]


def test_every_test_that_sets_the_clock_is_of_make_test_more():
    modules = modules_of_tests()
    found = users(modules)
    tests = [f"{module.name}::{name}" for module in modules for name in module.tests()
             if (pathlib.PurePath(module.name).stem, name) in found]
    assert len(tests) > 20, "it finds what uses it through fixtures and classes"
    assert "integration/test_quarter.py::test_a_quarter_ties" in tests, "through a class of tests/tools"
    wrong = [test for test in tests if not is_more(test)]
    assert not wrong, "they need libfaketime, which make test does not install; add to tests/more.txt:\n" + "\n".join(wrong)
