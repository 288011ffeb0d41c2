-- After how many turns of theirs each wants to be read; and finding what waits, or was read today.
-- Oldest writer: 18

-- NULL: after as many as the house's setting says.
ALTER TABLE person ADD COLUMN read_every BIGINT;

-- No segment was ever 'reading': whoever holds its lane reads it. The check on its status still
-- lets it be, for that cannot be changed in place on every engine.
DROP INDEX segment_waiting;
CREATE INDEX segment_waiting ON segment (person, from_at) WHERE status = 'waiting';
CREATE INDEX segment_ended ON segment (ended_at) WHERE ended_at IS NOT NULL;
