#!/usr/bin/env bash
# liquidjs 10.30.1 (npm) and ruby-liquid 5.4.0 (Debian 12: 5.4.0-3), the engine of which Shopify's is made.
#
# Input: one template of a creator's statement after the other, with amounts in cents and in euros.
# Behaviour: whole numbers divide to a fraction in liquidjs, and are cut in Ruby's. Decimals are floating point
# in liquidjs and exact in Ruby's, so half cents round to different sides, and a text with a comma is two
# numbers. Both print the argument of a filter that they do not have, as Shopify's money, so 19.99 EUR is
# shown as 1999.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent liquidjs@10.30.1 >&2
apt-get download -qq ruby-liquid=5.4.0-3 >&2
dpkg-deb -x ./*.deb root
cat > templates <<'LIQUID'
{{ 1999 | money }}
{{ 1999 | divided_by: 100 }}
{{ "10.10" | times: 3 }}
{{ 0.285 | times: 100 | round }}
{{ 12345678901234567890 }}
{{ "1,50" | plus: 1 }}
LIQUID
cat > run.cjs <<'JS'
const {Liquid} = require('liquidjs');
const engine = new Liquid();
for (const line of require('fs').readFileSync('templates', 'utf8').trim().split('\n')) {
  console.log(engine.parseAndRenderSync(line));
}
JS
expected='{{ 1999 | money }}: liquidjs 1999, Ruby 1999
{{ 1999 | divided_by: 100 }}: liquidjs 19.99, Ruby 19
{{ "10.10" | times: 3 }}: liquidjs 30.299999999999997, Ruby 30.3
{{ 0.285 | times: 100 | round }}: liquidjs 28, Ruby 29
{{ 12345678901234567890 }}: liquidjs 12345678901234567000, Ruby 12345678901234567890
{{ "1,50" | plus: 1 }}: liquidjs 1, Ruby 2'
timeout 60 node run.cjs > by_liquidjs
cat > run.rb <<'RUBY'
require 'liquid'
File.readlines('templates', chomp: true).each { |line| puts Liquid::Template.parse(line).render }
RUBY
timeout 60 ruby -I "$(dirname "$(find root -name liquid.rb)")" run.rb > by_ruby
found=$(paste -d '|' templates by_liquidjs by_ruby | sed 's/^\(.*\)|\(.*\)|\(.*\)$/\1: liquidjs \2, Ruby \3/')
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
