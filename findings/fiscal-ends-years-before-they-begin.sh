#!/usr/bin/env bash
# fiscal 1.0.0 (npm), which returns the first and last moment of fiscal years and quarters.
#
# Input: 15 June 2026, for a company whose year begins in January, and for one whose year begins in April.
# Behaviour: the calendar year 2026 begins on 1 January 2026 and ends on 31 December 2025, so a report of it is
# empty. A year that begins in April ends with the last millisecond of March. A quarter ends where its last day
# begins, although the documentation shows its last millisecond: the sales of 30 June are in no quarter.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent fiscal@1.0.0 >&2
cat > run.cjs <<'JS'
const Fiscal = require('fiscal');
for (const [name, month] of [['January', 0], ['April', 3]]) {
  const {fiscalYear, quarter} = new Fiscal(month).getFiscalInfoForDate(new Date('2026-06-15T12:00:00Z'));
  for (const [period, {startDate, endDate}] of [['year', fiscalYear], ['quarter', quarter]]) {
    const sale = new Date('2026-06-30T12:00:00Z');
    console.log(`${name}, ${period}: ${startDate.toJSON()} to ${endDate.toJSON()}, noon of 30 June ${sale >= startDate && sale <= endDate ? 'in' : 'out'}`);
  }
}
JS
expected='January, year: 2026-01-01T00:00:00.000Z to 2025-12-31T23:59:59.999Z, noon of 30 June out
January, quarter: 2026-04-01T00:00:00.000Z to 2026-06-30T00:00:00.000Z, noon of 30 June out
April, year: 2026-04-01T00:00:00.000Z to 2027-03-31T23:59:59.999Z, noon of 30 June in
April, quarter: 2026-04-01T00:00:00.000Z to 2026-06-30T00:00:00.000Z, noon of 30 June out'
found=$(TZ=UTC timeout 60 node run.cjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
