#!/usr/bin/env bash
# zugferd-generator 1.2.1 (npm), which promises invoices that comply with ZUGFeRD.
#
# Input: its README's invoice, of three pieces at 19.99 EUR.
# Behaviour: no element has the quantity, so three times 19.99 is a line of 59.97 without a reason. Dates keep
# their hyphens next to format 102, which is eight digits. Tax, IBAN and total are in elements that
# the CII schema does not have, and those that EN 16931 wants are absent.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent zugferd-generator@1.2.1 >&2
cat > run.mjs <<'JS'
import generator from 'zugferd-generator';
const Generator = generator.default ?? generator;
const xml = new Generator({
  id: 'INV-001', issueDate: '2026-03-01', currency: 'EUR', totalAmount: 71.36,
  supplier: {name: 'Anna', country: 'DE'}, customer: {name: 'Brand', country: 'DE'},
  taxTotal: {taxAmount: 11.39, taxPercentage: 19},
  paymentDetails: {bankDetails: {iban: 'DE02120300000000202051'}},
  lineItems: [{id: '1', description: 'Posts', quantity: 3, unitPrice: 19.99, lineTotal: 59.97}],
}).toXMLString();
console.log(xml.match(/<udt:DateTimeString.*/)[0]);
for (const name of ['TaxTotal', 'IBANID', 'GrandTotalAmount', 'LineTotalAmount', 'BilledQuantity', 'ApplicableTradeTax', 'DuePayableAmount', 'CountryID']) {
  console.log(`${name}: ${xml.includes(`<ram:${name}`)}`);
}
JS
expected='<udt:DateTimeString format="102">2026-03-01</udt:DateTimeString>
TaxTotal: true
IBANID: true
GrandTotalAmount: true
LineTotalAmount: true
BilledQuantity: false
ApplicableTradeTax: false
DuePayableAmount: false
CountryID: false'
found=$(timeout 60 node run.mjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
