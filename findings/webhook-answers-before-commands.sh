#!/usr/bin/env bash
# webhook 2.8.0 (Debian 12: 2.8.0-4+b6), which runs a command for each webhook that matches its rules.
#
# Input: a hook for paid orders whose command ends with status 3; a paid order, and one that is refunded.
# Behaviour: the answer to a paid order is 200 before the command has ended, so its failure, or a restart
# in between, loses the order: no sender repeats a 200. What matches no rule gets 200 as well. The option
# include-command-output-in-response makes the first a 500, trigger-rule-mismatch-http-response-code the second a 404.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq webhook=2.8.0-4+b6 >&2
dpkg-deb -x ./*.deb root
printf '#!/bin/sh\nsleep 1\ntouch "%s/ended"\nexit 3\n' "$folder" > take
chmod +x take
cat > run.cjs <<'JS'
const http = require('http'), {spawn} = require('child_process'), fs = require('fs');
const rule = {match: {type: 'value', value: 'paid', parameter: {source: 'payload', name: 'status'}}};
const hook = {'execute-command': `${process.cwd()}/take`, 'trigger-rule': rule};
fs.writeFileSync('hooks.json', JSON.stringify([
  {id: 'default', ...hook},
  {id: 'options', ...hook, 'include-command-output-in-response': true, 'trigger-rule-mismatch-http-response-code': 404},
]));
const free = http.createServer().listen(0, '127.0.0.1', () => {
  const {port} = free.address();
  free.close(async () => {
    const webhook = spawn('root/usr/bin/webhook', ['-hooks', 'hooks.json', '-ip', '127.0.0.1', '-port', port], {stdio: ['ignore', 2, 2]});
    const send = (id, status) => fetch(`http://127.0.0.1:${port}/hooks/${id}`,
      {method: 'POST', headers: {'Content-Type': 'application/json'}, body: JSON.stringify({status})});
    const print = async (id, status) => {
      fs.rmSync('ended', {force: true});
      const answer = (await send(id, status)).status;
      console.log(`${id}, ${status}: ${answer}, command ${fs.existsSync('ended') ? 'ended' : 'not ended'}`);
    };
    for (let tries = 0; tries < 100 && !(await send('none').catch(() => null)); tries += 1) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    await print('default', 'paid');
    await print('default', 'refunded');
    await print('options', 'paid');
    await print('options', 'refunded');
    webhook.on('exit', () => process.exit()).kill();
  });
});
JS
expected='default, paid: 200, command not ended
default, refunded: 200, command not ended
options, paid: 500, command ended
options, refunded: 404, command not ended'
found=$(timeout 60 node run.cjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
