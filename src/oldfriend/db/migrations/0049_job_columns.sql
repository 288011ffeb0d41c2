-- The columns of a job are called what the code calls them, and so are the indexes of the queue.
-- The tables hold only what waits, so it takes no longer on a large store.
ALTER TABLE job RENAME COLUMN body TO payload;
ALTER TABLE job RENAME COLUMN deaths TO crashes;
ALTER TABLE job RENAME COLUMN deaths_alone TO isolated_crashes;
ALTER TABLE job RENAME COLUMN is_alone TO is_isolated;
DROP INDEX lane_ready;
CREATE INDEX job_partition_ready ON job_partition (queue, ready_at) WHERE ready_at IS NOT NULL;
DROP INDEX lane_held;
CREATE INDEX job_partition_leased ON job_partition (queue, lease_until) WHERE lease_until IS NOT NULL;
DROP INDEX letter_due;
CREATE INDEX job_due ON job (queue, partition, due_at) WHERE dead_lettered_at IS NULL;
DROP INDEX letter_group;
CREATE INDEX job_group ON job (queue, partition, "group") WHERE "group" IS NOT NULL;
DROP INDEX letter_parked;
CREATE INDEX job_dead_lettered ON job (dead_lettered_at) WHERE dead_lettered_at IS NOT NULL;
DROP INDEX letter_key_finished;
CREATE INDEX job_key_finished ON job_key (finished_at) WHERE finished_at IS NOT NULL;
