#!/usr/bin/env bash
# PGlite 0.5.17 (npm @electric-sql/pglite), PostgreSQL within a program.
#
# Input: rows of a bigint column with minor units, and the column's sum.
# Behaviour: the type follows the value, not the column: 42 is a number, and 9007199254740993 a BigInt,
# so a sum over the rows throws, and JSON cannot be written, from the day when one amount is large. The
# sum that PostgreSQL calculates is numeric, hence a text.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent @electric-sql/pglite@0.5.17 >&2
cat > run.mjs <<'JS'
import {PGlite} from '@electric-sql/pglite';
const database = new PGlite();
const {rows} = await database.query('SELECT v FROM (VALUES (42::bigint), (9007199254740993)) AS t(v)');
const [{sum}] = (await database.query('SELECT sum(v) FROM (VALUES (42::bigint), (8)) AS t(v)')).rows;
console.log(`rows: ${rows.map(({v}) => `${typeof v} ${v}`).join(', ')}`);
console.log(`sum: ${typeof sum} ${sum}`);
for (const [name, call] of [['rows added', () => rows[0].v + rows[1].v], ['JSON', () => JSON.stringify(rows)]]) {
  try {
    console.log(`${name}: ${call()}`);
  } catch (error) {
    console.log(`${name}: ${error.name}`);
  }
}
process.exit();
JS
expected='rows: number 42, bigint 9007199254740993
sum: string 50
rows added: TypeError
JSON: TypeError'
found=$(timeout 60 node run.mjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
