#!/usr/bin/env bash
# sepa 3.0.0 (npm), with the schemas of ISO 20022 that libhbci4j-core-java 3.1.64 (Debian 12: 3.1.64+dfsg-1)
# contains, and xmllint of libxml2-utils 2.9.14.
#
# Input: one credit transfer or direct debit with a text; without a text; with a structured creditor reference; and
# with a purpose code. sepa validates what it is given, and all of it passes.
# Behaviour: a reference is written as CdorPrtry with Issr and Ref in it, where all versions have CdOrPrtry, with Issr
# and Ref behind and outside of it. A purpose comes after RmtInf instead of before. Without a text there is
# an empty Ustrd, which needs a character. One such payment makes the whole file invalid, and no error is raised.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq libhbci4j-core-java=3.1.64+dfsg-1 libxml2-utils libxml2 libicu72 >&2
for package in ./*.deb; do dpkg-deb -x "$package" root; done
export LD_LIBRARY_PATH=$folder/root/usr/lib/x86_64-linux-gnu
/usr/bin/python3 -m zipfile -e root/usr/share/java/hbci4j-core-3.1.64.jar hbci4j
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent sepa@3.0.0 >&2
cat > run.cjs <<'JS'
const {writeFileSync} = require('fs'), {Document} = require('sepa');
const own = {IBAN: 'DE02120300000000202051', BIC: 'BYLADEM1001', Name: 'Shop'};
const other = {IBAN: 'DE75512108001245126199', BIC: 'SOGEDEFFXXX', Name: 'Anna'};
const members = (prefix, values) => Object.fromEntries(Object.entries(values).map(([key, value]) => [prefix + key, value]));
const cases = {
  text: {remittanceInfo: 'Order 1'},
  'no-text': {},
  reference: {structuredRemittanceInfo: {typeCode: 'SCOR', issuer: 'ISO', reference: 'RF18539007547034'}},
  purpose: {remittanceInfo: 'Order 1', purposeCode: 'COMM'},
};
for (const format of ['pain.001.001.03', 'pain.001.001.09', 'pain.008.001.02', 'pain.008.001.08']) {
  for (const [name, values] of Object.entries(cases)) {
    const transfer = format.startsWith('pain.001');
    const document = new Document(format);
    Object.assign(document.grpHdr, {id: 'M1', created: new Date(2026, 2, 2, 12), initiatorName: 'Shop'});
    const info = document.createPaymentInfo();
    Object.assign(info, members(transfer ? 'debtor' : 'creditor', own));
    info[transfer ? 'requestedExecutionDate' : 'collectionDate'] = new Date(2026, 2, 9, 12);
    if (!transfer) info.creditorId = 'DE98ZZZ09999999999';
    document.addPaymentInfo(info);
    const payment = info.createTransaction();
    Object.assign(payment, members(transfer ? 'creditor' : 'debtor', other), {amount: 10.5, end2endId: 'E1'}, values);
    if (!transfer) Object.assign(payment, {mandateId: 'A1', mandateSignatureDate: new Date(2025, 1, 1, 12)});
    info.addTransaction(payment);
    writeFileSync(`${format}.${name}.xml`, document.toString());
  }
}
JS
expected='pain.001.001.03 no-text: not valid at Ustrd
pain.001.001.03 purpose: not valid at Purp
pain.001.001.03 reference: not valid at CdorPrtry
pain.001.001.03 text: valid
pain.001.001.09 no-text: not valid at Ustrd
pain.001.001.09 purpose: not valid at Purp
pain.001.001.09 reference: not valid at CdorPrtry
pain.001.001.09 text: valid
pain.008.001.02 no-text: not valid at Ustrd
pain.008.001.02 purpose: not valid at Purp
pain.008.001.02 reference: not valid at CdorPrtry
pain.008.001.02 text: valid
pain.008.001.08 no-text: not valid at Ustrd
pain.008.001.08 purpose: not valid at Purp
pain.008.001.08 reference: not valid at CdorPrtry
pain.008.001.08 text: valid'
timeout 60 node run.cjs
found=$(
    for file in pain.*.xml; do
        name=${file%.xml}
        format=${name%.*}
        if timeout 60 root/usr/bin/xmllint --nonet --noout --schema "hbci4j/$format.xsd" "$file" 2> log; then
            echo "$format ${name##*.}: valid"
        else
            echo "$format ${name##*.}: not valid at $(sed -n '1s/.*: element \([A-Za-z]*\): .*/\1/p' log)"
        fi
    done
)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    cat log >&2
    echo "changed"
    exit 1
fi
echo "as seen"
