#!/usr/bin/env bash
# gtin 1.0.2 (npm), whose function compress() makes the short UPC-E of a UPC-A.
#
# Input: UPC-A of articles 00001 to 00011. If the manufacturer's number does not end with a zero, only 00005 to
# 00009 have a UPC-E, and compress() is documented to return null for a UPC-A without one.
# Behaviour: compress() also makes a UPC-E of the articles 00001 to 00004. Its last digit says how to expand it,
# so the package itself, like every till, reads another manufacturer's article. The check digit is right in about
# one of six cases, as in the first two: such a label scans, at the price of the other article.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent gtin@1.0.2 >&2
cat > run.cjs <<'JS'
const {isValid, upcE} = require('gtin');
for (const code of ['010001000015', '010006000010', '012345000041', '012345000058', '012345000119']) {
  const short = upcE.compress(code);
  const long = short && upcE.expand(short);
  console.log(`${code}: ${short}${long ? `, which is ${long}, valid ${isValid(long)}` : ''}`);
}
JS
expected='010001000015: 01000115, which is 010100000015, valid true
010006000010: 01000610, which is 010100000060, valid true
012345000041: 01234541, which is 012340000051, valid false
012345000058: 01234558, which is 012345000058, valid true
012345000119: null'
found=$(timeout 60 node run.cjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
