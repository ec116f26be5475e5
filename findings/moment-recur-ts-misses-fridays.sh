#!/usr/bin/env bash
# moment-recur-ts 1.3.1 (npm), recurring dates for moment, next to moment-recur 1.0.7, from which it was made.
#
# Input: payouts of 2026 on the second and on the fourth Friday of each month, and on its 31st.
# Behaviour: in a month that begins with a Friday, as May 2026 does, no second and no fourth Friday is named, although
# `matches` says that 8 May is one. A 31st that a month does not have becomes a day of the next month, so 3 March and
# 1 May are named, and `matches` says that 3 March is none. moment-recur names all Fridays, and for the 31st the last
# day of shorter months.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent moment-recur-ts@1.3.1 moment-recur@1.0.7 moment@2.30.1 >&2
cat > run.cjs <<'JS'
const moment = require('moment');
const [, , name] = process.argv;
require(name);
const year = () => moment.utc('2026-01-01').recur('2026-01-01', '2026-12-31');
const show = (text, dates) => console.log(`${name}, ${text}: ${dates.all('MM-DD').join(' ')}`);
const fridays = (week) => year().every('Friday').daysOfWeek().every(week).weeksOfMonthByDay();
show('second Friday', fridays(1));
show('fourth Friday', fridays(3));
console.log(`8 May matches: ${fridays(1).matches('2026-05-08')}`);
show('31st', year().every(31).daysOfMonth());
console.log(`3 March matches: ${year().every(31).daysOfMonth().matches('2026-03-03')}`);
JS
expected='moment-recur, second Friday: 01-09 02-13 03-13 04-10 05-08 06-12 07-10 08-14 09-11 10-09 11-13 12-11
moment-recur, fourth Friday: 01-23 02-27 03-27 04-24 05-22 06-26 07-24 08-28 09-25 10-23 11-27 12-25
8 May matches: true
moment-recur, 31st: 01-31 02-28 03-31 04-30 05-31 06-30 07-31 08-31 09-30 10-31 11-30 12-31
3 March matches: false
moment-recur-ts, second Friday: 01-09 02-13 03-13 04-10 06-12 07-10 08-14 09-11 10-09 11-13 12-11
moment-recur-ts, fourth Friday: 01-23 02-27 03-27 04-24 06-26 07-24 08-28 09-25 10-23 11-27 12-25
8 May matches: true
moment-recur-ts, 31st: 01-31 03-03 03-31 05-01 05-31 07-01 07-31 08-31 10-01 10-31 12-01 12-31
3 March matches: false'
found=$(
    timeout 30 node run.cjs moment-recur
    timeout 30 node run.cjs moment-recur-ts
)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
