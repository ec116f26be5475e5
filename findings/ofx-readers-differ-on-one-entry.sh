#!/usr/bin/env bash
# node-ofx-parser 0.5.1, ofx-js 1.1.1 and ofx-data-extractor 1.5.0 (npm), reading OFX 1.0.2.
#
# Input: two bank statements, with one entry and with two, by "Smith & Sons", whose sign OFX writes as &amp;.
# Behaviour: two of them return a list of two entries and, where there is one, an object instead of a list.
# The name is right in one: ofx-data-extractor leaves &amp; in it, and node-ofx-parser escapes it twice more,
# so a payee is not found by the name. ofx-data-extractor's JSON calls the entries STRTTRN.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent node-ofx-parser@0.5.1 ofx-js@1.1.1 ofx-data-extractor@1.5.0 >&2
cat > run.mjs <<'JS'
import {createRequire} from 'module';
import {parse} from 'ofx-js';
const require = createRequire(import.meta.url);
const {Ofx} = require('ofx-data-extractor');
const entry = (id) => `<STMTTRN>\n<TRNTYPE>DEBIT\n<DTPOSTED>20260331\n<TRNAMT>-10.00\n<FITID>${id}\n<NAME>Smith &amp; Sons\n</STMTTRN>\n`;
const statement = (entries) => `OFXHEADER:100\nDATA:OFXSGML\nVERSION:102\nSECURITY:NONE\nENCODING:USASCII\nCHARSET:1252\nCOMPRESSION:NONE
OLDFILEUID:NONE\nNEWFILEUID:NONE\n\n<OFX>\n<BANKMSGSRSV1>\n<STMTTRNRS>\n<TRNUID>1\n<STMTRS>\n<CURDEF>USD\n<BANKTRANLIST>
<DTSTART>20260301\n<DTEND>20260331\n${entries.join('')}</BANKTRANLIST>\n</STMTRS>\n</STMTTRNRS>\n</BANKMSGSRSV1>\n</OFX>\n`;
const readers = {
  'node-ofx-parser': (text) => require('node-ofx-parser').parse(text),
  'ofx-js': parse,
  'ofx-data-extractor': (text) => new Ofx(text).toJson(),
};
for (const [name, read] of Object.entries(readers)) {
  for (const entries of [[entry(1)], [entry(1), entry(2)]]) {
    const list = (await read(statement(entries))).OFX.BANKMSGSRSV1.STMTTRNRS.STMTRS.BANKTRANLIST;
    const member = Object.keys(list).find((key) => key.endsWith('TRN'));
    const kind = Array.isArray(list[member]) ? 'list' : 'object';
    console.log(`${name}, ${entries.length}: ${kind} ${member}, ${[list[member]].flat()[0].NAME}`);
  }
}
JS
expected='node-ofx-parser, 1: object STMTTRN, Smith &amp;amp;amp; Sons
node-ofx-parser, 2: list STMTTRN, Smith &amp;amp;amp; Sons
ofx-js, 1: object STMTTRN, Smith & Sons
ofx-js, 2: list STMTTRN, Smith & Sons
ofx-data-extractor, 1: list STRTTRN, Smith &amp; Sons
ofx-data-extractor, 2: list STRTTRN, Smith &amp; Sons'
found=$(timeout 60 node run.mjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
