-- How an event of an order came. The packed events of earlier schemas lack it, so these are refused.
COMMENT ON COLUMN sluice_ledger.events.event IS
    'packed; the last byte: 0 signed post, 1 shopify, 2 woocommerce, 3 import';
COMMENT ON COLUMN sluice_ledger.orders.events IS 'packed, as events.event, one after the other';
