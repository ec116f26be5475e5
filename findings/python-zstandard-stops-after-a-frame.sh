#!/usr/bin/env bash
# python3-zstandard 0.20.0-3 of Debian 12.
#
# Input: two frames one after the other, as a log that is compressed in parts or the programs pzstd
# and cat write them, and the same behind a skippable frame.
# Behaviour: decompress(), read_to_iter() and decompressobj() return the first frame and no error; if
# a skippable frame comes first, they return nothing. stream_reader() and open() of the same module
# read all frames. So half of a file's records are missing, depending on which function reads it.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq python3-zstandard=0.20.0-3 >&2
for package in ./*.deb; do dpkg-deb -x "$package" root; done
{ echo one | zstd -q; echo two | zstd -q; } > frames.zst
{ printf '\x50\x2a\x4d\x18\x04\x00\x00\x00skip'; cat frames.zst; } > skippable.zst
cat > run.py <<'PY'
import io
import zstandard

for name in ("frames.zst", "skippable.zst"):
    data, reader = open(name, "rb").read(), zstandard.ZstdDecompressor()
    print(name,
          reader.decompress(data, max_output_size=100),
          b"".join(reader.read_to_iter(io.BytesIO(data))),
          reader.decompressobj().decompress(data),
          reader.stream_reader(io.BytesIO(data)).read(),
          zstandard.open(name, "rb").read())
PY
expected="frames.zst b'one\n' b'one\n' b'one\n' b'one\ntwo\n' b'one\ntwo\n'
skippable.zst b'' b'' b'' b'one\ntwo\n' b'one\ntwo\n'"
found=$(PYTHONPATH=root/usr/lib/python3/dist-packages timeout 60 /usr/bin/python3 run.py)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
