#!/usr/bin/env bash
# recutils 1.9 (Debian 12: 1.9-2).
#
# Input: three orders with an amount in cents, declared as int, and an amount in euros, declared as real.
# Behaviour: the sum of integers is printed with six digits and an exponent, as that of decimals is, and so
# is the largest of them. All others are exact, so that small tests see nothing.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq recutils=1.9-2 librec1=1.9-2 >&2
for package in ./*.deb; do dpkg-deb -x "$package" root; done
export LD_LIBRARY_PATH=$folder/root/usr/lib/x86_64-linux-gnu
printf '%s\n' '%rec: Order' '%type: Cents int' '%type: Euros real' '' 'Cents: 123456710' 'Euros: 1234567.10' '' \
    'Cents: 205' 'Euros: 2.05' '' 'Cents: 10' 'Euros: 0.10' > orders.rec
expected='Sum_Cents: 1.23457e+08
Sum_Euros: 1.23457e+06
Max_Cents: 1.23457e+08'
found=$(for sum in 'Sum(Cents)' 'Sum(Euros)' 'Max(Cents)'; do timeout 60 root/usr/bin/recsel -t Order -p "$sum" orders.rec; done)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
