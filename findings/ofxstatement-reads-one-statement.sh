#!/usr/bin/env bash
# ofxstatement 0.7.1 (Debian 12: 0.7.1-1) with ofxstatement-plugins 20210310 (20210310+nmu1): the plugin
# iso20022, for camt.053 statements.
#
# Input: camt.053.001.02 messages with the statements of two days; with a balance of 500.00 on the debit side
# and no entry; with the same balance and a debit of 100.00; and with an entry that has the booking date
# 31 March and the value date 1 April, and consists of two payouts.
# Behaviour: only the first of several Stmt is read, though a message may have any number, and the status is 0.
# CdtDbtInd of the balances is not read: an overdrawn account has a positive BALAMT, and is refused when it has
# entries. DTPOSTED is the value date instead of the booking date, and the sum of both payouts has the first name.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq ofxstatement=0.7.1-1 ofxstatement-plugins=20210310+nmu1 python3-appdirs=1.4.4-3 python3-pkg-resources >&2
for package in ./*.deb; do dpkg-deb -x "$package" root; done
cat > convert.py <<'PY'
import site, sys
site.addsitedir("root/usr/lib/python3/dist-packages")
from ofxstatement.tool import run
sys.exit(run(sys.argv[1:]))
PY
balance() { # code, amount, side, date
    printf '%s' "<Bal><Tp><CdOrPrtry><Cd>$1</Cd></CdOrPrtry></Tp><Amt Ccy=\"EUR\">$2</Amt><CdtDbtInd>$3</CdtDbtInd>" \
        "<Dt><Dt>$4</Dt></Dt></Bal>"
}
entry() { # amount, side, booking date, value date, details
    printf '%s' "<Ntry><Amt Ccy=\"EUR\">$1</Amt><CdtDbtInd>$2</CdtDbtInd><Sts>BOOK</Sts><BookgDt><Dt>$3</Dt></BookgDt>" \
        "<ValDt><Dt>$4</Dt></ValDt><AcctSvcrRef>$3-$1</AcctSvcrRef><BkTxCd><Prtry><Cd>NTRF</Cd></Prtry></BkTxCd>$5</Ntry>"
}
payout() { # amount, name
    printf '%s' "<TxDtls><AmtDtls><TxAmt><Amt Ccy=\"EUR\">$1</Amt></TxAmt></AmtDtls>" \
        "<RltdPties><Cdtr><Nm>$2</Nm></Cdtr></RltdPties></TxDtls>"
}
statement() { # id, balances and entries
    printf '%s' "<Stmt><Id>$1</Id><ElctrncSeqNb>$1</ElctrncSeqNb><CreDtTm>2026-04-02T06:00:00</CreDtTm>" \
        "<Acct><Id><IBAN>DE02120300000000202051</IBAN></Id><Ccy>EUR</Ccy></Acct>$2</Stmt>"
}
message() { # name, statements
    printf '%s' '<?xml version="1.0" encoding="UTF-8"?><Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.02">' \
        "<BkToCstmrStmt><GrpHdr><MsgId>$1</MsgId><CreDtTm>2026-04-02T06:00:00</CreDtTm></GrpHdr>$2</BkToCstmrStmt></Document>" > "$1.xml"
    status=0
    timeout 60 /usr/bin/python3 convert.py convert -t iso20022 "$1.xml" "$1.ofx" > "$1.log" 2>&1 || status=$?
    if [ "$status" = 0 ]; then
        grep -o '<\(BALAMT\|DTPOSTED\|TRNAMT\|NAME\)>[^<]*' "$1.ofx" | tr -d '<' | tr '>\n' '  ' | sed "s/^/$1: /; s/ $/\n/"
    else
        echo "$1: status $status"
    fi
}
expected='two-statements: DTPOSTED 20260330 TRNAMT 50.00 BALAMT 150.00
overdrawn: BALAMT 500.00
overdrawn-with-entry: status 2
batch: DTPOSTED 20260401 TRNAMT -30.00 NAME Anna BALAMT 70.00'
found=$(
    export HOME=$folder
    message two-statements "$(statement 1 "$(balance OPBD 100.00 CRDT 2026-03-30)$(balance CLBD 150.00 CRDT 2026-03-30)$(
        entry 50.00 CRDT 2026-03-30 2026-03-30 '')")$(statement 2 "$(balance OPBD 150.00 CRDT 2026-03-31)$(
        balance CLBD 175.00 CRDT 2026-03-31)$(entry 25.00 CRDT 2026-03-31 2026-03-31 '')")"
    message overdrawn "$(statement 1 "$(balance OPBD 500.00 DBIT 2026-03-31)$(balance CLBD 500.00 DBIT 2026-03-31)")"
    message overdrawn-with-entry "$(statement 1 "$(balance OPBD 500.00 DBIT 2026-03-31)$(
        balance CLBD 600.00 DBIT 2026-03-31)$(entry 100.00 DBIT 2026-03-31 2026-03-31 '')")"
    message batch "$(statement 1 "$(balance OPBD 100.00 CRDT 2026-03-31)$(balance CLBD 70.00 CRDT 2026-03-31)$(
        entry 30.00 DBIT 2026-03-31 2026-04-01 "<NtryDtls>$(payout 10.00 Anna)$(payout 20.00 Ben)</NtryDtls>")")"
)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    cat ./*.log >&2
    echo "changed"
    exit 1
fi
echo "as seen"
