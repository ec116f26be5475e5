#!/usr/bin/env bash
# smee-client 5.0.0 (npm), which forwards webhooks of a channel to a program on the developer's machine.
#
# Input: a channel's events as smee.io sends them, with the body of an order as a shop writes it: with a long id, with
# a total of 10.50, with a slash that PHP escapes, and as it leaves JSON.stringify; then a ping of a form, and a query
# with the same name twice.
# Behaviour: the client reads the body and writes it anew, so only the last of the four orders has the signature
# that came with it. The id of the first is that of another order, and the second's total is 10.5. The form arrives
# as JSON, under that type, and the two values of the query as one.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent smee-client@5.0.0 >&2
cat > run.mjs <<'JS'
import {createHmac} from 'crypto';
import http from 'http';
import Client from 'smee-client';
const sign = (body) => createHmac('sha256', 'secret').update(body).digest('base64');
const json = {'content-type': 'application/json'};
const events = [
  {headers: json, body: '{"id":820982911946154508,"total":"10.50"}'},
  {headers: json, body: '{"id":1002,"total":10.50}'},
  {headers: json, body: '{"id":1003,"url":"https:\\/\\/shop.example\\/1003"}'},
  {headers: json, body: '{"id":1004,"total":"10.50"}'},
  {headers: {'content-type': 'application/x-www-form-urlencoded'}, body: 'webhook_id=5', parsed: '{"webhook_id":"5"}'},
  {headers: json, body: '{"id":1006}', query: {tag: ['a', 'b']}},
];
let next = 0, message;
const server = http.createServer((request, response) => {
  if (request.url === '/channel') {
    response.writeHead(200, {'Content-Type': 'text/event-stream'}).write('event: ready\ndata: {}\n\n');
    message = (text) => response.write(`id: ${next}\ndata: ${text}\n\n`);
    send();
    return;
  }
  let body = '';
  request.on('data', (data) => body += data).on('end', () => {
    response.end();
    const event = events[next];
    console.log(`${event.body}${event.query ? ` ?tag=${event.query.tag.join('&tag=')}` : ''}: ${body}${request.url.replace('/orders', ' ').trimEnd()}, ` +
      `${request.headers['content-type']}, signature ${request.headers['x-signature'] === sign(body) ? 'fits' : 'does not fit'}`);
    next += 1;
    if (next < events.length) send();
    else process.exit();
  });
}).listen(0, '127.0.0.1', () => {
  const place = `http://127.0.0.1:${server.address().port}`;
  new Client({source: `${place}/channel`, target: `${place}/orders`, logger: {info() {}, error: console.error}}).start();
});
const send = () => {
  const {headers, body, parsed = body, query = {}} = events[next];
  message(JSON.stringify({...headers, 'x-signature': sign(body), query, timestamp: 1772366400000}).replace('{', `{"body":${parsed},`));
};
JS
expected='{"id":820982911946154508,"total":"10.50"}: {"id":820982911946154500,"total":"10.50"}, application/json, signature does not fit
{"id":1002,"total":10.50}: {"id":1002,"total":10.5}, application/json, signature does not fit
{"id":1003,"url":"https:\/\/shop.example\/1003"}: {"id":1003,"url":"https://shop.example/1003"}, application/json, signature does not fit
{"id":1004,"total":"10.50"}: {"id":1004,"total":"10.50"}, application/json, signature fits
webhook_id=5: {"webhook_id":"5"}, application/json, signature does not fit
{"id":1006} ?tag=a&tag=b: {"id":1006} ?tag=a%2Cb, application/json, signature fits'
found=$(NO_PROXY=127.0.0.1 no_proxy=127.0.0.1 timeout 60 node --no-warnings run.mjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
