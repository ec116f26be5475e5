#!/usr/bin/env bash
# fugit 1.5.2 (Debian 12: ruby-fugit 1.5.2-1), which reads schedules for rufus-scheduler and others.
#
# Input: cron expressions for the month's last day and for the working day next to the 15th, which fugit does
# not know, and durations with a point and with a comma.
# Behaviour: parse() tries a text that is no cron, no duration and no English as a date, for which a few
# digits are enough: the second expression is the midnight of this month's 15th, and 1,5h is five o'clock. A
# schedule of payouts from it runs once or, if the moment is over, never. Nothing is raised; parse_cron() says nil.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq ruby-fugit=1.5.2-1 ruby-raabro ruby-et-orbi ruby-tzinfo ruby-concurrent >&2
for package in ./*.deb; do dpkg-deb -x "$package" root; done
cat > run.rb <<'RUBY'
$LOAD_PATH.unshift('root/usr/lib/ruby/vendor_ruby', *Dir['root/usr/share/rubygems-integration/all/gems/*/lib'],
                   *Dir['root/usr/share/rubygems-integration/all/gems/*/lib/*'])
require 'fugit'
['0 9 L * *', '0 9 15W * *', '1.5h', '1,5h', '1 fortnight'].each do |text|
  puts "#{text}: #{Fugit.parse(text).class}, as a cron #{Fugit.parse_cron(text).class}"
end
RUBY
expected='0 9 L * *: Fugit::Cron, as a cron Fugit::Cron
0 9 15W * *: EtOrbi::EoTime, as a cron NilClass
1.5h: Fugit::Duration, as a cron NilClass
1,5h: EtOrbi::EoTime, as a cron NilClass
1 fortnight: NilClass, as a cron NilClass'
found=$(TZ=UTC timeout 60 ruby run.rb)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
