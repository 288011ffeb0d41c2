-- Oldest writer: 6
-- What beliefs mean to an embedder.
CREATE TABLE memory_vector (
    person TEXT NOT NULL REFERENCES person (id),
    model TEXT NOT NULL,
    memory TEXT NOT NULL,
    change_seq BIGINT NOT NULL, -- of the decision whose text it is of
    bytes BLOB NOT NULL,        -- little-endian float16
    PRIMARY KEY (person, model, memory)
) WITHOUT ROWID;
CREATE INDEX memory_happened ON memory (person, happened_at)
    WHERE ended_at IS NULL AND happened_at IS NOT NULL;
CREATE INDEX memory_status ON memory (person, status) WHERE ended_at IS NOT NULL;
