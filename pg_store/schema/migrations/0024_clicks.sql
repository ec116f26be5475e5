-- Clicks that servers send: where a click came from, the link, and figures by day and month.
ALTER TABLE sluice_ledger.heads ADD COLUMN clicks bigint NOT NULL;  -- inputs with clicks

ALTER TABLE sluice_ledger.clicks
    ADD COLUMN source       smallint NOT NULL,  -- 2: posted, 3: imported
    ADD COLUMN link         text COLLATE "C" NOT NULL,
    ADD COLUMN received_s   bigint NOT NULL,    -- of its first arrival
    ADD COLUMN received_ns  integer NOT NULL;
CREATE INDEX clicks_received ON sluice_ledger.clicks
    (account, received_s, received_ns, anon, program, occurred_s, occurred_ns, creator)
    WHERE source <> 3;
CREATE VIEW sluice_ledger.clicks_by_receipt AS
SELECT account, received_s, received_ns, anon, program, occurred_s, occurred_ns, creator
FROM sluice_ledger.clicks WHERE source <> 3;

-- Figures of clicks and of the orders that came through them; a part for each node.
CREATE TABLE sluice_ledger.click_days (
    account             integer NOT NULL,
    day                 integer NOT NULL,   -- 20260131, by the time of the click or sale
    program             text COLLATE "C" NOT NULL,
    creator             text COLLATE "C" NOT NULL,
    link                text COLLATE "C" NOT NULL,
    node                integer NOT NULL,
    clicks              numeric NOT NULL,
    devices             numeric NOT NULL,
    orders              numeric NOT NULL,
    PRIMARY KEY (account, day, program, creator, link, node)
);

CREATE TABLE sluice_ledger.click_months (
    account             integer NOT NULL,
    month               integer NOT NULL,   -- 202601
    program             text COLLATE "C" NOT NULL,
    creator             text COLLATE "C" NOT NULL,
    link                text COLLATE "C" NOT NULL,
    node                integer NOT NULL,
    clicks              numeric NOT NULL,
    devices             numeric NOT NULL,
    orders              numeric NOT NULL,
    PRIMARY KEY (account, month, program, creator, link, node)
);

CREATE TABLE sluice_ledger.link_days (
    account             integer NOT NULL,
    day                 integer NOT NULL,   -- 20260131, by accounting date
    program             text COLLATE "C" NOT NULL,
    creator             text COLLATE "C" NOT NULL,
    link                text COLLATE "C" NOT NULL,
    currency            text COLLATE "C" NOT NULL,
    node                integer NOT NULL,
    earned              numeric NOT NULL,
    adjusted            numeric NOT NULL,
    PRIMARY KEY (account, day, program, creator, link, currency, node)
);
