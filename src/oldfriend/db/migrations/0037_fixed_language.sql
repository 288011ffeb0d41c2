-- Who has chosen in which language they are answered; what they write in no longer changes that.
-- Oldest writer: 30
ALTER TABLE person ADD COLUMN has_fixed_language BIGINT NOT NULL DEFAULT 0;
