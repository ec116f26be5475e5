#!/usr/bin/env bash
# @shopkit/analytics 1.4.0 (npm), its affiliate tracking with the default settings, and with first-touch.
#
# Input: a visitor who follows the link of the creator anna from a video and opens the cart; with first-touch, one
# who found the shop by a search engine before.
# Behaviour: the referrer of a page counts as an affiliate parameter, also if it is a page of the shop itself. So
# with the default, last-touch, the second page of the visit replaces the creator and utm_source by the shop's own
# address. With first-touch the search takes the place, and the creator's link is never stored. A parameter "referrer"
# of the link, which the module lists as one of its own, is replaced likewise. enableReferrerCapture: false ends this.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent react@19.2.0 >&2
timeout 100 npm pack --silent @shopkit/analytics@1.4.0 >&2
tar -xzf ./*.tgz
cat > run.cjs <<'JS'
const stored = new Map();
globalThis.window = {
  sessionStorage: {
    getItem: (key) => stored.get(key) ?? null,
    setItem: (key, value) => stored.set(key, value),
    removeItem: (key) => stored.delete(key),
  },
};
globalThis.document = {};
const tracker = require('./package/dist/affiliate/index.js');
const open = (address, referrer) => {
  window.location = new URL(address);
  document.referrer = referrer;
  tracker.captureAffiliateParams();
  const {ref, utm_source: source, referrer: kept} = tracker.getAffiliateParams();
  console.log(`${address}: ref ${ref}, utm_source ${source}, referrer ${kept}, source ${tracker.getAffiliateSource()}`);
};
const visit = (name, options) => {
  console.log(`${name}:`);
  stored.clear();
  tracker.configureAffiliateTracker(options);
  if (options.attribution) open('https://shop.example/', 'https://search.example/');
  open('https://shop.example/p?ref=anna&utm_source=anna', 'https://video.example/');
  open('https://shop.example/cart', 'https://shop.example/p');
};
visit('by default', {});
visit('first-touch', {attribution: 'first-touch'});
visit('without referrers', {enableReferrerCapture: false});
console.log('a link with a referrer:');
tracker.configureAffiliateTracker({});
open('https://shop.example/p?referrer=anna', 'https://video.example/');
JS
expected='by default:
https://shop.example/p?ref=anna&utm_source=anna: ref anna, utm_source anna, referrer https://video.example/, source anna
https://shop.example/cart: ref undefined, utm_source undefined, referrer https://shop.example/p, source shop.example
first-touch:
https://shop.example/: ref undefined, utm_source undefined, referrer https://search.example/, source search.example
https://shop.example/p?ref=anna&utm_source=anna: ref undefined, utm_source undefined, referrer https://search.example/, source search.example
https://shop.example/cart: ref undefined, utm_source undefined, referrer https://search.example/, source search.example
without referrers:
https://shop.example/p?ref=anna&utm_source=anna: ref anna, utm_source anna, referrer undefined, source anna
https://shop.example/cart: ref anna, utm_source anna, referrer undefined, source anna
a link with a referrer:
https://shop.example/p?referrer=anna: ref undefined, utm_source undefined, referrer https://video.example/, source video.example'
found=$(timeout 60 node run.cjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
