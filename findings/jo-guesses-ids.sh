#!/usr/bin/env bash
# jo 1.9 (Debian 12: 1.9-1), which writes JSON from a shell.
#
# Input: an order's ids, a SKU, an amount, a telephone number and a quoted text of digits.
# Behaviour: whatever C reads as a number becomes one, quoted in the shell or not: a long id is rounded
# and has an exponent, 0012 is 12, the SKU 0x1F is 31 and 1e5 is 100000, and a plus sign disappears. So two
# orders may get one id. "jo -- -s id=0012" writes texts.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq jo=1.9-1 >&2
dpkg-deb -x ./*.deb root
set -- id=820982911946154508 other=820982911946154510 number=0012 'sku=0x1F' 'sku2=1e5' amount=19.90 phone=+15550100 'text=" 7"' 'spaced= 7'
expected='{"id":8.209829119461545e+17,"other":8.209829119461545e+17,"number":12,"sku":31,"sku2":100000,"amount":19.9,"phone":15550100,"text":"\" 7\"","spaced":7}
{"id":"820982911946154508","amount":"19.90"}'
found=$(timeout 60 root/usr/bin/jo "$@"; timeout 60 root/usr/bin/jo -- -s id=820982911946154508 -s amount=19.90)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
