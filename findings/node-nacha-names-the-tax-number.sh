#!/usr/bin/env bash
# @midlandsbank/node-nacha 0.4.0 (npm), which writes ACH files of US banks.
#
# Input: a company with its tax number, its bank with a routing number, and two payments.
# Behaviour: the batch's header and footer have the first eight digits of the tax number where NACHA has
# those of the bank, unless originatingDFIIdentification is given. The payments' trace numbers have the
# bank's, and count from 0 and not from 1. The README's example hides it: there both numbers are one.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent @midlandsbank/node-nacha@0.4.0 >&2
cat > run.cjs <<'JS'
const nacha = require('@midlandsbank/node-nacha');
for (const batch of [{}, {originatingDFIIdentification: '12104288'}]) {
  const file = nacha.create({from: {name: 'Acme', fein: '987654321'}, for: {name: 'Bank', routing: '121042882'}})
    .ccd({effectiveDate: '260202', description: 'Payout', date: 'Feb 01', ...batch})
    .credit({name: 'Ann', account: {num: '135792468', type: 'C'}, routing: '021000021', amount: 12345})
    .credit({name: 'Ben', account: {num: '159260', type: 'C'}, routing: '011000015', amount: 1999});
  const {batches: [{originatingDFIIdentification, footer, entries}]} = nacha.from(nacha.from(file).to('ach')).data;
  console.log(`header ${originatingDFIIdentification}, footer ${footer.originatingDFIIdentification}, traces ${entries.map(({traceNumber}) => traceNumber)}`);
}
JS
expected='header 98765432, footer 98765432, traces 121042880000000,121042880000001
header 12104288, footer 12104288, traces 121042880000000,121042880000001'
found=$(timeout 60 node run.cjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
