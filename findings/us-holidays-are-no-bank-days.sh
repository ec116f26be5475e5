#!/usr/bin/env bash
# Lists of the holidays of the USA: four of npm, versions below, python3-holidays 0.10.1 and python3-workalendar
# 17.0.0 (Debian 12: 0.10.1-3, 17.0.0-1).
#
# Input: two Fridays. On 19 June 2026 the Federal Reserve is closed. 3 July 2026 is the day before a holiday
# on a Saturday: offices are closed, but the Federal Reserve works, and with it ACH and wires.
# Behaviour: five of the six move the holiday to 3 July, even workalendar's calendar FederalReserveSystem, and
# those of business days and bank holidays, so that a payout waits until Monday. Two do not know 19 June.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent @18f/us-federal-holidays@4.0.0 business-days-js@2.3.0 date-holidays@3.37.0 \
    @date/holidays-us@0.4.0 date-fns@4.4.0 date-fns-holiday-us@1.1.0 >&2
apt-get download -qq python3-holidays=0.10.1-3 python3-workalendar=17.0.0-1 python3-convertdate python3-lunardate python3-pyluach \
    python3-pymeeus python3-tz python3-dateutil python3-six >&2
for package in ./*.deb; do dpkg-deb -x "$package" root; done
cat > run.cjs <<'JS'
const {isAHoliday} = require('@18f/us-federal-holidays');
const business = require('business-days-js')();
const banks = require('@date/holidays-us').bank();
const {isBankHoliday} = require('date-fns-holiday-us');
const lists = {
  '@18f/us-federal-holidays': ([y, m, d]) => isAHoliday(new Date(y, m - 1, d)),
  'business-days-js': (day) => !business.check(day.join('-')),
  '@date/holidays-us, bank': ([y, m, d]) => Boolean(banks.isHoliday(new Date(y, m - 1, d))),
  'date-fns-holiday-us, bank': ([y, m, d]) => isBankHoliday(new Date(y, m - 1, d)),
};
for (const [name, closed] of Object.entries(lists)) {
  const [june, july] = [['2026', '06', '19'], ['2026', '07', '03']].map((day) => closed(day) ? 'closed' : 'open');
  console.log(`${name}: 19 June ${june}, 3 July ${july}`);
}
JS
cat > run.py <<'PY'
import datetime
import holidays
from workalendar.usa import FederalReserveSystem
days = datetime.date(2026, 6, 19), datetime.date(2026, 7, 3)
lists = {"python3-holidays": holidays.US(years=2026), "python3-workalendar": dict(FederalReserveSystem().holidays(2026))}
for name, closed in lists.items():
    june, july = ["closed" if day in closed else "open" for day in days]
    print(f"{name}: 19 June {june}, 3 July {july}")
PY
expected='@18f/us-federal-holidays: 19 June closed, 3 July closed
business-days-js: 19 June closed, 3 July closed
@date/holidays-us, bank: 19 June open, 3 July closed
date-fns-holiday-us, bank: 19 June closed, 3 July open
python3-holidays: 19 June open, 3 July closed
python3-workalendar: 19 June closed, 3 July closed'
export TZ=America/New_York
found=$(
    timeout 60 node run.cjs
    PYTHONPATH=root/usr/lib/python3/dist-packages timeout 60 /usr/bin/python3 run.py
)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
