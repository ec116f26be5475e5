#!/usr/bin/env bash
# ruby-roo 2.10.0 (Debian 12: 2.10.0-1) and xlsx 0.18.5 (npm), reading OpenDocument spreadsheets.
#
# Input: a sheet of two sales whose amounts have the format of a currency, as LibreOffice writes it, and one of
# four sales of which the first three are equal. OpenDocument allows to write such rows once, with
# number-rows-repeated.
# Behaviour: roo reads a currency's amount as a text: 19.99 and 5.25 added up are 19.995.25, and its to_csv()
# refuses the sheet. A repeated row is at the last of its places, and nil at the others, so two sales are lost.
# xlsx reads both sheets correctly.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq ruby-roo=2.10.0-1 ruby-nokogiri=1.13.10+dfsg-2+b1 ruby-zip=2.3.2-1 libgumbo1 libxslt1.1 libxml2 libicu72 >&2
for package in ./*.deb; do dpkg-deb -x "$package" root; done
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent xlsx@0.18.5 >&2
cat > write.py <<'PY'
import zipfile
NAMES = "".join(f' xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("office", "text", "table"))
TYPE = "application/vnd.oasis.opendocument.spreadsheet"
def text(value): return f'<table:table-cell office:value-type="string"><text:p>{value}</text:p></table:table-cell>'
def number(value, kind='"float"'):
    return f'<table:table-cell office:value-type={kind} office:value="{value}"><text:p>{value}</text:p></table:table-cell>'
def row(cells, more=""): return f"<table:table-row{more}>{cells}</table:table-row>"
def write(file, rows):
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("mimetype", TYPE)
        archive.writestr("META-INF/manifest.xml", '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0" '
            f'manifest:version="1.2"><manifest:file-entry manifest:full-path="/" manifest:media-type="{TYPE}"/>'
            '<manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml"/></manifest:manifest>')
        archive.writestr("content.xml", f'<office:document-content{NAMES} office:version="1.2"><office:body><office:spreadsheet>'
            f'<table:table table:name="sales">{rows}</table:table></office:spreadsheet></office:body></office:document-content>')
EURO = '"currency" office:currency="EUR"'
write("sales.ods", row(text("ANNA10") + number("19.99", EURO)) + row(text("BEN10") + number("5.25", EURO)))
write("repeated.ods", row(text("ANNA10") + number("19.99"), ' table:number-rows-repeated="3"') + row(text("BEN10") + number("5.25")))
PY
cat > read.rb <<'RUBY'
$LOAD_PATH.unshift(*Dir['root/usr/{share,lib/*}/rubygems-integration/*/gems/*/lib'],
                   *Dir['root/usr/lib/*/rubygems-integration/*/extensions/*/*/*'])
require 'roo'
sales, repeated = %w[sales repeated].map { |name| Roo::Spreadsheet.open("#{name}.ods") }
puts "roo: #{sales.column(2)}, added up #{sales.column(2).inject(:+)}, to_csv: #{begin sales.to_csv; rescue RuntimeError => e; e.message; end}"
puts "roo, repeated: #{(1..repeated.last_row).map { |number| repeated.row(number).inspect }.join(' ')}"
RUBY
cat > read.cjs <<'JS'
const xlsx = require('xlsx');
const rows = (file) => xlsx.utils.sheet_to_json(xlsx.readFile(file).Sheets.sales, {header: 1});
console.log(`xlsx: ${JSON.stringify(rows('sales.ods').map((row) => row[1]))}`);
console.log(`xlsx, repeated: ${rows('repeated.ods').map((row) => JSON.stringify(row)).join(' ')}`);
JS
expected='roo: ["19.99", "5.25"], added up 19.995.25, to_csv: unhandled celltype currency
roo, repeated: [nil, nil] [nil, nil] ["ANNA10", 19.99] ["BEN10", 5.25]
xlsx: [19.99,5.25]
xlsx, repeated: ["ANNA10",19.99] ["ANNA10",19.99] ["ANNA10",19.99] ["BEN10",5.25]'
found=$(
    /usr/bin/python3 write.py
    LD_LIBRARY_PATH=root/usr/lib/x86_64-linux-gnu timeout 60 ruby read.rb
    timeout 60 node read.cjs
)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
