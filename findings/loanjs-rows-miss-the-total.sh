#!/usr/bin/env bash
# loanjs 1.1.2 (npm), which plans the instalments of a loan.
#
# Input: 1000.00 at 5 %, in 3 or 12 instalments of each kind that the library offers.
# Behaviour: what rounding leaves over is added to capitalSum and sum, and to no row. The rows repay 999.99 or
# 1000.02 of 1000.00, the last one says that nothing remains, and their instalments add up to another amount
# than sum. With annuityDue, which is paid in advance, 4.38 of 1000.00 are missing in the rows.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent loanjs@1.1.2 >&2
cat > run.cjs <<'JS'
const {Loan} = require('loanjs');
for (const [kind, count] of [['diminishing', 3], ['annuity', 12], ['annuityDue', 12]]) {
  const {installments, capitalSum, sum} = new Loan(1000, count, 5, kind);
  const rows = (member) => installments.reduce((total, row) => total + row[member], 0).toFixed(2);
  console.log(`${kind}, ${count}: capital ${rows('capital')} in the rows and ${capitalSum.toFixed(2)} in all, ` +
    `instalments ${rows('installment')} and ${sum.toFixed(2)}, remains ${installments.at(-1).remain}`);
}
JS
expected='diminishing, 3: capital 999.99 in the rows and 1000.00 in all, instalments 1008.33 and 1008.34, remains 0
annuity, 12: capital 1000.02 in the rows and 1000.00 in all, instalments 1027.32 and 1027.30, remains 0
annuityDue, 12: capital 995.62 in the rows and 1000.00 in all, instalments 1023.00 and 1027.38, remains 0'
found=$(timeout 60 node run.cjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
