#!/usr/bin/env bash
# hledger 1.25 (Debian 12: 1.25-2) and ledger 3.3.0 (Debian 12: 3.3.0-3), with default options.
#
# Input: one journal with 1,000 EUR and 1,50 EUR; and for hledger one CSV column with 1,234.56 and 1,000.
# Behaviour: both programs accept the journal. hledger reads a lone comma as the decimal sign and adds
# up 2.50, ledger reads three digits after it as thousands and adds up 1001.50. In hledger's CSV import
# each row is read for itself: 1,234.56 is more than a thousand, and 1,000 below it is one.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq hledger=1.25-2+b5 ledger=3.3.0-3 libboost-python1.74.0 libboost-filesystem1.74.0 libboost-iostreams1.74.0 \
    libboost-regex1.74.0 libmpfr6 libicu72 libpython3.11 >&2
for package in ./*.deb; do dpkg-deb -x "$package" root; done
printf '%s\n' '2024-03-01 sale' '    assets:shop    1,000 EUR' '    income' '' \
    '2024-03-02 sale' '    assets:shop    1,50 EUR' '    income' > sales.journal
printf '2024-03-01,"1,234.56"\n' > thousands.csv
printf '2024-03-02,"1,000"\n' > thousand.csv
printf '%s\n' 'fields date, amount' 'currency EUR ' 'account1 assets:shop' 'account2 income' > rules
expected='hledger, journal: 2,500 EUR
ledger, journal: 1.001,50 EUR
hledger, thousands.csv: 1234.56 EUR
hledger, thousand.csv: 1.00 EUR'
report() { echo "$1: $("${@:2}" balance assets:shop | sed -n '1s/^ *\(.* EUR\).*/\1/p')"; }
libraries=root/usr/lib/ledger:root/usr/lib/x86_64-linux-gnu
found=$(
    report 'hledger, journal' timeout 60 root/usr/bin/hledger -f sales.journal
    report 'ledger, journal' env LD_LIBRARY_PATH="$libraries" timeout 60 root/usr/bin/ledger -f sales.journal
    for file in thousands thousand; do
        report "hledger, $file.csv" timeout 60 root/usr/bin/hledger -f "$file.csv" --rules-file rules -c '1000.00 EUR'
    done
)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
