#!/usr/bin/env bash
# jsonwebtoken 9.0.3, fast-jwt 6.3.6, jose 6.2.17 and njwt 2.0.1 (npm).
#
# Input: a lifetime of 3600, as a number and as the text that an environment variable gives.
# Behaviour: four units for one number. jsonwebtoken has seconds for a number and milliseconds for a text,
# fast-jwt milliseconds for both (and minutes for 1M, as for 1m), jose takes the number as the moment, an hour
# after 1970, and njwt as milliseconds since 1970. All sign such a token without a complaint.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent jsonwebtoken@9.0.3 fast-jwt@6.3.6 jose@6.2.17 njwt@2.0.1 >&2
cat > run.mjs <<'JS'
import {createRequire} from 'module';
import {SignJWT} from 'jose';
const require = createRequire(import.meta.url);
const {sign} = require('jsonwebtoken');
const {createSigner} = require('fast-jwt');
const njwt = require('njwt');
const key = 'an example of a key with 32 bytes';
const payload = (token) => JSON.parse(Buffer.from(token.split('.')[1], 'base64url'));
const lifetime = (token) => {
  const seconds = payload(token).exp - payload(token).iat;
  return seconds < 5 ? 'below 5' : seconds;
};
for (const given of [3600, '3600']) {
  console.log(`jsonwebtoken, ${JSON.stringify(given)}: ${lifetime(sign({}, key, {expiresIn: given}))} s`);
}
for (const given of [3600, '3600', '1m', '1M']) {
  console.log(`fast-jwt, ${JSON.stringify(given)}: ${lifetime(createSigner({key, expiresIn: given})({}))} s`);
}
const moment = (seconds) => new Date(seconds * 1000).toISOString();
const token = await new SignJWT().setProtectedHeader({alg: 'HS256'}).setExpirationTime(3600).sign(Buffer.from(key));
console.log(`jose, 3600: ${moment(payload(token).exp)}`);
console.log(`njwt, 3600: ${moment(payload(njwt.create({}, key).setExpiration(3600).compact()).exp)}`);
JS
expected='jsonwebtoken, 3600: 3600 s
jsonwebtoken, "3600": below 5 s
fast-jwt, 3600: below 5 s
fast-jwt, "3600": below 5 s
fast-jwt, "1m": 60 s
fast-jwt, "1M": 60 s
jose, 3600: 1970-01-01T01:00:00.000Z
njwt, 3600: 1970-01-01T00:00:03.000Z'
found=$(timeout 60 node run.mjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
