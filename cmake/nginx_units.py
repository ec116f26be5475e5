"""nginx_units.py SOURCE OUT: the units that config.make compiles, and what the build generates for them.

Writes OUT/<unit>.cpp for each unit of the module's rooms, and OUT/generated, and prints the names of
the units. They are those of CMake: a folder each, or what a line of units.txt names.
"""

import collections
import pathlib
import re
import subprocess
import sys

ROOMS = ("core", "os", "lmdb_store", "ngx_module")
SCHEMAS = ("core/protocol/record.fbs", "lmdb_store/registry/registry.fbs")


def read_units(source):
    """{folder or file: the first of its line in units.txt}"""
    lines = (source / "cmake" / "units.txt").read_text().splitlines()
    return {place: line.split()[0] for line in lines if not line.startswith("#") for place in line.split()}


def units(source):
    """{name of the unit: its files}"""
    joined = read_units(source)
    found = collections.defaultdict(list)
    for room in ROOMS:
        for path in sorted((source / room).rglob("*.cpp")):
            file, folder = (str(name) for name in (path.relative_to(source), path.relative_to(source).parent))
            unit = joined.get(file) or joined.get(folder, folder)
            found[unit.removesuffix(".cpp").replace("/", "_")].append(file)
    return found


def generate(source, out, iso_codes):
    version = re.search(r"project\(sluice VERSION ([\d.]+)", (source / "CMakeLists.txt").read_text()).group(1)
    for folder in ("core/values", "core/protocol", "lmdb_store/registry", "ngx_module/status"):
        (out / folder).mkdir(parents=True, exist_ok=True)
    values = source / "core" / "values"
    page = source / "ngx_module" / "status" / "status_page"
    python = [sys.executable]
    commands = [
        [*python, values / "code_tables.py", iso_codes, values / "currencies.txt", out / "core/values/code_tables.hpp"],
        [*python, page / "embed.py", page, source / "core/page", out / "ngx_module/status/status_page.hpp"],
    ]
    for schema in SCHEMAS:
        commands.append(["flatc", "--cpp", "--scoped-enums", "--gen-object-api", "--cpp-std", "c++17",
                         "-o", out / pathlib.Path(schema).parent, source / schema])
    for command in commands:
        subprocess.run([str(word) for word in command], check=True)
    (out / "ngx_module" / "build_id.hpp").write_text(
        f'#pragma once\n\nnamespace sluice::ngx {{\ninline constexpr char kBuildId[] = "{version}";\n}}\n'
    )


def main():
    source, out, iso_codes = map(pathlib.Path, sys.argv[1:])
    generate(source, out / "generated", iso_codes)
    for name, files in units(source).items():
        (out / f"{name}.cpp").write_text("".join(f'#include "{file}"\n' for file in files))
        print(name)


if __name__ == "__main__":
    main()
