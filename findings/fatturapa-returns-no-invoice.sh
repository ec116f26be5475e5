#!/usr/bin/env bash
# @digitalia/fatturapa 1.3.1 (npm).
#
# Input: an Italian e-invoice of "Shop & Co", read as the documentation shows, and written back.
# Behaviour: fpa2js returns undefined with the options of its documentation, {validate: false, valuesOnly: false}, and
# without any; with validate it raises an error. fpa2json has the invoice. Names are not unescaped, so a name
# from a database is not escaped: fpa2xml writes "Shop & Co", which is not XML, and does not check it, though the
# documentation says that each function does so by default.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent @digitalia/fatturapa@1.3.1 >&2
cat > invoice.xml <<'XML'
<?xml version="1.0" encoding="UTF-8"?>
<p:FatturaElettronica versione="FPR12" xmlns:p="http://ivaservizi.agenziaentrate.gov.it/docs/xsd/fatture/v1.2">
<FatturaElettronicaHeader>
<DatiTrasmissione><IdTrasmittente><IdPaese>IT</IdPaese><IdCodice>01234567897</IdCodice></IdTrasmittente>
<ProgressivoInvio>00001</ProgressivoInvio><FormatoTrasmissione>FPR12</FormatoTrasmissione>
<CodiceDestinatario>0000000</CodiceDestinatario></DatiTrasmissione>
<CedentePrestatore><DatiAnagrafici><IdFiscaleIVA><IdPaese>IT</IdPaese><IdCodice>01234567897</IdCodice></IdFiscaleIVA>
<Anagrafica><Denominazione>Shop &amp; Co</Denominazione></Anagrafica><RegimeFiscale>RF01</RegimeFiscale></DatiAnagrafici>
<Sede><Indirizzo>Via Roma 1</Indirizzo><CAP>00184</CAP><Comune>Roma</Comune><Provincia>RM</Provincia>
<Nazione>IT</Nazione></Sede></CedentePrestatore>
<CessionarioCommittente><DatiAnagrafici><IdFiscaleIVA><IdPaese>IT</IdPaese><IdCodice>01234567897</IdCodice></IdFiscaleIVA>
<Anagrafica><Denominazione>Anna</Denominazione></Anagrafica></DatiAnagrafici>
<Sede><Indirizzo>Via Po 2</Indirizzo><CAP>00198</CAP><Comune>Roma</Comune><Provincia>RM</Provincia>
<Nazione>IT</Nazione></Sede></CessionarioCommittente>
</FatturaElettronicaHeader>
<FatturaElettronicaBody>
<DatiGenerali><DatiGeneraliDocumento><TipoDocumento>TD01</TipoDocumento><Divisa>EUR</Divisa><Data>2026-03-02</Data>
<Numero>10</Numero></DatiGeneraliDocumento></DatiGenerali>
<DatiBeniServizi><DettaglioLinee><NumeroLinea>1</NumeroLinea><Descrizione>Commissioni</Descrizione>
<PrezzoUnitario>100.00</PrezzoUnitario><PrezzoTotale>100.00</PrezzoTotale><AliquotaIVA>22.00</AliquotaIVA></DettaglioLinee>
<DatiRiepilogo><AliquotaIVA>22.00</AliquotaIVA><ImponibileImporto>100.00</ImponibileImporto><Imposta>22.00</Imposta>
</DatiRiepilogo></DatiBeniServizi>
</FatturaElettronicaBody>
</p:FatturaElettronica>
XML
cat > run.cjs <<'JS'
const {fpa2js, fpa2json, fpa2xml} = require('@digitalia/fatturapa');
const invoice = require('fs').readFileSync('invoice.xml', 'utf8');
const print = (name, read) => {
  try {
    console.log(`${name}: ${read()}`);
  } catch (error) {
    console.log(`${name}: ${error.name}`);
  }
};
const name = root => root.FatturaElettronicaHeader.CedentePrestatore.DatiAnagrafici.Anagrafica;
print('fpa2js', () => fpa2js(invoice));
print('fpa2js, validate false, valuesOnly false', () => fpa2js(invoice, {validate: false, valuesOnly: false}));
print('fpa2js, validate', () => fpa2js(invoice, {validate: true}));
print('fpa2js, valuesOnly', () => name(fpa2js(invoice, {valuesOnly: true})).Denominazione);
const read = JSON.parse(fpa2json(invoice, {validate: true}));
print('fpa2json, validate', () => name(read['p:FatturaElettronica']).Denominazione);
name(read['p:FatturaElettronica']).Denominazione = 'Shop & Co';
print('fpa2xml', () => fpa2xml(read).match(/<Denominazione>[^<]*<\/Denominazione>/)[0]);
print('fpa2xml, validate', () => fpa2xml(read, {validate: true}).length);
JS
expected='fpa2js: undefined
fpa2js, validate false, valuesOnly false: undefined
fpa2js, validate: TypeError
fpa2js, valuesOnly: Shop &amp; Co
fpa2json, validate: Shop &amp; Co
fpa2xml: <Denominazione>Shop & Co</Denominazione>
fpa2xml, validate: Error'
found=$(timeout 60 node run.cjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
