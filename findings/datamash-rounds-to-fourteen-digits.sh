#!/usr/bin/env bash
# GNU datamash 1.7 (Debian 12: datamash 1.7-2).
#
# Input: amounts with two and with six decimals.
# Behaviour: sums are calculated in 80 bits, but printed with fourteen digits. From a trillion on the
# cents are wrong, with six decimals from a hundred million on, and an id of 15 digits that passes
# through max loses its end. Nothing tells it; --format must name more digits.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq datamash=1.7-2 >&2
dpkg-deb -x ./datamash_*.deb root
datamash() { timeout 60 root/usr/bin/datamash "$@"; }
expected='1234567890123.5
123456789.12346
1.2345678901234e+14
123456789.123457'
found=$(
    printf '1234567890123.45\n0.01\n' | datamash sum 1
    printf '123456789.123456\n0.000001\n' | datamash sum 1
    printf '123456789012345\n' | datamash max 1
    printf '123456789.123456\n0.000001\n' | datamash --format %.6f sum 1
)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
