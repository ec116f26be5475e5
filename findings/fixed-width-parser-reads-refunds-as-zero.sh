#!/usr/bin/env bash
# fixed-width-parser 3.0.0 (npm), which writes and reads rows of columns with fixed widths.
#
# Input: a refund and a sale without a point, whose last two digits are cents by default, as banks write them, and
# amounts that the library writes and reads with the same settings.
# Behaviour: the reader puts zeros in front of a minus that does not stand in the first column, and returns 0 for what
# is then no number, so refunds of 19.99 disappear. A written integer gets neither a point nor zeros: 100 is read as
# 1, next to 19.99, which is right. With insertDecimal: false 10.5 is written as 105, which is 1.05.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent fixed-width-parser@3.0.0 date-fns@2.30.0 >&2
cat > run.cjs <<'JS'
const {FixedWidthParser} = require('fixed-width-parser');
const parser = (options) => new FixedWidthParser([{type: 'float', name: 'amount', start: 0, width: 8, ...options}]);
for (const text of ['    1999', '   -1999', '-0001999', '  -19.99']) {
  console.log(`"${text}" is read as ${parser().parse(text)[0].amount}`);
}
for (const options of [{}, {insertDecimal: false}]) {
  for (const amount of [19.99, 10.5, 100]) {
    const text = parser(options).unparse([{amount}]);
    console.log(`${amount} is written as "${text}" and read as ${parser(options).parse(text)[0].amount}`);
  }
}
JS
expected='"    1999" is read as 19.99
"   -1999" is read as 0
"-0001999" is read as -19.99
"  -19.99" is read as -19.99
19.99 is written as "   19.99" and read as 19.99
10.5 is written as "    10.5" and read as 10.5
100 is written as "     100" and read as 1
19.99 is written as "    1999" and read as 19.99
10.5 is written as "     105" and read as 1.05
100 is written as "     100" and read as 1'
found=$(timeout 60 node run.cjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
