#!/usr/bin/env bash
# pg-mem 3.0.14 (npm), which stands in for PostgreSQL in tests.
#
# Input: amounts of a numeric(12,2) column and ids of a bigint column, stored, returned and added up.
# Behaviour: both types are floating point. The column keeps 19.999, which PostgreSQL stores as 20.00,
# three amounts of 0.10, 0.20 and 0.30 add up to 0.6000000000000001, and the id 9007199254740993 becomes
# its neighbour. round() of a numeric does not exist. So a test passes on amounts that the database rounds.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent pg-mem@3.0.14 >&2
cat > run.cjs <<'JS'
const {newDb} = require('pg-mem');
const database = newDb().public;
database.none('create table payouts (id bigint, amount numeric(12,2))');
database.none("insert into payouts values (1, '0.10'), (2, '0.20'), (3, '0.30')");
console.log(`sum: ${JSON.stringify(database.many('select sum(amount) from payouts'))}`);
console.log(`stored: ${JSON.stringify(database.many("insert into payouts values (9007199254740993, '19.999') returning *"))}`);
try {
  database.many("select round('2.5'::numeric)");
} catch (error) {
  console.log(`round: ${error.message.split('\n')[0]}`);
}
JS
expected='sum: [{"sum":0.6000000000000001}]
stored: [{"id":9007199254740992,"amount":19.999}]
round: ERROR: function round(float) does not exist'
found=$(timeout 60 node run.cjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
