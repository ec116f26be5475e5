#!/usr/bin/env bash
# invoice-number 2.0.1 (npm), which says what number comes after an invoice's.
#
# Input: numbers whose last group of digits or letters is full.
# Behaviour: digits and letters count like an odometer that does not grow: 999 is followed by 000, so
# the thousandth invoice begins a second round of numbers that exist already. Where a letter stands
# before the digits without a sign between them, it is counted up.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent invoice-number@2.0.1 >&2
cat > run.cjs <<'JS'
const {InvoiceNumber} = require('invoice-number');
for (const number of ['INV-998', 'INV-999', '2026/12/999', '99', 'A9', 'Z9']) {
  console.log(`${number}: ${InvoiceNumber.next(number)}`);
}
JS
expected='INV-998: INV-999
INV-999: INV-000
2026/12/999: 2026/12/000
99: 00
A9: B0
Z9: A0'
found=$(timeout 60 node run.cjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
