#!/usr/bin/env bash
# Caddy 2.6.2 (Debian 12: 2.6.2-5), reverse_proxy to a TCP port, with request_body max_size.
#
# Input: a body of 150 bytes where 100 are allowed, with a Content-Length, and in chunks.
# Behaviour: in chunks it gets 413, as it should. With a Content-Length, as nearly all webhooks have one,
# it gets 502, because the limit shows only while the body is written to the program behind. A sender
# repeats a 502, so it repeats an order that is never taken until it gives up.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq caddy=2.6.2-5 >&2
dpkg-deb -x ./*.deb root
cat > Caddyfile <<CONF
{
	admin off
	auto_https off
}
http://localhost {
	bind unix/$folder/front.sock
	request_body {
		max_size 100
	}
	reverse_proxy 127.0.0.1:{\$PORT}
}
CONF
cat > run.cjs <<'JS'
const http = require('http'), {spawn} = require('child_process'), {existsSync} = require('fs');
let read = 0;
const back = http.createServer((request, response) => {
  request.on('error', () => {}).resume().on('end', () => {
    read += 1;
    response.end('ok');
  });
}).listen(0, '127.0.0.1', async () => {
  const environment = {...process.env, PORT: back.address().port, HOME: '.', XDG_DATA_HOME: '.', XDG_CONFIG_HOME: '.'};
  const caddy = spawn('root/usr/bin/caddy', ['run', '--config', 'Caddyfile', '--adapter', 'caddyfile'], {env: environment, stdio: 'ignore'});
  while (!existsSync('front.sock')) await new Promise((resolve) => setTimeout(resolve, 50));
  const send = (name, bytes, headers) => new Promise((resolve, reject) => {
    http.request({socketPath: 'front.sock', method: 'POST', headers: {Host: 'localhost', ...headers}}, (response) => {
      response.resume().on('end', () => {
        console.log(`${name}: ${response.statusCode}, ${read} read`);
        resolve();
      });
    }).on('error', reject).end('x'.repeat(bytes));
  });
  await send('50 bytes', 50, {'Content-Length': 50});
  await send('150 bytes', 150, {'Content-Length': 150});
  await send('150 bytes in chunks', 150, {'Transfer-Encoding': 'chunked'});
  caddy.on('exit', () => process.exit()).kill();
});
JS
expected='50 bytes: 200, 1 read
150 bytes: 502, 1 read
150 bytes in chunks: 413, 1 read'
found=$(timeout 60 node run.cjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
