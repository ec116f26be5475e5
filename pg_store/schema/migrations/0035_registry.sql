-- The registry that the source of a fleet published: accounts, shops, tokens. It is encrypted and
-- sealed before it is written.
CREATE TABLE sluice_ledger.registry (
    one                 boolean PRIMARY KEY CHECK (one),
    source              text COLLATE "C" NOT NULL,  -- UUID of the store
    revision            bigint NOT NULL,
    published_at        timestamptz NOT NULL DEFAULT now(),
    file                bytea NOT NULL,             -- as `sluice registry export` writes it
    -- Distinguishes states with equal revisions, because a source restored from a backup counts again.
    digest              bytea NOT NULL
);
