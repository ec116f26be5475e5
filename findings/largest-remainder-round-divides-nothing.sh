#!/usr/bin/env bash
# largest-remainder-round 1.1.0 (npm), which divides a total by the largest remainders.
#
# Input: shares of 70 and 30, and commissions of 1000, 1 and 0 cents, for numbers and for objects.
# Behaviour: the default total of 100 also replaces a total of 0, so the commission of an order that was
# refunded as a whole is divided as if it were 100: 70 and 30 cents, without an error.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent largest-remainder-round@1.1.0 >&2
cat > run.cjs <<'JS'
require('largest-remainder-round');
for (const cents of [1000, 1, 0]) {
  const objects = [{share: 70}, {share: 30}].spread({prop: 'share', spreadTo: 'part', seats: cents});
  console.log(`${cents}: ${[70, 30].spread(cents)}, with two digits ${[70, 30].spread(cents, 2)}, of objects ${objects.map(({part}) => part)}`);
}
JS
expected='1000: 700,300, with two digits 700,300, of objects 700,300
1: 1,0, with two digits 0.7,0.3, of objects 1,0
0: 70,30, with two digits 70,30, of objects 70,30'
found=$(timeout 60 node run.cjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
