-- Oldest writer: 9
-- Who the companion is to somebody, in the words of people. One row a version; the newest holds.
CREATE TABLE core_block (
    person TEXT NOT NULL REFERENCES person (id),
    name TEXT NOT NULL CHECK (name IN ('persona', 'user', 'style')),
    version BIGINT NOT NULL,
    text TEXT NOT NULL,
    written_at BIGINT NOT NULL,
    PRIMARY KEY (person, name, version)
);
