-- Views for people and BI tools, in the first schema of the search path.

CREATE FUNCTION sluice_ledger.instant(seconds bigint, nanoseconds integer) RETURNS timestamptz
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$ SELECT timestamptz '1970-01-01 00:00:00Z' + make_interval(secs => seconds)
               + make_interval(secs => nanoseconds / 1000 / 1000000.0) $$;

-- migrate() inserts functions here that name the codes of the tables.
@names@
-- Bits of the kinds of anomaly that block: those that the policy names, else the default set.
CREATE FUNCTION sluice_ledger.blocking_kinds(policy text) RETURNS bigint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$ SELECT CASE WHEN nullif(policy, '')::json -> 'blocking' IS NULL
                 THEN @blocking@
                 ELSE (SELECT coalesce(sum(1 << kind), 0) FROM generate_series(1, 30) kind
                       WHERE sluice_ledger.anomaly_name(kind) IN
                             (SELECT json_array_elements_text(policy::json -> 'blocking'))) END $$;

CREATE VIEW orders AS
SELECT s.account_id, s.shop_id, o.order_id,
       o.position_creators[o.live] AS creator_id, o.position_programs[o.live] AS program_id,
       array_remove(ARRAY[sluice_ledger.attribution_name(o.position_types[o.live] & 1),
                          sluice_ledger.attribution_name(o.position_types[o.live] & 2),
                          sluice_ledger.attribution_name(o.position_types[o.live] & 4)], NULL)
           AS attribution_types,
       o.amount, o.tax, o.shipping, o.currency,
       r.refund_amount, r.refund_tax,
       coalesce(p.commission, d.accrued, 0) AS commission_amount,
       coalesce(p.currency, o.currency) AS commission_currency,
       o.flags & 1 <> 0 AS held, o.flags & 2 <> 0 AS rejected, o.flags & 4 <> 0 AS barred,
       sluice_ledger.instant(o.ordered_s, o.ordered_ns) AS ordered_at,
       sluice_ledger.instant(o.cancelled_s, o.cancelled_ns) AS cancelled_at,
       sluice_ledger.instant(o.version_s, o.version_ns) AS last_updated_at,
       coalesce(p.payouts, ARRAY[]::text[]) AS payouts, h.node
FROM sluice_ledger.orders o
JOIN sluice_ledger.shops s ON s.shop = o.shop
LEFT JOIN sluice_ledger.heads h ON h.number = o.last_node
CROSS JOIN LATERAL (
    -- Of several refund ids of one line the newest statement counts (R2).
    SELECT coalesce(sum(amount), 0) AS refund_amount, coalesce(sum(tax), 0) AS refund_tax
    FROM (SELECT DISTINCT ON (line) amount, tax
          FROM unnest(o.refund_lines, o.refund_versions_s, o.refund_versions_ns, o.refund_stated,
                      o.refund_amounts, o.refund_taxes)
               AS refund (line, version_s, version_ns, stated, amount, tax)
          ORDER BY line, version_s DESC, version_ns DESC, stated DESC) standing) r
LEFT JOIN LATERAL (
    SELECT sum(accrued) AS accrued
    FROM unnest(o.accrual_positions, o.accrual_currencies, o.accrual_amounts) AS d (position, currency, accrued)
    WHERE d.position = o.live AND d.currency = o.currency) d ON true
LEFT JOIN LATERAL (
    SELECT h.currency
    FROM unnest(o.allocation_positions, o.allocation_currencies, o.allocation_has_commission, o.allocation_active)
         WITH ORDINALITY AS h (position, currency, has_commission, active, number)
    WHERE h.position = o.live AND h.has_commission AND h.active
    ORDER BY (h.currency = o.currency) DESC, h.number LIMIT 1) c ON true
LEFT JOIN LATERAL (
    -- While an active payout has COMMISSION items, the commission is their sum (P2).
    SELECT t.currency, sum(t.commission) AS commission, array_agg(t.payout) AS payouts
    FROM unnest(o.allocation_positions, o.allocation_payouts, o.allocation_currencies, o.allocation_commissions,
                o.allocation_active)
         AS t (position, payout, currency, commission, active)
    WHERE t.position = o.live AND t.active AND t.currency = c.currency
    GROUP BY t.currency) p ON true;

-- One row for each line, or entry by hand, and currency of each position.
CREATE VIEW positions AS
SELECT s.account_id, s.shop_id, o.order_id,
       o.position_programs[d.position] AS program_id,
       o.position_creators[d.position] AS creator_id,
       d.position IS NOT DISTINCT FROM o.live AS live,
       nullif(d.line, '') AS line_item_id, d.currency, d.accrued, d.allocated, d.accrued - d.allocated AS open,
       sluice_ledger.instant(o.ordered_s, o.ordered_ns) AS ordered_at
FROM sluice_ledger.orders o
JOIN sluice_ledger.shops s ON s.shop = o.shop
CROSS JOIN LATERAL unnest(o.accrual_positions, o.accrual_lines, o.accrual_currencies, o.accrual_amounts,
                          o.accrual_allocated) AS d (position, line, currency, accrued, allocated);

CREATE VIEW commissions AS
SELECT s.account_id, s.shop_id, o.order_id, l.line_item_id, l.sku, l.variant_sku,
       o.position_creators[o.live] AS creator_id, o.position_programs[o.live] AS program_id,
       l.amount, l.tax, l.quantity, l.present,
       CASE o.rate_kinds[f.rate] WHEN 1 THEN 'PERCENT' WHEN 2 THEN 'FIXED' WHEN 3 THEN 'PER_ORDER'
       END AS rate_kind,
       o.rate_values[f.rate] AS rate,
       coalesce(d.accrued, 0) AS commission_amount, o.currency,
       sluice_ledger.instant(o.ordered_s, o.ordered_ns) AS ordered_at
FROM sluice_ledger.orders o
JOIN sluice_ledger.shops s ON s.shop = o.shop
CROSS JOIN LATERAL unnest(o.line_ids, o.line_skus, o.line_variant_skus, o.line_amounts,
                          o.line_taxes, o.line_quantities, o.line_present)
     AS l (line_item_id, sku, variant_sku, amount, tax, quantity, present)
LEFT JOIN LATERAL (
    SELECT f.rate FROM unnest(o.frozen_positions, o.frozen_lines, o.frozen_rates)
         AS f (position, line, rate)
    WHERE f.position = o.live AND f.line = l.line_item_id) f ON true
LEFT JOIN LATERAL (
    SELECT d.accrued FROM unnest(o.accrual_positions, o.accrual_lines, o.accrual_currencies, o.accrual_amounts)
         AS d (position, line, currency, accrued)
    WHERE d.position = o.live AND d.line = l.line_item_id AND d.currency = o.currency) d ON true
WHERE o.live IS NOT NULL;

-- Postings and memo entries. A memo entry has no ledger accounts, amount and currency.
CREATE VIEW journal AS
SELECT h.node, j.first_entry + e.position - 1 AS entry, j.event_seq,
       nullif(j.command_id, '') AS command_id, a.account_id, s.shop_id,
       nullif(j.order_id, '') AS order_id, nullif(e.line_id, '') AS line_item_id,
       nullif(j.creator, '') AS creator_id, nullif(j.program, '') AS program_id,
       nullif(e.currency, '') AS currency,
       CASE WHEN e.reason < 64 THEN e.amount END AS amount,
       sluice_ledger.debit_account(e.reason, j.payout_id) AS debit_account,
       sluice_ledger.credit_account(e.reason, j.payout_id) AS credit_account,
       sluice_ledger.reason_name(e.reason) AS reason,
       nullif(j.payout_id, '') AS payout_id,
       sluice_ledger.instant(j.recorded_s, j.recorded_ns) AS recorded_at,
       sluice_ledger.instant(j.accounting_s, j.accounting_ns) AS accounting_date,
       nullif(e.refers_to, 0) AS refers_to,
       nullif(j.note, '') AS note, nullif(j.actor, '') AS actor
FROM sluice_ledger.journal j
JOIN sluice_ledger.heads h ON h.number = j.node
LEFT JOIN sluice_ledger.shops s ON s.shop = j.shop
LEFT JOIN (SELECT DISTINCT account, account_id FROM sluice_ledger.shops) a ON a.account = j.account
CROSS JOIN LATERAL unnest(j.line_ids, j.currencies, j.amounts, j.reasons, j.refers_to)
     WITH ORDINALITY AS e (line_id, currency, amount, reason, refers_to, position);

-- Entries that name the first entry of their line, and the node that wrote that one: nodes number
-- their entries alike, and what was applied first counts. Entries of credits have no order: they
-- belong to the command, or to the one that it reverses.
CREATE VIEW journal_references AS
SELECT h.node, j.first_entry + e.position - 1 AS entry, e.refers_to,
       (SELECT o.node
        FROM sluice_ledger.heads o
        CROSS JOIN LATERAL (SELECT * FROM sluice_ledger.journal
                            WHERE node = o.number AND first_entry <= e.refers_to
                            ORDER BY first_entry DESC LIMIT 1) g
        LEFT JOIN sluice_ledger.money_commands m ON m.command_id = j.command_id
        WHERE g.account = j.account AND g.shop = j.shop AND g.order_id = j.order_id
          AND g.program = j.program AND g.creator = j.creator
          AND g.line_ids[e.refers_to - g.first_entry + 1] = e.line_id
          AND (j.order_id <> '' OR g.command_id = coalesce(nullif(m.reverses, ''), j.command_id))
        ORDER BY (SELECT min(b.number) FROM sluice_ledger.batches b
                  WHERE b.node_id = o.node AND b.last_seq >= g.event_seq)
        LIMIT 1) AS refers_to_node
FROM sluice_ledger.journal j
JOIN sluice_ledger.heads h ON h.number = j.node
CROSS JOIN LATERAL unnest(j.line_ids, j.refers_to)
     WITH ORDINALITY AS e (line_id, refers_to, position)
WHERE e.refers_to <> 0;

-- As of the moment of the query: a commission is pending until it has cleared.
CREATE VIEW balances AS
WITH open AS (
    SELECT o.account, o.program, o.creator, o.currency, o.amount,
           o.amount > 0 AND (
               o.blocks & (1 | sluice_ledger.blocking_kinds(coalesce(a.policy, ''))) <> 0
               OR EXISTS (SELECT 1 FROM sluice_ledger.creator_holds c
                          WHERE c.account = o.account AND c.creator = o.creator
                            AND c.program IN ('', o.program))) AS blocked,
           NOT o.cleared AND sluice_ledger.instant(o.sold_s, o.sold_ns)
               + make_interval(secs => (v.json::json ->> 'clearing_days')::bigint * 86400.0) > now()
               AS pending
    FROM sluice_ledger.open o
    JOIN sluice_ledger.programs p ON p.program = o.program
    JOIN sluice_ledger.program_versions v ON v.program = p.program AND v.version = p.version
    LEFT JOIN sluice_ledger.accounts a ON a.account = o.account
), sums AS (
    SELECT account, program, creator, currency,
           coalesce(sum(amount) FILTER (WHERE blocked), 0) AS blocked,
           coalesce(sum(amount) FILTER (WHERE pending AND NOT blocked), 0) AS pending
    FROM open GROUP BY account, program, creator, currency
), folded AS (
    SELECT account, program, creator, currency, sum(owed) AS owed, sum(in_payout) AS in_payout,
           sum(paid) AS paid
    FROM sluice_ledger.balances
    GROUP BY account, program, creator, currency
)
SELECT n.account_id, f.program AS program_id, f.creator AS creator_id, f.currency,
       coalesce(o.pending, 0) AS pending, coalesce(o.blocked, 0) AS blocked,
       f.owed - coalesce(o.pending, 0) - coalesce(o.blocked, 0) AS payable,
       f.in_payout, f.paid, f.owed + f.in_payout + f.paid AS total
FROM folded f
JOIN (SELECT DISTINCT account, account_id FROM sluice_ledger.shops) n ON n.account = f.account
LEFT JOIN sums o ON o.account = f.account AND o.program = f.program AND o.creator = f.creator
                AND o.currency = f.currency;

CREATE VIEW payouts AS
SELECT p.payout_id, 'C' || substr(p.payout_id, 2, length(p.payout_id)
           - length(substring(p.payout_id FROM '-[0-9]+$')) - 1) AS payout_run,
       a.account_id, p.creator AS creator_id, nullif(c.name, '') AS name,
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
LEFT JOIN sluice_ledger.payout_runs r ON r.payout_run = 'C' || substr(p.payout_id, 2, length(p.payout_id)
           - length(substring(p.payout_id FROM '-[0-9]+$')) - 1)
LEFT JOIN (SELECT DISTINCT account, account_id FROM sluice_ledger.shops) a ON a.account = p.account
LEFT JOIN sluice_ledger.creators c ON c.account = p.account AND c.creator = p.creator;

CREATE VIEW payout_items AS
SELECT i.payout_id, i.program AS program_id, nullif(i.shop_id, '') AS shop_id,
       nullif(i.order_id, '') AS order_id, nullif(i.line_id, '') AS line_item_id,
       sluice_ledger.item_kind_name(i.item_kind) AS kind, i.amount,
       sluice_ledger.instant(i.sold_s, i.sold_ns) AS ordered_at
FROM sluice_ledger.payout_items i;

CREATE VIEW anomalies AS
SELECT n.node_id AS node, n.first_seq AS event_seq, s.account_id, s.shop_id, n.order_id,
       sluice_ledger.anomaly_name(n.kind) AS kind,
       n.count, n.message, sluice_ledger.instant(n.recorded_s, n.recorded_ns) AS recorded_at,
       n.showing AND n.acknowledged_by = ''
           AND (1 << n.kind) & sluice_ledger.blocking_kinds(coalesce(a.policy, '')) <> 0 AS blocks,
       nullif(n.acknowledged_by, '') AS acknowledged_by,
       sluice_ledger.instant(n.acknowledged_s, n.acknowledged_ns) AS acknowledged_at,
       nullif(n.value, '') AS value, nullif(n.acknowledged_value, '') AS acknowledged_value
FROM sluice_ledger.anomalies n
JOIN sluice_ledger.shops s ON s.shop = n.shop
LEFT JOIN sluice_ledger.accounts a ON a.account = n.account;
