#!/usr/bin/env bash
# money-math 2.6.3 (npm), which calculates with amounts written as strings.
#
# Input: amounts with no digits, one digit, two and three digits after the point.
# Behaviour: the point is deleted, and the digits that remain are cents. So "10" is ten cents and
# "0.5" is five, while "1.005" is 10.05. Nothing is refused. Only two digits give the sum that is
# written there, and a comparison is wrong in the same way: "2" is smaller than "1.00".
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent money-math@2.6.3 >&2
cat > run.cjs <<'JS'
const money = require('money-math');
for (const amount of ['10', '0.5', '1.25', '1.005']) {
  console.log(`${amount} + 0.00 = ${money.add(amount, '0.00')}`);
}
console.log(`2 against 1.00: ${money.cmp('2', '1.00') < 0 ? 'smaller' : 'greater'}`);
JS
expected='10 + 0.00 = 0.10
0.5 + 0.00 = 0.05
1.25 + 0.00 = 1.25
1.005 + 0.00 = 10.05
2 against 1.00: smaller'
found=$(timeout 60 node run.cjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
