"""Writes the files below a folder as C++: embed.py FOLDER OUTPUT"""
import pathlib
import sys

folder, output = map(pathlib.Path, sys.argv[1:])
files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != "README.md")
lines = ['#include "worker/serve/files.hpp"', "", "namespace sluice::serve {", "namespace {", ""]
for number, path in enumerate(files):
    numbers = [str(byte) for byte in path.read_bytes()]
    lines.append(f"constexpr unsigned char kFile{number}[] = {{")
    lines += [",".join(numbers[at:at + 40]) + "," for at in range(0, len(numbers), 40)]
    lines.append("0};")
lines += ["", "}  // namespace", "", "const std::vector<StaticFile>& embedded_files() {",
          "    static const std::vector<StaticFile> files{"]
for number, path in enumerate(files):
    lines.append(f'        {{"{path.relative_to(folder).as_posix()}", '
                 f"{{reinterpret_cast<const char*>(kFile{number}), sizeof(kFile{number}) - 1}}}},")
lines += ["    };", "    return files;", "}", "", "}  // namespace sluice::serve", ""]
output.write_text("\n".join(lines))
