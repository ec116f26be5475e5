#!/usr/bin/env bash
# isodatetime 3.0.0 (Debian 12: python3-isodatetime 3.0.0-1), dates, durations and recurrences of ISO 8601.
#
# Input: a term of three months from 31 January and one of one month from 31 March, a subscription that is renewed each
# month or each quarter from 31 January, and one whose last renewal is on 31 March.
# Behaviour: months are added one by one, and each may shorten the day: three months after 31 January is 28 April, and
# not the 30th. A recurrence goes on from its previous day, so after February it stays on the 28th, and the one that
# ends on 31 March does not name that day.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq python3-isodatetime=3.0.0-1 >&2
dpkg-deb -x ./*.deb root
isodatetime() {
    PYTHONPATH=root/usr/lib/python3/dist-packages timeout 30 python3 root/usr/bin/isodatetime --utc "$@"
}
expected='2026-04-28
2026-04-30
R5/2026-01-31T09Z/P1M: 01-31 02-28 03-28 04-28 05-28
R5/2026-01-31T09Z/P3M: 01-31 04-28 07-28 10-28 01-28
R4/P1M/2026-03-31T09Z: 12-28 01-28 02-28 03-28'
found=$(
    isodatetime 2026-01-31T09Z --offset=P3M --print-format=%Y-%m-%d
    isodatetime 2026-03-31T09Z --offset=P1M --print-format=%Y-%m-%d
    for recurrence in R5/2026-01-31T09Z/P1M R5/2026-01-31T09Z/P3M R4/P1M/2026-03-31T09Z; do
        echo "$recurrence: $(isodatetime "$recurrence" --print-format=%m-%d | paste -sd ' ')"
    done
)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
