#!/usr/bin/env bash
# hledger 1.25 (Debian 12: 1.25-2+b5), "hledger import" with default options.
#
# Input: a bank's CSV of two rows, and its next download, which has a row dated between them that the bank
# added later, and a new one.
# Behaviour: import remembers no rows, but the latest date, and how many rows had it. What is dated before
# is taken for known, so the late row is left out: status 0, no warning, one transaction less than the bank
# has. A balance assertion (the bank's balance as a column) finds it.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq hledger=1.25-2+b5 >&2
dpkg-deb -x ./*.deb root
printf '%s\n' 'fields date, amount, description' 'currency EUR ' 'account1 assets:bank' 'account2 income' > bank.csv.rules
touch books.journal
take() {
    printf '%s\n' "$@" > bank.csv
    timeout 60 root/usr/bin/hledger -f books.journal import bank.csv 2>&1 | sed "s/ from .*//"
}
expected='imported 2 new transactions
imported 1 new transactions
2024-03-01 first
2024-03-04 second
2024-03-05 new'
found=$(
    take '2024-03-01,10.00,first' '2024-03-04,20.00,second'
    take '2024-03-01,10.00,first' '2024-03-02,-30.00,late: a returned payment' '2024-03-04,20.00,second' '2024-03-05,40.00,new'
    grep '^2024' books.journal
)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
