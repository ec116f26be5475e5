#!/usr/bin/env bash
# sepa-qr 0.0.2, sepa-payment-qr-code 2.0.2, and jsqr 1.4.0 with pngjs 7.0.0 as the reader (npm).
#
# Input: a payment of 12.50 EUR with a text and a note, in the members that the documentation of each library names.
# Behaviour: a code ends with the lines purpose, structured reference, text and note, as the guidelines EPC069-12 say.
# sepa-qr has one line less than these twelve: the text is where banks read the creditor's reference of at most 35
# characters, and the note to the payer is where they read the text.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent sepa-qr@0.0.2 sepa-payment-qr-code@2.0.2 jsqr@1.4.0 pngjs@7.0.0 >&2
cat > run.cjs <<'JS'
const createSepaQr = require('sepa-qr'), generateQrCode = require('sepa-payment-qr-code');
const jsQR = require('jsqr'), {PNG} = require('pngjs');
const payment = {name: 'Anna', iban: 'DE75512108001245126199'};
const names = ['service', 'version', 'characters', 'code', 'bic', 'name', 'iban', 'amount', 'purpose', 'reference', 'text', 'note'];
const print = (library, code) => console.log(`${library}: ${code.split('\n').map((line, i) => `${names[i]}=${line}`)
  .slice(7).filter(line => !line.endsWith('=')).join(', ')}`);
const read = async options => {
  const parts = [];
  for await (const part of createSepaQr({...payment, ...options})) parts.push(part);
  const {data, width, height} = PNG.sync.read(Buffer.concat(parts));
  return jsQR(new Uint8ClampedArray(data), width, height).data;
};
(async () => {
  print('sepa-payment-qr-code', generateQrCode({...payment, amount: 12.5, unstructuredReference: 'Payout 7', information: 'Thanks'}));
  print('sepa-qr', await read({amount: 12.5, remittance: 'Payout 7', information: 'Thanks'}));
})();
JS
expected='sepa-payment-qr-code: amount=EUR12.50, text=Payout 7, note=Thanks
sepa-qr: amount=EUR12.5, reference=Payout 7, text=Thanks'
found=$(timeout 60 node run.cjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
