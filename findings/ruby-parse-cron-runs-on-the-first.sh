#!/usr/bin/env bash
# parse-cron 0.1.4 (Ruby; Debian 12: ruby-parse-cron 0.1.4-1.1), which computes the times of a cron expression.
#
# Input: payout runs on the 31st, the 30th and the 29th of each month, and on 29 February.
# Behaviour: in a month without that day the list of days is empty, and its first element, nil, becomes the 1st:
# the run of the 31st is also due on 1 February, 1 April and 1 June, and that of 29 February on 1 February of
# the other years. The method `last` names the same days.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq ruby-parse-cron=0.1.4-1.1 >&2
dpkg-deb -x ./*.deb root
cat > run.rb <<'RUBY'
require 'cron_parser'
['0 9 31 * *', '0 9 30 * *', '0 9 29 * *', '0 9 28 * *', '0 9 29 2 *'].each do |text|
  parser = CronParser.new(text)
  time = Time.utc(2026, 1, 20)
  days = Array.new(6) { (time = parser.next(time)).strftime('%m-%d') }
  puts "#{text}: #{days.join(' ')}, before 1 July #{parser.last(Time.utc(2026, 7, 1)).strftime('%m-%d')}"
end
RUBY
expected='0 9 31 * *: 01-31 02-01 03-31 04-01 05-31 06-01, before 1 July 06-01
0 9 30 * *: 01-30 02-01 03-30 04-30 05-30 06-30, before 1 July 06-30
0 9 29 * *: 01-29 02-01 03-29 04-29 05-29 06-29, before 1 July 06-29
0 9 28 * *: 01-28 02-28 03-28 04-28 05-28 06-28, before 1 July 06-28
0 9 29 2 *: 02-01 02-29 02-01 02-01 02-01 02-29, before 1 July 02-01'
found=$(TZ=UTC timeout 60 ruby -I root/usr/lib/ruby/vendor_ruby run.rb)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
