#!/usr/bin/env bash
# utm-extractor 1.0.8 and url-utm-params 0.1.0 (npm), next to the URLSearchParams of Node.js.
#
# Input: links with the creator in utm_source: escaped, with an escaped & and with a whole parameter in an escape,
# before a fragment, twice, and with base64 in utm_content; and a link with a variant, which gets utm_source.
# Behaviour: url-utm-params undoes the escapes before it divides the query, so anna&co becomes anna, and what
# stands in a value becomes a parameter. utm-extractor takes the fragment for a part of the creator. Both cut a
# value at "=", and take the last of two, where URLSearchParams takes the first. build() of url-utm-params writes the
# link without the variant that it had.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent utm-extractor@1.0.8 url-utm-params@0.1.0 >&2
cat > run.cjs <<'JS'
const {Utm} = require('utm-extractor'), {utm, build} = require('url-utm-params');
const show = ({utm_source: source, utm_content: content}) => content ? `${source}, content ${content}` : source;
for (const query of ['utm_source=anna', 'utm_source=anna%26co', 'utm_source=anna%26utm_source%3Dbob', 'utm_source=anna#reviews',
  'utm_source=anna&utm_source=bob', 'utm_source=anna&utm_content=YW5uYQ==']) {
  const link = `https://shop.example/p?${query}`, {searchParams} = new URL(link);
  const read = {utm_source: searchParams.get('utm_source'), utm_content: searchParams.get('utm_content')};
  console.log(`${query}: URLSearchParams ${show(read)} | utm-extractor ${show(new Utm(link).get())} | url-utm-params ${show(utm(link))}`);
}
console.log(build('https://shop.example/p?variant=7', {utm_source: 'anna'}));
JS
expected='utm_source=anna: URLSearchParams anna | utm-extractor anna | url-utm-params anna
utm_source=anna%26co: URLSearchParams anna&co | utm-extractor anna&co | url-utm-params anna
utm_source=anna%26utm_source%3Dbob: URLSearchParams anna&utm_source=bob | utm-extractor anna&utm_source=bob | url-utm-params bob
utm_source=anna#reviews: URLSearchParams anna | utm-extractor anna#reviews | url-utm-params anna
utm_source=anna&utm_source=bob: URLSearchParams anna | utm-extractor bob | url-utm-params bob
utm_source=anna&utm_content=YW5uYQ==: URLSearchParams anna, content YW5uYQ== | utm-extractor anna, content YW5uYQ | url-utm-params anna, content YW5uYQ
https://shop.example/p?utm_source=anna'
found=$(timeout 60 node --no-deprecation run.cjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
