"""Writes the files below folders as C++: embed.py FUNCTION FOLDER... OUTPUT"""
import pathlib
import sys

function = sys.argv[1]
prefix = "k" + function.title().replace("_", "")  # unlike those of another page in one unity source
*folders, output = map(pathlib.Path, sys.argv[2:])
files = sorted((path.relative_to(folder).as_posix(), path) for folder in folders
               for path in folder.rglob("*") if path.is_file() and path.name != "README.md")
lines = ['#include "serve/http/files.hpp"', "", "namespace sluice::serve {", "namespace {", ""]
for number, (_, path) in enumerate(files):
    numbers = [str(byte) for byte in path.read_bytes()]
    lines.append(f"constexpr unsigned char {prefix}{number}[] = {{")
    lines += [",".join(numbers[at:at + 40]) + "," for at in range(0, len(numbers), 40)]
    lines.append("0};")
lines += ["", "}  // namespace", "", f"const std::vector<StaticFile>& {function}() {{",
          "    static const std::vector<StaticFile> files{"]
for number, (name, _) in enumerate(files):
    lines.append(f'        {{"{name}", '
                 f"{{reinterpret_cast<const char*>({prefix}{number}), sizeof({prefix}{number}) - 1}}}},")
lines += ["    };", "    return files;", "}", "", "}  // namespace sluice::serve", ""]
output.write_text("\n".join(lines))
