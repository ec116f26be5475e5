#!/usr/bin/env bash
# beancount 2.3.5 (Debian 12: beancount, python3-beancount 2.3.5-2), with default options.
#
# Input: transactions whose two postings differ by 4 cents, and a balance assertion.
# Behaviour: a transaction may be off by half a unit of the last digit of the posting that has the
# fewest digits. So 10.50 against -10.54 is refused, and 10.5 against -10.54 is accepted without a
# word: an amount whose last zero was stripped makes four cents disappear. The assertion that the bank
# has -10.5 passes as well. Amounts without a point give no tolerance: 10 against -10.04 is refused.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq beancount=2.3.5-2 python3-beancount=2.3.5-2+b1 >&2
for package in ./*.deb; do dpkg-deb -x "$package" root; done
check() {
    printf '%s\n' '2024-01-01 open Assets:Bank' '2024-01-01 open Liabilities:Creators' '2024-03-01 * "Payout"' \
        "  Liabilities:Creators  $1 EUR" "  Assets:Bank  $2 EUR" "2024-03-02 balance Assets:Bank  $3 EUR" > test.beancount
    if PYTHONPATH=root/usr/lib/python3/dist-packages timeout 60 /usr/bin/python3 root/usr/bin/bean-check test.beancount \
        > log 2>&1; then
        echo "$1 and $2, balance $3: accepted"
    else
        echo "$1 and $2, balance $3: refused"
    fi
}
expected='10.50 and -10.54, balance -10.54: refused
10.5 and -10.54, balance -10.5: accepted
10 and -10.04, balance -10.04: refused
10 and -10, balance -10: accepted'
found=$(check 10.50 -10.54 -10.54; check 10.5 -10.54 -10.5; check 10 -10.04 -10.04; check 10 -10 -10)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
