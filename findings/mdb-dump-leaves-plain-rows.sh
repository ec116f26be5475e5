#!/usr/bin/env bash
# lmdb-utils 0.9.24 (Debian 12: lmdb-utils 0.9.24-1) with python3-lmdb 1.4.0-1.
#
# Input: an environment whose main database has a plain row next to a named database.
# Behaviour: mdb_dump -a, "all databases", writes the named ones and leaves the plain row out, with the
# status 0, and mdb_load makes an environment without it. Without -a the plain row is written, and the
# named database's internal record with it. So a copy by dump and load needs care, or mdb_copy.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq lmdb-utils=0.9.24-1 liblmdb0=0.9.24-1 python3-lmdb=1.4.0-1+b1 >&2
for package in ./*.deb; do dpkg-deb -x "$package" root; done
export LD_LIBRARY_PATH=root/usr/lib/x86_64-linux-gnu PYTHONPATH=root/usr/lib/python3/dist-packages
mkdir copy
timeout 60 /usr/bin/python3 - <<'PY'
import lmdb
environment = lmdb.open("first", max_dbs=1, map_size=1 << 20)
named = environment.open_db(b"named")
with environment.begin(write=True) as transaction:
    transaction.put(b"plain", b"1")
    transaction.put(b"key", b"2", db=named)
PY
expected='dumped with -a, status 0: 2 lines
loaded, status 0
first: 1 plain
copy: 0 plain'
found=$(
    root/usr/bin/mdb_dump -a -p first > all.dump
    echo "dumped with -a, status $?: $(grep -c '^ ' all.dump) lines"
    root/usr/bin/mdb_load -f all.dump copy 2> log
    echo "loaded, status $?"
    for name in first copy; do
        echo "$name: $(root/usr/bin/mdb_dump -p "$name" | grep -c '^ plain') plain"
    done
)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
