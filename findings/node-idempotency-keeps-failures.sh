#!/usr/bin/env bash
# @node-idempotency/core 1.0.11 with @node-idempotency/storage-adapter-memory 1.0.2 (npm).
#
# Input: a request with an Idempotency-Key that was answered 503, then the same request, then the same
# JSON with its members in another order.
# Behaviour: the 503 is stored like a success, and every retry gets it for the 24 hours that keys are
# kept, so a client that waits and retries never succeeds. The other order is another request: "already
# used".
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent @node-idempotency/core@1.0.11 @node-idempotency/storage-adapter-memory@1.0.2 >&2
cat > run.cjs <<'JS'
const {Idempotency} = require('@node-idempotency/core');
const {MemoryStorageAdapter} = require('@node-idempotency/storage-adapter-memory');
const {IDEMPOTENCY_CACHE_TTL_MS} = require('@node-idempotency/core/dist/constants.js');
const keys = new Idempotency(new MemoryStorageAdapter(), {});
const request = (body) => ({headers: {'idempotency-key': 'k1'}, path: '/pay', method: 'POST', body});
(async () => {
  console.log(`first: ${await keys.onRequest(request({amount: 1, currency: 'EUR'}))}`);
  await keys.onResponse(request({amount: 1, currency: 'EUR'}), {body: 'busy', additional: {statusCode: 503}});
  console.log(`retry: ${JSON.stringify(await keys.onRequest(request({amount: 1, currency: 'EUR'})))}`);
  await keys.onRequest(request({currency: 'EUR', amount: 1})).catch((error) => console.log(`other order: ${error.message}`));
  console.log(`kept for ${IDEMPOTENCY_CACHE_TTL_MS / 3600000} hours`);
})();
JS
expected='first: undefined
retry: {"body":"busy","additional":{"statusCode":503}}
other order: Idempotency-Key is already used
kept for 24 hours'
found=$(timeout 60 node run.cjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
