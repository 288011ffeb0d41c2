-- How the companion felt at the end of a stretch of talk, as its reading has it.
ALTER TABLE segment ADD COLUMN mood_phrase TEXT NOT NULL DEFAULT '';
ALTER TABLE segment ADD COLUMN mood_energy BIGINT;
ALTER TABLE segment ADD COLUMN mood_signal TEXT;

-- What a companion has in mind while a session lasts. Not believed, and gone after an hour.
CREATE TABLE working_memory (
    session TEXT PRIMARY KEY REFERENCES session (id),
    person TEXT NOT NULL REFERENCES person (id),
    content TEXT NOT NULL, -- JSON
    updated_at BIGINT NOT NULL
);
CREATE INDEX working_memory_person ON working_memory (person, updated_at);
