-- How long is what was heard or spoken? In microseconds; NULL where there was nothing, or nobody
-- knows.
ALTER TABLE model_call ADD COLUMN sound BIGINT;

-- The sounds that are kept: what a person has said, and replies as they were spoken.
CREATE TABLE attachment (
    id TEXT PRIMARY KEY,
    person TEXT NOT NULL, -- no reference: checking it would lock the person's row
    message TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('heard', 'spoken')),
    voice TEXT NOT NULL, -- of what was spoken: the speaker, and its voice; else empty
    mime TEXT NOT NULL,
    size BIGINT NOT NULL,
    recording BLOB, -- NULL: in a file beside the database
    made_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX attachment_message ON attachment (person, message, kind, voice);
