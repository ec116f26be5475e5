#!/usr/bin/env bash
# date-holidays 3.37.0 (npm), the holidays of 2024 whose type is "bank".
#
# Input: Germany, Great Britain, the USA and the Netherlands.
# Behaviour: "bank" does not mean days on which banks are closed, but those on which only they are. Great
# Britain and the USA have none, and Germany has two, without 3 October and Christmas Day, which are
# "public". A payment date that is moved off days of the type "bank" stays on nearly every real one.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent date-holidays@3.37.0 >&2
cat > run.cjs <<'JS'
const Holidays = require('date-holidays');
for (const country of ['DE', 'GB', 'US', 'NL']) {
  const days = new Holidays(country).getHolidays(2024);
  const banks = days.filter(({type}) => type === 'bank').map(({date}) => date.slice(0, 10));
  const christmas = days.find(({date}) => date.startsWith('2024-12-25'));
  console.log(`${country}: bank ${banks.join(', ') || 'none'}; 25 December ${christmas.type}`);
}
JS
expected='DE: bank 2024-12-24, 2024-12-31; 25 December public
GB: bank none; 25 December public
US: bank none; 25 December public
NL: bank 2024-12-31; 25 December public'
found=$(timeout 60 node run.cjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
