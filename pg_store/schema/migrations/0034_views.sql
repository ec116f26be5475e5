-- Views for people and BI tools, in the first schema of the search path.
--
-- They show stored columns, decoded: numbers of kinds as their names, instants as timestamptz, arrays
-- as rows, and a balance as the sum of the nodes' parts. What a rule of money decides is not in them,
-- because a rule that stood here as well would differ from the program's one day: reports and
-- `sluice export` have it. tests/unit/ledger/books_views.cpp compares each view with the export.

CREATE FUNCTION sluice_ledger.instant(seconds bigint, nanoseconds integer) RETURNS timestamptz
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$ SELECT timestamptz '1970-01-01 00:00:00Z' + make_interval(secs => seconds)
               + make_interval(secs => nanoseconds / 1000 / 1000000.0) $$;

-- migrate() inserts functions here that name the codes of the tables.
@names@
-- An account has a row in one of these tables at least. Commands may come before its first shop.
CREATE VIEW sluice_ledger.account_ids AS
SELECT account, account_id FROM sluice_ledger.shops
UNION SELECT account, account_id FROM sluice_ledger.program_versions
UNION SELECT account, account_id FROM sluice_ledger.accounts;

CREATE VIEW orders AS
SELECT s.account_id, s.shop_id, o.order_id,
       l.creator AS creator_id, sluice_ledger.plain(l.program) AS program_id,
       array_remove(ARRAY[sluice_ledger.attribution_name(l.types & 1),
                          sluice_ledger.attribution_name(l.types & 2),
                          sluice_ledger.attribution_name(l.types & 4)], NULL)
           AS attribution_types,
       o.amount, o.tax, o.shipping, o.currency,
       o.flags & 1 <> 0 AS held, o.flags & 2 <> 0 AS rejected, o.flags & 4 <> 0 AS barred,
       sluice_ledger.instant(o.ordered_s, o.ordered_ns) AS ordered_at,
       sluice_ledger.instant(o.cancelled_s, o.cancelled_ns) AS cancelled_at,
       sluice_ledger.instant(o.version_s, o.version_ns) AS last_updated_at, h.node
FROM sluice_ledger.orders o
JOIN sluice_ledger.shops s ON s.shop = o.shop
LEFT JOIN sluice_ledger.heads h ON h.number = o.last_node
CROSS JOIN LATERAL (
    SELECT (sluice_ledger.elements(o.position_creators))[o.live] AS creator,
           (sluice_ledger.elements(o.position_programs))[o.live] AS program,
           (sluice_ledger.elements(o.position_types))[o.live]::smallint AS types) l;

-- One row for each line, or entry by hand, and currency of each position.
CREATE VIEW positions AS
SELECT s.account_id, s.shop_id, o.order_id,
       sluice_ledger.plain((sluice_ledger.elements(o.position_programs))[d.position::integer])
           AS program_id,
       (sluice_ledger.elements(o.position_creators))[d.position::integer] AS creator_id,
       d.position::integer IS NOT DISTINCT FROM o.live AS live,
       nullif(sluice_ledger.plain(d.line), '') AS line_item_id, d.currency,
       d.accrued::numeric AS accrued, d.allocated::numeric AS allocated,
       sluice_ledger.instant(o.ordered_s, o.ordered_ns) AS ordered_at
FROM sluice_ledger.orders o
JOIN sluice_ledger.shops s ON s.shop = o.shop
CROSS JOIN LATERAL unnest(sluice_ledger.elements(o.accrual_positions),
                          sluice_ledger.elements(o.accrual_lines),
                          sluice_ledger.elements(o.accrual_currencies),
                          sluice_ledger.elements(o.accrual_amounts),
                          sluice_ledger.elements(o.accrual_allocated))
     AS d (position, line, currency, accrued, allocated);

-- Lines of the live position, with the rate that was frozen for each.
CREATE VIEW commissions AS
SELECT s.account_id, s.shop_id, o.order_id, sluice_ledger.plain(l.line_item_id) AS line_item_id,
       sluice_ledger.plain(l.sku) AS sku, sluice_ledger.plain(l.variant_sku) AS variant_sku,
       (sluice_ledger.elements(o.position_creators))[o.live] AS creator_id,
       sluice_ledger.plain((sluice_ledger.elements(o.position_programs))[o.live]) AS program_id,
       l.amount::numeric AS amount, l.tax::numeric AS tax, l.quantity::integer AS quantity,
       l.present::boolean AS present,
       CASE f.kind WHEN '1' THEN 'PERCENT' WHEN '2' THEN 'FIXED' WHEN '3' THEN 'PER_ORDER' END
           AS rate_kind,
       CASE WHEN f.kind <> '0' THEN f.value::numeric END AS rate, o.currency,
       sluice_ledger.instant(o.ordered_s, o.ordered_ns) AS ordered_at
FROM sluice_ledger.orders o
JOIN sluice_ledger.shops s ON s.shop = o.shop
CROSS JOIN LATERAL unnest(sluice_ledger.elements(o.line_ids), sluice_ledger.elements(o.line_skus),
                          sluice_ledger.elements(o.line_variant_skus),
                          sluice_ledger.elements(o.line_amounts),
                          sluice_ledger.elements(o.line_taxes),
                          sluice_ledger.elements(o.line_quantities),
                          sluice_ledger.elements(o.line_present))
     AS l (line_item_id, sku, variant_sku, amount, tax, quantity, present)
LEFT JOIN LATERAL (
    SELECT (sluice_ledger.elements(o.rate_kinds))[f.rate::integer] AS kind,
           (sluice_ledger.elements(o.rate_values))[f.rate::integer] AS value
    FROM unnest(sluice_ledger.elements(o.frozen_positions), sluice_ledger.elements(o.frozen_lines),
                sluice_ledger.elements(o.frozen_rates)) AS f (position, line, rate)
    WHERE f.position::integer = o.live AND f.line = l.line_item_id) f ON true
WHERE o.live IS NOT NULL;

-- Postings and memo entries. A memo entry has no ledger accounts, amount and currency.
CREATE VIEW journal AS
SELECT h.node, j.first_entry + e.position - 1 AS entry, j.event_seq,
       nullif(j.command_id, '') AS command_id, a.account_id, s.shop_id,
       nullif(j.order_id, '') AS order_id, nullif(sluice_ledger.plain(e.line_id), '') AS line_item_id,
       nullif(j.creator, '') AS creator_id, nullif(j.program, '') AS program_id,
       nullif(e.currency, '') AS currency,
       CASE WHEN e.currency <> '' THEN e.amount::numeric END AS amount,
       sluice_ledger.debit_account(e.reason::smallint, j.payout_id) AS debit_account,
       sluice_ledger.credit_account(e.reason::smallint, j.payout_id) AS credit_account,
       sluice_ledger.reason_name(e.reason::smallint) AS reason,
       nullif(j.payout_id, '') AS payout_id,
       sluice_ledger.instant(j.recorded_s, j.recorded_ns) AS recorded_at,
       sluice_ledger.instant(j.accounting_s, j.accounting_ns) AS accounting_date,
       nullif(e.refers_to::bigint, 0) AS refers_to,
       nullif(j.note, '') AS note, nullif(j.actor, '') AS actor
FROM sluice_ledger.journal j
JOIN sluice_ledger.heads h ON h.number = j.node
LEFT JOIN sluice_ledger.shops s ON s.shop = j.shop
LEFT JOIN sluice_ledger.account_ids a ON a.account = j.account
CROSS JOIN LATERAL unnest(sluice_ledger.elements(j.line_ids), sluice_ledger.elements(j.currencies),
                          sluice_ledger.elements(j.amounts), sluice_ledger.elements(j.reasons),
                          sluice_ledger.elements(j.refers_to))
     WITH ORDINALITY AS e (line_id, currency, amount, reason, refers_to, position);

-- Which part of `owed` is pending, blocked or payable is for the rules to say.
CREATE VIEW balances AS
SELECT a.account_id, b.program AS program_id, b.creator AS creator_id, b.currency,
       b.owed, b.in_payout, b.paid
FROM (SELECT account, program, creator, currency, sum(owed) AS owed, sum(in_payout) AS in_payout,
             sum(paid) AS paid
      FROM sluice_ledger.balances
      GROUP BY account, program, creator, currency) b
LEFT JOIN sluice_ledger.account_ids a ON a.account = b.account;

-- The id of a payout is that of its payout run with another first letter and a number.
CREATE VIEW payouts AS
SELECT p.payout_id, i.payout_run, a.account_id, p.creator AS creator_id, nullif(c.name, '') AS name,
       nullif(p.payee, '') AS payee, p.currency, p.amount,
       sluice_ledger.payout_state_name(p.payout_state) AS state,
       sluice_ledger.instant(p.until_s, p.until_ns) AS until,
       sluice_ledger.instant(p.closed_s, p.closed_ns) AS closed_at, p.closed_by,
       nullif(p.approved_by, '') AS approved_by,
       sluice_ledger.instant(p.sent_s, p.sent_ns) AS sent_at,
       sluice_ledger.instant(p.ended_s, p.ended_ns) AS ended_at,
       nullif(p.bank_ref, '') AS bank_ref,
       sluice_ledger.instant(p.paid_s, p.paid_ns) AS paid_at, p.orders, p.items, r.node_id AS node
FROM sluice_ledger.payouts p
CROSS JOIN LATERAL (SELECT 'C' || regexp_replace(substr(p.payout_id, 2), '-[0-9]+$', '')) i (payout_run)
LEFT JOIN sluice_ledger.payout_runs r ON r.payout_run = i.payout_run
LEFT JOIN sluice_ledger.account_ids a ON a.account = p.account
LEFT JOIN sluice_ledger.creators c ON c.account = p.account AND c.creator = p.creator;

CREATE VIEW payout_items AS
SELECT i.payout_id, i.program AS program_id, nullif(i.shop_id, '') AS shop_id,
       nullif(i.order_id, '') AS order_id, nullif(i.line_id, '') AS line_item_id,
       sluice_ledger.item_kind_name(i.item_kind) AS kind, i.amount,
       sluice_ledger.instant(i.sold_s, i.sold_ns) AS ordered_at
FROM sluice_ledger.payout_items i;

-- An anomaly shows while the order is as it was found. Whether it blocks, the account's policy says.
CREATE VIEW anomalies AS
SELECT n.node_id AS node, n.first_seq AS event_seq, s.account_id, s.shop_id, n.order_id,
       sluice_ledger.anomaly_name(n.kind) AS kind,
       n.count, n.message, sluice_ledger.instant(n.recorded_s, n.recorded_ns) AS recorded_at, n.showing,
       nullif(n.acknowledged_by, '') AS acknowledged_by,
       sluice_ledger.instant(n.acknowledged_s, n.acknowledged_ns) AS acknowledged_at,
       nullif(n.value, '') AS value, nullif(n.acknowledged_value, '') AS acknowledged_value
FROM sluice_ledger.anomalies n
JOIN sluice_ledger.shops s ON s.shop = n.shop;
