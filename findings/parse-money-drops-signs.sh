#!/usr/bin/env bash
# parse-money 1.0.12 (npm), which finds amount and currency in a text.
#
# Input: refunds, written with a minus and in an accountant's parentheses, and Canadian dollars.
# Behaviour: every sign is dropped, so a refund is a sale of the same amount. A dollar is always USD,
# whatever country is named before it. Nothing in the result shows either.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent parse-money@1.0.12 >&2
cat > run.cjs <<'JS'
const parse = require('parse-money').default;
for (const text of ['€5.00', '-€5.00', '€-5.00', '(€5.00)', 'CA$5.00', 'A$5.00']) {
  const {amount, currency} = parse(text);
  console.log(`${text}: ${amount} ${currency}`);
}
JS
expected='€5.00: 5 EUR
-€5.00: 5 EUR
€-5.00: 5 EUR
(€5.00): 5 EUR
CA$5.00: 5 USD
A$5.00: 5 USD'
found=$(timeout 60 node run.cjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
