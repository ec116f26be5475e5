#!/usr/bin/env bash
# currency.js 2.0.4, @audius/fixed-decimal 0.2.1, money-math 2.6.3, parse-money 1.0.12,
# @rc-component/mini-decimal 1.1.4, js-big-decimal 2.2.0 and bigdecimal.js 1.3.1 (npm).
#
# Input: one thousand as exact decimal types of Java and JavaScript print it after the zeros were
# stripped, 1E+3, and as JSON allows it, 1e3.
# Behaviour: one library prints this form, and five others read it as another amount without an
# error. Letters are deleted, so 13 remains (currency.js, parse-money); the power is divided away
# (fixed-decimal: 1); the letter's character code is added (money-math: 2.43); or nothing remains
# (mini-decimal, for 1E+3 alone). js-big-decimal reads both.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent currency.js@2.0.4 @audius/fixed-decimal@0.2.1 \
    money-math@2.6.3 parse-money@1.0.12 @rc-component/mini-decimal@1.1.4 js-big-decimal@2.2.0 bigdecimal.js@1.3.1 >&2
cat > run.cjs <<'JS'
const currency = require('currency.js');
const {FixedDecimal} = require('@audius/fixed-decimal');
const math = require('money-math');
const parse = require('parse-money').default;
const mini = require('@rc-component/mini-decimal').default;
const big = require('js-big-decimal');
const {Big} = require('bigdecimal.js');
console.log(`bigdecimal.js prints 1000 as ${Big('1000').stripTrailingZeros()}`);
const readers = {
  'currency.js': (text) => currency(text).value,
  'fixed-decimal': (text) => new FixedDecimal(text).toString(),
  'money-math': (text) => math.add(text, '0.00'),
  'parse-money': (text) => parse(`${text} €`).amount,
  'mini-decimal': (text) => JSON.stringify(mini(text).toString()),
  'js-big-decimal': (text) => (big.default ?? big).add(text, '0'),
};
for (const [name, read] of Object.entries(readers)) {
  const cells = ['1e3', '1E+3'].map((text) => {
    try {
      return `${text} ${read(text)}`;
    } catch {
      return `${text} refused`;
    }
  });
  console.log(`${name}: ${cells.join(', ')}`);
}
JS
expected='bigdecimal.js prints 1000 as 1E+3
currency.js: 1e3 13, 1E+3 13
fixed-decimal: 1e3 1, 1E+3 refused
money-math: 1e3 2.43, 1E+3 2.43
parse-money: 1e3 13, 1E+3 13
mini-decimal: 1e3 "1000", 1E+3 ""
js-big-decimal: 1e3 1000, 1E+3 1000'
found=$(timeout 60 node run.cjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
