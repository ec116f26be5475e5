#!/usr/bin/env bash
# ice_cube 0.16.4 (Ruby; Debian 12: ruby-ice-cube 0.16.4-3) and Sabre\VObject 2.1.7 (PHP) reading rules of iCalendar.
#
# Input: payouts on the last working day of each month, and on Monday and Sunday of every other week, whose first day
# is Monday unless the rule has WKST.
# Behaviour: ice_cube passes over BYSETPOS without an error: the payout of the last working day is due on each working
# day. Its weeks begin on Sunday, so every Sunday after the first Monday is a week late. With WKST=MO it is right.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq ruby-ice-cube=0.16.4-3 php-sabre-vobject=2.1.7-6.1 >&2
for package in ./*.deb; do
    dpkg-deb -x "$package" root
done
printf '%s\n' '20260130 FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1' '20260105 FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,SU' \
    '20260105 FREQ=WEEKLY;INTERVAL=2;WKST=MO;BYDAY=MO,SU' > rules
cat > run.rb <<'RUBY'
require 'time'
require 'ice_cube'
File.readlines('rules', chomp: true).map(&:split).each do |start, rule|
  schedule = IceCube::Schedule.from_ical("DTSTART:#{start}T090000Z\nRRULE:#{rule}")
  puts "ice_cube: #{schedule.first(6).map { |time| time.strftime('%m-%d') }.join(' ')}"
end
RUBY
cat > run.php <<'PHP'
<?php
error_reporting(E_ALL & ~E_DEPRECATED);
require 'Sabre/VObject/includes.php';
foreach (file('rules', FILE_IGNORE_NEW_LINES) as $line) {
    [$start, $rule] = explode(' ', $line);
    $calendar = Sabre\VObject\Reader::read("BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:1\r\nDTSTART:{$start}T090000Z\r\n"
        . "RRULE:$rule\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n");
    $days = [];
    for ($times = new Sabre\VObject\RecurrenceIterator($calendar, '1'); count($days) < 6; $times->next()) {
        $days[] = $times->getDTStart()->format('m-d');
    }
    echo 'Sabre: ', implode(' ', $days), "\n";
}
PHP
expected='ice_cube: 01-30 02-02 02-03 02-04 02-05 02-06
ice_cube: 01-05 01-18 01-19 02-01 02-02 02-15
ice_cube: 01-05 01-11 01-19 01-25 02-02 02-08
Sabre: 01-30 02-27 03-31 04-30 05-29 06-30
Sabre: 01-05 01-11 01-19 01-25 02-02 02-08
Sabre: 01-05 01-11 01-19 01-25 02-02 02-08'
found=$(
    timeout 30 ruby -I root/usr/share/rubygems-integration/all/gems/ice_cube-0.16.4/lib run.rb
    timeout 30 php -d include_path=root/usr/share/php run.php
)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
