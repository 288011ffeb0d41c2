-- How often what a person's beliefs rest on or mean has changed without a decision.
ALTER TABLE person ADD COLUMN weighed BIGINT NOT NULL DEFAULT 0;
-- And when that has last let a belief stand otherwise, by that count.
ALTER TABLE memory ADD COLUMN weighed BIGINT NOT NULL DEFAULT 0;
CREATE INDEX memory_weighed ON memory (person, weighed);
