-- Which of the states with this revision: a source that was restored from a backup counts again.
ALTER TABLE sluice_ledger.registry ADD COLUMN digest bytea NOT NULL DEFAULT ''::bytea;
