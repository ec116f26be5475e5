#!/usr/bin/env bash
# ledger-autosync 1.0.3 (Debian 12: 1.0.3.7.g69f30ea-3), reading PayPal's CSV.
#
# Input: a sale of 1,234.50 USD with a fee of 36.10, so 1,198.40 net, and a payout that is still pending.
# Behaviour: the account gets the gross amount, and no posting has the fee, although the file names gross,
# fee and net; net is read only for transfers from the user's own bank. So the books have more than PayPal,
# by the sum of all fees, and both postings balance. The pending payout is left out without a word.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq ledger-autosync=1.0.3.7.g69f30ea-3 python3-ofxclient python3-ofxparse python3-ofxhome python3-bs4 python3-soupsieve \
    python3-lxml python3-six >&2
for package in ./*.deb; do dpkg-deb -x "$package" root; done
cat > paypal.csv <<'CSV'
Date,Name,Type,Status,Currency,Gross,Fee,Net,To Email Address,Transaction ID,Item Title
02/01/2024,Ann,Payment,Completed,USD,"1,234.50",-36.10,"1,198.40",shop@example.com,T1,Mug
02/02/2024,Ben,Payment,Pending,USD,-50.00,-1.00,-51.00,ben@example.com,T2,Payout
CSV
expected='2024/02/01 Ann shop@example.com Mug ID: T1, Payment
    Assets:PayPal                                     1234.50 USD
    ; csvid: paypal.T1
    Expenses:Misc                                    -1234.50 USD'
found=$(HOME=$folder PYTHONPATH=root/usr/lib/python3/dist-packages timeout 60 /usr/bin/python3 root/usr/bin/ledger-autosync \
    --no-ledger -a Assets:PayPal paypal.csv | sed '/^ *$/d')
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
