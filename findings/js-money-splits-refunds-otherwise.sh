#!/usr/bin/env bash
# js-money 0.6.3 and ts-money 0.4.8, with dinero.js 2.0.2 beside them (npm).
#
# Input: a commission of 1.00 EUR for four creators in the ratio 70 : 20 : 10 : 1, and its refund, -1.00.
# Behaviour: both libraries round each part down, and give what is left to the first. Below zero "down"
# is away from zero, so the refund is not the mirror of the sale: after both, the first creator keeps a
# cent, and the last owes one that was never paid. dinero.js splits both alike.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent js-money@0.6.3 ts-money@0.4.8 dinero.js@2.0.2 >&2
cat > run.mjs <<'JS'
import {createRequire} from 'module';
import {allocate, dinero, toSnapshot, EUR} from 'dinero.js';
const require = createRequire(import.meta.url);
const Js = require('js-money'), Ts = require('ts-money').Money;
const ratio = [70, 20, 10, 1];
const libraries = {
  'js-money': (cents) => new Js(cents, 'EUR').allocate(ratio).map(({amount}) => amount),
  'ts-money': (cents) => new Ts(cents, 'EUR').allocate(ratio).map(({amount}) => amount),
  'dinero.js': (cents) => allocate(dinero({amount: cents, currency: EUR}), ratio).map((part) => toSnapshot(part).amount),
};
for (const [name, split] of Object.entries(libraries)) {
  const sale = split(100), refund = split(-100);
  console.log(`${name}: sale ${sale}, refund ${refund}, left ${sale.map((part, i) => part + refund[i])}`);
}
JS
expected='js-money: sale 70,20,10,0, refund -69,-20,-10,-1, left 1,0,0,-1
ts-money: sale 70,20,10,0, refund -69,-20,-10,-1, left 1,0,0,-1
dinero.js: sale 70,20,10,0, refund -70,-20,-10,0, left 0,0,0,0'
found=$(timeout 60 node run.mjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
