#!/usr/bin/env bash
# nginx 1.22.1 (Debian 12: 1.22.1-9+deb12u11), its module mirror.
#
# Input: three events to a location that mirrors them to a server which answers after two seconds: the
# first two on one kept connection, the third on a connection of its own.
# Behaviour: the first is answered at once, because nobody waits for a mirror's answer. But nginx reads the
# next request of a connection only when the mirror of the one before has ended, so a sender that keeps
# its connections waits for the slow mirror with every event.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq nginx=1.22.1-9+deb12u11 libpcre2-8-0 libssl3 zlib1g libcrypt1 >&2
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
        listen unix:$folder/events.sock;
        location / {
            mirror /mirror;
            proxy_pass http://unix:$folder/fast.sock:;
        }
        location = /mirror {
            internal;
            proxy_pass http://unix:$folder/slow.sock:;
        }
    }
}
CONF
cat > run.cjs <<'JS'
const http = require('http'), {spawn} = require('child_process'), {existsSync} = require('fs');
const serve = (name, wait) => http.createServer((request, response) => {
  request.resume().on('end', () => setTimeout(() => response.end('ok'), wait));
}).listen(`${name}.sock`);
serve('fast', 0);
serve('slow', 2000);
const environment = {...process.env, LD_LIBRARY_PATH: 'root/usr/lib/x86_64-linux-gnu:root/lib/x86_64-linux-gnu'};
const nginx = spawn('root/usr/sbin/nginx', ['-p', '.', '-c', 'nginx.conf'], {env: environment, stdio: ['ignore', 2, 2]});
const send = (name, agent) => new Promise((resolve, reject) => {
  const start = Date.now();
  http.request({socketPath: 'events.sock', method: 'POST', agent}, (response) => {
    response.resume().on('end', () => {
      console.log(`${name}: ${response.statusCode}, ${Date.now() - start < 1000 ? 'at once' : 'after the mirror'}`);
      resolve();
    });
  }).on('error', reject).end('event');
});
(async () => {
  while (!existsSync('events.sock')) await new Promise((resolve) => setTimeout(resolve, 50));
  const kept = new http.Agent({keepAlive: true, maxSockets: 1});
  await send('first', kept);
  await send('second, same connection', kept);
  await send('third, new connection', new http.Agent());
})().finally(() => {
  nginx.on('exit', () => process.exit()).kill();
});
JS
expected='first: 200, at once
second, same connection: 200, after the mirror
third, new connection: 200, at once'
found=$(timeout 60 node run.cjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
