#!/usr/bin/env bash
# @shopify/theme-currency 4.1.1 (npm).
#
# Input: amounts as Shopify's two interfaces write them: "10.00" as in REST and webhooks, "10.0" as in
# GraphQL's MoneyV2, which leaves out a last zero, and 1000 as in Liquid.
# Behaviour: formatMoney deletes the point of a text and counts the digits as cents. Texts with two digits
# are right by it, and every amount of GraphQL that ends in a zero is a tenth of itself.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent @shopify/theme-currency@4.1.1 >&2
cat > run.cjs <<'JS'
const {formatMoney} = require('@shopify/theme-currency');
for (const amount of [1000, '10.00', '10.0', '19.9', '1000.0']) {
  console.log(`${JSON.stringify(amount)}: ${formatMoney(amount, '${{amount}}')}`);
}
JS
expected='1000: $10.00
"10.00": $10.00
"10.0": $1.00
"19.9": $1.99
"1000.0": $100.00'
found=$(timeout 60 node run.cjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
