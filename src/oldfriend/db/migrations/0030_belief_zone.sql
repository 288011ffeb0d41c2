-- The time zone in which the times of a belief were said; "" for beliefs from before this column.
-- Oldest writer: 29
ALTER TABLE memory ADD COLUMN zone TEXT NOT NULL DEFAULT '';
