#!/usr/bin/env bash
# Locale::Currency::Format 1.35 (Debian 12: liblocale-currency-format-perl 1.35-3).
#
# Input: amounts in Tunisian dinars, in Icelandic kronur and, as text, in dollars with a comma.
# Behaviour: dinars are printed without a decimal sign, so 1.2 is 1200 TND. Kronur have two digits of cents
# that they lost in 2007, and 1,234.50 is one dollar. Currencies that it does not know give undef.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq liblocale-currency-format-perl=1.35-3 >&2
dpkg-deb -x ./*.deb root
expected='TND 1.2: 1200 TND
TND 1234.567: 1234567 TND
KWD 1.2: 1.200 KWD
ISK 1234.5: 1.234,50 ISK
USD 1,234.50: 1.00 USD
XCG 1.5: undef'
cat > run.pl <<'PERL'
use Locale::Currency::Format;
while (my $line = <STDIN>) {
    my ($currency, $amount) = $line =~ /^(\w+) (.*):/;
    my $text = eval { currency_format($currency, $amount) } // 'undef';
    print "$currency $amount: $text\n";
}
PERL
found=$(timeout 60 perl -Iroot/usr/share/perl5 run.pl <<< "$expected")
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
