#!/usr/bin/env bash
# csvkit 1.0.7 (Debian 12: csvkit, python3-csvkit 1.0.7-1 with python3-agate 1.6.3-2).
#
# Input: order ids, amounts with a decimal comma, quantities of 0 and 1, and durations, sorted by csvsort.
# Behaviour: the command that changes the order of rows changes their values, because it writes what it
# took them for: "1,50" is 150 whatever the locale, 0 and 1 are False and True, 00:12 is twelve seconds,
# the order 1d is a day, "N/A" is empty, 5% is 5, and 0012 is 12. With -I they stay, and "N/A" is empty again.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq csvkit=1.0.7-1 python3-csvkit=1.0.7-1 python3-agate=1.6.3-2 python3-agateexcel python3-agatedbf python3-agatesql \
    python3-babel=2.10.3-1 python-babel-localedata=2.10.3-1 python3-tz python3-isodate python3-leather python3-parsedatetime \
    python3-pytimeparse python3-six python3-slugify python3-text-unidecode python3-openpyxl python3-et-xmlfile python3-xlrd \
    python3-olefile python3-dbfread python3-sqlalchemy python3-greenlet >&2
for package in ./*.deb; do dpkg-deb -x "$package" root; done
csvsort() { PYTHONPATH=root/usr/lib/python3/dist-packages timeout 60 /usr/bin/python3 root/usr/bin/csvsort "$@"; }
printf '%s\n' 'id,amount,quantity,lane,order,discount,note' '0013,"2,5",1,00:13,2h,5%,x' '0012,"1,50",0,00:12,1d,10%,N/A' > orders.csv
expected='id,amount,quantity,lane,order,discount,note
12,150,False,0:00:12,"1 day, 0:00:00",10,
13,25,True,0:00:13,2:00:00,5,x
id,amount,quantity,lane,order,discount,note
0012,"1,50",0,00:12,1d,10%,
0013,"2,5",1,00:13,2h,5%,x'
found=$(csvsort -c id orders.csv; csvsort -I -c id orders.csv)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
