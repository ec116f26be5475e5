#!/usr/bin/env bash
# nodenab 1.2.1 (npm), which writes and reads files of Brazilian banks (CNAB), with its layout of Bradesco.
#
# Input: a return file with payments of 19.05, 19.98, 100.05 and 20.00, and instructions of 100.05,
# 33.35 * 3 and 19.051.
# Behaviour: the reader joins the reais and "0.05" as texts, so 19.05 is "190.05"; an amount without cents is a
# number, and right. The writer rounds decimals beyond the second as an integer, which has no zero in front:
# 33.35 * 3, which is 100.05000000000001, is instructed as 100.50, and 19.051 as 19.50.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent nodenab@1.2.1 moment@2.30.1 >&2
cat > run.cjs <<'JS'
const {Layout, Remessa, RemessaFile, RetornoFile} = require('nodenab');
const definition = require('nodenab/layouts/237/400/cobranca.json');
const layout = new Layout(237, '400', definition, {loadFromFile: false});
for (const cents of ['1905', '1998', '10005', '2000']) {
  const [from, to] = definition.retorno.detalhes.segmento_1.valor_pago.pos;
  const entry = `1${'0'.repeat(from - 2)}${cents.padStart(to - from + 1, '0')}${'0'.repeat(400 - to)}`;
  const lines = ['02RETORNO'.padEnd(394) + '000001', entry, '9'.padEnd(394) + '000003'];
  const {lotes: [{titulos: [title]}]} = new RetornoFile(layout, lines.join('\n')).generate().toJSON();
  console.log(`${cents} read as`, title['1'].valor_pago);
}
for (const amount of [100.05, 33.35 * 3, 19.051]) {
  const file = new Remessa(layout);
  const batch = file.novoLote(1);
  const detail = batch.novoDetalhe();
  for (const [name, {picture}] of Object.entries(definition.remessa.detalhes.segmento_1)) {
    detail.segmento_1[name] ||= picture.startsWith('9') ? 0 : '';
  }
  Object.assign(detail.segmento_1, {valor: amount});
  batch.inserirDetalhe({segmento_1: detail.segmento_1});
  file.inserirLote(batch);
  const line = new RemessaFile(file).generate().split(/\r?\n/).find((text) => text.startsWith('1'));
  console.log(`${amount} written as`, line.slice(126, 139));
}
JS
expected='1905 read as 190.05
1998 read as 190.98
10005 read as 1000.05
2000 read as 20
100.05 written as 0000000010005
100.05000000000001 written as 0000000010050
19.051 written as 0000000001950'
found=$(timeout 60 node run.cjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
