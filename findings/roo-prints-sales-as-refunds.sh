#!/usr/bin/env bash
# ruby-roo 2.10.0 (Debian 12: 2.10.0-1) and xlsx 0.18.5 (npm), which return a cell as a spreadsheet shows it,
# the first with its method formatted_value().
#
# Input: amounts in the built-in format 39, #,##0.00;(#,##0.00), which puts refunds into parentheses; rates in
# the format 0%; and amounts in the format General.
# Behaviour: the sign is taken from the part before the point, so a sale of 0.50 is "(0.50)" like a refund, and
# 0 is "(0.00)". A rate is cut after a multiplication in floating point: 29 % is "28%", and 57 % "56%". General
# has no digits: 19.99 is "20".
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq ruby-roo=2.10.0-1 ruby-nokogiri=1.13.10+dfsg-2+b1 ruby-zip=2.3.2-1 libgumbo1 libxslt1.1 libxml2 libicu72 >&2
for package in ./*.deb; do dpkg-deb -x "$package" root; done
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent xlsx@0.18.5 >&2
cat > write.cjs <<'JS'
const xlsx = require('xlsx');
const cells = [[-1250, '#,##0.00;(#,##0.00)'], [1250, '#,##0.00;(#,##0.00)'], [0.5, '#,##0.00;(#,##0.00)'], [0, '#,##0.00;(#,##0.00)'],
  [0.28, '0%'], [0.29, '0%'], [0.57, '0%'], [19.99, 'General']];
const sheet = xlsx.utils.aoa_to_sheet(cells.map(([v, z]) => [{t: 'n', v, z}]));
const book = xlsx.utils.book_new();
xlsx.utils.book_append_sheet(book, sheet, 'sales');
xlsx.writeFile(book, 'sales.xlsx');
const shown = xlsx.readFile('sales.xlsx').Sheets.sales;
console.log(`xlsx: ${cells.map((_, index) => shown[`A${index + 1}`].w).join('  ')}`);
JS
cat > read.rb <<'RUBY'
$LOAD_PATH.unshift(*Dir['root/usr/{share,lib/*}/rubygems-integration/*/gems/*/lib'],
                   *Dir['root/usr/lib/*/rubygems-integration/*/extensions/*/*/*'])
require 'roo'
sales = Roo::Spreadsheet.open('sales.xlsx')
puts "roo: #{(1..sales.last_row).map { |number| sales.formatted_value(number, 1) }.join('  ')}"
RUBY
expected='xlsx: (1,250.00)  1,250.00  0.50  0.00  28%  29%  57%  19.99
roo: (1,250.00)  1,250.00  (0.50)  (0.00)  28%  28%  56%  20'
found=$(
    timeout 60 node write.cjs
    LD_LIBRARY_PATH=root/usr/lib/x86_64-linux-gnu timeout 60 ruby read.rb 2> log || cat log
)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
