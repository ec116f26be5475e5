-- What the source of a fleet published: accounts, shops, tokens. Encrypted and sealed before it came.
CREATE TABLE sluice_ledger.registry (
    one                 boolean PRIMARY KEY CHECK (one),
    source              text COLLATE "C" NOT NULL,  -- UUID of the store
    revision            bigint NOT NULL,
    published_at        timestamptz NOT NULL DEFAULT now(),
    file                bytea NOT NULL,             -- as `sluice registry export` writes it
    -- Which of the states with this revision: a source that was restored from a backup counts again.
    digest              bytea NOT NULL
);
