-- What people and BI tools read. The views are made in the first schema of the search path.

CREATE FUNCTION sluice_ledger.instant(seconds bigint, nanoseconds integer) RETURNS timestamptz
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$ SELECT timestamptz '1970-01-01 00:00:00Z' + make_interval(secs => seconds)
               + make_interval(secs => nanoseconds / 1000 / 1000000.0) $$;

CREATE VIEW orders AS
SELECT s.account_id, s.shop_id, o.order_id,
       o.creator AS creator_id, o.program AS program_id,
       CASE o.attribution_types WHEN 1 THEN ARRAY['AFFILIATE_CODE'] WHEN 2 THEN ARRAY['LANDED']
            WHEN 3 THEN ARRAY['AFFILIATE_CODE', 'LANDED'] ELSE ARRAY[]::text[]
       END AS attribution_types,
       o.amount, o.tax, o.shipping, o.currency,
       r.refund_amount, r.refund_tax,
       coalesce(o.paid_amount, d.due, 0) AS commission_amount,
       coalesce(o.paid_currency, o.currency) AS commission_currency,
       sluice_ledger.instant(o.ordered_s, o.ordered_ns) AS ordered_at,
       sluice_ledger.instant(o.cancelled_s, o.cancelled_ns) AS cancelled_at,
       sluice_ledger.instant(o.version_s, o.version_ns) AS last_updated_at,
       o.payout_id
FROM sluice_ledger.orders o
JOIN sluice_ledger.shops s ON s.shop = o.shop
CROSS JOIN LATERAL (
    -- Of several ids of one line the newest statement stands.
    SELECT coalesce(sum(amount), 0) AS refund_amount, coalesce(sum(tax), 0) AS refund_tax
    FROM (SELECT DISTINCT ON (line) amount, tax
          FROM unnest(o.refund_lines, o.refund_versions_s, o.refund_versions_ns, o.refund_stated,
                      o.refund_amounts, o.refund_taxes)
               AS refund (line, version_s, version_ns, stated, amount, tax)
          ORDER BY line, version_s DESC, version_ns DESC, stated DESC) standing) r
LEFT JOIN LATERAL (
    SELECT due FROM unnest(o.due_currencies, o.due_amounts) AS d (currency, due)
    WHERE d.currency = o.currency) d ON true;

CREATE VIEW commissions AS
SELECT s.account_id, s.shop_id, o.order_id, l.line_item_id, l.sku, l.variant_sku,
       o.creator AS creator_id, o.program AS program_id,
       l.amount, l.tax, l.quantity, l.present,
       CASE o.rate_kinds[l.rate] WHEN 1 THEN 'PERCENT' WHEN 2 THEN 'FIXED' END AS rate_kind,
       o.rate_values[l.rate] AS rate,
       l.commission AS commission_amount, o.currency,
       sluice_ledger.instant(o.ordered_s, o.ordered_ns) AS ordered_at
FROM sluice_ledger.orders o
JOIN sluice_ledger.shops s ON s.shop = o.shop
CROSS JOIN LATERAL unnest(o.line_ids, o.line_skus, o.line_variant_skus, o.line_amounts,
                          o.line_taxes, o.line_quantities, o.line_present, o.line_commissions,
                          o.line_rates)
     AS l (line_item_id, sku, variant_sku, amount, tax, quantity, present, commission, rate)
WHERE o.creator IS NOT NULL;

CREATE VIEW journal AS
SELECT h.node, j.first_entry + e.position - 1 AS entry, j.event_seq,
       s.account_id, s.shop_id, j.order_id, nullif(e.line_id, '') AS line_item_id,
       j.creator AS creator_id, j.program AS program_id, e.currency, e.amount,
       CASE e.reason WHEN 1 THEN 'ACCRUAL' WHEN 2 THEN 'ATTRIBUTION' WHEN 3 THEN 'CANCELLATION'
            WHEN 4 THEN 'REFUND' WHEN 5 THEN 'UPDATE' WHEN 6 THEN 'MANUAL' END AS reason,
       nullif(j.note, '') AS note, nullif(j.actor, '') AS actor,
       sluice_ledger.instant(j.recorded_s, j.recorded_ns) AS recorded_at
FROM sluice_ledger.journal j
JOIN sluice_ledger.shops s ON s.shop = j.shop
JOIN sluice_ledger.heads h ON h.number = j.node
CROSS JOIN LATERAL unnest(j.line_ids, j.currencies, j.amounts, j.reasons) WITH ORDINALITY
     AS e (line_id, currency, amount, reason, position);

CREATE VIEW balances AS
WITH open AS (
    SELECT o.account, o.program, o.creator, o.currency, sum(o.amount) AS payable
    FROM sluice_ledger.open o
    JOIN sluice_ledger.programs p ON p.program = o.program AND p.current
    WHERE o.adjustment
       OR sluice_ledger.instant(o.ordered_s, o.ordered_ns)
          + make_interval(secs => p.hold_days * 86400.0) <= now()
    GROUP BY o.account, o.program, o.creator, o.currency
), folded AS (
    SELECT account, program, creator, currency, sum(total) AS total, sum(paid) AS paid
    FROM sluice_ledger.balances
    GROUP BY account, program, creator, currency
)
SELECT a.account_id, f.program AS program_id, f.creator AS creator_id, f.currency,
       f.total - f.paid - coalesce(o.payable, 0) AS pending,
       coalesce(o.payable, 0) AS payable, f.paid, f.total
FROM folded f
JOIN (SELECT DISTINCT account, account_id FROM sluice_ledger.shops) a ON a.account = f.account
LEFT JOIN open o ON o.account = f.account AND o.program = f.program AND o.creator = f.creator
                AND o.currency = f.currency;

CREATE VIEW payouts AS
SELECT p.payout_id, h.node, p.program AS program_id, p.creator AS creator_id, p.currency, p.amount,
       sluice_ledger.instant(p.until_s, p.until_ns) AS until,
       sluice_ledger.instant(p.closed_s, p.closed_ns) AS closed_at, p.orders_count AS orders, p.actor
FROM sluice_ledger.payouts p
JOIN sluice_ledger.heads h ON h.number = p.node;

CREATE VIEW anomalies AS
SELECT h.node, n.first_seq AS event_seq, s.account_id, s.shop_id, n.order_id,
       CASE n.kind WHEN 1 THEN 'VERSION_IN_FUTURE' WHEN 2 THEN 'CANCEL_WITHOUT_CANCELLED_AT'
            WHEN 3 THEN 'CANCEL_NOT_LATER' WHEN 4 THEN 'CANCELLATION_WITHDRAWN'
            WHEN 5 THEN 'DUPLICATE_REFUND_ID' WHEN 6 THEN 'REFUND_ID_REUSED'
            WHEN 7 THEN 'REFUND_EXCEEDS_LINE' END AS kind,
       n.count, n.message, sluice_ledger.instant(n.recorded_s, n.recorded_ns) AS recorded_at
FROM sluice_ledger.anomalies n
JOIN sluice_ledger.shops s ON s.shop = n.shop
JOIN sluice_ledger.heads h ON h.number = n.node;
