#!/usr/bin/env bash
# einvoicing 0.0.3 (npm), reading and writing a UBL invoice of EN 16931.
#
# Input: 10000 clicks at 0.0045 EUR, which are 45.00 EUR, and 0.125 hours at 80.00 EUR, with a payment
# reference of 27 digits and the postal code 01067.
# Behaviour: the writer rounds unit prices and quantities to two digits, which the norm does not limit. The
# clicks cost 0 each, 0.125 hours become 0.13, and neither line gives its total any more. The reader makes
# numbers of texts: the invoice asks for the reference 2.1000000000313946e+26, and the postal code is 1067.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent einvoicing@0.0.3 fast-xml-parser@4.5.7 strnum@1.1.2 >&2
cat > run.cjs <<'JS'
const {UblReader, UblWriter} = require('einvoicing');
const tax = (tag) => `<cac:${tag}><cbc:ID>S</cbc:ID><cbc:Percent>19</cbc:Percent><cac:TaxScheme><cbc:ID>VAT</cbc:ID></cac:TaxScheme></cac:${tag}>`;
const money = (tag, amount) => `<cbc:${tag} currencyID="EUR">${amount}</cbc:${tag}>`;
const party = (tag, code, name) => `<cac:${tag}><cac:Party><cbc:EndpointID schemeID="0088">${code}</cbc:EndpointID><cac:PostalAddress>
  <cbc:PostalZone>01067</cbc:PostalZone><cac:Country><cbc:IdentificationCode>DE</cbc:IdentificationCode></cac:Country></cac:PostalAddress>
  <cac:PartyLegalEntity><cbc:RegistrationName>${name}</cbc:RegistrationName></cac:PartyLegalEntity></cac:Party></cac:${tag}>`;
const line = (id, quantity, unit, price, total) => `<cac:InvoiceLine><cbc:ID>${id}</cbc:ID>
  <cbc:InvoicedQuantity unitCode="${unit}">${quantity}</cbc:InvoicedQuantity>${money('LineExtensionAmount', total)}
  <cac:Item><cbc:Name>Item</cbc:Name>${tax('ClassifiedTaxCategory')}</cac:Item><cac:Price>${money('PriceAmount', price)}</cac:Price></cac:InvoiceLine>`;
const space = (name) => `urn:oasis:names:specification:ubl:schema:xsd:${name}-2`;
const invoice = `<Invoice xmlns="${space('Invoice')}" xmlns:cac="${space('CommonAggregateComponents')}" xmlns:cbc="${space('CommonBasicComponents')}">
  <cbc:CustomizationID>urn:cen.eu:en16931:2017#compliant#urn:fdc:peppol.eu:2017:poacc:billing:3.0</cbc:CustomizationID>
  <cbc:ProfileID>urn:fdc:peppol.eu:2017:poacc:billing:01:1.0</cbc:ProfileID>
  <cbc:ID>42</cbc:ID><cbc:IssueDate>2026-03-31</cbc:IssueDate><cbc:DueDate>2026-04-30</cbc:DueDate>
  <cbc:InvoiceTypeCode>380</cbc:InvoiceTypeCode><cbc:DocumentCurrencyCode>EUR</cbc:DocumentCurrencyCode>
  <cbc:BuyerReference>order-1</cbc:BuyerReference>
  ${party('AccountingSupplierParty', '7300010000001', 'Seller')}${party('AccountingCustomerParty', '7300010000018', 'Buyer')}
  <cac:PaymentMeans><cbc:PaymentMeansCode>30</cbc:PaymentMeansCode><cbc:PaymentID>210000000003139471430009017</cbc:PaymentID>
  <cac:PayeeFinancialAccount><cbc:ID>DE89370400440532013000</cbc:ID></cac:PayeeFinancialAccount></cac:PaymentMeans>
  <cac:TaxTotal>${money('TaxAmount', '10.45')}<cac:TaxSubtotal>${money('TaxableAmount', '55.00')}${money('TaxAmount', '10.45')}
  ${tax('TaxCategory')}</cac:TaxSubtotal></cac:TaxTotal>
  <cac:LegalMonetaryTotal>${money('LineExtensionAmount', '55.00')}${money('TaxExclusiveAmount', '55.00')}
  ${money('TaxInclusiveAmount', '65.45')}${money('PayableAmount', '65.45')}</cac:LegalMonetaryTotal>
  ${line(1, '10000', 'C62', '0.0045', '45.00')}${line(2, '0.125', 'HUR', '80.00', '10.00')}
</Invoice>`;
(async () => {
  const written = await new UblWriter().write(await new UblReader().read(invoice));
  for (const tag of ['InvoicedQuantity', 'PriceAmount', 'PayableAmount', 'PaymentID', 'PostalZone']) {
    const values = (text) => [...text.matchAll(new RegExp(`<cbc:${tag}\\b[^>]*>([^<]*)`, 'g'))].map(([, value]) => value).join(' ');
    console.log(`${tag}: ${values(invoice)}, written ${values(written)}`);
  }
})();
JS
expected='InvoicedQuantity: 10000 0.125, written 10000 0.13
PriceAmount: 0.0045 80.00, written 0 80
PayableAmount: 65.45, written 65.45
PaymentID: 210000000003139471430009017, written 2.1000000000313946e+26
PostalZone: 01067 01067, written 1067 1067'
found=$(timeout 60 node run.cjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
