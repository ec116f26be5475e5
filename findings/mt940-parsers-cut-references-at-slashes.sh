#!/usr/bin/env bash
# mt940js 1.3.5, mt940-js 1.0.0, @centrapay/swift-parser 1.0.1 and lib-fints 1.5.0 (npm), reading the references
# of MT940 entries.
#
# Input: credits with the references 2026/0017 and 2026/0018, the first also with a bank's reference, and one
# whose bank's reference has a slash. Field 61 allows a slash in both references: only two slashes separate
# them.
# Behaviour: all four parsers end the customer's reference at its first slash, so both orders are "2026". The
# rest is in no other member, and the bank's reference is lost as well. mt940-js also drops a bank's reference
# with a slash.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent mt940js@1.3.5 mt940-js@1.0.0 tslib@2.8.1 \
    @centrapay/swift-parser@1.0.1 bignumber.js@9.3.1 moment@2.30.1 lib-fints@1.5.0 fast-xml-parser@5.8.0 >&2
printf '%s\r\n' ':20:STATEMENT' ':25:10010010/0000001' ':28C:1/1' ':60F:C260301EUR100,00' \
    ':61:2603020302C5,00NTRF2026/0017//B1' ':86:sale' ':61:2603020302C3,00NTRF2026/0018' ':86:sale' \
    ':61:2603020302C2,00NTRF20260019//B/3' ':86:sale' ':62F:C260302EUR110,00' '-' > statement.940
cat > run.mjs <<'JS'
import {readFileSync} from 'fs';
import {createRequire} from 'module';
import {Mt940Parser} from 'lib-fints';
const require = createRequire(import.meta.url);
const text = readFileSync('statement.940', 'utf8');
const print = (name, own, bank, [{transactions}]) => {
  console.log(`${name}: ${transactions.map((entry) => `${entry[own]} ${entry[bank] || '-'}`).join(', ')}`);
  if (/001[78]/.test(JSON.stringify(transactions))) console.log(`${name}: the rest is in another member`);
};
print('mt940js', 'reference', 'bankReference', new (require('mt940js').Parser)().parse(text));
print('mt940-js', 'customerReference', 'bankReference', await require('mt940-js').read(Buffer.from(text)));
print('swift-parser', 'reference', 'bankReference', require('@centrapay/swift-parser').parse({type: 'mt940', data: text, validate: true}));
print('lib-fints', 'customerReference', 'bankReference', new Mt940Parser(text).parse());
JS
expected='mt940js: 2026 -, 2026 -, 20260019 B/3
mt940-js: 2026 -, 2026 -, 20260019 -
swift-parser: 2026 -, 2026 -, 20260019 B/3
lib-fints: 2026 -, 2026 -, 20260019 B/3'
found=$(timeout 60 node run.mjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
