#!/usr/bin/env bash
# iso20022.js 0.0.15 (npm), writing a pain.001 payment initiation.
#
# Input: 1000 minor units of JPY (no digits), KWD (three digits), USD (two digits).
# Behaviour: every currency has two digits. So 1000 yen are instructed as 10, and 1 dinar as 10: the
# instruction is valid XML of a valid amount, a hundredth or ten times of what is owed.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent iso20022.js@0.0.15 >&2
cat > run.mjs <<'JS'
import {ISO20022} from 'iso20022.js';
const sender = new ISO20022({initiatingParty: {name: 'Sender', id: 'SENDER', account: {accountNumber: '1'},
  agent: {bic: 'BANKUS33', bankAddress: {country: 'US'}}}});
const creditor = {name: 'Receiver', account: {iban: 'DE89370400440532013000'}, agent: {bic: 'BANKDEFF', bankAddress: {country: 'DE'}},
  address: {streetName: 'Street', buildingNumber: '1', townName: 'Town', postalCode: '1', country: 'DE'}};
for (const currency of ['USD', 'JPY', 'KWD']) {
  const payment = sender.createSWIFTCreditPaymentInitiation([{type: 'swift', direction: 'credit', amount: 1000, currency, creditor}]);
  console.log(payment.toString().match(/<InstdAmt.*<\/InstdAmt>/)[0]);
}
JS
expected='<InstdAmt Ccy="USD">10</InstdAmt>
<InstdAmt Ccy="JPY">10</InstdAmt>
<InstdAmt Ccy="KWD">10</InstdAmt>'
found=$(timeout 60 node run.mjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
