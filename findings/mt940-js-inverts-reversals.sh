#!/usr/bin/env bash
# mt940-js 1.0.0 (npm), reading reversals of an MT940 statement.
#
# Input: a debit of 5.00, its reversal (RD, which adds money), a credit of 3.00 and its reversal (RC,
# which removes money), between two balances of 100.00.
# Behaviour: amounts have no sign, and isCredit describes the entry that was reversed: false for RD,
# true for RC. No other member tells a reversal, and isExpense is true for every row. So entries that
# are added up by isCredit are off by twice each reversal, and do not lead to the closing balance.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent mt940-js@1.0.0 tslib@2.8.1 >&2
printf '%s\r\n' ':20:STATEMENT' ':25:10010010/0000001' ':28C:1/1' ':60F:C240301EUR100,00' \
    ':61:2403010301D5,00NTRFFIRST' ':86:fee' ':61:2403010301RD5,00NTRFFIRST' ':86:fee reversed' \
    ':61:2403010301C3,00NTRFSECOND' ':86:sale' ':61:2403010301RC3,00NTRFSECOND' ':86:sale reversed' \
    ':62F:C240301EUR100,00' '-' > statement.940
cat > run.cjs <<'JS'
require('mt940-js').read(require('fs').readFileSync('statement.940')).then(([statement]) => {
  let sum = statement.openingBalance.value;
  for (const {description, isCredit, isExpense, amount} of statement.transactions) {
    console.log(`${description}: credit ${isCredit}, expense ${isExpense}, ${amount}`);
    sum += isCredit ? amount : -amount;
  }
  console.log(`added up ${sum}, closing balance ${statement.closingBalance.value}`);
  console.log(Object.keys(statement.transactions[1]).sort().join(' '));
});
JS
expected='fee: credit false, expense true, 5
fee reversed: credit false, expense true, 5
sale: credit true, expense true, 3
sale reversed: credit true, expense true, 3
added up 96, closing balance 100
amount bankReference code currency customerReference description entryDate fundsCode id isCredit isExpense valueDate'
found=$(timeout 60 node run.cjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
