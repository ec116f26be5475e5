#!/usr/bin/env bash
# nginx 1.22.1 (Debian 12: 1.22.1-9+deb12u11), its directive empty_gif, which serves the pixel of a page or mail whose
# views are to be counted, and three HTTP caches of npm: got 14.6.6, undici 7.30.2 and make-fetch-happen 15.0.6.
#
# Input: the pixel of a creator, fetched five times through a cache with its default rules, from a location with
# empty_gif alone and from one with "expires -1".
# Behaviour: empty_gif sends a Last-Modified of 1970 and nothing else about caching. Where a server says nothing, HTTP
# (RFC 9111) lets a cache take a tenth of the age as the lifetime, which is more than five years here. So the log has
# one view of five. With "expires -1" it has all five.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq nginx=1.22.1-9+deb12u11 libpcre2-8-0 libssl3 zlib1g libcrypt1 >&2
for package in ./*.deb; do dpkg-deb -x "$package" root; done
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent got@14.6.6 undici@7.30.2 make-fetch-happen@15.0.6 \
    http-cache-semantics@4.2.0 >&2
cat > nginx.conf.in <<CONF
daemon off;
master_process off;
pid pid;
error_log error.log;
events {}
http {
    log_format views '\$request_uri';
    access_log views.log views;
    client_body_temp_path a;
    proxy_temp_path b;
    fastcgi_temp_path c;
    uwsgi_temp_path d;
    scgi_temp_path e;
    server {
        listen 127.0.0.1:PORT;
        location /default/ {
            empty_gif;
        }
        location /expires/ {
            empty_gif;
            expires -1;
        }
    }
}
CONF
cat > run.mjs <<'JS'
import {spawn} from 'child_process';
import {readFileSync, writeFileSync} from 'fs';
import net from 'net';
import Policy from 'http-cache-semantics';
import fetcher from 'make-fetch-happen';
import got from 'got';
import {Agent, interceptors, request} from 'undici';
const sleep = (time) => new Promise((resolve) => setTimeout(resolve, time));
const port = await new Promise((resolve) => {
  const server = net.createServer().listen(0, '127.0.0.1', () => {
    const {port} = server.address();
    server.close(() => resolve(port));
  });
});
writeFileSync('nginx.conf', readFileSync('nginx.conf.in', 'utf8').replace('PORT', port));
const environment = {...process.env, LD_LIBRARY_PATH: 'root/usr/lib/x86_64-linux-gnu:root/lib/x86_64-linux-gnu'};
const nginx = spawn('timeout', ['50', 'root/usr/sbin/nginx', '-p', '.', '-c', 'nginx.conf'], {env: environment, stdio: 'ignore'});
nginx.on('exit', () => process.exit());
const cache = new Map(), dispatcher = new Agent().compose(interceptors.cache()), fetchCached = fetcher.defaults({cachePath: 'cache'});
const caches = {
  got: (address) => got(address, {cache}),
  undici: async (address) => (await request(address, {dispatcher})).body.dump(),
  'make-fetch-happen': async (address) => (await fetchCached(address)).buffer(),
};
try {
  let first;
  while (!first) {
    await sleep(50);
    first = await fetch(`http://127.0.0.1:${port}/default/anna.gif`).catch(() => {});
  }
  const headers = Object.fromEntries(['last-modified', 'cache-control', 'expires', 'etag'].map((name) => [name, first.headers.get(name)]));
  console.log(Object.entries(headers).map(([name, value]) => `${name}: ${value}`).join(', '));
  const policy = new Policy({url: '/', method: 'GET', headers: {}}, {status: 200, headers: {date: first.headers.get('date'), 'last-modified': headers['last-modified']}});
  console.log(`fresh for five years: ${policy.timeToLive() > 5 * 365 * 86400000}`);
  for (const place of ['default', 'expires']) {
    for (const [name, view] of Object.entries(caches)) {
      const path = `/${place}/${name}.gif?ref=anna`;
      for (let views = 0; views < 5; views += 1) {
        await view(`http://127.0.0.1:${port}${path}`);
        await sleep(50);
      }
      console.log(`${place}, ${name}: ${readFileSync('views.log', 'utf8').split('\n').filter((line) => line === path).length} of 5`);
    }
  }
} finally {
  nginx.kill();
}
JS
expected='last-modified: Mon, 28 Sep 1970 06:00:00 GMT, cache-control: null, expires: null, etag: null
fresh for five years: true
default, got: 1 of 5
default, undici: 1 of 5
default, make-fetch-happen: 1 of 5
expires, got: 5 of 5
expires, undici: 5 of 5
expires, make-fetch-happen: 5 of 5'
found=$(timeout 60 node run.mjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
