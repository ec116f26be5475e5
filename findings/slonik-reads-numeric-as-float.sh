#!/usr/bin/env bash
# slonik 47.3.2 (npm), the type parsers that a pool has by default.
#
# Input: values as PostgreSQL sends them as text.
# Behaviour: a bigint is exact, as BigInt, and a numeric is not: 999999999999999.999999 becomes
# 1000000000000000, and 1.10 becomes 1.1, where node-postgres, on which slonik is built, returns texts. An
# interval is a number of seconds with months of 30 days, and one of -1 month is 0.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent slonik@47.3.2 zod@3.9.7 >&2
cat > run.mjs <<'JS'
import {createTypeParserPreset} from 'slonik';
const parsers = Object.fromEntries(createTypeParserPreset().map(({name, parse}) => [name, parse]));
for (const [type, text] of [['int8', '9007199254740993'], ['numeric', '999999999999999.999999'], ['numeric', '1.10'],
  ['interval', '1 mon'], ['interval', '-1 mon'], ['interval', '02:00:00']]) {
  const value = parsers[type](text);
  console.log(`${type} ${text}: ${typeof value} ${value}`);
}
JS
expected='int8 9007199254740993: bigint 9007199254740993
numeric 999999999999999.999999: number 1000000000000000
numeric 1.10: number 1.1
interval 1 mon: number 2592000
interval -1 mon: number 0
interval 02:00:00: number 7200'
found=$(timeout 60 node run.mjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
