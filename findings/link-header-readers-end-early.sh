#!/usr/bin/env bash
# Ten readers of the header Link on npm: versions below.
#
# Input: headers that name the next page of orders in the ways that RFC 8288 allows: with quotes or without,
# with commas in the address or the title, two relations in one text, Rel for rel, and a relative address.
# Behaviour: only http-link-header finds the next page in all of them. Eight do not know that the names of
# parameters and relations have no case; fetch-link-util also needs quotes, and parse-links fails on a comma.
# Most return nothing, as they do after the last page, so the later orders are never fetched, without an error.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent \
    @flowbox/parse-link-header@1.0.0 @hugoalh/http-header-link@1.0.3 @renyuneyun/parse-link-header-ts@2.0.0 \
    @web3-storage/parse-link-header@3.1.0 fetch-link-util@1.1.4 http-link-header@1.1.4 li@1.3.0 linkheader-parser@0.1.2 \
    parse-link-header@2.0.0 parse-links@0.1.0 >&2
cat > run.mjs <<'JS'
import {createRequire} from 'module';
import {HTTPHeaderLink} from '@hugoalh/http-header-link';
import {parseLinkHeader} from '@web3-storage/parse-link-header';
import {getHeaderLink} from 'fetch-link-util';
const require = createRequire(import.meta.url);
const readers = {
  '@flowbox': (header) => require('@flowbox/parse-link-header').default(header)?.next?.url,
  '@hugoalh': (header) => new HTTPHeaderLink(header).getByRel('next')[0]?.[0],
  '@renyuneyun': (header) => require('@renyuneyun/parse-link-header-ts').default(header)?.next?.[0]?.url,
  '@web3-storage': (header) => parseLinkHeader(header)?.next?.url,
  'fetch-link-util': (header) => getHeaderLink(new Headers({Link: header})),
  'http-link-header': (header) => require('http-link-header').parse(header).rel('next')[0]?.uri,
  'li': (header) => require('li').parse(header).next,
  'linkheader-parser': (header) => require('linkheader-parser').parse(header).next?.href,
  'parse-link-header': (header) => require('parse-link-header')(header)?.next?.url,
  'parse-links': (header) => require('parse-links')(header).next,
};
const page = '<https://shop.example/orders?page=3>';
const headers = {
  'plain': `${page}; rel="next"`,
  'without quotes': `${page}; rel=next`,
  'commas in the address': '<https://shop.example/orders?ids=1,2&page=1>; rel="prev", <https://shop.example/orders?ids=1,2&page=3>; rel="next"',
  'title before rel': `${page}; title="orders, page 3"; rel="next"`,
  'two relations': `${page}; rel="next last"`,
  'Rel': `${page}; Rel="next"`,
  'Next': `${page}; rel="Next"`,
  'space before ;': `${page} ; rel="next"`,
  'parameter rel in the address': '<https://shop.example/orders?rel=all&page=3>; rel="next"',
  'relative': '</orders?page=3>; rel="next"',
};
for (const [name, header] of Object.entries(headers)) {
  const without = [], errors = [];
  for (const [reader, read] of Object.entries(readers)) {
    try {
      const next = read(header);
      if (next === undefined) without.push(reader);
      else if (!next.endsWith('page=3')) without.push(`${reader} (${next})`);
    } catch {
      errors.push(reader);
    }
  }
  console.log(`${name}: ${without.length ? `no next page for ${without.join(', ')}` : 'all find the next page'}${errors.length ? `; error in ${errors.join(', ')}` : ''}`);
}
JS
expected='plain: all find the next page
without quotes: no next page for fetch-link-util
commas in the address: no next page for fetch-link-util; error in parse-links
title before rel: no next page for fetch-link-util; error in parse-links
two relations: no next page for @hugoalh, fetch-link-util
Rel: no next page for @flowbox, @renyuneyun, @web3-storage, fetch-link-util, li, linkheader-parser, parse-link-header, parse-links
Next: no next page for @flowbox, @renyuneyun, @web3-storage, fetch-link-util, li, linkheader-parser, parse-link-header; error in parse-links
space before ;: no next page for fetch-link-util, li
parameter rel in the address: no next page for parse-links
relative: no next page for @flowbox; error in @renyuneyun'
found=$(timeout 60 node run.mjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
