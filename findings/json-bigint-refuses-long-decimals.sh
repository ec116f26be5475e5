#!/usr/bin/env bash
# json-bigint 1.0.0 (npm), with its option useNativeBigInt.
#
# Input: amounts as JSON numbers with a point, of fifteen and of sixteen characters.
# Behaviour: a number of more than fifteen characters counts as a big integer although it has a point,
# and the whole document is refused. So a document is readable or not depending on an amount: 99999999.999999
# passes, and 999999999.999999, as a ledger with six decimals writes it, does not. Without the option it is
# an object of another type than 1.5, whose sum with a number is a text.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent json-bigint@1.0.0 >&2
cat > run.cjs <<'JS'
const plain = require('json-bigint');
const native = plain({useNativeBigInt: true});
for (const amount of ['99999999.999999', '999999999.999999']) {
  for (const [name, reader] of [['native', native], ['plain', plain]]) {
    try {
      const value = reader.parse(`{"amount":${amount}}`).amount;
      console.log(`${name} ${amount}: ${typeof value}, plus 1 is ${JSON.stringify(value + 1)}`);
    } catch (error) {
      console.log(`${name} ${amount}: ${error.name}`);
    }
  }
}
JS
expected='native 99999999.999999: number, plus 1 is 100000000.999999
plain 99999999.999999: number, plus 1 is 100000000.999999
native 999999999.999999: SyntaxError
plain 999999999.999999: object, plus 1 is "999999999.9999991"'
found=$(timeout 60 node run.cjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
