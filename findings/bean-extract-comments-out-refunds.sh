#!/usr/bin/env bash
# beancount 2.3.5 (Debian 12: beancount, python3-beancount 2.3.5-2), importing a CSV with bean-extract and its
# own CSV importer.
#
# Input: books with an order of 100.00 of 1 March, and the CSV of the following days: its refund, an order of
# 104.00, an order of 106.00, and a fee.
# Behaviour: an entry that is at most two days and less than 5 % away from one in the books is taken for a
# duplicate, whatever its text and reference are, and is written as a comment. Signs are not compared, so the
# refund is a duplicate of the order that it refunds. The status is 0, and the books keep the income of both.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq beancount=2.3.5-2 python3-beancount=2.3.5-2+b1 python3-dateutil=2.8.2-2 python3-six=1.16.0-4 \
    python3-chardet=5.1.0+dfsg-2 >&2
for package in ./*.deb; do dpkg-deb -x "$package" root; done
printf '%s\n' '2026-01-01 open Assets:PayPal EUR' '2026-01-01 open Income:Shop EUR' '2026-03-01 * "Order 17"' \
    '  Assets:PayPal   100.00 EUR' '  Income:Shop    -100.00 EUR' > books.beancount
printf '%s\n' 'Date,Text,Reference,Amount' '2026-03-02,Refund of order 17,R1,-100.00' '2026-03-02,Order 18,S18,104.00' \
    '2026-03-03,Order 19,S19,106.00' '2026-03-03,Fee,F1,-1.00' > paypal.csv
cat > config.py <<'PY'
from beancount.ingest.importers.csv import Col, Importer
columns = {Col.DATE: "Date", Col.NARRATION: "Text", Col.REFERENCE_ID: "Reference", Col.AMOUNT: "Amount"}
CONFIG = [Importer(columns, "Assets:PayPal", "EUR", ["Date,Text,Reference,Amount"])]
PY
expected='; 2026-03-02 * "Refund of order 17" ^R1
;   Assets:PayPal  -100.00 EUR
; 2026-03-02 * "Order 18" ^S18
;   Assets:PayPal  104.00 EUR
2026-03-03 * "Order 19" ^S19
  Assets:PayPal  106.00 EUR
2026-03-03 * "Fee" ^F1
  Assets:PayPal  -1.00 EUR
status 0'
found=$(
    status=0
    PYTHONPATH=root/usr/lib/python3/dist-packages timeout 60 /usr/bin/python3 root/usr/bin/bean-extract -e books.beancount \
        config.py paypal.csv > extracted || status=$?
    grep -v -e '^\*' -e '^;;' -e '^$' extracted
    echo "status $status"
)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
