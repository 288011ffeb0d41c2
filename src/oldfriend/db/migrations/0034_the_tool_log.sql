-- Which tools were used for whom, what came of it, and which call waits for the person's yes.
-- Oldest writer: 30
CREATE TABLE tool_use (
    id TEXT PRIMARY KEY,
    person TEXT NOT NULL REFERENCES person (id),
    turn TEXT NOT NULL,
    name TEXT NOT NULL,
    status TEXT NOT NULL,
    intent TEXT NOT NULL,     -- of the message that it was used for
    arguments TEXT NOT NULL,
    result TEXT NOT NULL,     -- shortened; of records of the memory only their number
    sources TEXT NOT NULL,    -- addresses outside that it rests on
    was_useful BIGINT,        -- the reply can be traced to it; NULL: not known
    latency BIGINT NOT NULL,  -- in microseconds
    made_at BIGINT NOT NULL
);
CREATE INDEX tool_use_person ON tool_use (person, made_at, id);

CREATE TABLE pending_call (
    chat TEXT PRIMARY KEY REFERENCES chat (id),
    person TEXT NOT NULL REFERENCES person (id),
    turn TEXT NOT NULL,       -- in which the person was asked
    name TEXT NOT NULL,
    arguments TEXT NOT NULL,
    asked_at BIGINT NOT NULL
);
CREATE INDEX pending_call_person ON pending_call (person);
