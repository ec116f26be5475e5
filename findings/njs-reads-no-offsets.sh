#!/usr/bin/env bash
# njs 0.7.9 (Debian 12: libnginx-mod-http-js 0.7.9-2, with nginx 1.22.1-9+deb12u11), at TZ=America/New_York.
#
# Input: times as shops send them, read by Date in a js_content handler.
# Behaviour: an ISO 8601 time with an offset is no date, not even with +00:00, although the one of mail
# headers with an offset is. A time without an offset is UTC, where JavaScript demands local time. So a
# handler that compares times finds every comparison with such an order false.
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
    js_import times.js;
    server {
        listen unix:$folder/times.sock;
        location / {
            js_content times.read;
        }
    }
}
CONF
cat > times.js <<'JS'
function read(request) {
    const texts = ['2026-03-01T12:00:00Z', '2026-03-01T12:00:00+00:00', '2026-03-01T13:00:00+01:00',
                   '2026-03-01T12:00:00', 'Sun, 01 Mar 2026 13:00:00 +0100'];
    const lines = texts.map((text) => {
        const time = new Date(text);
        return text + ': ' + (isNaN(time) ? 'no date' : time.toISOString());
    });
    lines.push('order before now: ' + (new Date(texts[2]) < new Date()), 'order after now: ' + (new Date(texts[2]) > new Date()));
    request.return(200, lines.join('\n'));
}
export default {read};
JS
cat > run.cjs <<'JS'
const http = require('http'), {spawn} = require('child_process'), {existsSync} = require('fs');
const environment = {...process.env, TZ: 'America/New_York', LD_LIBRARY_PATH: 'root/usr/lib/x86_64-linux-gnu:root/lib/x86_64-linux-gnu'};
const nginx = spawn('root/usr/sbin/nginx', ['-p', '.', '-c', 'nginx.conf'], {env: environment, stdio: ['ignore', 2, 2]});
(async () => {
  while (!existsSync('times.sock')) await new Promise((resolve) => setTimeout(resolve, 50));
  await new Promise((resolve, reject) => http.get({socketPath: 'times.sock'}, (response) => {
    response.on('data', (data) => process.stdout.write(data)).on('end', resolve);
  }).on('error', reject));
})().finally(() => {
  nginx.on('exit', () => process.exit()).kill();
});
JS
expected='2026-03-01T12:00:00Z: 2026-03-01T12:00:00.000Z
2026-03-01T12:00:00+00:00: no date
2026-03-01T13:00:00+01:00: no date
2026-03-01T12:00:00: 2026-03-01T12:00:00.000Z
Sun, 01 Mar 2026 13:00:00 +0100: 2026-03-01T12:00:00.000Z
order before now: false
order after now: false'
found=$(timeout 60 node run.cjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
