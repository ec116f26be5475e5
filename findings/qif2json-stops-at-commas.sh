#!/usr/bin/env bash
# qif2json 0.4.0 (npm), reading a QIF file.
#
# Input: a bank register with a split payment of 1,250.00, whose amounts have commas for thousands as Quicken
# writes them, and a payout of 1,234,567.89.
# Behaviour: the first comma of a transaction's amount is removed, and a number is read up to the next one: the
# payout is 1234. Of the amounts of a split no comma is removed, so the rent of 1,200.00 is 1, next to a total
# of 1250 that is right.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent qif2json@0.4.0 debug@4.4.1 fecha@3.0.3 iconv-lite@0.4.24 \
    jschardet@2.3.0 >&2
printf '%s\n' '!Type:Bank' 'D03/02/2026' 'T-1,250.00' 'PLandlord' 'SRent' '$-1,200.00' 'SHeating' '$-50.00' '^' \
    'D03/03/2026' 'T1,234,567.89' 'PPayout' '^' > register.qif
cat > run.cjs <<'JS'
const {transactions} = require('qif2json').parse(require('fs').readFileSync('register.qif', 'utf8'), {dateFormat: 'us'});
for (const {date, payee, amount, division = []} of transactions) {
  console.log(`${date.slice(0, 10)} ${payee}: ${amount}${division.map((part) => `, ${part.category} ${part.amount}`).join('')}`);
}
JS
expected='2026-03-02 Landlord: -1250, Rent -1, Heating -50
2026-03-03 Payout: 1234'
found=$(timeout 60 node run.cjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
