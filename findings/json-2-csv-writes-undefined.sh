#!/usr/bin/env bash
# json-2-csv 5.6.0 (npm), with default options.
#
# Input: two orders of which the second has no coupon, and a CSV with ids and SKUs, one of them in quotes.
# Behaviour: a member that an order lacks is written as the word undefined, which a reader takes for a
# coupon. csv2json reads every field that JSON would accept as JSON, quoted or not: an id of 19 digits
# is rounded, the SKU 1E5 becomes 100000, and the text null becomes null.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent json-2-csv@5.6.0 >&2
cat > run.cjs <<'JS'
const {json2csv, csv2json} = require('json-2-csv');
console.log(json2csv([{id: 'o1', coupon: 'ANNA10'}, {id: 'o2'}]));
console.log(JSON.stringify(csv2json('id,sku,coupon\n1234567890123456789,1E5,null\n"12","0012",ANNA10')));
JS
expected='id,coupon
o1,ANNA10
o2,undefined
[{"id":1234567890123456800,"sku":100000,"coupon":null},{"id":12,"sku":"0012","coupon":"ANNA10"}]'
found=$(timeout 60 node run.cjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
