-- Oldest writer: 18
-- Up to where a person's messages and beliefs all have vectors of a model, so that finding the
-- next one that lacks a vector costs no more in a long history than in a short one.
CREATE TABLE embedding_progress (
    person TEXT NOT NULL REFERENCES person (id),
    model TEXT NOT NULL,
    seq BIGINT NOT NULL,         -- no message up to this version lacks a vector, and
    last_change BIGINT NOT NULL, -- no belief as it was after this decision,
    rewritten BIGINT NOT NULL,   -- as long as nothing was removed or read anew since
    PRIMARY KEY (person, model)
) WITHOUT ROWID;
