#!/usr/bin/env bash
# h2o 2.2.5 (Debian 12: 2.2.5+dfsg2-7), nginx 1.22.1 (1.22.1-9+deb12u11) and lighttpd 1.4.69 (1.4.69-1), serving files.
#
# Input: a product feed of which a reader has the first 15 bytes. The shop replaces it, and the reader asks for the
# rest with Range, and with If-Range and the ETag or the time of its part. Then it asks with If-None-Match and a list
# of the two ETags that it knows.
# Behaviour: HTTP (RFC 9110) demands that Range is ignored where If-Range does not match, so nginx and lighttpd
# send the whole new feed. h2o answers 206 with the rest of the new one, and the article of the old feed has a
# price of the new one. It also sends the feed anew if its ETag stands in a list.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
chmod 755 .
apt-get download -qq h2o=2.2.5+dfsg2-7 nginx=1.22.1-9+deb12u11 lighttpd=1.4.69-1 libyaml-0-2 libpcre2-8-0 libssl3 zlib1g libcrypt1 \
    libxxhash0 libnettle8 >&2
for package in ./*.deb; do dpkg-deb -x "$package" root; done
mkdir www
cat > h2o.conf <<CONF
listen:
  type: unix
  port: $folder/h2o.sock
hosts:
  default:
    paths:
      "/":
        file.dir: $folder/www
CONF
cat > nginx.conf <<CONF
daemon off;
master_process off;
pid pid;
error_log error.log;
events {}
http {
    access_log off;
    client_body_temp_path a;
    proxy_temp_path b;
    fastcgi_temp_path c;
    uwsgi_temp_path d;
    scgi_temp_path e;
    server {
        listen unix:$folder/nginx.sock;
        root $folder/www;
    }
}
CONF
cat > lighttpd.conf <<CONF
server.document-root = "$folder/www"
server.bind = "$folder/lighttpd.sock"
server.modules = ()
mimetype.assign = (".csv" => "text/csv")
CONF
cat > run.cjs <<'JS'
const http = require('http'), {spawn} = require('child_process'), {existsSync, writeFileSync, utimesSync} = require('fs');
const environment = {...process.env, LD_LIBRARY_PATH: 'root/usr/lib/x86_64-linux-gnu:root/lib/x86_64-linux-gnu'};
const servers = {
  nginx: ['root/usr/sbin/nginx', '-p', '.', '-c', 'nginx.conf'],
  lighttpd: ['root/usr/sbin/lighttpd', '-D', '-f', 'lighttpd.conf', '-m', 'root/usr/lib/lighttpd'],
  h2o: ['root/usr/bin/h2o', '-c', 'h2o.conf'],
};
const feed = (text, time) => {
  writeFileSync('www/feed.csv', text);
  utimesSync('www/feed.csv', time, time);
};
const get = (socketPath, headers) => new Promise((resolve, reject) => {
  http.get({socketPath, path: '/feed.csv', agent: false, headers: {Host: 'localhost', ...headers}}, (response) => {
    let text = '';
    response.on('data', (data) => text += data).on('end', () => resolve({status: response.statusCode, headers: response.headers, text}));
  }).on('error', reject);
});
let server;
(async () => {
  for (const [name, command] of Object.entries(servers)) {
    server = spawn('timeout', ['50', ...command], {env: environment, stdio: 'ignore'});
    while (!existsSync(`${name}.sock`)) await new Promise((resolve) => setTimeout(resolve, 50));
    feed('id,price;sku-1,10.00;sku-2,20.00', 1772366400);
    const old = await get(`${name}.sock`, {});
    await new Promise((resolve) => setTimeout(resolve, 2500));
    feed('id,price;sku-7,75.00;sku-8,80.00;sku-9,90.00', 1772370000);
    for (const condition of ['etag', 'last-modified']) {
      const rest = await get(`${name}.sock`, {Range: 'bytes=15-', 'If-Range': old.headers[condition]});
      console.log(`${name}, If-Range with ${condition}: ${rest.status}, ${rest.status === 206 ? old.text.slice(0, 15) + rest.text : rest.text}`);
    }
    const current = await get(`${name}.sock`, {});
    const list = await get(`${name}.sock`, {'If-None-Match': `${old.headers.etag}, ${current.headers.etag}`});
    console.log(`${name}, If-None-Match with two: ${list.status}`);
    await new Promise((resolve) => server.on('exit', resolve).kill());
  }
  server = undefined;
})().finally(() => {
  if (server) server.kill();
});
JS
expected='nginx, If-Range with etag: 200, id,price;sku-7,75.00;sku-8,80.00;sku-9,90.00
nginx, If-Range with last-modified: 200, id,price;sku-7,75.00;sku-8,80.00;sku-9,90.00
nginx, If-None-Match with two: 304
lighttpd, If-Range with etag: 200, id,price;sku-7,75.00;sku-8,80.00;sku-9,90.00
lighttpd, If-Range with last-modified: 200, id,price;sku-7,75.00;sku-8,80.00;sku-9,90.00
lighttpd, If-None-Match with two: 304
h2o, If-Range with etag: 206, id,price;sku-1,75.00;sku-8,80.00;sku-9,90.00
h2o, If-Range with last-modified: 206, id,price;sku-1,75.00;sku-8,80.00;sku-9,90.00
h2o, If-None-Match with two: 200'
found=$(timeout 60 node run.cjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
