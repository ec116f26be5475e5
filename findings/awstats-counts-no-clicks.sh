#!/usr/bin/env bash
# awstats 7.8 (Debian 12: 7.8-3+deb12u2), goaccess 1.7 (1:1.7-1) and webalizer 2.23.08 (2.23.08-3.3).
#
# Input: an access log with three clicks on links that answer 302, from two visitors, and one page of the shop.
# Behaviour: awstats with default settings takes every status but 200 and 304 for an error, so a link that
# redirects has no page view, and its visitor is not counted. webalizer counts the visitors, and its pages
# have no such link either. goaccess has both.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq awstats=7.8-3+deb12u2 goaccess=1:1.7-1 webalizer=2.23.08-3.3 libgeoip1 libmaxminddb0 libncursesw6 libtinfo6 libgd3 >&2
for package in ./*.deb; do dpkg-deb -x "$package" root; done
export LD_LIBRARY_PATH=$folder/root/usr/lib/x86_64-linux-gnu:$folder/root/lib/x86_64-linux-gnu
browser='Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/122.0.0.0 Safari/537.36'
while read -r address minute path status; do
    printf '%s - - [01/Mar/2026:12:%s:00 +0000] "GET %s HTTP/1.1" %s 100 "https://www.instagram.com/" "%s"\n' \
        "$address" "$minute" "$path" "$status" "$browser"
done > access.log <<'LOG'
192.0.2.1 00 /go/anna 302
192.0.2.1 01 /go/anna 302
192.0.2.2 02 /go/ben 302
192.0.2.3 03 /shop 200
LOG
cat > awstats.shop.conf <<CONF
LogFile="$folder/access.log"
LogType=W
LogFormat=1
SiteDomain="example.com"
HostAliases="localhost"
DNSLookup=0
DirData="$folder"
CONF
timeout 60 perl root/usr/lib/cgi-bin/awstats.pl -config=shop -configdir="$folder" -update > /dev/null 2>&1
timeout 60 root/usr/bin/goaccess access.log --no-global-config --log-format=COMBINED -o report.json > /dev/null 2>&1
mkdir pages
timeout 60 root/usr/bin/webalizer -Q -o pages -n shop access.log
expected='awstats: 1 visitors, pages /shop
goaccess: 3 visitors, pages /go/anna /go/ben /shop
webalizer: 3 visitors, pages /shop'
found=$(
    stored=$(cat awstats032026.shop.txt)
    echo "awstats: $(sed -n 's/^TotalUnique \([0-9]*\).*/\1/p' <<< "$stored") visitors, pages $(
        sed -n '/^BEGIN_SIDER /,/^END_SIDER/s/^\(\/[^ ]*\) .*/\1/p' <<< "$stored" | sort | xargs)"
    /usr/bin/python3 -c '
import json
report = json.load(open("report.json"))
pages = sorted(row["data"] for row in report["requests"]["data"])
print("goaccess:", report["general"]["unique_visitors"], "visitors, pages", *pages)'
    page=$(sed 's/<[^>]*>//g' pages/usage_202603.html)
    echo "webalizer: $(grep -A 1 '^Total Unique Sites' <<< "$page" | tail -1) visitors, pages $(grep -o '^ *\/[a-z/]*$' <<< "$page" | sort -u | xargs)"
)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
