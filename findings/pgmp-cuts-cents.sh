#!/usr/bin/env bash
# pgmp 1.0.4 (Debian 12: postgresql-15-pgmp 1.0.4-5+b1), exact fractions in PostgreSQL 15.
#
# Input: shares of money as fractions (mpq), cast to numeric(12,2) and stored in such a column, next to the same
# values as numeric.
# Behaviour: the documentation says that a cast to numeric rounds to the digits of the type. It cuts them: 2/3 is 0.66
# and 19.999 is 19.99, and refunds are cut towards zero, so three creators who share 2.00 get 1.98.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
cd "$folder"
apt-get download -qq postgresql-15=15.18-0+deb12u1 postgresql-client-15=15.18-0+deb12u1 postgresql-15-pgmp=1.0.4-5+b1 >&2
for package in ./*.deb; do
    dpkg-deb -x "$package" root
done
mkdir data
as_owner=()
if [ "$(id -u)" = 0 ]; then
    chown 65534 "$folder" data
    as_owner=(setpriv --reuid=65534 --clear-groups)
fi
programs=$folder/root/usr/lib/postgresql/15/bin
postgres() {
    LC_ALL=C timeout 60 "${as_owner[@]}" "$programs/$1" "${@:2}"
}
trap 'postgres pg_ctl -D data -m immediate stop > stopped 2>&1 || true; rm -rf "$folder"' EXIT
postgres initdb -U books -A trust -D data > made
postgres pg_ctl -D data -w -l data/log -o "-k $folder -c listen_addresses='' -c fsync=off" start > started
expected='2/3|0.66
2/3|0.66
2/3|0.66
-2/3|-0.66
2|1.98
19.999|19999/1000|20.00|19.99
15.005|3001/200|15.01|15.00
-0.009|-9/1000|-0.01|0.00
2.50|5/2|2.50|2.50'
found=$(postgres psql -h "$folder" -U books -d postgres -XqAt -v ON_ERROR_STOP=1 <<'SQL'
create extension pgmp;
create table payouts (share mpq, amount numeric(12,2));
insert into payouts select share, share from unnest('{2/3,2/3,2/3,-2/3}'::mpq[]) share;
select share, amount from payouts;
select sum(share), sum(amount) from payouts where share > 0::mpq;
select value, value::mpq, value::numeric(12,2), value::mpq::numeric(12,2) from unnest('{19.999,15.005,-0.009,2.50}'::numeric[]) value;
SQL
)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
