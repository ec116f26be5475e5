-- The tables of the ledger, in the schema sluice_ledger. docs/postgresql.md describes them.
--
-- The first migration. migrate() refuses a database with a schema of an earlier
-- format (numbers below 24).
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
    anomalies           bigint[] NOT NULL               -- rows of each kind
);

-- The order in which the nodes' batches were applied. Batches of one node that follow one another
-- share a row.
CREATE TABLE sluice_ledger.batches (
    number              bigint PRIMARY KEY, -- 1, 2, 3 ... without gaps
    node_id             text NOT NULL,      -- UUID of the queue
    first_seq           bigint NOT NULL,    -- the inputs; last_seq + 1 if it was work only
    last_seq            bigint NOT NULL,
    slices              bigint              -- of work, after the last input; null: none is left
);

CREATE TABLE sluice_ledger.chains (
    account             integer NOT NULL,
    node                integer NOT NULL,
    hash                bytea NOT NULL,
    entries             bigint NOT NULL,
    last_group          bigint NOT NULL,    -- first entry of the last group
    PRIMARY KEY (account, node)
);

CREATE TABLE sluice_ledger.shops (
    account             integer NOT NULL,
    shop                integer PRIMARY KEY,
    account_id          text COLLATE "C" NOT NULL,
    shop_id             text COLLATE "C" NOT NULL UNIQUE
);

-- ---- Orders -----------------------------------------------------------------------------------

-- Lists are arrays with one element for each item, null if there are none; those of one block belong
-- together. A `_positions` array contains the position to which an item belongs, counted from 1:
-- `position_creators[accrual_positions[1]]` is the creator of accrual_amounts[1].
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
    as_sent             text[],             -- amount, tax, shipping, where a number loses zeros
    codes               text[],
    device              bytea,              -- SHA-256 of the device id
    device_version_s    bigint NOT NULL,    -- of the payload that stated it
    device_version_ns   integer NOT NULL,
    customer            bytea,              -- SHA-256 of the customer
    plausible_version_s bigint,             -- the highest that was not far ahead of its receipt
    plausible_version_ns integer,
    -- Lines: those of the newest payload, and earlier ones that it lacks.
    line_ids            text[],
    line_skus           text[],
    line_variant_skus   text[],
    line_amounts        numeric[],
    line_taxes          numeric[],
    line_quantities     integer[],
    line_present        boolean[],          -- in the newest payload
    -- Refunds: one element for each refund id.
    refund_ids          text[],
    refund_lines        text[],
    refund_versions_s   bigint[],
    refund_versions_ns  integer[],
    refund_stated       bigint[],
    refund_at_s         bigint[],
    refund_at_ns        integer[],
    refund_amounts      numeric[],
    refund_taxes        numeric[],
    refund_quantities   integer[],
    statements_count    bigint NOT NULL,
    flags               smallint NOT NULL,  -- 1: held, 2: rejected, 4: barred
    anomalies_showing   integer NOT NULL,   -- bits 1 << kind
    anomalies_acknowledged integer NOT NULL,
    -- Positions: the share of each creator in the order.
    live                integer,            -- the live position, from 1; null means no creator
    position_programs   text[],
    position_creators   text[],
    position_types      smallint[],
    position_causes     bigint[],           -- the input that attributed, and if it was a command,
    position_commands   text[],             -- its id
    position_topics     smallint[],
    position_at_s       bigint[],
    position_at_ns      integer[],
    position_candidates bytea[],            -- packed: for `sluice explain`
    position_volumes    numeric[],          -- frozen net sales of the month; null: no tiers
    position_volume_currencies text[],
    position_customers  smallint[],         -- 0: unknown, 1: new, 2: returning
    position_groups     text[],
    position_posted_s   bigint[],           -- the latest accounting date
    position_posted_ns  integer[],
    cap_positions       integer[],          -- max_per_order, frozen
    cap_currencies      text[],
    cap_amounts         numeric[],
    -- Frozen rates of lines, in the order of freezing.
    frozen_positions    integer[],
    frozen_lines        text[],
    frozen_rates        integer[],          -- which of the rates below, from 1
    rate_kinds          smallint[],         -- 0: none, 1: percent, 2: per unit, 3: per order
    rate_values         numeric[],
    rate_currencies     text[],
    rate_bases          smallint[],
    rate_matches        smallint[],
    rate_programs       integer[],          -- version of the program
    rate_rules          integer[],
    rate_tiers          smallint[],         -- null: the rule's own rate
    rate_shared_with    integer[],
    -- Accrued amounts, and the amounts allocated to active payouts. Line '' means entered by hand.
    accrual_positions   integer[],
    accrual_lines       text[],
    accrual_currencies  text[],
    accrual_amounts     numeric[],
    accrual_allocated   numeric[],
    accrual_entries     bigint[],           -- the first journal entry
    -- Payouts to which items of the order were allocated.
    allocation_positions integer[],
    allocation_payouts  text[],
    allocation_currencies text[],
    allocation_amounts  numeric[],
    allocation_commissions numeric[],          -- of these, items of kind COMMISSION
    allocation_has_commission boolean[],
    allocation_active   boolean[],
    -- Events.
    last_applied        bigint NOT NULL,    -- the newest event that replaced the payload,
    last_node           integer NOT NULL,   -- and the number of its node
    events              bytea NOT NULL,     -- packed: for `sluice explain`
    events_count        bigint NOT NULL,
    duplicates_count    bigint NOT NULL,
    other_groups        bigint[],
    changes_count       bigint NOT NULL,    -- journal groups of the order on all nodes
    PRIMARY KEY (account, shop, order_id)
);

-- Lists of orders are read from these indexes, through views that have the names and columns of the
-- embedded ledger's tables.
CREATE INDEX orders_ordered ON sluice_ledger.orders
    (account, ordered_s, ordered_ns, shop, order_id);
CREATE VIEW sluice_ledger.orders_by_time AS
SELECT account, ordered_s, ordered_ns, shop, order_id FROM sluice_ledger.orders;
CREATE INDEX orders_creator ON sluice_ledger.orders
    (account, (position_creators[live] COLLATE "C"), ordered_s, ordered_ns, shop, order_id)
    WHERE live IS NOT NULL;
CREATE VIEW sluice_ledger.orders_by_creator AS
SELECT account, position_creators[live] COLLATE "C" AS creator, ordered_s, ordered_ns, shop, order_id
FROM sluice_ledger.orders WHERE live IS NOT NULL;

-- Orders by each of their codes.
CREATE TABLE sluice_ledger.orders_by_code (
    account             integer NOT NULL,
    code                bigint NOT NULL,    -- the first 63 bits of the code's SHA-256, as in codes
    ordered_s           bigint NOT NULL,
    ordered_ns          integer NOT NULL,
    shop                integer NOT NULL,
    order_id            text COLLATE "C" NOT NULL,
    PRIMARY KEY (account, code, ordered_s, ordered_ns, shop, order_id)
);

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
    event               bytea NOT NULL,
    PRIMARY KEY (account, shop, order_id, seq, received_s, received_ns, topic)
);
CREATE INDEX events_by_digest ON sluice_ledger.events (account, shop, order_id, digest);

CREATE TABLE sluice_ledger.refunds (
    account             integer NOT NULL,
    shop                integer NOT NULL,
    refund_id           text COLLATE "C" NOT NULL,
    order_id            text COLLATE "C" NOT NULL,
    line_id             text COLLATE "C" NOT NULL,
    PRIMARY KEY (account, shop, refund_id)
);

CREATE TABLE sluice_ledger.anomalies (
    account             integer NOT NULL,
    shop                integer NOT NULL,
    order_id            text COLLATE "C" NOT NULL,
    kind                smallint NOT NULL,
    node_id             text NOT NULL,      -- UUID of the queue whose input showed it first
    first_seq           bigint NOT NULL,    -- of that input; 0 means a command
    recorded_s          bigint NOT NULL,
    recorded_ns         integer NOT NULL,
    count               bigint NOT NULL,
    message             text NOT NULL,
    showing             boolean NOT NULL,
    acknowledged_by     text NOT NULL,
    acknowledged_s      bigint,
    acknowledged_ns     integer,
    value               text NOT NULL,      -- what raised it: an amount with its currency, or an instant
    acknowledged_value  text NOT NULL,
    PRIMARY KEY (account, shop, order_id, kind)
);

-- Held orders, and anomalies that show and are not acknowledged.
CREATE TABLE sluice_ledger.attention (
    account             integer NOT NULL,
    kind                smallint NOT NULL,  -- 0: a hold; else the anomaly's
    since_s             bigint NOT NULL,
    since_ns            integer NOT NULL,
    shop                integer NOT NULL,
    order_id            text COLLATE "C" NOT NULL,
    PRIMARY KEY (account, kind, since_s, since_ns, shop, order_id)
);

-- Rows of attention, counted: begun - ended, over all nodes.
CREATE TABLE sluice_ledger.attention_counts (
    account             integer NOT NULL,
    kind                smallint NOT NULL,
    node                integer NOT NULL,
    begun               bigint NOT NULL,
    ended               bigint NOT NULL,
    PRIMARY KEY (account, kind, node)
);

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
    line_ids            text[] NOT NULL,
    currencies          text[] NOT NULL,
    amounts             numeric[] NOT NULL,
    reasons             smallint[] NOT NULL,
    refers_to           bigint[],           -- 0: none; null: none of them
    hash                bytea NOT NULL,     -- the chain of account and node behind these entries
    last_change         bigint NOT NULL,    -- place of the last entry in that chain
    order_change        bigint NOT NULL,    -- 1, 2, 3 ... within the order; 0: not an order's
    PRIMARY KEY (account, shop, order_id, node, first_entry)
);
CREATE INDEX journal_by_entry ON sluice_ledger.journal (node, first_entry);
-- Statements and periods are read from this index.
CREATE INDEX journal_by_creator ON sluice_ledger.journal
    (account, creator, accounting_s, accounting_ns, node, first_entry) WHERE creator <> '';

-- One group in each 256 entries of a node's journal: where to begin to read an account's chain.
CREATE TABLE sluice_ledger.chain_groups (
    account             integer NOT NULL,
    node                integer NOT NULL,
    last_change         bigint NOT NULL,    -- as in journal
    first_entry         bigint NOT NULL,
    PRIMARY KEY (account, node, last_change)
);

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

-- Postings by the day and by the month of their accounting date, in the words of a statement. A part
-- for each node, as in balances.
CREATE TABLE sluice_ledger.daily (
    account             integer NOT NULL,
    day                 integer NOT NULL,   -- 20260131
    program             text COLLATE "C" NOT NULL,
    currency            text COLLATE "C" NOT NULL,
    node                integer NOT NULL,
    earned              numeric NOT NULL,
    adjusted            numeric NOT NULL,
    paid_out            numeric NOT NULL,
    settled             numeric NOT NULL,
    expense_debit       numeric NOT NULL,   -- turnover of each ledger account
    expense_credit      numeric NOT NULL,
    owed_debit          numeric NOT NULL,
    owed_credit         numeric NOT NULL,
    payout_debit        numeric NOT NULL,
    payout_credit       numeric NOT NULL,
    paid_debit          numeric NOT NULL,
    paid_credit         numeric NOT NULL,
    postings            bigint NOT NULL,
    late_postings       bigint NOT NULL,    -- received before the day
    PRIMARY KEY (account, day, program, currency, node)
);

-- Orders by the UTC day of the sale, a part for each node, which may be negative.
CREATE TABLE sluice_ledger.order_days (
    account             integer NOT NULL,
    day                 integer NOT NULL,   -- 20260131
    node                integer NOT NULL,
    orders              numeric NOT NULL,
    attributed          numeric NOT NULL,   -- that have a creator now
    PRIMARY KEY (account, day, node)
);

CREATE TABLE sluice_ledger.monthly (
    account             integer NOT NULL,
    month               integer NOT NULL,   -- 202601
    creator             text COLLATE "C" NOT NULL,
    program             text COLLATE "C" NOT NULL,
    currency            text COLLATE "C" NOT NULL,
    node                integer NOT NULL,
    earned              numeric NOT NULL,
    adjusted            numeric NOT NULL,
    paid_out            numeric NOT NULL,
    settled             numeric NOT NULL,
    PRIMARY KEY (account, month, creator, program, currency, node)
);

-- Open amounts of positions and credits: accrued - allocated, never 0.
CREATE TABLE sluice_ledger.open (
    account             integer NOT NULL,
    program             text COLLATE "C" NOT NULL,
    cleared             boolean NOT NULL,   -- by an item in an active payout
    sold_s              bigint NOT NULL,
    sold_ns             integer NOT NULL,
    shop                integer NOT NULL,   -- 0: a credit, whose command id is in order_id
    order_id            text COLLATE "C" NOT NULL,
    creator             text COLLATE "C" NOT NULL,
    currency            text COLLATE "C" NOT NULL,
    amount              numeric NOT NULL,
    last_posted_s       bigint NOT NULL,
    last_posted_ns      integer NOT NULL,
    blocks              integer NOT NULL,   -- 1: held; 1 << kind of an anomaly; 1 << 30: a write-off
    PRIMARY KEY (account, program, cleared, sold_s, sold_ns, shop, order_id, creator, currency)
);

-- Sums of `open` by the hour of the sale, eight days in a row, a part for each node. A row without
-- hours is deleted.
CREATE TABLE sluice_ledger.open_hours (
    account             integer NOT NULL,
    program             text COLLATE "C" NOT NULL,
    kind                integer NOT NULL,   -- 0: only wait to clear; else `blocks`, 1 << 28: below 0,
                                            -- 1 << 29: cleared
    span                integer NOT NULL,   -- eight days, counted from 0000-01-01
    creator             text COLLATE "C" NOT NULL,
    currency            text COLLATE "C" NOT NULL,
    node                integer NOT NULL,
    hours               bytea NOT NULL,
    PRIMARY KEY (account, program, kind, span, creator, currency, node)
);

-- Minutes of a UTC day in which events of the shop came, a part for each node: bit n of an hour is its
-- minute n. Days 35 apart share a row, which the later one takes over.
CREATE TABLE sluice_ledger.shop_minutes (
    account             integer NOT NULL,
    shop                integer NOT NULL,
    slot                integer NOT NULL,   -- days since 1970, modulo 35
    node                integer NOT NULL,
    day                 integer NOT NULL,   -- 20260131
    hour00              bigint NOT NULL,
    hour01              bigint NOT NULL,
    hour02              bigint NOT NULL,
    hour03              bigint NOT NULL,
    hour04              bigint NOT NULL,
    hour05              bigint NOT NULL,
    hour06              bigint NOT NULL,
    hour07              bigint NOT NULL,
    hour08              bigint NOT NULL,
    hour09              bigint NOT NULL,
    hour10              bigint NOT NULL,
    hour11              bigint NOT NULL,
    hour12              bigint NOT NULL,
    hour13              bigint NOT NULL,
    hour14              bigint NOT NULL,
    hour15              bigint NOT NULL,
    hour16              bigint NOT NULL,
    hour17              bigint NOT NULL,
    hour18              bigint NOT NULL,
    hour19              bigint NOT NULL,
    hour20              bigint NOT NULL,
    hour21              bigint NOT NULL,
    hour22              bigint NOT NULL,
    hour23              bigint NOT NULL,
    PRIMARY KEY (account, shop, slot, node)
);

CREATE TABLE sluice_ledger.tier_volumes (
    account             integer NOT NULL,
    program             text COLLATE "C" NOT NULL,
    creator             text COLLATE "C" NOT NULL,
    month               integer NOT NULL,   -- 202601
    currency            text COLLATE "C" NOT NULL,
    amount              numeric NOT NULL,
    PRIMARY KEY (account, program, creator, month, currency)
);

CREATE TABLE sluice_ledger.periods (
    account             integer NOT NULL,
    until_s             bigint NOT NULL,
    until_ns            integer NOT NULL,
    closed_s            bigint NOT NULL,
    closed_ns           integer NOT NULL,
    closed_by           text NOT NULL,
    command_id          text COLLATE "C" NOT NULL,
    PRIMARY KEY (account, until_s, until_ns)
);

CREATE TABLE sluice_ledger.period_sums (
    account             integer NOT NULL,
    until_s             bigint NOT NULL,
    until_ns            integer NOT NULL,
    creator             text COLLATE "C" NOT NULL,
    program             text COLLATE "C" NOT NULL,
    currency            text COLLATE "C" NOT NULL,
    opening_owed        numeric NOT NULL,
    opening_in_payout   numeric NOT NULL,
    opening_paid        numeric NOT NULL,
    reasons             text NOT NULL,
    closing_owed        numeric NOT NULL,
    closing_in_payout   numeric NOT NULL,
    closing_paid        numeric NOT NULL,
    entries             bigint NOT NULL,
    digest              bytea NOT NULL,
    PRIMARY KEY (account, until_s, until_ns, creator, program, currency)
);

-- ---- Payouts ------------------------------------------------------------------------------------

CREATE TABLE sluice_ledger.payout_runs (
    payout_run          text COLLATE "C" PRIMARY KEY,   -- command id of the close
    node_id             text NOT NULL,      -- UUID of the queue that it came through
    account             integer NOT NULL,
    until_s             bigint NOT NULL,
    until_ns            integer NOT NULL,
    closed_s            bigint NOT NULL,
    closed_ns           integer NOT NULL,
    closed_by           text NOT NULL,
    payouts             bigint NOT NULL,
    digest              bytea NOT NULL
);

CREATE INDEX payout_runs_account ON sluice_ledger.payout_runs (account, payout_run);
CREATE VIEW sluice_ledger.runs_by_account AS
SELECT account, payout_run FROM sluice_ledger.payout_runs;

CREATE TABLE sluice_ledger.runs_until (     -- by account and cut-off: closes run forward
    account             integer NOT NULL,
    until_s             bigint NOT NULL,
    until_ns            integer NOT NULL,
    payout_run          text COLLATE "C" NOT NULL,
    programs            text NOT NULL,      -- ids with a space between; empty: all
    PRIMARY KEY (account, until_s, until_ns, payout_run)
);

CREATE TABLE sluice_ledger.payouts (
    payout_id           text COLLATE "C" PRIMARY KEY,
    account             integer NOT NULL,
    creator             text COLLATE "C" NOT NULL,
    currency            text NOT NULL,
    amount              numeric NOT NULL,
    payout_state        smallint NOT NULL,
    until_s             bigint NOT NULL,
    until_ns            integer NOT NULL,
    closed_s            bigint NOT NULL,
    closed_ns           integer NOT NULL,
    closed_by           text NOT NULL,
    payee               text NOT NULL,      -- frozen by the close
    repointed_by        text NOT NULL,
    repoints            integer NOT NULL,
    approved_by         text NOT NULL,
    approved_s          bigint,
    approved_ns         integer,
    payees_sha256       text NOT NULL,      -- of the bank accounts that were approved, or empty
    sent_by             text NOT NULL,
    sent_s              bigint,
    sent_ns             integer,
    message             text COLLATE "C" NOT NULL,
    ended_by            text NOT NULL,
    ended_s             bigint,
    ended_ns            integer,
    end_reason          text NOT NULL,      -- why it is void, failed or returned
    bank_ref            text NOT NULL,
    paid_s              bigint,
    paid_ns             integer,
    orders              bigint NOT NULL,
    items               bigint NOT NULL,
    items_digest        bytea NOT NULL
);
CREATE INDEX payouts_state ON sluice_ledger.payouts (account, payout_state, payout_id);
CREATE VIEW sluice_ledger.payouts_by_account AS
SELECT account, payout_state, payout_id FROM sluice_ledger.payouts;
CREATE INDEX payouts_creator ON sluice_ledger.payouts (account, creator, payout_id);
CREATE VIEW sluice_ledger.payouts_by_creator AS
SELECT account, creator, payout_id FROM sluice_ledger.payouts;

CREATE TABLE sluice_ledger.payout_parts (
    payout_id           text COLLATE "C" NOT NULL,
    program             text COLLATE "C" NOT NULL,
    amount              numeric NOT NULL,
    PRIMARY KEY (payout_id, program)
);

CREATE TABLE sluice_ledger.payout_items (
    payout_id           text COLLATE "C" NOT NULL,
    program             text COLLATE "C" NOT NULL,
    shop_id             text COLLATE "C" NOT NULL,
    order_id            text COLLATE "C" NOT NULL,
    line_id             text COLLATE "C" NOT NULL,  -- a credit's command id
    item_kind           smallint NOT NULL,
    amount              numeric NOT NULL,
    shop                integer NOT NULL,
    sold_s              bigint NOT NULL,
    sold_ns             integer NOT NULL,
    PRIMARY KEY (payout_id, program, shop_id, order_id, line_id, item_kind)
);

-- Creators who got nothing, or less, in a payout run.
CREATE TABLE sluice_ledger.skipped (
    payout_run          text COLLATE "C" NOT NULL,
    creator             text COLLATE "C" NOT NULL,
    currency            text COLLATE "C" NOT NULL,
    skip_reason         smallint NOT NULL,
    amount              numeric NOT NULL,
    PRIMARY KEY (payout_run, creator, currency, skip_reason)
);

-- ---- Commands -----------------------------------------------------------------------------------

CREATE TABLE sluice_ledger.commands (
    node                integer NOT NULL,
    seq                 bigint NOT NULL,
    topic               smallint NOT NULL,
    command_id          text COLLATE "C" NOT NULL,
    actor               text NOT NULL,
    received_s          bigint NOT NULL,
    received_ns         integer NOT NULL,
    outcome             smallint NOT NULL,
    result              text NOT NULL,
    first_command       text COLLATE "C" NOT NULL,
    PRIMARY KEY (node, seq)
);

-- Seals of all commands that a queue had: a captured record that is appended again has the same one.
CREATE TABLE sluice_ledger.seals (
    node                integer NOT NULL,
    mac                 bytea NOT NULL,
    seq                 bigint NOT NULL,    -- the first input that had it
    PRIMARY KEY (node, mac)
);

-- Signatures of approvers who have a key.
CREATE TABLE sluice_ledger.signed_approvals (
    account             integer NOT NULL,
    command_id          text COLLATE "C" NOT NULL,  -- the approval's own id
    subject             text NOT NULL,      -- the approved command, payout or payout run
    approver            text NOT NULL,
    ssh_key             text NOT NULL,
    statement           text NOT NULL,      -- as it was signed
    signature           text NOT NULL,      -- as `ssh-keygen -Y sign` wrote it
    PRIMARY KEY (account, command_id)
);

-- Keys that were used; they count per account, for ever.
CREATE TABLE sluice_ledger.keys (
    account             integer NOT NULL,
    key_text            text COLLATE "C" NOT NULL,
    content             bytea NOT NULL,     -- SHA-256 of topic, shop and body
    command_id          text COLLATE "C" NOT NULL,
    outcome             smallint NOT NULL,
    result              text NOT NULL,
    PRIMARY KEY (account, key_text)
);

-- Adjustments, credits, opening balances, write-offs and reversals; the last columns are the
-- position of an amount without an order.
CREATE TABLE sluice_ledger.money_commands (
    command_id          text COLLATE "C" PRIMARY KEY,
    account             integer NOT NULL,
    topic               smallint NOT NULL,
    shop                integer NOT NULL,
    shop_id             text COLLATE "C" NOT NULL,
    order_id            text COLLATE "C" NOT NULL,
    program             text COLLATE "C" NOT NULL,
    creator             text COLLATE "C" NOT NULL,
    currency            text NOT NULL,
    amount              numeric NOT NULL,
    reversed_by         text COLLATE "C" NOT NULL,
    reverses            text COLLATE "C" NOT NULL,
    sale_s              bigint NOT NULL,
    sale_ns             integer NOT NULL,
    accrued             numeric NOT NULL,
    allocated           numeric NOT NULL,
    last_posted_s       bigint NOT NULL,
    last_posted_ns      integer NOT NULL,
    first_entry         bigint NOT NULL,
    active_items        integer NOT NULL
);

CREATE TABLE sluice_ledger.credits_of_orders (
    account             integer NOT NULL,
    shop_id             text COLLATE "C" NOT NULL,
    order_id            text COLLATE "C" NOT NULL,
    command_id          text COLLATE "C" NOT NULL,
    PRIMARY KEY (account, shop_id, order_id, command_id)
);

-- Balances of an earlier system that stand.
CREATE TABLE sluice_ledger.openings (
    account             integer NOT NULL,
    program             text COLLATE "C" NOT NULL,
    creator             text COLLATE "C" NOT NULL,
    currency            text COLLATE "C" NOT NULL,
    opened_s            bigint NOT NULL,
    opened_ns           integer NOT NULL,
    command_id          text COLLATE "C" NOT NULL,
    PRIMARY KEY (account, program, creator, currency)
);

-- Commands that need, or needed, another actor's approval.
CREATE TABLE sluice_ledger.pending_approvals (
    account             integer NOT NULL,
    command_id          text COLLATE "C" NOT NULL,
    topic               smallint NOT NULL,
    shop                integer NOT NULL,
    shop_id             text COLLATE "C" NOT NULL,
    body                text NOT NULL,
    actor               text NOT NULL,
    reason              text NOT NULL,
    received_s          bigint NOT NULL,
    received_ns         integer NOT NULL,
    currency            text,               -- null if the command has no amount
    amount              numeric NOT NULL,
    program             text COLLATE "C" NOT NULL,
    creator             text COLLATE "C" NOT NULL,
    approval_state      smallint NOT NULL,  -- 1: pending, 2: approved, 3: withdrawn
    ended_by            text NOT NULL,
    ended_s             bigint,
    ended_ns            integer,
    node_id             text NOT NULL,      -- of the memo entry PENDING
    entry               bigint NOT NULL,
    PRIMARY KEY (account, command_id)
);
CREATE INDEX pending_approvals_state ON sluice_ledger.pending_approvals
    (account, approval_state, command_id);
CREATE VIEW sluice_ledger.waiting_by_state AS
SELECT account, approval_state, command_id FROM sluice_ledger.pending_approvals;

-- Orders that a command attributed.
CREATE TABLE sluice_ledger.attributed_orders (
    command_id          text COLLATE "C" NOT NULL,
    account             integer NOT NULL,
    shop                integer NOT NULL,
    order_id            text COLLATE "C" NOT NULL,
    PRIMARY KEY (command_id, account, shop, order_id)
);

CREATE TABLE sluice_ledger.dead (
    node                integer NOT NULL,
    seq                 bigint NOT NULL,
    topic               smallint,           -- null: the record itself is unreadable
    account             integer NOT NULL,
    shop                integer NOT NULL,
    account_id          text NOT NULL,
    shop_id             text NOT NULL,
    received_s          bigint NOT NULL,
    received_ns         integer NOT NULL,
    reason              text NOT NULL,
    attempts            integer NOT NULL,
    record              bytea NOT NULL,     -- as it came from the queue
    bulk_body           bytea NOT NULL,
    body_sha256         bytea,
    PRIMARY KEY (node, seq)
);

-- Work that an input left to be done before the next one: attribution that is to be tried again.
CREATE TABLE sluice_ledger.work (
    node                integer NOT NULL,
    number              bigint NOT NULL,
    work_kind           smallint NOT NULL,
    account             integer NOT NULL,
    kind                smallint NOT NULL,
    digest              bytea NOT NULL,
    subject             text NOT NULL,
    after_ordered_s     bigint,
    after_ordered_ns    integer,
    after_shop          integer,
    after_order         text COLLATE "C",
    cause               bigint NOT NULL,
    cause_topic         smallint NOT NULL,
    command_id          text COLLATE "C" NOT NULL,
    actor               text NOT NULL,
    reason              text NOT NULL,
    received_s          bigint NOT NULL,
    received_ns         integer NOT NULL,
    PRIMARY KEY (node, number)
);

CREATE TABLE sluice_ledger.work_orders (
    node                integer NOT NULL,
    work                bigint NOT NULL,
    ordered_s           bigint NOT NULL,
    ordered_ns          integer NOT NULL,
    account             integer NOT NULL,
    shop                integer NOT NULL,
    order_id            text COLLATE "C" NOT NULL,
    PRIMARY KEY (node, work, ordered_s, ordered_ns, account, shop, order_id)
);

-- ---- Accounts, programs, creators ---------------------------------------------------------------

CREATE TABLE sluice_ledger.accounts (
    account             integer PRIMARY KEY,
    account_id          text COLLATE "C" NOT NULL,
    closed_until_s      bigint,             -- the first instant of the open period
    closed_until_ns     integer,
    policy              text NOT NULL,      -- JSON; '': the defaults
    policy_by           text NOT NULL,
    policy_version      integer NOT NULL,
    open_credits        bigint NOT NULL     -- credits that name an order and are not reversed
);

CREATE TABLE sluice_ledger.programs (
    program             text COLLATE "C" PRIMARY KEY,
    account             integer NOT NULL,
    version             integer NOT NULL,   -- the one that counts
    opening_s           bigint,             -- orders from before it earn nothing
    opening_ns          integer
);

CREATE TABLE sluice_ledger.program_versions (
    program             text COLLATE "C" NOT NULL,
    version             integer NOT NULL,
    account             integer NOT NULL,
    account_id          text COLLATE "C" NOT NULL,
    applied_by          bigint NOT NULL,
    applied_s           bigint NOT NULL,
    applied_ns          integer NOT NULL,
    first_effective_from_s bigint NOT NULL,
    first_effective_from_ns integer NOT NULL,
    json                text NOT NULL,      -- the program as its file states it
    PRIMARY KEY (program, version)
);

CREATE TABLE sluice_ledger.program_shops (
    program             text COLLATE "C" NOT NULL,
    shop_name           text COLLATE "C" NOT NULL,  -- shop id, or *
    effective_from_s    bigint NOT NULL,
    effective_from_ns   integer NOT NULL,
    PRIMARY KEY (program, shop_name)
);

CREATE TABLE sluice_ledger.creators (
    account             integer NOT NULL,
    creator             text COLLATE "C" NOT NULL,
    name                text NOT NULL,
    payee               text NOT NULL,
    shown_as            text COLLATE "C" NOT NULL,  -- after a rename
    payee_since_s       bigint,
    payee_since_ns      integer,
    payee_changed       boolean NOT NULL,   -- it replaced another one, or none
    PRIMARY KEY (account, creator)
);

CREATE TABLE sluice_ledger.payee_changes (
    account             integer NOT NULL,
    creator             text COLLATE "C" NOT NULL,
    changed_s           bigint NOT NULL,
    changed_ns          integer NOT NULL,
    command_id          text COLLATE "C" NOT NULL,
    old_payee           text NOT NULL,
    new_payee           text NOT NULL,
    actor               text NOT NULL,
    reason              text NOT NULL,
    PRIMARY KEY (account, creator, changed_s, changed_ns, command_id)
);

-- What took effect without a second person, and counts against a limit of the policy.
CREATE TABLE sluice_ledger.limit_uses (
    account             integer NOT NULL,
    limit_kind          smallint NOT NULL,  -- 1: payout, 2: adjust, 3: attribution
    used_s              bigint NOT NULL,
    used_ns             integer NOT NULL,
    id                  text COLLATE "C" NOT NULL,
    creator             text COLLATE "C" NOT NULL,
    currency            text COLLATE "C" NOT NULL,
    payee               bytea NOT NULL,     -- digest of its reference; zeros: none
    amount              numeric NOT NULL,
    PRIMARY KEY (account, limit_kind, used_s, used_ns, id, creator, currency)
);

CREATE TABLE sluice_ledger.creator_aliases (
    account             integer NOT NULL,
    alias               text COLLATE "C" NOT NULL,
    creator             text COLLATE "C" NOT NULL,
    PRIMARY KEY (account, alias)
);

CREATE TABLE sluice_ledger.creator_holds (
    account             integer NOT NULL,
    creator             text COLLATE "C" NOT NULL,
    program             text COLLATE "C" NOT NULL,  -- '': all
    actor               text NOT NULL,
    reason              text NOT NULL,
    held_s              bigint NOT NULL,
    held_ns             integer NOT NULL,
    PRIMARY KEY (account, creator, program)
);

CREATE TABLE sluice_ledger.codes (
    account             integer NOT NULL,
    digest              bytea NOT NULL,     -- SHA-256 of the code in lower case
    program             text COLLATE "C" NOT NULL,
    valid_from_s        bigint NOT NULL,
    valid_from_ns       integer NOT NULL,
    code                text NOT NULL,
    creator             text COLLATE "C" NOT NULL,
    valid_until_s       bigint,             -- excluded; null: no limit
    valid_until_ns      integer,
    PRIMARY KEY (account, digest, program, valid_from_s, valid_from_ns)
);

CREATE TABLE sluice_ledger.memberships (
    account             integer NOT NULL,
    program             text COLLATE "C" NOT NULL,
    creator             text COLLATE "C" NOT NULL,
    removed             boolean NOT NULL,
    changed_by          bigint NOT NULL,
    member_group        text NOT NULL,
    effective_from_s    bigint NOT NULL,
    effective_from_ns   integer NOT NULL,
    PRIMARY KEY (account, program, creator)
);

CREATE TABLE sluice_ledger.clicks (
    account             integer NOT NULL,
    anon                bytea NOT NULL,
    program             text COLLATE "C" NOT NULL,
    occurred_s          bigint NOT NULL,
    occurred_ns         integer NOT NULL,
    creator             text COLLATE "C" NOT NULL,
    import              bigint NOT NULL,    -- inputs of all nodes up to the import
    import_row          integer NOT NULL,
    effective_from_s    bigint NOT NULL,
    effective_from_ns   integer NOT NULL,
    PRIMARY KEY (account, anon, program, occurred_s, occurred_ns, creator)
);

-- Orders without a creator, by the click or code that they wait for.
CREATE TABLE sluice_ledger.waiting (
    account             integer NOT NULL,
    kind                smallint NOT NULL,  -- 1: a click, 2: a code
    digest              bytea NOT NULL,
    ordered_s           bigint NOT NULL,
    ordered_ns          integer NOT NULL,
    shop                integer NOT NULL,
    order_id            text COLLATE "C" NOT NULL,
    PRIMARY KEY (account, kind, digest, ordered_s, ordered_ns, shop, order_id)
);

-- Orders of a customer of a shop, once a program asks whether a customer is new.
CREATE TABLE sluice_ledger.customer_orders (
    account             integer NOT NULL,
    shop                integer NOT NULL,
    customer            bytea NOT NULL,
    ordered_s           bigint NOT NULL,
    ordered_ns          integer NOT NULL,
    order_id            text COLLATE "C" NOT NULL,
    PRIMARY KEY (account, shop, customer, ordered_s, ordered_ns, order_id)
);

-- Forgets that some node has not performed yet.
CREATE TABLE sluice_ledger.forgets (
    command_id          text COLLATE "C" PRIMARY KEY,
    account             integer NOT NULL,
    shop                integer NOT NULL,
    secret              text NOT NULL,
    digests             text NOT NULL
);

CREATE TABLE sluice_ledger.forgets_done (
    command_id          text COLLATE "C" NOT NULL,
    node_id             text COLLATE "C" NOT NULL,
    PRIMARY KEY (command_id, node_id)
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
