#!/usr/bin/env bash
# edifact 1.2.12 (npm), whose Reader turns UN/EDIFACT messages into arrays.
#
# Input: an order whose UNA names the comma as decimal mark: 2,5 units at 1199,80, their total of 2999,50, a refund of
# -19,99 and a discount of 12,5 %.
# Behaviour: the documentation says that numbers get a point. Its table of elements has prices (5118) and percentages
# (5482) as numbers, and amounts of money (5004) as texts, which the directory D.01B has as numbers: next to "1199.80"
# there is "2999,50", which parseFloat reads as 2999 and Number as NaN, and "-19,99", which is -19. Quantities keep
# their comma too. A tool that was tested with points reads all of them.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent edifact@1.2.12 >&2
cat > run.cjs <<'JS'
const {Reader} = require('edifact');
const order = (mark) => [`UNA:+${mark}? `, 'UNB+UNOC:3+SHOP:14+MAKER:14+260301:1300+1', 'UNH+1+ORDERS:D:01B:UN', 'BGM+220+17+9',
  'LIN+1++4006381333931:EN', 'QTY+21:2_5', 'PRI+AAA:1199_80', 'PCD+1:12_5', 'MOA+203:2999_50', 'MOA+204:-19_99', 'UNS+S',
  'UNT+10+1', 'UNZ+1+1', ''].join("'").replaceAll('_', mark);
for (const mark of ['.', ',']) {
  const segments = new Reader().parse(order(mark));
  const numbers = segments.filter(({name}) => /^(QTY|PRI|PCD|MOA)$/.test(name));
  console.log(numbers.map(({name, elements: [[, text]]}) => `${name} "${text}" ${Number.parseFloat(text)}`).join(', '));
}
JS
expected='QTY "2.5" 2.5, PRI "1199.80" 1199.8, PCD "12.5" 12.5, MOA "2999.50" 2999.5, MOA "-19.99" -19.99
QTY "2,5" 2, PRI "1199.80" 1199.8, PCD "12.5" 12.5, MOA "2999,50" 2999, MOA "-19,99" -19'
found=$(timeout 60 node run.cjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
