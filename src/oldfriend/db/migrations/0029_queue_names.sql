-- The tables of the queue are called what the code calls them: partitions, jobs and dedup keys.
-- Only names change, so it takes no longer on a large store; older programs know the former names.
ALTER TABLE lane RENAME TO job_partition;
ALTER TABLE job_partition RENAME COLUMN key TO partition;
ALTER TABLE job_partition RENAME COLUMN handed_out TO last_claimed_seq;
ALTER TABLE letter RENAME TO job;
ALTER TABLE job RENAME COLUMN lane TO partition;
ALTER TABLE job RENAME COLUMN put_at TO enqueued_at;
ALTER TABLE job RENAME COLUMN parked_at TO dead_lettered_at;
ALTER TABLE letter_key RENAME TO job_key;
ALTER TABLE job_key RENAME COLUMN lane TO partition;
