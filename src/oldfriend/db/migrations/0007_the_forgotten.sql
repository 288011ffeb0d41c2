-- What was forgotten, so that it is not learned again: prints that tell nothing without a key,
-- which is kept elsewhere.
CREATE TABLE tombstone (
    person TEXT NOT NULL REFERENCES person (id),
    print TEXT NOT NULL,
    laid_at BIGINT NOT NULL, -- what is said later is said anew
    PRIMARY KEY (person, print)
);

-- That something was taken away for good, by whom and how much; never what.
CREATE TABLE audit (
    id TEXT PRIMARY KEY,
    person TEXT NOT NULL REFERENCES person (id),
    done_at BIGINT NOT NULL,
    what TEXT NOT NULL,    -- forget or retain
    counts TEXT NOT NULL,
    digest TEXT NOT NULL   -- of the report that was given
);
CREATE INDEX audit_person ON audit (person, done_at);
