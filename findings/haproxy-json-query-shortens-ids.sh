#!/usr/bin/env bash
# HAProxy 2.6.12 (Debian 12: 2.6.12-1+deb12u4), its converter json_query.
#
# Input: bodies of orders with an integer as id and a decimal number as total, read as text and as 'int'.
# Behaviour: read as text, a number keeps six digits, so an id becomes 1.23457e+06 and is the same for the orders
# 1234567 and 1234568, wherever it goes: a log, a header, a key. 'int' keeps the id, and cuts the total. Of
# numbers in quotes nothing is lost.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq haproxy=2.6.12-1+deb12u4 liblua5.3-0 libopentracing-c-wrapper0 libopentracing1 libpcre2-8-0 libssl3 libcrypt1 libsystemd0 \
    libcap2 libgcrypt20 libgpg-error0 liblzma5 libzstd1 liblz4-1 >&2
for package in ./*.deb; do dpkg-deb -x "$package" root; done
cat > haproxy.cfg <<CONF
defaults
    mode http
    timeout client 5s
    timeout connect 5s
    timeout server 5s
frontend orders
    bind unix@$folder/orders.sock
    option http-buffer-request
    http-request set-var(txn.id) req.body,json_query('\$.id')
    http-request set-var(txn.id_int) req.body,json_query('\$.id','int')
    http-request set-var(txn.total) req.body,json_query('\$.total')
    http-request set-var(txn.total_int) req.body,json_query('\$.total','int')
    http-request return status 200 content-type text/plain lf-string "%[var(txn.id)] / %[var(txn.id_int)], %[var(txn.total)] / %[var(txn.total_int)]"
CONF
cat > run.cjs <<'JS'
const http = require('http'), {spawn} = require('child_process'), {existsSync} = require('fs');
const environment = {...process.env, LD_LIBRARY_PATH: 'root/usr/lib/x86_64-linux-gnu:root/lib/x86_64-linux-gnu'};
const haproxy = spawn('timeout', ['50', 'root/usr/sbin/haproxy', '-f', 'haproxy.cfg', '-db', '-q'], {env: environment, stdio: ['ignore', 2, 2]});
const send = (body) => new Promise((resolve, reject) => {
  http.request({socketPath: 'orders.sock', method: 'POST', headers: {'Content-Length': Buffer.byteLength(body)}}, (response) => {
    let text = '';
    response.on('data', (data) => text += data).on('end', () => {
      console.log(`${body}: ${text}`);
      resolve();
    });
  }).on('error', reject).end(body);
});
(async () => {
  while (!existsSync('orders.sock')) await new Promise((resolve) => setTimeout(resolve, 50));
  for (const body of ['{"id":123456,"total":19.99}', '{"id":1234567,"total":1234.567}', '{"id":1234568,"total":1234567.89}',
    '{"id":5512345678901,"total":12345.67}', '{"id":"1234567","total":"1234567.89"}']) await send(body);
})().finally(() => {
  haproxy.on('exit', () => process.exit()).kill();
});
JS
expected='{"id":123456,"total":19.99}: 123456 / 123456, 19.99 / 19
{"id":1234567,"total":1234.567}: 1.23457e+06 / 1234567, 1234.57 / 1234
{"id":1234568,"total":1234567.89}: 1.23457e+06 / 1234568, 1.23457e+06 / 1234567
{"id":5512345678901,"total":12345.67}: 5.51235e+12 / 5512345678901, 12345.7 / 12345
{"id":"1234567","total":"1234567.89"}: 1234567 / 1234567, 1234567.89 / 1234567.89'
found=$(timeout 60 node run.cjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
