-- Whether a person wants to be told every week what the week was like: off, weekly.
-- Oldest writer: 30
ALTER TABLE proactive_setting ADD COLUMN recap TEXT NOT NULL DEFAULT 'off';
