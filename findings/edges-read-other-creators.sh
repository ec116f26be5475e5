#!/usr/bin/env bash
# nginx 1.22.1 (Debian 12: 1.22.1-9+deb12u11), HAProxy 2.6.12 (2.6.12-1+deb12u4) and Caddy 2.6.2 (2.6.2-5), reading the
# parameter ref of a link and the cookie ref, next to the URLSearchParams of Node.js.
#
# Input: links with a parameter that differs from ref in upper case, with two refs, with a semicolon in a note, and
# with an escaped letter; and a visitor with the cookies REF and ref.
# Behaviour: $arg_ref and $cookie_ref of nginx are also a parameter and a cookie that are written Ref or REF, and
# Caddy's placeholder is so for cookies only. Caddy joins two refs with a comma. For HAProxy a semicolon also separates
# parameters. Only Caddy undoes the escape. So for one link each server names another creator.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
chmod 755 .
apt-get download -qq nginx=1.22.1-9+deb12u11 haproxy=2.6.12-1+deb12u4 caddy=2.6.2-5 liblua5.3-0 libopentracing-c-wrapper0 libopentracing1 \
    libpcre2-8-0 libssl3 zlib1g libcrypt1 libsystemd0 libcap2 libgcrypt20 libgpg-error0 liblzma5 libzstd1 liblz4-1 >&2
for package in ./*.deb; do dpkg-deb -x "$package" root; done
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
        return 200 "\$arg_ref / \$cookie_ref";
    }
}
CONF
cat > haproxy.cfg <<CONF
defaults
    mode http
    timeout client 5s
    timeout connect 5s
    timeout server 5s
frontend links
    bind unix@$folder/haproxy.sock
    http-request return status 200 content-type text/plain lf-string "%[url_param(ref)] / %[req.cook(ref)]"
CONF
cat > Caddyfile <<CONF
{
	admin off
	auto_https off
}
http://localhost {
	bind unix/$folder/caddy.sock
	respond "{query.ref} / {http.request.cookie.ref}"
}
CONF
cat > run.cjs <<'JS'
const http = require('http'), {spawn} = require('child_process'), {existsSync} = require('fs');
const env = {...process.env, LD_LIBRARY_PATH: 'root/usr/lib/x86_64-linux-gnu:root/lib/x86_64-linux-gnu',
  HOME: '.', XDG_DATA_HOME: '.', XDG_CONFIG_HOME: '.'};
const servers = {
  nginx: ['root/usr/sbin/nginx', '-p', '.', '-c', 'nginx.conf'],
  haproxy: ['root/usr/sbin/haproxy', '-f', 'haproxy.cfg', '-db', '-q'],
  caddy: ['root/usr/bin/caddy', 'run', '--config', 'Caddyfile', '--adapter', 'caddyfile'],
};
const children = Object.values(servers).map((command) => spawn('timeout', ['50', ...command], {env, stdio: 'ignore'}));
const get = (socketPath, path, headers) => new Promise((resolve, reject) => {
  http.get({socketPath, path, headers: {Host: 'localhost', ...headers}}, (response) => {
    let text = '';
    response.on('data', (data) => text += data).on('end', () => resolve(text));
  }).on('error', reject);
});
(async () => {
  for (const name of Object.keys(servers)) {
    while (!existsSync(`${name}.sock`)) await new Promise((resolve) => setTimeout(resolve, 50));
  }
  for (const query of ['Ref=anna&ref=bob', 'ref=anna&ref=bob', 'note=a;ref=anna&ref=bob', 'ref=ann%61']) {
    const found = [`URLSearchParams ${new URLSearchParams(query).get('ref')}`];
    for (const name of Object.keys(servers)) found.push(`${name} ${(await get(`${name}.sock`, `/?${query}`)).split(' / ')[0]}`);
    console.log(`?${query}: ${found.join(' | ')}`);
  }
  for (const cookies of ['REF=anna; ref=bob', 'ref=bob; REF=anna']) {
    const found = [];
    for (const name of Object.keys(servers)) found.push(`${name} ${(await get(`${name}.sock`, '/', {Cookie: cookies})).split(' / ')[1]}`);
    console.log(`${cookies}: ${found.join(' | ')}`);
  }
})().finally(() => {
  for (const child of children) child.kill();
});
JS
expected='?Ref=anna&ref=bob: URLSearchParams bob | nginx anna | haproxy bob | caddy bob
?ref=anna&ref=bob: URLSearchParams anna | nginx anna | haproxy anna | caddy anna,bob
?note=a;ref=anna&ref=bob: URLSearchParams bob | nginx bob | haproxy anna | caddy bob
?ref=ann%61: URLSearchParams anna | nginx ann%61 | haproxy ann%61 | caddy anna
REF=anna; ref=bob: nginx anna | haproxy bob | caddy anna
ref=bob; REF=anna: nginx bob | haproxy bob | caddy bob'
found=$(timeout 60 node run.cjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
