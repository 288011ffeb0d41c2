-- What a person wants to be told of once: that a page reads differently, or a price on it.
CREATE TABLE watch (
    id TEXT PRIMARY KEY,
    person TEXT NOT NULL REFERENCES person (id),
    chat TEXT,               -- where it was asked for
    message TEXT,            -- the message that asked for it; NULL: asked for by a program
    message_seq BIGINT,      -- the version of that message
    text TEXT NOT NULL,      -- what the person asked
    language TEXT NOT NULL,
    url TEXT NOT NULL,
    condition TEXT NOT NULL, -- changes, below or above
    threshold DOUBLE PRECISION, -- NULL: any change
    status TEXT NOT NULL,    -- active, fired, lost or ended
    seen TEXT NOT NULL,      -- a print of what was read last; empty: not read yet
    amount DOUBLE PRECISION, -- the price that was read last
    failures BIGINT NOT NULL, -- in a row
    next_check_at BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    changed_at BIGINT NOT NULL
);
CREATE INDEX watch_status ON watch (person, status);
CREATE INDEX watch_message ON watch (person, message_seq);
