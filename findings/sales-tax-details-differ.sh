#!/usr/bin/env bash
# sales-tax 2.23.0 (npm), offline.
#
# Input: 100 EUR to the Canary Islands, which have a tax of their own, IGIC, and are outside the EU's VAT, and
# 9.99 EUR to Finland.
# Behaviour: rate and total of the Canary Islands have 7 % of IGIC, and the details, from which an invoice's
# lines are made, have 21 % of VAT, so the lines do not add up to the total. Totals are not rounded to cents.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent sales-tax@2.23.0 >&2
cat > run.cjs <<'JS'
const tax = require('sales-tax');
(async () => {
  for (const [country, state, price] of [['ES', 'TF', 100], ['FI', null, 9.99]]) {
    const {type, rate, total, details} = await tax.getAmountWithSalesTax(country, state, price);
    console.log(`${country}: ${type} ${rate}, total ${total}, details ${JSON.stringify(details)}`);
  }
})();
JS
expected='ES: igic 0.07, total 107, details [{"type":"vat","rate":0.21,"amount":21}]
FI: vat 0.255, total 12.53745, details [{"type":"vat","rate":0.255,"amount":2.54745}]'
found=$(timeout 60 node run.cjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
