-- Who the companion is to everybody, as SOUL.md said when it was read. One row a version; the
-- newest holds.
CREATE TABLE soul (
    companion TEXT NOT NULL REFERENCES companion (id),
    version BIGINT NOT NULL,
    text TEXT NOT NULL,
    read_at BIGINT NOT NULL,
    PRIMARY KEY (companion, version)
);

-- What somebody who may not write a core block thinks should stand in it. People decide.
CREATE TABLE suggestion (
    id TEXT PRIMARY KEY,
    person TEXT NOT NULL REFERENCES person (id),
    block TEXT NOT NULL CHECK (block IN ('persona', 'user', 'style')),
    text TEXT NOT NULL,
    replaces TEXT NOT NULL,  -- the words of the block that it stands in for; empty: it is added
    reason TEXT NOT NULL,
    cites TEXT NOT NULL,     -- JSON: ids of memories and messages
    author TEXT NOT NULL,    -- a prompt or a rule, with its version
    status TEXT NOT NULL CHECK (status IN ('pending', 'accepted', 'declined')),
    made_at BIGINT NOT NULL,
    decided_at BIGINT,
    version BIGINT           -- of the block, as accepting it has written it
);
CREATE INDEX suggestion_person ON suggestion (person, status, made_at);
