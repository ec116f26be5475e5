#!/usr/bin/env bash
# iban 0.0.14 and ibantools 4.5.4 (npm), python3-stdnum 1.18 (Debian 12: 1.18-1).
#
# Input: example accounts of the IBAN registry, Belgium's and those of nine countries that joined it lately.
# Behaviour: an IBAN is checked against a list of countries, and a new country's account is "false" like one
# with a typing error: nine countries for iban, four for stdnum. stdnum also looks a Belgian account's bank
# up in its own list of banks, and refuses the registry's example. check_country=False leaves that out.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent iban@0.0.14 ibantools@4.5.4 >&2
apt-get download -qq python3-stdnum=1.18-1 >&2
dpkg-deb -x ./*.deb root
accounts=(BE68539007547034 LY83002048000020100120361 SD2129010501234001 BI4210000100010000332045181 DJ2100010000000154000100186
    RU0204452560040702810412345678901 SO211000001001000100141 NI45BAPR00000013000003558124 MN121234123456789123 FK88SC123456789012)
cat > run.cjs <<'JS'
const {isValid} = require('iban'), {isValidIBAN} = require('ibantools');
const refused = (check) => process.argv.slice(2).filter((account) => !check(account)).map((account) => account.slice(0, 2)).join(' ') || 'none';
console.log(`iban: ${refused(isValid)}`);
console.log(`ibantools: ${refused(isValidIBAN)}`);
JS
cat > run.py <<'PY'
import sys
from stdnum import iban
for check_country in (True, False):
    refused = [a[:2] for a in sys.argv[1:] if not iban.is_valid(a, check_country=check_country)]
    print(f"stdnum, check_country={check_country}: {' '.join(refused)}")
PY
expected='iban: LY SD BI DJ RU SO NI MN FK
ibantools: none
stdnum, check_country=True: BE SO NI MN FK
stdnum, check_country=False: SO NI MN FK'
found=$(
    timeout 60 node run.cjs "${accounts[@]}"
    PYTHONPATH=root/usr/lib/python3/dist-packages timeout 60 /usr/bin/python3 run.py "${accounts[@]}"
)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
