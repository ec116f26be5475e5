#!/usr/bin/env bash
# cloudevents 10.0.0 (npm), the SDK of CloudEvents for JavaScript.
#
# Input: events in binary mode with a subject of two words, a percent sign or the euro sign, and with JSON as data.
# Behaviour: the HTTP binding of CloudEvents 1.0 demands that spaces, quotes, percent signs and all but ASCII are
# percent-encoded in headers, and decoded once. The SDK does neither: a receiver that does cannot decode its "20% off",
# "100%25" changes, an euro sign cannot be sent, and correct headers are read as they stand. A number of the data
# becomes a text, JSON of a type that ends with +json is not parsed, and JSON after a line break is an error.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent cloudevents@10.0.0 >&2
cat > run.cjs <<'JS'
const {CloudEvent, HTTP} = require('cloudevents');
const attempt = (action) => {
  try {
    return JSON.stringify(action());
  } catch (error) {
    return error.name;
  }
};
const attributes = {id: '1', type: 'order.paid', source: '/shop'};
for (const subject of ['order 7', '20% off', '100%25', '5 €']) {
  const header = HTTP.binary(new CloudEvent({...attributes, subject, data: {}})).headers['ce-subject'];
  const sent = attempt(() => new Headers({'ce-subject': header}).get('ce-subject'));
  console.log(`${JSON.stringify(subject)} is written as ${sent}, decoded ${attempt(() => decodeURIComponent(header))}`);
}
const read = (headers, body) => HTTP.toEvent({
  headers: {'ce-id': '1', 'ce-type': 'order.paid', 'ce-source': '/shop', 'ce-specversion': '1.0', ...headers}, body});
for (const subject of ['order%207', '20%25%20off', '5%20%E2%82%AC']) {
  console.log(`ce-subject: ${subject} is read as ${JSON.stringify(read({'ce-subject': subject, 'content-type': 'application/json'}, '{}').subject)}`);
}
for (const [type, body] of [['application/json', '{"total":19.99}'], ['application/vnd.shop+json', '{"total":19.99}'],
  ['application/json', '\n{"total":19.99}'], ['application/json', '19.99'], ['application/json', '"19.99"']]) {
  console.log(`${type} ${JSON.stringify(body)} is read as ${attempt(() => read({'content-type': type}, body).data)}`);
}
JS
expected='"order 7" is written as "order 7", decoded "order 7"
"20% off" is written as "20% off", decoded URIError
"100%25" is written as "100%25", decoded "100%"
"5 €" is written as TypeError, decoded "5 €"
ce-subject: order%207 is read as "order%207"
ce-subject: 20%25%20off is read as "20%25%20off"
ce-subject: 5%20%E2%82%AC is read as "5%20%E2%82%AC"
application/json "{\"total\":19.99}" is read as {"total":19.99}
application/vnd.shop+json "{\"total\":19.99}" is read as "{\"total\":19.99}"
application/json "\n{\"total\":19.99}" is read as SyntaxError
application/json "19.99" is read as "19.99"
application/json "\"19.99\"" is read as "19.99"'
found=$(timeout 60 node run.cjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
