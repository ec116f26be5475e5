#!/usr/bin/env bash
# ofxparse 0.21 (Debian 12: python3-ofxparse 0.21-2).
#
# Input: bank entries of the last evening of March in New York and of the first night of April in Tokyo, with
# the offset that OFX has in brackets, and amounts with a comma.
# Behaviour: the moment becomes UTC without a time zone, so its date is the next month's or the last one's
# and no longer the statement's. 1,234 is 1.234, where 1,234.50 is more than a thousand.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq python3-ofxparse=0.21-2 python3-bs4 python3-soupsieve python3-lxml python3-six python3-html5lib python3-webencodings >&2
for package in ./*.deb; do dpkg-deb -x "$package" root; done
cat > run.py <<'PY'
import io
from ofxparse import OfxParser
for moment, amount in ("20260331233000[-5:EST]", "10.00"), ("20260401003000[+9:JST]", "10.00"), ("20260331", "1,234.50"), ("20260331", "1,234"):
    text = f"""OFXHEADER:100
DATA:OFXSGML
VERSION:102
SECURITY:NONE
ENCODING:USASCII
CHARSET:1252
COMPRESSION:NONE
OLDFILEUID:NONE
NEWFILEUID:NONE

<OFX><BANKMSGSRSV1><STMTTRNRS><TRNUID>1<STMTRS><CURDEF>USD<BANKACCTFROM><BANKID>1<ACCTID>2<ACCTTYPE>CHECKING</BANKACCTFROM>
<BANKTRANLIST><DTSTART>20260301<DTEND>20260430<STMTTRN><TRNTYPE>CREDIT<DTPOSTED>{moment}<TRNAMT>{amount}<FITID>1<NAME>Brand</STMTTRN>
</BANKTRANLIST></STMTRS></STMTTRNRS></BANKMSGSRSV1></OFX>"""
    entry = OfxParser.parse(io.BytesIO(text.encode())).account.statement.transactions[0]
    print(f"{moment} {amount}: {entry.date} {entry.amount}, zone {entry.date.tzinfo}")
PY
expected='20260331233000[-5:EST] 10.00: 2026-04-01 04:30:00 10.00, zone None
20260401003000[+9:JST] 10.00: 2026-03-31 15:30:00 10.00, zone None
20260331 1,234.50: 2026-03-31 00:00:00 1234.50, zone None
20260331 1,234: 2026-03-31 00:00:00 1.234, zone None'
found=$(PYTHONPATH=root/usr/lib/python3/dist-packages timeout 60 /usr/bin/python3 run.py)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
