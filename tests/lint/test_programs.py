"""scripts/programs.txt names every program and Python module that the tree calls, and scripts/install-deps only packages
of which it names something. So a package that nobody listed is noticed here, and its absence before a build."""

import ast
import collections
import functools
import json
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLE = ROOT / "scripts" / "programs.txt"
INSTALLER = ROOT / "scripts" / "install-deps"
# Debian's package manager, without which there is no package to install.
BASE = {"apt-cache", "apt-config", "apt-get", "debconf-set-selections", "dpkg", "dpkg-query"}
# Words of scripts that are also names of programs.
WORDS = {
    "GET", "HEAD", "POST", "apt", "as", "clang-format", "column", "compare", "convert", "file", "free", "gold", "import",
    "init", "kill", "look", "nodejs", "open", "passwd", "pytest", "red", "size", "stream", "systemd", "tc", "time", "view", "w",
}
STARTS = {"run", "Popen", "call", "check_call", "check_output", "which", "execvp", "exec", "spawn"}
WORD = re.compile(r"(?<![\w./$@-])([a-z][a-z0-9_.+-]*)(?![\w./=(-])")


def table():
    """{package: [what it has]} of each group."""
    groups, group = collections.defaultdict(dict), None
    for line in TABLE.read_text().splitlines():
        if line.startswith("["):
            group = line.strip("[]")
        elif line and not line.startswith("#"):
            package, *whats = line.split()
            groups[group][package] = whats
    return groups


def listed():
    return {what for packages in table().values() for whats in packages.values() for what in whats}


def packages_of_installer():
    """{group: {the first name of each package}}"""
    groups = re.findall(r"^(\w+)=\((\n.*?\n|[^\n]*)\)", INSTALLER.read_text(), re.M | re.S)
    return {
        group: {word.strip("'").split("|")[0] for line in text.splitlines() for word in line.split("#")[0].split()}
        for group, text in groups if group in table()
    }


@functools.cache
def essential():
    """Programs of the packages that every Debian has."""
    packages = subprocess.run(["dpkg-query", "-W", "-f", "${Essential} ${Package}\n"], check=True, capture_output=True,
                              text=True).stdout.splitlines()
    packages = [line.split()[1] for line in packages if line.startswith("yes ")]
    files = subprocess.run(["dpkg-query", "-L", *packages], check=True, capture_output=True, text=True).stdout.splitlines()
    return {"sh", "awk", "which"} | {file.rsplit("/", 1)[1] for file in files if "/bin/" in file or "/sbin/" in file}


@functools.cache
def is_program(word):
    return word not in essential() | BASE | WORDS and shutil.which(word, path="/usr/sbin:/usr/bin:/sbin:/bin") is not None


def tracked():
    names = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    return [ROOT / name for name in names if (ROOT / name).is_file()]


def language(path):
    """python, shell, or None."""
    if path.suffix in (".py", ".sh"):
        return {".py": "python", ".sh": "shell"}[path.suffix]
    if path in (ROOT / "Makefile", ROOT / "debian" / "rules"):
        return "shell"
    if path.suffix or path.is_relative_to(ROOT / "conf" / "docker"):
        return None
    with open(path, "rb") as file:
        first = file.readline()
    return "python" if b"python" in first[:40] else "shell" if first.startswith(b"#!") and b"sh" in first else None


def words_of_shell(text):
    return {word for line in text.splitlines() if not line.lstrip().startswith("#") for word in WORD.findall(line)}


def words_of_python(tree):
    """Strings of lists and tuples, and what a string of a shell has: the first word of each command."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.List, ast.Tuple)):
            texts = [one.value for one in node.elts if isinstance(one, ast.Constant) and isinstance(one.value, str)]
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) in STARTS:
            texts = [one.value for one in node.args if isinstance(one, ast.Constant) and isinstance(one.value, str)]
        else:
            continue
        for text in texts:
            found |= {text} if re.fullmatch(r"[\w.+-]+", text) else words_of_shell(text) if "\n" in text or "; " in text else set()
    return found


def test_every_program_that_is_called_is_listed():
    known, wrong = listed(), []
    for path in tracked():
        kind = language(path)
        if kind is None:
            continue
        words = words_of_shell(path.read_text()) if kind == "shell" else words_of_python(ast.parse(path.read_text()))
        wrong += [f"{path.relative_to(ROOT)}: {word}" for word in sorted(words - known) if is_program(word)]
    assert not wrong, "not in scripts/programs.txt (a word that is no program goes to WORDS here):\n" + "\n".join(wrong)


def test_the_compilers_of_the_presets_are_listed():
    presets = json.loads((ROOT / "CMakePresets.json").read_text())["configurePresets"]
    compilers = {value for preset in presets for name, value in preset.get("cacheVariables", {}).items()
                 if name.endswith("_COMPILER")}
    assert {"clang", "clang++"} <= compilers <= listed()


def test_every_python_module_is_listed():
    folders = [ROOT / name for name in ("tests", "bench", "scripts", "cmake")]
    own = {path.stem for folder in folders for path in folder.rglob("*.py")}
    own |= {path.name for folder in folders for path in folder.iterdir() if path.is_dir()}
    known, wrong = listed(), []
    for path in tracked():
        if language(path) != "python":
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else \
                [node.module] if isinstance(node, ast.ImportFrom) and not node.level else []
            for name in {name.split(".")[0] for name in names} - own - set(sys.stdlib_module_names):
                if f"python:{name}" not in known:
                    wrong.append(f"{path.relative_to(ROOT)}: {name}")
    assert not wrong, "not in scripts/programs.txt:\n" + "\n".join(sorted(set(wrong)))


def test_something_of_every_package_is_looked_up():
    known = {package for packages in table().values() for package in packages}
    packages = packages_of_installer()
    assert {"compiler", "demo", "fuzz", "nginx", "build", "unit", "postgres", "test", "lint", "suite", "fleet", "more", "source", "citus", "release",
            "bench"} == set(packages)
    missing = set().union(*packages.values()) - known
    assert not missing, "scripts/programs.txt names nothing of " + ", ".join(sorted(missing))


def test_make_test_installs_few_packages():
    """Debian's first user of the README pays for each; what only some tests need, make test-more installs."""
    packages = packages_of_installer()
    assert sum(len(packages[group]) for group in ("compiler", "nginx", "build", "unit", "postgres", "test", "lint")) <= 40
