-- How precisely the times of a belief are known: "" (to the day or better), "month" or "year".
-- Oldest writer: 18
ALTER TABLE memory ADD COLUMN grain TEXT NOT NULL DEFAULT '';
