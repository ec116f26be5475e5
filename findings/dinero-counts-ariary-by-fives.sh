#!/usr/bin/env bash
# dinero.js 2.0.2 (npm), with its own list of currencies.
#
# Input: 10.50 in the minor units of ISO 4217, so 1050, of Madagascar, Mauritania and the USA.
# Behaviour: ISO 4217 gives MGA and MRU two digits, as payment services and banks do. dinero.js gives
# them the base 5 and the exponent 1, so 1050 of their minor units are 210. toDecimal() refuses them,
# which shows it, but toUnits(), comparisons and sums do not.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent dinero.js@2.0.2 currency-codes@2.2.0 >&2
cat > run.mjs <<'JS'
import {createRequire} from 'module';
import {dinero, toDecimal, toUnits, MGA, MRU, USD} from 'dinero.js';
const iso = createRequire(import.meta.url)('currency-codes');
for (const currency of [USD, MGA, MRU]) {
  const money = dinero({amount: 1050, currency});
  let text;
  try {
    text = toDecimal(money);
  } catch {
    text = 'refused';
  }
  console.log(`${currency.code}: ISO 4217 ${iso.code(currency.code).digits} digits, units ${toUnits(money)}, decimal ${text}`);
}
JS
expected='USD: ISO 4217 2 digits, units 10,50, decimal 10.50
MGA: ISO 4217 2 digits, units 210,0, decimal refused
MRU: ISO 4217 2 digits, units 210,0, decimal refused'
found=$(timeout 60 node run.mjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
