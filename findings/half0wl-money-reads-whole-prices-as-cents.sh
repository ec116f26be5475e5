#!/usr/bin/env bash
# @half0wl/money 1.0.2 (npm), whose fromString() reads amounts of a currency's main unit.
#
# Input: prices as texts with two decimal places, some of which end in .00.
# Behaviour: the text becomes a number, and a number without a fraction counts as cents. So 19.99 is 1999
# cents and 20.00 is 20 cents, although the package's page says that 10.00 is 1000. Whole prices lose 99 %,
# and the total of a list of both kinds looks plausible.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent @half0wl/money@1.0.2 >&2
cat > run.cjs <<'JS'
const {Money} = require('@half0wl/money');
for (const text of ['19.99', '20.00', '20.01', '1000.00', '-5.50', '-5.00']) {
  console.log(`${text}: ${Money.fromString('EUR', text).getAmount()}`);
}
JS
expected='19.99: 1999
20.00: 20
20.01: 2001
1000.00: 1000
-5.50: -550
-5.00: -5'
found=$(timeout 60 node run.cjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
