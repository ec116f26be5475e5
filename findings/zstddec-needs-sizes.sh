#!/usr/bin/env bash
# zstddec 0.3.4 (npm), decode() without a size, of a frame that does not state its content's size.
#
# Input: one line of JSON, compressed from a pipe and from a file, as RFC 8878 allows both.
# Behaviour: the pipe's frame is decoded to 16,908,214 bytes, of which the eight of the line are
# somewhere inside. There is no error. The file's frame, which states its size, is decoded to the line.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent zstddec@0.3.4 >&2
printf '{"a":1}\n' > line
zstd -q < line > pipe.zst
zstd -q line -o file.zst
cat > run.mjs <<'JS'
import fs from 'fs';
import {ZSTDDecoder} from 'zstddec';
const decoder = new ZSTDDecoder();
await decoder.init();
for (const name of ['file', 'pipe']) {
  const bytes = Buffer.from(decoder.decode(fs.readFileSync(`${name}.zst`)));
  console.log(`${name}: ${bytes.length} bytes, the line at ${bytes.indexOf('{"a":1}')}`);
}
JS
expected='file: 8 bytes, the line at 0
pipe: 16908214 bytes, the line at 69553'
found=$(timeout 60 node run.mjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
