#!/usr/bin/env bash
# zint 2.11.1 (Debian 12: 2.11.1-1), jsbarcode 3.12.3 and bwip-js 4.11.4 (npm).
#
# Input: the UPC-A 036000291452, with its check digit, as an EAN-13, which it is with a zero in front; and
# the EAN-8 12345670 for zint's EANX, which stands for both lengths.
# Behaviour: all three take the twelve digits for an EAN-13 that lacks its check digit, and append one. The
# label is valid and of another article. zint does so with the EAN-8 too, where five zeros come in front.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq zint=2.11.1-1 libzint2.11=2.11.1-1 libpng16-16 zlib1g >&2
for package in ./*.deb; do dpkg-deb -x "$package" root; done
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent jsbarcode@3.12.3 bwip-js@4.11.4 >&2
cat > run.cjs <<'JS'
const JsBarcode = require('jsbarcode'), {raw} = require('bwip-js');
for (const code of ['0036000291452', '036000291452']) {
  const label = {};
  JsBarcode(label, code, {format: 'EAN13'});
  console.log(`jsbarcode ${code}: ${label.encodings.map(({text}) => text || '').join('')}`);
  console.log(`bwip-js ${code}: ${raw('ean13', code, {includetext: true})[0].txt.map(([text]) => text).join('')}`);
}
JS
expected='jsbarcode 0036000291452: 0036000291452
bwip-js 0036000291452: 0036000291452
jsbarcode 036000291452: 0360002914522
bwip-js 036000291452: 0360002914522
zint 0036000291452: 0036000291452
zint 036000291452: 0360002914522
zint 12345670: 0000123456708'
found=$(
    timeout 60 node run.cjs
    for code in 0036000291452 036000291452 12345670; do
        LD_LIBRARY_PATH=root/usr/lib:root/usr/lib/x86_64-linux-gnu timeout 60 root/usr/bin/zint -b EANX -d "$code" --direct --filetype=svg |
            sed -n 's/^ *\([0-9]*\) *$/\1/p' | tr -d '\n' | sed "s/.*/zint $code: &\n/"
    done
)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
