#!/usr/bin/env bash
# zero-decimal-currencies 1.6.0 (npm), which converts amounts to the units of Stripe's interface.
#
# Input: amounts in yen with a fraction, amounts in dollars below one, and refunds.
# Behaviour: "rounded" yen are cut unless the digits of the whole part happen to be large: 10.60 is
# 10 and 99.50 is 100, and every amount from 0.50 to 0.99 is 0. A refund of 1.05 dollars becomes 0
# units, while a charge of 1.05 becomes 105. Dollars below one keep zeros in front: "029", which is a
# text and not a number.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent zero-decimal-currencies@1.6.0 >&2
cat > run.cjs <<'JS'
const {toStripeUnit} = require('zero-decimal-currencies');
for (const [amount, currency] of [['10.60', 'JPY'], ['99.50', 'JPY'], ['0.99', 'JPY'], ['1.05', 'USD'],
  ['-1.05', 'USD'], ['-250.00', 'USD'], ['0.29', 'USD']]) {
  console.log(`${amount} ${currency}: ${JSON.stringify(toStripeUnit(amount, currency))}`);
}
let wrong = 0;
for (let hundredths = 0; hundredths < 3000; ++hundredths) {
  const amount = `${Math.floor(hundredths / 100)}.${String(hundredths % 100).padStart(2, '0')}`;
  wrong += Number(toStripeUnit(amount, 'JPY')) !== Math.floor((hundredths + 50) / 100);
}
console.log(`${wrong} of 3000 amounts in yen are not rounded`);
JS
expected='10.60 JPY: "10"
99.50 JPY: "100"
0.99 JPY: "0"
1.05 USD: "105"
-1.05 USD: "0"
-250.00 USD: "0"
0.29 USD: "029"
1500 of 3000 amounts in yen are not rounded'
found=$(timeout 60 node run.cjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
