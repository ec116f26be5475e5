#!/usr/bin/env bash
# py-lmdb 1.4.0 (Debian 12: python3-lmdb 1.4.0-1+b1), with liblmdb 0.9.24.
#
# Input: a queue of six orders, emptied by a loop over a cursor that takes each order and deletes it, by the
# cursor or by the transaction.
# Behaviour: Cursor.delete moves to the next order, as documented, and the loop moves once more, so every
# second order is neither taken nor deleted. Backwards the loop ends after one order, because there is none
# after the last. The cursor's pop has no such effect, nor has delete of the transaction, forwards or backwards.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq python3-lmdb=1.4.0-1+b1 liblmdb0=0.9.24-1 >&2
for package in ./*.deb; do dpkg-deb -x "$package" root; done
cat > run.py <<'PY'
import lmdb

environment = lmdb.open("queue", map_size=1 << 20)

def empty(name, walk, delete):
    with environment.begin(write=True) as transaction:
        for number in range(1, 7):
            transaction.put(b"order %d" % number, b"19.99")
    taken = []
    with environment.begin(write=True) as transaction:
        cursor = transaction.cursor()
        for key, value in walk(cursor):
            taken.append(key[-1:].decode())
            delete(transaction, cursor, key)
    with environment.begin(write=True) as transaction:
        left = [key[-1:].decode() for key, value in transaction.cursor()]
        for number in left:
            transaction.delete(b"order " + number.encode())
    print(f"{name}: {' '.join(taken)} taken, {' '.join(left) or 'none'} left")

for direction in "iternext", "iterprev":
    walk = getattr(lmdb.Cursor, direction)
    empty(direction + ", cursor.delete", walk, lambda transaction, cursor, key: cursor.delete())
    empty(direction + ", cursor.pop", walk, lambda transaction, cursor, key: cursor.pop(key))
    empty(direction + ", transaction.delete", walk, lambda transaction, cursor, key: transaction.delete(key))
PY
expected='iternext, cursor.delete: 1 3 5 taken, 2 4 6 left
iternext, cursor.pop: 1 2 3 4 5 6 taken, none left
iternext, transaction.delete: 1 2 3 4 5 6 taken, none left
iterprev, cursor.delete: 6 taken, 1 2 3 4 5 left
iterprev, cursor.pop: 6 5 4 3 2 1 taken, none left
iterprev, transaction.delete: 6 5 4 3 2 1 taken, none left'
found=$(LD_LIBRARY_PATH=root/usr/lib/x86_64-linux-gnu PYTHONPATH=root/usr/lib/python3/dist-packages timeout 60 /usr/bin/python3 run.py)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
