#!/usr/bin/env bash
# moment-business-days 1.2.0, dayjs-business-days 1.0.4 and dayjs-business-days2 1.4.0 (npm).
#
# Input: an order of Monday, 1 June 2026, 10:00, and moments of the same and of the next working day.
# Behaviour: businessDiff() counts each started period of 24 hours that begins on a working day. So Tuesday 9:00
# is one business day after Monday 10:00, and Tuesday 11:00 two, as Monday 18:00 is after Friday 9:00. One hour
# of the same day is a day for dayjs and none for moment. Adding one business day to Monday 10:00 gives Tuesday
# 10:00, so a period of two days that is compared with such a difference ends after one day and an hour. Dates
# without a time have no such error.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent moment-business-days@1.2.0 moment@2.30.1 \
    dayjs-business-days@1.0.4 dayjs-business-days2@1.4.0 dayjs@1.11.21 >&2
cat > run.cjs <<'JS'
const name = process.argv[2];
const plugin = require(name);
const day = name.startsWith('dayjs') ? require('dayjs') : plugin;
if (name.startsWith('dayjs')) day.extend(plugin.default);
const pairs = [['2026-06-01T10:00', '2026-06-01T11:00'], ['2026-06-01T10:00', '2026-06-02T09:00'],
  ['2026-06-01T10:00', '2026-06-02T11:00'], ['2026-06-05T09:00', '2026-06-08T18:00']];
console.log(`${name}: ${pairs.map(([start, end]) => day(end).businessDiff(day(start))).join(' ')}`);
JS
expected='moment-business-days: 0 1 2 2
dayjs-business-days: 1 1 2 2
dayjs-business-days2: 1 1 2 2'
found=$(for library in moment-business-days dayjs-business-days dayjs-business-days2; do TZ=UTC timeout 60 node run.cjs "$library"; done)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
