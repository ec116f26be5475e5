#!/usr/bin/env bash
# hledger-interest 1.6.3 (Debian 12: 1.6.3-2).
#
# Input: a loan of 36000 EUR at 5 %, from one date to another, with the conventions actual days and 30E/360.
# Behaviour: interest is computed to 31 December, and what follows is charged to the next entry. A loan that is taken on
# 1 January is charged for the day before it existed, and one that is paid back then has a day for free. With 30E/360
# the days are counted from the day after the first date, and one is added: 30 January to 31 March has 61 instead
# of 60, and 28 February to 31 March 2003 has 30, where the comment in the program's source says 32.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq hledger-interest=1.6.3-2 >&2
for package in ./*.deb; do dpkg-deb -x "$package" root; done
loan() {
    printf '%s\n' "$2 loan" '  Assets:Bank  36000.00 EUR' '  Liabilities:Loan' '' \
        "$3 payment" '  Liabilities:Loan  36000.00 EUR' '  Assets:Bank' > loan.journal
    timeout 60 root/usr/bin/hledger-interest -f loan.journal --source Expenses:Interest --target Liabilities:Loan \
        --annual=0.05 "--$1" --quiet Liabilities:Loan > out 2>&1
    echo "$1 $2 to $3: $(sed -n 's/.* over \([0-9]*\) days$/\1 days/p' out), $(sed -n 's/^ *Expenses:Interest *//p' out)"
}
expected='act 2026-01-02 to 2026-02-02: 31 days, 152.88 EUR
act 2026-01-01 to 2026-02-01: 32 days, 157.81 EUR
act 2026-01-01 to 2026-01-02: 2 days, 9.86 EUR
act 2025-12-01 to 2026-01-01: 30 days, 147.95 EUR
30E-360 2026-01-02 to 2026-02-02: 30 days, 150.00 EUR
30E-360 2026-01-01 to 2026-02-01: 31 days, 155.00 EUR
30E-360 2026-01-30 to 2026-03-31: 61 days, 305.00 EUR
30E-360 2003-02-28 to 2003-03-31: 30 days, 150.00 EUR'
found=$(
    loan act 2026-01-02 2026-02-02
    loan act 2026-01-01 2026-02-01
    loan act 2026-01-01 2026-01-02
    loan act 2025-12-01 2026-01-01
    loan 30E-360 2026-01-02 2026-02-02
    loan 30E-360 2026-01-01 2026-02-01
    loan 30E-360 2026-01-30 2026-03-31
    loan 30E-360 2003-02-28 2003-03-31
)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
