#!/usr/bin/env bash
# njs 0.7.9 (Debian 12: libnginx-mod-http-js 0.7.9-2, with nginx 1.22.1-9+deb12u11).
#
# Input: two requests to a js_content handler that adds and compares numbers, before and after it makes an array of
# three functions, and an object of functions by status.
# Behaviour: a function written as an element gets its index as its name, and that turns the number into a text,
# wherever the script writes the same number, also in the following requests. So after [f, g, h] every
# 0, 1 and 2 of the script is a text: 5 + 1 is 51, and JSON has "quantity":"1". After {404: f}, 404 === 400 + 4
# is false. Functions with a name of their own have the same effect.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq nginx=1.22.1-9+deb12u11 libnginx-mod-http-js=0.7.9-2 libpcre2-8-0 libssl3 zlib1g libcrypt1 libedit2 libbsd0 libmd0 libtinfo6 libxml2 libxslt1.1 >&2
for package in ./*.deb; do dpkg-deb -x "$package" root; done
cat > nginx.conf <<CONF
daemon off;
master_process off;
pid pid;
error_log error.log;
load_module $folder/root/usr/lib/nginx/modules/ngx_http_js_module.so;
events {}
http {
    access_log off;
    client_body_temp_path a;
    proxy_temp_path b;
    fastcgi_temp_path c;
    uwsgi_temp_path d;
    scgi_temp_path e;
    js_path $folder;
    js_import orders.js;
    server {
        listen unix:$folder/orders.sock;
        location / {
            js_content orders.handle;
        }
    }
}
CONF
cat > orders.js <<'JS'
function state(number) {
    return [number + 0, number + 1, number + 2, number + 3, 404 === 400 + 4, JSON.stringify({quantity: 1})].join(' ');
}
function handle(request) {
    const lines = ['at first: ' + state(5)];
    const steps = [() => 'a', () => 'b', function c() {}];
    lines.push('after an array of ' + steps.length + ': ' + state(5));
    const pages = {404: function () {}};
    lines.push('after an object: ' + state(5));
    request.return(200, lines.join('\n') + '\n');
}
export default {handle};
JS
cat > run.cjs <<'JS'
const http = require('http'), {spawn} = require('child_process'), {existsSync} = require('fs');
const environment = {...process.env, LD_LIBRARY_PATH: 'root/usr/lib/x86_64-linux-gnu:root/lib/x86_64-linux-gnu'};
const nginx = spawn('timeout', ['50', 'root/usr/sbin/nginx', '-p', '.', '-c', 'nginx.conf'], {env: environment, stdio: ['ignore', 2, 2]});
(async () => {
  while (!existsSync('orders.sock')) await new Promise((resolve) => setTimeout(resolve, 50));
  for (const name of ['first', 'second']) {
    console.log(`${name} request`);
    await new Promise((resolve, reject) => http.get({socketPath: 'orders.sock'}, (response) => {
      response.on('data', (data) => process.stdout.write(data)).on('end', resolve);
    }).on('error', reject));
  }
})().finally(() => {
  nginx.on('exit', () => process.exit()).kill();
});
JS
expected='first request
at first: 5 6 7 8 true {"quantity":1}
after an array of 3: 50 51 52 8 true {"quantity":"1"}
after an object: 50 51 52 8 false {"quantity":"1"}
second request
at first: 50 51 52 8 false {"quantity":"1"}
after an array of 3: 50 51 52 8 false {"quantity":"1"}
after an object: 50 51 52 8 false {"quantity":"1"}'
found=$(timeout 60 node run.cjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
