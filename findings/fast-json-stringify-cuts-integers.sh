#!/usr/bin/env bash
# fast-json-stringify 7.3.10 (npm), which writes the answers of Fastify.
#
# Input: cents that were calculated as 19.99 * 100, and a text, both declared as integer in the schema.
# Behaviour: an integer that is none is cut and not refused: 1998.9999999999998 becomes 1998, so a cent
# is lost between program and client, and the text "19.99" becomes 19.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent fast-json-stringify@7.3.10 >&2
cat > run.cjs <<'JS'
const stringify = require('fast-json-stringify')({type: 'object', properties: {cents: {type: 'integer'}}});
for (const cents of [19.99 * 100, '19.99', -0.5]) {
  console.log(`${JSON.stringify(cents)}: ${stringify({cents})}`);
}
JS
expected='1998.9999999999998: {"cents":1998}
"19.99": {"cents":19}
-0.5: {"cents":0}'
found=$(timeout 60 node run.cjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
