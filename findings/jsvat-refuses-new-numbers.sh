#!/usr/bin/env bash
# jsvat 2.5.4 and jsvat-next 3.0.4 (npm), python3-stdnum 1.18 (Debian 12: 1.18-1).
#
# Input: VAT numbers with right check digits: two of Belgium, the second from the numbers that begin with
# 1, which follow those with 0, and one of Northern Ireland, which has the prefix XI since 2021.
# Behaviour: jsvat says of both newer numbers that not even their format is valid, as of a typing error, so a
# creator's invoice is refused. The other two accept them.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent jsvat@2.5.4 jsvat-next@3.0.4 >&2
apt-get download -qq python3-stdnum=1.18-1 >&2
dpkg-deb -x ./*.deb root
numbers=(BE0417497106 BE1000000120 XI980780684)
cat > run.cjs <<'JS'
for (const name of ['jsvat', 'jsvat-next']) {
  const {checkVAT, ...members} = require(name);
  const countries = Object.values(members).filter((member) => member && member.rules);
  console.log(`${name}: ${process.argv.slice(2).map((number) => checkVAT(number, countries).isValidFormat)}`);
}
JS
expected='jsvat: true,false,false
jsvat-next: true,true,true
stdnum: True,True,True'
found=$(
    timeout 60 node run.cjs "${numbers[@]}"
    PYTHONPATH=root/usr/lib/python3/dist-packages timeout 60 /usr/bin/python3 -c '
import sys
from stdnum.eu import vat
print("stdnum: " + ",".join(str(vat.is_valid(number)) for number in sys.argv[1:]))' "${numbers[@]}"
)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
