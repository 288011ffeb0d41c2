-- Two people who turned out to be one: what belonged to which, for as long as it can be undone.
-- Oldest writer: 30
CREATE TABLE person_merge (
    id TEXT PRIMARY KEY,
    person TEXT NOT NULL REFERENCES person (id), -- who is kept
    former TEXT NOT NULL,         -- the id of the other one
    name TEXT NOT NULL,           -- and their name
    settings TEXT NOT NULL,       -- the rest of their row in person, as JSON
    first_seq BIGINT NOT NULL,    -- the numbers after this, up to the last one, are those of the
    last_seq BIGINT NOT NULL,     -- other's messages, and of the changes in what is believed
    first_change BIGINT NOT NULL,
    last_change BIGINT NOT NULL,
    merged_at BIGINT NOT NULL,
    undo_until BIGINT NOT NULL
);
CREATE INDEX person_merge_person ON person_merge (person);

-- The other's rows, by table and key. Messages and changes are known by their numbers.
CREATE TABLE merged_row (
    merge TEXT NOT NULL,
    name TEXT NOT NULL,    -- the table
    key TEXT NOT NULL,
    person TEXT NOT NULL,  -- who is kept; no reference: checking it would lock the person's row
    held TEXT,             -- JSON of what stood in it before, where the kept one had the same
    PRIMARY KEY (merge, name, key)
) WITHOUT ROWID;
CREATE INDEX merged_row_person ON merged_row (person, key);
