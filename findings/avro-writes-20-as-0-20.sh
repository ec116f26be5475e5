#!/usr/bin/env bash
# avro 1.11.1 (Python; Debian 12: python3-avro 1.11.1+dfsg-2), amounts of the logical type decimal.
#
# Input: amounts as Decimal in fields with two digits, as bytes and as fixed, written and read with the same schema.
# Behaviour: the digits of a Decimal are written without regard to how many of them are decimals, if these are not more
# than in the schema: 20 is read as 0.20 and 19.9 as 1.99, and 20.00 and 19.90 are right. A third decimal raises an
# error.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq python3-avro=1.11.1+dfsg-2 >&2
dpkg-deb -x ./*.deb root
cat > run.py <<'PYTHON'
import io
import json
from decimal import Decimal

import avro.io
import avro.schema

amount = {'logicalType': 'decimal', 'precision': 12, 'scale': 2}
fields = [{'name': 'bytes', 'type': {'type': 'bytes', **amount}},
          {'name': 'fixed', 'type': {'type': 'fixed', 'name': 'eight', 'size': 8, **amount}}]
schema = avro.schema.parse(json.dumps({'type': 'record', 'name': 'payout', 'fields': fields}))
for value in (Decimal('20.00'), Decimal('20'), Decimal('19.90'), Decimal('19.9'), Decimal(100), Decimal('-7.5'), Decimal('0.005')):
    buffer = io.BytesIO()
    try:
        avro.io.DatumWriter(schema).write({'bytes': value, 'fixed': value}, avro.io.BinaryEncoder(buffer))
    except avro.errors.AvroException as error:
        print(f'{value}: {error}')
        continue
    buffer.seek(0)
    read = avro.io.DatumReader(schema).read(avro.io.BinaryDecoder(buffer))
    print(f'{value} is read as {read["bytes"]} and {read["fixed"]}')
PYTHON
expected='20.00 is read as 20.00 and 20.00
20 is read as 0.20 and 0.20
19.90 is read as 19.90 and 19.90
19.9 is read as 1.99 and 1.99
100 is read as 1.00 and 1.00
-7.5 is read as -0.75 and -0.75
0.005: The exponent of 0.005, -3, is too large for the schema scale of 2'
found=$(PYTHONPATH=root/usr/lib/python3/dist-packages timeout 60 python3 run.py)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
