#!/usr/bin/env bash
# ruby-money 6.16.0 (Debian 12: 6.16.0-1).
#
# Input: 1.00 and 10.00 USD, divided among creators with shares of 10, 20 and 70 percent.
# Behaviour: given as fractions, 10 percent of a dollar is eleven cents, and 20 percent nineteen, because the
# shares are added up in floating point and what that loses goes to the first. As whole numbers or
# Rationals they are exact.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq ruby-money=6.16.0-1 ruby-i18n=1.10.0-2 ruby-concurrent=1.1.6+dfsg-5 >&2
for package in ./*.deb; do dpkg-deb -x "$package" root; done
cat > run.rb <<'RUBY'
$LOAD_PATH.unshift(*Dir['root/usr/share/rubygems-integration/all/gems/*/lib'], *Dir['root/usr/share/rubygems-integration/all/gems/*/lib/*'])
require 'money'
Money.locale_backend = nil
Money.rounding_mode = BigDecimal::ROUND_HALF_EVEN
[[0.1, 0.2, 0.7], [10, 20, 70], [1/10r, 2/10r, 7/10r]].each do |shares|
  [100, 1000].each do |cents|
    puts "#{shares.join(' ')}: #{Money.new(cents, 'USD').allocate(shares).join(' ')}"
  end
end
RUBY
expected='0.1 0.2 0.7: 0.11 0.19 0.70
0.1 0.2 0.7: 1.01 1.99 7.00
10 20 70: 0.10 0.20 0.70
10 20 70: 1.00 2.00 7.00
1/10 1/5 7/10: 0.10 0.20 0.70
1/10 1/5 7/10: 1.00 2.00 7.00'
found=$(timeout 60 ruby run.rb)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
