#!/usr/bin/env bash
# num2words 0.5.10 (Debian 12: python3-num2words 0.5.10-2).
#
# Input: 250 euros as an int, as a float, as a text and as a Decimal.
# Behaviour: an int is a number of cents, so the same amount is written as two and a half euros. As a float, a
# text or a Decimal it is 250 euros, though the Decimal has no digits of cents either.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq python3-num2words=0.5.10-2 >&2
dpkg-deb -x ./*.deb root
expected="250: two euro, fifty cents
250.0: two hundred and fifty euro, zero cents
'250': two hundred and fifty euro, zero cents
Decimal('250'): two hundred and fifty euro, zero cents
-5: minus  zero euro, five cents"
found=$(PYTHONPATH=root/usr/lib/python3/dist-packages timeout 60 /usr/bin/python3 -c '
from decimal import Decimal
from num2words import num2words
for amount in 250, 250.0, "250", Decimal(250), -5:
    print(repr(amount) + ": " + num2words(amount, to="currency", currency="EUR"))')
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
