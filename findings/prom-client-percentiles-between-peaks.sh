#!/usr/bin/env bash
# prom-client 15.1.3 (npm), with tdigest 0.1.3, its class Summary.
#
# Input: the durations of 1000 requests, of which 990 took 2 ms and ten 500 ms; the same with fractions of a
# millisecond added; and the numbers of articles in ten orders.
# Behaviour: equal values become one point, and a percentile is taken from the line between two points. So the
# 90th percentile of whole milliseconds is 405, where 99 of 100 requests took 2, and nine of ten orders seem to have
# up to 23 articles. With fractions, no two values are equal and all percentiles are right.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent prom-client@15.1.3 tdigest@0.1.3 >&2
cat > run.cjs <<'JS'
const {Summary} = require('prom-client');
const whole = [...Array(990).fill(2), ...Array(10).fill(500)];
const inputs = {
  'whole milliseconds': whole,
  'with fractions': whole.map((value, index) => value + index / 100000),
  'articles': [1, 1, 1, 1, 1, 1, 2, 2, 2, 30],
};
(async () => {
  for (const [name, values] of Object.entries(inputs)) {
    const summary = new Summary({name: 'values', help: name, percentiles: [0.5, 0.9, 0.95], registers: []});
    for (const value of values) summary.observe(value);
    const sorted = [...values].sort((a, b) => a - b);
    const lines = (await summary.get()).values.filter(({labels}) => labels.quantile).map(({labels, value}) => {
      return `${labels.quantile} is ${value.toFixed(1)} for ${sorted[Math.ceil(labels.quantile * sorted.length) - 1].toFixed(1)}`;
    });
    console.log(`${name}: ${lines.join(', ')}`);
  }
})();
JS
expected='whole milliseconds: 0.5 is 7.0 for 2.0, 0.9 is 405.4 for 2.0, 0.95 is 455.2 for 2.0
with fractions: 0.5 is 2.0 for 2.0, 0.9 is 2.0 for 2.0, 0.95 is 2.0 for 2.0
articles: 0.5 is 1.4 for 1.0, 0.9 is 23.0 for 2.0, 0.95 is 30.0 for 30.0'
found=$(timeout 60 node run.cjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
