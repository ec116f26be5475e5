#!/usr/bin/env bash
# psl 1.15.0, tldts 7.5.4, tldjs 2.3.2 and parse-domain 8.4.0 (npm), which say what site a host belongs to.
#
# Input: the hosts of two shops and of a creator's page, on domains that the public suffix list names as shared
# by strangers, and one of a link page whose domain the list does not name.
# Behaviour: tldts with default options leaves out that part of the list, so all shops of one host are the
# same site: a referrer from a competitor counts as one's own. The other three keep them apart.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent psl@1.15.0 tldts@7.5.4 tldjs@2.3.2 parse-domain@8.4.0 >&2
cat > run.mjs <<'JS'
import {createRequire} from 'module';
import {parseDomain} from 'parse-domain';
const require = createRequire(import.meta.url);
const site = {
  'psl': require('psl').get,
  'tldts': require('tldts').getDomain,
  'tldjs': require('tldjs').getDomain,
  'parse-domain': (host) => [parseDomain(host).domain, ...parseDomain(host).topLevelDomains].join('.'),
};
for (const [name, find] of Object.entries(site)) {
  const hosts = ['anna.myshopify.com', 'ben.myshopify.com', 'anna.carrd.co', 'anna.bio.link'];
  console.log(`${name}: ${hosts.map((host) => find(host)).join(', ')}`);
}
JS
expected='psl: anna.myshopify.com, ben.myshopify.com, anna.carrd.co, bio.link
tldts: myshopify.com, myshopify.com, carrd.co, bio.link
tldjs: anna.myshopify.com, ben.myshopify.com, anna.carrd.co, bio.link
parse-domain: anna.myshopify.com, ben.myshopify.com, anna.carrd.co, bio.link'
found=$(timeout 60 node run.mjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
