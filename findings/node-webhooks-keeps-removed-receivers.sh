#!/usr/bin/env bash
# node-webhooks 1.4.2 (npm), which sends events to the addresses that are stored for them.
#
# Input: one address for the events paid and refunded, from which paid is removed, and another for paid alone, which
# is added and removed likewise.
# Behaviour: the functions that send are kept by address alone, so the second event's function takes the place of
# the first one's. remove() then looks for the wrong one: it answers true, the stored list has no address for paid
# any more, and each paid order is still sent there until the program starts anew. An address with one event is
# removed as it should be.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent node-webhooks@1.4.2 >&2
cat > run.cjs <<'JS'
const http = require('http'), Webhooks = require('node-webhooks');
let received = [];
const server = http.createServer((request, response) => {
  let body = '';
  request.on('data', (data) => body += data).on('end', () => {
    received.push(`${request.url} ${body}`);
    response.end();
  });
}).listen(0, '127.0.0.1', async () => {
  const place = `http://127.0.0.1:${server.address().port}`;
  const show = async (name, hooks, events) => {
    received = [];
    const answers = events.map(() => new Promise((resolve) => hooks.getEmitter().once('*.success', resolve)));
    for (const event of events) hooks.trigger(event, {event});
    await Promise.race([Promise.all(answers), new Promise((resolve) => setTimeout(resolve, 1000))]);
    const stored = JSON.stringify(await hooks.getDB()).replaceAll(place, '');
    console.log(`${name}: stored ${stored}, received ${received.sort().join(', ') || 'nothing'}`);
  };
  const hooks = new Webhooks({db: {}});
  await hooks.add('paid', `${place}/both`);
  await hooks.add('refunded', `${place}/both`);
  await show('two events', hooks, ['paid']);
  console.log(`removed: ${await hooks.remove('paid', `${place}/both`)}`);
  await show('two events', hooks, ['paid']);
  await show('read anew', new Webhooks({db: await hooks.getDB()}), ['paid']);
  const single = new Webhooks({db: {}});
  await single.add('paid', `${place}/one`);
  await show('one event', single, ['paid']);
  console.log(`removed: ${await single.remove('paid', `${place}/one`)}`);
  await show('one event', single, ['paid']);
  process.exit();
});
JS
expected='two events: stored {"paid":["/both"],"refunded":["/both"]}, received /both {"event":"paid"}
removed: true
two events: stored {"paid":[],"refunded":["/both"]}, received /both {"event":"paid"}
read anew: stored {"paid":[],"refunded":["/both"]}, received nothing
one event: stored {"paid":["/one"]}, received /one {"event":"paid"}
removed: true
one event: stored {"paid":[]}, received nothing'
found=$(NO_PROXY=127.0.0.1 no_proxy=127.0.0.1 timeout 60 node --no-deprecation run.cjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
