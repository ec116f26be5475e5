#!/usr/bin/env bash
# hare-niemeyer 3.0.0 (npm), which divides whole units by the largest remainders.
#
# Input: cents for creators with equal shares, with the default, which draws lots between equal remainders.
# Behaviour: after each tied unit that it gives, the loop compares the count of those given with the units
# that are then left, so it stops halfway: of 10 cents four creators get 9, and of 1004 cents eight get 1002.
# A single tied unit is given. The lots are not used, because the function that shuffles returns a new list:
# in every run the creators that stand first in the object get these cents.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent hare-niemeyer@3.0.0 lodash@4.17.21 >&2
cat > run.mjs <<'JS'
import divide from 'hare-niemeyer';
for (const [creators, cents] of [[3, 100], [4, 10], [8, 1004]]) {
  const shares = Object.fromEntries(Array.from({length: creators}, (_, index) => [`creator-${index}`, 1]));
  const results = new Set(Array.from({length: 20}, () => Object.values(divide(shares, cents)).join(' ')));
  const sums = new Set([...results].map((result) => result.split(' ').reduce((sum, part) => sum + Number(part), 0)));
  console.log(`${cents} for ${creators}: ${[...sums]}, as ${[...results].join(' or ')}`);
}
JS
expected='100 for 3: 100, as 34 33 33
10 for 4: 9, as 3 2 2 2
1004 for 8: 1002, as 126 126 125 125 125 125 125 125'
found=$(timeout 60 node run.mjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
