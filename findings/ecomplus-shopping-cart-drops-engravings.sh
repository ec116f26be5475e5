#!/usr/bin/env bash
# @ecomplus/shopping-cart 2.6.0 (npm), the cart of e-com.plus shops.
#
# Input: a shirt of 40.00 and the same shirt with an engraving for 10.00 more, put into the cart in both orders, and
# two shirts with different engravings.
# Behaviour: addItem() asks whether the item in the cart has customizations, and not whether the new one has. So
# the engraved shirt that comes second counts as another plain one: its text and its 10.00 are gone. In the other
# order, and with two engravings, the cart has both.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent @ecomplus/shopping-cart@2.6.0 @ecomplus/utils@1.4.1 >&2
cat > run.cjs <<'JS'
const {Constructor: Cart} = require('@ecomplus/shopping-cart');
const plain = () => ({product_id: '123a5432109876543210cdef', name: 'Shirt', quantity: 1, price: 40});
const engraved = (text) => ({...plain(), customizations: [{label: 'Engraving', option: {text}, add_to_price: {type: 'fixed', addition: 10}}]});
const orders = {
  'plain, engraved': [plain(), engraved('Anna')],
  'engraved, plain': [engraved('Anna'), plain()],
  'two engraved': [engraved('Anna'), engraved('Ben')],
};
for (const [name, items] of Object.entries(orders)) {
  const cart = new Cart(1, null, null);
  for (const item of items) cart.addItem(item);
  const lines = cart.data.items.map(({quantity, customizations}) => `${quantity} ${customizations ? customizations[0].option.text : 'plain'}`);
  console.log(`${name}: ${lines.join(', ')}, subtotal ${cart.data.subtotal}`);
}
JS
expected='plain, engraved: 2 plain, subtotal 80
engraved, plain: 1 Anna, 1 plain, subtotal 90
two engraved: 1 Anna, 1 Ben, subtotal 100'
found=$(timeout 60 node run.cjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
