#!/usr/bin/env bash
# express-idempotency 1.0.6 with express 5.3.0 (npm).
#
# Input: a payment with an Idempotency-Key, sent twice, then with "1" in place of 1; and another one
# whose handler answers with res.end().
# Behaviour: the second request gets the stored answer, and then the handler runs as well, unless it
# asks isHit() itself: the client sees one payment, and two were made. A body whose number became a text
# counts as the same. An answer that res.end() wrote is not stored, and its key answers 409 from then on.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent express-idempotency@1.0.6 express@5.3.0 >&2
cat > run.cjs <<'JS'
const express = require('express');
const {idempotency} = require('express-idempotency');
const app = express();
let payments = 0;
app.use(express.json(), idempotency());
app.post('/json', (request, response) => {
  ++payments;
  response.headersSent || response.json({payment: payments});
});
app.post('/end', (request, response) => {
  response.headersSent || response.end('paid');
});
app.use((error, request, response, next) => response.send(error.message));
const server = app.listen(0, '127.0.0.1', async () => {
  for (const [path, key, amount] of [['json', 'k1', 1], ['json', 'k1', 1], ['json', 'k1', '1'], ['end', 'k2', 1], ['end', 'k2', 1]]) {
    const answer = await fetch(`http://127.0.0.1:${server.address().port}/${path}`, {method: 'POST',
      headers: {'Idempotency-Key': key, 'Content-Type': 'application/json'}, body: JSON.stringify({amount})});
    console.log(`${path} ${JSON.stringify(amount)}: ${answer.status} ${await answer.text()}, payments ${payments}`);
  }
  server.close();
  server.closeAllConnections();
});
JS
expected='json 1: 200 {"payment":1}, payments 1
json 1: 200 {"payment":1}, payments 2
json "1": 200 {"payment":1}, payments 3
end 1: 200 paid, payments 3
end 1: 409 A previous request is still in progress for this key., payments 3'
found=$(timeout 60 node run.cjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
