#!/usr/bin/env bash
# nginx 1.22.1 (Debian 12: 1.22.1-9+deb12u11, amd64), its module userid, which marks visitors with a cookie.
#
# Input: a visitor's first click, with userid_service 7, and a second one with the cookie that the first answer set.
# Behaviour: the cookie holds 16 bytes in base64, as four numbers in the order of the network. The log writes the
# same numbers as the processor stores them, so each four bytes stand the other way round: a shop that sends
# the cookie with the order finds no click with its bytes. The log agrees with itself, and with the cookie
# once each group of four is turned.
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
    log_format clicks '\$uid_set \$uid_got';
    access_log clicks.log clicks;
    client_body_temp_path a;
    proxy_temp_path b;
    fastcgi_temp_path c;
    uwsgi_temp_path d;
    scgi_temp_path e;
    server {
        listen unix:$folder/clicks.sock;
        userid on;
        userid_name visitor;
        userid_service 7;
        return 302 https://shop.example/;
    }
}
CONF
cat > run.cjs <<'JS'
const http = require('http'), {spawn} = require('child_process'), {existsSync, readFileSync} = require('fs');
const environment = {...process.env, LD_LIBRARY_PATH: 'root/usr/lib/x86_64-linux-gnu:root/lib/x86_64-linux-gnu'};
const nginx = spawn('timeout', ['50', 'root/usr/sbin/nginx', '-p', '.', '-c', 'nginx.conf'], {env: environment, stdio: 'ignore'});
const click = (headers) => new Promise((resolve, reject) => {
  http.get({socketPath: 'clicks.sock', path: '/go/anna', headers}, (response) => {
    response.resume().on('end', () => resolve(response.headers['set-cookie']));
  }).on('error', reject);
});
(async () => {
  while (!existsSync('clicks.sock')) await new Promise((resolve) => setTimeout(resolve, 50));
  const [set] = await click({});
  const cookie = set.split(';')[0];
  console.log(`set again: ${await click({Cookie: cookie})}`);
  let lines = [];
  while (lines.length < 3) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    lines = readFileSync('clicks.log', 'utf8').split('\n');
  }
  const [first, second] = [lines[0].split(' ')[0], lines[1].split(' ')[1]].map((id) => id.replace('visitor=', ''));
  const bytes = Buffer.from(cookie.replace('visitor=', ''), 'base64');
  console.log(`${bytes.length} bytes; the cookie begins with ${bytes.toString('hex', 0, 4)}, the log with ${first.slice(0, 8)}`);
  console.log(`the log agrees with itself: ${first === second}`);
  console.log(`the log has the cookie's bytes: ${first === bytes.toString('hex').toUpperCase()}`);
  console.log(`the log has them with each four turned: ${first === Buffer.from(bytes).swap32().toString('hex').toUpperCase()}`);
})().finally(() => {
  nginx.on('exit', () => process.exit()).kill();
});
JS
expected="set again: undefined
16 bytes; the cookie begins with 00000007, the log with 07000000
the log agrees with itself: true
the log has the cookie's bytes: false
the log has them with each four turned: true"
found=$(timeout 60 node run.cjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
