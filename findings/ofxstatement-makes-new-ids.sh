#!/usr/bin/env bash
# ofxstatement 0.7.1 (Debian 12: 0.7.1-1) with ofxstatement-plugins 20210310 (20210310+nmu1): the plugins
# consors and ingde, for the CSV files of two German banks.
#
# Input: a CSV of Consorsbank with three entries, two of which are equal payouts of one day, and one of
# ING with the same entries and their balances. Each is converted three times.
# Behaviour: FITID, the id by which programs that read OFX know an entry again, is made with hash() of Python,
# which differs in every process. So the same file has other ids in each run, and what was imported before is
# imported again. Within a run of consors, the two payouts have one id. The documentation of the
# function for ids in ofxstatement itself asks for unique ones that "stay the same for the same transaction every time".
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq ofxstatement=0.7.1-1 ofxstatement-plugins=20210310+nmu1 python3-appdirs=1.4.4-3 python3-pkg-resources >&2
for package in ./*.deb; do dpkg-deb -x "$package" root; done
cat > consors.csv <<'CSV'
Buchung;Valuta;Sender / Empfänger;IBAN / Konto-Nr.;BIC / BLZ;Buchungstext;Verwendungszweck;Betrag in EUR
02.03.2026;02.03.2026;Anna;DE75512108001245126199;SOGEDEFFXXX;Überweisung;Payout;-10,50
02.03.2026;02.03.2026;Anna;DE75512108001245126199;SOGEDEFFXXX;Überweisung;Payout;-10,50
03.03.2026;03.03.2026;Shop;DE02120300000000202051;BYLADEM1001;Gutschrift;Order 7;99,00
CSV
cat > ingde.csv <<'CSV'
Umsatzanzeige;Datei erstellt am: 04.03.2026 10:00
;Letztes Update: aktuell

IBAN;DE75 5121 0800 1245 1261 99
Kontoname;Girokonto
Bank;ING
Kunde;Shop
Zeitraum;01.03.2026 - 04.03.2026
Saldo;178,00;EUR

Sortierung;Datum absteigend

In der CSV-Datei finden Sie alle bereits gebuchten Umsätze.

Buchung;Valuta;Auftraggeber/Empfänger;Buchungstext;Verwendungszweck;Saldo;Währung;Betrag;Währung
03.03.2026;03.03.2026;Shop;Gutschrift;Order 7;178,00;EUR;99,00;EUR
02.03.2026;02.03.2026;Anna;Überweisung;Payout;79,00;EUR;-10,50;EUR
02.03.2026;02.03.2026;Anna;Überweisung;Payout;89,50;EUR;-10,50;EUR
CSV
iconv -f UTF-8 -t ISO-8859-1 ingde.csv > latin1 && mv latin1 ingde.csv
cat > convert.py <<'PY'
import site, sys
site.addsitedir("root/usr/lib/python3/dist-packages")
from ofxstatement.tool import run
sys.exit(run(sys.argv[1:]))
PY
unset PYTHONHASHSEED
expected='consors: in a run 3 entries and 2 ids, in three runs 6 ids
ingde: in a run 3 entries and 3 ids, in three runs 9 ids'
found=$(
    export HOME=$folder
    for bank in consors ingde; do
        for run in 1 2 3; do
            timeout 60 /usr/bin/python3 convert.py convert -t "$bank" "$bank.csv" "$bank.$run.ofx" 2> "$bank.$run.log"
            grep -o '<FITID>[0-9]*' "$bank.$run.ofx" > "$bank.$run.ids"
        done
        echo "$bank: in a run $(wc -l < "$bank.1.ids") entries and $(sort -u "$bank.1.ids" | wc -l) ids, in three runs $(
            sort -u "$bank".?.ids | wc -l) ids"
    done
)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
