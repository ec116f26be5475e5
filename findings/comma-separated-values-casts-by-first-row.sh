#!/usr/bin/env bash
# comma-separated-values 3.6.4 (npm), with default options.
#
# Input: a CSV file of order ids and amounts, the first row of digits, and an empty amount.
# Behaviour: the first row decides a column's type, and the rows after it are converted, not checked:
# the id B-7 becomes NaN, of which two are not equal, 0012 becomes 12, and an amount that is not
# known becomes 0. If the first row has a text, the same amounts stay texts.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent comma-separated-values@3.6.4 >&2
cat > run.cjs <<'JS'
const CSV = require('comma-separated-values');
for (const text of ['17,2.50\n0012,""\nB-7,1.00', 'B-7,none\n17,2.50']) {
  console.log(new CSV(text).parse());
}
JS
expected="[ [ 17, 2.5 ], [ 12, 0 ], [ NaN, 1 ] ]
[ [ 'B-7', 'none' ], [ '17', '2.50' ] ]"
found=$(timeout 60 node run.cjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
