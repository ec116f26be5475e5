#!/usr/bin/env bash
# hledger 1.25 (Debian 12: hledger 1.25-2), default options.
#
# Input: a transaction of 10.40 EUR against -10.00 EUR, alone and behind a directive that says how
# many digits reports show.
# Behaviour: transactions are balanced in the digits that are displayed. With "commodity 1000. EUR"
# the check passes, and the report adds two accounts that differ by 0.40 to zero. So a line for
# formatting, which may be in an included file, makes wrong bookings valid.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq hledger=1.25-2+b5 >&2
dpkg-deb -x ./hledger_*.deb root
printf '%s\n' '2024-03-01 Payout' '    liabilities:creators    10.40 EUR' '    assets:bank           -10.00 EUR' > alone.journal
{ echo 'commodity 1000. EUR'; cat alone.journal; } > displayed.journal
check() {
    if timeout 60 root/usr/bin/hledger -f "$1.journal" check > log 2>&1; then
        echo "$1: accepted"
    else
        echo "$1: refused"
    fi
}
expected='alone: refused
displayed: accepted
             -10 EUR  assets:bank
              10 EUR  liabilities:creators
--------------------
                   0  '
found=$(check alone; check displayed; timeout 60 root/usr/bin/hledger -f displayed.journal balance)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
