-- How long an entry of a calendar lasts, in seconds: of whole days, where only days were told.
-- Oldest writer: 50
ALTER TABLE task ADD COLUMN duration_s BIGINT;
