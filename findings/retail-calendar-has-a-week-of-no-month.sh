#!/usr/bin/env bash
# retail-calendar 4.1.2 (npm), with the options that it exports as NRFCalendarOptions.
#
# Input: one sale on each day of the years 2022 to 2024 of the 4-5-4 calendar, added by month and by quarter.
# Behaviour: in a year of 53 weeks the last one belongs to no month and to no quarter, unless the option
# addLeapWeekToMonth names one. Its week has the month -1, and the next year begins after it. So the
# months and quarters of 2023 lack the sales of 28 January to 3 February 2024.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent retail-calendar@4.1.2 >&2
cat > run.cjs <<'JS'
const {RetailCalendarFactory, NRFCalendarOptions} = require('retail-calendar');
const print = (year, options) => {
  const calendar = new RetailCalendarFactory({...NRFCalendarOptions, ...options}, year);
  const days = (weeks) => 7 * weeks.length;
  const months = calendar.months.reduce((sum, month) => sum + days(month.weeks), 0);
  const quarters = [1, 2, 3, 4].map((quarter) => days(calendar.weeks.filter((week) => week.quarterOfYear === quarter)));
  const last = calendar.weeks.at(-1);
  console.log(`${year} ${JSON.stringify(options)}: ${days(calendar.weeks)} sales, months ${months}, ` +
    `quarters ${quarters.reduce((sum, count) => sum + count)}, last week of month ${last.monthOfYear} to ${last.gregorianEndDate.toISOString().slice(0, 10)}`);
};
for (const year of [2022, 2023, 2024]) {
  print(year, {});
}
print(2023, {addLeapWeekToMonth: 11});
JS
expected='2022 {}: 364 sales, months 364, quarters 364, last week of month 12 to 2023-01-28
2023 {}: 371 sales, months 364, quarters 364, last week of month -1 to 2024-02-03
2024 {}: 364 sales, months 364, quarters 364, last week of month 12 to 2025-02-01
2023 {"addLeapWeekToMonth":11}: 371 sales, months 371, quarters 371, last week of month 12 to 2024-02-03'
found=$(TZ=UTC timeout 60 node run.cjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
