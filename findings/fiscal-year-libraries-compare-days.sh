#!/usr/bin/env bash
# get-fiscal-year 3.0.6 and fiscal-year 1.0.0 (npm).
#
# Input: days of 2026, as the current time, for countries whose fiscal years end on 5 April (GB), 30 June
# (AU) and 30 September (US), with the time zone UTC; and a fiscal year that begins on 6 April.
# Behaviour: the first compares the month and the day separately. In Britain, each day of January, February
# and March after the 5th belongs to the fiscal year that begins in April. In Australia and the United
# States, the 31st of each month before the end of the year belongs to the next one. The second finds
# quarters by months and years by days, so 1 to 5 April are in the first quarter of the year that ends on
# the 5th, and not in its fourth.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent get-fiscal-year@3.0.6 fiscal-year@1.0.0 moment@2.30.1 >&2
cat > run.cjs <<'JS'
const Clock = Date;
let now = '';
globalThis.Date = class extends Clock {
  constructor(...parts) {
    super(...(parts.length ? parts : [`${now}T12:00:00Z`]));
  }
};
const Countries = require('get-fiscal-year');
for (const [country, day] of [['GB', '2026-02-05'], ['GB', '2026-02-06'], ['AU', '2026-03-30'], ['AU', '2026-03-31'],
  ['US', '2026-08-30'], ['US', '2026-08-31']]) {
  now = day;
  const {fiscalYearStart, fiscalYearEnd} = new Countries().getFiscalYear(country);
  console.log(`${country} ${day}: ${fiscalYearStart.slice(0, 10)} to ${fiscalYearEnd.slice(0, 10)}`);
}
const year = require('fiscal-year').default({month: 3, day: 6});
for (const day of ['2026-03-31', '2026-04-01', '2026-04-05', '2026-04-06']) {
  console.log(`${day}: ${year.getFiscalYear(day)}, quarter ${year.getFiscalQuarter(day)}`);
}
JS
expected='GB 2026-02-05: 2025-04-06 to 2026-04-05
GB 2026-02-06: 2026-04-06 to 2027-04-05
AU 2026-03-30: 2025-07-01 to 2026-06-30
AU 2026-03-31: 2026-07-01 to 2027-06-30
US 2026-08-30: 2025-10-01 to 2026-09-30
US 2026-08-31: 2026-10-01 to 2027-09-30
2026-03-31: 2026, quarter 4
2026-04-01: 2026, quarter 1
2026-04-05: 2026, quarter 1
2026-04-06: 2027, quarter 1'
found=$(TZ=UTC timeout 60 node run.cjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
