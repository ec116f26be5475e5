#!/usr/bin/env bash
# standardwebhooks 1.1.1 and svix 1.99.1 (npm), verifying a correctly signed message.
#
# Input: the headers as Node's http module gives them, and as the Headers object that fetch, Hono, Next.js
# and Workers give; a body with an integer of 20 digits.
# Behaviour: a Headers object has no own members, so both libraries raise "Missing required headers" for
# headers that are there, and the receiver looks for the fault at the sender. Object.fromEntries(headers)
# mends it. The result is the parsed body, in which floating point has changed the integer: read the text
# that was verified instead.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent standardwebhooks@1.1.1 svix@1.99.1 >&2
cat > run.cjs <<'JS'
const secret = 'whsec_' + Buffer.alloc(24, 1).toString('base64');
const body = '{"id":12345678901234567890}';
for (const name of ['standardwebhooks', 'svix']) {
  const webhook = new (require(name).Webhook)(secret);
  const now = new Date();
  const plain = {'webhook-id': 'm1', 'webhook-timestamp': String(Math.floor(now / 1000)), 'webhook-signature': webhook.sign('m1', now, body)};
  for (const [form, headers] of [['plain', plain], ['Headers', new Headers(plain)], ['entries', Object.fromEntries(new Headers(plain))]]) {
    try {
      console.log(`${name}, ${form}: ${JSON.stringify(webhook.verify(body, headers))}`);
    } catch (error) {
      console.log(`${name}, ${form}: ${error.message}`);
    }
  }
}
JS
expected='standardwebhooks, plain: {"id":12345678901234567000}
standardwebhooks, Headers: Missing required headers
standardwebhooks, entries: {"id":12345678901234567000}
svix, plain: {"id":12345678901234567000}
svix, Headers: Missing required headers
svix, entries: {"id":12345678901234567000}'
found=$(timeout 60 node run.cjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
