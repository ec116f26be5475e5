#!/usr/bin/env bash
# Redirects of h2o 2.2.5 (Debian 12: 2.2.5+dfsg2-7), nginx 1.22.1 (1.22.1-9+deb12u11), Apache 2.4.71
# (2.4.71-1~deb12u1) and lighttpd 1.4.69 (1.4.69-1).
#
# Input: the short links /own and /bare, which lead to a product with and without ?ref=anna, opened with the click id
# that an advertising network appends.
# Behaviour: h2o writes the query of the click behind the target with a question mark of its own, so the shop
# reads the creator "anna?gclid=Cj0K" and no click id. nginx joins the two with & in "rewrite", and drops the
# query of the click in "return". Apache's Redirect passes it on, and drops it as soon as the target has a query;
# lighttpd drops it in both cases.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
chmod 755 .
apt-get download -qq h2o=2.2.5+dfsg2-7 nginx=1.22.1-9+deb12u11 apache2-bin=2.4.71-1~deb12u1 lighttpd=1.4.69-1 libyaml-0-2 libpcre2-8-0 \
    libssl3 zlib1g libcrypt1 libxxhash0 libnettle8 libapr1 libaprutil1 libexpat1 libuuid1 >&2
for package in ./*.deb; do dpkg-deb -x "$package" root; done
cat > h2o.conf <<CONF
listen:
  type: unix
  port: $folder/h2o.sock
hosts:
  default:
    paths:
      "/own":
        redirect:
          status: 302
          url: "https://shop.example/p?ref=anna"
      "/bare":
        redirect:
          status: 302
          url: "https://shop.example/p"
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
        listen unix:$folder/rewrite.sock;
        rewrite ^/own https://shop.example/p?ref=anna redirect;
        rewrite ^/bare https://shop.example/p redirect;
    }
    server {
        listen unix:$folder/return.sock;
        location /own {
            return 302 https://shop.example/p?ref=anna;
        }
        location /bare {
            return 302 https://shop.example/p;
        }
    }
}
CONF
cat > lighttpd.conf <<CONF
server.document-root = "$folder"
server.bind = "$folder/lighttpd.sock"
server.modules = ("mod_redirect")
url.redirect-code = 302
url.redirect = ("^/own" => "https://shop.example/p?ref=anna", "^/bare" => "https://shop.example/p")
CONF
cat > apache.conf <<CONF
ServerRoot "$folder"
ServerName localhost
PidFile apache.pid
ErrorLog apache.log
Listen 127.0.0.1:\${PORT}
LoadModule mpm_event_module $folder/root/usr/lib/apache2/modules/mod_mpm_event.so
LoadModule authz_core_module $folder/root/usr/lib/apache2/modules/mod_authz_core.so
LoadModule alias_module $folder/root/usr/lib/apache2/modules/mod_alias.so
Redirect 302 /own https://shop.example/p?ref=anna
Redirect 302 /bare https://shop.example/p
CONF
cat > run.cjs <<'JS'
const http = require('http'), net = require('net'), {spawn} = require('child_process');
const sleep = (time) => new Promise((resolve) => setTimeout(resolve, time));
const get = (where, path) => new Promise((resolve, reject) => {
  http.get({...where, path, agent: false, headers: {Host: 'localhost'}}, (response) => {
    response.resume().on('end', () => resolve(response.headers.location));
  }).on('error', reject);
});
const reserve = () => new Promise((resolve) => {
  const server = net.createServer().listen(0, '127.0.0.1', () => {
    const {port} = server.address();
    server.close(() => resolve(port));
  });
});
const children = [];
(async () => {
  const port = await reserve();
  const env = {...process.env, PORT: port, LD_LIBRARY_PATH: 'root/usr/lib/x86_64-linux-gnu:root/lib/x86_64-linux-gnu'};
  for (const command of [['root/usr/bin/h2o', '-c', 'h2o.conf'], ['root/usr/sbin/nginx', '-p', '.', '-c', 'nginx.conf'],
    ['root/usr/sbin/apache2', '-X', '-f', `${process.cwd()}/apache.conf`],
    ['root/usr/sbin/lighttpd', '-D', '-f', 'lighttpd.conf', '-m', 'root/usr/lib/lighttpd']]) {
    children.push(spawn('timeout', ['50', ...command], {env, stdio: 'ignore'}));
  }
  const servers = {h2o: {socketPath: 'h2o.sock'}, 'nginx, rewrite': {socketPath: 'rewrite.sock'}, 'nginx, return': {socketPath: 'return.sock'},
    'Apache, Redirect': {host: '127.0.0.1', port}, lighttpd: {socketPath: 'lighttpd.sock'}};
  for (const [name, where] of Object.entries(servers)) {
    for (let tries = 200; tries && !await get(where, '/own').catch(() => {}); tries -= 1) await sleep(50);
    for (const path of ['/own?gclid=Cj0K', '/bare?gclid=Cj0K']) {
      const location = new URL(await get(where, path));
      const {ref, gclid} = Object.fromEntries(location.searchParams);
      console.log(`${name}: ${path} leads to ${location}: ref ${ref}, gclid ${gclid}`);
    }
  }
})().finally(() => {
  for (const child of children) child.kill();
});
JS
expected='h2o: /own?gclid=Cj0K leads to https://shop.example/p?ref=anna?gclid=Cj0K: ref anna?gclid=Cj0K, gclid undefined
h2o: /bare?gclid=Cj0K leads to https://shop.example/p?gclid=Cj0K: ref undefined, gclid Cj0K
nginx, rewrite: /own?gclid=Cj0K leads to https://shop.example/p?ref=anna&gclid=Cj0K: ref anna, gclid Cj0K
nginx, rewrite: /bare?gclid=Cj0K leads to https://shop.example/p?gclid=Cj0K: ref undefined, gclid Cj0K
nginx, return: /own?gclid=Cj0K leads to https://shop.example/p?ref=anna: ref anna, gclid undefined
nginx, return: /bare?gclid=Cj0K leads to https://shop.example/p: ref undefined, gclid undefined
Apache, Redirect: /own?gclid=Cj0K leads to https://shop.example/p?ref=anna: ref anna, gclid undefined
Apache, Redirect: /bare?gclid=Cj0K leads to https://shop.example/p?gclid=Cj0K: ref undefined, gclid Cj0K
lighttpd: /own?gclid=Cj0K leads to https://shop.example/p?ref=anna: ref anna, gclid undefined
lighttpd: /bare?gclid=Cj0K leads to https://shop.example/p: ref undefined, gclid undefined'
found=$(timeout 60 node run.cjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
