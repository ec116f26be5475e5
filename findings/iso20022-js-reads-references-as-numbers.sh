#!/usr/bin/env bash
# iso20022.js 0.0.15 (npm), reading a camt.053 statement.
#
# Input: a reversed credit of 1.15 EUR, with references and an account number of digits.
# Behaviour: texts of digits become numbers: the account 00123456 loses its zeros, the payment 1.10
# becomes 1.1, and the remittance text 000123 becomes 123, so a payout cannot be found by them. The
# reversal is reported as none, because the flag was turned into a truth value and is compared with a
# text. Amounts are multiplied as floating point: 114.99999999999999 cents.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent iso20022.js@0.0.15 >&2
cat > statement.xml <<'XML'
<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.02"><BkToCstmrStmt>
<GrpHdr><MsgId>M1</MsgId><CreDtTm>2024-03-01T20:00:00</CreDtTm></GrpHdr>
<Stmt><Id>S1</Id><ElctrncSeqNb>1</ElctrncSeqNb><CreDtTm>2024-03-01T20:00:00</CreDtTm>
<Acct><Id><Othr><Id>00123456</Id></Othr></Id><Ccy>EUR</Ccy><Svcr><FinInstnId><BIC>BANKDEFF</BIC></FinInstnId></Svcr></Acct>
<Bal><Tp><CdOrPrtry><Cd>CLBD</Cd></CdOrPrtry></Tp><Amt Ccy="EUR">0.00</Amt><CdtDbtInd>CRDT</CdtDbtInd><Dt><Dt>2024-03-01</Dt></Dt></Bal>
<Ntry><Amt Ccy="EUR">1.15</Amt><CdtDbtInd>DBIT</CdtDbtInd><RvslInd>true</RvslInd><Sts>BOOK</Sts>
<BookgDt><Dt>2024-03-01</Dt></BookgDt><BkTxCd><Prtry><Cd>X</Cd></Prtry></BkTxCd>
<NtryDtls><TxDtls><Refs><PmtInfId>1.10</PmtInfId></Refs><RmtInf><Ustrd>000123</Ustrd></RmtInf></TxDtls></NtryDtls></Ntry>
</Stmt></BkToCstmrStmt></Document>
XML
cat > run.mjs <<'JS'
import fs from 'fs';
import {CashManagementEndOfDayReport} from 'iso20022.js';
const {account, entries: [entry]} = CashManagementEndOfDayReport.fromXML(fs.readFileSync('statement.xml', 'utf8')).statements[0];
console.log(`account ${account.accountNumber}`);
console.log(`payment ${entry.transactions[0].paymentInformationId}, text ${entry.transactions[0].remittanceInformation}`);
console.log(`reversal ${entry.reversal}`);
console.log(`cents ${entry.amount}`);
JS
expected='account 123456
payment 1.1, text 123
reversal false
cents 114.99999999999999'
found=$(timeout 60 node run.mjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
