#!/usr/bin/env bash
# cookie-universal 2.2.2 and destr 2.0.5 (npm; destr reads Nuxt's cookies).
#
# Input: cookies with click ids of a link shortener, all of them plain texts.
# Behaviour: cookie-universal reads what looks like a JSON number as one: an id of 19 digits is rounded to
# another id, 12e3456 is Infinity, and 12e3 has become 12000. destr leaves alone what
# has more than 16 digits, and rounds one of 16. The ids come back as texts only where nothing fits JSON.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent cookie-universal@2.2.2 destr@2.0.5 >&2
cat > run.mjs <<'JS'
import cookies from 'cookie-universal';
import {destr} from 'destr';
for (const id of ['1234567890123456789', '9999999999999999', '12e3456', '12e3', '0012']) {
  const request = cookies({headers: {cookie: `click=${id}`}}, {getHeaders: () => ({})});
  console.log(`${id}: cookie-universal ${request.get('click')}, destr ${destr(id)}`);
}
JS
expected='1234567890123456789: cookie-universal 1234567890123456800, destr 1234567890123456789
9999999999999999: cookie-universal 10000000000000000, destr 10000000000000000
12e3456: cookie-universal Infinity, destr Infinity
12e3: cookie-universal 12000, destr 12000
0012: cookie-universal 0012, destr 0012'
found=$(timeout 60 node run.mjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
