-- What the person wrote into their diary, and the numbers that they keep, such as their weight.
-- Oldest writer: 30
CREATE TABLE diary_entry (
    id TEXT PRIMARY KEY,
    person TEXT NOT NULL REFERENCES person (id),
    text TEXT NOT NULL,
    day TEXT NOT NULL,          -- ISO 8601, in the zone in which it was written
    written_at BIGINT NOT NULL,
    zone TEXT NOT NULL,
    created_at BIGINT NOT NULL, -- in the program that it comes from
    modified_at BIGINT NOT NULL,
    place TEXT NOT NULL,        -- '' if unknown, as all that follow
    city TEXT NOT NULL,
    weather TEXT NOT NULL,
    tags TEXT NOT NULL,         -- JSON
    media TEXT NOT NULL,        -- JSON: how many photos, videos, sounds and files it had
    origin TEXT NOT NULL,       -- told, tool, import or api
    message TEXT,               -- in which the person told it, or with which an import brought it
    message_seq BIGINT          -- the version of that message; its vector is the entry's
);
CREATE INDEX diary_entry_day ON diary_entry (person, day);
CREATE INDEX diary_entry_message ON diary_entry (person, message_seq);

CREATE TABLE measurement (
    id TEXT PRIMARY KEY,
    person TEXT NOT NULL REFERENCES person (id),
    name TEXT NOT NULL,         -- "weight", "blood_pressure" or the person's own word
    day TEXT NOT NULL,          -- ISO 8601, in the person's zone
    slot TEXT NOT NULL,         -- '' where a day has one value, else the id
    measured_at BIGINT NOT NULL,
    zone TEXT NOT NULL,
    value DOUBLE PRECISION NOT NULL,
    unit TEXT NOT NULL,         -- as it was told
    second_value DOUBLE PRECISION,        -- of a pair: 80 in 120/80, or how long a run took
    second_unit TEXT NOT NULL,
    origin TEXT NOT NULL,       -- told, tool, import or api
    message TEXT,
    message_seq BIGINT,
    recorded_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX measurement_slot ON measurement (person, name, day, slot);
CREATE INDEX measurement_version ON measurement (person, message_seq);
CREATE INDEX measurement_message ON measurement (person, message);
