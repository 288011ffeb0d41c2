-- How fast a person may be answered.
CREATE TABLE pace (
    person TEXT PRIMARY KEY REFERENCES person (id),
    free_at BIGINT NOT NULL -- when all of a minute's messages may be said at once again
);
