-- Reminders and to-dos that a person asked for, in their own words.
CREATE TABLE task (
    id TEXT PRIMARY KEY,
    person TEXT NOT NULL REFERENCES person (id),
    chat TEXT,               -- where it was asked for, and is delivered; NULL: where the person writes
    message TEXT,            -- the message that asked for it; NULL: asked for by a program
    message_seq BIGINT,      -- the version of that message
    text TEXT NOT NULL,      -- what to do
    time_words TEXT NOT NULL, -- the words that told when
    language TEXT NOT NULL,
    kind TEXT NOT NULL,      -- reminder or todo
    status TEXT NOT NULL,    -- open, asking, delivered, done or cancelled
    question TEXT,           -- what was asked about its time
    due_at BIGINT,           -- the next time; NULL: none
    starts_at BIGINT,        -- from which a series counts
    zone TEXT NOT NULL,
    is_date_only BIGINT NOT NULL DEFAULT 0, -- 1: only a day was told
    rrule TEXT,              -- RFC 5545, without its start; NULL: once
    created_at BIGINT NOT NULL,
    changed_at BIGINT NOT NULL,
    delivered_at BIGINT      -- the last time
);
CREATE INDEX task_status ON task (person, status, due_at);
CREATE INDEX task_message ON task (person, message_seq);
