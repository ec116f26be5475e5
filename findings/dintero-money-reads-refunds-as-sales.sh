#!/usr/bin/env bash
# @dintero/money 1.1.12 (npm), on Node.js 20 or newer.
#
# Input: -1234.50 kroner or euro, written with toLocaleString and read back with fromLocaleString, in the same locale.
# Behaviour: in Norwegian, Swedish, Finnish, Slovenian, Croatian and other locales the minus is U+2212, as CLDR
# says, and fromLocaleString drops it with the separators. So the library reads its own refund of
# 1234.50 as a sale of 1234.50. In Danish and German, with a hyphen, it reads -1234.50.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent @dintero/money@1.1.12 >&2
cat > run.cjs <<'JS'
const {Money} = require('@dintero/money');
for (const [locale, currency] of [['nb-NO', 'NOK'], ['no-NB', 'NOK'], ['sv-SE', 'SEK'], ['fi-FI', 'EUR'], ['sl-SI', 'EUR'],
  ['hr-HR', 'EUR'], ['lt-LT', 'EUR'], ['da-DK', 'DKK'], ['de-DE', 'EUR'], ['en-US', 'USD']]) {
  const text = Money.of(-1234.5, currency).toLocaleString(locale);
  const minus = text.codePointAt(0).toString(16);
  console.log(`${locale}: minus ${minus}, read as ${Money.fromLocaleString(text, currency, locale)}`);
}
JS
expected='nb-NO: minus 2212, read as 1234.50
no-NB: minus 2212, read as 1234.50
sv-SE: minus 2212, read as 1234.50
fi-FI: minus 2212, read as 1234.50
sl-SI: minus 2212, read as 1234.50
hr-HR: minus 2212, read as 1234.50
lt-LT: minus 2212, read as 1234.50
da-DK: minus 2d, read as -1234.50
de-DE: minus 2d, read as -1234.50
en-US: minus 2d, read as -1234.50'
found=$(timeout 60 node run.cjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
