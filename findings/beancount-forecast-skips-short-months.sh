#!/usr/bin/env bash
# beancount 2.3.5 (Debian 12: beancount, python3-beancount 2.3.5-2), with its plugin forecast.
#
# Input: a fee of 100.00 EUR that is repeated every month, from the 28th, the 30th and the 31st of January.
# Behaviour: a transaction of the 31st is repeated only in months of 31 days, and one of the 30th not in
# February. So the plan for the first half of a year has three of six fees, without a warning. With REPEAT 6
# TIMES all six are there, and the last one is in October.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq beancount=2.3.5-2 python3-beancount=2.3.5-2+b1 python3-dateutil=2.8.2-2 python3-six=1.16.0-4 >&2
for package in ./*.deb; do dpkg-deb -x "$package" root; done
plan() {
    printf '%s\n' 'plugin "beancount.plugins.forecast"' '2026-01-01 open Assets:Bank' '2026-01-01 open Expenses:Fees' \
        "$1 # \"Fee [MONTHLY $2]\"" '  Expenses:Fees  100.00 EUR' '  Assets:Bank  -100.00 EUR' > plan.beancount
    PYTHONPATH=root/usr/lib/python3/dist-packages timeout 60 /usr/bin/python3 root/usr/bin/bean-query -f csv plan.beancount \
        "select date, number where account = 'Expenses:Fees'" | sed 1d | cut -d, -f1 | tr '\n' ' ' | sed "s/^/$1, $2: /; s/ $/\n/"
}
expected='2026-01-28, UNTIL 2026-06-30: 2026-01-28 2026-02-28 2026-03-28 2026-04-28 2026-05-28 2026-06-28
2026-01-30, UNTIL 2026-06-30: 2026-01-30 2026-03-30 2026-04-30 2026-05-30 2026-06-30
2026-01-31, UNTIL 2026-06-30: 2026-01-31 2026-03-31 2026-05-31
2026-01-31, REPEAT 6 TIMES: 2026-01-31 2026-03-31 2026-05-31 2026-07-31 2026-08-31 2026-10-31'
found=$(
    plan 2026-01-28 'UNTIL 2026-06-30'
    plan 2026-01-30 'UNTIL 2026-06-30'
    plan 2026-01-31 'UNTIL 2026-06-30'
    plan 2026-01-31 'REPEAT 6 TIMES'
)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
