#!/usr/bin/env bash
# ledger 3.3.0 and hledger 1.25 (Debian 12: ledger 3.3.0-3, hledger 1.25-2), with a rule that posts commissions.
#
# Input: three sales of 1.46 EUR, a rule that posts 10 % of each to the creator, and a payout of 0.45 EUR for
# the three commissions of 0.15 that the register lists.
# Behaviour: what a rule posts keeps all digits, 0.146, and is rounded only where it is printed. The three
# lines of 0.15 add up to 0.44, so the payout leaves a debt of 0.01 that no line explains. After a payout
# of 0.44 both print the balance 0, although 0.002 EUR remain, which ledger shows with --unround.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq hledger=1.25-2+b5 ledger=3.3.0-3 libboost-python1.74.0 libboost-filesystem1.74.0 libboost-iostreams1.74.0 \
    libboost-regex1.74.0 libmpfr6 libicu72 libpython3.11 >&2
for package in ./*.deb; do dpkg-deb -x "$package" root; done
journal() { # FACTOR PAYOUT
    printf '%s\n' '= income:sales' "    expenses:commissions    $1-0.1" "    liabilities:creator    ${1}0.1" ''
    for day in 1 2 3; do
        printf '%s\n' "2026-03-0$day Sale" '    assets:bank      1.46 EUR' '    income:sales    -1.46 EUR' ''
    done
    printf '%s\n' '2026-03-31 Payout' "    liabilities:creator    $2 EUR" "    assets:bank    -$2 EUR"
}
libraries=root/usr/lib/ledger:root/usr/lib/x86_64-linux-gnu
ledger() { LD_LIBRARY_PATH=$libraries timeout 60 root/usr/bin/ledger -f ledger.journal "$@"; }
hledger() { timeout 60 root/usr/bin/hledger -f hledger.journal --auto "$@"; }
amounts() { sed -n 's/.*creator *\(-*[0-9.]*\) EUR.*/\1/p' | xargs; }
left() { sed 's/^ *//; s/  .*//' | head -1; }
expected='ledger: -0.15 -0.15 -0.15 0.45, left 0.01 EUR, unrounded 0.012 EUR
hledger: -0.15 -0.15 -0.15 0.45, left 0.01 EUR
ledger: -0.15 -0.15 -0.15 0.44, left 0, unrounded 0.002 EUR
hledger: -0.15 -0.15 -0.15 0.44, left 0'
found=$(
    for payout in 0.45 0.44; do
        journal '' "$payout" > ledger.journal
        journal '*' "$payout" > hledger.journal
        echo "ledger: $(ledger register creator | amounts), left $(ledger balance --empty creator | left)," \
            "unrounded $(ledger balance --empty --unround creator | left)"
        echo "hledger: $(hledger register creator | amounts), left $(hledger balance --empty creator | left)"
    done
)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
