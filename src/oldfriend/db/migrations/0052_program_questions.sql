-- What programs asked of a person's memory, and what they were given: its ids alone.
-- Oldest writer: 50
CREATE TABLE program_question (
    id TEXT PRIMARY KEY,
    person TEXT NOT NULL REFERENCES person (id),
    program TEXT NOT NULL,    -- the name of its token, else what it calls itself
    tool TEXT NOT NULL,
    asked TEXT NOT NULL,
    given_ids TEXT NOT NULL,  -- JSON: of messages and beliefs
    asked_at BIGINT NOT NULL
);
CREATE INDEX program_question_person ON program_question (person, asked_at, id);
