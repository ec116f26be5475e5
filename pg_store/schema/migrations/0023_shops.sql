-- Orders of shops that sluice receives from the shop's platform.

-- Deletions of orders that the ledger did not know. The first state of the order that arrives ends the row.
CREATE TABLE sluice_ledger.deleted_orders (
    account             integer NOT NULL,
    shop                integer NOT NULL,
    order_id            text COLLATE "C" NOT NULL,
    seq                 bigint NOT NULL,    -- of the deletion, in the queue
    node                integer NOT NULL,   -- of that queue
    version_s           bigint NOT NULL,    -- a state that is not later arrives cancelled
    version_ns          integer NOT NULL,
    received_s          bigint NOT NULL,
    received_ns         integer NOT NULL,
    cancelled_s         bigint NOT NULL,
    cancelled_ns        integer NOT NULL,
    digest              bytea NOT NULL,     -- first half of the body's SHA-256, then zeros
    PRIMARY KEY (account, shop, order_id)
);

-- The names of the new kinds of anomalies.
@names@