#!/usr/bin/env bash
# xlsx2csv 0.7.8 (Debian 12: 1:0.7.8-1).
#
# Input: a workbook with the amounts 0.285 and 1234.5678 in the formats General, 0.00, #,##0.00 and
# 0.00;[Red]-0.00, all but the first of which a spreadsheet shows with two digits.
# Behaviour: 0.00 rounds the amount, half a cent to the even digit, where a spreadsheet shows 0.29. The format
# with thousands writes what is stored, and the one with a red minus ten digits. So the sum of a
# column depends on how it was formatted.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq xlsx2csv=1:0.7.8-1 >&2
dpkg-deb -x ./*.deb root
cat > make.py <<'PY'
from zipfile import ZipFile
head = '<?xml version="1.0"?>'
formats = "General", "0.00", "#,##0.00", "0.00;[Red]-0.00"
schemas = "http://schemas.openxmlformats.org/"
main = f'xmlns="{schemas}spreadsheetml/2006/main"'
document = f"{schemas}officeDocument/2006/relationships"
rows = "".join(f'<row r="{n}"><c r="A{n}" s="{n - 1}"><v>0.285</v></c><c r="B{n}" s="{n - 1}"><v>1234.5678</v></c></row>' for n in range(1, 5))
parts = {
    "[Content_Types].xml": f'<Types xmlns="{schemas}package/2006/content-types"><Default Extension="xml" ContentType="application/xml"/>'
    '<Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>'
    '<Override PartName="/xl/styles.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.styles+xml"/>'
    '<Override PartName="/xl/worksheets/sheet1.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/></Types>',
    "_rels/.rels": f'<Relationships xmlns="{schemas}package/2006/relationships"><Relationship Id="r1" Type="{document}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
    "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{schemas}package/2006/relationships"><Relationship Id="r1" Type="{document}/worksheet" Target="worksheets/sheet1.xml"/>'
    f'<Relationship Id="r2" Type="{document}/styles" Target="styles.xml"/></Relationships>',
    "xl/workbook.xml": f'<workbook {main} xmlns:r="{document}"><sheets><sheet name="Orders" sheetId="1" r:id="r1"/></sheets></workbook>',
    "xl/styles.xml": f"<styleSheet {main}><numFmts>" + "".join(f'<numFmt numFmtId="{164 + n}" formatCode="{code}"/>' for n, code in enumerate(formats))
    + "</numFmts><cellXfs>" + "".join(f'<xf numFmtId="{164 + n}" applyNumberFormat="1"/>' for n in range(4)) + "</cellXfs></styleSheet>",
    "xl/worksheets/sheet1.xml": f"<worksheet {main}><sheetData>{rows}</sheetData></worksheet>",
}
with ZipFile("orders.xlsx", "w") as book:
    for name, text in parts.items():
        book.writestr(name, head + text)
PY
/usr/bin/python3 make.py
expected='General 0.285,1234.5678
0.00 0.28,1234.57
#,##0.00 0.285,1234.5678
0.00;[Red]-0.00 0.2850000000,1234.5678000000'
found=$(PYTHONPATH=root/usr/lib/python3/dist-packages timeout 60 /usr/bin/python3 root/usr/bin/xlsx2csv orders.xlsx |
    paste -d ' ' <(printf '%s\n' General 0.00 '#,##0.00' '0.00;[Red]-0.00') -)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
