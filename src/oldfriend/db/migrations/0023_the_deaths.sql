-- How often the process died that worked on a letter; and when the letter was last given its time.
-- Oldest writer: 18

-- Any death makes a letter suspect; only those count against it at which nothing else was done.
ALTER TABLE letter ADD COLUMN deaths BIGINT NOT NULL DEFAULT 0;
ALTER TABLE letter ADD COLUMN deaths_alone BIGINT NOT NULL DEFAULT 0;
ALTER TABLE letter ADD COLUMN is_alone BIGINT NOT NULL DEFAULT 0; -- nothing else is done just now

-- Where this is in the future, a clock that was ahead has set it; NULL: when the letter was put.
ALTER TABLE letter ADD COLUMN scheduled_at BIGINT;
