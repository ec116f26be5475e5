#!/usr/bin/env bash
# python3-febelfin-coda 0.2.0 (Debian 12: 0.2.0-3), with which Tryton reads Belgian statements, and coda-parser
# 0.0.3 (npm).
#
# Input: CODA statements of an account that receives 200.00, from 500.00 and, overdrawn, from -500.00, and of
# one that pays 600.00 from 500.00; and one that ends with a message of the bank, a record 4.
# Behaviour: febelfin-coda takes the sign of the opening balance from the next column, so an overdrawn balance
# is positive, and the statement is refused with "Wrong balance". One that only ends overdrawn is read. A
# statement with a message fails as well. coda-parser gives the opening balance in thousandths, and the closing
# one in euro.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq python3-febelfin-coda=0.2.0-3 >&2
dpkg-deb -x ./*.deb root
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent coda-parser@0.0.3 >&2
cat > write.py <<'PY'
import sys
account = "BE68539007547034".ljust(34) + "EUR"
def amount(cents): return f"{int(cents < 0)}{abs(cents) * 10:015d}"
def write(name, old, new, message=False):
    moved = new - old
    lines = ["0000002032653905".ljust(24) + "FILE1".ljust(10) + "SHOP".ljust(26) + "BBRUBEBB".ljust(11) + "0" * 11 + " 00000".ljust(45) + "2",
             "12001" + account + amount(old) + "010326" + "SHOP".ljust(26) + "ACCOUNT".ljust(35) + "001",
             "2100010000" + "REF1".ljust(21) + amount(moved) + "02032600150000" + "0" + "ORDER 17".ljust(53) + "02032600100 0",
             "8001" + account + amount(new) + "020326" + " " * 64 + str(int(message))]
    if message:
        lines.append("4 00010000".ljust(32) + "CLOSED ON FRIDAY".ljust(80) + " " * 15 + "0")
    lines.append("9".ljust(16) + f"{len(lines) - 1:06d}{max(-moved, 0) * 10:015d}{max(moved, 0) * 10:015d}" + " " * 75 + "2")
    assert all(len(line) == 128 for line in lines)
    open(name, "w").write("\n".join(lines) + "\n")
write("plain.cod", 50000, 70000)
write("overdrawn-before.cod", -50000, -30000)
write("overdrawn-after.cod", 50000, -10000)
write("message.cod", 50000, 70000, True)
PY
cat > read.py <<'PY'
import sys
from coda import CODA
for name in sys.argv[1:]:
    try:
        statement, = CODA(name).statements
        print(f"febelfin-coda, {name}: {statement.old_balance} to {statement.new_balance}")
    except Exception as error:
        print(f"febelfin-coda, {name}: {error}")
PY
cat > read.mjs <<'JS'
import {readFileSync} from 'fs';
import * as coda from 'coda-parser';
for (const name of process.argv.slice(2)) {
  const {balance} = coda.parse(readFileSync(name, 'utf8'));
  console.log(`coda-parser, ${name}: ${balance.old.balance} to ${balance.new.balance}`);
}
JS
expected="febelfin-coda, plain.cod: 500 to 700
febelfin-coda, overdrawn-before.cod: Wrong balance
febelfin-coda, overdrawn-after.cod: 500 to -100
febelfin-coda, message.cod: 'CODA' object has no attribute 'free_communications'
coda-parser, plain.cod: 500000 to 700
coda-parser, overdrawn-before.cod: -500000 to -300
coda-parser, overdrawn-after.cod: 500000 to -100
coda-parser, message.cod: 500000 to 700"
names=(plain.cod overdrawn-before.cod overdrawn-after.cod message.cod)
found=$(
    timeout 60 /usr/bin/python3 write.py
    PYTHONPATH=root/usr/lib/python3/dist-packages timeout 60 /usr/bin/python3 read.py "${names[@]}"
    timeout 60 node read.mjs "${names[@]}"
)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
