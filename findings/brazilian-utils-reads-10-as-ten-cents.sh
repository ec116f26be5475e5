#!/usr/bin/env bash
# @brazilian-utils/brazilian-utils 2.4.0 (npm).
#
# Input: amounts as texts, with and without cents, for parseCurrency, and 1.999 for the two writers.
# Behaviour: whole amounts are read as cents, so "10" is ten cents, while 10.5 and 10,50 are ten and a half
# reais. The amount in words is cut after the cents where the amount in figures is rounded, so one
# receipt can name two amounts.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent @brazilian-utils/brazilian-utils@2.4.0 >&2
cat > run.cjs <<'JS'
const {parseCurrency, formatCurrency, convertCurrencyToWords} = require('@brazilian-utils/brazilian-utils');
for (const text of ['10,50', '10.5', '10', 'R$ 10', '1.000']) {
  console.log(`${text}: ${parseCurrency(text)}`);
}
console.log(`1.999: ${formatCurrency(1.999)}, ${convertCurrencyToWords(1.999)}`);
JS
expected='10,50: 10.5
10.5: 10.5
10: 0.1
R$ 10: 0.1
1.000: 1000
1.999: 2,00, um real e noventa e nove centavos'
found=$(timeout 60 node run.cjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
