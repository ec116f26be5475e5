"""Writes the header with the migrations: migration_table.py OUT.hpp 0020_name.sql 0021_name.sql ..."""
import pathlib
import re
import sys

out, files = pathlib.Path(sys.argv[1]), sorted(map(pathlib.Path, sys.argv[2:]))
rows = []
for expected, file in enumerate(files, int(files[0].name[:4])):
    number, name = re.fullmatch(r"(\d{4})_([a-z0-9_]+)", file.stem).groups()
    if int(number) != expected:
        sys.exit(f"{file}: expected number {expected:04}")
    # Literals have a limit in length: one for each line.
    text = "\n".join('     R"sql(%s\n)sql"' % line for line in file.read_text().splitlines())
    rows.append(f'    {{{expected}, "{name}",\n{text}}},\n')
out.parent.mkdir(parents=True, exist_ok=True)
out.write_text(
    "#pragma once\n\n#include <array>\n\nnamespace sluice::pg {\n"
    "struct Migration {\n    int number;\n    const char* name;\n    const char* sql;\n};\n"
    f"inline constexpr std::array<Migration, {len(rows)}> kMigrations{{{{\n{''.join(rows)}}}}};\n"
    "}  // namespace sluice::pg\n")
