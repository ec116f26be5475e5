#!/usr/bin/env bash
# jsonparse 1.3.1 (npm), which parses JSON that arrives in pieces.
#
# Input: a list of integers, amounts in minor units, of which one has more than fifteen digits.
# Behaviour: a number that floating point cannot hold becomes a text, with a value of another type than
# its neighbours and no mark. A sum over the list then joins texts. Decimals never become texts: 0.1 with
# twenty digits is rounded.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent jsonparse@1.3.1 >&2
cat > run.cjs <<'JS'
const Parser = require('jsonparse');
const parser = new Parser();
parser.onValue = function (value) {
  if (this.stack.length === 0) {
    console.log(JSON.stringify(value));
    console.log(`sum ${value.reduce((sum, amount) => sum + amount, 0)}`);
  }
};
parser.write('[100, 9007199254740993, 200, 0.12345678901234567890]');
JS
expected='[100,"9007199254740993",200,0.12345678901234568]
sum 10090071992547409932000.12345678901234568'
found=$(timeout 60 node run.cjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
