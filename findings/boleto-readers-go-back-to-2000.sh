#!/usr/bin/env bash
# node-boleto 2.3.0, boleto.js 1.1.4, @mrmgomes/boleto-utils 1.3.3 and @brazilian-utils/brazilian-utils 2.4.0 (npm).
#
# Input: bank slips that node-boleto writes for Bradesco, due before and after 22 February 2025. Since that day the
# four digits of the due date, which counted from 7 October 1997, start again at 1000, as the banks' manuals say.
# Behaviour: node-boleto writes the new digits. boleto.js finds them valid and moves the due date to the
# year 2000 or 2001, and so does `vencimento` of boleto-utils. Its `vencimentoComNovoFator2025` is right for new slips,
# and moves those of 2024 to 2049. brazilian-utils decides by a date of reference.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent node-boleto@2.3.0 boleto.js@1.1.4 \
    @mrmgomes/boleto-utils@1.3.3 @brazilian-utils/brazilian-utils@2.4.0 >&2
cat > run.cjs <<'JS'
globalThis.window = globalThis;
const {Boleto} = require('node-boleto'), Reader = require('boleto.js'), {validarBoleto} = require('@mrmgomes/boleto-utils');
const {getBoletoInfo} = require('@brazilian-utils/brazilian-utils');
const day = date => new Date(date).toISOString().slice(0, 10);
const referenceDate = new Date('2025-03-01T12:00:00Z');
for (const due of ['2024-12-10', '2025-02-21', '2025-02-22', '2026-03-02']) {
  const slip = new Boleto({
    banco: 'bradesco', data_emissao: new Date(`${due}T12:00:00Z`), data_vencimento: new Date(`${due}T12:00:00Z`),
    valor: 1500, nosso_numero: '6', numero_documento: '1', cedente: 'Shop', cedente_cnpj: '11222333000181',
    agencia: '1229', codigo_cedente: '469', carteira: '25',
  });
  const line = slip.linha_digitavel.replace(/\D/g, '');
  const {sucesso, vencimento, vencimentoComNovoFator2025} = validarBoleto(line);
  console.log(`due ${due}: digits ${slip.barcode_data.slice(5, 9)}`);
  console.log(`  boleto.js: ${new Reader(line).valid()}, ${day(new Reader(line).expirationDate())}`);
  console.log(`  boleto-utils: ${sucesso}, ${day(vencimento)}, ${day(vencimentoComNovoFator2025)}`);
  console.log(`  brazilian-utils: ${day(getBoletoInfo(line, {referenceDate}).expirationDate)}`);
}
JS
expected='due 2024-12-10: digits 9926
  boleto.js: true, 2024-12-10
  boleto-utils: true, 2024-12-10, 2049-08-01
  brazilian-utils: 2024-12-10
due 2025-02-21: digits 9999
  boleto.js: true, 2025-02-21
  boleto-utils: true, 2025-02-21, 2049-10-13
  brazilian-utils: 2025-02-21
due 2025-02-22: digits 1000
  boleto.js: true, 2000-07-03
  boleto-utils: true, 2000-07-03, 2025-02-22
  brazilian-utils: 2025-02-22
due 2026-03-02: digits 1373
  boleto.js: true, 2001-07-11
  boleto-utils: true, 2001-07-11, 2026-03-02
  brazilian-utils: 2026-03-02'
found=$(TZ=UTC timeout 60 node run.cjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
