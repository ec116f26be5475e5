#!/usr/bin/env bash
# parse-duration 2.1.9 (npm).
#
# Input: durations as ISO 8601 writes them, and hours with a decimal comma.
# Behaviour: text that is not a unit is passed over, and capital letters count as small ones. So a
# clearing period of P1M, one month, is one minute, P1Y6M is a year and six minutes, while P14D and
# PT5M are right. A comma separates thousands: 1,5h is fifteen hours.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent parse-duration@2.1.9 >&2
cat > run.mjs <<'JS'
import parse from 'parse-duration';
for (const text of ['P14D', 'PT5M', 'P1M', 'P1Y6M', '1.5h', '1,5h']) {
  console.log(`${text}: ${parse(text, 'm')} minutes`);
}
JS
expected='P14D: 20160 minutes
PT5M: 5 minutes
P1M: 1 minutes
P1Y6M: 525966 minutes
1.5h: 90 minutes
1,5h: 900 minutes'
found=$(timeout 60 node run.mjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
