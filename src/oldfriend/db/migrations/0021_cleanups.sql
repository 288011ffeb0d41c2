-- What a forgetting still has to remove outside its transaction, and when it was proved.
-- Oldest writer: 18

-- Gone once it was looked for everywhere, and is nowhere.
CREATE TABLE cleanup (
    id TEXT PRIMARY KEY,            -- of the entry in audit
    person TEXT NOT NULL REFERENCES person (id),
    begun_at BIGINT NOT NULL,
    what TEXT NOT NULL,             -- forget or retain
    is_everything BIGINT NOT NULL,
    sounds TEXT NOT NULL,           -- JSON: names of files of sounds
    traces TEXT NOT NULL,           -- JSON: keyed fingerprints of what went, no words
    is_clean BIGINT NOT NULL DEFAULT 0 -- 1: all that is ours was cleaned, and it stands elsewhere
);
CREATE INDEX cleanup_person ON cleanup (person, begun_at);

-- NULL: it was not proved, or before this was noted.
ALTER TABLE audit ADD COLUMN proved_at BIGINT;
