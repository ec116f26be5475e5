#!/usr/bin/env bash
# dateutils 0.4.10 (Debian 12: 0.4.10-1).
#
# Input: pairs of days, and the format "%m months %d days", for a share of a month.
# Behaviour: from a day that February does not have to the first days of March, ddiff says so and so many
# months and 62 days, instead of one day. To other days of March it is right.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq dateutils=0.4.10-1 >&2
dpkg-deb -x ./*.deb root
expected='2026-01-15 2026-03-20: 2 months 5 days
2026-01-31 2026-02-28: 0 months 28 days
2026-01-31 2026-03-01: 1 months 62 days
2025-12-31 2026-03-01: 2 months 62 days
2026-01-31 2026-03-15: 1 months 12 days'
found=$(while IFS=' :' read -r from to _; do
    echo "$from $to: $(timeout 60 root/usr/bin/dateutils.ddiff "$from" "$to" -f '%m months %d days')"
done <<< "$expected")
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
