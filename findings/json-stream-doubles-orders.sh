#!/usr/bin/env bash
# json-stream 1.0.0 (npm), next to ndjson 2.0.0, jsonlines 0.1.1 and newline-json 0.1.1, reading NDJSON.
#
# Input: three orders, a line each, from a sender that writes the order and the end of its line at once, from one
# that writes them one after the other, and from a file whose first order ends with the 64 KiB that Node.js reads.
# Behaviour: json-stream returns an order as soon as its chunk ends with it, keeps its text for the next
# chunk, and returns it once more when the end of the line arrives. So the second sender's orders come
# twice, and the file's first. The other three return each order once.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent json-stream@1.0.0 ndjson@2.0.0 jsonlines@0.1.1 newline-json@0.1.1 >&2
cat > run.cjs <<'JS'
const {createReadStream, writeFileSync} = require('fs'), {Readable} = require('stream');
const orders = [1001, 1002, 1003].map((id) => JSON.stringify({id, total: '10.00', note: ''}));
const first = JSON.stringify({id: 1001, total: '10.00', note: 'x'.repeat(65536 - orders[0].length)});
writeFileSync('orders.ndjson', [first, ...orders.slice(1)].map((order) => `${order}\n`).join(''));
const sources = {
  'at once': () => Readable.from(orders.map((order) => Buffer.from(`${order}\n`))),
  'one after the other': () => Readable.from(orders.flatMap((order) => [Buffer.from(order), Buffer.from('\n')])),
  'from a file': () => createReadStream('orders.ndjson'),
};
const readers = {
  'json-stream': () => require('json-stream')(),
  ndjson: () => require('ndjson').parse(),
  jsonlines: () => require('jsonlines').parse(),
  'newline-json': () => new (require('newline-json').Parser)(),
};
(async () => {
  for (const [source, open] of Object.entries(sources)) {
    for (const [reader, make] of Object.entries(readers)) {
      const ids = await new Promise((resolve, reject) => {
        const found = [];
        open().pipe(make()).on('data', ({id}) => found.push(id)).on('end', () => resolve(found)).on('error', reject);
      });
      console.log(`${source}, ${reader}: ${ids.join(' ')}`);
    }
  }
})();
JS
expected='at once, json-stream: 1001 1002 1003
at once, ndjson: 1001 1002 1003
at once, jsonlines: 1001 1002 1003
at once, newline-json: 1001 1002 1003
one after the other, json-stream: 1001 1001 1002 1002 1003 1003
one after the other, ndjson: 1001 1002 1003
one after the other, jsonlines: 1001 1002 1003
one after the other, newline-json: 1001 1002 1003
from a file, json-stream: 1001 1001 1002 1003
from a file, ndjson: 1001 1002 1003
from a file, jsonlines: 1001 1002 1003
from a file, newline-json: 1001 1002 1003'
found=$(timeout 60 node --no-deprecation run.cjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
