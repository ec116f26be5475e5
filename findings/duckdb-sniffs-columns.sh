#!/usr/bin/env bash
# DuckDB 1.5.6 (npm @duckdb/node-api 1.5.6-r.1), reading a file by its name with default options.
#
# Input: a CSV file of ids and amounts, and an NDJSON file whose values are all texts.
# Behaviour: an amount of 21 digits becomes DOUBLE and loses its last six. The ids 1.10 and 1.1
# become one number. Ids stay texts if one of them begins with 0, so a column's type depends on its
# rows. In NDJSON amounts stay texts, but a text column becomes DATE or UUID if all of its texts look
# like one, and a time with nanoseconds stays a text, whereas CSV reads it and cuts it.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --no-audit --no-fund --ignore-scripts --silent @duckdb/node-api@1.5.6-r.1 >&2

printf 'id,amount\n1.10,999999999999999.999999\n1.1,2.00\n' > points.csv
printf 'id,moment\n00123,2024-03-01T10:00:00.123456789Z\n00124,2024-03-01T10:00:00Z\n' > zeros.csv
printf '%s\n' \
    '{"id":"2024-01-05","moment":"2024-03-01T10:00:00.123456789Z","amount":"2.00","key":"550e8400-e29b-41d4-a716-446655440000"}' \
    > texts.ndjson
cat > run.mjs <<'JS'
import {DuckDBInstance} from '@duckdb/node-api';
const connection = await (await DuckDBInstance.create(':memory:')).connect();
for (const query of [
  "SELECT typeof(any_value(amount)) || ' ' || max(amount) || ' ids ' || count(DISTINCT id) AS r FROM 'points.csv'",
  "SELECT string_agg(typeof(id) || ' ' || id || ' ' || typeof(moment), ', ' ORDER BY id) AS r FROM 'zeros.csv'",
  "SELECT typeof(id) || ' ' || typeof(moment) || ' ' || typeof(amount) || ' ' || typeof(key) AS r FROM 'texts.ndjson'",
]) {
  console.log((await connection.runAndReadAll(query)).getRowObjectsJson()[0].r);
}
JS
expected='DOUBLE 1000000000000000.0 ids 1
VARCHAR 00123 TIMESTAMP WITH TIME ZONE, VARCHAR 00124 TIMESTAMP WITH TIME ZONE
DATE VARCHAR VARCHAR UUID'
found=$(node run.mjs)
if [ "$found" != "$expected" ]; then
    printf 'changed:\n%s\n' "$found"
    exit 1
fi
echo "as seen"
