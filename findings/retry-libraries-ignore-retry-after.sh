#!/usr/bin/env bash
# Nine HTTP libraries of npm that repeat requests: versions below.
#
# Input: a server that answers 503 with "Retry-After: 2" twice, and then 200; a POST where the library's
# options let it retry one, else a PUT.
# Behaviour: seven of the nine do not read the header and come back earlier than they were asked to.
# Five of these repeat a POST as soon as a number of retries is set, ofetch and superagent at once.
# got and ky wait, but do not repeat a POST by default.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent \
    ofetch@1.5.1 superagent@10.4.2 urllib@4.9.2 fetch-retry@6.0.0 gaxios@7.3.1 make-fetch-happen@15.0.6 wretch@2.11.1 got@14.6.6 ky@1.14.3 >&2
cat > run.mjs <<'JS'
import http from 'http';
import {createRequire} from 'module';
import got from 'got';
import ky from 'ky';
import {ofetch} from 'ofetch';
import {request as gaxios} from 'gaxios';
import {request as urllib} from 'urllib';
import wretch from 'wretch';
import {retry} from 'wretch/middlewares';
const require = createRequire(import.meta.url);
const superagent = require('superagent');
const fetchRetry = require('fetch-retry')(fetch);
const makeFetchHappen = require('make-fetch-happen');

let times = [];
const server = http.createServer((request, response) => {
  request.resume().on('end', () => {
    times.push(Date.now());
    response.writeHead(times.length < 3 ? 503 : 200, {'Retry-After': '2', 'Content-Type': 'text/plain'}).end('x');
  });
}).listen(0, '127.0.0.1', async () => {
  const url = `http://127.0.0.1:${server.address().port}/`;
  const post = {method: 'POST', body: 'x'}, put = {method: 'PUT', body: 'x'};
  const calls = {
    'ofetch POST': () => ofetch(url, {...post, retry: 2}),
    'superagent POST': () => superagent.post(url).send('x').retry(2),
    'urllib POST': () => urllib(url, {method: 'POST', content: 'x', retry: 2, retryDelay: 10}),
    'fetch-retry POST': () => fetchRetry(url, {...post, retryOn: [503], retryDelay: 10}),
    'wretch POST': () => wretch(url).middlewares([retry({delayTimer: 10})]).post('x').res(),
    'gaxios PUT': () => gaxios({url, method: 'PUT', data: 'x', retry: true}),
    'make-fetch-happen PUT': () => makeFetchHappen(url, {...put, retry: {retries: 2, minTimeout: 10}}),
    'got PUT': () => got(url, put),
    'ky PUT': () => ky(url, put),
  };
  for (const [name, call] of Object.entries(calls)) {
    times = [];
    await call();
    console.log(`${name}: ${times.length} requests, ${times[1] - times[0] >= 1900 ? 'waited' : 'too early'}`);
  }
  for (const [name, call] of [['got POST', () => got(url, post)], ['ky POST', () => ky(url, post)]]) {
    times = [];
    await call().catch(() => {});
    console.log(`${name}: ${times.length} request`);
  }
  process.exit();
});
JS
expected='ofetch POST: 3 requests, too early
superagent POST: 3 requests, too early
urllib POST: 3 requests, too early
fetch-retry POST: 3 requests, too early
wretch POST: 3 requests, too early
gaxios PUT: 3 requests, too early
make-fetch-happen PUT: 3 requests, too early
got PUT: 3 requests, waited
ky PUT: 3 requests, waited
got POST: 1 request
ky POST: 1 request'
found=$(timeout 60 node run.mjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
