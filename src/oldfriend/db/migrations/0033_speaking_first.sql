-- Oldest writer: 29
-- How a person wants to be spoken to unasked. No row: as it comes.
CREATE TABLE proactive_setting (
    person TEXT PRIMARY KEY REFERENCES person (id),
    level TEXT NOT NULL,        -- off, shy, normal, lively
    quiet_begins BIGINT NOT NULL, -- minute of the person's day,
    quiet_ends BIGINT NOT NULL,
    digest TEXT NOT NULL,       -- off, daily, weekly
    muted TEXT NOT NULL,        -- kinds that they never want again, as a JSON list
    changed_at BIGINT NOT NULL
) WITHOUT ROWID;

-- What could be said unasked, and everything that was decided about it. Without words: those are
-- made when it is said, from what it rests on.
CREATE TABLE impulse (
    id TEXT PRIMARY KEY,
    person TEXT NOT NULL REFERENCES person (id),
    kind TEXT NOT NULL,
    key TEXT NOT NULL,          -- the same impulse is said once
    status TEXT NOT NULL,       -- waiting, said, dropped
    sources TEXT NOT NULL,      -- ids of beliefs and messages, as a JSON list
    not_before BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    urgency DOUBLE PRECISION NOT NULL,
    relevance DOUBLE PRECISION NOT NULL,
    made_at BIGINT NOT NULL,
    decided_at BIGINT,          -- when its status became final
    message TEXT,               -- in which it was said
    decisions TEXT NOT NULL     -- each with its reason, oldest first, as a JSON list
);
CREATE UNIQUE INDEX impulse_key ON impulse (person, key);
CREATE INDEX impulse_status ON impulse (person, status, decided_at);
