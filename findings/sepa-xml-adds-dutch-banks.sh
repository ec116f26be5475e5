#!/usr/bin/env bash
# sepa-xml 0.6.0 (npm), writing a pain.001 credit transfer.
#
# Input: payees with valid IBANs and no BIC, which SEPA does not require.
# Behaviour: the library looks up the four letters behind the check digits in a list of banks of the
# Netherlands, and ignores the country of the IBAN. Two British accounts and an Irish one get the BIC of a
# bank in Amsterdam. If the letters are not in the list, the payment has no BIC, which is valid.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent sepa-xml@0.6.0 iban@0.0.14 >&2
cat > run.cjs <<'JS'
const SepaXML = require('sepa-xml');
const {fromBBAN} = require('iban');
const file = new SepaXML();
file.setHeaderInfo({messageId: 'RUN-1', initiator: 'Shop'});
file.setPaymentInfo({id: 'RUN-1', method: 'TRF', senderName: 'Shop', senderIBAN: 'NL91ABNA0417164300', bic: 'ABNANL2A'});
for (const [country, account] of [['NL', 'ABNA0417164300'], ['GB', 'LOYD30963400000001'], ['GB', 'RBOS16000000000002'],
  ['IE', 'CITI99005100000003'], ['GB', 'NWBK60161331926819']]) {
  file.addTransaction({id: 'PAYOUT-1', amount: '10.00', name: 'Creator', iban: fromBBAN(country, account), description: 'Payout'});
}
file.compile((error, text) => {
  for (const [payment] of text.matchAll(/<CdtTrfTxInf>.*?<\/CdtTrfTxInf>/gs)) {
    console.log(`${payment.match(/<IBAN>(.*)<\/IBAN>/)[1]}: ${payment.match(/<BIC>(.*)<\/BIC>/)?.[1] ?? 'none'}`);
  }
});
JS
expected='NL91ABNA0417164300: ABNANL2A
GB61LOYD30963400000001: LOYDNL2A
GB54RBOS16000000000002: RBOSNL2A
IE58CITI99005100000003: CITINL2X
GB29NWBK60161331926819: none'
found=$(timeout 60 node run.cjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
