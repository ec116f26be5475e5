#!/usr/bin/env bash
# couponable 7.0.0 (npm), helper functions for orders with coupons.
#
# Input: a subscription of 10.00 with a variation that costs 5.00 more, without a quantity, which the types leave
# optional; with a total of 0 that the shop has computed; with a coupon of half the price for three months; and three
# books at 15.00 with a coupon that takes 3.00 off.
# Behaviour: a missing quantity counts as zero, so the order is free. A total of 0 counts as missing, so the
# full price is due. After the coupon the variation's 5.00 are never charged again. The coupon's 3.00 are taken
# off each of three books, and off three subscriptions once.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent couponable@7.0.0 >&2
cat > run.cjs <<'JS'
const {totalDueNow, totalDescription} = require('couponable');
const item = {priceInCents: 1000, variation: {priceInCents: 500}, interval: 'month', purchasableType: 'bundle'};
const half = {percentOff: 50, duration: 'repeating', durationInMonths: 3};
const amount = {amountOffInCents: 300, duration: 'once'};
const orders = {
  'one subscription': {...item, quantity: 1},
  'without a quantity': item,
  'with a total of 0': {...item, quantity: 1, total: 0},
  'with half off for three months': {...item, quantity: 1, coupon: half},
  'three subscriptions, 3.00 off': {...item, quantity: 3, coupon: amount},
  'three books, 3.00 off': {...item, purchasableType: 'book', quantity: 3, coupon: amount},
};
for (const [name, order] of Object.entries(orders)) console.log(`${name}: ${totalDueNow(order)}, ${totalDescription(order)}`);
JS
expected='one subscription: 1500, $15.00 / month
without a quantity: 0, Free
with a total of 0: 1500, $15.00 / month
with half off for three months: 750, $7.50 / month for the first 3 months, then $10.00 / month
three subscriptions, 3.00 off: 4200, $42.00 for the first month, then $30.00 / month
three books, 3.00 off: 3600, $36.00'
found=$(timeout 60 node run.cjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
