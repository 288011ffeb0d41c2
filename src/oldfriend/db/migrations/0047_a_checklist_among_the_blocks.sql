-- Oldest writer: 30
-- The checklist of a person is kept as the core blocks are, so any name is allowed here.
CREATE TABLE core_block_of_any_name (
    person TEXT NOT NULL REFERENCES person (id),
    name TEXT NOT NULL,
    version BIGINT NOT NULL,
    text TEXT NOT NULL,
    written_at BIGINT NOT NULL,
    PRIMARY KEY (person, name, version)
);
INSERT INTO core_block_of_any_name (person, name, version, text, written_at)
    SELECT person, name, version, text, written_at FROM core_block;
DROP TABLE core_block;
ALTER TABLE core_block_of_any_name RENAME TO core_block;
