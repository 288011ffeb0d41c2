-- Of a task that a calendar file told: the import that brought it, the entry's own id
-- in the calendar, and what each import told and moved of it (JSON).
-- Oldest writer: 50
ALTER TABLE task ADD COLUMN batch TEXT;
ALTER TABLE task ADD COLUMN calendar_uid TEXT;
ALTER TABLE task ADD COLUMN calendar_state TEXT;

-- When a merge of two people was undone; until its term ends, the audit log tells it.
ALTER TABLE person_merge ADD COLUMN undone_at BIGINT;
