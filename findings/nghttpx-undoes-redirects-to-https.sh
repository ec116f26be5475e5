#!/usr/bin/env bash
# nghttpx 1.52.0 (Debian 12: nghttp2-proxy 1.52.0-1+deb12u3), as a reverse proxy with its default settings.
#
# Input: clicks on links of shop.example, which the program behind answers with redirects to https, to a path of its
# own host on another port, and to the shop of a brand.
# Behaviour: a Location with the host of the request gets the scheme and the port on which nghttpx was
# asked. So the redirect from http to https leads back to the same address for ever, and the one to port 8443 to
# another server. Other hosts and relative addresses stay. --no-location-rewrite keeps all of them.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq nghttp2-proxy=1.52.0-1+deb12u3 libnghttp2-14 libev4 libc-ares2 libjemalloc2 libssl3 zlib1g libsystemd0 \
    libcap2 libgcrypt20 libgpg-error0 liblzma5 libzstd1 liblz4-1 >&2
for package in ./*.deb; do dpkg-deb -x "$package" root; done
cat > run.cjs <<'JS'
const http = require('http'), {spawn} = require('child_process'), {existsSync} = require('fs');
const environment = {...process.env, LD_LIBRARY_PATH: 'root/usr/lib/x86_64-linux-gnu:root/lib/x86_64-linux-gnu'};
const targets = ['https://shop.example/go/anna', 'https://shop.example:8443/go/anna', 'http://shop.example:8080/go/anna',
  'https://brand.example/go/anna', '/go/anna'];
const back = http.createServer((request, response) => {
  response.writeHead(302, {Location: targets[request.headers['x-target']]}).end();
}).listen(0, '127.0.0.1', async () => {
  for (const options of [[], ['--no-location-rewrite']]) {
    const socket = `front${options.length}.sock`;
    const nghttpx = spawn('timeout', ['50', 'root/usr/sbin/nghttpx', '--conf=/dev/null', '--single-process', '--workers=1', '--log-level=ERROR', '--errorlog-file=error.log',
      `--frontend=unix:${process.cwd()}/${socket};no-tls`, `--backend=127.0.0.1,${back.address().port}`, ...options], {env: environment, stdio: 'ignore'});
    while (!existsSync(socket)) await new Promise((resolve) => setTimeout(resolve, 50));
    for (const target of targets.keys()) {
      await new Promise((resolve, reject) => http.get({socketPath: socket, path: '/go/anna', headers: {Host: 'shop.example', 'X-Target': target}}, (response) => {
        console.log(`${['by default', ...options].at(-1)}: ${targets[target]} becomes ${response.headers.location}`);
        response.resume().on('end', resolve);
      }).on('error', reject));
    }
    await new Promise((resolve) => nghttpx.on('exit', resolve).kill());
  }
  process.exit();
});
JS
expected='by default: https://shop.example/go/anna becomes http://shop.example/go/anna
by default: https://shop.example:8443/go/anna becomes http://shop.example/go/anna
by default: http://shop.example:8080/go/anna becomes http://shop.example/go/anna
by default: https://brand.example/go/anna becomes https://brand.example/go/anna
by default: /go/anna becomes /go/anna
--no-location-rewrite: https://shop.example/go/anna becomes https://shop.example/go/anna
--no-location-rewrite: https://shop.example:8443/go/anna becomes https://shop.example:8443/go/anna
--no-location-rewrite: http://shop.example:8080/go/anna becomes http://shop.example:8080/go/anna
--no-location-rewrite: https://brand.example/go/anna becomes https://brand.example/go/anna
--no-location-rewrite: /go/anna becomes /go/anna'
found=$(timeout 60 node run.cjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
