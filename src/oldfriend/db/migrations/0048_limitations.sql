-- What the companion could not do for a person, and how that may change.
-- Oldest writer: 30
CREATE TABLE limitation (
    id TEXT PRIMARY KEY,
    person TEXT NOT NULL REFERENCES person (id),
    title TEXT NOT NULL,     -- unique among those of a person, in whatever case
    description TEXT NOT NULL,
    plan TEXT NOT NULL,      -- what would help; empty: nobody has said
    is_open BIGINT NOT NULL, -- 0: it is resolved
    message TEXT,            -- the message that wrote it last
    message_seq BIGINT,      -- the version of that message
    created_at BIGINT NOT NULL,
    changed_at BIGINT NOT NULL
);
CREATE INDEX limitation_person ON limitation (person, changed_at);
CREATE INDEX limitation_message ON limitation (person, message_seq);
