-- How often what a person's beliefs rest on or mean has changed without a decision.
ALTER TABLE person ADD COLUMN weighed BIGINT NOT NULL DEFAULT 0;
