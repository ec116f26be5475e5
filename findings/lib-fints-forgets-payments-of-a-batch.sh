#!/usr/bin/env bash
# lib-fints 1.5.0 (npm), reading a camt.052 report, as getAccountStatements() does where a bank sends camt.
#
# Input: a report with two entries: 30.00 that the bank booked for the payments of two orders, and 7.00 for one
# order. Its balances are 100.00, 137.00 and, with a credit line, an available one of 5137.00.
# Behaviour: the entry of two payments has no name, text, amount or reference of either, and no member tells
# that there are two, so neither order is found paid. The available balance replaces the closing one if it comes
# last.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent lib-fints@1.5.0 fast-xml-parser@5.8.0 >&2
cat > run.mjs <<'JS'
import {CamtParser} from './node_modules/lib-fints/dist/camtParser.js';
const amount = (value) => `<Amt Ccy="EUR">${value}</Amt><CdtDbtInd>CRDT</CdtDbtInd>`;
const balance = (code, value) => `<Bal><Tp><CdOrPrtry><Cd>${code}</Cd></CdOrPrtry></Tp>${amount(value)}<Dt><Dt>2026-03-02</Dt></Dt></Bal>`;
const order = ([id, value]) => `<TxDtls><Refs><EndToEndId>ORDER-${id}</EndToEndId></Refs>${amount(value)}
  <RltdPties><Dbtr><Pty><Nm>Buyer ${id}</Nm></Pty></Dbtr></RltdPties><RmtInf><Ustrd>order ${id}</Ustrd></RmtInf></TxDtls>`;
const entry = (value, orders) => `<Ntry>${amount(value)}<Sts><Cd>BOOK</Cd></Sts><BookgDt><Dt>2026-03-02</Dt></BookgDt>
  <BkTxCd><Domn><Cd>PMNT</Cd><Fmly><Cd>RCDT</Cd><SubFmlyCd>ESCT</SubFmlyCd></Fmly></Domn></BkTxCd><NtryDtls>${orders.map(order).join('')}</NtryDtls></Ntry>`;
const report = `<?xml version="1.0" encoding="UTF-8"?><Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.052.001.08"><BkToCstmrAcctRpt>
  <GrpHdr><MsgId>M1</MsgId><CreDtTm>2026-03-02T20:00:00</CreDtTm></GrpHdr><Rpt><Id>R1</Id><CreDtTm>2026-03-02T20:00:00</CreDtTm>
  <Acct><Id><IBAN>DE89370400440532013000</IBAN></Id></Acct>${balance('OPBD', '100.00')}${balance('CLBD', '137.00')}${balance('CLAV', '5137.00')}
  ${entry('30.00', [[1, '10.00'], [2, '20.00']])}${entry('7.00', [[3, '7.00']])}</Rpt></BkToCstmrAcctRpt></Document>`;
const [{openingBalance, closingBalance, availableBalance, transactions}] = new CamtParser(report).parse();
for (const row of transactions) {
  console.log(`${row.amount}: ${row.e2eReference}, ${row.remoteName}, ${row.purpose}, names an order: ${/order/i.test(JSON.stringify(row))}`);
}
console.log(`opening ${openingBalance.value}, closing ${closingBalance.value}, available ${availableBalance?.value}`);
JS
expected='30: , , , names an order: false
7: ORDER-3, Buyer 3, order 3, names an order: true
opening 100, closing 5137, available undefined'
found=$(timeout 60 node run.mjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
