-- The project that was open in the chat where a task was made; none: NULL.
-- Oldest writer: 49
ALTER TABLE task ADD COLUMN project TEXT;
