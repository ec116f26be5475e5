-- The tables of the ledger, in the schema sluice_ledger. docs/postgresql.md describes them.
--
-- The first migration: databases of earlier formats (lower numbers) are refused. In place of the
-- mark below, migrate() puts the described tables (core/ledger/tables.cpp, list_rows.cpp), which
-- have no other statement of their columns. A release writes its own there, because a later program
-- describes later tables.
--
-- An instant is two columns: seconds since 1970-01-01T00:00:00Z, and nanoseconds (timestamptz would
-- round them). Amounts that were sent keep their scale; amounts that are owed have their currency's
-- digits. Ids compare by their bytes. An empty text means none, unless its comment differs. Tables
-- that grow are keyed by account first, then shop.

-- One row, written only by a session that holds the writer lock exclusively.
CREATE TABLE sluice_ledger.state (
    one                 boolean PRIMARY KEY CHECK (one),
    programs_revision   bigint NOT NULL     -- increases with every change of a program or an account
);
INSERT INTO sluice_ledger.state VALUES (true, 0);

-- The checkpoint of each node, written in the transaction that contains the effects.
CREATE TABLE sluice_ledger.heads (
    node                text COLLATE "C" PRIMARY KEY,   -- UUID of the queue
    number              integer NOT NULL UNIQUE,
    applied_seq         bigint NOT NULL,                -- the checkpoint
    last_received_s     bigint NOT NULL,                -- receipt of the last applied input
    last_received_ns    integer NOT NULL,
    inputs_sha256       bytea NOT NULL,                 -- chain over the digests of all inputs
    next_entry          bigint NOT NULL,
    next_work           bigint NOT NULL,
    applied             bigint NOT NULL,
    stale               bigint NOT NULL,
    duplicate           bigint NOT NULL,
    catalog             bigint NOT NULL,
    commands            bigint NOT NULL,
    dead                bigint NOT NULL,
    orders              bigint NOT NULL,
    journal_entries     bigint NOT NULL,
    anomalies           bigint[] NOT NULL,              -- rows of each kind
    clicks              bigint NOT NULL,                -- inputs with clicks
    clicks_stored       bigint NOT NULL,
    clicks_known        bigint NOT NULL,                -- stored already
    clicks_without_link bigint NOT NULL,
    clicks_expired      bigint NOT NULL
);

CREATE TABLE sluice_ledger.chains (
    account             integer NOT NULL,
    node                integer NOT NULL,
    hash                bytea NOT NULL,
    entries             bigint NOT NULL,
    last_group          bigint NOT NULL,    -- first entry of the last group
    PRIMARY KEY (account, node)
);

-- ---- Lists in a text (pg_store/rows/list_text.hpp) --------------------------------------------

-- The values of a list, of which plain() makes the texts that were sent.
CREATE FUNCTION sluice_ledger.elements(list text) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$ SELECT CASE list WHEN '' THEN ARRAY[''] ELSE string_to_array(list, E'\x1f', E'\x1a') END $$;
CREATE FUNCTION sluice_ledger.plain(element text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$ SELECT CASE strpos(element, E'\x1b') WHEN 0 THEN element
               ELSE replace(replace(replace(element, E'\x1bs', E'\x1f'), E'\x1bn', E'\x1a'),
                            E'\x1be', E'\x1b') END $$;

-- ---- Orders -----------------------------------------------------------------------------------

-- Lists are texts with the value of each item, null if there are no items; those of one block belong
-- together. A `_positions` list contains the position to which an item belongs, counted from 1:
-- `(elements(position_creators))[n]`, where n is the first value of accrual_positions, is the
-- creator of the first value of accrual_amounts.
--
-- PostgreSQL takes each value of an array apart, and keeps 24 bytes for each array. Of a text it
-- checks the encoding. So an order of five lines took 21 us as arrays, and takes 7 as texts.
CREATE TABLE sluice_ledger.orders (
    account             integer NOT NULL,
    shop                integer NOT NULL,
    order_id            text COLLATE "C" NOT NULL,
    revision            bigint NOT NULL,    -- writes of this row so far
    version_s           bigint NOT NULL,
    version_ns          integer NOT NULL,
    ordered_s           bigint NOT NULL,
    ordered_ns          integer NOT NULL,
    cancelled_s         bigint,
    cancelled_ns        integer,
    currency            text NOT NULL,
    amount              numeric NOT NULL,
    tax                 numeric NOT NULL,
    shipping            numeric NOT NULL,
    as_sent             text,               -- amount, tax, shipping, where a number loses zeros
    codes               text,
    numbers             text,               -- what people call the order
    confirmation_number text COLLATE "C" NOT NULL,  -- random; '' without one
    device              bytea,              -- SHA-256 of the device id
    device_version_s    bigint NOT NULL,    -- of the payload that stated it
    device_version_ns   integer NOT NULL,
    customer            bytea,              -- SHA-256 of the customer
    plausible_version_s bigint,             -- the highest that was not far ahead of its receipt
    plausible_version_ns integer,
    -- Lines: those of the newest payload, and earlier ones that it lacks.
    line_ids            text,
    line_skus           text,
    line_variant_skus   text,
    line_amounts        text,
    line_taxes          text,
    line_quantities     text,
    line_present        text,               -- in the newest payload
    -- Refunds: one element for each refund id.
    refund_ids          text,
    refund_lines        text,
    refund_versions_s   text,
    refund_versions_ns  text,
    refund_stated       text,
    refund_at_s         text,
    refund_at_ns        text,
    refund_amounts      text,
    refund_taxes        text,
    refund_quantities   text,
    statements_count    bigint NOT NULL,
    flags               smallint NOT NULL,  -- 1: held, 2: rejected, 4: barred
    anomalies_showing   integer NOT NULL,   -- bits 1 << kind
    anomalies_acknowledged integer NOT NULL,
    -- Positions: the share of each creator in the order.
    live                integer,            -- the live position, from 1; null means no creator
    position_programs   text,
    position_creators   text,
    position_types      text,
    position_causes     text,               -- the input that attributed, and if it was a command,
    position_commands   text,               -- its id
    position_topics     text,
    position_at_s       text,
    position_at_ns      text,
    position_candidates text,               -- packed: for `sluice explain`
    position_volumes    text,               -- frozen net sales of the month; null: no tiers
    position_volume_currencies text,
    position_customers  text,               -- 0: unknown, 1: new, 2: returning
    position_groups     text,
    position_posted_s   text,               -- the latest accounting date
    position_posted_ns  text,
    cap_positions       text,               -- max_per_order, frozen
    cap_currencies      text,
    cap_amounts         text,
    -- Frozen rates of lines, in the order of freezing.
    frozen_positions    text,
    frozen_lines        text,
    frozen_rates        text,               -- which of the rates below, from 1
    rate_kinds          text,               -- 0: none, 1: percent, 2: per unit, 3: per order
    rate_values         text,
    rate_currencies     text,
    rate_bases          text,
    rate_matches        text,
    rate_programs       text,               -- version of the program
    rate_rules          text,
    rate_tiers          text,               -- null: the rule's own rate
    rate_factors        text,               -- 1: the rate was not multiplied
    rate_shared_with    text,
    -- Accrued amounts, and the amounts allocated to active payouts. Line '' means entered by hand.
    accrual_positions   text,
    accrual_lines       text,
    accrual_currencies  text,
    accrual_amounts     text,
    accrual_allocated   text,
    accrual_entries     text,               -- the first journal entry
    -- Payouts to which items of the order were allocated.
    allocation_positions text,
    allocation_payouts  text,
    allocation_currencies text,
    allocation_amounts  text,
    allocation_commissions text,               -- of these, items of kind COMMISSION
    allocation_has_commission text,
    allocation_active   text,
    -- Events.
    last_applied        bigint NOT NULL,    -- the newest event that replaced the payload,
    last_node           integer NOT NULL,   -- and the number of its node
    events              bytea NOT NULL,     -- packed: for `sluice explain`
    events_count        bigint NOT NULL,
    duplicates_count    bigint NOT NULL,
    other_groups        text,
    changes_count       bigint NOT NULL,    -- journal groups of the order on all nodes
    PRIMARY KEY (account, shop, order_id)
);

-- Lists of orders are read from these indexes, through views that have the names and columns of the
-- embedded ledger's tables.
CREATE INDEX orders_ordered ON sluice_ledger.orders
    (account, ordered_s, ordered_ns, shop, order_id);
CREATE VIEW sluice_ledger.orders_by_time AS
SELECT account, ordered_s, ordered_ns, shop, order_id FROM sluice_ledger.orders;
-- Creator ids have no control characters, so that the list of them is taken apart without plain().
CREATE INDEX orders_creator ON sluice_ledger.orders
    (account, (split_part(position_creators, E'\x1f', live) COLLATE "C"), ordered_s, ordered_ns, shop,
     order_id)
    WHERE live IS NOT NULL;
CREATE VIEW sluice_ledger.orders_by_creator AS
SELECT account, split_part(position_creators, E'\x1f', live) COLLATE "C" AS creator, ordered_s,
       ordered_ns, shop, order_id
FROM sluice_ledger.orders WHERE live IS NOT NULL;

-- Events of an order beyond those that its row holds.
CREATE TABLE sluice_ledger.events (
    account             integer NOT NULL,
    shop                integer NOT NULL,
    order_id            text COLLATE "C" NOT NULL,
    seq                 bigint NOT NULL,
    received_s          bigint NOT NULL,    -- identifies the event together with seq, which counts within a node
    received_ns         integer NOT NULL,
    topic               smallint NOT NULL,
    digest              bytea NOT NULL,
    event               bytea NOT NULL,     -- packed; the last byte: 0 signed post, 1 shopify, 2 woocommerce, 3 import
    PRIMARY KEY (account, shop, order_id, seq, received_s, received_ns, topic)
);
CREATE INDEX events_by_digest ON sluice_ledger.events (account, shop, order_id, digest);

-- ---- Journal and sums ---------------------------------------------------------------------------

-- Append-only: entries of one input that have an order, creator or payout in common. Postings,
-- then memo entries (currency '', amount 0). The reason implies the ledger accounts: the view
-- journal names them.
CREATE TABLE sluice_ledger.journal (
    account             integer NOT NULL,
    shop                integer NOT NULL,   -- 0: none
    order_id            text COLLATE "C" NOT NULL,
    node                integer NOT NULL,
    first_entry         bigint NOT NULL,    -- entries are numbered within a node
    event_seq           bigint NOT NULL,
    command_id          text COLLATE "C" NOT NULL,
    payout_id           text COLLATE "C" NOT NULL,
    program             text COLLATE "C" NOT NULL,
    creator             text COLLATE "C" NOT NULL,
    recorded_s          bigint NOT NULL,
    recorded_ns         integer NOT NULL,
    accounting_s        bigint NOT NULL,    -- when statements show it
    accounting_ns       integer NOT NULL,
    note                text NOT NULL,
    actor               text NOT NULL,
    line_ids            text NOT NULL,
    currencies          text NOT NULL,
    amounts             text NOT NULL,
    reasons             text NOT NULL,
    refers_to           text,               -- 0: none; null: none of them
    hash                bytea NOT NULL,     -- the chain of account and node behind these entries
    last_change         bigint NOT NULL,    -- place of the last entry in that chain
    order_change        bigint NOT NULL,    -- 1, 2, 3 ... within the order; 0: not an order's
    PRIMARY KEY (account, shop, order_id, node, first_entry)
);
CREATE INDEX journal_by_entry ON sluice_ledger.journal (node, first_entry);
-- Statements and periods are read from this index.
CREATE INDEX journal_by_creator ON sluice_ledger.journal
    (account, creator, accounting_s, accounting_ns, node, first_entry) WHERE creator <> '';

-- A part for each node, so that nodes do not wait for each other if a creator has many orders.
-- expense is minus the sum of the others.
CREATE TABLE sluice_ledger.balances (
    account             integer NOT NULL,
    program             text COLLATE "C" NOT NULL,
    creator             text COLLATE "C" NOT NULL,
    currency            text COLLATE "C" NOT NULL,
    node                integer NOT NULL,
    owed                numeric NOT NULL,
    in_payout           numeric NOT NULL,
    paid                numeric NOT NULL,
    PRIMARY KEY (account, program, creator, currency, node)
);

-- ---- Products -----------------------------------------------------------------------------------

CREATE TABLE sluice_ledger.catalog (
    account             integer NOT NULL,
    shop                integer NOT NULL,
    product_id          text COLLATE "C" NOT NULL,
    language            text COLLATE "C" NOT NULL,
    country             text COLLATE "C" NOT NULL,
    full_id             text,               -- null: product_id is all of it
    record              json NOT NULL,
    brand               text,
    collections         text[] NOT NULL,
    tags                text[] NOT NULL,
    variant_skus        text[] NOT NULL,
    PRIMARY KEY (account, shop, product_id, language, country)
);

CREATE TABLE sluice_ledger.variants (
    account             integer NOT NULL,
    shop                integer NOT NULL,
    variant_sku         text COLLATE "C" NOT NULL,
    language            text COLLATE "C" NOT NULL,
    country             text COLLATE "C" NOT NULL,
    product_id          text COLLATE "C" NOT NULL,
    PRIMARY KEY (account, shop, variant_sku, language, country, product_id)
);

-- ---- Described tables -----------------------------------------------------------------------------

@tables@
ALTER TABLE sluice_ledger.shops ADD UNIQUE (shop_id);

-- Lists that the embedded ledger has as tables.
CREATE INDEX payout_runs_account ON sluice_ledger.payout_runs (account, payout_run);
CREATE VIEW sluice_ledger.runs_by_account AS
SELECT account, payout_run FROM sluice_ledger.payout_runs;
CREATE INDEX payouts_state ON sluice_ledger.payouts (account, payout_state, payout_id);
CREATE VIEW sluice_ledger.payouts_by_account AS
SELECT account, payout_state, payout_id FROM sluice_ledger.payouts;
CREATE INDEX payouts_creator ON sluice_ledger.payouts (account, creator, payout_id);
CREATE VIEW sluice_ledger.payouts_by_creator AS
SELECT account, creator, payout_id FROM sluice_ledger.payouts;
CREATE INDEX pending_approvals_state ON sluice_ledger.pending_approvals
    (account, approval_state, command_id);
CREATE VIEW sluice_ledger.waiting_by_state AS
SELECT account, approval_state, command_id FROM sluice_ledger.pending_approvals;
CREATE INDEX clicks_received ON sluice_ledger.clicks
    (account, received_s, received_ns, anon, program, occurred_s, occurred_ns, creator)
    WHERE source <> 3;
CREATE VIEW sluice_ledger.clicks_by_receipt AS
SELECT account, received_s, received_ns, anon, program, occurred_s, occurred_ns, creator
FROM sluice_ledger.clicks WHERE source <> 3;
CREATE INDEX links_creator ON sluice_ledger.links (account, creator, link);
CREATE VIEW sluice_ledger.links_by_creator AS
SELECT account, creator, link FROM sluice_ledger.links;
