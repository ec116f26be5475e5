#!/usr/bin/env bash
# sqids 0.3.0 and hashids 2.3.0 (npm), which make the codes of short links out of numbers.
#
# Input: all codes of two characters, and numbers that are not whole or below zero.
# Behaviour: sqids gives link 1 one code, and decodes 62 codes of two characters to it, so a mistyped or
# guessed link counts for the creator as well, unless the code is encoded again and compared; hashids does
# that itself and decodes one. For -1 and 1.5 sqids throws, and hashids returns an empty text, which is
# the address of the folder of all links.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent sqids@0.3.0 hashids@2.3.0 >&2
cat > run.mjs <<'JS'
import Hashids from 'hashids';
import Sqids from 'sqids';
const letters = [...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'];
const codes = letters.flatMap((first) => letters.map((second) => first + second));
const sqids = new Sqids(), hashids = new Hashids();
const coder = {
  sqids: {encode: (number) => sqids.encode([number]), decode: (code) => sqids.decode(code)},
  hashids: {encode: (number) => hashids.encode(number), decode: (code) => hashids.decode(code)},
};
for (const [name, {encode, decode}] of Object.entries(coder)) {
  console.log(`${name}: ${codes.filter((code) => decode(code).join() === '1').length} codes are 1`);
  for (const number of [-1, 1.5]) {
    let code;
    try {
      code = JSON.stringify(encode(number));
    } catch {
      code = 'refused';
    }
    console.log(`${name}: the code of ${number} is ${code}`);
  }
}
JS
expected='sqids: 62 codes are 1
sqids: the code of -1 is refused
sqids: the code of 1.5 is refused
hashids: 1 codes are 1
hashids: the code of -1 is ""
hashids: the code of 1.5 is ""'
found=$(timeout 60 node run.mjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
