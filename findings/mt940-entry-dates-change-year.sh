#!/usr/bin/env bash
# mt940js 1.3.5, mt940-js 1.0.0, swiftmessageparser 1.2.1 and @centrapay/swift-parser 1.0.1 (npm).
#
# Input: an MT940 statement over the end of a year. Its field 61 has the value date with a year, and
# the entry date without one: 241231 and 0101, 250101 and 1231.
# Behaviour: all four give the entry date the value date's year instead of the nearest one. What was
# entered on the first day of 2025 moves to the first day of 2024, before the account's opening
# balance, and the entry of 31 December 2024 moves a year ahead.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent mt940js@1.3.5 mt940-js@1.0.0 tslib@2.8.1 \
    swiftmessageparser@1.2.1 @centrapay/swift-parser@1.0.1 >&2
printf '%s\r\n' ':20:STATEMENT' ':25:10010010/0000001' ':28C:1/1' ':60F:C241230EUR100,00' \
    ':61:2412310101C2,00NTRFFIRST' ':86:entered a day after the value date' \
    ':61:2501011231C3,00NTRFSECOND' ':86:entered a day before the value date' \
    ':62F:C250101EUR105,00' '-' > statement.940
cat > run.cjs <<'JS'
const fs = require('fs');
const text = fs.readFileSync('statement.940', 'utf8');
const {Parser} = require('mt940js');
const day = (moment) => new Date(moment).toISOString().slice(0, 10);
const print = (name, rows) => console.log(`${name}: ${rows.map((row) => day(row.entryDate)).join(', ')}`);
(async () => {
  print('mt940js', new Parser().parse(text)[0].transactions);
  print('mt940-js', (await require('mt940-js').read(Buffer.from(text)))[0].transactions);
  for (const name of ['swiftmessageparser', '@centrapay/swift-parser']) {
    print(name, require(name).parse({type: 'mt940', data: text})[0].transactions);
  }
})();
JS
expected='mt940js: 2024-01-01, 2025-12-31
mt940-js: 2024-01-01, 2025-12-31
swiftmessageparser: 2024-01-01, 2025-12-31
@centrapay/swift-parser: 2024-01-01, 2025-12-31'
found=$(timeout 60 node run.cjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
