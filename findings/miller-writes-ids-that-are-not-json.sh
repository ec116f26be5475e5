#!/usr/bin/env bash
# Miller 6.6.0 (Debian 12: miller 6.6.0-2), from CSV to JSON.
#
# Input: order ids of letters and digits, and an id of 20 digits.
# Behaviour: ids like 0x1F and 0b11 are numbers, and are written as they are in the file, without
# quotes. JSON has no such numbers, so its readers refuse the output, although Miller reports success.
# An id of 20 digits and one with a leading zero become texts, and one of 19 digits a number. Adding to
# a text gives the bare word (error), which is no JSON either.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq miller=6.6.0-2+b3 >&2
dpkg-deb -x ./miller_*.deb root
printf '%s\n' id 0x1F 0b11 1e3 0012 1234567890123456789 12345678901234567890 > ids.csv
mlr() { timeout 60 root/usr/bin/mlr "$@"; }
expected='{"id": 0x1F, "next": 32}
{"id": 0b11, "next": 4}
{"id": 1e3, "next": 1001}
{"id": "0012", "next": (error)}
{"id": 1234567890123456789, "next": 1234567890123456790}
{"id": "12345678901234567890", "next": (error)}
status 0'
found=$(mlr --icsv --ojsonl put '$next = $id + 1' ids.csv; echo "status $?")
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
