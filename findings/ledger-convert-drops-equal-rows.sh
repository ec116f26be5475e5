#!/usr/bin/env bash
# ledger 3.3.0 (Debian 12: 3.3.0-3) and hledger 1.25 (Debian 12: 1.25-2).
#
# Input: a CSV with two equal sales of one day and another sale, converted with --rich-data next to an empty
# journal; and a journal with two transactions that have one UUID tag.
# Behaviour: the UUID is a checksum of the row, so the second of two equal sales has that of the first, and is
# left out without a word. Without --rich-data the rows are three. In a journal ledger ignores a transaction
# whose tag UUID it knows: hledger adds 39.98 up from the same file, and ledger 19.99.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq hledger=1.25-2+b5 ledger=3.3.0-3 libboost-python1.74.0 libboost-filesystem1.74.0 libboost-iostreams1.74.0 \
    libboost-regex1.74.0 libmpfr6 libicu72 libpython3.11 >&2
for package in ./*.deb; do dpkg-deb -x "$package" root; done
ledger() { LD_LIBRARY_PATH=root/usr/lib/ledger:root/usr/lib/x86_64-linux-gnu timeout 60 root/usr/bin/ledger "$@"; }
printf '%s\n' 'date,payee,amount' '2026-03-01,ANNA10,19.99' '2026-03-01,ANNA10,19.99' '2026-03-01,BEN10,5.00' > sales.csv
printf '%s\n' '2026-03-01 sale' '    ; UUID: row-1' '    assets:bank    19.99' '    income' '' \
    '2026-03-01 sale' '    ; UUID: row-1' '    assets:bank    19.99' '    income' > twice.journal
: > empty.journal
convert() { ledger -f empty.journal convert sales.csv --input-date-format %Y-%m-%d --account assets:bank "$@"; }
total() { sed -n '1s/^ *\([0-9.]*\).*/\1/p'; }
expected='convert: 3 of 3 rows, 44.98
convert --rich-data: 2 of 3 rows, 24.99, status 0
twice.journal: ledger 19.99, hledger 39.98'
found=$(
    convert > plain.journal
    echo "convert: $(grep -c '^2026' plain.journal) of 3 rows, $(ledger -f plain.journal balance Unknown | total)"
    status=0
    convert --rich-data > rich.journal || status=$?
    echo "convert --rich-data: $(grep -c '^2026' rich.journal) of 3 rows, $(ledger -f rich.journal balance Unknown | total), status $status"
    echo "twice.journal: ledger $(ledger -f twice.journal balance assets | total)," \
        "hledger $(timeout 60 root/usr/bin/hledger -f twice.journal balance assets | total)"
)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
