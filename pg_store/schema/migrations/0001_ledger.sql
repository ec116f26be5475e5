-- The tables of the ledger, in the schema sluice_ledger. docs/postgresql.md describes them.
--
-- An instant is two columns: seconds since 1970-01-01T00:00:00Z, and nanoseconds (timestamptz would
-- round them). Amounts that were sent keep their scale. Ids compare by their bytes.
-- Everything that grows is keyed by account first, then shop.

-- One row, written under the exclusive gate only.
CREATE TABLE sluice_ledger.state (
    one                 boolean PRIMARY KEY CHECK (one),
    programs_revision   bigint NOT NULL,    -- moves with every change of any program
    imports             bigint NOT NULL,    -- touch imports so far: the last imported wins
    payouts             bigint NOT NULL     -- payouts so far: the order of closing
);
INSERT INTO sluice_ledger.state VALUES (true, 0, 0, 0);

-- How far each node is: written in the transaction that holds the effects.
CREATE TABLE sluice_ledger.heads (
    node                text COLLATE "C" PRIMARY KEY,   -- UUID of the queue
    number              integer NOT NULL UNIQUE,
    applied_seq         bigint NOT NULL,                -- the checkpoint
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

CREATE TABLE sluice_ledger.chains (
    account             integer NOT NULL,
    node                integer NOT NULL,
    hash                bytea NOT NULL,
    entries             bigint NOT NULL,
    PRIMARY KEY (account, node)
);

CREATE TABLE sluice_ledger.shops (
    account             integer NOT NULL,
    shop                integer PRIMARY KEY,
    account_id          text COLLATE "C" NOT NULL,
    shop_id             text COLLATE "C" NOT NULL UNIQUE
);

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
    codes               text[] NOT NULL,
    anon                bytea,              -- SHA-256 of the anonymous id
    -- Lines: one element for each.
    line_ids            text[] NOT NULL,
    line_skus           text[] NOT NULL,
    line_variant_skus   text[] NOT NULL,
    line_amounts        numeric[] NOT NULL,
    line_taxes          numeric[] NOT NULL,
    line_quantities     integer[] NOT NULL,
    line_present        boolean[] NOT NULL, -- in the newest payload
    line_commissions    numeric[] NOT NULL,
    line_rates          integer[] NOT NULL, -- counts from 1 in the rates below; null: none yet
    rate_kinds          smallint[] NOT NULL,
    rate_values         numeric[] NOT NULL,
    rate_currencies     text[] NOT NULL,
    rate_bases          smallint[] NOT NULL,
    rate_matches        smallint[] NOT NULL,
    rate_programs       integer[] NOT NULL, -- version of the program
    rate_rules          integer[] NOT NULL,
    -- Refunds: one element for each refund id.
    refund_ids          text[] NOT NULL,
    refund_lines        text[] NOT NULL,
    refund_versions_s   bigint[] NOT NULL,
    refund_versions_ns  integer[] NOT NULL,
    refund_stated       bigint[] NOT NULL,
    refund_at_s         bigint[] NOT NULL,
    refund_at_ns        integer[] NOT NULL,
    refund_amounts      numeric[] NOT NULL,
    refund_taxes        numeric[] NOT NULL,
    refund_quantities   integer[] NOT NULL,
    statements_count    bigint NOT NULL,
    -- Attribution.
    program             text COLLATE "C",
    creator             text COLLATE "C",
    attribution_types   smallint,
    attributed_by       bigint,
    attributed_topic    smallint,
    attributed_s        bigint,
    attributed_ns       integer,
    candidates          bytea,
    -- What is due, for each currency.
    due_currencies      text[] NOT NULL,
    due_amounts         numeric[] NOT NULL,
    due_manual          numeric[] NOT NULL,
    due_settled         numeric[] NOT NULL,
    paid_currency       text,
    paid_amount         numeric,
    payout_id           text,
    -- Events.
    last_applied        bigint NOT NULL,
    events              bytea NOT NULL,
    events_count        bigint NOT NULL,
    duplicates_count    bigint NOT NULL,
    other_groups        bigint[] NOT NULL,
    PRIMARY KEY (account, shop, order_id)
);

-- Events of an order beyond those that its row holds.
CREATE TABLE sluice_ledger.events (
    account             integer NOT NULL,
    shop                integer NOT NULL,
    order_id            text COLLATE "C" NOT NULL,
    number              bigint NOT NULL,    -- of the order's events, in order of arrival
    topic               smallint NOT NULL,
    digest              bytea NOT NULL,
    event               bytea NOT NULL,
    PRIMARY KEY (account, shop, order_id, number)
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
    node                integer NOT NULL,
    first_seq           bigint NOT NULL,
    recorded_s          bigint NOT NULL,
    recorded_ns         integer NOT NULL,
    count               bigint NOT NULL,
    message             text NOT NULL,
    PRIMARY KEY (account, shop, order_id, kind)
);

-- Append-only: the entries that one input caused on one order.
CREATE TABLE sluice_ledger.journal (
    account             integer NOT NULL,
    shop                integer NOT NULL,
    order_id            text COLLATE "C" NOT NULL,
    node                integer NOT NULL,
    first_entry         bigint NOT NULL,    -- entries are numbered within a node
    event_seq           bigint NOT NULL,
    program             text COLLATE "C" NOT NULL,
    creator             text COLLATE "C" NOT NULL,
    recorded_s          bigint NOT NULL,
    recorded_ns         integer NOT NULL,
    note                text NOT NULL,
    actor               text NOT NULL,
    line_ids            text[] NOT NULL,
    currencies          text[] NOT NULL,
    amounts             numeric[] NOT NULL,
    reasons             smallint[] NOT NULL,
    hash                bytea NOT NULL,     -- the chain of account and node behind these entries
    PRIMARY KEY (account, shop, order_id, node, first_entry)
);
CREATE INDEX journal_by_entry ON sluice_ledger.journal (node, first_entry);

-- A part for each node, so that nodes do not wait for each other at a busy creator.
CREATE TABLE sluice_ledger.balances (
    account             integer NOT NULL,
    program             text COLLATE "C" NOT NULL,
    creator             text COLLATE "C" NOT NULL,
    currency            text COLLATE "C" NOT NULL,
    node                integer NOT NULL,
    total               numeric NOT NULL,
    paid                numeric NOT NULL,
    PRIMARY KEY (account, program, creator, currency, node)
);

CREATE TABLE sluice_ledger.open (
    account             integer NOT NULL,
    program             text COLLATE "C" NOT NULL,
    adjustment          boolean NOT NULL,
    ordered_s           bigint NOT NULL,
    ordered_ns          integer NOT NULL,
    shop                integer NOT NULL,
    order_id            text COLLATE "C" NOT NULL,
    currency            text COLLATE "C" NOT NULL,
    creator             text COLLATE "C" NOT NULL,
    amount              numeric NOT NULL,
    PRIMARY KEY (account, program, adjustment, ordered_s, ordered_ns, shop, order_id, currency)
);

-- Orders without a creator, by what they wait for.
CREATE TABLE sluice_ledger.waiting (
    account             integer NOT NULL,
    kind                smallint NOT NULL,  -- 1: a touch, 2: a code
    digest              bytea NOT NULL,
    shop                integer NOT NULL,
    order_id            text COLLATE "C" NOT NULL,
    PRIMARY KEY (account, kind, digest, shop, order_id)
);

CREATE TABLE sluice_ledger.codes (
    account             integer NOT NULL,
    digest              bytea NOT NULL,     -- SHA-256 of the code in lower case
    program             text COLLATE "C" NOT NULL,
    code                text NOT NULL,
    creator             text COLLATE "C" NOT NULL,
    PRIMARY KEY (account, digest, program)
);

CREATE TABLE sluice_ledger.memberships (
    account             integer NOT NULL,
    program             text COLLATE "C" NOT NULL,
    creator             text COLLATE "C" NOT NULL,
    removed             boolean NOT NULL,
    changed_by          bigint NOT NULL,
    PRIMARY KEY (account, program, creator)
);

CREATE TABLE sluice_ledger.touches (
    account             integer NOT NULL,
    anon                bytea NOT NULL,
    program             text COLLATE "C" NOT NULL,
    occurred_s          bigint NOT NULL,
    occurred_ns         integer NOT NULL,
    creator             text COLLATE "C" NOT NULL,
    import              bigint NOT NULL,    -- of state.imports
    import_row          integer NOT NULL,
    PRIMARY KEY (account, anon, program, occurred_s, occurred_ns, creator)
);

CREATE TABLE sluice_ledger.programs (
    program             text COLLATE "C" NOT NULL,
    version             integer NOT NULL,
    current             boolean NOT NULL,
    account             integer NOT NULL,
    account_id          text COLLATE "C" NOT NULL,
    shops               text[] NOT NULL,
    window_days         integer NOT NULL,
    base                smallint NOT NULL,
    precedence          smallint[] NOT NULL,
    hold_days           integer NOT NULL,
    default_kind        smallint NOT NULL,
    default_value       numeric NOT NULL,
    default_currency    text NOT NULL,
    rule_matches        smallint[] NOT NULL,
    rule_texts          text[] NOT NULL,
    rule_kinds          smallint[] NOT NULL,
    rule_values         numeric[] NOT NULL,
    rule_currencies     text[] NOT NULL,
    applied_by          bigint NOT NULL,
    applied_s           bigint NOT NULL,
    applied_ns          integer NOT NULL,
    PRIMARY KEY (program, version)
);

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

CREATE TABLE sluice_ledger.payouts (
    account             integer NOT NULL,
    number              bigint NOT NULL,    -- of state.payouts
    node                integer NOT NULL,
    payout_id           text NOT NULL,
    program             text COLLATE "C" NOT NULL,
    creator             text COLLATE "C" NOT NULL,
    currency            text NOT NULL,
    amount              numeric NOT NULL,
    until_s             bigint NOT NULL,
    until_ns            integer NOT NULL,
    closed_s            bigint NOT NULL,
    closed_ns           integer NOT NULL,
    orders_count        bigint NOT NULL,
    actor               text NOT NULL,
    PRIMARY KEY (account, number)
);

CREATE TABLE sluice_ledger.commands (
    node                integer NOT NULL,
    seq                 bigint NOT NULL,
    topic               smallint NOT NULL,
    actor               text NOT NULL,
    received_s          bigint NOT NULL,
    received_ns         integer NOT NULL,
    ok                  boolean NOT NULL,
    result              text NOT NULL,
    PRIMARY KEY (node, seq)
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

-- Attribution that is to be tried again.
CREATE TABLE sluice_ledger.work (
    node                integer NOT NULL,
    number              bigint NOT NULL,
    whole_account       boolean NOT NULL,
    account             integer NOT NULL,
    kind                smallint NOT NULL,
    digest              bytea NOT NULL,
    after_shop          integer,
    after_order         text COLLATE "C",
    cause               bigint NOT NULL,
    cause_topic         smallint NOT NULL,
    received_s          bigint NOT NULL,
    received_ns         integer NOT NULL,
    PRIMARY KEY (node, number)
);
