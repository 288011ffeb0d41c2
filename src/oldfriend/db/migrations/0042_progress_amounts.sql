-- How many things were done for a goal at once, such as three books.
-- Oldest writer: 30
ALTER TABLE goal_progress ADD COLUMN amount BIGINT NOT NULL DEFAULT 1;
