#!/usr/bin/env bash
# Seven libraries of npm that check the CNPJ, Brazil's number of companies: versions below.
#
# Input: the example of Brazil's tax office for the numbers with letters that are assigned since July 2026,
# 12ABC34501DE35, and one of digits alone.
# Behaviour: three say that a number with letters is invalid, @brazilian-utils/brazilian-utils of this year
# unless each call asks for version 2. Its formatter drops the letters and prints the ten digits that
# remain, without an error.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent @brazilian-utils/brazilian-utils@2.4.0 cpf_cnpj@0.2.0 node-cnpj@1.0.10 \
    cpf-cnpj-validator@2.1.2 @fnando/cnpj@2.0.0 validation-br@2.0.0 stdnum@1.12.0 >&2
cat > run.cjs <<'JS'
const brazil = require('@brazilian-utils/brazilian-utils');
const check = {
  '@brazilian-utils/brazilian-utils': brazil.isValidCnpj,
  '@brazilian-utils/brazilian-utils, version 2': (number) => brazil.isValidCnpj(number, {version: 2}),
  'cpf_cnpj': (number) => require('cpf_cnpj').CNPJ.isValid(number),
  'node-cnpj': require('node-cnpj').validate,
  'cpf-cnpj-validator': (number) => require('cpf-cnpj-validator').cnpj.isValid(number),
  '@fnando/cnpj': require('@fnando/cnpj').isValid,
  'validation-br': require('validation-br').isCNPJ,
  'stdnum': (number) => require('stdnum').stdnum.BR.cnpj.validate(number).isValid,
};
for (const [name, valid] of Object.entries(check)) {
  console.log(`${name}: ${valid('11222333000181')}, ${valid('12ABC34501DE35')}`);
}
console.log(`formatted: ${brazil.formatCnpj('12ABC34501DE35')}`);
JS
expected='@brazilian-utils/brazilian-utils: true, false
@brazilian-utils/brazilian-utils, version 2: true, true
cpf_cnpj: true, false
node-cnpj: true, false
cpf-cnpj-validator: true, true
@fnando/cnpj: true, true
validation-br: true, true
stdnum: true, true
formatted: 12.345.013/5'
found=$(timeout 60 node run.cjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
