-- When the companion thought between conversations, why, what it took, and what came of it.
CREATE TABLE tick (
    id TEXT PRIMARY KEY,
    person TEXT NOT NULL REFERENCES person (id),
    kind TEXT NOT NULL, -- reflection, slow tick or description
    why TEXT NOT NULL, -- which gate was open
    ran_at BIGINT NOT NULL,
    tokens_in BIGINT NOT NULL,
    tokens_out BIGINT NOT NULL,
    outcome TEXT NOT NULL, -- JSON: counts
    error TEXT, -- the name of what went wrong; NULL: it gave something that could be read
    shown TEXT NOT NULL, -- JSON: ids of what it was shown, as long as there is a transcript
    transcript TEXT -- JSON; NULL: let go after 14 days, or forgotten
);
CREATE INDEX tick_person ON tick (person, kind, ran_at);
