#!/usr/bin/env bash
# csb2format of csb43 0.9.2 (Debian 12: python3-csb43 0.9.2+dfsg-1), which converts Spanish bank statements (norma 43)
# to OFX, CSV and others.
#
# Input: a statement of March 2026 that begins with 1000.00 and ends with 1125.00.
# Behaviour: OFX has the closing balance with the date of the statement's first day, on which the account had
# 1000.00, so a program that reconciles by LEDGERBAL finds a difference as large as the entries. CSV has both balances
# with their dates.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq python3-csb43=0.9.2+dfsg-1 python3-pycountry=22.3.5+ds1-1 python3-tablib=3.4.0-1 >&2
for package in ./*.deb; do
    dpkg-deb -x "$package" root
done
cat > write.py <<'PYTHON'
def entry(day, side, cents, number):
    return f'22    0005{day}{day}04003{side}{cents:014}{number:010}{"0" * 12}ORDER {number}'


entries = [entry('260302', 2, 15000, 17), entry('260317', 1, 2500, 18)]
records = ['110001000500000000012603012603312000000001000009783EXAMPLE SHOP', *entries,
           f'33000100050000000001{1:05}{2500:014}{1:05}{15000:014}2{112500:014}978']
records.append(f'88{"9" * 18}{len(records):06}')
with open('march.n43', 'w') as file:
    file.writelines(record.ljust(80) + '\n' for record in records)
PYTHON
python3 write.py
convert() {
    PYTHONPATH=root/usr/lib/python3/dist-packages timeout 30 python3 root/usr/bin/csb2format --format "$1" march.n43 - 2> messages
}
expected='<DTSTART>20260301
<DTEND>20260331
<TRNAMT>150
<TRNAMT>-25
<BALAMT>1125
<DTASOF>20260301
initial_date,final_date,initial_balance,final_balance
2026-03-01,2026-03-31,1000,1125'
found=$(
    convert ofx | grep -oE '<(DTSTART|DTEND|TRNAMT|BALAMT|DTASOF)>[^<]+'
    convert csv | cut -d, -f8-11 | head -2
)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
