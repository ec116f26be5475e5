#!/usr/bin/env bash
# iban-qr-code 1.0.0 (npm), which writes the text of a SEPA payment's QR code (EPC069-12).
#
# Input: name and IBAN, without the amount that the format allows to leave out for the payer; an
# empty amount; a text with three decimals.
# Behaviour: an absent amount becomes 19.05 EUR, an absent purpose "Testsubject" and an absent BIC a
# made-up one: its sample data. An empty amount becomes EUR.00, and 1.000 stays EUR1.000, which is
# one euro for a reader of the format, where 1.000.000 becomes a million.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent iban-qr-code@1.0.0 >&2
cat > run.cjs <<'JS'
const {girocode} = require('iban-qr-code');
const payee = {name: 'Receiver', iban: 'DE89370400440532013000'};
console.log(girocode(payee).trimEnd().split('\n').slice(4).join('|'));
for (const amount of ['', '1.000', '1.000.000']) {
  console.log(`${JSON.stringify(amount)}: ${girocode({...payee, amount}).split('\n')[7]}`);
}
JS
expected='DEZZZYYYXXX|Receiver|DE89370400440532013000|EUR19.05|||Testsubject
"": EUR.00
"1.000": EUR1.000
"1.000.000": EUR1000000.00'
found=$(timeout 60 node run.cjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
