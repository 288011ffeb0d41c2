-- Every call to a model, also those that failed and those of turns that crashed.
CREATE TABLE model_call (
    id TEXT PRIMARY KEY,
    person TEXT NOT NULL REFERENCES person (id),
    turn TEXT,                     -- NULL outside a turn
    asked TEXT,                    -- the message versions that the turn answers
    step BIGINT NOT NULL,          -- which request of the turn it was, from 0
    request TEXT NOT NULL,         -- a hash of what was sent
    purpose TEXT NOT NULL,
    prompt TEXT NOT NULL,          -- name and version
    model TEXT NOT NULL,           -- provider:name
    outcome TEXT NOT NULL,
    shown TEXT NOT NULL,           -- ids of the messages and memories in it
    answer TEXT,                   -- what it gave, until it is forgotten
    error TEXT,
    tokens_in BIGINT NOT NULL,
    tokens_cached BIGINT NOT NULL, -- of those
    tokens_out BIGINT NOT NULL,
    cost BIGINT,                   -- millionths of a dollar; NULL where it is not known
    latency BIGINT NOT NULL,       -- microseconds
    is_background BIGINT NOT NULL,
    made_at BIGINT NOT NULL
);
CREATE INDEX model_call_turn ON model_call (person, turn, step);
CREATE INDEX model_call_made ON model_call (made_at);

-- What a turn did by tools, so that a turn that is run again does nothing twice.
CREATE TABLE tool_call (
    person TEXT NOT NULL REFERENCES person (id),
    turn TEXT NOT NULL,
    number BIGINT NOT NULL,        -- which of the turn's tool calls it was, from 0
    name TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('read', 'idempotent', 'once')),
    arguments TEXT NOT NULL,
    result TEXT,                   -- NULL: begun, and its end is not known
    begun_at BIGINT NOT NULL,
    finished_at BIGINT,
    PRIMARY KEY (person, turn, number)
);
