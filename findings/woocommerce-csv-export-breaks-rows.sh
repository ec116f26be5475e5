#!/usr/bin/env bash
# @woocommerce/csv-export 1.11.0 (npm), which writes the reports of WooCommerce, read by csv-parse 6.1.0.
#
# Input: rows of a report with a coupon in a text, with an article with inches in its name, and with the amount of a
# refund as a text, as the REST API has amounts, and as a number.
# Behaviour: a text that begins with -, +, = or @ gets an apostrophe and quotation marks, but those inside it are
# not doubled. So the text "-10% on 12" shelf, oak" leaves its field: csv-parse refuses the file, and with
# relax_quotes the row has a field more. The refund "-19.99" becomes the text '-19.99, which no sum contains.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent @woocommerce/csv-export@1.11.0 browser-filesaver@1.1.1 csv-parse@6.1.0 >&2
cat > run.cjs <<'JS'
globalThis.self = globalThis.window = {navigator: {}, document: {createElementNS: () => ({})}};
globalThis.document = window.document;
globalThis.navigator ??= {userAgent: ''};
const {generateCSVDataFromTable: generate} = require('@woocommerce/csv-export'), {parse} = require('csv-parse/sync');
const headers = ['Order', 'Coupon', 'Net sales'].map((label) => ({label}));
const rows = [['1001', '12" shelf, oak', '19.99'], ['1002', '10% on 12" shelf, oak', -19.99], ['1003', '-10% on 12" shelf, oak', '-19.99']];
const text = generate(headers, rows.map((row) => row.map((value) => ({value}))));
console.log(text);
try {
  parse(text);
} catch (error) {
  console.log(error.code);
}
for (const row of parse(text, {relax_quotes: true, relax_column_count: true}).slice(1)) console.log(`${row.length} fields: ${row.join(' | ')}`);
JS
expected='Order,Coupon,"Net sales"
1001,"12"" shelf, oak",19.99
1002,"10% on 12"" shelf, oak",-19.99
1003,"'\''-10% on 12" shelf, oak","'\''-19.99"
CSV_INVALID_CLOSING_QUOTE
3 fields: 1001 | 12" shelf, oak | 19.99
3 fields: 1002 | 10% on 12" shelf, oak | -19.99
4 fields: 1003 | "'\''-10% on 12" shelf |  oak" | '\''-19.99'
found=$(timeout 60 node run.cjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
